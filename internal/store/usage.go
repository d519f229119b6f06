package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// Scopes of usage.
const (
	OfPerson  = "person"
	OfChannel = "channel"
	OfServer  = "server"
	OfAll     = "all"
)

// Used is how much was used.
type Used struct {
	Turns, Lookups, Tokens int
	Cost                   float64 // US dollars, as far as the servers of models say
}

// Usage is what was used on a day.
type Usage struct {
	Scope, ID string // whose; the id is empty for all
	Used
	Told bool // somebody was told that it is as much as there may be
}

// Party is for whom a turn is: each of the ids may be empty.
type Party struct{ Person, Channel, Guild string }

// scopes are what a turn of a party counts for, with the id in each.
func (p Party) scopes() [][2]string {
	all := [][2]string{{OfAll, ""}}
	for _, s := range [][2]string{{OfPerson, p.Person}, {OfChannel, p.Channel}, {OfServer, p.Guild}} {
		if s[1] != "" {
			all = append(all, s)
		}
	}
	return all
}

const microdollars = 1e6

// AddUsage adds what a turn used to what was used on its day: for the person, also beyond this server, the channel, the server and all.
// Who has opted out or was forgotten is counted under their pseudonym.
func (db *DB) AddUsage(ctx context.Context, at time.Time, p Party, u Used) error {
	err := db.Write(ctx, func(tx *sql.Tx) (err error) {
		p := p
		if p.Person, err = db.alias(tx, p.Person); err != nil {
			return err
		}
		for _, s := range p.scopes() {
			guild := p.Guild
			if s[0] == OfPerson || s[0] == OfAll {
				guild = ""
			}
			_, err := tx.Stmt(db.stmts.use).Exec(day(at), s[0], s[1], guild, u.Turns, u.Lookups, u.Tokens, int64(u.Cost*microdollars))
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("add usage: %w", err)
	}
	return nil
}

// Usage returns what a party has used on a day, in each scope in which it has used anything.
func (db *DB) Usage(ctx context.Context, at time.Time, p Party) (map[string]Usage, error) {
	s, err := db.Standing(ctx, p.Person)
	if err != nil {
		return nil, err
	}
	if s != (Standing{}) {
		p.Person = db.Pseudonym(p.Person)
	}
	rows, err := db.stmts.used.QueryContext(ctx, day(at), p.Person, p.Channel, p.Guild)
	all, err := collect(db, "read usage", rows, err, func(row scanner) (u Usage, err error) {
		var cost int64
		err = row.Scan(&u.Scope, &u.ID, &u.Turns, &u.Lookups, &u.Tokens, &cost, &u.Told)
		u.Cost = float64(cost) / microdollars
		return u, err
	})
	found := map[string]Usage{}
	for _, u := range all {
		if u.ID != "" || u.Scope == OfAll {
			found[u.Scope] = u
		}
	}
	return found, err
}

// TellOnce notes that somebody is told that a scope has used all that it may on a day, and reports whether it is the first time.
func (db *DB) TellOnce(ctx context.Context, at time.Time, scope, id string) (first bool, err error) {
	n, err := db.exec(ctx, "note a used up quota", `UPDATE usage SET told = TRUE WHERE day = ? AND scope = ? AND id = ? AND NOT told`, day(at), scope, id)
	return n > 0, err
}

// PruneUsage forgets what was used before that day and returns how many counts that were.
func (db *DB) PruneUsage(ctx context.Context, before time.Time) (int, error) {
	return db.exec(ctx, "prune usage", `DELETE FROM usage WHERE day < ?`, day(before))
}

func day(at time.Time) string { return at.UTC().Format(time.DateOnly) }
