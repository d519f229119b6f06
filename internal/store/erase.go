package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// BeginErasure notes that a person is being forgotten. From then on nothing that they did up to that time is kept, whichever goroutine or
// process is about to write it. A restart resumes the erasure until [Privacy.EndErasure].
func (s *Privacy) BeginErasure(ctx context.Context, personID string, byOperator bool, at time.Time) error {
	return s.db.Change(ctx, "begin to forget a person", func(tx *sql.Tx) error {
		s.db.standings.Store(true)
		_, err := tx.Exec(`INSERT INTO privacy (who, opted_out, forgotten) VALUES (?, 0, ?) ON CONFLICT (who) DO UPDATE SET forgotten = max(forgotten, excluded.forgotten)`,
			s.Pseudonym(personID), at.UnixMicro())
		if err == nil {
			_, err = tx.Exec(`INSERT INTO erasures (person_id, at, by_operator) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`, personID, at.UnixMicro(), byOperator)
		}
		return err
	})
}

// Erasure is a request to forget a person.
type Erasure struct {
	PersonID   string
	At         time.Time // everything up to this time is forgotten
	ByOperator bool      // the operator asked for it, not the person
}

// Erasures returns the requests that are not finished, oldest first. An earlier process may have left them.
func (s *Privacy) Erasures(ctx context.Context) ([]Erasure, error) {
	return List(ctx, s.db, "read who is being forgotten", func(row Scanner) (e Erasure, err error) {
		err = row.Scan(&e.PersonID, micros{&e.At}, &e.ByOperator)
		return e, err
	}, `SELECT person_id, at, by_operator FROM erasures ORDER BY at`)
}

// EndErasure overwrites the bytes that deleting left behind, see [DB.Scrub], and records that the person was forgotten and who asked.
func (s *Privacy) EndErasure(ctx context.Context, personID string) error {
	if err := s.db.Scrub(ctx); err != nil {
		return err
	}
	err := s.db.Write(ctx, func(tx *sql.Tx) error {
		var byOperator bool
		err := tx.QueryRow(`DELETE FROM erasures WHERE person_id = ? RETURNING by_operator`, personID).Scan(&byOperator)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		return s.logAct(tx, personID, ActForget, byOperator, time.Now())
	})
	if err != nil {
		return fmt.Errorf("put on record that a person was forgotten: %w", err)
	}
	return s.db.Explain(s.db.emptyLog(ctx)) // their id was there until now
}

// EraseEvents deletes the events of a person that wait for an answer, and takes the person's messages out of the waiting events of others.
// Events after the time before stay; the zero time means that none does. It returns how many events those are, and changes nothing if it
// only counts.
func (s *Claims) EraseEvents(ctx context.Context, personID string, before time.Time, onlyCount bool) (n int, err error) {
	theirs := func(w written) bool { return w.id == personID && (before.IsZero() || !w.at.After(before)) }
	changes := map[string]string{} // by claim: the new event, empty to delete the claim
	err = s.db.Each(ctx, `SELECT event_id, event FROM claims WHERE state <> 'done'`, nil, func(scan func(...any) error) (err error) {
		var id, event string
		if err := scan(&id, &event); err != nil {
			return err
		}
		message, reply := authorsOf(event)
		switch {
		case theirs(message):
			changes[id] = ""
		case theirs(reply):
			changes[id], err = withoutReply(event)
		}
		return err
	})
	if err != nil || onlyCount {
		return len(changes), err
	}
	err = s.db.Write(ctx, func(tx *sql.Tx) error {
		for id, event := range changes {
			query, args := `UPDATE claims SET event = ? WHERE event_id = ? AND state <> 'done'`, []any{event, id}
			if event == "" {
				query, args = `DELETE FROM claims WHERE event_id = ? AND state <> 'done'`, []any{id}
			}
			if _, err := tx.Exec(query, args...); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("erase events: %w", err)
	}
	return len(changes), nil
}
