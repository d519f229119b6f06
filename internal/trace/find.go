package trace

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"familiar/internal/context/turn"
	"familiar/internal/store"
)

// Query says which turns an operator looks for. Its zero value is all of them.
type Query struct {
	Words        string     // that stand in the question or the reply, in any order; moon* is what begins so
	Author       string     // a part of the name of who asked
	ChannelID    string     // empty: any
	Phase        turn.Phase // empty: any; [Begun] stands for all that are not over
	Lookup       turn.State // empty: any
	LookedUp     bool       // only turns with a lookup that was tried
	Since, Until time.Time  // when the turn began; zero: any time
	Before       string     // the id of the last turn of the page before; empty: the first page
	Limit        int        // 0: 50
}

const defaultLimit = 50

// Find returns the lines of the turns that a query is for, the newest first. More reports whether there are further ones.
func (s *Store) Find(ctx context.Context, q Query) (found []Summary, more bool, err error) {
	if q.Limit <= 0 {
		q.Limit = defaultLimit
	}
	c, err := s.conditions(ctx, q)
	if errors.Is(err, store.ErrNotFound) { // the page before was pruned meanwhile
		return nil, false, nil
	}
	if err == nil && c.matched {
		err = s.IndexWords(ctx)
	}
	if err != nil {
		return nil, false, fmt.Errorf("find traces: %w", err)
	}
	rows, err := s.DB.Read().QueryContext(ctx, c.query(), append(c.args, q.Limit+1)...)
	if err == nil {
		found, err = summaries(rows)
	}
	if err != nil {
		return nil, false, fmt.Errorf("find traces: %w", s.DB.Explain(err))
	}
	if len(found) > q.Limit {
		return found[:q.Limit], true, nil
	}
	return found, false, nil
}

// wordsBatch is how many records are indexed in one transaction, in about 10 ms.
const wordsBatch = 200

// IndexWords brings the index of words up to date. Turns do not do that: it would cost each of them a tenth of a millisecond.
func (s *Store) IndexWords(ctx context.Context) error {
	for {
		var behind bool
		err := s.DB.Read().QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM traces WHERE rowid > (SELECT done FROM trace_words_progress))`).Scan(&behind)
		if err != nil || !behind {
			return s.DB.Explain(err)
		}
		err = s.DB.WriteStep(ctx, func(tx *sql.Tx) error {
			var from, last int64
			if err := tx.QueryRow(`SELECT done FROM trace_words_progress`).Scan(&from); err != nil {
				return err
			}
			err := tx.QueryRow(`SELECT coalesce(max(rowid), ?) FROM (SELECT rowid FROM traces WHERE rowid > ? ORDER BY rowid LIMIT ?)`, from, from, wordsBatch).Scan(&last)
			if err != nil {
				return err
			}
			if _, err := tx.Exec(`INSERT INTO trace_words (rowid, question, author, said) SELECT rowid, question, author, said FROM traces WHERE rowid > ? AND rowid <= ?`, from, last); err != nil {
				return err
			}
			_, err = tx.Exec(`UPDATE trace_words_progress SET done = ?`, last)
			return err
		})
		if err != nil {
			return fmt.Errorf("index the words of records: %w", err)
		}
	}
}

// conditions are the parts of a query in SQL.
type conditions struct {
	matched bool // by words, in the order in which the index has them
	where   []string
	args    []any
}

func (c *conditions) add(where string, args ...any) {
	c.where, c.args = append(c.where, where), append(c.args, args...)
}

func (c *conditions) query() string {
	from, order := ` FROM traces t`, ` ORDER BY t.began DESC, t.id DESC`
	if c.matched {
		// CROSS keeps the index outside, which returns its newest rows first: nothing is sorted.
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
	// The states are written out: an index of some of them is used only where the statement itself says so.
	switch q.Phase {
	case "":
	case turn.Begun, turn.Answering:
		c.add(`t.phase IN ('begun', 'answering')`)
	case turn.Broken:
		c.add(`t.phase = 'failed'`)
	case turn.Interrupted:
		c.add(`t.phase = 'interrupted'`)
	default:
		c.add(`t.phase = ?`, q.Phase)
	}
	switch {
	case q.Lookup == turn.Found:
		c.add(`t.lookup = 'found'`)
	case q.Lookup == turn.Empty:
		c.add(`t.lookup = 'empty'`)
	case q.Lookup == turn.LookupFailed:
		c.add(`t.lookup = 'failed'`)
	case q.Lookup != "":
		c.add(`t.lookup = ?`, q.Lookup)
	case q.LookedUp:
		c.add(`t.lookup IN ('found', 'empty', 'failed')`)
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

// matchWords returns an FTS5 query for each word of a text, in a column or, where that is empty, in any. A word with a * behind it is the
// beginning of one, and so is each where begin says so, and what is written without spaces between words. The words are quoted and made of
// letters, digits and marks alone, so that no text is an operator. The index streams words and beginnings of three letters; of others it
// gathers all that begins so before it returns the first.
func matchWords(column, text string, begin bool) (all []string) {
	for rest := text; ; {
		from := strings.IndexFunc(rest, inWord)
		if from < 0 {
			return all
		}
		rest = rest[from:]
		end := strings.IndexFunc(rest, func(r rune) bool { return !inWord(r) })
		if end < 0 {
			end = len(rest)
		}
		word := column + `"` + rest[:end] + `"`
		if rest = rest[end:]; begin || strings.HasPrefix(rest, "*") || strings.ContainsFunc(word, unspaced) {
			word += "*"
		}
		all = append(all, word)
	}
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) }

// How much of a turn it is found by, in characters.
const (
	mostAsked   = 400
	mostReplied = 800
)

// unspaced reports whether a character is of a script that puts no spaces between words.
func unspaced(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// LookedUp is a turn with what it looked up, without the texts of pages.
type LookedUp struct {
	Summary
	Lookup *turn.Lookup // nil: its record cannot be read any more
}

// Lookups returns the turns of a query with their lookups.
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

// Channels returns the ids of the channels in which turns were taken.
func (s *Store) Channels(ctx context.Context, most int) ([]string, error) {
	// One step in the index for each channel, and not a row for each turn.
	rows, err := s.DB.Read().QueryContext(ctx, `WITH RECURSIVE c (id) AS (
			SELECT min(channel_id) FROM traces UNION ALL
			SELECT (SELECT min(t.channel_id) FROM traces t WHERE t.channel_id > c.id) FROM c WHERE c.id IS NOT NULL)
		SELECT id FROM c WHERE id IS NOT NULL LIMIT ?`, most)
	var all []string
	if err == nil {
		all, err = strs(rows)
	}
	if err != nil {
		return nil, fmt.Errorf("list channels: %w", s.DB.Explain(err))
	}
	return all, nil
}

// Line returns the line of one turn, or [store.ErrNotFound].
func (s *Store) Line(ctx context.Context, id string) (Summary, error) {
	rows, err := s.DB.Read().QueryContext(ctx, `SELECT `+summaryColumns+` FROM traces WHERE id = ?`, id)
	var all []Summary
	if err == nil {
		all, err = summaries(rows)
	}
	switch {
	case err != nil:
		return Summary{}, fmt.Errorf("read the line of trace %s: %w", id, s.DB.Explain(err))
	case len(all) == 0:
		return Summary{}, store.ErrNotFound
	}
	return all[0], nil
}
