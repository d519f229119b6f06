package page

import (
	"bytes"

	"golang.org/x/net/html/atom"

	"familiar/visible/dom"
)

// scanner finds the tags of a source as html.Tokenizer does, without those inside scripts and comments. It keeps
// nothing, so a page of 300 KB takes 0.3 ms instead of 2.
type scanner struct {
	source []byte
	at     int       // end of the last token
	raw    atom.Atom // element whose text comes next and contains no tags; 0 for none
}

// token is one piece of a source: text, a comment or a tag.
type token struct {
	name       atom.Atom // name of a tag; 0 if it is not a common one
	start, end bool      // whether it is a start tag or an end tag
	comment    bool
	attributes int
}

// next returns the next token. ok is false at the end of the source. A tag that is cut off there is not a token.
func (s *scanner) next() (one token, ok bool) {
	rest := s.source[s.at:]
	if len(rest) == 0 {
		return token{}, false
	}
	if s.raw != 0 {
		end := rawEnd(rest, s.raw)
		if s.raw = 0; end > 0 {
			s.at += end
			return token{}, true
		}
	}
	if open := tagOpen(rest); open > 0 {
		s.at += open
		return token{}, true
	}
	switch c := rest[1]; {
	case dom.IsLetter(c):
		return s.tag(rest[1:], token{start: true})
	case c == '/' && dom.IsLetter(rest[2]):
		return s.tag(rest[2:], token{end: true})
	case bytes.HasPrefix(rest, []byte("<!--")):
		s.at += commentEnd(rest)
	default:
		s.at += through(rest, ">")
	}
	return token{comment: true}, true
}

// tagOpen returns the end of the text that s begins with: the first "<" that begins a tag or a comment.
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

// tag reads a tag into t. rest begins with its name.
func (s *scanner) tag(rest []byte, t token) (token, bool) {
	end := 0
	for end < len(rest) && !endsName(rest[end]) {
		end++
	}
	var lower [16]byte // all names that matter are shorter
	t.name = atom.Lookup(appendLower(lower[:0], rest[:min(end, len(lower))]))
	for at := end; ; {
		for at < len(rest) && (dom.IsSpace(rest[at]) || rest[at] == '/') {
			at++
		}
		if at == len(rest) {
			s.at = len(s.source)
			return token{}, false
		}
		if rest[at] == '>' {
			s.at = len(s.source) - len(rest) + at + 1
			break
		}
		t.attributes++
		at = attributeEnd(rest, at)
	}
	if t.start && isRaw(t.name) {
		s.raw = t.name
	}
	return t, true
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

// attributeEnd returns the end of the attribute at at, including its value.
func attributeEnd(s []byte, at int) int {
	for at++; at < len(s) && !endsName(s[at]) && s[at] != '='; at++ { // a name may begin with "="
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

// through returns the length of s up to and including the first mark. It returns the length of all of s if there is no mark.
func through(s []byte, mark string) int {
	if at := bytes.Index(s, []byte(mark)); at >= 0 {
		return at + len(mark)
	}
	return len(s)
}

// commentEnd returns the end of the comment that s begins with.
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

// isRaw reports whether an element's content is text up to its end tag, even if it looks like tags.
func isRaw(a atom.Atom) bool {
	switch a {
	case atom.Iframe, atom.Noembed, atom.Noframes, atom.Noscript, atom.Plaintext, atom.Script, atom.Style, atom.Textarea, atom.Title, atom.Xmp:
		return true
	}
	return false
}

// rawEnd returns the end of the text of a raw element. In a script, "<!--" and "<script" hide an end tag.
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
		case bytes.HasPrefix(rest, []byte("</")) && isNamed(rest[2:], name):
			if !hidden {
				return at
			}
			hidden = false
		case name != atom.Script:
		case comment && !hidden && rest[0] == '<' && len(rest) > 1 && rest[1] != '/' && !dom.IsLetter(rest[1]):
			comment = false // as the parser does, against the standard
		case bytes.HasPrefix(rest, []byte("<!--")):
			comment = true
			at++ // its dashes may be part of "-->"
		case bytes.HasPrefix(rest, []byte("-->")):
			comment, hidden = false, false
		case comment && isNamed(rest[1:], atom.Script):
			hidden = true
		}
	}
}

