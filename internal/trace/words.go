package trace

import (
	"context"
	"database/sql"
	"fmt"
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

// matchWords returns an FTS5 query for each word of a text, in a column. If the column is empty, it is in any column. A word followed by *
// matches as a prefix. So does every word if begin is set, and a word of a script without spaces. Words are quoted and consist of letters,
// digits and marks, so that no text is an operator. The index streams the matches of whole words and of prefixes with three letters. For
// other prefixes it gathers all matches before it returns the first.
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
