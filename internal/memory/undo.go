package memory

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/store"
	"familiar/internal/text"
)

// UndoFor is how long a person can undo what an order changed.
const UndoFor = 24 * time.Hour

// Undo is what brings back what a person's order changed in memory.
type Undo struct {
	TurnID     string // of the order
	PersonID   string
	GuildID    string
	At         time.Time
	Everything bool // the person had everything forgotten: when the undo is due, they are forgotten everywhere
	Reversal
}

// Reversal is how memory was before an order.
type Reversal struct {
	Added []int64           `json:"added,omitempty"` // statements that were not there
	Gone  []Statement       `json:"gone,omitempty"`  // statements that were there
	Card  map[string]string `json:"card,omitempty"`  // fields of the person's card with the values that they had

	Set       []int64          `json:"set,omitempty"`       // reminders that were not there
	Cancelled []store.Reminder `json:"cancelled,omitempty"` // reminders that were there
}

// SaveUndo keeps what undoes an order, beside what undoes other orders of its turn.
func (s *Store) SaveUndo(ctx context.Context, u Undo) error {
	err := s.DB.Write(ctx, func(tx *sql.Tx) error { return s.saveUndoIn(tx, u) })
	if err != nil {
		return fmt.Errorf("keep what undoes an order: %w", err)
	}
	return nil
}

