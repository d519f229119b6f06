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

// Summary is a summary of a channel's earlier messages. Changing or deleting a covered message deletes it in the same transaction.
type Summary struct {
	ChannelID       string
	GuildID         string    // empty in direct messages
	FirstAt, LastAt time.Time // of the covered messages
	LastID          string
	Messages        int // number of covered messages
	Made            time.Time
	By              string // a model, or "extractive"
	Sentences       []SummarySentence
}

// SummarySentence is one sentence of a summary, with the ids of the messages that support it.
type SummarySentence struct {
	Text    string   `json:"text"`
	Sources []string `json:"sources"`
}

const summaryColumns = `channel_id, guild_id, first_at, last_at, last_id, messages, made, maker, sentences`

func scanSummary(row Scanner) (s Summary, err error) {
	var sentences string
	if err := row.Scan(&s.ChannelID, &s.GuildID, Micros(&s.FirstAt), Micros(&s.LastAt), &s.LastID, &s.Messages, Micros(&s.Made), &s.By, &sentences); err != nil {
		return s, err
	}
	return s, json.Unmarshal([]byte(sentences), &s.Sentences)
}

// Summaries keeps one summary of earlier messages for each channel. It is deleted with the messages that it covers.
type Summaries struct{ db *DB }

// Get returns the summary of a channel, or [ErrNotFound].
func (s *Summaries) Get(ctx context.Context, channelID string) (Summary, error) {
	return One(s.db, "read summary", s.db.QueryRow(ctx, `SELECT `+summaryColumns+` FROM summaries WHERE channel_id = ?`, channelID), scanSummary)
}

// Around returns the summary of a channel, if it has one. It also returns the n latest summaries of its server without their sentences.
// There may be none. They are in this order. The caller checks who may read them.
func (s *Summaries) Around(ctx context.Context, channelID, guildID string, n int) (own Summary, others []Summary, err error) {
	all, err := ListOften(ctx, s.db, "read summaries", scanSummary, `SELECT channel_id, guild_id, first_at, last_at, last_id, messages, made, maker,
		CASE WHEN channel_id = ?1 THEN sentences ELSE '[]' END FROM summaries WHERE channel_id = ?1 OR channel_id IN (SELECT channel_id FROM summaries
			WHERE guild_id = ?2 AND guild_id <> '' ORDER BY last_at DESC, channel_id DESC LIMIT 0 + ?3)
		ORDER BY channel_id <> ?1, last_at DESC, channel_id DESC`, channelID, guildID, n)
	if len(all) > 0 && all[0].ChannelID == channelID {
		return all[0], all[1:], err
	}
	return Summary{}, all, err
}

// Save saves a summary in place of the one made at instead, or of none if that is zero. It returns [ErrChanged] if that one is gone, or if
// one of the messages in read has changed.
func (s *Summaries) Save(ctx context.Context, summary Summary, instead time.Time, read []Message) error {
	sentences, err := json.Marshal(summary.Sentences)
	if err != nil {
		return fmt.Errorf("save summary: %w", err)
	}
	return s.db.Change(ctx, "save summary", func(tx *sql.Tx) error {
		var made int64
		err := tx.QueryRow(`SELECT made FROM summaries WHERE channel_id = ?`, summary.ChannelID).Scan(&made)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if !instead.IsZero() && made != instead.UnixMicro() {
			return ErrChanged
		}
		if err := s.db.Messages.Unchanged(tx, read); err != nil {
			return err
		}
		_, err = tx.Exec(`INSERT INTO summaries (`+summaryColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (channel_id) DO UPDATE SET
			guild_id = excluded.guild_id, first_at = excluded.first_at, last_at = excluded.last_at, last_id = excluded.last_id,
			messages = excluded.messages, made = excluded.made, maker = excluded.maker, sentences = excluded.sentences`,
			summary.ChannelID, summary.GuildID, summary.FirstAt.UnixMicro(), summary.LastAt.UnixMicro(), summary.LastID, summary.Messages, summary.Made.UnixMicro(), summary.By, string(sentences))
		return err
	})
}

// Prune removes the sentences that rest on messages before that time, and returns their number. It runs before [Messages.Prune], which
// would delete each summary as a whole.
func (s *Summaries) Prune(ctx context.Context, before time.Time) (removed int, err error) {
	channels, err := List(ctx, s.db, "read summaries", ScanValue[string],
		`SELECT channel_id FROM summaries WHERE first_at < ?`, before.UnixMicro())
	if err != nil {
		return 0, err
	}
	err = WriteEach(ctx, s.db, channels, func(tx *sql.Tx, channel string) error {
		n, err := pruneSummary(tx, channel, before)
		removed += n
		return err
	})
	if err != nil {
		return removed, fmt.Errorf("prune summaries: %w", err)
	}
	return removed, nil
}

// pruneSummary removes the old sentences of one summary, unless it is gone or new by now.
func pruneSummary(tx *sql.Tx, channel string, before time.Time) (removed int, err error) {
	summary, err := scanSummary(tx.QueryRow(`SELECT `+summaryColumns+` FROM summaries WHERE channel_id = ? AND first_at < ?`, channel, before.UnixMicro()))
	if err != nil {
		return 0, unlessMissing(err)
	}
	n := len(summary.Sentences)
	if err := summary.startAt(tx, before); err != nil {
		return 0, err
	}
	removed = n - len(summary.Sentences)
	if len(summary.Sentences) == 0 || summary.LastAt.Before(before) {
		_, err = tx.Exec(`DELETE FROM summaries WHERE channel_id = ?`, channel)
		return removed, err
	}
	sentences, err := json.Marshal(summary.Sentences)
	if err != nil {
		return 0, err
	}
	_, err = tx.Exec(`UPDATE summaries SET first_at = ?, sentences = ? WHERE channel_id = ?`, before.UnixMicro(), string(sentences), channel)
	return removed, err
}

// startAt removes the sentences with a source that is older than before, or gone.
func (s *Summary) startAt(tx *sql.Tx, before time.Time) (err error) {
	s.Sentences = slices.DeleteFunc(s.Sentences, func(sentence SummarySentence) bool {
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

// All returns the summaries of all channels.
func (s *Summaries) All(ctx context.Context) ([]Summary, error) {
	return List(ctx, s.db, "read summaries", scanSummary, `SELECT `+summaryColumns+` FROM summaries`)
}
