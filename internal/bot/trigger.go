package bot

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"familiar/internal/context/turn"
)

// mostAnswers is how many characters answer one message, one after the other. What they write themselves asks nobody for a turn,
// so that no more of them follow each other before a person writes again.
const mostAnswers = 2

// summons is a character that a message asks for a turn, and how.
type summons struct {
	actor *Actor
	how   turn.Address
}

// summoned returns the characters that a message asks for a turn, in the order in which they answer. A direct message, a command
// and a mention of the bot are for those whose names they hold, or else for the channel's first character; a reply is for the
// one that wrote what it replies to, and for those that it names. Any other message is for those whose names or aliases it holds
// as words of their own, or else for those with a pattern that it matches.
func (b *Bot) summoned(ctx context.Context, e turn.Event) []summons {
	if e.Message.Own {
		return nil
	}
	all := b.speakers(ctx, e)
	if e.Command != nil {
		return []summons{{all[0], turn.ByDirect}}
	}
	named := namedIn(quotation.ReplaceAllString(e.Message.Text, " "), all)
	var found []summons
	add := func(how turn.Address, actors ...*Actor) {
		for _, a := range actors {
			if len(found) < mostAnswers && !slices.ContainsFunc(found, func(s summons) bool { return s.actor == a }) {
				found = append(found, summons{a, how})
			}
		}
	}
	first := all[:1]
	if len(named) > 0 {
		first = named
	}
	replied := b.repliedTo(ctx, e, all)
	switch {
	case e.Direct:
		add(turn.ByDirect, first...)
	case e.Mentioned:
		add(turn.ByMention, first...)
	case replied != nil:
		add(turn.ByReply, replied)
		add(turn.ByName, named...)
	case b.goesOn(ctx, e):
		if len(named) == 0 {
			first = []*Actor{b.latest(ctx, e, all)}
		}
		add(turn.ByThread, first...)
	case e.Title != "" && b.conduct(ctx, e).Posts:
		add(turn.ByPost, first...)
	case b.subscribed(ctx, e):
		if len(named) == 0 {
			first = []*Actor{b.latest(ctx, e, all)}
		}
		add(turn.ByChannel, first...)
	case len(named) > 0:
		add(turn.ByName, named...)
	default:
		for _, a := range all {
			if matches(e.Message.Text, a.Patterns()) {
				add(turn.ByPattern, a)
			}
		}
	}
	return found
}

// address returns how a message addresses a character.
func (b *Bot) address(ctx context.Context, e turn.Event, actor *Actor) turn.Address {
	for _, s := range b.summoned(ctx, e) {
		if s.actor.ID == actor.ID {
			return s.how
		}
	}
	return turn.Unaddressed
}

// quotation is what people quote rather than say: code and addresses. A name in there calls nobody.
var quotation = regexp.MustCompile("(?s)```.*?```|`[^`\\n]*`|https?://\\S+")

// repliedTo returns which of the characters wrote what a message replies to, or nil if the bot did not write it. What was written
// by one that does not speak here any more is answered by the first.
func (b *Bot) repliedTo(ctx context.Context, e turn.Event, all []*Actor) *Actor {
	if e.Message.ReplyTo == "" && e.Reply == nil || e.Reply != nil && !e.Reply.Own {
		return nil
	}
	if e.Reply != nil && len(all) == 1 {
		return all[0]
	}
	parent, err := b.Store.Message(ctx, e.Message.ReplyTo)
	if e.Reply == nil && (err != nil || !parent.Own) {
		return nil
	}
	for _, a := range all {
		if err == nil && a.ID == parent.AuthorID || err != nil && a.Name == e.Reply.Author.Name { // it is not kept while it grows
			return a
		}
	}
	return all[0]
}

// namedIn returns the characters whose names a text holds, in the order in which it names them.
func namedIn(text string, all []*Actor) []*Actor {
	folded := strings.ToLower(text)
	at := map[*Actor]int{}
	var named []*Actor
	for _, a := range all {
		if i := firstName(folded, a.Names()); i >= 0 {
			at[a], named = i, append(named, a)
		}
	}
	slices.SortStableFunc(named, func(x, y *Actor) int { return cmp.Compare(at[x], at[y]) })
	return named
}

// firstName returns where a text in lower case holds the first of the names, in any case, but not as a part of a longer word; -1
// if nowhere.
func firstName(folded string, names []string) int {
	first := -1
	for _, name := range names {
		if name = strings.ToLower(name); name == "" {
			continue
		}
		if i := wordAt(folded, name); i >= 0 && (first < 0 || i < first) {
			first = i
		}
	}
	return first
}

func wordAt(text, word string) int {
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return -1
		}
		start, end := from+i, from+i+len(word)
		before, _ := utf8.DecodeLastRuneInString(text[:start])
		after, _ := utf8.DecodeRuneInString(text[end:])
		if !inWord(before) && !inWord(after) {
			return start
		}
		from = end
	}
}

func inWord(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_')
}

func matches(text string, patterns []*regexp.Regexp) bool {
	for _, p := range patterns {
		if p.MatchString(text) {
			return true
		}
	}
	return false
}
