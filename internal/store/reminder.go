package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// Reminders keeps what people want to be reminded of, until they are told.
type Reminders struct {
	db      *DB
	changed chan struct{} // holds a token if there is another first reminder
}

// Reminder is something that a person is to be told at a time.
type Reminder struct {
	ID        int64     `json:"id"`
	PersonID  string    `json:"person"`
	GuildID   string    `json:"guild"`   // where they asked, and are told
	ChannelID string    `json:"channel"` // the same
	MessageID string    `json:"message"` // with which they asked
	Language  string    `json:"language"`
	Text      string    `json:"text"`
	At        time.Time `json:"at"`
	Zone      string    `json:"zone"` // time zone that was taken, because the person's was unknown; empty: theirs, or none is needed
	Made      time.Time `json:"made"`
	Begun     time.Time `json:"begun"` // when a process began to tell it; zero: none has
}

// MostReminders is the largest number of reminders of one person.
const MostReminders = 50

// Set keeps a reminder and returns its id. It replaces one of the same message and text. It returns [ErrTooMany] for a person with
// [MostReminders], and [ErrOptedOut] if nothing is kept of the person.
func (s *Reminders) Set(ctx context.Context, r Reminder) (id int64, err error) {
	err = s.db.Change(ctx, "set a reminder", func(tx *sql.Tx) (err error) {
		id, err = s.SetIn(tx, r)
		return err
	})
	return id, err
}

// SetIn is Set in a transaction of [DB.Write].
func (s *Reminders) SetIn(tx *sql.Tx, r Reminder) (id int64, err error) {
	if err := s.db.Privacy.Consenting(tx, r.PersonID, r.Made); err != nil {
		return 0, err
	}
	if _, err := tx.Exec(`DELETE FROM reminders WHERE person_id = ? AND message_id = ? AND text = ?`, r.PersonID, r.MessageID, r.Text); err != nil {
		return 0, err
	}
	var n int
	if err := tx.QueryRow(`SELECT count(*) FROM reminders WHERE person_id = ?`, r.PersonID).Scan(&n); err != nil {
		return 0, err
	}
	if n >= MostReminders {
		return 0, ErrTooMany
	}
	s.db.mustLast()
	s.db.OnCommit(s.Wake)
	err = tx.QueryRow(`INSERT INTO reminders (person_id, guild_id, channel_id, message_id, language, text, at, zone, made, begun) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0) RETURNING id`,
		r.PersonID, r.GuildID, r.ChannelID, r.MessageID, r.Language, r.Text, r.At.UnixMicro(), r.Zone, r.Made.UnixMicro()).Scan(&id)
	return id, err
}

// Wake has the reminders looked at now.
func (s *Reminders) Wake() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// Changed returns a channel that has a token after a reminder was set or moved, and after Wake.
func (s *Reminders) Changed() <-chan struct{} { return s.changed }

const selectReminders = `SELECT id, person_id, guild_id, channel_id, message_id, language, text, at, zone, made, begun FROM reminders `

func scanReminder(row Scanner) (r Reminder, err error) {
	err = row.Scan(&r.ID, &r.PersonID, &r.GuildID, &r.ChannelID, &r.MessageID, &r.Language, &r.Text, micros{&r.At}, &r.Zone, micros{&r.Made}, micros{&r.Begun})
	return r, err
}

// Of returns the reminders of a person, the next first.
func (s *Reminders) Of(ctx context.Context, personID string) ([]Reminder, error) {
	return List(ctx, s.db, "read reminders", scanReminder, selectReminders+`WHERE person_id = ? ORDER BY at, id`, personID)
}

// OfIn is Of in a transaction.
func (s *Reminders) OfIn(tx *sql.Tx, personID string) ([]Reminder, error) {
	rows, err := tx.Query(selectReminders+`WHERE person_id = ? ORDER BY at, id`, personID)
	return Collect(s.db, "read reminders", rows, err, scanReminder)
}

// First returns the first n reminders of all people.
func (s *Reminders) First(ctx context.Context, n int) ([]Reminder, error) {
	return List(ctx, s.db, "read reminders", scanReminder, selectReminders+`ORDER BY at, id LIMIT 0 + ?`, n)
}

// Cancel deletes a reminder of a person, or returns [ErrNotFound].
func (s *Reminders) Cancel(ctx context.Context, personID string, id int64) (r Reminder, err error) {
	err = s.db.Change(ctx, "cancel a reminder", func(tx *sql.Tx) error {
		s.db.mustLast()
		r, err = scanReminder(tx.QueryRow(selectReminders+`WHERE id = ? AND person_id = ?`, id, personID))
		if err == nil {
			err = s.DropIn(tx, personID, id)
		}
		return err
	})
	return r, err
}

// DropIn deletes reminders of a person in a transaction.
func (s *Reminders) DropIn(tx *sql.Tx, personID string, ids ...int64) error {
	for _, id := range ids {
		if _, err := tx.Exec(`DELETE FROM reminders WHERE id = ? AND person_id = ?`, id, personID); err != nil {
			return err
		}
	}
	return nil
}

// Begin claims a reminder for the process that tells it now. It returns when one began before, or the zero time. The error is [ErrNotFound]
// if the reminder was cancelled or moved meanwhile. It is [ErrLost] if another process acts for its server.
func (s *Reminders) Begin(ctx context.Context, r Reminder, now time.Time) (before time.Time, err error) {
	err = s.db.Leases.change(ctx, "begin to remind", r.GuildID, true, func(tx *sql.Tx) error {
		there, err := scanReminder(tx.QueryRow(selectReminders+`WHERE id = ? AND at = ?`, r.ID, r.At.UnixMicro()))
		if before = there.Begun; err != nil || !before.IsZero() {
			return err
		}
		s.db.mustLast()
		_, err = tx.Exec(`UPDATE reminders SET begun = ? WHERE id = ?`, now.UnixMicro(), r.ID)
		return err
	})
	return before, err
}

// MoveIn moves, in a transaction, reminders of a person whose zone was not known. They keep their time of day in the zone.
func (s *Reminders) MoveIn(tx *sql.Tx, personID string, zone *time.Location) error {
	all, err := s.OfIn(tx, personID)
	for _, r := range all {
		taken, unknown := time.LoadLocation(r.Zone)
		if err != nil || r.Zone == "" || unknown != nil || !r.Begun.IsZero() {
			continue
		}
		at := r.At.In(taken)
		at = time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), 0, zone)
		s.db.OnCommit(s.Wake)
		_, err = tx.Exec(`UPDATE reminders SET at = ?, zone = '' WHERE id = ?`, at.UnixMicro(), r.ID)
	}
	if err != nil {
		return fmt.Errorf("move reminders: %w", err)
	}
	return nil
}

// retractIn deletes, in a transaction, the reminders of a message that is gone or does not hold their words.
func (s *Reminders) retractIn(tx *sql.Tx, messageID string) error {
	_, err := tx.Exec(`DELETE FROM reminders WHERE message_id = ? AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.id = reminders.message_id AND instr(m.text, reminders.text) > 0)`, messageID)
	return err
}
