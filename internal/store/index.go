package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"familiar/internal/text"
)

// The full-text index of messages. Code that writes, changes or deletes a message does the same here, in the same transaction. The index
// keeps no text, so a removal must repeat what was added. Direct messages are not indexed.

// indexBatch is the largest number of messages that are indexed in one transaction.
const indexBatch = 1000

// index adds a message to the index.
func (s *Messages) index(tx *sql.Tx, row int64, m Message) error {
	return s.indexed(tx, indexMessage, row, m)
}

// unindex removes a message, as index added it, and its vector.
func (s *Messages) unindex(tx *sql.Tx, row int64, m Message) error {
	if err := s.dropVector(tx, row); err != nil {
		return err
	}
	return s.indexed(tx, unindexMessage, row, m)
}

// indexed adds or removes a message, unless it is due to be indexed later.
func (s *Messages) indexed(tx *sql.Tx, query string, row int64, m Message) error {
	if m.GuildID == "" {
		return nil
	}
	_, err := s.db.stmt(tx, query).Exec(row, text.IndexedWords(m.Text), tag(inGuild, m.GuildID)+" "+tag(inChannel, m.ChannelID)+" "+tag(byAuthor, m.AuthorID))
	return err
}

// rowOf returns a message with its row, or row 0 if there is none.
func (s *Messages) rowOf(tx *sql.Tx, id string) (row int64, m Message, err error) {
	row, m, err = scanRow(s.db.stmt(tx, rowQuery).QueryRow(id))
	return row, m, unlessMissing(err)
}

// scanRow scans the indexed columns of a message.
func scanRow(s Scanner) (row int64, m Message, err error) {
	err = s.Scan(&row, &m.GuildID, &m.ChannelID, &m.AuthorID, &m.Text)
	return row, m, err
}

const (
	rowColumns = `rowid, guild_id, channel_id, author_id, text`
	rowQuery   = `SELECT ` + rowColumns + ` FROM messages WHERE id = ?`
)

// renewIndex starts to build the index of messages again if the program makes other words now.
func (s *Messages) renewIndex(ctx context.Context) error {
	var made string
	if err := s.db.readers.QueryRowContext(ctx, `SELECT made FROM message_words_progress`).Scan(&made); err != nil {
		return err
	}
	if made == text.IndexForm {
		return nil
	}
	return s.db.Change(ctx, "renew the index", emptyIndex)
}

// emptyIndex empties the index of messages, so that indexOld builds it again.
func emptyIndex(tx *sql.Tx) error {
	if _, err := tx.Exec(emptyMessages); err != nil {
		return err
	}
	_, err := tx.Exec(`UPDATE message_words_progress SET due = (SELECT coalesce(max(rowid), 0) FROM messages), made = ?`, text.IndexForm)
	return err
}

// indexOld builds the index of the messages that are due, newest first. The next start goes on if it is stopped.
func (s *Messages) indexOld(ctx context.Context) {
	if err := s.indexDue(ctx); err != nil && ctx.Err() == nil {
		s.db.notify("older messages are not found by their words until the next start: %v", s.db.Explain(err))
	}
}

// indexDue indexes all messages that are due.
func (s *Messages) indexDue(ctx context.Context) error {
	var due int64
	if err := s.db.readers.QueryRowContext(ctx, `SELECT due FROM message_words_progress`).Scan(&due); err != nil || due == 0 {
		return err
	}
	if err := s.db.WriteSteps(ctx, indexBatch, s.indexSome); err != nil {
		return fmt.Errorf("index messages: %w", err)
	}
	return s.TidyIndex(ctx)
}

// indexSome indexes the n newest messages that are due. It reports whether more are.
func (s *Messages) indexSome(tx *sql.Tx, n int) (more bool, err error) {
	type found struct {
		row int64
		Message
	}
	rows, err := tx.Query(dueMessages, n)
	some, err := Collect(s.db, "read messages", rows, err, func(row Scanner) (f found, err error) {
		f.row, f.Message, err = scanRow(row)
		return f, err
	})
	if err != nil {
		return false, err
	}
	due := int64(0)
	if more = len(some) == n; more {
		due = some[n-1].row - 1
	}
	if _, err := tx.Exec(`UPDATE message_words_progress SET due = ?`, due); err != nil {
		return false, err
	}
	for _, f := range slices.Backward(some) { // FTS5 writes a segment of its own for each row that follows a later one
		if err := s.index(tx, f.row, f.Message); err != nil {
			return false, err
		}
	}
	return more, nil
}

const dueMessages = `SELECT ` + rowColumns + ` FROM messages WHERE rowid <= (SELECT due FROM message_words_progress) ORDER BY rowid DESC LIMIT ?`

// TidyIndex merges the segments of the index, whose number grows with the messages. A search looks into all of them.
func (s *Messages) TidyIndex(ctx context.Context) error {
	return s.db.keepUp("tidy the index", s.db.engine.Tidy(ctx, "message_words", s.db.WriteSteps))
}

// match returns an FTS5 query for the messages that hold all words of s. It finds them in any form that they have in a language. With
// begin, words that start with them match, too. The query is empty if s has no word. Every word is quoted and consists of letters, digits
// and marks, so that no text is an operator.
func match(s, language string, begin bool) string {
	var all []string
	for _, run := range text.Runs(s) {
		switch w := run.Words(); {
		case run.Unspaced && len(run.Letters) == 1, begin && !run.Unspaced && len(run.Letters) >= shortestBeginning:
			all = append(all, `"`+w[0]+`"*`)
		case run.Unspaced:
			all = append(all, `"`+strings.Join(w, " ")+`"`)
		default:
			all = append(all, anyOfThese(append(w, run.Forms(language)...)))
		}
	}
	return strings.Join(all, " AND ")
}

// anyOfThese returns a query for any of some words.
func anyOfThese(words []string) string {
	if len(words) == 1 {
		return `"` + words[0] + `"`
	}
	return `("` + strings.Join(words, `" OR "`) + `")`
}

// AnyWord returns an FTS5 query for texts with any word of s in any form. The query is empty if s has no word.
func AnyWord(s string) string {
	var all []string
	for _, run := range text.Runs(s) {
		begin := ""
		if run.Unspaced && len(run.Letters) == 1 {
			begin = "*"
		}
		for _, w := range append(run.Words(), run.Forms("")...) {
			all = append(all, `"`+w+`"`+begin)
		}
	}
	return strings.Join(all, " OR ")
}

// shortestBeginning is the number of letters from which on the start of a word is searched for. FTS5 collects all words with that start
// before it returns the first.
const shortestBeginning = 4

// tag names a place or a person in the index. It leaves out characters that are neither letter nor digit: a search checks the messages
// themselves, too.
func tag(kind byte, id string) string {
	return string(kind) + strings.Map(func(r rune) rune {
		if r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return unicode.ToLower(r)
		}
		return -1
	}, id)
}

// The kinds of tags.
const (
	inGuild   = 'g'
	inChannel = 'c'
	byAuthor  = 'a'
)

// anyOf returns an FTS5 query for messages with any of some tags.
func anyOf(kind byte, ids ...string) string {
	var all []string
	for _, id := range ids {
		all = append(all, `"`+tag(kind, id)+`"`)
	}
	return "tags : (" + strings.Join(all, " OR ") + ")"
}
