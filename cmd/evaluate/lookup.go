package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"

	"familiar/cmd/evaluate/train"
	"familiar/internal/context/turn"
	"familiar/internal/llm"
	"familiar/internal/providers/websearch"
	"familiar/internal/reply"
	"familiar/internal/search"
	"familiar/internal/web/read"
)

type messageRow struct{ ID, Text string }

// predictNeed predicts {"search"}: whether a turn searches for the message, without a side model. It adds the score and the cues.
func predictNeed(ctx context.Context, _ fs.FS, row messageRow) (prediction, error) {
	look := lookFor(ctx, row)
	return prediction{"search": look.State != turn.NotNeeded, "score": look.Score, "cues": look.Cues}, nil
}

// predictIntent predicts {"intent"}: the kind of lookup for the message, in the set's words.
func predictIntent(ctx context.Context, _ fs.FS, row messageRow) (prediction, error) {
	look := lookFor(ctx, row)
	intent := train.InSet(look.Intent)
	if look.State == turn.NotNeeded {
		intent = "none"
	}
	return prediction{"intent": intent, "score": look.Score}, nil
}

type spokenRow struct {
	ID, Lang, Text, Intent string
	Search                 *bool // instead of Intent: only whether it is looked up is known
}

// predictSpoken predicts {"intent"} of a message in any language, or "none". "found" and "alarm" score whether it is looked up, "kind"
// whether the intent is also right.
func predictSpoken(ctx context.Context, files fs.FS, row spokenRow) (prediction, error) {
	predicted, err := predictIntent(ctx, files, messageRow{row.ID, row.Text})
	if err != nil {
		return nil, err
	}
	return row.scored(predicted["intent"].(string)), nil
}

// scored scores an intent.
func (r spokenRow) scored(intent string) prediction {
	if r.Search != nil {
		seen := detection(*r.Search, intent != "none")
		got := prediction{"lang": r.Lang, "search": intent != "none"}
		for kind, is := range seen {
			got["need_"+kind] = is
		}
		return got
	}
	got := detection(r.Intent != "none", intent != "none")
	got["lang"], got["intent"], got["kind"] = r.Lang, intent, share(intent == r.Intent)
	return got
}

// lookFor runs the lookup of a turn without network access: it decides whether and what to search, and nothing more.
func lookFor(ctx context.Context, row messageRow) turn.Lookup {
	return (&websearch.Provider{}).Lookup(ctx, request(row.ID, row.Text))
}

func request(id, text string) turn.Request {
	return turn.Request{ID: id, Mode: turn.Text, GuildID: "evaluation", Message: turn.Message{ID: id, ChannelID: "evaluation", Text: text}}
}

type evidenceRow struct {
	ID, Question, Title, Text string
	Docs                      []struct{ Title, Text string }
	Budget                    int // characters that the answer must fit into
}

// predictEvidence predicts {"text"}: what a lookup without a side model quotes as an answer, best first. The search finds exactly the row's
// texts.
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

// predictSummary predicts {"text"}: what a lookup without a side model quotes as a summary of the row's text. The row's question is given.
func predictSummary(ctx context.Context, files fs.FS, row evidenceRow) (prediction, error) {
	row.Question = "Summarize: " + row.Question
	return predictEvidence(ctx, files, row)
}

// shelf is a search backend that always finds the same pages, and delivers their text.
type shelf []turn.Hit

func (shelf) Name() string { return "shelf" }

func (s shelf) Search(context.Context, search.Query) (search.Reply, error) {
	return search.Reply{Hits: s}, nil
}

// add adds a page to the shelf, from a site of its own.
func (s *shelf) add(title, text string) {
	*s = append(*s, turn.Hit{Title: title, Text: text, URL: fmt.Sprintf("https://document%d.org/", len(*s)+1)})
}

