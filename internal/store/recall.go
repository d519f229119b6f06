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

	"golang.org/x/sync/errgroup"
)

// Recall says for which words messages of a server are gathered, to be ranked. GuildID and Channels are required.
type Recall struct {
	GuildID  string
	Channels []string   // that may be read
	Words    [][]string // each in its forms
	Kin      []string   // words that count less
	Language string     // whose forms of the words are found, too; empty: of any
	From, To time.Time  // a time of which messages are wanted most; zero: any time
}

// Recalled is what was gathered: messages that hold the words, with those around them, in no order.
type Recalled struct {
	Messages []Message
	Weights  []float64 // by word: the rarer, the more
}

// Bounds of what one recall reads, so that it takes as long among a million messages as among some thousands.
const (
	perWord     = 300 // the newest messages with a word
	perKin      = 100 // … with any of the words that count less
	perTime     = 150 // … with a word, in the time
	perSample   = 40  // … of the time, whatever their words
	mostLoaded  = 120 // messages that are read
	mostSeeds   = 32  // … around which others are read
	seedReach   = 3   // how many before and after it
	kinWorth    = 0.3 // of a word of the field, in words
	timeWorth   = 0.5 // of being of the time
	enoughFound = 60  // messages that may be read
	readAtOnce  = 2   // connections, half of those there are
	fewRows     = 16  // are read by one of them
)

// Recall gathers messages for a question: those with most of its words, the rarer the more, the newer first, and what stands around them.
func (db *DB) Recall(ctx context.Context, q Recall) (Recalled, error) {
	got := Recalled{Weights: make([]float64, len(q.Words))}
	if q.GuildID == "" || len(q.Channels) == 0 {
		return got, nil
	}
	g := &gathering{db: db, q: q}
	if err := db.readers.QueryRowContext(ctx, `SELECT coalesce(max(rowid), 0) FROM messages`).Scan(&g.top); err != nil {
		return got, fmt.Errorf("recall messages: %w", db.Explain(err))
	}
	err := g.gather(ctx, got.Weights)
	if err == nil && g.cut && len(g.messages) < enoughFound { // the newest are of elsewhere: asking for the place, too, takes longer
		g.place = anyOf(inGuild, q.GuildID)
		if len(q.Channels) <= fewChannels {
			g.place += " AND " + anyOf(inChannel, q.Channels...)
		}
		err = g.gather(ctx, got.Weights)
	}
	if err == nil {
		err = g.surroundBest(ctx)
	}
	if err == nil && !q.From.IsZero() && !q.To.IsZero() {
		err = g.sample(ctx)
	}
	if err != nil {
		return got, fmt.Errorf("recall messages: %w", db.Explain(err))
	}
	got.Messages = g.messages
	return got, nil
}

// gathering is one recall on its way.
type gathering struct {
	db       *DB
	q        Recall
	place    string // query for what may be read, as far as the index says; empty: the messages themselves will tell
	cut      bool   // there are more messages with a word than were asked for
	top      int64  // the last row
	first    int64  // of the time …
	last     int64  // … and the one behind it
	scores   map[int64]float64
	messages []Message
	have     []int64 // their rows
}

// recallQuery returns rows as one JSON array: fetching each by itself takes longer than finding it.
const recallQuery = `SELECT json_group_array(row) FROM
	(` + messagesWith + `)`

// holders are the rows that hold a word.
type holders struct {
	asked         bool // it has forms that the index knows of
	newest, timed []int64
}

// holders asks the index for each word, and for those that count less, readAtOnce of them at once.
func (g *gathering) holders(ctx context.Context) (found []holders, kin []int64, err error) {
	found = make([]holders, len(g.q.Words))
	asking, ctx := errgroup.WithContext(ctx)
	asking.SetLimit(readAtOnce)
	for i, forms := range g.q.Words {
		asking.Go(func() (err error) {
			h, word := &found[i], alternatives(forms, g.q.Language)
			h.asked = word != ""
			if h.newest, err = g.rows(ctx, word, 0, g.top, perWord); err == nil && g.timed() && len(h.newest) == perWord { // they are not all
				h.timed, err = g.rows(ctx, word, g.first, g.last, perTime)
			}
			return err
		})
	}
	asking.Go(func() (err error) {
		kin, err = g.rows(ctx, alternatives(g.q.Kin, g.q.Language), 0, g.top, perKin)
		return err
	})
	err = asking.Wait()
	return found, kin, err
}

