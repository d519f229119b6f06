package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// Recall describes which messages of a server are gathered for ranking. GuildID and Channels are required.
type Recall struct {
	GuildID  string
	Channels []string   // readable ones
	Words    [][]string // each in its forms
	Kin      []string   // words that count less
	Language string     // its word forms match, too; empty: those of all languages
	From, To time.Time  // messages of this time are preferred; zero: any time
}

// Recalled is the result: messages with the words and their neighbours, in no order.
type Recalled struct {
	Messages []Message
	Weights  []float64 // by word: rarer words weigh more
}

// Limits of one recall. With them it takes as long among a million messages as among thousands.
const (
	perWord     = 300 // the newest messages with a word
	perKin      = 100 // … with any of Kin
	perTime     = 150 // … with a word, in the preferred time
	perSample   = 40  // … of that time, with any words
	mostLoaded  = 120 // messages to read
	mostSeeds   = 32  // messages whose neighbours are read
	seedReach   = 3   // neighbours before and after each
	kinWorth    = 0.3 // weight of a word of Kin, in words
	timeWorth   = 0.5 // weight of the preferred time
	enoughFound = 60  // readable messages
	readAtOnce  = 2   // connections, half of all
	fewRows     = 16  // read by one connection
	fewSearches = 5   // made by one connection
)

// Recall gathers messages for a question, and their neighbours. Messages with more and rarer words come first, then newer ones.
func (s *Messages) Recall(ctx context.Context, q Recall) (Recalled, error) {
	got := Recalled{Weights: make([]float64, len(q.Words))}
	if q.GuildID == "" || len(q.Channels) == 0 {
		return got, nil
	}
	g := &gathering{db: s.db, q: q}
	err := g.gather(ctx, got.Weights)
	if err == nil && g.cut && len(g.messages) < enoughFound { // the newest are elsewhere; a query with the place takes longer
		g.place = within(q.GuildID, q.Channels)
		err = g.gather(ctx, got.Weights)
	}
	if err == nil {
		err = g.surroundBest(ctx)
	}
	if err == nil && !q.From.IsZero() && !q.To.IsZero() {
		err = g.sample(ctx)
	}
	if err != nil {
		return got, fmt.Errorf("recall messages: %w", s.db.Explain(err))
	}
	got.Messages = g.messages
	return got, nil
}

// gathering is a recall in progress.
type gathering struct {
	db       *DB
	q        Recall
	place    string // query for readable places; empty: only the messages are checked
	cut      bool   // there are more messages with a word than were read
	top      int64  // the last row
	first    int64  // first row of the preferred time
	last     int64  // the row after it
	scores   map[int64]float64
	messages []Message
	have     []int64 // their rows
}

// wanted is a search for the newest rows with some words.
type wanted struct {
	words string // a query of match; empty: no row
	limit int
}

// recallColumn returns rows as one JSON array: fetching them one by one takes longer than finding them.
const recallColumn = `, (SELECT json_group_array(at_row) FROM
	(` + messagesWith + `) AS newest)`

// rows makes several searches between two rows, and reads the last row of all. A connection makes a part of them in one query.
func (g *gathering) rows(ctx context.Context, first, last int64, all []wanted) (found []rowList, err error) {
	found = make([]rowList, len(all))
	tops := make([]int64, min(readAtOnce, 1+len(all)/fewSearches))
	reading, ctx := errgroup.WithContext(ctx)
	for part := range tops {
		query, args, into := `SELECT (SELECT coalesce(max(rowid), 0) FROM messages)`, []any{}, []any{&tops[part]}
		for i := part; i < len(all); i += len(tops) {
			w := all[i]
			if w.words == "" {
				continue
			}
			if g.place != "" {
				w.words = g.place + " AND (" + w.words + ")"
			}
			query += recallColumn
			args, into = append(args, w.words, first, last, w.limit), append(into, &found[i])
		}
		reading.Go(func() error { return g.db.QueryRow(ctx, query, args...).Scan(into...) })
	}
	err = reading.Wait()
	g.top = tops[0]
	return found, err
}

// rowList scans a JSON array of rows.
type rowList []int64

// Scan implements [sql.Scanner].
func (l *rowList) Scan(value any) error {
	list, _ := value.(string)
	return json.Unmarshal([]byte(list), l)
}

// holders are the rows with a word.
type holders struct {
	asked         bool // the index knows a form of it
	newest, timed []int64
}

