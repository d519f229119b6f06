package bot

import (
	"context"
	"strings"

	"familiar/internal/context/turn"
)

// What is said about documentation.
const (
	noDocs     sentence = "%s knows no documentation. Whoever runs this place can name sites of it: [[docs]] in character.toml."
	docsWhat   sentence = "What shall I look up in the documentation? A question, the name of a page, or its address."
	noSuchDocs sentence = "I know no documentation called %q. I know %s."
	docsWhich  sentence = "In which documentation? I know %s."
)

// lookUpDocs answers /docs: a lookup in one site of documentation.
func (b *Bot) lookUpDocs(ctx context.Context, e turn.Event) turn.Answer {
	actor := b.speaker(ctx, e)
	site, question, refusal := actor.DocsFor(language(e), e.Command.Options["site"], e.Command.Options["question"])
	if refusal != "" {
		return turn.Answer{Text: refusal}
	}
	return b.answerLookup(ctx, actor, e, lookupOrder{question: question, docs: site})
}

// suggestDocs suggests the names of sites of documentation.
func (b *Bot) suggestDocs(ctx context.Context, e turn.Event) []turn.Choice {
	var names []string
	for _, d := range b.speaker(ctx, e).Docs {
		names = append(names, d.Name)
	}
	return matching(e.Command.Options[e.Command.Focused], names)
}

// matching are the values that hold what was typed, those that begin with it first; at most 25.
func matching(typed string, values []string) []turn.Choice {
	typed = strings.ToLower(strings.TrimSpace(typed))
	var first, rest []string
	for _, v := range values {
		switch folded := strings.ToLower(v); {
		case strings.HasPrefix(folded, typed):
			first = append(first, v)
		case strings.Contains(folded, typed):
			rest = append(rest, v)
		}
	}
	all := append(first, rest...)
	return choices(all[:min(len(all), 25)]...)
}

// DocsFor chooses the site of documentation that a question is for: the one called name, or else the one that the question
// begins with, links to or names, or the only one. It returns the question without the name that it begins with. If it
// cannot tell, refusal says so in a language to the person who asked.
func (a *Actor) DocsFor(language, name, text string) (site, question, refusal string) {
	text = strings.TrimSpace(text)
	var names []string
	for _, d := range a.Docs {
		names = append(names, d.Name)
	}
	site, question, ok := a.Lookup.DocsFor(strings.TrimSpace(name), text)
	switch {
	case len(names) == 0:
		return "", "", noDocs.in(language, a.Name)
	case text == "":
		return "", "", docsWhat.in(language)
	case !ok && name != "":
		return "", "", noSuchDocs.in(language, name, strings.Join(names, ", "))
	case !ok:
		return "", "", docsWhich.in(language, strings.Join(names, ", "))
	}
	return site, question, ""
}
