package trace

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"familiar/internal/context/turn"
)

// Summary is a record's line in a list of turns.
type Summary struct {
	ID        string
	Began     time.Time     // to the microsecond, in UTC
	Took      time.Duration // to the microsecond; 0 if it is not over
	ChannelID string
	Author    string // who asked
	Question  string // one line, at most 120 characters
	Phase     turn.Phase
	Lookup    turn.State // of the first lookup; empty if there was none
	Model     string     // who answered
	Err       string

	said string // what the turn is found by, beside the line; not read again
}

// summaryColumns are in the order of upsert and Recent.
const summaryColumns = `id, began, took, channel_id, author, question, phase, lookup, model, err`

// summarise makes the line of a turn. asked is its message as it may be kept: what is shortened shows no secret by its half.
func summarise(t *turn.Trace, asked string) Summary {
	s := Summary{
		ID:        t.Request.ID,
		Began:     t.Began,
		Took:      t.Took,
		ChannelID: t.Request.ChannelID,
		Author:    t.Request.Message.Author.Name,
		Question:  shorten(asked),
		Phase:     t.Phase,
		Model:     t.Model,
		Err:       t.Err,
	}
	if l := t.Lookup(); l != nil {
		s.Lookup = l.State
	}
	return s
}

// shorten makes one line of a question.
func shorten(text string) string {
	const limit = 120
	line := []rune(strings.Join(strings.Fields(text), " "))
	if len(line) > limit {
		line = append(line[:limit-1], '…')
	}
	return string(line)
}

// Recent returns the last n turns of a channel, or of all channels if channelID is empty, newest first.
func (s *Store) Recent(ctx context.Context, channelID string, n int) ([]Summary, error) {
	var rows *sql.Rows
	var err error
	const order = ` ORDER BY began DESC, id DESC LIMIT ?`
	if channelID == "" {
		rows, err = s.DB.Read().QueryContext(ctx, `SELECT `+summaryColumns+` FROM traces`+order, n)
	} else {
		rows, err = s.DB.Read().QueryContext(ctx, `SELECT `+summaryColumns+` FROM traces WHERE channel_id = ?`+order, channelID, n)
	}
	if err != nil {
		return nil, fmt.Errorf("list traces: %w", s.DB.Explain(err))
	}
	all, err := summaries(rows)
	if err != nil {
		return nil, fmt.Errorf("list traces: %w", s.DB.Explain(err))
	}
	return all, nil
}

// summaries reads rows of summaryColumns and closes them.
func summaries(rows *sql.Rows) (all []Summary, err error) {
	defer rows.Close()
	for rows.Next() {
		var t Summary
		var began, took int64
		if err := rows.Scan(&t.ID, &began, &took, &t.ChannelID, &t.Author, &t.Question, &t.Phase, &t.Lookup, &t.Model, &t.Err); err != nil {
			return nil, err
		}
		t.Began, t.Took = time.UnixMicro(began).UTC(), time.Duration(took)*time.Microsecond
		all = append(all, t)
	}
	return all, rows.Err()
}