// lookUp runs a lookup without a side model that finds the pages of the shelf.
func (s shelf) lookUp(ctx context.Context, req turn.Request) turn.Lookup {
	engine := &search.Engine{Backends: []search.Backend{s}}
	defer engine.Wait()
	p := &websearch.Provider{Search: engine, Reader: &read.Reader{}}
	defer p.Reader.Wait()
	return p.Lookup(ctx, req)
}

// discordUnits is the maximum length of a message on Discord, in UTF-16 units.
const discordUnits = 2000

// predictSplit predicts {"chunks"}: the messages in which a long text is posted.
func predictSplit(_ context.Context, _ fs.FS, row messageRow) (prediction, error) {
	return prediction{"chunks": reply.Split(row.Text, discordUnits)}, nil
}

type tokensRow struct{ Text, Encoding string }

// openTokens predicts {"n"}: the token count of a text. For models with another vocabulary than o200k it is an estimate.
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

type followUpRow struct {
	ID        string
	Before    []said // oldest first
	Text      string
	Alone     bool     // the message does not depend on others
	Want, Not []string // phrases that the query must contain, and must not
	Must      []string `json:"must"`    // beginnings of words that the query must all have
	MustNot   []string `json:"mustnot"` // … and must not
}

// said is an earlier message: its text, or who wrote it ("user" or "bot") and its text.
type said struct{ Who, Text string }

func (s *said) UnmarshalJSON(raw []byte) error {
	if json.Unmarshal(raw, &s.Text) == nil {
		return nil
	}
	type plain said
	return json.Unmarshal(raw, (*plain)(s))
}

// predictFollowUp predicts {"query"}: what the search services are asked for a message after others. It is "" if nothing is looked up. A
// dependent message must take from the others what it lacks, an independent one nothing.
func predictFollowUp(ctx context.Context, _ fs.FS, row followUpRow) (prediction, error) {
	for i := range row.Before {
		if row.Must != nil && row.Before[i].Who == "" && i%2 == 1 { // question, answer, question
			row.Before[i].Who = "bot"
		}
	}
	query := queryOf(ctx, conversation(row.ID, "", row.Text, row.Before))
	if row.Must != nil {
		right := parts(query, row.Must) == len(row.Must) && parts(query, row.MustNot) == 0
		return prediction{"query": query, "right": share(right), "misled": share(query != "" && !right)}, nil
	}
	wrong := count(query, row.Not)
	got := detection(true, wrong == 0 && count(query, row.Want) == len(row.Want))
	if row.Alone {
		got = detection(false, wrong > 0)
	}
	got["query"] = query
	return got, nil
}

// parts returns how many of the parts of words are in a text, in any case.
func parts(text string, of []string) (n int) {
	text = strings.ToLower(text)
	for _, p := range of {
		if strings.Contains(text, strings.ToLower(p)) {
			n++
		}
	}
	return n
}

type privateRow struct {
	ID           string
	Author, Text string
	Before       []said // earlier messages, oldest first
	Mentions     []string
	People       []string // who have written in the server
	Want, Gone   []string // phrases that the query must contain, and phrases that may not leave
}

// predictPrivate predicts {"query"}: what leaves for a message when a lookup is ordered. The message has something that is private or looks
// so. "leak" tells whether a private part left, "kept" whether the rest did.
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

// conversation makes a request of a message after others. Each message may begin with its author's name and a colon.
func conversation(id, author, text string, before []said) turn.Request {
	req := request(id, text)
	req.Message.Author.Name = author
	for i, line := range before {
		m := turn.Message{ID: fmt.Sprintf("%s-%d", id, i), ChannelID: req.Message.ChannelID, Text: line.Text, Own: line.Who == "bot"}
		if name, said, named := strings.Cut(line.Text, ": "); named {
			m.Author.Name, m.Text = name, said
		}
		req.Chain = append([]turn.Message{m}, req.Chain...)
	}
	return req
}

// queryOf returns everything that a lookup sends to the search services.
func queryOf(ctx context.Context, req turn.Request) string {
	return shelf{{Title: "Nothing", Text: "There is nothing here.", URL: "https://document1.org/"}}.lookUp(ctx, req).Query
}
