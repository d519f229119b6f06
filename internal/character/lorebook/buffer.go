package lorebook

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

// buffer is what is searched: the messages, the texts of the card, and the texts of entries that fired.
type buffer struct {
	messages []string
	fields   map[string]string
	entries  []string
	made     map[made]*words // those with entries are made anew when there are more
}

// made is what words are made of.
type made struct {
	depth   int
	fields  string
	entries int // -1: they do not count
}

// words are a text as it is searched.
type words struct {
	plain, folded     string
	inPlain, inFolded pairs
}

// pairs are the pairs of bytes of a text: most keys have one that it does not have, and need not be looked for.
type pairs [1 << 16 / 64]uint64

func (p *pairs) learn(text string) {
	for i := 1; i < len(text); i++ {
		n := uint(text[i-1])<<8 | uint(text[i])
		p[n/64] |= 1 << (n % 64)
	}
}

func (p *pairs) may(word string) bool {
	for i := 1; i < len(word); i++ {
		if n := uint(word[i-1])<<8 | uint(word[i]); p[n/64]&(1<<(n%64)) == 0 {
			return false
		}
	}
	return true
}

func newBuffer(messages []string, fields map[string]string) buffer {
	return buffer{messages: messages, fields: fields, made: map[made]*words{}}
}

func (b *buffer) add(text string) { b.entries = append(b.entries, text) }

func (b *buffer) grown() bool { return len(b.entries) > 0 }

// of returns the last depth messages with some texts of the card and, if they count, those of entries. Of what is very long the
// oldest messages are left out.
func (b *buffer) of(depth int, fields []string, entries bool) *words {
	id := made{depth: depth, entries: -1}
	if entries {
		id.entries = len(b.entries)
	}
	if len(fields) > 0 {
		id.fields = strings.Join(fields, " ")
	}
	if w := b.made[id]; w != nil {
		return w
	}
	var parts []string
	size := 0
	for _, m := range b.messages[:min(depth, len(b.messages))] {
		if size += len(m); size > longestScan {
			break
		}
		parts = append(parts, m)
	}
	for _, f := range fields {
		parts = append(parts, b.fields[f])
	}
	if entries {
		parts = append(parts, b.entries...)
	}
	plain := strings.Join(parts, "\n")
	if len(plain) > 4*longestScan {
		plain = strings.ToValidUTF8(plain[:4*longestScan], "")
	}
	plain = norm.NFC.String(plain)
	w := &words{plain: plain, folded: strings.ToLower(plain)}
	w.inPlain.learn(w.plain)
	w.inFolded.learn(w.folded)
	b.made[id] = w
	return w
}

// folded is a key as the texts are that it is looked for in.
func folded(s string, exact bool) string {
	s = norm.NFC.String(s)
	if exact {
		return s
	}
	return strings.ToLower(s)
}
