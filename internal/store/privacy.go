package store

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// ErrOptedOut says that a person does not want anything to be kept of them.
var ErrOptedOut = errors.New("the person has opted out")

// Standing is what a person has said of what is kept of them. The zero value is that of somebody who said nothing.
type Standing struct {
	OptedOut  time.Time // since when nothing is kept; zero: they have not opted out
	Forgotten time.Time // nothing of before is kept, or comes back; zero: they were never forgotten
}

// PrivacyAct is what somebody did about what is kept of them.
type PrivacyAct string

// The acts.
const (
	ActExport  PrivacyAct = "export"
	ActForget  PrivacyAct = "forget"
	ActOptOut  PrivacyAct = "optout"
	ActOptIn   PrivacyAct = "optin"
	ActReceipt PrivacyAct = "receipt"
)

// PrivacyEntry is an act on record. It has no content.
type PrivacyEntry struct {
	At         time.Time  `json:"at"`
	Act        PrivacyAct `json:"act"`
	ByOperator bool       `json:"by_operator,omitempty"` // and not by the person
}

// Pseudonym is a person's id under a keyed hash. The key is in the file: who has that can find out whether an id that they know is meant.
func (db *DB) Pseudonym(personID string) string { return pseudonym(db.key, personID) }

func pseudonym(key []byte, personID string) string {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(personID))
	return "~" + hex.EncodeToString(h.Sum(nil)[:16])
}

// readPrivacy reads the key of hashes, and whether anybody has a standing.
func (db *DB) readPrivacy(ctx context.Context) error {
	var standings bool
	if err := db.readers.QueryRowContext(ctx, `SELECT key, EXISTS (SELECT 1 FROM privacy) FROM privacy_key`).Scan(&db.key, &standings); err != nil {
		return fmt.Errorf("read the key of hashes: %w", err)
	}
	db.standings.Store(standings || !db.owns())
	return nil
}

const standingQuery = `SELECT opted_out, forgotten FROM privacy WHERE who = ?`

// Standing returns what a person has said of what is kept of them.
func (db *DB) Standing(ctx context.Context, personID string) (Standing, error) {
	if !db.standings.Load() {
		return Standing{}, nil
	}
	s, err := scanStanding(db.stmts.standing.QueryRowContext(ctx, db.Pseudonym(personID)))
	if err != nil {
		return Standing{}, fmt.Errorf("read what a person said of their data: %w", db.Explain(err))
	}
	return s, nil
}

// StandingIn is Standing in a transaction of [DB.Write].
func (db *DB) StandingIn(tx *sql.Tx, personID string) (Standing, error) {
	if personID == "" || !db.standings.Load() {
		return Standing{}, nil
	}
	return scanStanding(tx.Stmt(db.stmts.standingIn).QueryRow(db.Pseudonym(personID)))
}

func scanStanding(row scanner) (s Standing, err error) {
	var optedOut, forgotten int64
	err = row.Scan(&optedOut, &forgotten)
	if errors.Is(err, sql.ErrNoRows) {
		return Standing{}, nil
	}
	return standingOf(optedOut, forgotten), err
}

// standingOf is a standing as its row has it.
func standingOf(optedOut, forgotten int64) (s Standing) {
	if optedOut != 0 {
		s.OptedOut = time.UnixMicro(optedOut).UTC()
	}
	if forgotten != 0 {
		s.Forgotten = time.UnixMicro(forgotten).UTC()
	}
	return s
}

// Keeps reports whether what a person did at a time may be kept.
func (s Standing) Keeps(at time.Time) bool {
	return s.OptedOut.IsZero() && (s.Forgotten.IsZero() || at.After(s.Forgotten))
}

// OptOut notes whether a person has opted out of everything that is kept, from now on.
func (db *DB) OptOut(ctx context.Context, personID string, out bool, at time.Time) error {
	act, since := ActOptIn, int64(0)
	if out {
		act, since = ActOptOut, at.UnixMicro()
	}
	err := db.Write(ctx, func(tx *sql.Tx) error {
		db.standings.Store(true)
		_, err := tx.Exec(`INSERT INTO privacy (who, opted_out, forgotten) VALUES (?, ?, 0) ON CONFLICT (who) DO UPDATE SET opted_out = excluded.opted_out`,
			db.Pseudonym(personID), since)
		if err != nil {
			return err
		}
		return db.logAct(tx, personID, act, false, at)
	})
	if err != nil {
		return fmt.Errorf("keep that a person opted out: %w", err)
	}
	return nil
}

// LogAct keeps that something was done about what is kept of a person, and by whom.
func (db *DB) LogAct(ctx context.Context, personID string, act PrivacyAct, byOperator bool, at time.Time) error {
	err := db.Write(ctx, func(tx *sql.Tx) error { return db.logAct(tx, personID, act, byOperator, at) })
	if err != nil {
		return fmt.Errorf("keep on record: %w", err)
	}
	return nil
}

