package main

import (
	"context"
	"fmt"
	"io/fs"
	"strings"

	"familiar/internal/context/turn"
)

type followUpRow struct {
	ID        string
	Before    []string // what people wrote before, oldest first
	Text      string
	Alone     bool     // it leans on nothing
	Want, Not []string // phrases that the query must hold, and must not
}

// predictFollowUp predicts {"query"}: what is asked of the search services for a message behind others, nothing where it
// is not looked up. A message that leans on another must take from it what it lacks; one that stands alone, nothing.
func predictFollowUp(ctx context.Context, _ fs.FS, row followUpRow) (prediction, error) {
	query := queryOf(ctx, conversation(row.ID, "", row.Text, row.Before))
	wrong := count(query, row.Not)
	got := detection(true, wrong == 0 && count(query, row.Want) == len(row.Want))
	if row.Alone {
		got = detection(false, wrong > 0)
	}
	got["query"] = query
	return got, nil
}

type privateRow struct {
	ID           string
	Author, Text string
	Before       []string // what people wrote before, oldest first
	Mentions     []string
	People       []string // who have spoken in the server
	Want, Gone   []string // phrases that the query must hold, and that may not leave
}

// predictPrivate predicts {"query"}: what leaves for a message in which something is private, or looks as if it were,
// when a lookup is ordered. "leak" says whether any of it left, "kept" whether all the rest did.
func predictPrivate(ctx context.Context, _ fs.FS, row privateRow) (prediction, error) {
	req := conversation(row.ID, row.Author, row.Text, row.Before)
	req.Message.Mentions, req.People = row.Mentions, row.People
	req.Web.Switch = turn.WebAlways
	query := queryOf(ctx, req)
	got := prediction{"query": query}
	if len(row.Gone) > 0 {
		got["leak"] = share(count(query, row.Gone) > 0)
	}
	if len(row.Want) > 0 {
		got["kept"] = share(count(query, row.Want) == len(row.Want))
	}
	return got, nil
}

// conversation is a message behind others, each of which may begin with its author's name and a colon.
func conversation(id, author, text string, before []string) turn.Request {
	req := request(id, text)
	req.Message.Author.Name = author
	for i, line := range before {
		m := turn.Message{ID: fmt.Sprintf("%s-%d", id, i), ChannelID: req.Message.ChannelID, Text: line}
		if name, said, named := strings.Cut(line, ": "); named {
			m.Author.Name, m.Text = name, said
		}
		req.Chain = append([]turn.Message{m}, req.Chain...)
	}
	return req
}

// queryOf is all that a lookup sends to the search services.
func queryOf(ctx context.Context, req turn.Request) string {
	return shelf{{Title: "Nothing", Text: "There is nothing here.", URL: "https://document1.org/"}}.lookUp(ctx, req).Query
}
