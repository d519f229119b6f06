package backend

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/search"
)

// duckduckgo is the Instant Answer API: a definition, a fact or an abstract for a topic. It is not a web search and has
// nothing for most queries. https://duckduckgo.com/api.
type duckduckgo struct{ *service }

func newDuckDuckGo(s *service) search.Backend { return duckduckgo{s} }

type duckduckgoReply struct {
	Heading       string
	Image         string // of the abstract; a path on DuckDuckGo's host
	AbstractText  string
	AbstractURL   string
	Answer        json.RawMessage // a string, or an object if a script draws the answer
	AnswerType    string
	Definition    string
	DefinitionURL string
	Results       []duckduckgoTopic
	RelatedTopics []duckduckgoTopic
	Type          *string // absent if the reply is not from this API
}

// duckduckgoTopic is a link, or a named group of links.
type duckduckgoTopic struct {
	FirstURL, Text string
	Topics         []duckduckgoTopic
}

// maxRelated limits the related topics, which are single lines.
const maxRelated = 5

func (d duckduckgo) Search(ctx context.Context, q search.Query) (search.Reply, error) {
	text := withoutCommands(topic(q.Text, q.Language))
	if text == "" {
		return search.Reply{}, nil
	}
	var reply duckduckgoReply
	left, err := d.ask(ctx, request{path: "/", language: q.Language, params: url.Values{
		"q": {cutWords(text, 490)}, "format": {"json"}, "t": {"familiar"},
		"no_html": {"1"}, "no_redirect": {"1"}, "skip_disambig": {"1"},
	}}, &reply)
	return outcome(reply.hits(text), left, d.expect(reply.Type != nil, "the reply has none of the fields of an instant answer", err))
}

func (r *duckduckgoReply) hits(text string) []turn.Hit {
	var hits []turn.Hit
	add := func(title, address, text string, answer bool) {
		if text = prose(unmark(text), maxProse); text != "" && address != "" {
			h := textHit(unmark(title), address, text)
			h.Answer = answer
			hits = append(hits, h)
		}
	}
	var answer string
	if json.Unmarshal(r.Answer, &answer) == nil && !aboutUs(r.AnswerType) {
		// An answer that DuckDuckGo computes is on no page but its own.
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

// aboutUs reports whether an answer is about the client. The answer to "what is my IP" would show this machine's
// address to a channel.
func aboutUs(answerType string) bool { return answerType == "ip" || answerType == "user_agent" }

// leaves flattens groups of topics, up to maxRelated.
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