// isNamed reports whether s begins with the name of a tag.
func isNamed(s []byte, a atom.Atom) bool {
	name := a.String()
	return len(s) > len(name) && endsName(s[len(name)]) && bytes.EqualFold(s[:len(name)], []byte(name))
}

// Limits of the part of a page that is parsed. In the largest bodies, two thirds are scripts and images written as text.
// A large article of an encyclopedia has 30,000 nodes and as many attributes.
const (
	maxSource = 6 << 20 // bytes of UTF-8
	maxToken  = 4 << 20 // bytes of one tag or one text
	maxNodes  = 150_000 // nodes and attributes

	maxAttributes = 1_000 // per element
)

// treeLength returns how many bytes at the beginning of a page can be parsed. Their tree has at most maxNodes nodes and
// attributes, and parsing takes no longer than for that many ordinary ones.
func treeLength(text []byte) int {
	s := scanner{source: text[:min(len(text), maxSource)]}
	o := openElements{count: map[atom.Atom]int{}}
	nodes := 0
	for {
		start := s.at
		t, ok := s.next()
		if !ok && len(s.source)-start < maxToken {
			return len(s.source)
		}
		switch {
		case t.attributes > maxAttributes:
			return start
		case t.start:
			nodes += o.start(t.name) + t.attributes
		case t.end:
			o.end(t.name)
			nodes++ // </p> makes a paragraph
		case t.comment:
			nodes++
		}
		if nodes > maxNodes || s.at-start >= maxToken {
			return start
		}
	}
}

// openElements tracks the open elements to bound the work of parsing. Counting tags is not enough. The parser reopens formatting elements
// that are left open in every block that follows. So a page of 5 MB could ask for 50 million nodes. Many tags also make it search through
// all open elements.
type openElements struct {
	count      map[atom.Atom]int // by name
	formatting int               // how many are formatting elements
	depth      int
	minimum    int     // least value of formatting until the innermost scope is closed
	scopes     []scope // outermost first
}

// scope is an element that keeps the end tags inside it from closing elements outside it.
type scope struct {
	name    atom.Atom
	minimum int // value outside the scope
}

// start opens an element and returns what it costs, in nodes.
func (o *openElements) start(a atom.Atom) int {
	const perNode = 16 // open elements that are searched in the time that one node takes
	cost := 2 + o.formatting + o.depth/perNode
	switch a {
	case atom.P, atom.Li, atom.Td, atom.Th, atom.Tr, atom.Dd, atom.Dt, atom.Option: // usually closed by the next one
		return cost
	case atom.Table, atom.Object, atom.Applet, atom.Marquee, atom.Template, atom.Select, atom.Svg, atom.Math:
		o.scopes = append(o.scopes, scope{a, o.minimum})
		o.minimum = o.formatting
	}
	if !dom.IsVoid(a) {
		o.count[a]++
		o.depth = min(o.depth+1, 512)
	}
	if dom.IsFormatting(a) {
		o.formatting = min(o.formatting+1, 512)
	}
	return cost
}

func (o *openElements) end(a atom.Atom) {
	if o.count[a] == 0 {
		return
	}
	o.count[a]--
	o.depth = max(o.depth-1, 0)
	if dom.IsFormatting(a) {
		o.formatting = max(o.formatting-1, o.minimum)
	}
	if last := len(o.scopes) - 1; last >= 0 && o.scopes[last].name == a {
		o.minimum, o.scopes = o.scopes[last].minimum, o.scopes[:last]
	}
}
