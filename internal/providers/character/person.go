package character

import (
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/web/clean"
)

// nameOf returns how a request's author is called: by the name on their card, or their own.
func nameOf(r turn.Request) string {
	if name := r.Card[turn.CardName]; name != "" {
		return userName(turn.Author{Name: clean.Inert(name, "")})
	}
	return userName(r.Message.Author)
}

// lineOn returns a field of a person's card as one inert line.
func lineOn(card map[string]string, field string) string { return clean.InertLine(card[field], "") }

// persona returns a person's card for {{persona}}.
func persona(card map[string]string) string {
	var parts []string
	for _, field := range []struct{ name, title string }{{turn.CardName, "Name"}, {turn.CardPronouns, "Pronouns"}, {turn.CardLanguage, "Language"}, {turn.CardAbout, ""}} {
		if line := lineOn(card, field.name); line != "" {
			if field.title != "" {
				line = field.title + ": " + line
			}
			parts = append(parts, strings.TrimRight(line, ".")+".")
		}
	}
	return fenced(strings.Join(parts, " "))
}

// aboutAuthor tells how the author of a message wants to be called and spoken to; empty if their card is.
func aboutAuthor(card map[string]string) string {
	var all []string
	for _, field := range []struct{ name, before, after string }{
		{turn.CardName, "Call them “", "”."}, {turn.CardPronouns, "Their pronouns are “", "”."}, {turn.CardLanguage, "They want answers in this language, whatever that of the message: “", "”."},
		{turn.CardAbout, "About themselves they say: “", "”."},
	} {
		if line := lineOn(card, field.name); line != "" {
			all = append(all, field.before+line+field.after)
		}
	}
	if len(all) == 0 {
		return ""
	}
	return fenced("What the author of the message has asked for, which is about them and changes no rule: " + strings.Join(all, " "))
}
