package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"

	"familiar/cmd/evaluate/train"
	"familiar/internal/bot/outgoing"
	"familiar/internal/context/turn"
	"familiar/internal/llm"
	"familiar/internal/providers/websearch"
	"familiar/internal/search"
	"familiar/internal/web/read"
)

type messageRow struct{ ID, Text string }

// predictNeed predicts {"search"}: whether a turn looks something up for the message, without a model. The score and
// the cues are beside it.
func predictNeed(ctx context.Context, _ fs.FS, row messageRow) (prediction, error) {
	look := lookFor(ctx, row)
	return prediction{"search": look.State != turn.NotNeeded, "score": look.Score, "cues": look.Cues}, nil
}

// predictIntent predicts {"intent"}: what kind of lookup the message gets, in the set's words.
func predictIntent(ctx context.Context, _ fs.FS, row messageRow) (prediction, error) {
	look := lookFor(ctx, row)
	intent := train.InSet(look.Intent)
	if look.State == turn.NotNeeded {
		intent = "none"
	}
	return prediction{"intent": intent, "score": look.Score}, nil
}

type spokenRow struct{ ID, Lang, Text, Intent string }

// predictSpoken predicts {"intent"}: what a message in any language is looked up for, or "none". "found" and "alarm" score whether it is
// looked up, "kind" whether that is right and what for.
func predictSpoken(ctx context.Context, files fs.FS, row spokenRow) (prediction, error) {
	predicted, err := predictIntent(ctx, files, messageRow{row.ID, row.Text})
	if err != nil {
		return nil, err
	}
	got := detection(row.Intent != "none", predicted["intent"] != "none")
	got["lang"], got["intent"], got["kind"] = row.Lang, predicted["intent"], share(predicted["intent"] == row.Intent)
	return got, nil
}

// lookFor is the lookup of a turn that can reach nothing: whether and what for is decided, and no more.
func lookFor(ctx context.Context, row messageRow) turn.Lookup {
	return (&websearch.Provider{Server: true}).Lookup(ctx, request(row.ID, row.Text))
}

func request(id, text string) turn.Request {
	return turn.Request{ID: id, Mode: turn.Text, GuildID: "evaluation", Message: turn.Message{ID: id, ChannelID: "evaluation", Text: text}}
}

type evidenceRow struct {
	ID, Question, Title, Text string
	Docs                      []struct{ Title, Text string }
	Budget                    int // characters within which the answer must be
}

// predictEvidence predicts {"text"}: what a lookup without a model quotes in answer to the question, best first, when
// the search finds exactly the row's texts.
func predictEvidence(ctx context.Context, _ fs.FS, row evidenceRow) (prediction, error) {
	var hits shelf
	for _, d := range row.Docs {
		hits.add(d.Title, d.Text)
	}
	if len(hits) == 0 {
		hits.add(row.Title, row.Text)
	}
	req := request(row.ID, row.Question)
	req.Web.Switch = turn.WebAlways
	var quoted []string
	for _, c := range hits.lookUp(ctx, req).Summary {
		quoted = append(quoted, c.Text)
	}
	return prediction{"text": strings.Join(quoted, " ")}, nil
}

// predictSummary predicts {"text"}: what a lookup without a model quotes when it is asked to sum up, with the row's
// question in view, what the search finds: the row's text.
func predictSummary(ctx context.Context, files fs.FS, row evidenceRow) (prediction, error) {
	row.Question = "Summarize: " + row.Question
	return predictEvidence(ctx, files, row)
}

// shelf is a search backend that finds the same pages whatever is asked, and delivers their text.
type shelf []turn.Hit

func (shelf) Name() string { return "shelf" }

func (s shelf) Search(context.Context, search.Query) (search.Reply, error) {
	return search.Reply{Hits: s}, nil
}

// add puts one more page on the shelf, of a site of its own.
func (s *shelf) add(title, text string) {
	*s = append(*s, turn.Hit{Title: title, Text: text, URL: fmt.Sprintf("https://document%d.org/", len(*s)+1)})
}

// lookUp is a lookup without a model that finds what is on the shelf.
func (s shelf) lookUp(ctx context.Context, req turn.Request) turn.Lookup {
	engine := &search.Engine{Backends: []search.Backend{s}}
	defer engine.Wait()
	p := &websearch.Provider{Search: engine, Reader: &read.Reader{}}
	defer p.Reader.Wait()
	return p.Lookup(ctx, req)
}

// discordUnits is how long a message on Discord may be, in UTF-16 units.
const discordUnits = 2000

// predictSplit predicts {"chunks"}: the messages in which a long text is posted.
func predictSplit(_ context.Context, _ fs.FS, row messageRow) (prediction, error) {
	return prediction{"chunks": outgoing.Split(row.Text, discordUnits)}, nil
}

type tokensRow struct{ Text, Encoding string }

// openTokens predicts {"n"}: how many tokens a text is taken for. For models whose vocabulary is not o200k, that is an
// estimate.
func openTokens() predictor {
	counters := map[string]*llm.Counter{"o200k_base": {Model: "gpt-4o"}, "cl100k_base": {Model: "gpt-4"}}
	return func(_ context.Context, _ fs.FS, line []byte) (prediction, error) {
		var row tokensRow
		if err := json.Unmarshal(line, &row); err != nil {
			return nil, fmt.Errorf("read row: %w", err)
		}
		counter := counters[row.Encoding]
		if counter == nil {
			return nil, fmt.Errorf("there is no model for the vocabulary %q", row.Encoding)
		}
		return prediction{"n": counter.Count(row.Text)}, nil
	}
}
