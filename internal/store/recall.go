package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Recall says for which words messages of a server are gathered, to be ranked. GuildID and Channels are required.
type Recall struct {
	GuildID  string
	Channels []string   // that may be read
	Words    [][]string // each in its forms
	Kin      []string   // words that count less
	Author   string     // id of somebody whose messages are looked for with more patience, or empty
	From, To time.Time  // a time in which more patience is had, too; zero: any time
}

// Recalled is what was gathered: messages that hold the words, with those around them, in no order.
type Recalled struct {
	Messages []Message
	Weights  []float64 // by word: the rarer, the more
}

// Bounds of what one recall reads, so that it takes as long among a million messages as among some thousands.
const (
	perWord     = 400 // the newest messages with a word
	perKin      = 200 // … with any of the words that count less
	perFilter   = 150 // … with any word, by the author or in the time
	mostLoaded  = 200 // messages that are read
	mostSeeds   = 36  // … around which others are read
	seedReach   = 4   // how many before and after it
	kinWorth    = 0.3 // of a word of the field, in words
	filterWorth = 0.5 // of being the author's, or of the time
)

// Recall gathers messages for a question: those with most of its words, the rarer the more, the newer first, and what stands around them.
func (db *DB) Recall(ctx context.Context, q Recall) (Recalled, error) {
	got := Recalled{Weights: make([]float64, len(q.Words))}
	if q.GuildID == "" || len(q.Channels) == 0 {
		return got, nil
	}
	g := &gathering{db: db, q: q, scores: map[int64]float64{}}
	if err := g.count(ctx, got.Weights); err != nil {
		return got, fmt.Errorf("recall messages: %w", db.Explain(err))
	}
	if err := g.load(ctx); err != nil {
		return got, fmt.Errorf("recall messages: %w", err)
	}
	got.Messages = g.messages
	return got, nil
}

// gathering is one recall on its way.
type gathering struct {
	db       *DB
	q        Recall
	place    string // query for what may be read, as far as the index says
	top      int64  // the last row
	scores   map[int64]float64
	messages []Message
	have     map[string]bool
}

const recallQuery = `SELECT rowid FROM message_words WHERE message_words MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT 0 + ?`

// count asks the index for each word, and scores the rows.
func (g *gathering) count(ctx context.Context, weights []float64) error {
	if err := g.db.readers.QueryRowContext(ctx, `SELECT coalesce(max(rowid), 0) FROM messages`).Scan(&g.top); err != nil {
		return err
	}
	g.place = anyOf(inGuild, g.q.GuildID)
	if len(g.q.Channels) <= fewChannels {
		g.place += " AND " + anyOf(inChannel, g.q.Channels...)
	}
	var every []string
	for i, forms := range g.q.Words {
		word := alternatives(forms)
		if word == "" {
			continue
		}
		every = append(every, word)
		rows, err := g.rows(ctx, word, "", 0, g.top, perWord)
		if err != nil {
			return err
		}
		weights[i] = g.rarity(rows)
		g.add(rows, weights[i])
	}
	if kin := alternatives(g.q.Kin); kin != "" {
		rows, err := g.rows(ctx, kin, "", 0, g.top, perKin)
		if err != nil {
			return err
		}
		g.add(rows, kinWorth*g.rarity(rows))
	}
	if len(every) == 0 {
		return nil
	}
	return g.filter(ctx, strings.Join(every, " OR "))
}

// filter asks again for what the author wrote and what is of the time: the newest messages with a common word may be others.
func (g *gathering) filter(ctx context.Context, words string) error {
	if g.q.Author != "" {
		rows, err := g.rows(ctx, words, " AND "+anyOf(byAuthor, g.q.Author), 0, g.top, perFilter)
		if err != nil {
			return err
		}
		g.add(rows, filterWorth)
	}
	if g.q.From.IsZero() && g.q.To.IsZero() {
		return nil
	}
	first, last, err := g.db.rowsBetween(ctx, g.q.From, g.q.To)
	if err != nil {
		return err
	}
	rows, err := g.rows(ctx, words, "", first, last, perFilter)
	g.add(rows, filterWorth)
	return err
}

// alternatives is a query for any of some words.
func alternatives(words []string) string {
	var all []string
	for _, w := range words {
		if found := match(w, false); found != "" {
			all = append(all, "("+found+")")
		}
	}
	return strings.Join(all, " OR ")
}

// rows returns the newest rows that hold the words.
func (g *gathering) rows(ctx context.Context, words, also string, first, last int64, limit int) (rows []int64, err error) {
	found, err := g.db.stmts.recall.QueryContext(ctx, "words : ("+words+") AND "+g.place+also, first, last, limit)
	return collect(g.db, "ask the index", found, err, func(s scanner) (row int64, err error) {
		err = s.Scan(&row)
		return row, err
	})
}

// rarity is the inverse document frequency of a word that stands in these rows. If they are only its newest, how close together they
// are says how many there are.
func (g *gathering) rarity(rows []int64) float64 {
	in, of := float64(len(rows)), float64(g.top)
	if len(rows) >= perKin {
		in *= of / float64(max(1, g.top-rows[len(rows)-1]+1))
	}
	return math.Log(1 + max(0, of-in+0.5)/(in+0.5))
}

func (g *gathering) add(rows []int64, worth float64) {
	for _, row := range rows {
		g.scores[row] += worth
	}
}

// load reads the best messages, as far as they may be read, and what stands around the best of them.
func (g *gathering) load(ctx context.Context) error {
	rows := make([]int64, 0, len(g.scores))
	for row := range g.scores {
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b int64) int { return cmp.Or(cmp.Compare(g.scores[b], g.scores[a]), cmp.Compare(b, a)) })
	rows = rows[:min(len(rows), mostLoaded)]
	list, err := json.Marshal(rows)
	if err != nil {
		return err
	}
	channels, err := json.Marshal(g.q.Channels)
	if err != nil {
		return err
	}
	found, err := g.db.stmts.recalled.QueryContext(ctx, string(list), g.q.GuildID, string(channels))
	if g.messages, err = collect(g.db, "read messages", found, err, scan); err != nil {
		return err
	}
	g.have = map[string]bool{}
	for _, m := range g.messages {
		g.have[m.ID] = true
	}
	for _, m := range slices.Clone(g.messages[:min(len(g.messages), mostSeeds)]) {
		if err := g.surround(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// recalledQuery reads rows in the order of a list.
const recalledQuery = `SELECT ` + columns + ` FROM (SELECT key AS n, value AS row FROM json_each(?)) CROSS JOIN messages ON messages.rowid = row
	WHERE guild_id = ? AND channel_id IN (SELECT value FROM json_each(?)) ORDER BY n`

// surround reads what stands around a message.
func (g *gathering) surround(ctx context.Context, m Message) error {
	around, err := g.db.Around(ctx, m, seedReach, seedReach)
	if err != nil {
		return err
	}
	for _, m := range around {
		if !g.have[m.ID] {
			g.have[m.ID] = true
			g.messages = append(g.messages, m)
		}
	}
	return nil
}
