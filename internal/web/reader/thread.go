package reader

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/html"

	"familiar/internal/web/page"
)

// post is one contribution to a thread, as its service has it.
type post struct {
	what   string // "Answer", "Comment"
	author string // empty if nobody knows
	at     time.Time
	facts  []string // "accepted", "score 12"
	body   string   // HTML
}

// thread writes posts one after the other, each below a line about it, until the text has maxText bytes. It skips posts
// without a text, except the first. left is the number of further posts that the service has.
func thread(posts []post, left int, base *url.URL) page.Page {
	p := page.Page{Type: "forum"}
	var text strings.Builder
	seen := map[string]bool{}
	for i, one := range posts {
		if text.Len() > maxText {
			left += len(posts) - i
			break
		}
		var part page.Page
		if strings.TrimSpace(one.body) != "" {
			part, _ = page.Part(one.body, base, nil) // what cannot be read has no text
		}
		if part.Markdown == "" && i > 0 {
			continue
		}
		text.WriteString(one.line() + "\n\n")
		if part.Markdown != "" {
			text.WriteString(part.Markdown + "\n\n")
		}
		p.Hidden += part.Hidden
		for _, l := range part.Links {
			if !seen[l.URL] && len(p.Links) < maxLinks {
				seen[l.URL] = true
				p.Links = append(p.Links, l)
			}
		}
	}
	p.Markdown = truncate(strings.TrimSpace(text.String()), maxText)
	if left > 0 && p.Markdown != "" {
		p.Markdown += fmt.Sprintf("\n\n(%d more are not shown here.)", left)
	}
	return p
}

// maxLinks is the number of links of a thread that are kept.
const maxLinks = 300

// line returns who wrote a post, and when: "Answer by Ada, 2026-11-02, score 12".
func (p post) line() string {
	parts := []string{p.what}
	if p.author != "" {
		parts[0] += " by " + plainText(p.author)
	}
	if !p.at.IsZero() {
		parts = append(parts, p.at.UTC().Format(time.DateOnly))
	}
	return strings.Join(append(parts, p.facts...), ", ")
}

// plainText returns a text without its entities, on one line.
func plainText(s string) string {
	return strings.Join(strings.Fields(html.UnescapeString(s)), " ")
}

// parseTime returns a date and time as services write them, zero if it cannot be read.
func parseTime(s string) time.Time {
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}

// unixTime returns a Unix time; 0 is none.
func unixTime(n int64) time.Time {
	if n <= 0 {
		return time.Time{}
	}
	return time.Unix(n, 0).UTC()
}

// ifAfter returns t if it is later than published, as page.Page has it, and zero otherwise.
func ifAfter(t, published time.Time) time.Time {
	if t.After(published) {
		return t
	}
	return time.Time{}
}