// holders queries the index for the words and for Kin.
func (g *gathering) holders(ctx context.Context) (found []holders, kin []int64, err error) {
	n := len(g.q.Words)
	all, more := make([]wanted, n+1), make([]wanted, n)
	for i, forms := range g.q.Words {
		all[i] = wanted{alternatives(forms, g.q.Language), perWord}
	}
	all[n] = wanted{alternatives(g.q.Kin, g.q.Language), perKin}
	newest, err := g.rows(ctx, 0, 1<<62, all)
	if err != nil {
		return nil, nil, err
	}
	found = make([]holders, n)
	anyMore := false
	for i := range found {
		found[i] = holders{asked: all[i].words != "", newest: newest[i]}
		if g.timed() && len(newest[i]) == perWord {
			more[i], anyMore = wanted{all[i].words, perTime}, true
		}
	}
	if anyMore {
		timed, err := g.rows(ctx, g.first, g.last, more)
		if err != nil {
			return nil, nil, err
		}
		for i := range found {
			found[i].timed = timed[i]
		}
	}
	return found, newest[n], nil
}

// count scores the rows with the words.
func (g *gathering) count(ctx context.Context, weights []float64) error {
	first, last, err := g.db.Messages.rowsBetween(ctx, g.q.From, g.q.To)
	if err != nil {
		return err
	}
	g.first, g.last = first, last
	found, kin, err := g.holders(ctx)
	if err != nil {
		return err
	}
	g.last = min(last, g.top+1)
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

// timed reports whether messages of a time are preferred.
func (g *gathering) timed() bool { return !g.q.From.IsZero() || !g.q.To.IsZero() }

// alternatives returns a query for any of some words.
func alternatives(words []string, language string) string {
	var all []string
	for _, w := range words {
		if found := match(w, language, false); found != "" {
			all = append(all, "words : ("+found+")")
		}
	}
	return strings.Join(all, " OR ")
}

// rarity returns the inverse document frequency of the word in these rows. If they are only the newest, their distance gives an estimate of
// their number.
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

// gather finds the rows and reads the best readable ones.
func (g *gathering) gather(ctx context.Context, weights []float64) error {
	g.scores = map[int64]float64{}
	if err := g.count(ctx, weights); err != nil {
		return err
	}
	return g.load(ctx)
}

// sample reads messages of the preferred time at equal distances, whatever their words. A question about a time may share no word with its
// messages.
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
	sort.Slice(all, func(i, j int) bool {
		a, b := all[i], all[j]
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.row, a.row)) < 0
	})
	rows := make([]int64, min(len(all), mostLoaded))
	for i := range rows {
		rows[i] = all[i].row
	}
	g.messages, g.have = nil, nil
	return g.read(ctx, rows)
}

// recalledQuery reads rows in the order of a list.
const recalledQuery = `SELECT at_row, ` + columns + ` FROM (SELECT key AS n, CAST(value AS BIGINT) AS at_row FROM json_each(?)) AS listed CROSS JOIN messages ON messages.rowid = at_row
	WHERE guild_id = ? AND channel_id ` + AmongThese + ` ORDER BY n`

// read adds the readable messages among some rows.
func (g *gathering) read(ctx context.Context, rows []int64) error {
	type numbered struct {
		row int64
		Message
	}
	channels := Listed(g.q.Channels)
	found, err := inParts(ctx, rows, func(ctx context.Context, list []byte) ([]numbered, error) {
		return ListOften(ctx, g.db, "read messages", func(s Scanner) (m numbered, err error) {
			m.Message, err = scan(after{s, &m.row})
			return m, err
		}, recalledQuery, list, g.q.GuildID, channels)
	})
	for _, m := range found {
		g.messages, g.have = append(g.messages, m.Message), append(g.have, m.row)
	}
	return err
}

// inParts reads the data of some rows in order, readAtOnce parts at once. read gets rows as a JSON array.
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

// after is a row whose first column is scanned into first.
type after struct {
	Scanner
	first any
}

func (a after) Scan(dest ...any) error { return a.Scanner.Scan(append([]any{a.first}, dest...)...) }

// besideQuery returns the rows directly before and after each of a list, as a JSON array for each. It needs only the index.
const besideQuery = `SELECT (SELECT json_group_array(at_row) FROM (
		SELECT * FROM (SELECT b.rowid AS at_row FROM messages b WHERE b.channel_id = m.channel_id AND (b.at, b.id) < (m.at, m.id) ORDER BY b.at DESC, b.id DESC LIMIT 0 + ?1) AS earlier
		UNION ALL SELECT * FROM (SELECT b.rowid AS at_row FROM messages b WHERE b.channel_id = m.channel_id AND (b.at, b.id) > (m.at, m.id) ORDER BY b.at, b.id LIMIT 0 + ?1) AS later) AS around)
	FROM json_each(?2) CROSS JOIN messages m ON m.rowid = CAST(value AS BIGINT) ORDER BY key`

// surroundBest reads the neighbours of the best messages. It skips messages that are neighbours of a better one.
func (g *gathering) surroundBest(ctx context.Context) error {
	seeds := g.have[:min(len(g.have), mostSeeds)]
	around, err := inParts(ctx, seeds, func(ctx context.Context, list []byte) ([]rowList, error) {
		return ListOften(ctx, g.db, "find neighbours of messages", ScanValue[rowList], besideQuery, seedReach, list)
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