// count scores the rows that hold the words.
func (g *gathering) count(ctx context.Context, weights []float64) error {
	first, last, err := g.db.rowsBetween(ctx, g.q.From, g.q.To)
	if err != nil {
		return err
	}
	g.first, g.last = first, min(last, g.top+1)
	found, kin, err := g.holders(ctx)
	if err != nil {
		return err
	}
	g.cut = len(kin) == perKin
	for i, h := range found {
		if !h.asked {
			continue
		}
		g.cut = g.cut || len(h.newest) == perWord || len(h.timed) == perTime
		weights[i] = g.rarity(h.newest, perWord)
		g.add(h.newest, weights[i])
		g.add(h.timed, weights[i])
		if !g.timed() {
			continue
		}
		if h.timed == nil {
			h.timed = h.newest
		}
		for _, row := range h.timed {
			if row >= first && row <= last {
				g.scores[row] += timeWorth
			}
		}
	}
	g.add(kin, kinWorth*g.rarity(kin, perKin))
	return nil
}

// timed reports whether messages of a time are wanted most.
func (g *gathering) timed() bool { return !g.q.From.IsZero() || !g.q.To.IsZero() }

// alternatives is a query for any of some words.
func alternatives(words []string, language string) string {
	var all []string
	for _, w := range words {
		if found := match(w, language, false); found != "" {
			all = append(all, "words : ("+found+")")
		}
	}
	return strings.Join(all, " OR ")
}

// rows returns the newest rows that hold the words, none if there are no words. It may be called by several goroutines at once.
func (g *gathering) rows(ctx context.Context, words string, first, last int64, limit int) (rows []int64, err error) {
	if words == "" {
		return nil, nil
	}
	if g.place != "" {
		words = g.place + " AND (" + words + ")"
	}
	var list []byte
	if err = g.db.stmts.recall.QueryRowContext(ctx, words, first, last, limit).Scan(&list); err != nil {
		return nil, err
	}
	return rows, json.Unmarshal(list, &rows)
}

// rarity is the inverse document frequency of a word that stands in these rows. If they are only its newest, how close together they
// are says how many there are.
func (g *gathering) rarity(rows []int64, limit int) float64 {
	in, of := float64(len(rows)), float64(g.top)
	if len(rows) == limit {
		in *= of / float64(max(1, g.top-rows[len(rows)-1]+1))
	}
	return math.Log(1 + max(0, of-in+0.5)/(in+0.5))
}

func (g *gathering) add(rows []int64, worth float64) {
	for _, row := range rows {
		g.scores[row] += worth
	}
}

// gather finds the rows and reads the best of them, as far as they may be read.
func (g *gathering) gather(ctx context.Context, weights []float64) error {
	g.scores = map[int64]float64{}
	if err := g.count(ctx, weights); err != nil {
		return err
	}
	return g.load(ctx)
}

// sample reads messages of the time that have none of the words, evenly far apart: what happened then is asked in words for the time alone.
func (g *gathering) sample(ctx context.Context) error {
	have := map[int64]bool{}
	for _, row := range g.have {
		have[row] = true
	}
	span := max(1, g.last-g.first)
	var rows []int64
	for i := range int64(perSample) {
		if row := g.first + i*span/perSample; !have[row] {
			have[row] = true
			rows = append(rows, row)
		}
	}
	return g.read(ctx, rows)
}

// load reads the best messages.
func (g *gathering) load(ctx context.Context) (err error) {
	type scored struct {
		row   int64
		score float64
	}
	all := make([]scored, 0, len(g.scores))
	for row, score := range g.scores {
		all = append(all, scored{row, score})
	}
	slices.SortFunc(all, func(a, b scored) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.row, a.row)) })
	rows := make([]int64, min(len(all), mostLoaded))
	for i := range rows {
		rows[i] = all[i].row
	}
	g.messages, g.have = nil, nil
	return g.read(ctx, rows)
}

