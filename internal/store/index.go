package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"familiar/internal/text"
)

// The full-text index of messages. Whoever writes a message, changes or deletes it does the same here, in the same transaction: the
// index has no text of its own, so it must be told again what it was told before. Direct messages are in no index.

// indexBatch is how many messages are indexed in one transaction while others wait to write, and indexPause how long they may then.
const (
	indexBatch = 1000
	indexPause = 5 * time.Millisecond
)

// index makes a message found by its words.
func (db *DB) index(tx *sql.Tx, row int64, m Message) error {
	return db.indexed(tx, db.stmts.index, row, m)
}

// unindex takes out what index put in for the same message, and its vector.
func (db *DB) unindex(tx *sql.Tx, row int64, m Message) error {
	if err := db.unembed(tx, row); err != nil {
		return err
	}
	return db.indexed(tx, db.stmts.unindex, row, m)
}

func (db *DB) indexed(tx *sql.Tx, statement *sql.Stmt, row int64, m Message) error {
	if m.GuildID == "" {
		return nil
	}
	var due bool
	if err := tx.Stmt(db.stmts.due).QueryRow(row).Scan(&due); err != nil || due {
		return err
	}
	_, err := tx.Stmt(statement).Exec(row, words(m.Text), tag(inGuild, m.GuildID)+" "+tag(inChannel, m.ChannelID)+" "+tag(byAuthor, m.AuthorID))
	return err
}

// rowOf returns a message with its row, 0 if there is none.
func (db *DB) rowOf(tx *sql.Tx, id string) (row int64, m Message, err error) {
	row, m, err = scanRow(tx.Stmt(db.stmts.row).QueryRow(id))
	if errors.Is(err, sql.ErrNoRows) {
		return 0, m, nil
	}
	return row, m, err
}

// scanRow reads what is indexed of a message.
func scanRow(s scanner) (row int64, m Message, err error) {
	err = s.Scan(&row, &m.GuildID, &m.ChannelID, &m.AuthorID, &m.Text)
	return row, m, err
}

const rowColumns = `rowid, guild_id, channel_id, author_id, text`

// wordsForm is how words are made of a text, but for the stems, whose tables say it themselves.
const wordsForm = "1 "

// renewIndex has the index of messages built anew if it was made of other words than those that this program makes, and builds that of memory,
// which is small.
func (db *DB) renewIndex(ctx context.Context) error {
	var made string
	if err := db.readers.QueryRowContext(ctx, `SELECT made FROM message_words_progress`).Scan(&made); err != nil {
		return err
	}
	if made == wordsForm+text.StemsMark() {
		return nil
	}
	err := db.Write(ctx, func(tx *sql.Tx) error { return errors.Join(db.reindexMemories(tx), emptyIndex(tx)) })
	if err != nil {
		return fmt.Errorf("renew the indexes: %w", err)
	}
	return nil
}

// emptyIndex empties the index of messages, so that it is built anew.
func emptyIndex(tx *sql.Tx) error {
	if _, err := tx.Exec(emptyMessages); err != nil {
		return err
	}
	_, err := tx.Exec(`UPDATE message_words_progress SET due = (SELECT coalesce(max(rowid), 0) FROM messages), made = ?`, wordsForm+text.StemsMark())
	return err
}

// indexOld builds the index of messages that were there before it, the newest first. Where it is ended, the next start goes on.
func (db *DB) indexOld(ctx context.Context) {
	if err := db.indexDue(ctx); err != nil && ctx.Err() == nil {
		db.notify("messages of before are not found by their words until the next start: %v", db.Explain(err))
	}
}

// indexDue indexes what is due.
func (db *DB) indexDue(ctx context.Context) error {
	for built := false; ; built = true {
		var due int64
		err := db.readers.QueryRowContext(ctx, `SELECT due FROM message_words_progress`).Scan(&due)
		if err != nil || due == 0 && !built {
			return err
		}
		if due == 0 {
			return db.TidyIndex(ctx)
		}
		if err := db.WriteStep(ctx, db.indexSome); err != nil {
			return fmt.Errorf("index messages: %w", err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(indexPause):
		}
	}
}

// indexSome indexes the last messages that are due.
func (db *DB) indexSome(tx *sql.Tx) error {
	type found struct {
		row int64
		Message
	}
	rows, err := tx.Query(`SELECT `+rowColumns+` FROM messages WHERE rowid <= (SELECT due FROM message_words_progress) ORDER BY rowid DESC LIMIT ?`, indexBatch)
	some, err := collect(db, "read messages", rows, err, func(s scanner) (f found, err error) {
		f.row, f.Message, err = scanRow(s)
		return f, err
	})
	if err != nil {
		return err
	}
	due := int64(0)
	if len(some) == indexBatch {
		due = some[len(some)-1].row - 1
	}
	if _, err := tx.Exec(`UPDATE message_words_progress SET due = ?`, due); err != nil {
		return err
	}
	for _, f := range slices.Backward(some) { // FTS5 writes a part of its own for each row that comes behind a later one
		if err := db.index(tx, f.row, f.Message); err != nil {
			return err
		}
	}
	return nil
}

// reindex has all indexes built anew: a VACUUM may have given messages and records other rows.
func (db *DB) reindex(ctx context.Context) error {
	err := db.Write(ctx, func(tx *sql.Tx) error {
		if _, err := tx.Exec(`INSERT INTO trace_words (trace_words) VALUES ('rebuild')`); err != nil {
			return err
		}
		if _, err := tx.Exec(`UPDATE trace_words_progress SET done = (SELECT coalesce(max(rowid), 0) FROM traces)`); err != nil {
			return err
		}
		return emptyIndex(tx)
	})
	if err != nil {
		return fmt.Errorf("index messages anew: %w", err)
	}
	return nil
}

const (
	// mergePages is how many pages of the index one step of tidying writes: other writes wait for it.
	mergePages = 200
	// mostMerges bounds one tidying; the next goes on.
	mostMerges = 500
)

// TidyIndex merges the parts of the index, which grow in number as messages come in: each word is looked for in all of them. It goes in
// small steps, between which others write.
func (db *DB) TidyIndex(ctx context.Context) error {
	pages := -mergePages // the first step decides that all parts are merged
	for range mostMerges {
		written := 0
		err := db.WriteStep(ctx, func(tx *sql.Tx) error {
			var before, after int
			if err := tx.QueryRow(`SELECT total_changes()`).Scan(&before); err != nil {
				return err
			}
			if _, err := tx.Exec(mergeMessages, pages); err != nil {
				return err
			}
			err := tx.QueryRow(`SELECT total_changes()`).Scan(&after)
			written = after - before
			return err
		})
		if err != nil {
			return fmt.Errorf("tidy the index: %w", err)
		}
		if written < 2 { // as https://sqlite.org/fts5.html#the_merge_command says
			return nil
		}
		pages = mergePages
	}
	return nil
}
