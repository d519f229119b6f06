package main

import (
	"context"
	"strings"
	"time"

	"familiar/internal/bot"
	"familiar/internal/bot/terminal"
	"familiar/internal/context/turn"
	"familiar/internal/text"
)

type lookupInput struct {
	Question string `json:"question" jsonschema:"one whole question in plain words"`
}

type lookupOutput struct {
	Notice    string           `json:"notice" jsonschema:"what the texts below are"`
	Record    string           `json:"record" jsonschema:"the id of the record: familiar trace shows it"`
	State     turn.State       `json:"state" jsonschema:"found or empty"`
	Query     string           `json:"query,omitempty" jsonschema:"what left the machine, a line each"`
	Quotes    []quoteOutput    `json:"quotes" jsonschema:"sentences of pages that answer, best first"`
	Sources   []sourceOutput   `json:"sources" jsonschema:"the pages that the quotes are from, by number"`
	Conflicts []conflictOutput `json:"conflicts,omitempty" jsonschema:"values in which sources contradict each other"`
	Unread    []unreadOutput   `json:"unread,omitempty" jsonschema:"pages that could not be read, and why"`
	TookMS    int64            `json:"took_ms"`
}

type quoteOutput struct {
	Text    string `json:"text"`
	Sources []int  `json:"sources" jsonschema:"numbers of the sources that say it"`
}

type sourceOutput struct {
	N         int    `json:"n"`
	URL       string `json:"url"`
	Title     string `json:"title"`
	Site      string `json:"site"`
	Published string `json:"published,omitempty" jsonschema:"a day or a moment, RFC 3339; missing: the page has no date"`
	Fetched   string `json:"fetched"`
}

type conflictOutput struct {
	Of     string        `json:"of" jsonschema:"number or date"`
	Values []quoteOutput `json:"values"`
}

type unreadOutput struct {
	URL    string    `json:"url"`
	Code   turn.Code `json:"code"`
	Reason turn.Code `json:"reason,omitempty" jsonschema:"a finer code"`
}

func (c *call) lookUp(ctx context.Context, in lookupInput) (*lookupOutput, string, error) {
	m := c.asks(strings.TrimSpace(in.Question))
	if m.Text == "" {
		return nil, "", &toolError{codeInvalid, "the question is empty"}
	}
	b := c.behind()
	l, err := b.LookUp(ctx, m, "")
	if err == nil {
		err = c.failed(b, l)
	}
	if err != nil {
		return nil, "", err
	}
	out := &lookupOutput{Notice: notice, Record: m.ID, State: l.State, Query: l.Query, Quotes: quotes(l.Summary), Sources: sources(l.Sources),
		Unread: unread(l.Pages), TookMS: l.Took.Milliseconds()}
	for _, f := range l.Conflicts {
		values := conflictOutput{Of: f.Of, Values: []quoteOutput{}}
		for _, v := range f.Values {
			values.Values = append(values.Values, quoteOutput{line(v.Value), v.Sources})
		}
		out.Conflicts = append(out.Conflicts, values)
	}
	return out, l.Block, nil
}

// failed is the error of a lookup that could not be made, in the words that people get.
func (c *call) failed(b *bot.Bot, l *turn.Lookup) error {
	code := l.Failure
	switch l.State {
	case turn.LookupFailed:
	case turn.Disabled:
		code = turn.Code(turn.Disabled)
	default:
		return nil
	}
	return &toolError{code, text.OneLine(terminal.Plain(b.LookupAnswer("en", l)))}
}

func quotes(claims []turn.Claim) []quoteOutput {
	all := []quoteOutput{}
	for _, q := range claims {
		all = append(all, quoteOutput{line(q.Text), q.Sources()})
	}
	return all
}

func sources(of []turn.Source) []sourceOutput {
	all := []sourceOutput{}
	for _, s := range of {
		all = append(all, sourceOutput{s.N, line(s.URL), line(s.Title), s.Site, isoDate(s.Published), isoDate(s.Fetched)})
	}
	return all
}

func unread(pages []turn.Page) (all []unreadOutput) {
	for _, p := range pages {
		if p.Failure != "" && p.Failure != turn.CodeSkipped {
			all = append(all, unreadOutput{line(p.URL), p.Failure, p.Reason})
		}
	}
	return all
}

// isoDate is a moment, or a day where no more is known, and "" for none.
func isoDate(t time.Time) string {
	switch {
	case t.IsZero():
		return ""
	case t.Equal(t.Truncate(24 * time.Hour)):
		return t.UTC().Format(time.DateOnly)
	}
	return t.UTC().Format(time.RFC3339)
}
