package cascade

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// state decides the pseudo-classes that depend on what an element is rather than on where it stands.
func (m *matcher) state(s *simple, n *html.Node) bool {
	has := func(key string) bool { _, ok := attribute(n, key); return ok }
	switch s.name {
	case "empty":
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if c.Type == html.ElementNode || c.Type == html.TextNode && c.Data != "" {
				return false
			}
		}
		return true
	case "link", "any-link", "-webkit-any-link":
		return (n.DataAtom == atom.A || n.DataAtom == atom.Area) && has("href")
	case "checked":
		return n.DataAtom == atom.Input && has("checked") || n.DataAtom == atom.Option && has("selected")
	case "default":
		return has("checked") || has("selected")
	case "disabled":
		return isField(n) && has("disabled")
	case "enabled":
		return isField(n) && !has("disabled")
	case "required":
		return isField(n) && has("required")
	case "optional":
		return (n.DataAtom == atom.Input || n.DataAtom == atom.Select || n.DataAtom == atom.Textarea) && !has("required")
	case "read-write":
		return isEditable(n)
	case "read-only":
		return !isEditable(n)
	case "placeholder-shown":
		value, _ := attribute(n, "value")
		return n.DataAtom == atom.Input && has("placeholder") && value == ""
	case "valid":
		return isField(n) && !has("required") || n.DataAtom == atom.Form
	case "invalid":
		value, _ := attribute(n, "value")
		return isField(n) && has("required") && value == "" && !has("checked")
	case "defined":
		return n.Namespace != "" || !strings.Contains(n.Data, "-")
	case "open":
		return has("open") && (n.DataAtom == atom.Details || n.DataAtom == atom.Dialog)
	case "lang":
		return m.language(s, n)
	case "host":
		return n == m.host && (s.list == nil || m.any(s.list, n))
	case "dir":
		return direction(n) == s.value
	}
	return false
}

func isField(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Input, atom.Select, atom.Textarea, atom.Button, atom.Option, atom.Optgroup, atom.Fieldset:
		return true
	}
	return false
}

func isEditable(n *html.Node) bool {
	if _, ok := attribute(n, "readonly"); ok {
		return false
	}
	switch n.DataAtom {
	case atom.Textarea:
		return true
	case atom.Input:
		switch kind, _ := attribute(n, "type"); strings.ToLower(kind) {
		case "checkbox", "radio", "hidden", "button", "submit", "reset", "image", "file", "color", "range":
			return false
		}
		return true
	}
	value, ok := attribute(n, "contenteditable")
	return ok && !strings.EqualFold(value, "false")
}

func (m *matcher) language(s *simple, n *html.Node) bool {
	for ; n != nil; n = parentElement(n) {
		m.steps++
		if have, ok := attribute(n, "lang"); ok {
			have = strings.ToLower(have)
			for want := range strings.SplitSeq(s.value, ",") {
				want = strings.TrimPrefix(want, "*-")
				if rest, found := strings.CutPrefix(have, want); found && (rest == "" || rest[0] == '-') && want != "" {
					return true
				}
			}
			return false
		}
	}
	return false
}

func direction(n *html.Node) string {
	for ; n != nil; n = parentElement(n) {
		if value, ok := attribute(n, "dir"); ok {
			if value = strings.ToLower(value); value == "ltr" || value == "rtl" {
				return value
			}
		}
	}
	return "ltr"
}
