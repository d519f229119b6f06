package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// Arrival is a message that came in and, if it asks for a turn, its claim.
type Arrival struct {
	Message Message
	Claim   string // id of the event that asks for a turn; empty if none does
	Event   string // what a restart needs to go on with it; empty if it should not
}

// Unanswered is a claimed event that has no answer yet.
type Unanswered struct {
	Claim  string
	At     time.Time // when it came, in UTC
	Event  string    // what Arrive was given
	TurnID string    // the turn that has begun to answer it, or empty
	Posts  []Post    // of that turn, in order
}

// Post is a message that a turn has posted.
type Post struct{ ID, Text string }

// Arrive saves messages that came in and claims the events of those that ask for a turn, all in one transaction. Of each
// it reports whether it was the first time: false if its event was claimed before or, without a claim, if the message is
// there already. Then nothing of it is saved: an old event may come again after an edit. Authors' names are kept, see
// [DB.People]. Of somebody who opted out the claim alone is kept, and what somebody wrote before they were forgotten is never new.
func (db *DB) Arrive(ctx context.Context, all ...Arrival) (first []bool, err error) {
	met := false
	err = db.Write(ctx, func(tx *sql.Tx) error {
		first, met = make([]bool, len(all)), false
		for i, a := range all {
			var someone bool
			var err error
			if first[i], someone, err = db.arrive(tx, a); err != nil {
				return err
			}
			met = met || someone
		}
		return nil
	})
	if met {
		db.names.changed()
	}
	if err != nil {
		return nil, fmt.Errorf("save arriving messages: %w", err)
	}
	return first, nil
}

// arrive saves one message. met reports whether a name of its author was noted.
func (db *DB) arrive(tx *sql.Tx, a Arrival) (first, met bool, err error) {
	if a.Event, err = db.keptEvent(tx, a.Event); err != nil {
		return false, false, err
	}
	kept, err := db.keeps(tx, a.Message)
	if err != nil {
		return false, false, err
	}
	if !kept && !a.Message.Own {
		s, err := db.StandingIn(tx, a.Message.AuthorID)
		if err != nil || !s.Forgotten.IsZero() && !a.Message.At.After(s.Forgotten) {
			return false, false, err
		}
	}
	if a.Claim != "" {
		state := "waiting"
		if a.Event == "" {
			state = "done"
		}
		r, err := tx.Stmt(db.stmts.claim).Exec(a.Claim, time.Now().UnixMicro(), state, a.Event)
		if err != nil {
			return false, false, err
		}
		if first, err = changed(r); err != nil || !first {
			return false, false, err
		}
	}
	m := a.Message
	if !kept {
		return true, false, nil
	}
	r, err := insertInto(tx.Stmt(db.stmts.arrive), m)
	if err != nil {
		return false, false, err
	}
	isNew, err := changed(r)
	if err != nil {
		return false, false, err
	}
	if a.Claim == "" {
		if first = isNew; !first {
			return false, false, nil
		}
	}
	if isNew {
		row, err := r.LastInsertId()
		if err != nil {
			return false, false, err
		}
		if err := db.index(tx, row, m); err != nil {
			return false, false, err
		}
	}
	if m.GuildID != "" {
		if _, err := tx.Stmt(db.stmts.back).Exec(m.GuildID); err != nil {
			return first, false, err
		}
	}
	if m.Own || m.GuildID == "" || m.AuthorID == "" || m.AuthorName == "" {
		return first, false, nil
	}
	r, err = tx.Stmt(db.stmts.meet).Exec(m.GuildID, m.AuthorID, m.AuthorName, m.At.UnixMicro(), metAgain.Microseconds())
	if err != nil {
		return first, false, err
	}
	met, err = changed(r)
	return first, met, err
}

