package guard

import (
	"net/url"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"
)

// typed finds URLs as people type them, with or without a scheme.
var typed = regexp.MustCompile(`(?i)(?:\bhttps?://|\bwww\.)[^\s<>"“”„«»]+`)

// maxTyped is how many URLs of a text are looked at.
const maxTyped = 20

// TypedURLs returns the URLs in a text, as they were typed, without the punctuation of the sentence around them.
func TypedURLs(s string) []string {
	s = strings.ReplaceAll(s, "](", "] (") // a Markdown link that shows its own address
	all := typed.FindAllString(s, maxTyped)
	for i := range all {
		all[i] = trimPunctuation(all[i])
	}
	return all
}

// WithoutURLs returns a text with a blank in the place of every URL.
func WithoutURLs(s string) string { return typed.ReplaceAllString(s, " ") }

// trimPunctuation drops marks from the end of a URL, and brackets that it did not open.
func trimPunctuation(s string) string {
	for s != "" {
		r, size := utf8.DecodeLastRuneInString(s)
		last := string(r)
		opening := map[string]string{")": "(", "]": "[", "}": "{"}[last]
		unopened := opening != "" && strings.Count(s, last) > strings.Count(s, opening)
		if !unopened && !strings.Contains(`.,;:!?'*_~|…。、，；：！？）】」』؟،؛`, last) {
			break
		}
		s = s[:len(s)-size]
	}
	return s
}

// Fragment returns a URL's fragment with its "#", or "" if it has none or an empty one.
func Fragment(raw string) string {
	if _, fragment, _ := strings.Cut(raw, "#"); fragment != "" {
		return "#" + fragment
	}
	return ""
}

// unreadable are the extensions of files that hold no text.
var unreadable = set(".gif", ".png", ".jpg", ".jpeg", ".webp", ".mp4", ".webm", ".mov", ".mp3", ".ogg", ".zip", ".exe")

// Unreadable reports whether a canonical URL has the extension of a file that holds no text.
func Unreadable(canonical string) bool {
	u, err := url.Parse(canonical)
	return err == nil && unreadable[strings.ToLower(path.Ext(u.Path))]
}
