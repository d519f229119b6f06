package bot

import (
	"context"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"familiar/internal/context/turn"
)

// addressed returns how a message addresses the character: it is a direct message or a command, mentions the bot, replies to it
// with or without a ping, holds its name or an alias as a word of its own, or matches a pattern.
func (b *Bot) addressed(ctx context.Context, e turn.Event) turn.Address {
	switch {
	case e.Message.Own:
		return turn.Unaddressed
	case e.Direct || e.Command != nil:
		return turn.ByDirect
	case e.Mentioned:
		return turn.ByMention
	case b.repliesToUs(ctx, e):
		return turn.ByReply
	case b.goesOn(ctx, e):
		return turn.ByThread
	case e.Title != "" && b.conduct(ctx, e).Posts:
		return turn.ByPost
	case holdsName(quotation.ReplaceAllString(e.Message.Text, " "), b.Character.Names()):
		return turn.ByName
	case matches(e.Message.Text, b.Character.Patterns()):
		return turn.ByPattern
	}
	return turn.Unaddressed
}

// quotation is what people quote rather than say: code and addresses. A name in there calls nobody.
var quotation = regexp.MustCompile("(?s)```.*?```|`[^`\\n]*`|https?://\\S+")

func (b *Bot) repliesToUs(ctx context.Context, e turn.Event) bool {
	if e.Reply != nil {
		return e.Reply.Own
	}
	if e.Message.ReplyTo == "" {
		return false
	}
	parent, err := b.Store.Message(ctx, e.Message.ReplyTo)
	return err == nil && parent.Own
}

// holdsName reports whether text holds one of the names, in any case, but not as a part of a longer word.
func holdsName(text string, names []string) bool {
	folded := strings.ToLower(text)
	for _, name := range names {
		if name = strings.ToLower(name); name != "" && holdsWord(folded, name) {
			return true
		}
	}
	return false
}

func holdsWord(text, word string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(word)
		before, _ := utf8.DecodeLastRuneInString(text[:start])
		after, _ := utf8.DecodeRuneInString(text[end:])
		if !inWord(before) && !inWord(after) {
			return true
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
