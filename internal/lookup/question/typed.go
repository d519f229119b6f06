package question

import (
	"net/url"
	"path"
	"regexp"
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/text"
	"familiar/internal/text/lang"
	"familiar/internal/web/guard"
)

// URLPattern finds URLs as people type them, with or without a scheme.
var URLPattern = regexp.MustCompile(`(?i)(?:\bhttps?://|\bwww\.)[^\s<>"“”„«»]+`)

// notPages are files that hold nothing to read.
var notPages = text.Set(".gif .png .jpg .jpeg .webp .mp4 .webm .mov .mp3 .ogg .zip .exe")

// Typed returns the URLs that people typed in the message or in the message it replies to, canonical but for the
// fragment and in order, and apart from these what looks like a URL and may not be read. One of the parent's counts only if the
// message speaks of it.
func Typed(req turn.Request) (urls, refused []string) {
	var texts []string
	if req.Message.ByPerson() {
		texts = append(texts, req.Message.Text)
	}
	if parent := req.Parent; parent != nil && parent.ByPerson() && URLPattern.MatchString(parent.Text) && speaksOfPage(req.Message.Text) {
		texts = append(texts, parent.Text)
	}
	for _, s := range texts {
		for _, raw := range URLPattern.FindAllString(s, 20) {
			raw = TrimURL(raw)
			if strings.HasPrefix(strings.ToLower(raw), "www.") {
				raw = "https://" + raw
			}
			canonical, ok := guard.Canonical(raw)
			switch {
			case !ok:
				refused = text.AddOnce(refused, raw)
			case !IsFile(canonical):
				urls = text.AddOnce(urls, canonical+Anchor(raw))
			}
		}
	}
	return urls, refused
}

// pageWords are the words by which a reply means the page that its parent links to.
var pageWords = text.Set(lang.All().Query.PageWords)

func speaksOfPage(s string) bool {
	for _, w := range text.Words(s) {
		if pageWords[w.Key] {
			return true
		}
	}
	return false
}

// TrimURL drops the punctuation of the sentence around a URL, and a bracket that it did not open.
func TrimURL(s string) string {
	for s != "" {
		last := s[len(s)-1]
		switch {
		case strings.IndexByte(`.,;:!?'*_~|`, last) >= 0:
		case last == ')' && strings.Count(s, ")") > strings.Count(s, "("):
		case last == ']' && strings.Count(s, "]") > strings.Count(s, "["):
		case last == '}' && strings.Count(s, "}") > strings.Count(s, "{"):
		default:
			return s
		}
		s = s[:len(s)-1]
	}
	return s
}

func IsFile(canonical string) bool {
	u, err := url.Parse(canonical)
	return err == nil && notPages[strings.ToLower(path.Ext(u.Path))]
}

func WithoutURLs(s string) string { return URLPattern.ReplaceAllString(s, " ") }

// Anchor is a URL's fragment with its "#", "" if it has none or an empty one.
func Anchor(raw string) string {
	if _, fragment, _ := strings.Cut(raw, "#"); fragment != "" {
		return "#" + fragment
	}
	return ""
}
