package reply

import (
	"cmp"
	"strings"
	"unicode"
)

// Unlabelled removes the time and the name that a model writes before its words when it imitates the other messages, as
// in "[10:53] **Sage:** ". undecided means that the text may still become such a label.
func Unlabelled(text, name string) (rest string, undecided bool) {
	text = strings.TrimLeft(text, " \n")
	rest = text
	if strings.HasPrefix(rest, "[") && len(rest) <= longestStamp && !strings.Contains(rest, "]") {
		return text, true
	}
	if stamp, after, closed := strings.Cut(rest, "]"); closed && strings.HasPrefix(stamp, "[") && len(stamp) < longestStamp && strings.Contains(stamp, ":") {
		rest = strings.TrimLeft(after, " ")
	}
	rest = strings.TrimPrefix(rest, "**")
	if len(rest) < len(name) {
		return text, strings.EqualFold(rest, name[:len(rest)])
	}
	if !strings.EqualFold(rest[:len(name)], name) {
		return text, false
	}
	rest = strings.TrimPrefix(rest[len(name):], "**")
	after, labelled := strings.CutPrefix(rest, ":")
	if !labelled {
		return text, rest == "" || rest == "*"
	}
	return strings.TrimLeft(strings.TrimPrefix(after, "**"), " \n"), after == "" || after == "*"
}

// longestStamp is the length of the longest time in brackets, rounded up: "[2026-11-21 10:53]".
const longestStamp = 20

// PlainEmoji removes variants and skin tones from an emoji.
func PlainEmoji(emoji string) string {
	return strings.Map(func(r rune) rune {
		if r == variant || r == textVariant || isSkinTone(r) {
			return -1
		}
		return r
	}, emoji)
}

// PlainName removes from a name what Discord reads as markup or a mention. The result may be empty.
func PlainName(name string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if strings.ContainsRune("*_~|`<>@#[]()\\\n\r", r) {
			return -1
		}
		return r
	}, name))
}

// sentence is what code says in the language of a message.
type sentence = Sentence

const (
	lastName sentence = "%s and %s" // the names of people, and the last of them
	somebody sentence = "somebody"  // a person whose name cannot be shown
)

// List joins names in a language, as in "Ana, Ben and Cy". It removes what Discord reads as markup. A name that is empty then becomes
// "somebody".
func List(language string, names []string) string {
	for i, name := range names {
		names[i] = cmp.Or(PlainName(name), somebody.In(language))
	}
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return lastName.In(language, strings.Join(names[:last], ", "), names[last])
}

const (
	variant, textVariant = '\uFE0F', '\uFE0E'
	joiner               = '\u200D'
)

func isSkinTone(r rune) bool { return r >= 0x1F3FB && r <= 0x1F3FF }

func isFlagLetter(r rune) bool { return r >= 0x1F1E6 && r <= 0x1F1FF }

// IsEmoji reports whether a text is exactly one Unicode emoji.
func IsEmoji(text string) bool {
	signs, flags, joined := 0, 0, false
	for _, r := range strings.TrimSpace(text) {
		switch {
		case r == joiner:
			if signs == 0 {
				return false
			}
			joined = true
			continue
		case r == variant, isSkinTone(r) && signs > 0:
		case isFlagLetter(r):
			flags++
		case unicode.Is(unicode.So, r) && r >= 0x2000:
			if !joined {
				signs++
			}
		default:
			return false
		}
		joined = false
	}
	return !joined && (signs == 1 && flags == 0 || signs == 0 && flags == 2)
}
