package backends

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/search"
)

// hackernews is the search of Hacker News by Algolia: https://hn.algolia.com/api. It finds stories, and for a forum
// question comments too. What people say is on the page of the discussion; any other question is better answered by
// the page that the story is about.
type hackernews struct {
	*service
	now func() time.Time
}

func newHackerNews(c Config, base string) (search.Backend, error) {
	s, err := newService(c, "hackernews", base)
	return hackernews{s, c.now()}, err
}

func (hackernews) Name() string { return "hackernews" }

type hackernewsReply struct {
	Hits []hackernewsHit
}

type hackernewsHit struct {
	ID      string `json:"objectID"`
	Title   string
	URL     string // empty where the story is a text of its own
	Points  number
	At      number `json:"created_at_i"`
	Text    string `json:"story_text"`
	About   string `json:"story_title"` // of a comment's story
	Comment string `json:"comment_text"`
}

func (h hackernews) Search(ctx context.Context, q search.Query) (search.Reply, error) {
	words := cutWords(line(problem(q), maxSnippet), 500)
	forum := q.Intent == "forum"
	if words == "" || forum && !allows(q, "news.ycombinator.com") {
		return search.Reply{}, nil
	}
	params := url.Values{"query": {words}, "tags": {"story"}, "hitsPerPage": {strconv.Itoa(q.Limit)}}
	if forum {
		params.Set("tags", "(story,comment)")
	}
	if oldest := since(h.now(), q.Fresh); !oldest.IsZero() {
		params.Set("numericFilters", fmt.Sprintf("created_at_i>%d", oldest.Unix()))
	}
	var reply hackernewsReply
	err := h.get(ctx, "/api/v1/search", params, q.Language, &reply)
	if hits := reply.hits(forum); len(hits) > 0 {
		return search.Reply{Hits: hits}, nil
	}
	if err == nil && reply.Hits == nil {
		err = h.fail(turn.CodeMalformed, "the reply has no hits field")
	}
	return search.Reply{}, err
}

func (r *hackernewsReply) hits(forum bool) []turn.Hit {
	var hits []turn.Hit
	for _, h := range r.Hits {
		if _, err := strconv.ParseUint(h.ID, 10, 63); err != nil {
			continue
		}
		address := "https://news.ycombinator.com/item?id=" + h.ID
		if !forum {
			address = cmp.Or(h.URL, address)
		}
		hits = append(hits, turn.Hit{
			Title: line(unmark(cmp.Or(h.Title, h.About)), maxTitle), URL: address, Snippet: line(unmark(cmp.Or(h.Comment, h.Text)), maxSnippet),
			Given: h.Points.value, Published: unixAt(h.At, number{}).UTC(),
		})
	}
	return hits
}
