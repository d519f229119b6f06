package main

import (
	"context"
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/search"
	"familiar/internal/text"
	"familiar/internal/web/clean"
)

type searchInput struct {
	Query     string   `json:"query" jsonschema:"what to search for; it leaves the machine as it is"`
	Kind      string   `json:"kind,omitempty" jsonschema:"what kind of question; general unless said"`
	Sites     []string `json:"sites,omitempty" jsonschema:"only pages on these hosts and below, as example.org"`
	Freshness string   `json:"freshness,omitempty" jsonschema:"the oldest page wanted; any unless said"`
	Language  string   `json:"language,omitempty" jsonschema:"the language, and the region, as in de or en-GB"`
}

type searchOutput struct {
	Notice string          `json:"notice" jsonschema:"what the texts below are"`
	Record string          `json:"record" jsonschema:"the id of the record: familiar trace shows it"`
	State  turn.State      `json:"state" jsonschema:"found or empty"`
	Hits   []hitOutput     `json:"hits"`
	Asked  []serviceOutput `json:"asked" jsonschema:"the search services, and what became of them"`
	TookMS int64           `json:"took_ms"`
}

type hitOutput struct {
	URL       string `json:"url"`
	Title     string `json:"title"`
	Excerpt   string `json:"excerpt,omitempty"`
	Published string `json:"published,omitempty"`
	From      string `json:"from" jsonschema:"the search service"`
	Media     string `json:"media,omitempty" jsonschema:"the image or video itself"`
}

type serviceOutput struct {
	Service string    `json:"service"`
	Status  turn.Code `json:"status" jsonschema:"ok, empty, or why it did not answer"`
	Hits    int       `json:"hits"`
}

func (c *call) search(ctx context.Context, in searchInput) (*searchOutput, string, error) {
	q := search.Query{Text: strings.TrimSpace(in.Query), Intent: turn.Intent(in.Kind), Fresh: in.Freshness, Language: in.Language, Include: in.Sites,
		Caller: "mcp", PerMinute: c.actor.Lookup.Policy.PerMinute}
	if q.Text == "" {
		return nil, "", &toolError{codeInvalid, "the query is empty"}
	}
	if err := c.checkQuery(q); err != nil {
		return nil, "", &toolError{codeInvalid, text.OneLine(strings.ReplaceAll(err.Error(), "--site", "sites"))}
	}
	b, m := c.behind(), c.asks(q.Text)
	if !b.LookupsLeft(ctx, m) {
		return nil, "", &toolError{turn.CodeQuota, "the lookups of today are used up (FAMILIAR_QUOTAS)"}
	}
	found, l := c.find(ctx, q)
	if err := b.Record(ctx, m, "search", l, nil); err != nil {
		return nil, "", err
	}
	if found.State == turn.LookupFailed {
		return nil, "", &toolError{found.Failure, "no search service could be asked: " + found.Reason}
	}
	out := &searchOutput{Notice: notice, Record: m.ID, State: found.State, Hits: []hitOutput{}, Asked: []serviceOutput{}, TookMS: found.Took.Milliseconds()}
	for _, h := range found.Hits {
		out.Hits = append(out.Hits, hitOutput{line(h.URL), clean.Line(h.Title, 300), clean.Line(h.Snippet, 1000), isoDate(h.Published), h.Backend, line(h.Media)})
	}
	for _, s := range found.Asked {
		out.Asked = append(out.Asked, serviceOutput{s.Backend, s.Status, s.Hits})
	}
	return out, out.String(), nil
}
