package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// ErrChanged says that messages on which something was to rest are not what they were when they were read.
var ErrChanged = errors.New("changed meanwhile")

// Summary is what was said before in a channel. It does not outlive any message that it covers: whoever deletes or changes one
// deletes it, in the same transaction.
type Summary struct {
	ChannelID       string
	GuildID         string    // empty of direct messages
	FirstAt, LastAt time.Time // of the messages that it covers
	LastID          string
	Messages        int // that it covers
	Made            time.Time
	By              string // a model, or "extractive"
	Sentences       []Sentence
}

// Sentence is one sentence of a summary, with the ids of the messages that bear it out.
type Sentence struct {
	Text    string   `json:"text"`
	Sources []string `json:"sources"`
}

const summaryColumns = `channel_id, guild_id, first_at, last_at, last_id, messages, made, maker, sentences`

func scanSummary(row scanner) (s Summary, err error) {
	var first, last, made int64
	var sentences string
	if err := row.Scan(&s.ChannelID, &s.GuildID, &first, &last, &s.LastID, &s.Messages, &made, &s.By, &sentences); err != nil {
		return s, err
	}
	s.FirstAt, s.LastAt, s.Made = time.UnixMicro(first).UTC(), time.UnixMicro(last).UTC(), time.UnixMicro(made).UTC()
	return s, json.Unmarshal([]byte(sentences), &s.Sentences)
}

// Summary returns that of a channel, or [ErrNotFound].
func (db *DB) Summary(ctx context.Context, channelID string) (Summary, error) {
	s, err := queryRow(ctx, db, scanSummary, `SELECT `+summaryColumns+` FROM summaries WHERE channel_id = ?`, channelID)
	if err != nil {
		return Summary{}, fmt.Errorf("read summary: %w", db.Explain(err))
	}
	return s, nil
}

// Summarised is a channel that has a summary.
type Summarised struct {
	ChannelID string
	LastAt    time.Time // of the messages that it covers
}

// Summarised returns up to n channels of a server, those first whose summaries go on longest. Who may read them the caller finds out.
func (db *DB) Summarised(ctx context.Context, guildID string, n int) ([]Summarised, error) {
	if guildID == "" {
		return nil, nil
	}
	rows, err := db.query(ctx, `SELECT channel_id, last_at FROM summaries WHERE guild_id = ? ORDER BY last_at DESC, channel_id DESC LIMIT 0 + ?`, guildID, n)
	return collect(db, "list summaries", rows, err, func(row scanner) (s Summarised, err error) {
		var last int64
		err = row.Scan(&s.ChannelID, &last)
		s.LastAt = time.UnixMicro(last).UTC()
		return s, err
	})
}

