package main

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"familiar/internal/context/turn"
)

type fetchInput struct {
	URL   string `json:"url" jsonschema:"address of the page"`
	Start int    `json:"start,omitempty" jsonschema:"from which character on; 0 unless said"`
	Most  int    `json:"max_characters,omitempty" jsonschema:"how much of the text is returned; 20000 unless said"`
}

type fetchOutput struct {
	Notice     string `json:"notice" jsonschema:"what the text below is"`
	Record     string `json:"record" jsonschema:"the id of the record: familiar trace shows it"`
	URL        string `json:"url" jsonschema:"where redirects led"`
	Title      string `json:"title,omitempty"`
	Author     string `json:"author,omitempty"`
	Site       string `json:"site,omitempty"`
	Published  string `json:"published,omitempty"`
	Language   string `json:"language,omitempty"`
	Type       string `json:"type" jsonschema:"article, forum, product, list, text, …"`
	Markdown   string `json:"markdown" jsonschema:"the text, quoted from the page"`
	Start      int    `json:"start"`
	Characters int    `json:"characters" jsonschema:"of the whole text"`
	Next       int    `json:"next,omitempty" jsonschema:"where the rest begins; missing: this is the end"`
	Fetched    string `json:"fetched"`
}

func (c *call) fetch(ctx context.Context, in fetchInput) (*fetchOutput, string, error) {
	m := c.asks(in.URL)
	began := time.Now()
	r := c.readPage(ctx, strings.TrimSpace(in.URL), false)
	l := &turn.Lookup{State: turn.Found, Question: in.URL, Pages: []turn.Page{r.Record()}, Began: began}
	if r.Err != nil {
		l.State, l.Failure, l.Reason = turn.LookupFailed, r.Err.Code, r.Err.Message
	}
	if err := c.behind().Record(ctx, m, "fetch", l, nil); err != nil {
		return nil, "", err
	}
	if r.Err != nil {
		return nil, "", notFetched(r)
	}
	g := r.shown
	out := &fetchOutput{Notice: notice, Record: m.ID, URL: line(r.visited().Final), Title: g.Title, Author: g.Author, Site: g.Site, Published: isoDate(g.Published),
		Language: g.Language, Type: g.Type, Fetched: isoDate(r.visited().Fetched), Characters: utf8.RuneCountInString(g.Markdown)}
	if in.Start > 0 && in.Start >= out.Characters {
		return nil, "", &toolError{codeInvalid, "start is behind the end of the text"}
	}
	most := in.Most
	if most == 0 {
		most = usualText
	}
	shown := []rune(g.Markdown)[in.Start:]
	if len(shown) > most {
		shown, out.Next = shown[:most], in.Start+most
	}
	out.Start, out.Markdown = in.Start, string(shown)
	return out, out.String(), nil
}

// notFetched is a page's failure as the client is told.
func notFetched(r *reading) error {
	why := r.Err.Message
	if r.Err.Reason != "" {
		why += " (" + string(r.Err.Reason) + ")"
	}
	return &toolError{r.Err.Code, why}
}
