package backends

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/search"
)

// duckduckgo is the Instant Answer API: a definition, a fact or an abstract for a topic, and nothing at all for most
// queries. It is not a web search. https://duckduckgo.com/api.
type duckduckgo struct{ *service }

func newDuckDuckGo(c Config, base string) (search.Backend, error) {
	s, err := newService(c, "duckduckgo", base)
	return duckduckgo{s}, err
}

func (duckduckgo) Name() string { return "duckduckgo" }

type duckduckgoReply struct {
	Heading       string
	Image         string // of the abstract; a path on their own host
	AbstractText  string
	AbstractURL   string
	Answer        json.RawMessage // a string, or an object for answers that are drawn by a script
	AnswerType    string
	Definition    string
	DefinitionURL string
	Results       []duckduckgoTopic
	RelatedTopics []duckduckgoTopic
	Type          *string // absent from what is not a reply of this API
}

// duckduckgoTopic is a link, or a named group of links.
type duckduckgoTopic struct {
	FirstURL, Text string
	Topics         []duckduckgoTopic
}

// maxRelated is how many related topics are worth having: they are single lines.
const maxRelated = 5

func (d duckduckgo) Search(ctx context.Context, q search.Query) (search.Reply, error) {
	// A bang would send us to another site.
	text := neutral(topic(q.Text, q.Language))
	if text == "" {
		return search.Reply{}, nil
	}
	var reply duckduckgoReply
	err := d.get(ctx, "/", url.Values{
		"q": {cutWords(text, 490)}, "format": {"json"}, "t": {"familiar"},
		"no_html": {"1"}, "no_redirect": {"1"}, "skip_disambig": {"1"},
	}, q.Language, &reply)
	if hits := reply.hits(text); len(hits) > 0 {
		return search.Reply{Hits: hits}, nil
	}
	if err == nil && reply.Type == nil {
		return search.Reply{}, d.fail(turn.CodeMalformed, "the reply has none of the fields of an instant answer")
	}
	return search.Reply{}, err
}

func (r *duckduckgoReply) hits(text string) []turn.Hit {
	var hits []turn.Hit
	add := func(title, address, text string, answer bool) {
		text = prose(unmark(text), maxProse)
		if text == "" || address == "" {
			return
		}
		hits = append(hits, turn.Hit{
			Title: line(unmark(title), maxTitle), URL: address, Snippet: line(text, maxSnippet), Text: text, Answer: answer,
		})
	}
	var answer string
	if json.Unmarshal(r.Answer, &answer) == nil && !aboutUs(r.AnswerType) {
		// What DuckDuckGo works out itself can be seen on no page but its own.
		page := "https://duckduckgo.com/?" + url.Values{"q": {text}}.Encode()
		add(cmp.Or(r.Heading, line(answer, 80)), cmp.Or(r.AbstractURL, r.DefinitionURL, page), answer, true)
	}
	before := len(hits)
	add(r.Heading, r.AbstractURL, r.AbstractText, false)
	if len(hits) > before {
		hits[before].Thumbnail = picture(absolute(r.Image, "https://duckduckgo.com/"))
	}
	add(r.Heading, r.DefinitionURL, r.Definition, true)
	for _, t := range leaves(append(r.Results, r.RelatedTopics...)) {
		title, _, _ := strings.Cut(t.Text, " - ")
		add(line(title, 100), t.FirstURL, t.Text, false)
	}
	return hits
}

// aboutUs is whether an answer tells of who asks: "what is my IP" would tell a channel the address of this machine.
func aboutUs(answerType string) bool { return answerType == "ip" || answerType == "user_agent" }

// leaves flattens groups of topics, up to the number wanted.
func leaves(topics []duckduckgoTopic) []duckduckgoTopic {
	var flat []duckduckgoTopic
	for _, t := range topics {
		if t.FirstURL != "" {
			flat = append(flat, t)
		}
		flat = append(flat, t.Topics...)
		if len(flat) >= maxRelated {
			return flat[:maxRelated]
		}
	}
	return flat
}
