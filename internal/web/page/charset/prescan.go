package charset

import (
	"bytes"
	"strings"

	whatwg "golang.org/x/net/html/charset"

	"familiar/internal/web/page/dom"
)

// prescan looks for a declaration of the encoding in the beginning of an HTML document (HTML Standard, "prescan a
// byte stream to determine its encoding"). It works on bytes, not on a tree, so that a <meta> in a script counts
// too, as it does in browsers. It returns the label as it was written, "" if there is none that means anything;
// with skip, it leaves out what is in scripts and styles.
func prescan(head []byte, skip bool) (label string) {
	for len(head) > 0 {
		at := bytes.IndexByte(head, '<')
		if at < 0 {
			return ""
		}
		head = head[at:]
		switch {
		case bytes.HasPrefix(head, []byte("<!--")):
			end := bytes.Index(head[2:], []byte("-->"))
			if end < 0 {
				return ""
			}
			head = head[2+end+3:]
		case tagNamed(head, "meta"):
			var m metaTag
			m, head = readMeta(head[len("<meta"):])
			if label = m.label(); label != "" {
				return label
			}
		case skip && tagNamed(head, "script"):
			head = after(head, "</script")
		case skip && tagNamed(head, "style"):
			head = after(head, "</style")
		case len(head) > 1 && dom.IsLetter(head[1]), len(head) > 2 && head[1] == '/' && dom.IsLetter(head[2]):
			head = head[min(len(head), 1+wordEnd(head[1:])):]
			for more := true; more; {
				_, _, head, more = readAttribute(head)
			}
		case len(head) > 1 && strings.IndexByte("!/?", head[1]) >= 0:
			head = after(head, ">")
		default:
			head = head[1:]
		}
	}
	return ""
}

// after is what follows the first mark in head, which is in lower case, nothing if it has none.
func after(head []byte, mark string) []byte {
	for i := 0; i+len(mark) <= len(head); i++ {
		if head[i] == mark[0] && strings.EqualFold(string(head[i:i+len(mark)]), mark) {
			return head[i+len(mark):]
		}
	}
	return nil
}

// tagNamed says that head begins with the start of such a tag.
func tagNamed(head []byte, name string) bool {
	end := 1 + len(name)
	return len(head) > end && strings.EqualFold(string(head[1:end]), name) && (dom.IsSpace(head[end]) || head[end] == '/' || head[end] == '>')
}

// wordEnd is where the name of a tag ends.
func wordEnd(s []byte) int {
	for i, c := range s {
		if dom.IsSpace(c) || c == '>' {
			return i
		}
	}
	return len(s)
}

// metaTag is what one <meta> says.
type metaTag struct {
	charset string
	content string
	pragma  bool // it stands for a header
}

func readMeta(head []byte) (m metaTag, rest []byte) {
	seen := map[string]bool{}
	for {
		name, value, next, ok := readAttribute(head)
		head = next
		if !ok {
			return m, head
		}
		if seen[name] {
			continue
		}
		seen[name] = true
		switch name {
		case "http-equiv":
			m.pragma = value == "content-type"
		case "content":
			m.content = contentCharset(value)
		case "charset":
			m.charset = value
		}
	}
}

// label is the declared encoding, if it is one that is known or one that is refused.
func (m metaTag) label() string {
	label := m.charset
	if label == "" && m.pragma {
		label = m.content
	}
	label = strings.TrimSpace(label)
	switch _, name := whatwg.Lookup(label); {
	case refused.MatchString(label):
		return label
	case strings.HasPrefix(name, "utf-16"):
		return "utf-8" // it was found by reading ASCII
	case name == "x-user-defined":
		return "windows-1252"
	case name == "":
		return ""
	}
	return label
}

// readAttribute is the Standard's "get an attribute", with name and value in lower case; ok is false at the tag's end.
func readAttribute(s []byte) (name, value string, rest []byte, ok bool) {
	for len(s) > 0 && (dom.IsSpace(s[0]) || s[0] == '/') {
		s = s[1:]
	}
	if len(s) == 0 || s[0] == '>' {
		return "", "", s, false
	}
	end := 0
	for end < len(s) && !dom.IsSpace(s[end]) && s[end] != '/' && s[end] != '>' && (s[end] != '=' || end == 0) {
		end++
	}
	name, s = strings.ToLower(string(s[:end])), bytes.TrimLeft(s[end:], " \t\n\f\r")
	if len(s) == 0 || s[0] != '=' {
		return name, "", s, true
	}
	s = bytes.TrimLeft(s[1:], " \t\n\f\r")
	switch {
	case len(s) == 0 || s[0] == '>':
		return name, "", s, true
	case s[0] == '"' || s[0] == '\'':
		end = bytes.IndexByte(s[1:], s[0])
		if end < 0 {
			return "", "", nil, false // the value, and with it the tag, is not in what was read
		}
		return name, strings.ToLower(string(s[1 : 1+end])), s[end+2:], true
	}
	end = wordEnd(s)
	return name, strings.ToLower(string(s[:end])), s[end:], true
}

// contentCharset is the Standard's "extracting a character encoding from a meta element".
func contentCharset(s string) string {
	for {
		at := strings.Index(s, "charset")
		if at < 0 {
			return ""
		}
		s = strings.TrimLeft(s[at+len("charset"):], " \t\n\f\r")
		if !strings.HasPrefix(s, "=") {
			continue
		}
		if s = strings.TrimLeft(s[1:], " \t\n\f\r"); s == "" {
			return ""
		}
		if q := s[0]; q == '"' || q == '\'' {
			own, _, closed := strings.Cut(s[1:], string(q))
			if !closed {
				return ""
			}
			return own
		}
		if end := strings.IndexAny(s, "; \t\n\f\r"); end >= 0 {
			s = s[:end]
		}
		return s
	}
}
