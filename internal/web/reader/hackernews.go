package reader

import (
	"cmp"
	"context"
	"fmt"
	"net/url"

	"familiar/internal/api"
	"familiar/internal/web/page"
)

// findHackerNews recognises stories and comments by their number.
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

// newsItem is a story or a comment with everything below it, https://hn.algolia.com/api. A deleted one has no author.
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

// maxThread is the number of comments of a thread that are read.
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

// pick chooses the comments that are shown, those nearest to the story first, and returns how many are left out.
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

// below adds the comments that are shown, replies behind what they reply to.
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
