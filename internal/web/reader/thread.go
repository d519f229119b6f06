package reader

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/html"

	"familiar/internal/web/page"
)

// post is one contribution to a thread, as its service tells it.
type post struct {
	what   string // "Answer", "Comment"
	author string // empty if nobody knows
	at     time.Time
	facts  []string // "accepted", "score 12"
	body   string   // HTML
}

// thread writes posts one after the other, each below a line about it, until the text is as long as any may be. Of
// those that say nothing it keeps the first, whose line does. left is how many posts there are beyond these.
func thread(posts []post, left int, base *url.URL) page.Page {
	p := page.Page{Type: "forum"}
	var text strings.Builder
	known := map[string]bool{}
	for i, one := range posts {
		if text.Len() > maxText {
			left += len(posts) - i
			break
		}
		var part page.Page
		if strings.TrimSpace(one.body) != "" {
			part, _ = page.Part(one.body, base, nil) // what cannot be read says nothing
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
			if !known[l.URL] && len(p.Links) < maxLinks {
				known[l.URL] = true
				p.Links = append(p.Links, l)
			}
		}
	}
	p.Markdown = cut(strings.TrimSpace(text.String()), maxText)
	if left > 0 && p.Markdown != "" {
		p.Markdown += fmt.Sprintf("\n\n(%d more are not shown here.)", left)
	}
	return p
}

// maxLinks is how many links of a thread are kept.
const maxLinks = 300

// line says who wrote a post, and when: "Answer by Ada, 2026-11-02, score 12".
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

// plainText is a text that a service delivers with entities, on one line.
func plainText(s string) string {
	return strings.Join(strings.Fields(html.UnescapeString(s)), " ")
}

// moment reads a date and time as services write them. What cannot be read is zero.
func moment(s string) time.Time {
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}

// seconds is a Unix time; 0 is none.
func seconds(n int64) time.Time {
	if n <= 0 {
		return time.Time{}
	}
	return time.Unix(n, 0).UTC()
}

// after is t where it is later than published, as page.Page has it.
func after(t, published time.Time) time.Time {
	if t.After(published) {
		return t
	}
	return time.Time{}
}