// recalledQuery reads rows in the order of a list.
const recalledQuery = `SELECT row, ` + columns + ` FROM (SELECT key AS n, value AS row FROM json_each(?)) CROSS JOIN messages ON messages.rowid = row
	WHERE guild_id = ? AND channel_id IN (SELECT value FROM json_each(?)) ORDER BY n`

// read adds the messages of some rows, as far as they may be read.
func (g *gathering) read(ctx context.Context, rows []int64) error {
	type numbered struct {
		row int64
		Message
	}
	channels := listed(g.q.Channels)
	found, err := inParts(ctx, rows, func(ctx context.Context, list []byte) ([]numbered, error) {
		found, err := g.db.stmts.recalled.QueryContext(ctx, list, g.q.GuildID, channels)
		return collect(g.db, "read messages", found, err, func(s scanner) (m numbered, err error) {
			m.Message, err = scan(after{s, &m.row})
			return m, err
		})
	})
	for _, m := range found {
		g.messages, g.have = append(g.messages, m.Message), append(g.have, m.row)
	}
	return err
}

// inParts reads what belongs to some rows, in their order, readAtOnce parts of them at once. read is given rows as a JSON array.
func inParts[T any](ctx context.Context, rows []int64, read func(ctx context.Context, rows []byte) ([]T, error)) ([]T, error) {
	parts := slices.Collect(slices.Chunk(rows, max(fewRows, (len(rows)+readAtOnce-1)/readAtOnce)))
	found := make([][]T, len(parts))
	reading, within := errgroup.WithContext(ctx)
	for i, part := range parts {
		reading.Go(func() error {
			list, err := json.Marshal(part)
			if err == nil {
				found[i], err = read(within, list)
			}
			return err
		})
	}
	err := reading.Wait()
	return slices.Concat(found...), err
}

// after is a row whose first columns are scanned into one more destination.
type after struct {
	scanner
	first any
}

func (a after) Scan(dest ...any) error { return a.scanner.Scan(append([]any{a.first}, dest...)...) }

// besideQuery returns the rows that stand directly before and after each of a list, as a JSON array for each. The index has all it asks for.
const besideQuery = `SELECT (SELECT json_group_array(row) FROM (
		SELECT * FROM (SELECT b.rowid AS row FROM messages b WHERE b.channel_id = m.channel_id AND (b.at, b.id) < (m.at, m.id) ORDER BY b.at DESC, b.id DESC LIMIT 0 + ?1)
		UNION ALL SELECT * FROM (SELECT b.rowid AS row FROM messages b WHERE b.channel_id = m.channel_id AND (b.at, b.id) > (m.at, m.id) ORDER BY b.at, b.id LIMIT 0 + ?1)))
	FROM json_each(?2) CROSS JOIN messages m ON m.rowid = value ORDER BY key`

// surroundBest reads what stands around the best, but for those that stand beside a better one.
func (g *gathering) surroundBest(ctx context.Context) error {
	seeds := g.have[:min(len(g.have), mostSeeds)]
	around, err := inParts(ctx, seeds, func(ctx context.Context, list []byte) ([][]int64, error) {
		rows, err := g.db.stmts.beside.QueryContext(ctx, seedReach, list)
		return collect(g.db, "find what stands around messages", rows, err, func(s scanner) (all []int64, err error) {
			var list []byte
			if err = s.Scan(&list); err == nil {
				err = json.Unmarshal(list, &all)
			}
			return all, err
		})
	})
	if err != nil {
		return err
	}
	have, beside := map[int64]bool{}, map[int64]bool{}
	for _, row := range g.have {
		have[row] = true
	}
	var more []int64
	for i, all := range around {
		if beside[seeds[i]] {
			continue
		}
		for _, row := range all {
			beside[row] = true
			if !have[row] {
				have[row] = true
				more = append(more, row)
			}
		}
	}
	slices.Sort(more)
	return g.read(ctx, more)
}
