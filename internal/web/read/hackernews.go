package read

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/html"

	"familiar/internal/api"
	"familiar/internal/web/page"
)

// findHackerNews recognises stories and comments.
func findHackerNews(u *url.URL, _ string) *request {
	id := u.Query().Get("id")
	if u.Hostname() != "news.ycombinator.com" || u.Path != "/item" || !hasOnlyParam(u, "id") || !isNumber(id) {
		return nil
	}
	return &request{
		final: "https://news.ycombinator.com/item?id=" + id,
		read:  func(ctx context.Context, s *session) (page.Page, error) { return readHackerNews(ctx, s, id) },
	}
}

// newsItem is a story or a comment with its replies, https://hn.algolia.com/api. A deleted one has no author.
type newsItem struct {
	ID        int64
	CreatedAt string `json:"created_at"`
	Author    string
	Title     string
	URL       string
	Text      string // HTML
	Points    int
	Children  []*newsItem

	shown bool
}

// maxThread is how many comments of a thread are read.
const maxThread = 200

func readHackerNews(ctx context.Context, s *session, id string) (page.Page, error) {
	var story newsItem
	err := s.json(ctx, api.Request{Path: "/api/v1/items/" + id}, &story)
	if story.ID == 0 {
		return page.Page{}, cmp.Or(err, malformed("the reply is not an item"))
	}
	first := post{what: "Story", author: story.Author, at: parseTime(story.CreatedAt), body: story.Text}
	if story.Points > 0 {
		first.facts = append(first.facts, fmt.Sprintf("%d points", story.Points))
	}
	title := plainText(story.Title)
	if title == "" {
		first.what, title = "Comment", "Comment by "+cmp.Or(story.Author, "somebody")
	}
	if u, err := url.Parse(story.URL); err == nil && u.Hostname() != "" {
		first.facts = append(first.facts, "about a page of "+u.Hostname())
	}
	left := story.pick()
	p := thread(story.below([]post{first}), left, &url.URL{Scheme: "https", Host: "news.ycombinator.com", Path: "/"})
	p.Title, p.Author, p.Site, p.Published = title, story.Author, "Hacker News", parseTime(story.CreatedAt)
	return p, nil
}

// pick chooses the comments to show, those nearest to the story first. It returns how many are left out.
func (it *newsItem) pick() (left int) {
	shown := 0
	for row := it.Children; len(row) > 0; {
		var next []*newsItem
		for _, c := range row {
			if c == nil {
				continue
			}
			next = append(next, c.Children...)
			switch {
			case c.Author == "" || c.Text == "": // deleted; its replies remain
				c.shown = true
			case shown < maxThread:
				c.shown = true
				shown++
			default:
				left++
			}
		}
		row = next
	}
	return left
}

// below adds the chosen comments, each followed by its replies.
func (it *newsItem) below(posts []post) []post {
	for _, c := range it.Children {
		if c == nil || !c.shown {
			continue
		}
		one := post{what: "Comment", author: c.Author, at: parseTime(c.CreatedAt), body: c.Text}
		if it.Title == "" && it.Author != "" {
			one.what = "Reply to " + plainText(it.Author)
		}
		if c.Text != "" {
			posts = append(posts, one)
		}
		posts = c.below(posts)
	}
	return posts
}

// post is one contribution to a thread.
type post struct {
	what   string // "Answer", "Comment"
	author string // empty if unknown
	at     time.Time
	facts  []string // "accepted", "score 12"
	body   string   // HTML
}

// thread formats posts in order, each below a line about it, up to maxText bytes. It skips posts without a text, except
// the first. left is the number of further posts that the service has.
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
			part, _ = page.Part(one.body, base, nil) // an invalid body counts as empty
		}
		if part.Markdown == "" && i > 0 {
			continue
		}
		text.WriteString(one.line() + "\n\n")
		if part.Markdown != "" {
			text.WriteString(part.Markdown + "\n\n")
		}
		p.Hidden += part.Hidden
		p.Doubtful += part.Doubtful
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

// maxLinks is how many links of a thread are kept.
const maxLinks = 300

// line returns a line with the author and the date of a post: "Answer by Ada, 2026-11-02, score 12".
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

// plainText decodes the entities of a text and puts it on one line.
func plainText(s string) string {
	return strings.Join(strings.Fields(html.UnescapeString(s)), " ")
}

// parseTime parses a date or a time as services write them. It returns zero if it is invalid.
func parseTime(s string) time.Time {
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}

// unixTime converts a Unix time. It returns zero for 0.
func unixTime(n int64) time.Time {
	if n <= 0 {
		return time.Time{}
	}
	return time.Unix(n, 0).UTC()
}

// ifAfter returns t if it is later than published, as [page.Page] requires, and zero otherwise.
func ifAfter(t, published time.Time) time.Time {
	if t.After(published) {
		return t
	}
	return time.Time{}
}
