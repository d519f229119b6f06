package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// The full-text index of messages. Whoever writes a message, changes or deletes it does the same here, in the same transaction: the
// index has no text of its own, so it must be told again what it was told before. Direct messages are in no index.

// indexBatch is how many messages of before are indexed in one transaction.
const indexBatch = 5000

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

// indexOld indexes the messages that were there before there was an index. Nothing else is written meanwhile.
func (db *DB) indexOld(ctx context.Context) error {
	for {
		var done, last int64
		err := db.readers.QueryRowContext(ctx, `SELECT done, last FROM message_words_progress`).Scan(&done, &last)
		if err != nil || done >= last {
			return err
		}
		if err := db.Write(ctx, func(tx *sql.Tx) error { return db.indexSome(tx, done, last) }); err != nil {
			return fmt.Errorf("index messages: %w", err)
		}
	}
}

// indexSome indexes the first messages behind done, and notes how far it came.
func (db *DB) indexSome(tx *sql.Tx, done, last int64) error {
	rows, err := tx.Query(`SELECT `+rowColumns+` FROM messages WHERE rowid > ? AND rowid <= ? ORDER BY rowid LIMIT ?`, done, last, indexBatch)
	if err != nil {
		return err
	}
	defer rows.Close()
	n := 0
	for ; rows.Next(); n++ {
		row, m, err := scanRow(rows)
		if err != nil {
			return err
		}
		if err := db.index(tx, row, m); err != nil {
			return err
		}
		done = row
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if n < indexBatch {
		done = last
	}
	_, err = tx.Exec(`UPDATE message_words_progress SET done = ?`, done)
	return err
}

// reindex builds the index anew: a VACUUM may have given the messages other rows.
func (db *DB) reindex(ctx context.Context) error {
	err := db.Write(ctx, func(tx *sql.Tx) error {
		if _, err := tx.Exec(`INSERT INTO message_words (message_words) VALUES ('delete-all')`); err != nil {
			return err
		}
		if _, err := tx.Exec(`INSERT INTO trace_words (trace_words) VALUES ('rebuild')`); err != nil {
			return err
		}
		if _, err := tx.Exec(`UPDATE trace_words_progress SET done = (SELECT coalesce(max(rowid), 0) FROM traces)`); err != nil {
			return err
		}
		rows, err := tx.Query(`SELECT ` + rowColumns + ` FROM messages ORDER BY rowid`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			row, m, err := scanRow(rows)
			if err != nil {
				return err
			}
			if err := db.index(tx, row, m); err != nil {
				return err
			}
		}
		return rows.Err()
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
		err := db.Write(ctx, func(tx *sql.Tx) error {
			var before, after int
			if err := tx.QueryRow(`SELECT total_changes()`).Scan(&before); err != nil {
				return err
			}
			if _, err := tx.Exec(`INSERT INTO message_words (message_words, rank) VALUES ('merge', ?)`, pages); err != nil {
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