// SaveSummary keeps a summary in place of the one that was made then, the zero time for none. It fails with [ErrChanged] if
// that one is not there any more, or if a message that was read for it is not what it was.
func (db *DB) SaveSummary(ctx context.Context, s Summary, instead time.Time, read []Message) error {
	sentences, err := json.Marshal(s.Sentences)
	if err != nil {
		return fmt.Errorf("save summary: %w", err)
	}
	err = db.Write(ctx, func(tx *sql.Tx) error {
		var made int64
		err := tx.QueryRow(`SELECT made FROM summaries WHERE channel_id = ?`, s.ChannelID).Scan(&made)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if !instead.IsZero() && made != instead.UnixMicro() {
			return ErrChanged
		}
		if err := db.unchanged(tx, read); err != nil {
			return err
		}
		_, err = tx.Exec(`INSERT INTO summaries (`+summaryColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (channel_id) DO UPDATE SET
			guild_id = excluded.guild_id, first_at = excluded.first_at, last_at = excluded.last_at, last_id = excluded.last_id,
			messages = excluded.messages, made = excluded.made, maker = excluded.maker, sentences = excluded.sentences`,
			s.ChannelID, s.GuildID, s.FirstAt.UnixMicro(), s.LastAt.UnixMicro(), s.LastID, s.Messages, s.Made.UnixMicro(), s.By, string(sentences))
		return err
	})
	if err != nil {
		return fmt.Errorf("save summary: %w", err)
	}
	return nil
}

// unchanged fails with [ErrChanged] if a message is not there as it was read.
func (db *DB) unchanged(tx *sql.Tx, read []Message) error {
	for _, m := range read {
		row, now, err := db.rowOf(tx, m.ID)
		if err != nil {
			return err
		}
		if row == 0 || now.Text != m.Text {
			return ErrChanged
		}
	}
	return nil
}

// unsummarise deletes the summary that covers the message in a row, which is about to go or to change.
func (db *DB) unsummarise(tx *sql.Tx, row int64) error {
	_, err := tx.Stmt(db.stmts.unsummarise).Exec(row, row)
	return err
}

const unsummariseQuery = `DELETE FROM summaries WHERE channel_id = (SELECT channel_id FROM messages WHERE rowid = ?)
	AND (SELECT at FROM messages WHERE rowid = ?) BETWEEN first_at AND last_at`

// PruneSummaries takes out of the summaries what rests on messages written before that time, and returns how many sentences those
// were. It goes before [DB.PruneMessages], which would delete the whole of each.
func (db *DB) PruneSummaries(ctx context.Context, before time.Time) (removed int, err error) {
	err = db.Write(ctx, func(tx *sql.Tx) error {
		removed = 0
		rows, err := tx.Query(`SELECT `+summaryColumns+` FROM summaries WHERE first_at < ?`, before.UnixMicro())
		old, err := collect(db, "read summaries", rows, err, scanSummary)
		if err != nil {
			return err
		}
		for _, s := range old {
			n := len(s.Sentences)
			if err := s.startAt(tx, before); err != nil {
				return err
			}
			removed += n - len(s.Sentences)
			sentences, err := json.Marshal(s.Sentences)
			if err != nil {
				return err
			}
			if len(s.Sentences) == 0 || s.LastAt.Before(before) {
				_, err = tx.Exec(`DELETE FROM summaries WHERE channel_id = ?`, s.ChannelID)
			} else {
				_, err = tx.Exec(`UPDATE summaries SET first_at = ?, sentences = ? WHERE channel_id = ?`, before.UnixMicro(), string(sentences), s.ChannelID)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("prune summaries: %w", err)
	}
	return removed, nil
}

// startAt leaves out the sentences that rest on a message of before, or on none that is kept.
func (s *Summary) startAt(tx *sql.Tx, before time.Time) (err error) {
	s.Sentences = slices.DeleteFunc(s.Sentences, func(sentence Sentence) bool {
		return slices.ContainsFunc(sentence.Sources, func(id string) bool {
			var at int64
			found := tx.QueryRow(`SELECT at FROM messages WHERE id = ?`, id).Scan(&at)
			if found != nil && !errors.Is(found, sql.ErrNoRows) {
				err = found
			}
			return found != nil || at < before.UnixMicro()
		})
	})
	return err
}

// Tally adds to counts, by name, of what becomes of what models say of messages.
func (db *DB) Tally(ctx context.Context, counts map[string]int) error {
	err := db.Write(ctx, func(tx *sql.Tx) error { return tally(tx, counts) })
	if err != nil {
		return fmt.Errorf("count statements: %w", err)
	}
	return nil
}

func tally(tx *sql.Tx, counts map[string]int) error {
	for name, n := range counts {
		if _, err := tx.Exec(`INSERT INTO tallies (name, n) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET n = n + excluded.n`, name, n); err != nil {
			return err
		}
	}
	return nil
}

// Tallies returns what [DB.Tally] has counted, by name.
func (db *DB) Tallies(ctx context.Context) (map[string]int, error) {
	type count struct {
		name string
		n    int
	}
	rows, err := db.readers.QueryContext(ctx, `SELECT name, n FROM tallies`)
	all, err := collect(db, "read counts", rows, err, func(row scanner) (c count, err error) {
		err = row.Scan(&c.name, &c.n)
		return c, err
	})
	counts := map[string]int{}
	for _, c := range all {
		counts[c.name] = c.n
	}
	return counts, err
}
