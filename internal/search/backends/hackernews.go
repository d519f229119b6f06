package backends

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strconv"

	"familiar/internal/context/turn"
	"familiar/internal/search"
)

// hackernews is the search of Hacker News by Algolia: https://hn.algolia.com/api. It finds stories, and for a forum
// question comments too. What people say is on the page of the discussion; any other question is better answered by
// the page that the story is about.
//
// It is the example for new backends that CONTRIBUTING.md names: every backend has these parts, in this order. The service
// has its name, its address and its HTTP client.
type hackernews struct{ *service }

// newHackerNews stands in the table.
func newHackerNews(s *service) search.Backend { return hackernews{s} }

// hackernewsReply is what is read of a reply. A field whose type a service sometimes changes is a number, or raw JSON: one
// odd field must not cost the whole reply.
type hackernewsReply struct {
	Hits []hackernewsHit // nil where the reply is another service's
}

type hackernewsHit struct {
	ID      string `json:"objectID"`
	Title   string
	URL     string // empty where the story has a text instead
	Points  number
	At      number `json:"created_at_i"` // seconds since 1970
	Text    string `json:"story_text"`
	About   string `json:"story_title"` // of a comment's story
	Comment string `json:"comment_text"`
}

// Search asks once. No hits and no error say that there are none, so what is not asked must be what cannot be found
// there: a question without words, a site that is not its own.
func (h hackernews) Search(ctx context.Context, q search.Query) (search.Reply, error) {
	words := cutWords(line(problem(q), maxSnippet), 500)
	forum := q.Intent == turn.IntentForum
	if words == "" || forum && !allows(q, "news.ycombinator.com") {
		return search.Reply{}, nil
	}
	params := url.Values{"query": {words}, "tags": {"story"}, "hitsPerPage": {strconv.Itoa(q.Limit)}}
	if forum {
		params.Set("tags", "(story,comment)")
	}
	if oldest := h.since(q); !oldest.IsZero() {
		params.Set("numericFilters", fmt.Sprintf("created_at_i>%d", oldest.Unix()))
	}
	var reply hackernewsReply
	left, err := h.ask(ctx, request{path: "/api/v1/search", params: params, language: q.Language}, &reply)
	return outcome(h.hits(reply, forum), left, h.expect(reply.Hits != nil, "the reply has no hits field", err))
}

// hits are the results in their order. Everything in them is a stranger's text: the helper hit makes it plain, and what
// becomes part of an address is checked.
func (h hackernews) hits(r hackernewsReply, forum bool) []turn.Hit {
	var hits []turn.Hit
	for _, story := range r.Hits {
		if _, err := strconv.ParseUint(story.ID, 10, 63); err != nil {
			continue
		}
		address := "https://news.ycombinator.com/item?id=" + story.ID
		if !forum {
			address = cmp.Or(story.URL, address)
		}
		hit := h.hit(cmp.Or(story.Title, story.About), address, cmp.Or(story.Comment, story.Text))
		hit.Given, hit.Published = story.Points.value, unixAt(story.At, number{}).UTC()
		hits = append(hits, hit)
	}
	return hits
}