func (db *DB) logAct(tx *sql.Tx, personID string, act PrivacyAct, byOperator bool, at time.Time) error {
	_, err := tx.Exec(`INSERT INTO privacy_log (at, who, act, by_operator) VALUES (?, ?, ?, ?)`, at.UnixMicro(), db.Pseudonym(personID), act, byOperator)
	return err
}

// Acts returns what was done about what is kept of a person, in order.
func (db *DB) Acts(ctx context.Context, personID string) ([]PrivacyEntry, error) {
	rows, err := db.readers.QueryContext(ctx, `SELECT at, act, by_operator FROM privacy_log WHERE who = ? ORDER BY at, rowid`, db.Pseudonym(personID))
	return collect(db, "read what is on record", rows, err, func(row scanner) (e PrivacyEntry, err error) {
		var at int64
		err = row.Scan(&at, &e.Act, &e.ByOperator)
		e.At = time.UnixMicro(at).UTC()
		return e, err
	})
}

// alias is the id under which a person is counted: their pseudonym, once they have opted out or were forgotten, so that neither gives
// anybody more than others have.
func (db *DB) alias(tx *sql.Tx, personID string) (string, error) {
	s, err := db.StandingIn(tx, personID)
	if err != nil || s == (Standing{}) {
		return personID, err
	}
	return db.Pseudonym(personID), nil
}

// signature is who is named where a person chose something for others: nobody, if they have opted out.
func (db *DB) signature(tx *sql.Tx, personID string) (string, error) {
	s, err := db.StandingIn(tx, personID)
	if err != nil || !s.OptedOut.IsZero() {
		return "", err
	}
	return personID, nil
}

// consenting returns [ErrOptedOut] for a person of whom nothing of a time is kept.
func (db *DB) consenting(tx *sql.Tx, personID string, at time.Time) error {
	s, err := db.StandingIn(tx, personID)
	if err == nil && !s.Keeps(at) {
		err = ErrOptedOut
	}
	return err
}

// LeaveUnkept, in a transaction of [DB.Write], notes that no words of a turn are kept from now on: neither those of its posts nor its
// reply.
func (db *DB) LeaveUnkept(tx *sql.Tx, turnID string) error {
	_, err := tx.Exec(`INSERT INTO unkept_turns (turn_id, at) VALUES (?, ?) ON CONFLICT DO NOTHING`, turnID, time.Now().UnixMicro())
	return err
}

func (db *DB) unkept(tx *sql.Tx, turnID string) (unkept bool, err error) {
	if turnID == "" {
		return false, nil
	}
	err = tx.Stmt(db.stmts.unkept).QueryRow(turnID).Scan(&unkept)
	return unkept, err
}

// unkeptQuery is quick where there is none at all, which is so nearly everywhere.
const unkeptQuery = `SELECT EXISTS (SELECT 1 FROM unkept_turns WHERE turn_id = ?)`

// PruneUnkept forgets which turns before that time were not kept: they are over.
func (db *DB) PruneUnkept(ctx context.Context, before time.Time) (int, error) {
	return db.exec(ctx, "prune unkept turns", `DELETE FROM unkept_turns WHERE at < ?`, before.UnixMicro())
}

// keptEvent returns an event as it may be kept for a restart: empty if it is of somebody of whom nothing is kept, and without the message
// that it replies to where that is.
func (db *DB) keptEvent(tx *sql.Tx, event string) (string, error) {
	if !db.standings.Load() {
		return event, nil
	}
	message, reply := authorsOf(event)
	s, err := db.StandingIn(tx, message.id)
	if err != nil || !s.Keeps(message.at) {
		return "", err
	}
	if s, err = db.StandingIn(tx, reply.id); err != nil || s.Keeps(reply.at) {
		return event, err
	}
	return withoutReply(event)
}

// written is who wrote a message of an event, and when.
type written struct {
	id string
	at time.Time
}

// authorsOf returns who wrote the message of an event, and the one that it replies to.
func authorsOf(event string) (message, reply written) {
	var e struct{ Message, Reply json.RawMessage }
	if json.Unmarshal([]byte(event), &e) != nil {
		return written{}, written{}
	}
	return authorIn(e.Message), authorIn(e.Reply)
}

func authorIn(message json.RawMessage) written {
	var m struct {
		Author struct{ ID string }
		At     time.Time
	}
	if json.Unmarshal(message, &m) != nil {
		return written{}
	}
	return written{m.Author.ID, m.At}
}

// withoutReply is an event without the message that it replies to.
func withoutReply(event string) (string, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal([]byte(event), &all); err != nil {
		return "", err
	}
	delete(all, "Reply")
	text, err := json.Marshal(all)
	return string(text), err
}
