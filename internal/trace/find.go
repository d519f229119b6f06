package trace

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/store"
)

// Query says which turns an operator looks for. The zero value means all turns.
type Query struct {
	Words        string        // in the question or the reply, in any order; moon* is a prefix
	Author       string        // a part of the asker's name
	ChannelID    string        // empty: any
	Character    string        // its id; empty: any
	Model        string        // a part of its name
	Err          string        // a part of the error
	Rated        string        // "good" or "bad": what somebody thinks of the reply; empty: any
	Phase        turn.Phase    // empty: any; [turn.Begun] means all turns that are not over
	Lookup       turn.State    // empty: any
	LookedUp     bool          // only turns that tried a lookup
	Longer       time.Duration // took longer
	Tokens       int           // used more, of all models together
	Cost         float64       // cost more, in US dollars
	Since, Until time.Time     // when the turn began; zero: any time
	Before       string        // the id of the last turn of the previous page, or [Late.Before]; empty: the first page
	Limit        int           // 0: 50
	Order        string        // of [Store.Rank], one of [Orders]; [Store.Find] has the newest first
}

const (
	defaultLimit = 50
	// searchTime is how long a search may take at once. The next goes on where it ended.
	searchTime = 60 * time.Millisecond
	// searchWait is how long a search waits for others: one runs at a time, since turns need the processors.
	searchWait = 5 * time.Second
	// searchStep is how long one query of a search should take.
	searchStep = 8 * time.Millisecond
	// searchCalm is how long nothing was written when a search takes its next step. It rests until then, but no longer than searchRest.
	searchCalm, searchRest = 20 * time.Millisecond, 100 * time.Millisecond
)

// Late is the error of a search that ended early. What it found is right, and nothing newer was left out.
type Late struct {
	Before string    // where to go on, for [Query]
	At     time.Time // the search came back to here; zero: not known
}

func (l *Late) Error() string { return "the search ended early" }

// Find returns the lines of the turns that match a query, newest first. More reports whether there are further turns. A search that would
// take long ends with [*Late] beside what was found.
func (s *Store) Find(ctx context.Context, q Query) (found []Summary, more bool, err error) {
	limit := cmp.Or(max(0, q.Limit), defaultLimit)
	err = s.within(ctx, q, func(c *conditions, most time.Duration) error {
		found, err = s.search(ctx, c, limit, most)
		return err
	})
	if len(found) > limit {
		return found[:limit], true, nil
	}
	return found, false, err
}

// Orders of [Store.Rank].
const (
	ByTime   = "time" // newest first
	ByTook   = "took"
	ByTokens = "tokens"
	ByCost   = "cost"
)

// Orders returns the orders.
func Orders() []string { return []string{ByTime, ByTook, ByTokens, ByCost} }

// ranks tell which of two turns has more, by order.
var ranks = map[string]func(a, b Summary) int{
	ByTime:   func(a, b Summary) int { return a.Began.Compare(b.Began) },
	ByTook:   func(a, b Summary) int { return cmp.Compare(a.Took, b.Took) },
	ByTokens: func(a, b Summary) int { return cmp.Compare(a.Tokens, b.Tokens) },
	ByCost:   func(a, b Summary) int { return cmp.Compare(a.Cost, b.Cost) },
}

// Rank counts the turns that match a query, and returns those that have most, in the query's order. It looks through all of them. If that
// would take long it ends with [*Late], and what it returns is of the turns up to there.
func (s *Store) Rank(ctx context.Context, q Query) (top []Summary, n int, err error) {
	limit, than := cmp.Or(max(0, q.Limit), defaultLimit), ranks[q.Order]
	column := q.Order
	if column == ByTime {
		column = `began`
	}
	err = s.within(ctx, q, func(c *conditions, most time.Duration) error {
		count, rows := c.query(`count(*)`), c.query(summaryOf)+` ORDER BY t.`+column+` DESC LIMIT ?`
		return s.steps(ctx, c, most, func(from, to int64) (enough bool, err error) {
			args := append(slices.Clone(c.args), from, to)
			matching, err := store.List(ctx, s.DB, "count traces", store.ScanValue[int], count, args...)
			if err != nil || matching[0] == 0 {
				return false, err
			}
			some, err := store.List(ctx, s.DB, "rank traces", scanSummary, rows, append(args, limit)...)
			top, n = append(top, some...), n+matching[0]
			slices.SortStableFunc(top, func(a, b Summary) int { return than(b, a) })
			top = top[:min(len(top), limit)]
			return false, err
		})
	})
	return top, n, err
}

