package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Message is one message of a channel.
type Message struct {
	ID         string // unique over all channels
	ChannelID  string
	GuildID    string // empty in a direct message
	AuthorID   string // of the bot's own, the id of the character that wrote it, where that is kept
	AuthorName string
	Text       string
	Note       string    // names what hangs on it: "[image: cat.png]"
	ReplyTo    string    // id of the message it replies to, or empty
	TurnID     string    // the turn that it began or that wrote it, or empty
	At         time.Time // to the microsecond; read back in UTC
	Own        bool      // written by this bot
}

// OfAnother reports whether another of the bot's characters than this one wrote the message.
func (m Message) OfAnother(character string) bool {
	return m.Own && m.AuthorID != "" && m.AuthorID != character
}

// SaveMessages saves messages, all or none, in place of those that have the same ids. Those of which nothing is kept are left out.
func (db *DB) SaveMessages(ctx context.Context, ms ...Message) error {
	err := db.Write(ctx, func(tx *sql.Tx) error {
		for _, m := range ms {
			if err := db.save(tx, m); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("save messages: %w", err)
	}
	return nil
}

// save saves a message in place of the one that has its id.
func (db *DB) save(tx *sql.Tx, m Message) error {
	if kept, err := db.keeps(tx, m); err != nil || !kept {
		return err
	}
	row, before, err := db.rowOf(tx, m.ID)
	if err == nil && row > 0 {
		err = db.unindex(tx, row, before)
	}
	if err == nil && row > 0 && before.Text != m.Text {
		err = db.unsummarise(tx, row)
	}
	if err != nil {
		return err
	}
	r, err := insertInto(tx.Stmt(db.stmts.save), m)
	if err == nil && row == 0 {
		row, err = r.LastInsertId()
	}
	if err != nil {
		return err
	}
	return db.index(tx, row, m)
}

// keeps reports whether a message may be kept: its author wants that, or, of the bot's own, whoever it answers.
func (db *DB) keeps(tx *sql.Tx, m Message) (bool, error) {
	if m.Own {
		unkept, err := db.unkept(tx, m.TurnID)
		return !unkept, err
	}
	s, err := db.StandingIn(tx, m.AuthorID)
	return s.Keeps(m.At), err
}

// EditMessage gives a message a new text, and forgets what was learned from the old one alone. Edited is false if it had that text already, or if there is no
// such message.
func (db *DB) EditMessage(ctx context.Context, id, text string) (edited bool, err error) {
	err = db.Write(ctx, func(tx *sql.Tx) error {
		row, m, err := db.rowOf(tx, id)
		if edited = err == nil && row > 0 && m.Text != text; !edited {
			return err
		}
		if err := db.unindex(tx, row, m); err != nil {
			return err
		}
		if err := db.unsummarise(tx, row); err != nil {
			return err
		}
		if _, err := tx.Exec(`UPDATE messages SET text = ? WHERE rowid = ?`, text, row); err != nil {
			return err
		}
		m.Text = text
		if err := db.index(tx, row, m); err != nil {
			return err
		}
		return db.unsay(tx, id)
	})
	if err != nil {
		return false, fmt.Errorf("edit message: %w", err)
	}
	return edited, nil
}

// TranscribeMessage gives a voice message, which had no words, its words and a new note. It is no error if there is none.
func (db *DB) TranscribeMessage(ctx context.Context, id, text, note string) error {
	err := db.Write(ctx, func(tx *sql.Tx) error {
		row, m, err := db.rowOf(tx, id)
		if err != nil || row == 0 {
			return err
		}
		if err := db.unindex(tx, row, m); err != nil {
			return err
		}
		if _, err := tx.Exec(`UPDATE messages SET text = ?, note = ? WHERE rowid = ?`, text, note, row); err != nil {
			return err
		}
		m.Text = text
		return db.index(tx, row, m)
	})
	if err != nil {
		return fmt.Errorf("keep transcript: %w", err)
	}
	return nil
}

// DeleteMessage forgets a message and what was learned from it alone, and notes that records may still hold it: see [DB.Forgetting]. It is no error if there is
// none.
func (db *DB) DeleteMessage(ctx context.Context, id string) error {
	err := db.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.Exec(`INSERT INTO forgetting (message_id, channel_id, at, text) VALUES (?, '', 0, '') ON CONFLICT DO NOTHING`, id)
		if err != nil {
			return err
		}
		_, err = tx.Exec(`UPDATE forgetting SET (channel_id, at, text) = (SELECT channel_id, at, text FROM messages WHERE id = ?)
			WHERE message_id = ? AND EXISTS (SELECT 1 FROM messages WHERE id = ?)`, id, id, id)
		if err != nil {
			return err
		}
		if err := db.unsay(tx, id); err != nil {
			return err
		}
		row, m, err := db.rowOf(tx, id)
		if err != nil || row == 0 {
			return err
		}
		return db.deleteRow(tx, row, m)
	})
	if err != nil {
		return fmt.Errorf("delete message: %w", err)
	}
	return nil
}