func (s *Store) saveUndoIn(tx *sql.Tx, u Undo) error {
	if err := s.DB.Privacy.Consenting(tx, u.PersonID, u.At); err != nil {
		return err
	}
	before, err := s.undoIn(tx, u.TurnID, u.PersonID)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	gone := before.Gone
	for _, m := range u.Gone {
		lineage, err := lineageIn(tx, m)
		if err != nil {
			return err
		}
		gone = append(gone, lineage...)
	}
	u.Added, u.Gone, u.Everything = append(before.Added, u.Added...), gone, before.Everything || u.Everything
	u.Set, u.Cancelled = append(before.Set, u.Set...), append(before.Cancelled, u.Cancelled...)
	card := maps.Clone(u.Card)
	if card == nil {
		card = map[string]string{}
	}
	maps.Copy(card, before.Card) // the values from before the first order
	u.Card = card
	changes, err := json.Marshal(u.Reversal)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO undos (turn_id, person_id, guild_id, at, due, everything, changes) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (turn_id) DO UPDATE SET everything = excluded.everything, changes = excluded.changes, due = excluded.due WHERE undos.person_id = excluded.person_id`,
		u.TurnID, u.PersonID, u.GuildID, u.At.UnixMicro(), u.At.Add(UndoFor).UnixMicro(), u.Everything, string(changes))
	return err
}

func (s *Store) undoIn(tx *sql.Tx, turnID, personID string) (u Undo, err error) {
	var changes string
	err = tx.QueryRow(`SELECT turn_id, person_id, guild_id, at, everything, changes FROM undos WHERE turn_id = ? AND person_id = ?`, turnID, personID).
		Scan(&u.TurnID, &u.PersonID, &u.GuildID, store.Micros(&u.At), &u.Everything, &changes)
	if errors.Is(err, sql.ErrNoRows) {
		return u, store.ErrNotFound
	}
	if err == nil {
		err = json.Unmarshal([]byte(changes), &u.Reversal)
	}
	return u, err
}

// LatestUndo returns the turn of the person's last order that can be undone at a time, or [store.ErrNotFound].
func (s *Store) LatestUndo(ctx context.Context, personID string, now time.Time) (turnID string, err error) {
	all, err := store.List(ctx, s.DB, "read what undoes orders", store.ScanValue[string], `SELECT turn_id FROM undos WHERE person_id = ? AND due > ? ORDER BY at DESC, turn_id DESC LIMIT 1`,
		personID, now.UnixMicro())
	if err == nil && len(all) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return "", err
	}
	return all[0], nil
}

// Undo undoes what the orders of a turn changed, unless it is due. A statement whose message is gone does not come back. The error is
// [store.ErrNotFound] if there is nothing to undo.
func (s *Store) Undo(ctx context.Context, turnID, personID string, now time.Time) error {
	defer s.DB.Settings.Changed()
	err := s.DB.Write(ctx, func(tx *sql.Tx) error {
		u, err := s.undoIn(tx, turnID, personID)
		if err != nil {
			return err
		}
		if !now.Before(u.At.Add(UndoFor)) {
			return store.ErrNotFound
		}
		for _, id := range slices.Backward(u.Added) {
			if m, err := statementIn(tx, id); err == nil && !m.Superseded && m.By == personID {
				if err := s.takeBack(tx, m); err != nil {
					return err
				}
			}
		}
		for _, m := range u.Gone {
			if err := s.bringBack(tx, m); err != nil {
				return err
			}
		}
		for field, value := range u.Card {
			if err := s.setCardIn(tx, personID, field, value, u.At); err != nil {
				return err
			}
		}
		if err := s.undoReminders(tx, u, now); err != nil {
			return err
		}
		_, err = tx.Exec(`DELETE FROM undos WHERE turn_id = ?`, turnID)
		return err
	})
	if err != nil {
		return fmt.Errorf("undo an order: %w", err)
	}
	return nil
}

// undoReminders cancels the reminders that an order set. It sets again those that it cancelled, unless their time is over.
func (s *Store) undoReminders(tx *sql.Tx, u Undo, now time.Time) error {
	err := s.DB.Reminders.DropIn(tx, u.PersonID, u.Set...)
	for _, r := range u.Cancelled {
		if err == nil && r.At.After(now) {
			_, err = s.DB.Reminders.SetIn(tx, r)
		}
		if isRefusal(err) {
			err = nil
		}
	}
	return err
}

// takeBack deletes a statement. What it replaced holds again, with its history.
func (s *Store) takeBack(tx *sql.Tx, m Statement) error {
	replaced := m.Supersedes
	if _, err := tx.Exec(`UPDATE memories SET supersedes = 0 WHERE id = ?`, m.ID); err != nil {
		return err
	}
	if err := s.drop(tx, m.ID); err != nil || replaced == 0 {
		return err
	}
	old, err := statementIn(tx, replaced)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err == nil {
		_, err = tx.Exec(`UPDATE memories SET superseded = FALSE, pinned = ? WHERE id = ?`, m.Pinned, old.ID)
	}
	if err == nil {
		_, err = tx.Exec(indexMemory, old.ID, old.indexed())
	}
	return err
}

// bringBack saves a statement again if it went. The statements of a lineage come back one after the other, so that each replaces the one
// before it.
func (s *Store) bringBack(tx *sql.Tx, m Statement) error {
	if _, err := statementIn(tx, m.ID); err == nil {
		return nil
	}
	m.Superseded = false
	if _, err := statementIn(tx, m.Supersedes); err != nil {
		m.Supersedes = 0
	}
	if _, err := s.saveIn(tx, m); err != nil && !isRefusal(err) {
		return err
	}
	return nil
}

// lineageIn returns a statement after those that it replaced, the oldest first.
func lineageIn(tx *sql.Tx, m Statement) (all []Statement, err error) {
	for all = []Statement{m}; err == nil && m.Supersedes != 0; {
		if m, err = statementIn(tx, m.Supersedes); err == nil {
			all = append([]Statement{m}, all...)
		}
	}
	if errors.Is(err, store.ErrNotFound) {
		err = nil
	}
	return all, err
}

// isRefusal reports whether an error says that a statement may not be kept, or not any more.
func isRefusal(err error) bool {
	return errors.Is(err, ErrNoSource) || errors.Is(err, ErrNoConsent) || errors.Is(err, store.ErrTooMany) || errors.Is(err, store.ErrOptedOut)
}

// ForgetEverything deletes all statements about a person or at their request, their card and their reminders. It can be undone. It returns how many statements
// there were. When it can no longer be undone, [Store.Due] names the person.
func (s *Store) ForgetEverything(ctx context.Context, u Undo) (n int, err error) {
	defer s.DB.Settings.Changed()
	err = s.DB.Write(ctx, func(tx *sql.Tx) error {
		ids, err := s.idsOf(tx, u.PersonID)
		if err != nil {
			return err
		}
		u.Everything, u.Reversal = true, Reversal{}
		for _, id := range ids {
			m, err := statementIn(tx, id)
			if err != nil {
				return err
			}
			u.Gone = append(u.Gone, m)
		}
		if u.Card, err = s.cardIn(tx, u.PersonID); err != nil {
			return err
		}
		if u.Cancelled, err = s.DB.Reminders.OfIn(tx, u.PersonID); err != nil {
			return err
		}
		if err := s.saveUndoIn(tx, u); err != nil {
			return err
		}
		for _, id := range ids {
			if err := s.drop(tx, id); err != nil {
				return err
			}
		}
		for _, r := range u.Cancelled {
			if err := s.DB.Reminders.DropIn(tx, u.PersonID, r.ID); err != nil {
				return err
			}
		}
		n = len(ids)
		if _, err := tx.Exec(`DELETE FROM undos WHERE person_id = ? AND NOT everything`, u.PersonID); err != nil {
			return err
		}
		_, err = tx.Exec(`DELETE FROM cards WHERE person_id = ?`, u.PersonID)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("forget everything: %w", err)
	}
	return n, nil
}

// idsOf returns the statements about a person and those at their request, wherever they may be read.
func (s *Store) idsOf(tx *sql.Tx, personID string) ([]int64, error) {
	rows, err := tx.Query(`SELECT id FROM memories WHERE NOT superseded AND (by_id = ? OR kind = ? AND subject = ?) ORDER BY id`, personID, Person, personID)
	return store.Collect(s.DB, "read what is remembered of a person", rows, err, store.ScanValue[int64])
}

// Due deletes what can no longer be undone, and returns what remains to be done. That is the people who had everything forgotten, each with
// the time of that. They stay until they are forgotten, so that a crash loses none.
func (s *Store) Due(ctx context.Context, now time.Time) (all []store.Erasure, err error) {
	if _, err := s.DB.ChangeRows(ctx, "undos", "turn_id", `due <= @now AND NOT everything`, "", store.Args{"now": now.UnixMicro()}); err != nil {
		return nil, err
	}
	return store.List(ctx, s.DB, "read who is to be forgotten", func(row store.Scanner) (e store.Erasure, err error) {
		err = row.Scan(&e.PersonID, store.Micros(&e.At))
		return e, err
	}, `SELECT person_id, max(at) FROM undos WHERE due <= ? AND everything GROUP BY person_id ORDER BY person_id`, now.UnixMicro())
}

// Card returns the fields of a person's card that have a value. The caller must not change the map.
func (s *Store) Card(ctx context.Context, personID string) (map[string]string, error) {
	return store.Remember(s.DB, "card "+personID, sizeOfCard, func() (map[string]string, error) {
		rows, err := s.DB.Query(ctx, cardQuery, personID)
		return s.cardOf(rows, err)
	})
}

func sizeOfCard(card map[string]string) (size int) {
	for field, value := range card {
		size += len(field) + len(value)
	}
	return size
}

const cardQuery = `SELECT field, value FROM cards WHERE person_id = ?`

func (s *Store) cardIn(tx *sql.Tx, personID string) (map[string]string, error) {
	rows, err := tx.Query(cardQuery, personID)
	return s.cardOf(rows, err)
}

func (s *Store) cardOf(rows *sql.Rows, err error) (map[string]string, error) {
	return store.Mapped[string, string](s.DB, "read a person's card", rows, err)
}

// SetCard sets a field of a person's card, or deletes it if the value is empty. It returns the value from before. It returns
// [store.ErrOptedOut] if nothing is kept of the person.
func (s *Store) SetCard(ctx context.Context, personID, field, value string, at time.Time) (before string, err error) {
	defer s.DB.Settings.Changed()
	err = s.DB.Write(ctx, func(tx *sql.Tx) error {
		card, err := s.cardIn(tx, personID)
		if err != nil {
			return err
		}
		before = card[field]
		return s.setCardIn(tx, personID, field, value, at)
	})
	if err != nil {
		return "", fmt.Errorf("write a person's card: %w", err)
	}
	return before, nil
}

func (s *Store) setCardIn(tx *sql.Tx, personID, field, value string, at time.Time) (err error) {
	if value == "" {
		_, err = tx.Exec(`DELETE FROM cards WHERE person_id = ? AND field = ?`, personID, field)
		return err
	}
	if err := s.DB.Privacy.Consenting(tx, personID, at); err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO cards (person_id, field, value, at) VALUES (?, ?, ?, ?)
		ON CONFLICT (person_id, field) DO UPDATE SET value = excluded.value, at = excluded.at`, personID, field, value, at.UnixMicro())
	if zone, known := text.ZoneCalled(value); err == nil && field == turn.CardZone && known {
		err = s.DB.Reminders.MoveIn(tx, personID, zone)
	}
	return err
}