// within runs a search while no other runs. A query that goes on behind a turn that is gone finds nothing.
func (s *Store) within(ctx context.Context, q Query, look func(c *conditions, most time.Duration) error) error {
	done, err := s.takeSearch(ctx)
	if err != nil {
		return fmt.Errorf("find traces: wait for another search: %w", err)
	}
	defer done()
	c, err := s.conditions(ctx, q)
	if errors.Is(err, store.ErrNotFound) { // the previous page was pruned meanwhile
		return nil
	}
	if err == nil && c.matched {
		err = s.IndexWords(ctx)
	}
	if err == nil {
		err = s.bounds(ctx, &c, q)
	}
	if err != nil {
		return fmt.Errorf("find traces: %w", s.DB.Explain(err))
	}
	return look(&c, cmp.Or(s.SearchTime, searchTime))
}

// takeSearch waits until no other search runs. The caller must call done.
func (s *Store) takeSearch(ctx context.Context) (done func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, searchWait)
	defer cancel()
	s.mu.Lock()
	if s.searching == nil {
		s.searching = make(chan struct{}, 1)
	}
	place := s.searching
	s.mu.Unlock()
	select {
	case place <- struct{}{}:
		return func() { <-place }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// search returns the first turns that match, and one more than the limit if there are more.
func (s *Store) search(ctx context.Context, c *conditions, limit int, most time.Duration) (found []Summary, err error) {
	query := c.query(summaryOf) + c.newest() + ` LIMIT ?`
	err = s.steps(ctx, c, most, func(from, to int64) (enough bool, err error) {
		some, err := store.List(ctx, s.DB, "find traces", scanSummary, query, append(slices.Clone(c.args), from, to, limit+1-len(found))...)
		found = append(found, some...)
		return len(found) > limit, err
	})
	return found, err
}

// steps looks through the records in steps, newest first, until there is enough, or its time is up. A step that was quick makes the next one
// longer.
func (s *Store) steps(ctx context.Context, c *conditions, most time.Duration, look func(from, to int64) (enough bool, err error)) error {
	began := time.Now()
	for to, span := c.to, (c.to-c.from)/64+1; to > c.from; {
		if err := s.rest(ctx); err != nil {
			return err
		}
		from, step := max(c.from, to-span), time.Now()
		if from-c.from < span { // a remainder is not worth a step
			from = c.from
		}
		enough, err := look(from, to)
		if to = from; err != nil || enough || to == c.from {
			return err
		}
		if time.Since(began) > most {
			late := &Late{Before: fmt.Sprintf("%s%d", stepMark, to)}
			if !c.matched {
				late.At = time.UnixMicro(to).UTC()
			}
			return late
		}
		switch took := time.Since(step); {
		case took < searchStep/4:
			span *= 4
		case took > searchStep:
			span = span/2 + 1
		}
	}
	return nil
}

// rest waits while turns need the processors.
func (s *Store) rest(ctx context.Context) error {
	for began := time.Now(); time.Since(began) < searchRest; {
		left := searchCalm - s.DB.Calm()
		if left <= 0 {
			return nil
		}
		select {
		case <-time.After(left):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// conditions are the parts of a query in SQL.
type conditions struct {
	matched  bool // it uses the index of words
	where    []string
	args     []any
	from, to int64                      // of the rows if matched, else of the times; to is not included
	before   struct{ row, began int64 } // the last turn of the previous page
}

func (c *conditions) add(where string, args ...any) {
	c.where, c.args = append(c.where, where), append(c.args, args...)
}

// summaryOf are the columns of a line, of the turn t.
var summaryOf = `t.` + strings.ReplaceAll(summaryColumns, `, `, `, t.`)

// query returns a step of the search, for some columns. Its last parameters are the bounds of the step.
func (c *conditions) query(columns string) string {
	from, step := ` FROM traces t`, `t.began >= ? AND t.began < ?`
	if c.matched {
		// CROSS makes the index the outer loop. It returns its newest rows first, so that nothing is sorted.
		from, step = ` FROM trace_words w CROSS JOIN traces t ON t.rowid = w.rowid`, `w.rowid >= ? AND w.rowid < ?`
	}
	return `SELECT ` + columns + from + ` WHERE ` + strings.Join(append(slices.Clone(c.where), step), ` AND `)
}

func (c *conditions) newest() string {
	if c.matched {
		return ` ORDER BY w.rowid DESC`
	}
	return ` ORDER BY t.began DESC, t.id DESC`
}

// stepMark is what [Late.Before] begins with: no id of a turn does.
const stepMark = "@"

// bounds sets where the search begins and ends.
func (s *Store) bounds(ctx context.Context, c *conditions, q Query) error {
	of := "began"
	if c.matched {
		of = "rowid"
	}
	err := s.DB.Read().QueryRowContext(ctx, `SELECT coalesce((SELECT min(`+of+`) FROM traces), 0), coalesce((SELECT max(`+of+`) FROM traces), 0) + 1`).Scan(&c.from, &c.to)
	switch rest, isStep := strings.CutPrefix(q.Before, stepMark); {
	case err != nil || q.Before == "":
	case isStep:
		at, bad := strconv.ParseInt(rest, 10, 64)
		if bad != nil {
			return store.ErrNotFound
		}
		c.to = min(c.to, at)
	case c.matched:
		c.to = min(c.to, c.before.row)
	default:
		c.to = min(c.to, c.before.began+1)
	}
	if !c.matched && !q.Since.IsZero() {
		c.from = max(c.from, q.Since.UnixMicro())
	}
	if !c.matched && !q.Until.IsZero() {
		c.to = min(c.to, q.Until.UnixMicro())
	}
	return err
}

// contains adds that a column has some text, whatever the case.
func (c *conditions) contains(column, text string) {
	if text = strings.TrimSpace(text); text != "" {
		c.add(`instr(lower(`+column+`), lower(?)) > 0`, text)
	}
}

func (s *Store) conditions(ctx context.Context, q Query) (c conditions, err error) {
	if match := append(matchWords("", q.Words, false), matchWords("author : ", q.Author, true)...); len(match) > 0 {
		c.matched = true
		c.add(`w.trace_words MATCH ?`, strings.Join(match, " AND "))
	} else {
		c.contains(`t.question`, q.Words)
	}
	c.contains(`t.author`, q.Author)
	c.contains(`t.model`, q.Model)
	c.contains(`t.err`, q.Err)
	if q.ChannelID != "" {
		c.add(`t.channel_id = ?`, q.ChannelID)
	}
	if q.Character != "" {
		c.add(`t.character_id = ?`, q.Character)
	}
	if q.Rated != "" {
		c.add(`EXISTS (SELECT 1 FROM opinions o WHERE o.turn_id = t.id AND o.verdict = ?)`, q.Rated)
	}
	c.outcome(q)
	if q.Longer > 0 {
		c.add(`t.took > ?`, q.Longer.Microseconds())
	}
	if q.Tokens > 0 {
		c.add(`t.tokens > ?`, q.Tokens)
	}
	if q.Cost > 0 {
		c.add(`t.cost > ?`, q.Cost)
	}
	if c.matched && !q.Since.IsZero() {
		c.add(`t.began >= ?`, q.Since.UnixMicro())
	}
	if c.matched && !q.Until.IsZero() {
		c.add(`t.began < ?`, q.Until.UnixMicro())
	}
	if q.Before == "" || strings.HasPrefix(q.Before, stepMark) {
		return c, nil
	}
	err = s.DB.Read().QueryRowContext(ctx, `SELECT rowid, began FROM traces WHERE id = ?`, q.Before).Scan(&c.before.row, &c.before.began)
	if errors.Is(err, sql.ErrNoRows) {
		return c, store.ErrNotFound
	}
	if !c.matched {
		c.add(`(t.began, t.id) < (?, ?)`, c.before.began, q.Before)
	}
	return c, err
}

// outcome adds how the turn and its lookup ended. The states are literals, and each comes with the condition of a partial index word for
// word. SQLite does not see that one value is among several.
func (c *conditions) outcome(q Query) {
	switch q.Phase {
	case "":
	case turn.Begun, turn.Answering:
		c.add(`t.id IN (SELECT u.id FROM traces u WHERE u.phase IN ('begun', 'answering'))`) // few
	case turn.Broken, turn.Interrupted:
		c.add(`t.phase IN ('failed', 'interrupted') AND t.phase = '` + string(q.Phase) + `'`)
	default:
		c.add(`t.phase = ?`, q.Phase)
	}
	switch q.Lookup {
	case "":
		if q.LookedUp {
			c.add(`t.lookup IN ('found', 'empty', 'failed')`)
		}
	case turn.Found, turn.Empty, turn.LookupFailed:
		c.add(`t.lookup IN ('found', 'empty', 'failed') AND t.lookup = '` + string(q.Lookup) + `'`)
	default:
		c.add(`t.lookup = ?`, q.Lookup)
	}
}

// LookedUp is a turn with its lookup, without the texts of pages.
type LookedUp struct {
	Summary
	Lookup *turn.Lookup // nil: the record cannot be read any more
}

// Lookups returns the turns that match a query and tried a lookup, newest first, with their lookups.
func (s *Store) Lookups(ctx context.Context, q Query) (found []LookedUp, more bool, err error) {
	q.LookedUp = true
	lines, more, err := s.Find(ctx, q)
	for _, line := range lines {
		one := LookedUp{Summary: line}
		_, body, err := readBody(s.DB.Read().QueryContext(ctx, bodyQuery+`WHERE t.id = ? ORDER BY p.id`, line.ID))
		if ctx.Err() != nil {
			return nil, false, ctx.Err()
		}
		if err == nil {
			if t, err := s.decode(body); err == nil {
				one.Lookup = t.Lookup()
			}
		}
		found = append(found, one)
	}
	return found, more, err
}

// Channel is a channel with turns.
type Channel struct {
	ID, GuildID string    // GuildID is empty in a direct message
	Last        time.Time // when its last turn began
}

// Channels returns the channels with turns, at most so many, by their ids.
func (s *Store) Channels(ctx context.Context, most int) ([]Channel, error) {
	// It takes one step in the index for each channel, rather than for each turn.
	return store.List(ctx, s.DB, "list channels", func(row store.Scanner) (c Channel, err error) {
		err = row.Scan(&c.ID, &c.GuildID, store.Micros(&c.Last))
		return c, err
	}, `WITH RECURSIVE c (id) AS (
			SELECT min(channel_id) FROM traces UNION ALL
			SELECT (SELECT min(t.channel_id) FROM traces t WHERE t.channel_id > c.id) FROM c WHERE c.id IS NOT NULL)
		SELECT id, (SELECT t.guild_id FROM traces t WHERE t.channel_id = c.id ORDER BY t.began DESC LIMIT 1),
			(SELECT max(t.began) FROM traces t WHERE t.channel_id = c.id) FROM c WHERE id IS NOT NULL LIMIT ?`, most)
}

// Beside returns the ids of the turns of a channel before and after one. They are empty if there is none.
func (s *Store) Beside(ctx context.Context, t Summary) (before, after string, err error) {
	for id, order := range map[*string][2]string{&before: {"<", "DESC"}, &after: {">", "ASC"}} {
		found, err := store.List(ctx, s.DB, "find the turn beside "+t.ID, store.ScanValue[string], `SELECT id FROM traces WHERE channel_id = ?
			AND (began, id) `+order[0]+` (?, ?) ORDER BY began `+order[1]+`, id `+order[1]+` LIMIT 1`, t.ChannelID, t.Began.UnixMicro(), t.ID)
		if err != nil {
			return "", "", err
		}
		*id = strings.Join(found, "")
	}
	return before, after, nil
}

// Lines returns the lines of some turns, in no order, without those that have none.
func (s *Store) Lines(ctx context.Context, ids ...string) ([]Summary, error) {
	return store.List(ctx, s.DB, "read the lines of traces", scanSummary, `SELECT `+summaryColumns+` FROM traces WHERE id `+store.AmongThese, store.Listed(ids))
}

// TurnsOf returns the ids of the turns that answer each of some messages or wrote it, oldest first.
func (s *Store) TurnsOf(ctx context.Context, messageIDs ...string) (map[string][]string, error) {
	turns := map[string][]string{}
	_, err := store.List(ctx, s.DB, "find the turns of messages", func(row store.Scanner) (_ struct{}, err error) {
		var message, id string
		err = row.Scan(&message, &id)
		turns[message] = append(turns[message], id)
		return struct{}{}, err
	}, `SELECT message_id, trace_id FROM trace_messages WHERE message_id `+store.AmongThese+` ORDER BY trace_id`, store.Listed(messageIDs))
	return turns, err
}

// Line returns the line of a turn, or [store.ErrNotFound].
func (s *Store) Line(ctx context.Context, id string) (Summary, error) {
	all, err := s.Lines(ctx, id)
	switch {
	case err != nil:
		return Summary{}, err
	case len(all) == 0:
		return Summary{}, store.ErrNotFound
	}
	return all[0], nil
}

// Summary is the line of a turn in a list.
type Summary struct {
	ID        string
	Began     time.Time     // to the microsecond, in UTC
	Took      time.Duration // to the microsecond; 0 if the turn is not over
	ChannelID string
	Author    string // the name of the asker
	Question  string // one line, at most 120 characters
	Phase     turn.Phase
	Lookup    turn.State // of the first lookup; empty if there was none
	Model     string     // that answered
	Err       string
	Character string        // its id; empty in an old record
	Tokens    int           // of all models together; 0 in an old record
	Cost      float64       // in US dollars
	Seen      time.Duration // until the first words were seen, to the microsecond; 0 if none were
	Said      string        // the beginnings of the question and of the reply, by which the turn is found; empty while it goes on

}

// summaryColumns are in the order of upsert and scanSummary.
const summaryColumns = `id, began, took, channel_id, author, question, phase, lookup, model, err, character_id, tokens, cost, seen, said`

// summarise makes the line of a turn. The question is redacted before it is shortened, so that no half of a secret stays.
func summarise(t *turn.Trace, asked string) Summary {
	s := Summary{
		ID:        t.Request.ID,
		Began:     t.Began,
		Took:      t.Took,
		ChannelID: t.Request.ChannelID,
		Author:    t.Request.Message.Author.Name,
		Question:  shorten(asked),
		Phase:     t.Phase,
		Model:     t.Model,
		Err:       t.Err,
		Character: t.Request.Character,
	}
	spent := t.Spent()
	s.Seen = t.Timings.FirstSeen.Truncate(time.Microsecond)
	s.Tokens, s.Cost = spent.Prompt+spent.Completion, spent.Cost
	if l := t.Lookup(); l != nil {
		s.Lookup = l.State
	}
	return s
}

// shorten makes a question one line of at most 120 characters.
func shorten(text string) string {
	const limit = 120
	line := []rune(strings.Join(strings.Fields(text), " "))
	if len(line) > limit {
		line = append(line[:limit-1], '…')
	}
	return string(line)
}

// Recent returns the last n turns of a channel, newest first; of all channels if channelID is empty.
func (s *Store) Recent(ctx context.Context, channelID string, n int) ([]Summary, error) {
	where, args := ``, []any{n}
	if channelID != "" {
		where, args = ` WHERE channel_id = ?`, []any{channelID, n}
	}
	return store.List(ctx, s.DB, "list traces", scanSummary, `SELECT `+summaryColumns+` FROM traces`+where+` ORDER BY began DESC, id DESC LIMIT ?`, args...)
}

func scanSummary(row store.Scanner) (t Summary, err error) {
	var took, seen int64
	err = row.Scan(&t.ID, store.Micros(&t.Began), &took, &t.ChannelID, &t.Author, &t.Question, &t.Phase, &t.Lookup, &t.Model, &t.Err, &t.Character, &t.Tokens, &t.Cost, &seen, &t.Said)
	t.Took, t.Seen = time.Duration(took)*time.Microsecond, time.Duration(seen)*time.Microsecond
	return t, err
}

// Period is how the turns of some time went.
type Period struct {
	At       time.Time // its beginning
	Turns    int
	Failed   int
	Lookups  int
	NoLookup int // lookups that failed
	Tokens   int
	Cost     float64       // in US dollars
	P50, P95 time.Duration // until the first words were seen; 0 if none were
}

// mostCounted is how many turns Periods counts at most, the newest of them.
const mostCounted = 20_000

// Periods returns how the turns that began since a time went, up to now, in periods of one length.
func (s *Store) Periods(ctx context.Context, since time.Time, length time.Duration) (all []Period, err error) {
	for at := since; at.Before(time.Now()); at = at.Add(length) {
		all = append(all, Period{At: at})
	}
	seen := make([][]time.Duration, len(all))
	_, err = store.List(ctx, s.DB, "count turns", func(row store.Scanner) (_ struct{}, err error) {
		t, err := scanSummary(row)
		n := int(t.Began.Sub(since) / length)
		if err != nil || n >= len(all) {
			return struct{}{}, err
		}
		h := &all[n]
		h.Turns, h.Tokens, h.Cost = h.Turns+1, h.Tokens+t.Tokens, h.Cost+t.Cost
		if t.Phase == turn.Broken {
			h.Failed++
		}
		switch t.Lookup {
		case turn.LookupFailed:
			h.NoLookup++
			h.Lookups++
		case turn.Found, turn.Empty:
			h.Lookups++
		}
		if t.Seen > 0 {
			seen[n] = append(seen[n], t.Seen)
		}
		return struct{}{}, nil
	}, `SELECT `+summaryColumns+` FROM traces WHERE began >= ? ORDER BY began DESC LIMIT ?`, since.UnixMicro(), mostCounted)
	for i, of := range seen {
		if slices.Sort(of); len(of) > 0 {
			all[i].P50, all[i].P95 = of[len(of)/2], of[len(of)*95/100]
		}
	}
	return all, err
}
