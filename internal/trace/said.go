package trace

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"familiar/internal/context/turn"
	"familiar/internal/store"
	"familiar/internal/text"
)

// said is what a turn that is over is found by, beside its line.
func (s *Store) said(t *turn.Trace) string {
	return text.Truncate(s.redact(t.Request.Message.Text), mostAsked) + "\n" + text.Truncate(s.redact(t.Reply), mostReplied)
}

const (
	// saidNote is the note of the row below which records may still have no words of their replies, as those of older versions have none. 0: none has.
	saidNote = "records.said"
	// saidBatch is how many records are given them in one transaction, in about 10 ms.
	saidBatch = 32
)

// IndexReplies has the records of older versions found by the words of their replies too, the newest first. Where it is ended, the next call goes on.
func (s *Store) IndexReplies(ctx context.Context) error {
	for {
		due, err := s.dueReplies(ctx)
		if err == nil && due > 0 {
			due, err = s.indexReplies(ctx, due)
		}
		if err == nil && due > 0 {
			continue
		}
		if err != nil {
			return fmt.Errorf("index the words of replies: %w", s.DB.Explain(err))
		}
		return nil
	}
}

// dueReplies reads the note.
func (s *Store) dueReplies(ctx context.Context) (due int64, err error) {
	note, err := s.DB.Note(ctx, saidNote)
	if errors.Is(err, store.ErrNotFound) {
		err = s.DB.Read().QueryRowContext(ctx, `SELECT coalesce(max(rowid), 0) + 1 FROM traces`).Scan(&due)
		return due, err
	}
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(note, 10, 64)
}

// unsaid is a record without the words of its reply.
type unsaid struct {
	id, said string
	body     []byte // of which they are
}

// indexReplies goes through some records below a row, and returns below which row to go on, 0 if there are no more.
func (s *Store) indexReplies(ctx context.Context, due int64) (next int64, err error) {
	rows, err := s.DB.Read().QueryContext(ctx, `SELECT rowid, id FROM traces WHERE rowid < ? AND said = '' AND phase NOT IN ('begun', 'answering') ORDER BY rowid DESC LIMIT ?`, due, saidBatch)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	var all []unsaid
	for rows.Next() {
		var one unsaid
		if err := rows.Scan(&next, &one.id); err != nil {
			return 0, err
		}
		all = append(all, one)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return 0, err
	}
	if len(all) < saidBatch {
		next = 0
	}
	for i := range all {
		_, body, err := readBody(s.DB.Read().QueryContext(ctx, bodyQuery+`WHERE t.id = ? ORDER BY p.id`, all[i].id))
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return 0, err
		}
		if t, err := s.decode(body); err == nil { // what cannot be read nobody finds
			all[i].body, all[i].said = body, s.said(t)
		}
	}
	if err := s.DB.WriteStep(ctx, func(tx *sql.Tx) error { return say(tx, all) }); err != nil {
		return 0, err
	}
	return next, s.DB.SetNote(ctx, saidNote, strconv.FormatInt(next, 10))
}

// say gives records their words, but those that were changed or deleted meanwhile: who changed them has done so.
func say(tx *sql.Tx, all []unsaid) error {
	for _, one := range all {
		if one.body == nil {
			continue
		}
		_, now, err := readBody(tx.Query(bodyQuery+`WHERE t.id = ? ORDER BY p.id`, one.id))
		if errors.Is(err, store.ErrNotFound) || err == nil && !slices.Equal(now, one.body) {
			continue
		}
		if err == nil {
			_, err = tx.Exec(`UPDATE traces SET said = ? WHERE id = ?`, one.said, one.id)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
