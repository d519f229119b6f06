package charset

import (
	"bytes"
	"strings"

	whatwg "golang.org/x/net/html/charset"

	"familiar/internal/web/page/dom"
)

// prescan looks for a declaration of the encoding in the beginning of an HTML document (HTML Standard, "prescan a byte
// stream to determine its encoding"). It works on bytes, not on a tree, so a <meta> in a script counts too, as it does in
// browsers. With skip, it leaves out what is in scripts and styles. It returns the label as it is written, "" if no label
// stands for an encoding.
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
			if label, head = readMeta(head[len("<meta"):]); label != "" {
				return label
			}
		case skip && tagNamed(head, "script"):
			_, head, _ = dom.CutFold(head, "</script")
		case skip && tagNamed(head, "style"):
			_, head, _ = dom.CutFold(head, "</style")
		case len(head) > 1 && dom.IsLetter(head[1]), len(head) > 2 && head[1] == '/' && dom.IsLetter(head[2]):
			head = head[min(len(head), 1+wordEnd(head[1:])):]
			for more := true; more; {
				_, _, head, more = readAttribute(head)
			}
		case len(head) > 1 && strings.IndexByte("!/?", head[1]) >= 0:
			_, head, _ = bytes.Cut(head, []byte(">"))
		default:
			head = head[1:]
		}
	}
	return ""
}

// tagNamed reports whether head begins with the start of such a tag.
func tagNamed(head []byte, name string) bool {
	end := 1 + len(name)
	return len(head) > end && strings.EqualFold(string(head[1:end]), name) && (dom.IsSpace(head[end]) || head[end] == '/' || head[end] == '>')
}

// wordEnd returns where the name of a tag ends.
func wordEnd(s []byte) int {
	for i, c := range s {
		if dom.IsSpace(c) || c == '>' {
			return i
		}
	}
	return len(s)
}

// readMeta returns the encoding that one <meta> declares.
func readMeta(head []byte) (label string, rest []byte) {
	names := map[string]bool{}
	content, pragma := "", false // what takes the place of a header
	for {
		name, value, next, ok := readAttribute(head)
		head = next
		if !ok {
			if label == "" && pragma {
				label = content
			}
			return labelOf(label), head
		}
		if names[name] {
			continue
		}
		names[name] = true
		switch name {
		case "http-equiv":
			pragma = value == "content-type"
		case "content":
			content = contentCharset(value)
		case "charset":
			label = value
		}
	}
}

// labelOf returns a declared encoding if the Encoding Standard lists it or if it is refused.
func labelOf(label string) string {
	label = strings.TrimSpace(label)
	switch _, name := whatwg.Lookup(label); {
	case refusedLabels.MatchString(label):
		return label
	case strings.HasPrefix(name, "utf-16"):
		return "utf-8" // the declaration itself was read as ASCII
	case name == "x-user-defined":
		return "windows-1252"
	case name == "":
		return ""
	}
	return label
}

// readAttribute is the Standard's "get an attribute". It returns name and value in lower case; ok is false at the end of
// the tag.
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
	name, s = strings.ToLower(string(s[:end])), bytes.TrimLeft(s[end:], dom.Blanks)
	if len(s) == 0 || s[0] != '=' {
		return name, "", s, true
	}
	s = bytes.TrimLeft(s[1:], dom.Blanks)
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
		s = strings.TrimLeft(s[at+len("charset"):], dom.Blanks)
		if !strings.HasPrefix(s, "=") {
			continue
		}
		if s = strings.TrimLeft(s[1:], dom.Blanks); s == "" {
			return ""
		}
		if q := s[0]; q == '"' || q == '\'' {
			own, _, closed := strings.Cut(s[1:], string(q))
			if !closed {
				return ""
			}
			return own
		}
		if end := strings.IndexAny(s, ";"+dom.Blanks); end >= 0 {
			s = s[:end]
		}
		return s
	}
}
