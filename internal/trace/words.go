package trace

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"familiar/internal/context/turn"
	"familiar/internal/store"
	"familiar/internal/text"
)

// How much of a turn is searched, in characters.
const (
	mostAsked   = 400
	mostReplied = 800
)

// searchText returns the text by which a turn that is over is found: the question and the reply, each cut.
func (s *Store) searchText(t *turn.Trace) string {
	return text.Truncate(s.redact(t.Request.Message.Text), mostAsked) + "\n" + text.Truncate(s.redact(t.Reply), mostReplied)
}

// wordsBatch is the largest number of records that are indexed in one transaction.
const wordsBatch = 200

// IndexWords brings the index of words up to date. Turns leave it behind, because indexing would cost each of them 0.1 ms.
func (s *Store) IndexWords(ctx context.Context) error {
	var behind bool
	err := s.DB.Read().QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM traces WHERE rowid > (SELECT done FROM trace_words_progress))`).Scan(&behind)
	if err != nil || !behind {
		return s.DB.Explain(err)
	}
	err = s.DB.WriteSteps(ctx, wordsBatch, func(tx *sql.Tx, n int) (more bool, err error) {
		var from, last int64
		var some int
		if err := tx.QueryRow(`SELECT done FROM trace_words_progress`).Scan(&from); err != nil {
			return false, err
		}
		err = tx.QueryRow(`SELECT coalesce(max(rowid), ?), count(*) FROM (SELECT rowid FROM traces WHERE rowid > ? ORDER BY rowid LIMIT ?) AS due`, from, from, n).Scan(&last, &some)
		if err != nil {
			return false, err
		}
		if err := s.indexBetween(tx, from, last); err != nil {
			return false, err
		}
		_, err = tx.Exec(`UPDATE trace_words_progress SET done = ?`, last)
		return some == n, err
	})
	if err != nil {
		return fmt.Errorf("index the words of records: %w", err)
	}
	return nil
}

// indexBetween indexes the records after a row, up to another.
func (s *Store) indexBetween(tx *sql.Tx, from, last int64) error {
	rows, err := tx.Query(`SELECT rowid, question, author, said FROM traces WHERE rowid > ? AND rowid <= ? ORDER BY rowid`, from, last)
	all, err := store.Collect(s.DB, "read records", rows, err, func(row store.Scanner) ([]any, error) {
		var id int64
		var question, author, said string
		err := row.Scan(&id, &question, &author, &said)
		return []any{id, question, author, said}, err
	})
	if err != nil || len(all) == 0 {
		return err
	}
	insert, err := tx.Prepare(`INSERT INTO trace_words (rowid, question, author, said) VALUES (?, ?, ?, ?)`)
	if err != nil {
		return err
	}
	defer insert.Close()
	for _, one := range all {
		if _, err := insert.Exec(one...); err != nil {
			return err
		}
	}
	return nil
}

const (
	// saidNote is the note with the row below which records of older versions may lack their search text. 0: no record lacks it.
	saidNote = "records.said"
	// saidBatch is how many records are read at a time.
	saidBatch = 32
)

// IndexReplies gives the records of older versions their search text, newest first. The next call continues if it was interrupted.
func (s *Store) IndexReplies(ctx context.Context) error {
	for {
		due, err := s.dueReplies(ctx)
		if err == nil && due > 0 {
			due, err = s.indexReplies(ctx, due)
		}
		if err == nil && due > 0 {
			continue
		}
		if err != nil {
			return fmt.Errorf("index the words of replies: %w", s.DB.Explain(err))
		}
		return nil
	}
}

// dueReplies returns the row in the note: records below it are due.
func (s *Store) dueReplies(ctx context.Context) (due int64, err error) {
	note, err := s.DB.Notes.Get(ctx, saidNote)
	if errors.Is(err, store.ErrNotFound) {
		err = s.DB.Read().QueryRowContext(ctx, `SELECT coalesce(max(rowid), 0) + 1 FROM traces`).Scan(&due)
		return due, err
	}
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(note, 10, 64)
}

// unsaid is a record that lacks its search text.
type unsaid struct {
	id, said string
	body     []byte // of the record from which said was made
}

// indexReplies gives some records below a row their search text. It returns the row below which to continue, 0 at the end.
func (s *Store) indexReplies(ctx context.Context, due int64) (next int64, err error) {
	all, err := store.List(ctx, s.DB, "list records", func(row store.Scanner) (one unsaid, err error) {
		err = row.Scan(&next, &one.id)
		return one, err
	}, `SELECT rowid, id FROM traces WHERE rowid < ? AND said = '' AND phase NOT IN ('begun', 'answering') ORDER BY rowid DESC LIMIT ?`, due, saidBatch)
	if err != nil {
		return 0, err
	}
	if len(all) < saidBatch {
		next = 0
	}
	for i := range all {
		_, body, err := readBody(s.DB.Read().QueryContext(ctx, bodyQuery+`WHERE t.id = ? ORDER BY p.id`, all[i].id))
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return 0, err
		}
		if t, err := s.decode(body); err == nil { // nobody finds what cannot be read
			all[i].body, all[i].said = body, s.searchText(t)
		}
	}
	if err := store.WriteEach(ctx, s.DB, all, say); err != nil {
		return 0, err
	}
	return next, s.DB.Notes.Set(ctx, saidNote, strconv.FormatInt(next, 10))
}

// say writes the search text of a record, unless it was changed or deleted meanwhile: then it already has its own.
func say(tx *sql.Tx, one unsaid) error {
	if one.body == nil {
		return nil
	}
	_, now, err := readBody(tx.Query(bodyQuery+`WHERE t.id = ? ORDER BY p.id`, one.id))
	if errors.Is(err, store.ErrNotFound) || err == nil && !slices.Equal(now, one.body) {
		return nil
	}
	if err == nil {
		_, err = tx.Exec(`UPDATE traces SET said = ? WHERE id = ?`, one.said, one.id)
	}
	return err
}

// matchWords returns an FTS5 query for each word of a text, in a column, or in any column if it is empty. A word followed by * matches as
// a prefix; so does every word if begin is set, and a word of a script without spaces. Words are quoted and consist of letters, digits and
// marks, so that no text is an operator. The index streams the matches of whole words and of prefixes with three letters; for other
// prefixes it gathers all matches before it returns the first.
func matchWords(column, s string, begin bool) (all []string) {
	for rest := s; ; {
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
		if rest = rest[end:]; begin || strings.HasPrefix(rest, "*") || strings.ContainsFunc(word, text.UnspacedRune) {
			word += "*"
		}
		all = append(all, word)
	}
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) }
