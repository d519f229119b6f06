package store

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"familiar/internal/store/engine"
)

// ErrOptedOut is the error of keeping something for a person who has opted out, or who was forgotten since.
var ErrOptedOut = errors.New("the person has opted out")

// Standing is what a person has decided about their data. The zero value means that they decided nothing.
type Standing struct {
	OptedOut  time.Time // nothing is kept since then; zero: they have not opted out
	Forgotten time.Time // nothing up to then is kept or comes back; zero: they were never forgotten
}

// PrivacyAct is something that was done about a person's data.
type PrivacyAct string

// The acts.
const (
	ActExport  PrivacyAct = "export"
	ActForget  PrivacyAct = "forget"
	ActOptOut  PrivacyAct = "optout"
	ActOptIn   PrivacyAct = "optin"
	ActReceipt PrivacyAct = "receipt"
)

// PrivacyEntry is the record of an act, without any content.
type PrivacyEntry struct {
	At         time.Time  `json:"at"`
	Act        PrivacyAct `json:"act"`
	ByOperator bool       `json:"by_operator,omitempty"` // the operator asked for it, not the person
}

// Pseudonym returns a person's id under a keyed hash. The key is in the database: with the file one can check a known id against it.
func (s *Privacy) Pseudonym(personID string) string { return pseudonym(s.db.key, personID) }

func pseudonym(key []byte, personID string) string {
	return "~" + hex.EncodeToString(mac(key, personID))
}

// MAC returns a keyed hash of a text, so that nobody else can make it. The key stays in the store.
func (db *DB) MAC(text string) []byte { return mac(db.key, text) }

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)[:16]
}

// read reads the key of the hash, and whether anybody has a standing.
func (s *Privacy) read(ctx context.Context) error {
	if err := s.db.readers.QueryRowContext(ctx, `SELECT key FROM privacy_key`).Scan(&s.db.key); err != nil {
		return fmt.Errorf("read the key of hashes: %w", err)
	}
	return s.db.readEmpty(ctx)
}

const standingQuery = `SELECT opted_out, forgotten FROM privacy WHERE who = ?`

// Standing returns the standing of a person.
func (s *Privacy) Standing(ctx context.Context, personID string) (Standing, error) {
	if !s.db.standings.Load() {
		return Standing{}, nil
	}
	return One(s.db, "read standing", s.db.QueryRow(ctx, standingQuery, s.Pseudonym(personID)), scanStanding)
}

// StandingIn is [Privacy.Standing] in a transaction of [DB.Write].
func (s *Privacy) StandingIn(tx *sql.Tx, personID string) (Standing, error) {
	if personID == "" || !s.db.standings.Load() {
		return Standing{}, nil
	}
	return scanStanding(s.db.stmt(tx, standingQuery).QueryRow(s.Pseudonym(personID)))
}

func scanStanding(row Scanner) (s Standing, err error) {
	err = row.Scan(micros{&s.OptedOut}, micros{&s.Forgotten})
	return s, unlessMissing(err)
}

// Keeps reports whether what a person did at a time may be kept.
func (s Standing) Keeps(at time.Time) bool {
	return s.OptedOut.IsZero() && (s.Forgotten.IsZero() || at.After(s.Forgotten))
}

// OptOut notes that a person has opted out, from now on, or has opted in again.
func (s *Privacy) OptOut(ctx context.Context, personID string, out bool, at time.Time) error {
	act, since := ActOptIn, int64(0)
	if out {
		act, since = ActOptOut, at.UnixMicro()
	}
	return s.db.Change(ctx, "keep that a person opted out", func(tx *sql.Tx) error {
		s.db.standings.Store(true)
		_, err := tx.Exec(`INSERT INTO privacy (who, opted_out, forgotten) VALUES (?, ?, 0) ON CONFLICT (who) DO UPDATE SET opted_out = excluded.opted_out`,
			s.Pseudonym(personID), since)
		if err != nil {
			return err
		}
		return s.logAct(tx, personID, act, false, at)
	})
}

// LogAct records that something was done about a person's data, and by whom.
func (s *Privacy) LogAct(ctx context.Context, personID string, act PrivacyAct, byOperator bool, at time.Time) error {
	return s.db.Change(ctx, "keep on record", func(tx *sql.Tx) error { return s.logAct(tx, personID, act, byOperator, at) })
}

func (s *Privacy) logAct(tx *sql.Tx, personID string, act PrivacyAct, byOperator bool, at time.Time) error {
	_, err := tx.Exec(`INSERT INTO privacy_log (at, who, act, by_operator) VALUES (?, ?, ?, ?)`, at.UnixMicro(), s.Pseudonym(personID), act, byOperator)
	return err
}

// Acts returns what was done about a person's data, oldest first.
func (s *Privacy) Acts(ctx context.Context, personID string) ([]PrivacyEntry, error) {
	return List(ctx, s.db, "read what is on record", func(row Scanner) (e PrivacyEntry, err error) {
		err = row.Scan(micros{&e.At}, &e.Act, &e.ByOperator)
		return e, err
	}, `SELECT at, act, by_operator FROM privacy_log WHERE who = ? ORDER BY at, rowid`, s.Pseudonym(personID))
}

