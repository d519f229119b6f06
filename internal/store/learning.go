package store

import (
	"context"
	"database/sql"
	"errors"
	"time"
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
func (s *Learning) NoteTurn(ctx context.Context, channelID, guildID string, at time.Time) error {
	return s.db.change(ctx, "note a turn", func(tx *sql.Tx) error {
		_, err := s.db.stmt(tx, noteTurnQuery).Exec(channelID, guildID, at.Add(-lookBack).UnixMicro(), at.UnixMicro())
		return err
	})
}

const noteTurnQuery = `INSERT INTO watermarks (channel_id, guild_id, at, message_id, turns, active) VALUES (?, ?, ?, '', 1, ?)
	ON CONFLICT (channel_id) DO UPDATE SET guild_id = excluded.guild_id, turns = turns + 1, active = max(active, excluded.active)`

// Watermarks returns the watermarks of the channels with new turns, the longest waiting first.
func (s *Learning) Watermarks(ctx context.Context) ([]Watermark, error) {
	return list(ctx, s.db, "read watermarks", scanWatermark, `SELECT `+watermarkColumns+` FROM watermarks WHERE turns > 0 ORDER BY active, channel_id`)
}

const watermarkColumns = `channel_id, guild_id, at, message_id, turns, active, failures, retry`

func scanWatermark(row scanner) (w Watermark, err error) {
	err = row.Scan(&w.ChannelID, &w.GuildID, micros{&w.At}, &w.MessageID, &w.Turns, micros{&w.Active}, &w.Failures, micros{&w.Retry})
	return w, err
}

// Unread returns the first n messages of a channel after a watermark, oldest first.
func (s *Learning) Unread(ctx context.Context, w Watermark, n int) ([]Message, error) {
	return list(ctx, s.db, "read messages behind a watermark", scan, `SELECT `+columns+` FROM messages WHERE channel_id = ? AND (at, id) > (?, ?) ORDER BY at, id LIMIT 0 + ?`,
		w.ChannelID, w.At.UnixMicro(), w.MessageID, n)
}

// Lesson is a learned statement with its source, as the source was read.
type Lesson struct {
	Memory Memory
	Of     Message
}

// Save saves what was learned from the messages of a channel and moves the watermark to last, the last message that was read. more says
// that others follow. A statement is left out, and counted as refused, if its source changed meanwhile or the consent was withdrawn. If the
// watermark has moved, Save changes nothing and returns [ErrChanged].
func (s *Learning) Save(ctx context.Context, w Watermark, last Message, more bool, all []Lesson, counts map[string]int) error {
	return s.db.change(ctx, "learn", func(tx *sql.Tx) error {
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
		return tally(tx, outcome)
	})
}

// saveLesson saves a statement, and returns the name under which the result is counted.
func (s *Learning) saveLesson(tx *sql.Tx, l Lesson) (counted string, err error) {
	if err = s.db.Messages.unchanged(tx, []Message{l.Of}); err == nil {
		_, err = s.db.Memories.SaveIn(tx, l.Memory)
	}
	if l.Memory.Supersedes != 0 && errors.Is(err, ErrNotFound) { // the statement that it should replace is gone
		l.Memory.Supersedes = 0
		_, err = s.db.Memories.SaveIn(tx, l.Memory)
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

// PutOff notes that reading after a watermark failed, and when it may be tried again.
func (s *Learning) PutOff(ctx context.Context, w Watermark, retry time.Time) error {
	_, err := s.db.exec(ctx, "put off reading", `UPDATE watermarks SET failures = failures + 1, retry = ? WHERE channel_id = ?`, retry.UnixMicro(), w.ChannelID)
	return err
}

// MarkRead notes that nothing follows a watermark.
func (s *Learning) MarkRead(ctx context.Context, w Watermark) error {
	_, err := s.db.exec(ctx, "mark as read", `UPDATE watermarks SET turns = max(0, turns - ?) WHERE channel_id = ?`, w.Turns, w.ChannelID)
	return err
}

// Tally adds to the counts, by name, of kept and refused statements of models.
func (s *Learning) Tally(ctx context.Context, counts map[string]int) error {
	return s.db.change(ctx, "count statements", func(tx *sql.Tx) error { return tally(tx, counts) })
}

func tally(tx *sql.Tx, counts map[string]int) error {
	for name, n := range counts {
		if _, err := tx.Exec(`INSERT INTO tallies (name, n) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET n = n + excluded.n`, name, n); err != nil {
			return err
		}
	}
	return nil
}

// Tallies returns the counts of [Learning.Tally], by name.
func (s *Learning) Tallies(ctx context.Context) (map[string]int, error) {
	type count struct {
		name string
		n    int
	}
	rows, err := s.db.readers.QueryContext(ctx, `SELECT name, n FROM tallies`)
	all, err := collect(s.db, "read counts", rows, err, func(row scanner) (c count, err error) {
		err = row.Scan(&c.name, &c.n)
		return c, err
	})
	counts := map[string]int{}
	for _, c := range all {
		counts[c.name] = c.n
	}
	return counts, err
}
