package memory

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"familiar/internal/store"
)

// Watermark says how far the writer of memory has read in a channel.
type Watermark struct {
	ChannelID, GuildID string // GuildID is empty in direct messages
	At                 time.Time
	MessageID          string    // of the last message that was read, or empty
	Turns              int       // of the bot since then
	Active             time.Time // when the last of them was
	Failures           int       // in a row
	Retry              time.Time // no reading before this time
}

// lookBack is how long before the first turn in a channel reading begins.
const lookBack = time.Hour

// NoteTurn counts a turn of a channel, for the writer of memory.
func (s *Store) NoteTurn(ctx context.Context, channelID, guildID string, at time.Time) error {
	return s.DB.Change(ctx, "note a turn", func(tx *sql.Tx) error { return s.NoteTurnIn(tx, channelID, guildID, at) })
}

// NoteTurnIn is [Store.NoteTurn] in a transaction of [store.DB.Write].
func (s *Store) NoteTurnIn(tx *sql.Tx, channelID, guildID string, at time.Time) error {
	_, err := tx.Exec(noteTurnQuery, channelID, guildID, at.Add(-lookBack).UnixMicro(), at.UnixMicro())
	return err
}

const noteTurnQuery = `INSERT INTO watermarks (channel_id, guild_id, at, message_id, turns, active) VALUES (?, ?, ?, '', 1, ?)
	ON CONFLICT (channel_id) DO UPDATE SET guild_id = excluded.guild_id, turns = turns + 1, active = max(active, excluded.active)`

// Watermarks returns the watermarks of the channels with new turns, the longest waiting first.
func (s *Store) Watermarks(ctx context.Context) ([]Watermark, error) {
	return store.List(ctx, s.DB, "read watermarks", scanWatermark, `SELECT `+watermarkColumns+` FROM watermarks WHERE turns > 0 ORDER BY active, channel_id`)
}

const watermarkColumns = `channel_id, guild_id, at, message_id, turns, active, failures, retry`

func scanWatermark(row store.Scanner) (w Watermark, err error) {
	err = row.Scan(&w.ChannelID, &w.GuildID, store.Micros(&w.At), &w.MessageID, &w.Turns, store.Micros(&w.Active), &w.Failures, store.Micros(&w.Retry))
	return w, err
}

// Unread returns the first n messages of a channel after a watermark, oldest first.
func (s *Store) Unread(ctx context.Context, w Watermark, n int) ([]store.Message, error) {
	return s.DB.Messages.After(ctx, w.ChannelID, w.At, w.MessageID, n)
}

// Lesson is a learned statement with its source, as the source was read.
type Lesson struct {
	Memory Statement
	Of     store.Message
}

// Learn saves what was learned from the messages of a channel and moves the watermark to last, the last message that was read. more says
// that others follow. A statement is left out, and counted as refused, if its source changed meanwhile or the consent was withdrawn. If the
// watermark has moved, Learn changes nothing and returns [store.ErrChanged].
func (s *Store) Learn(ctx context.Context, w Watermark, last store.Message, more bool, all []Lesson, counts map[string]int) error {
	return s.DB.Change(ctx, "learn", func(tx *sql.Tx) error {
		now, err := scanWatermark(tx.QueryRow(`SELECT `+watermarkColumns+` FROM watermarks WHERE channel_id = ?`, w.ChannelID))
		if errors.Is(err, sql.ErrNoRows) || err == nil && (!now.At.Equal(w.At) || now.MessageID != w.MessageID) {
			err = store.ErrChanged
		}
		if err != nil {
			return err
		}
		outcome := map[string]int{}
		for name, n := range counts {
			outcome[name] = n
		}
		for _, l := range all {
			what, err := s.saveLesson(tx, l)
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
		return s.DB.Tallies.AddIn(tx, outcome)
	})
}

// saveLesson saves a statement, and returns the name under which the result is counted.
func (s *Store) saveLesson(tx *sql.Tx, l Lesson) (counted string, err error) {
	if err = s.DB.Messages.Unchanged(tx, []store.Message{l.Of}); err == nil {
		_, err = s.saveIn(tx, l.Memory)
	}
	if l.Memory.Supersedes != 0 && errors.Is(err, store.ErrNotFound) { // the statement that it should replace is gone
		l.Memory.Supersedes = 0
		_, err = s.saveIn(tx, l.Memory)
	}
	switch {
	case err == nil:
		return "memory kept: " + string(l.Memory.Kind), nil
	case errors.Is(err, store.ErrChanged), errors.Is(err, ErrNoSource):
		return "memory refused: changed", nil
	case errors.Is(err, ErrNoConsent):
		return "memory refused: consent", nil
	}
	return "", err
}

// PutOff notes that reading after a watermark failed, and when it may be tried again.
func (s *Store) PutOff(ctx context.Context, w Watermark, retry time.Time) error {
	_, err := s.DB.Exec(ctx, "put off reading", `UPDATE watermarks SET failures = failures + 1, retry = ? WHERE channel_id = ?`, retry.UnixMicro(), w.ChannelID)
	return err
}

// MarkRead notes that nothing follows a watermark.
func (s *Store) MarkRead(ctx context.Context, w Watermark) error {
	_, err := s.DB.Exec(ctx, "mark as read", `UPDATE watermarks SET turns = max(0, turns - ?) WHERE channel_id = ?`, w.Turns, w.ChannelID)
	return err
}
