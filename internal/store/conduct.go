package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Conduct is how people want the bot to take part in a channel. The zero value is how it does where nobody said anything.
type Conduct struct {
	Chatty  bool // it joins in unasked
	Threads bool // each mention gets a thread of its own
	Posts   bool // of a forum: each new post is answered

	Subscribed bool // every message of a person is for it
}

const selectConduct = `SELECT chatty, threads, posts, subscribed FROM conduct WHERE channel_id = ?`

func scanConduct(row scanner) (c Conduct, err error) {
	err = row.Scan(&c.Chatty, &c.Threads, &c.Posts, &c.Subscribed)
	return c, err
}

// Conduct returns what people chose for a channel.
func (db *DB) Conduct(ctx context.Context, channelID string) (Conduct, error) {
	return setting(db, "conduct", channelID, func() (Conduct, error) {
		c, err := queryRow(ctx, db, scanConduct, selectConduct, channelID)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return Conduct{}, fmt.Errorf("read conduct: %w", db.Explain(err))
		}
		return c, nil
	})
}

// ChangeConduct changes what people chose for a channel, in one step: no other change is lost.
func (db *DB) ChangeConduct(ctx context.Context, channelID, guildID string, by By, change func(*Conduct)) error {
	defer db.settings.changed()
	err := db.Write(ctx, func(tx *sql.Tx) error {
		c, err := scanConduct(tx.QueryRow(selectConduct, channelID))
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		before := c
		change(&c)
		_, err = tx.Exec(`INSERT INTO conduct (channel_id, guild_id, chatty, threads, posts, subscribed) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT (channel_id) DO UPDATE SET chatty = excluded.chatty, threads = excluded.threads, posts = excluded.posts, subscribed = excluded.subscribed`,
			channelID, guildID, c.Chatty, c.Threads, c.Posts, c.Subscribed)
		if err != nil {
			return err
		}
		return db.record(tx, before.changes(c, guildID, channelID, by)...)
	})
	if err != nil {
		return fmt.Errorf("change conduct: %w", err)
	}
	return nil
}

// OwnThread reports whether the bot made a thread, and whether somebody told it to be quiet there.
func (db *DB) OwnThread(ctx context.Context, id string) (own, quiet bool, err error) {
	err = db.readers.QueryRowContext(ctx, `SELECT quiet FROM own_threads WHERE thread_id = ?`, id).Scan(&quiet)
	if errors.Is(err, sql.ErrNoRows) {
		return false, false, nil
	}
	if err != nil {
		return false, false, fmt.Errorf("read thread: %w", db.Explain(err))
	}
	return true, quiet, nil
}

// QuietThread notes that the bot was told to be quiet in a thread of its own, or asked to go on.
func (db *DB) QuietThread(ctx context.Context, id string, quiet bool) error {
	_, err := db.exec(ctx, "quiet thread", `UPDATE own_threads SET quiet = ? WHERE thread_id = ?`, quiet, id)
	return err
}

// MoveToThread notes that the bot made a thread for a message, which from now on is a message of the thread. event is what a restart would
// go on with now, if that message is waited for under claim.
func (db *DB) MoveToThread(ctx context.Context, messageID, claim, threadID, guildID, event string, at time.Time) error {
	err := db.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.Exec(`INSERT INTO own_threads (thread_id, guild_id, at, quiet) VALUES (?, ?, ?, FALSE) ON CONFLICT DO NOTHING`, threadID, guildID, at.UnixMicro())
		if err == nil {
			err = db.move(tx, messageID, threadID)
		}
		if err == nil {
			event, err = db.keptEvent(tx, event)
		}
		if err == nil {
			_, err = tx.Exec(`UPDATE claims SET event = ? WHERE event_id = ? AND event <> ''`, event, claim)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("move to thread: %w", err)
	}
	return nil
}

// move makes a message one of another channel of its server, also for whoever looks for it there.
func (db *DB) move(tx *sql.Tx, id, channelID string) error {
	row, m, err := db.rowOf(tx, id)
	if err != nil || row == 0 || m.ChannelID == channelID {
		return err
	}
	if err := db.indexed(tx, db.stmts.unindex, row, m); err != nil {
		return err
	}
	if err := db.unsummarise(tx, row); err != nil {
		return err
	}
	if _, err := tx.Exec(`UPDATE messages SET channel_id = ? WHERE rowid = ?`, channelID, row); err != nil {
		return err
	}
	if _, err := tx.Exec(`UPDATE message_vectors SET channel_id = ? WHERE message_id = ?`, channelID, id); err != nil {
		return err
	}
	db.vectors.move(id, channelID)
	m.ChannelID = channelID
	return db.indexed(tx, db.stmts.index, row, m)
}
