package page

import (
	"bytes"

	"golang.org/x/net/html/atom"

	"familiar/internal/web/page/dom"
)

// tags finds the tags of a source, and where scripts and comments are that only look as if they had some. It splits
// a source as html.Tokenizer does, but keeps nothing: to bound the cost of a page of 300 KB takes 0.3 ms instead of 2.
type tags struct {
	source []byte
	at     int       // behind the last token
	raw    atom.Atom // the element whose text comes next, in which there are no tags; 0 for none
}

// token is one piece of a source: a text, a comment or a tag.
type token struct {
	name       atom.Atom // 0 for what is no tag, and for a tag of no known name
	start, end bool      // it is a start tag, an end tag
	comment    bool
	attributes int
}

// next is the next token; ok is false at the end of the source. A tag that is cut off by the end is none.
func (t *tags) next() (one token, ok bool) {
	rest := t.source[t.at:]
	if len(rest) == 0 {
		return token{}, false
	}
	if t.raw != 0 {
		end := rawEnd(rest, t.raw)
		if t.raw = 0; end > 0 {
			t.at += end
			return token{}, true
		}
	}
	open := tagOpen(rest)
	if open > 0 {
		t.at += open
		return token{}, true
	}
	switch c := rest[1]; {
	case dom.IsLetter(c):
		return t.tag(rest[1:], token{start: true})
	case c == '/' && dom.IsLetter(rest[2]):
		return t.tag(rest[2:], token{end: true})
	case bytes.HasPrefix(rest, []byte("<!--")):
		t.at += commentEnd(rest)
	default:
		t.at += through(rest, ">")
	}
	return token{comment: true}, true
}

// tagOpen is where the text ends that s begins with: at the first "<" which begins a tag or a comment.
func tagOpen(s []byte) int {
	for at := 0; ; at++ {
		next := bytes.IndexByte(s[at:], '<')
		if next < 0 {
			return len(s)
		}
		if at += next; at+1 >= len(s) {
			return len(s)
		}
		switch c := s[at+1]; {
		case dom.IsLetter(c), c == '!', c == '?', c == '/' && at+2 < len(s):
			return at
		}
	}
}

// tag reads a tag from its name on.
func (t *tags) tag(s []byte, one token) (token, bool) {
	end := 0
	for end < len(s) && !endsName(s[end]) {
		end++
	}
	var lower [16]byte // the names that matter are shorter
	one.name = atom.Lookup(appendLower(lower[:0], s[:min(end, len(lower))]))
	for at := end; ; {
		for at < len(s) && (dom.IsSpace(s[at]) || s[at] == '/') {
			at++
		}
		if at == len(s) {
			t.at = len(t.source)
			return token{}, false
		}
		if s[at] == '>' {
			t.at = len(t.source) - len(s) + at + 1
			break
		}
		one.attributes++
		at = attributeEnd(s, at)
	}
	if one.start && isRaw(one.name) {
		t.raw = one.name
	}
	return one, true
}

func endsName(c byte) bool { return dom.IsSpace(c) || c == '/' || c == '>' }

func appendLower(to, s []byte) []byte {
	for _, c := range s {
		if dom.IsUpper(c) {
			c += 'a' - 'A'
		}
		to = append(to, c)
	}
	return to
}

// attributeEnd is where the attribute ends, value and all, that begins at at.
func attributeEnd(s []byte, at int) int {
	for at++; at < len(s) && !endsName(s[at]) && s[at] != '='; at++ { // a "=" may begin a name
	}
	next := at
	for next < len(s) && dom.IsSpace(s[next]) {
		next++
	}
	if next == len(s) || s[next] != '=' {
		return next
	}
	for at = next + 1; at < len(s) && dom.IsSpace(s[at]); at++ {
	}
	if at < len(s) && (s[at] == '"' || s[at] == '\'') {
		return at + 1 + through(s[at+1:], string(s[at]))
	}
	for at < len(s) && !dom.IsSpace(s[at]) && s[at] != '>' {
		at++
	}
	return at
}

// through is the length of what s begins with up to the first mark and with it, all of s if there is none.
func through(s []byte, mark string) int {
	if at := bytes.Index(s, []byte(mark)); at >= 0 {
		return at + len(mark)
	}
	return len(s)
}

// commentEnd is where the comment ends that s begins with.
func commentEnd(s []byte) int {
	switch {
	case bytes.HasPrefix(s, []byte("<!-->")):
		return len("<!-->")
	case bytes.HasPrefix(s, []byte("<!--->")):
		return len("<!--->")
	}
	inside := s[len("<!--"):]
	for at := 0; ; at++ {
		next := bytes.Index(inside[at:], []byte("--"))
		if next < 0 {
			return len(s)
		}
		at += next
		switch behind := inside[at+2:]; {
		case bytes.HasPrefix(behind, []byte(">")):
			return len("<!--") + at + len("-->")
		case bytes.HasPrefix(behind, []byte("!>")):
			return len("<!--") + at + len("--!>")
		}
	}
}

// isRaw says that tags in an element are text, up to its own end tag.
func isRaw(a atom.Atom) bool {
	switch a {
	case atom.Iframe, atom.Noembed, atom.Noframes, atom.Noscript, atom.Plaintext, atom.Script, atom.Style, atom.Textarea, atom.Title, atom.Xmp:
		return true
	}
	return false
}

// rawEnd is where the text ends of an element whose tags are text. In a script, "<!--" and "<script" hide an end tag.
func rawEnd(s []byte, name atom.Atom) int {
	if name == atom.Plaintext {
		return len(s)
	}
	comment, hidden := false, false
	for at := 0; ; at++ {
		next := bytes.IndexByte(s[at:], '<')
		if comment {
			next = bytes.IndexAny(s[at:], "<-")
		}
		if next < 0 {
			return len(s)
		}
		at += next
		switch rest := s[at:]; {
		case bytes.HasPrefix(rest, []byte("</")) && names(rest[2:], name):
			if !hidden {
				return at
			}
			hidden = false
		case name != atom.Script:
		case bytes.HasPrefix(rest, []byte("<!--")):
			comment = true
			at++ // its dashes may be those of "-->"
		case bytes.HasPrefix(rest, []byte("-->")):
			comment, hidden = false, false
		case comment && names(rest[1:], atom.Script):
			hidden = true
		}
	}
}

// names says that s begins with the name of a tag.
func names(s []byte, a atom.Atom) bool {
	name := a.String()
	return len(s) > len(name) && endsName(s[len(name)]) && bytes.EqualFold(s[:len(name)], []byte(name))
}
