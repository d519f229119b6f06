package main

import (
	"context"
	"io/fs"
	"maps"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/question/past"
)

// recallRow is a message, and what it asks about the past of its own server.
type recallRow struct {
	Text string
	Asks string // "none", or a kind; empty: not known
	Held bool   // nobody looked at the row while the words were collected
}

// ofMemory are the kinds of questions that memory answers, and not the server's messages.
var ofMemory = map[string]bool{"me": true, "fact": true}

// predictRecall predicts {"asks","sure"}. They say whether a message asks, or may ask, about the past of its server or about its author.
// Both look there first. Only where it is sure, the web is never asked.
func predictRecall(_ context.Context, _ fs.FS, row recallRow) (prediction, error) {
	req := turn.Request{GuildID: "g", ChannelID: "c", Names: []string{"Familiar"}, Message: turn.Message{ID: "1", Text: row.Text, Author: turn.Author{ID: "u", Name: "Ada"}}}
	q := past.Read(req, time.Now())
	asks := q.Asks() || past.AboutAsker(row.Text, req.Names) || past.AboutOwn(row.Text, req.Names)
	got := prediction{}
	if ofMemory[row.Asks] {
		got["kept"] = share(!q.Sure()) // where it is not sure, memory is asked first
	} else if row.Asks != "" {
		if got = detection(row.Asks != "none", asks); row.Held {
			for figure, is := range maps.Clone(got) {
				got["held_"+figure] = is
			}
		}
	}
	got["asks"], got["sure"] = asks, q.Sure()
	return got, nil
}