// alias returns the id under which a person is counted. It is their pseudonym once they have opted out or were forgotten, so that neither
// gives them a fresh quota.
func (s *Privacy) alias(tx *sql.Tx, personID string) (string, error) {
	standing, err := s.StandingIn(tx, personID)
	if err != nil || standing == (Standing{}) {
		return personID, err
	}
	return s.Pseudonym(personID), nil
}

// signature returns the id that is kept with a setting that a person chose for others. It is none if they have opted out.
func (s *Privacy) signature(tx *sql.Tx, personID string) (string, error) {
	standing, err := s.StandingIn(tx, personID)
	if err != nil || !standing.OptedOut.IsZero() {
		return "", err
	}
	return personID, nil
}

// Consenting returns, in a transaction, [ErrOptedOut] if nothing that a person did at a time may be kept.
func (s *Privacy) Consenting(tx *sql.Tx, personID string, at time.Time) error {
	standing, err := s.StandingIn(tx, personID)
	if err == nil && !standing.Keeps(at) {
		err = ErrOptedOut
	}
	return err
}

// LeaveUnkept, in a transaction of [DB.Write], notes that no words of a turn are kept from now on. That holds for its posts and its reply.
func (s *Privacy) LeaveUnkept(tx *sql.Tx, turnID string) error {
	s.db.unkept.Store(true)
	_, err := tx.Exec(`INSERT INTO unkept_turns (turn_id, at) VALUES (?, ?) ON CONFLICT DO NOTHING`, turnID, time.Now().UnixMicro())
	return err
}

func (s *Privacy) unkept(tx *sql.Tx, turnID string) (unkept bool, err error) {
	if turnID == "" || !s.db.unkept.Load() {
		return false, nil
	}
	err = s.db.stmt(tx, unkeptQuery).QueryRow(turnID).Scan(&unkept)
	return unkept, err
}

const unkeptQuery = `SELECT EXISTS (SELECT 1 FROM unkept_turns WHERE turn_id = ?)`

// keptEvent returns an event as it may be kept for a restart. It is empty if its author's data is not kept. It lacks the message that it
// replies to if that author's data is not kept.
func (s *Privacy) keptEvent(tx *sql.Tx, event string) (string, error) {
	if !s.db.standings.Load() {
		return event, nil
	}
	message, reply := authorsOf(event)
	standing, err := s.StandingIn(tx, message.id)
	if err != nil || !standing.Keeps(message.at) {
		return "", err
	}
	if standing, err = s.StandingIn(tx, reply.id); err != nil || standing.Keeps(reply.at) {
		return event, err
	}
	return withoutReply(event)
}

// written says who wrote a message of an event, and when.
type written struct {
	id string
	at time.Time
}

// authorsOf returns who wrote the message of an event, and the message that it replies to.
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

// withoutReply returns an event without the message that it replies to.
func withoutReply(event string) (string, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal([]byte(event), &all); err != nil {
		return "", err
	}
	delete(all, "Reply")
	text, err := json.Marshal(all)
	return string(text), err
}

// Standings are the decisions of people in another store. They are found only by its key.
type Standings struct {
	key  []byte
	rows []standingRow
}

type standingRow struct {
	who string // pseudonym
	Standing
}

// ReadStandings reads the standings from the file of a store that nobody has open.
func ReadStandings(ctx context.Context, file string) (s Standings, err error) {
	pool, err := engine.Connect(file)
	if err != nil {
		return s, err
	}
	defer pool.Close()
	err = pool.QueryRowContext(ctx, `SELECT key FROM privacy_key`).Scan(&s.key)
	if err == nil {
		var rows *sql.Rows
		rows, err = pool.QueryContext(ctx, `SELECT who, opted_out, forgotten FROM privacy`)
		err = engine.Each(rows, err, func(row *sql.Rows) error {
			var one standingRow
			err := row.Scan(&one.who, micros{&one.OptedOut}, micros{&one.Forgotten})
			s.rows = append(s.rows, one)
			return err
		})
	}
	if err != nil {
		return s, fmt.Errorf("read standings: %w", engine.Explain(err, file))
	}
	return s, nil
}

// Of returns the standing of a person there.
func (s Standings) Of(personID string) Standing {
	who := pseudonym(s.key, personID)
	if i := slices.IndexFunc(s.rows, func(r standingRow) bool { return r.who == who }); i >= 0 {
		return s.rows[i].Standing
	}
	return Standing{}
}

// AdoptStandings saves the standings of the store that this one is a copy of. They have the same key; it ignores standings with another one.
func (s *Privacy) AdoptStandings(ctx context.Context, standings Standings) error {
	if !bytes.Equal(standings.key, s.db.key) {
		return nil
	}
	return s.db.Change(ctx, "adopt standings", func(tx *sql.Tx) error {
		s.db.standings.Store(true)
		for _, r := range standings.rows {
			_, err := tx.Exec(`INSERT INTO privacy (who, opted_out, forgotten) VALUES (?, ?, ?)
				ON CONFLICT (who) DO UPDATE SET opted_out = excluded.opted_out, forgotten = max(privacy.forgotten, excluded.forgotten)`,
				r.who, sinceMicros(r.OptedOut), sinceMicros(r.Forgotten))
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// sinceMicros is what [Micros] scans into a time.
func sinceMicros(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return at.UnixMicro()
}
