package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Watermark is how far the writer of memory has read in a channel.
type Watermark struct {
	ChannelID, GuildID string // GuildID is empty of direct messages
	At                 time.Time
	MessageID          string    // of the last message that was read; empty: none was yet
	Turns              int       // that the bot took since then
	Active             time.Time // when the last of them was
	Failures           int       // in a row
	Retry              time.Time // it is not read on before
}

// lookBack is how far before the first turn in a channel it is read.
const lookBack = time.Hour

// NoteTurn counts a turn of a channel, for the writer of memory.
func (db *DB) NoteTurn(ctx context.Context, channelID, guildID string, at time.Time) error {
	err := db.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.Stmt(db.stmts.noteTurn).Exec(channelID, guildID, at.Add(-lookBack).UnixMicro(), at.UnixMicro())
		return err
	})
	if err != nil {
		return fmt.Errorf("note a turn: %w", err)
	}
	return nil
}

const noteTurnQuery = `INSERT INTO watermarks (channel_id, guild_id, at, message_id, turns, active) VALUES (?, ?, ?, '', 1, ?)
	ON CONFLICT (channel_id) DO UPDATE SET guild_id = excluded.guild_id, turns = turns + 1, active = max(active, excluded.active)`

// Watermarks returns those of the channels in which the bot took a turn since, those first that wait longest.
func (db *DB) Watermarks(ctx context.Context) ([]Watermark, error) {
	rows, err := db.readers.QueryContext(ctx, `SELECT `+watermarkColumns+` FROM watermarks WHERE turns > 0 ORDER BY active, channel_id`)
	return collect(db, "read watermarks", rows, err, scanWatermark)
}

const watermarkColumns = `channel_id, guild_id, at, message_id, turns, active, failures, retry`

func scanWatermark(row scanner) (w Watermark, err error) {
	var at, active, retry int64
	err = row.Scan(&w.ChannelID, &w.GuildID, &at, &w.MessageID, &w.Turns, &active, &w.Failures, &retry)
	w.At, w.Active, w.Retry = time.UnixMicro(at).UTC(), time.UnixMicro(active).UTC(), time.UnixMicro(retry).UTC()
	return w, err
}

// After returns the first n messages of a channel behind a watermark, oldest first.
func (db *DB) After(ctx context.Context, w Watermark, n int) ([]Message, error) {
	rows, err := db.readers.QueryContext(ctx, `SELECT `+columns+` FROM messages WHERE channel_id = ? AND (at, id) > (?, ?) ORDER BY at, id LIMIT 0 + ?`,
		w.ChannelID, w.At.UnixMicro(), w.MessageID, n)
	return collect(db, "read messages behind a watermark", rows, err, scan)
}

// Lesson is a statement that was learned, with the message that it rests on, as it was read.
type Lesson struct {
	Memory Memory
	Of     Message
}

// Learn keeps what was learned from messages of a channel and moves the watermark, or does neither. The message last is the last that was
// read; more says that others are there. What a statement rests on may have gone or changed meanwhile, and consent may have been taken back: then it
// is left out, and counted among the others. The error is [ErrChanged] if the watermark is elsewhere.
func (db *DB) Learn(ctx context.Context, w Watermark, last Message, more bool, all []Lesson, counts map[string]int) error {
	err := db.Write(ctx, func(tx *sql.Tx) error {
		now, err := scanWatermark(tx.QueryRow(`SELECT `+watermarkColumns+` FROM watermarks WHERE channel_id = ?`, w.ChannelID))
		if errors.Is(err, sql.ErrNoRows) || err == nil && (!now.At.Equal(w.At) || now.MessageID != w.MessageID) {
			err = ErrChanged
		}
		if err != nil {
			return err
		}
		outcome := map[string]int{}
		for name, n := range counts {
			outcome[name] = n
		}
		for _, l := range all {
			what, err := db.learn(tx, l)
			if err != nil {
				return err
			}
			outcome[what]++
		}
		left := max(0, now.Turns-w.Turns)
		if more {
			left = max(left, 1)
		}
		if _, err := tx.Exec(`UPDATE watermarks SET at = ?, message_id = ?, turns = ?, failures = 0, retry = 0 WHERE channel_id = ?`,
			last.At.UnixMicro(), last.ID, left, w.ChannelID); err != nil {
			return err
		}
		return tally(tx, outcome)
	})
	if err != nil {
		return fmt.Errorf("learn: %w", err)
	}
	return nil
}

// learn keeps a statement, and returns the name under which that is counted.
func (db *DB) learn(tx *sql.Tx, l Lesson) (counted string, err error) {
	if err = db.unchanged(tx, []Message{l.Of}); err == nil {
		_, err = db.RememberIn(tx, l.Memory)
	}
	if l.Memory.Supersedes != 0 && errors.Is(err, ErrNotFound) { // what it was to replace is gone
		l.Memory.Supersedes = 0
		_, err = db.RememberIn(tx, l.Memory)
	}
	switch {
	case err == nil:
		return "memory kept: " + string(l.Memory.Kind), nil
	case errors.Is(err, ErrChanged), errors.Is(err, ErrNoSource):
		return "memory refused: changed", nil
	case errors.Is(err, ErrNoConsent):
		return "memory refused: consent", nil
	}
	return "", err
}

// LearnLater notes that the messages behind a watermark could not be read, and until when that is not tried again.
func (db *DB) LearnLater(ctx context.Context, w Watermark, retry time.Time) error {
	_, err := db.exec(ctx, "put off reading", `UPDATE watermarks SET failures = failures + 1, retry = ? WHERE channel_id = ?`, retry.UnixMicro(), w.ChannelID)
	return err
}

// Settled notes that there is nothing behind a watermark.
func (db *DB) Settled(ctx context.Context, w Watermark) error {
	_, err := db.exec(ctx, "settle a watermark", `UPDATE watermarks SET turns = max(0, turns - ?) WHERE channel_id = ?`, w.Turns, w.ChannelID)
	return err
}
