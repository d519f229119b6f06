package trace

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/store"
)

// Query says which turns an operator looks for. The zero value means all turns.
type Query struct {
	Words        string     // in the question or the reply, in any order; moon* is a prefix
	Author       string     // a part of the asker's name
	ChannelID    string     // empty: any
	Phase        turn.Phase // empty: any; [turn.Begun] means all turns that are not over
	Lookup       turn.State // empty: any
	LookedUp     bool       // only turns that tried a lookup
	Since, Until time.Time  // when the turn began; zero: any time
	Before       string     // the id of the last turn of the previous page; empty: the first page
	Limit        int        // 0: 50
}

const defaultLimit = 50

// Find returns the lines of the turns that match a query, newest first. More reports whether there are further turns.
func (s *Store) Find(ctx context.Context, q Query) (found []Summary, more bool, err error) {
	if q.Limit <= 0 {
		q.Limit = defaultLimit
	}
	c, err := s.conditions(ctx, q)
	if errors.Is(err, store.ErrNotFound) { // the previous page was pruned meanwhile
		return nil, false, nil
	}
	if err == nil && c.matched {
		err = s.IndexWords(ctx)
	}
	if err != nil {
		return nil, false, fmt.Errorf("find traces: %w", err)
	}
	found, err = store.List(ctx, s.DB, "find traces", scanSummary, c.query(), append(c.args, q.Limit+1)...)
	if err != nil {
		return nil, false, err
	}
	if len(found) > q.Limit {
		return found[:q.Limit], true, nil
	}
	return found, false, nil
}

// conditions are the parts of a query in SQL.
type conditions struct {
	matched bool // it uses the index of words
	where   []string
	args    []any
}

func (c *conditions) add(where string, args ...any) {
	c.where, c.args = append(c.where, where), append(c.args, args...)
}

func (c *conditions) query() string {
	from, order := ` FROM traces t`, ` ORDER BY t.began DESC, t.id DESC`
	if c.matched {
		// CROSS makes the index the outer loop. It returns its newest rows first, so that nothing is sorted.
		from, order = ` FROM trace_words w CROSS JOIN traces t ON t.rowid = w.rowid`, ` ORDER BY w.rowid DESC`
	}
	where := ""
	if len(c.where) > 0 {
		where = ` WHERE ` + strings.Join(c.where, ` AND `)
	}
	return `SELECT t.` + strings.ReplaceAll(summaryColumns, `, `, `, t.`) + from + where + order + ` LIMIT ?`
}

func (s *Store) conditions(ctx context.Context, q Query) (c conditions, err error) {
	if match := append(matchWords("", q.Words, false), matchWords("author : ", q.Author, true)...); len(match) > 0 {
		c.matched = true
		c.add(`w.trace_words MATCH ?`, strings.Join(match, " AND "))
	} else if strings.TrimSpace(q.Words) != "" {
		c.add(`instr(lower(t.question), lower(?)) > 0`, strings.TrimSpace(q.Words))
	}
	if q.Author != "" {
		c.add(`instr(lower(t.author), lower(?)) > 0`, strings.TrimSpace(q.Author))
	}
	if q.ChannelID != "" {
		c.add(`t.channel_id = ?`, q.ChannelID)
	}
	// The states are literals: a partial index is only used if the statement itself has its condition.
	switch q.Phase {
	case "":
	case turn.Begun, turn.Answering:
		c.add(`t.phase IN ('begun', 'answering')`)
	case turn.Broken, turn.Interrupted:
		c.add(`t.phase = '` + string(q.Phase) + `'`)
	default:
		c.add(`t.phase = ?`, q.Phase)
	}
	switch q.Lookup {
	case "":
		if q.LookedUp {
			c.add(`t.lookup IN ('found', 'empty', 'failed')`)
		}
	case turn.Found, turn.Empty, turn.LookupFailed:
		c.add(`t.lookup = '` + string(q.Lookup) + `'`)
	default:
		c.add(`t.lookup = ?`, q.Lookup)
	}
	if !q.Since.IsZero() {
		c.add(`t.began >= ?`, q.Since.UnixMicro())
	}
	if !q.Until.IsZero() {
		c.add(`t.began < ?`, q.Until.UnixMicro())
	}
	if q.Before == "" {
		return c, nil
	}
	var row, began int64
	err = s.DB.Read().QueryRowContext(ctx, `SELECT rowid, began FROM traces WHERE id = ?`, q.Before).Scan(&row, &began)
	if errors.Is(err, sql.ErrNoRows) {
		return c, store.ErrNotFound
	}
	if c.matched {
		c.add(`w.rowid < ?`, row)
	} else {
		c.add(`(t.began, t.id) < (?, ?)`, began, q.Before)
	}
	return c, err
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

// Channels returns the ids of channels with turns, at most so many, in order.
func (s *Store) Channels(ctx context.Context, most int) ([]string, error) {
	// It takes one step in the index for each channel, rather than for each turn.
	return store.List(ctx, s.DB, "list channels", store.ScanValue[string], `WITH RECURSIVE c (id) AS (
			SELECT min(channel_id) FROM traces UNION ALL
			SELECT (SELECT min(t.channel_id) FROM traces t WHERE t.channel_id > c.id) FROM c WHERE c.id IS NOT NULL)
		SELECT id FROM c WHERE id IS NOT NULL LIMIT ?`, most)
}

// Line returns the line of a turn, or [store.ErrNotFound].
func (s *Store) Line(ctx context.Context, id string) (Summary, error) {
	all, err := store.List(ctx, s.DB, "read the line of trace "+id, scanSummary, `SELECT `+summaryColumns+` FROM traces WHERE id = ?`, id)
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

	searched string // the text by which the turn is found, beside the line; written only
}

// summaryColumns are in the order of upsert and scanSummary.
const summaryColumns = `id, began, took, channel_id, author, question, phase, lookup, model, err`

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
	}
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
	var took int64
	err = row.Scan(&t.ID, store.Micros(&t.Began), &took, &t.ChannelID, &t.Author, &t.Question, &t.Phase, &t.Lookup, &t.Model, &t.Err)
	t.Took = time.Duration(took) * time.Microsecond
	return t, err
}