// Claim claims an event that asks for no turn, and reports whether it was the first time. An event without an id is always new.
func (db *DB) Claim(ctx context.Context, event string) (first bool, err error) {
	if event == "" {
		return true, nil
	}
	err = db.Write(ctx, func(tx *sql.Tx) error {
		r, err := tx.Stmt(db.stmts.claim).Exec(event, time.Now().UnixMicro(), "done", "")
		if err != nil {
			return err
		}
		first, err = changed(r)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("claim event: %w", err)
	}
	return first, nil
}

// ClaimsBegin, in a transaction of [DB.Write], notes that a turn answers these events. Those that nobody has claimed are
// claimed with it.
func (db *DB) ClaimsBegin(tx *sql.Tx, turnID string, events ...string) error {
	for _, e := range events {
		if e == "" {
			continue
		}
		if _, err := tx.Stmt(db.stmts.begin).Exec(e, time.Now().UnixMicro(), turnID); err != nil {
			return err
		}
	}
	return nil
}

// ClaimsEnd, in a transaction of [DB.Write], notes that a turn is over: nothing of it is open any more.
func (db *DB) ClaimsEnd(tx *sql.Tx, turnID string) error {
	if _, err := tx.Stmt(db.stmts.end).Exec(turnID); err != nil {
		return err
	}
	_, err := tx.Stmt(db.stmts.forget).Exec(turnID)
	return err
}

// Settle notes that these events need no answer any more: somebody was told so.
func (db *DB) Settle(ctx context.Context, events ...string) error {
	err := db.Write(ctx, func(tx *sql.Tx) error { return db.ClaimsSettle(tx, events...) })
	if err != nil {
		return fmt.Errorf("settle claims: %w", err)
	}
	return nil
}

// ClaimsSettle is [DB.Settle] in a transaction of [DB.Write].
func (db *DB) ClaimsSettle(tx *sql.Tx, events ...string) error {
	for _, e := range events {
		if _, err := tx.Exec(`UPDATE claims SET state = 'done', event = '' WHERE event_id = ?`, e); err != nil {
			return err
		}
	}
	return nil
}

// Reopen notes that a turn answers an event anew that has an answer already, in the posts of that one or in posts of its own: a
// restart goes on with it.
func (db *DB) Reopen(ctx context.Context, claim, turnID, event string, posts ...Post) error {
	err := db.Write(ctx, func(tx *sql.Tx) error {
		event, err := db.keptEvent(tx, event)
		if err != nil || event == "" {
			return err
		}
		_, err = tx.Exec(`INSERT INTO claims (event_id, at, state, turn_id, event) VALUES (?, ?, 'begun', ?, ?)
			ON CONFLICT (event_id) DO UPDATE SET at = excluded.at, state = 'begun', turn_id = excluded.turn_id, event = excluded.event`,
			claim, time.Now().UnixMicro(), turnID, event)
		for n, p := range posts {
			if err == nil {
				_, err = tx.Stmt(db.stmts.post).Exec(turnID, n, p.ID, p.Text)
			}
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("reopen claim: %w", err)
	}
	return nil
}

// SavePost keeps what the nth post of a turn is, until the turn is over; without its text where no words of the turn are kept.
func (db *DB) SavePost(ctx context.Context, turnID string, n int, p Post) error {
	err := db.Write(ctx, func(tx *sql.Tx) error {
		unkept, err := db.unkept(tx, turnID)
		if err != nil {
			return err
		}
		if unkept {
			p.Text = ""
		}
		_, err = tx.Stmt(db.stmts.post).Exec(turnID, n, p.ID, p.Text)
		return err
	})
	if err != nil {
		return fmt.Errorf("save post: %w", err)
	}
	return nil
}

// Unanswered returns the claimed events that have no answer yet, in the order in which they came.
func (db *DB) Unanswered(ctx context.Context) ([]Unanswered, error) {
	rows, err := db.readers.QueryContext(ctx, `SELECT event_id, at, event, turn_id FROM claims WHERE state <> 'done' ORDER BY at, event_id`)
	all, err := collect(db, "read open claims", rows, err, func(row scanner) (o Unanswered, err error) {
		var at int64
		err = row.Scan(&o.Claim, &at, &o.Event, &o.TurnID)
		o.At = time.UnixMicro(at).UTC()
		return o, err
	})
	for i := range all {
		if err != nil {
			return nil, err
		}
		rows, failed := db.readers.QueryContext(ctx, `SELECT message_id, text FROM posts WHERE turn_id = ? ORDER BY n`, all[i].TurnID)
		all[i].Posts, err = collect(db, "read posts", rows, failed, func(row scanner) (p Post, err error) {
			err = row.Scan(&p.ID, &p.Text)
			return p, err
		})
	}
	return all, err
}

// PruneClaims forgets the events claimed before that time and returns how many those were.
func (db *DB) PruneClaims(ctx context.Context, before time.Time) (int, error) {
	return db.exec(ctx, "prune claims", `DELETE FROM claims WHERE at < ?`, before.UnixMicro())
}

func changed(r sql.Result) (bool, error) {
	n, err := r.RowsAffected()
	return n > 0, err
}
