package backend

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strconv"

	"familiar/internal/context/turn"
	"familiar/internal/search"
)

// hackernews searches Hacker News through Algolia: https://hn.algolia.com/api. It finds stories, and for the forum
// intent comments too. For that intent, hits link to the discussion; for others, to the page that the story is about.
//
// CONTRIBUTING.md names it as the example for new backends. Every backend has these parts, in this order. The service
// holds its name, address and HTTP client.
type hackernews struct{ *service }

// newHackerNews is the constructor in the table.
func newHackerNews(s *service) search.Backend { return hackernews{s} }

// hackernewsReply holds the fields that are read. If a service sometimes changes a field's type, the field is a number or raw JSON. So it
// does not invalidate the whole reply.
type hackernewsReply struct {
	Hits []hackernewsHit // nil if the reply is not from this service
}

type hackernewsHit struct {
	ID      string `json:"objectID"`
	Title   string
	URL     string // empty if the story is a text
	Points  number
	At      number `json:"created_at_i"` // seconds since 1970
	Text    string `json:"story_text"`
	About   string `json:"story_title"` // title of a comment's story
	Comment string `json:"comment_text"`
}

// Search asks once. No hits and no error mean that there are none. So it may skip only questions that cannot have a hit. They have no
// words, or are queries for other sites.
func (h hackernews) Search(ctx context.Context, q search.Query) (search.Reply, error) {
	words := cutWords(line(problem(q), maxSnippet), 500)
	forum := q.Intent == turn.IntentForum
	if words == "" || forum && !q.Allows("news.ycombinator.com") {
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

// hits returns the results in order. Strangers wrote everything in them. The helper hit makes it plain text, and values that become part of
// an address are checked.
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