// deleteRow deletes a message as nobody wants to have said it: also what was learned from it alone.
func (db *DB) deleteRow(tx *sql.Tx, row int64, m Message) error {
	id, err := db.dropRow(tx, row, m)
	if err != nil {
		return err
	}
	return db.unsay(tx, id)
}

// dropRow deletes a message, also from the index and the summary that covers it. What was learned from it stays.
func (db *DB) dropRow(tx *sql.Tx, row int64, m Message) (id string, err error) {
	if err := db.unindex(tx, row, m); err != nil {
		return "", err
	}
	if err := db.unsummarise(tx, row); err != nil {
		return "", err
	}
	err = tx.QueryRow(`DELETE FROM messages WHERE rowid = ? RETURNING id`, row).Scan(&id)
	return id, err
}

// Forgetting returns the deleted messages that records may still hold, with their channels, times and texts where they were
// kept.
func (db *DB) Forgetting(ctx context.Context) ([]Message, error) {
	rows, err := db.readers.QueryContext(ctx, `SELECT message_id, channel_id, at, text FROM forgetting ORDER BY at`)
	return collect(db, "read deleted messages", rows, err, func(row scanner) (m Message, err error) {
		var at int64
		err = row.Scan(&m.ID, &m.ChannelID, &at, &m.Text)
		m.At = time.UnixMicro(at).UTC()
		return m, err
	})
}

// Forgotten notes that no record holds a deleted message any more.
func (db *DB) Forgotten(ctx context.Context, id string) error {
	_, err := db.exec(ctx, "forget message", `DELETE FROM forgetting WHERE message_id = ?`, id)
	return err
}

// Message returns the message with that id, or [ErrNotFound].
func (db *DB) Message(ctx context.Context, id string) (Message, error) {
	m, err := scan(db.stmts.message.QueryRowContext(ctx, id))
	if err != nil {
		return Message{}, fmt.Errorf("read message: %w", db.Explain(err))
	}
	return m, nil
}

// Replied reports whether a person has replied to one of some messages of a channel.
func (db *DB) Replied(ctx context.Context, channelID string, ids ...string) (bool, error) {
	for _, id := range ids {
		var found bool
		err := db.readers.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM messages WHERE channel_id = ? AND reply_to = ? AND NOT own)`, channelID, id).Scan(&found)
		if err != nil || found {
			return found, db.Explain(err)
		}
	}
	return false, nil
}

// Recent returns the last n messages of a channel, oldest first.
func (db *DB) Recent(ctx context.Context, channelID string, n int) ([]Message, error) {
	rows, err := db.stmts.recent.QueryContext(ctx, channelID, n)
	ms, err := collect(db, "read recent messages", rows, err, scan)
	slices.Reverse(ms)
	return ms, err
}

// Chain returns the message that this one replies to, the one which that replies to, and so on: at most n,
// nearest first. The chain ends at a message that isn't known, and at one of another channel, whose
// people may not be the same.
func (db *DB) Chain(ctx context.Context, id string, n int) ([]Message, error) {
	m, err := db.Message(ctx, id)
	if err != nil {
		return nil, err
	}
	var chain []Message
	for len(chain) < n && m.ReplyTo != "" {
		parent, err := db.Message(ctx, m.ReplyTo)
		if errors.Is(err, ErrNotFound) || err == nil && parent.ChannelID != m.ChannelID {
			break
		}
		if err != nil {
			return nil, err
		}
		chain = append(chain, parent)
		m = parent
	}
	return chain, nil
}

// columns are in the order of scan and insertInto.
const columns = `id, channel_id, guild_id, author_id, author_name, text, reply_to, turn_id, at, own, note`

func scan(row scanner) (m Message, err error) {
	var at int64
	err = row.Scan(&m.ID, &m.ChannelID, &m.GuildID, &m.AuthorID, &m.AuthorName, &m.Text, &m.ReplyTo, &m.TurnID, &at, &m.Own, &m.Note)
	m.At = time.UnixMicro(at).UTC()
	return m, err
}

func insertInto(s *sql.Stmt, m Message) (sql.Result, error) {
	return s.Exec(m.ID, m.ChannelID, m.GuildID, m.AuthorID, m.AuthorName, m.Text, m.ReplyTo, m.TurnID, m.At.UnixMicro(), m.Own, m.Note)
}
