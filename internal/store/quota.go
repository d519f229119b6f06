package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Take takes up to n of the limit of a quota in a period, and returns how many it got. The periods of a name sort as strings; a new period
// starts at 0. If the clock was set back, the newest period stays.
func (s *Quotas) Take(ctx context.Context, name, period string, n, limit int) (got int, err error) {
	err = s.db.Change(ctx, "take quota "+name, func(tx *sql.Tx) error {
		newest, used, err := quota(tx.QueryRow(quotaQuery, name))
		if err != nil {
			return err
		}
		if period > newest {
			newest, used = period, 0
		}
		if got = max(0, min(n, limit-used)); got == 0 {
			return nil
		}
		_, err = tx.Exec(`INSERT INTO quotas (name, period, used) VALUES (?, ?, ?)
			ON CONFLICT (name) DO UPDATE SET period = excluded.period, used = excluded.used`, name, newest, used+got)
		return err
	})
	if err != nil {
		return 0, err
	}
	return got, nil
}

// Return gives back n that were taken in a period and not used.
func (s *Quotas) Return(ctx context.Context, name, period string, n int) error {
	_, err := s.db.Exec(ctx, "return quota "+name, `UPDATE quotas SET used = used - ? WHERE name = ? AND period = ? AND used >= ?`, n, name, period, n)
	return err
}

// Used returns how many were taken of a quota in a period.
func (s *Quotas) Used(ctx context.Context, name, period string) (int, error) {
	newest, used, err := quota(s.db.readers.QueryRowContext(ctx, quotaQuery, name))
	if err != nil {
		return 0, fmt.Errorf("read quota %s: %w", name, s.db.Explain(err))
	}
	if period > newest {
		used = 0
	}
	return used, nil
}

const quotaQuery = `SELECT period, used FROM quotas WHERE name = ?`

func quota(row *sql.Row) (period string, used int, err error) {
	err = row.Scan(&period, &used)
	return period, used, unlessMissing(err)
}

// Allowance limits how many may be taken within any time span of that length. Each one becomes free again when its span is over.
type Allowance struct {
	Name   string
	Span   time.Duration
	Limit  int    // 0 or less: no limit, and nothing is counted
	Person string // id of the owner, or empty
}

// Taken is the result of taking.
type Taken struct {
	Used    []int     // of each allowance, with this one
	Refused int       // index of the exhausted allowance; -1: one of each was taken
	Free    time.Time // when the exhausted allowance has one free
}

// TakeAllowances takes one of every allowance at the time now, or none if one of them is exhausted. A clock that was set back frees
// nothing. Entries in the future are kept for at most one span.
func (s *Quotas) TakeAllowances(ctx context.Context, now time.Time, all ...Allowance) (Taken, error) {
	var got Taken
	err := s.db.Write(ctx, func(tx *sql.Tx) (err error) {
		if _, err := tx.Exec(`DELETE FROM takings WHERE until <= ?`, now.UnixMicro()); err != nil {
			return err
		}
		got = Taken{Used: make([]int, len(all)), Refused: -1}
		all := slices.Clone(all)
		for i := range all {
			if err := s.address(tx, &all[i]); err != nil {
				return err
			}
		}
		for i, a := range all {
			free, err := a.free(tx, now)
			switch {
			case err != nil:
				return err
			case !free.IsZero():
				got.Refused, got.Free = i, free
				return nil
			}
		}
		for i, a := range all {
			if got.Used[i], err = a.take(tx, now); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return Taken{}, fmt.Errorf("take allowances: %w", err)
	}
	return got, nil
}

// address adds the owner to the name of an allowance.
func (s *Quotas) address(tx *sql.Tx, a *Allowance) error {
	if a.Person == "" {
		return nil
	}
	alias, err := s.db.Privacy.alias(tx, a.Person)
	a.Name += "/" + alias
	return err
}

// free returns when the next of an allowance is free, or the zero time if one is free now.
func (a Allowance) free(tx *sql.Tx, now time.Time) (time.Time, error) {
	if a.Limit <= 0 {
		return time.Time{}, nil
	}
	end := now.Add(a.Span).UnixMicro()
	if _, err := tx.Exec(`UPDATE takings SET until = ? WHERE name = ? AND until > ?`, end, a.Name, end); err != nil {
		return time.Time{}, err
	}
	var until int64
	err := tx.QueryRow(`SELECT until FROM takings WHERE name = ? ORDER BY until DESC LIMIT 1 OFFSET ?`, a.Name, a.Limit-1).Scan(&until)
	if errors.Is(err, sql.ErrNoRows) {
		return time.Time{}, nil
	}
	return time.UnixMicro(until), err
}

func (a Allowance) take(tx *sql.Tx, now time.Time) (used int, err error) {
	if a.Limit <= 0 {
		return 0, nil
	}
	if _, err := tx.Exec(`INSERT INTO takings (name, until) VALUES (?, ?)`, a.Name, now.Add(a.Span).UnixMicro()); err != nil {
		return 0, err
	}
	err = tx.QueryRow(`SELECT count(*) FROM takings WHERE name = ?`, a.Name).Scan(&used)
	return used, err
}

// Scopes of usage.
const (
	OfPerson  = "person"
	OfChannel = "channel"
	OfServer  = "server"
	OfAll     = "all"
)

// Used is an amount of use.
type Used struct {
	Turns, Lookups, Tokens int
	Cost                   float64 // US dollars, if the model servers report it
}

// Plus returns the sum of two amounts.
func (u Used) Plus(more Used) Used {
	return Used{Turns: u.Turns + more.Turns, Lookups: u.Lookups + more.Lookups, Tokens: u.Tokens + more.Tokens, Cost: u.Cost + more.Cost}
}

// Usage is the use of one day.
type Usage struct {
	Scope, ID string // ID is empty for OfAll
	Used
	Told bool // somebody was told that the quota is used up
}

// Party says for whom a turn is. Each of the ids may be empty.
type Party struct{ Person, Channel, Guild string }

const microdollars = 1e6

// dollars scans a column with microdollars.
type dollars struct{ cost *float64 }

// Scan implements [sql.Scanner].
func (d dollars) Scan(value any) error {
	n, ok := value.(int64)
	if !ok {
		return fmt.Errorf("a cost is kept as %T", value)
	}
	*d.cost = float64(n) / microdollars
	return nil
}

const (
	insertUsage = `INSERT INTO usage (day, scope, id, guild_id, turns, lookups, tokens, cost) VALUES `
	usageRow    = `(?, ?, ?, ?, ?, ?, ?, ?)`
	sumUsage    = ` ON CONFLICT (day, scope, id, guild_id) DO UPDATE SET turns = usage.turns + excluded.turns, lookups = usage.lookups + excluded.lookups,
	tokens = usage.tokens + excluded.tokens, cost = usage.cost + excluded.cost`

	addUsage       = insertUsage + usageRow + `, ` + usageRow + `, ` + usageRow + `, ` + usageRow + sumUsage // in a server
	addDirectUsage = insertUsage + usageRow + `, ` + usageRow + `, ` + usageRow + sumUsage                   // in a direct message
	addOneUsage    = insertUsage + usageRow + sumUsage
)

// AddUsage adds the use of a turn to its day. It does so for the person in all servers, for the channel, for the server, and for all.
// People who opted out or were forgotten are counted under their pseudonym.
func (s *Quotas) AddUsage(ctx context.Context, at time.Time, p Party, u Used) error {
	return s.db.Change(ctx, "add usage", func(tx *sql.Tx) error { return s.AddUsageIn(tx, at, p, u) })
}

// AddUsageIn is [Quotas.AddUsage] in a transaction of [DB.Write].
func (s *Quotas) AddUsageIn(tx *sql.Tx, at time.Time, p Party, u Used) (err error) {
	if p.Person, err = s.db.Privacy.alias(tx, p.Person); err != nil {
		return err
	}
	var args []any
	n := 0
	for _, row := range [4]struct{ scope, id, guild string }{{OfAll, "", ""}, {OfPerson, p.Person, ""}, {OfChannel, p.Channel, p.Guild}, {OfServer, p.Guild, p.Guild}} {
		if row.id != "" || row.scope == OfAll {
			n++
			args = append(args, day(at), row.scope, row.id, row.guild, u.Turns, u.Lookups, u.Tokens, int64(u.Cost*microdollars))
		}
	}
	query, each := addOneUsage, len(args)/n
	switch n {
	case 4:
		query, each = addUsage, len(args)
	case 3:
		query, each = addDirectUsage, len(args)
	}
	for row := range slices.Chunk(args, each) {
		if _, err := s.db.stmt(tx, query).Exec(row...); err != nil {
			return err
		}
	}
	return nil
}

// Usage returns the use of a party on a day, for each scope with any.
func (s *Quotas) Usage(ctx context.Context, at time.Time, p Party) (map[string]Usage, error) {
	standing, err := s.db.Privacy.Standing(ctx, p.Person)
	if err != nil {
		return nil, err
	}
	if standing != (Standing{}) {
		p.Person = s.db.Privacy.Pseudonym(p.Person)
	}
	all, err := ListOften(ctx, s.db, "read usage", func(row Scanner) (u Usage, err error) {
		err = row.Scan(&u.Scope, &u.ID, &u.Turns, &u.Lookups, &u.Tokens, dollars{&u.Cost}, &u.Told)
		return u, err
	}, `SELECT scope, id, turns, lookups, tokens, cost, told FROM usage WHERE day = ? AND (scope, id) IN
		(VALUES ('all', ''), ('person', ?), ('channel', ?), ('server', ?))`, day(at), p.Person, p.Channel, p.Guild)
	found := map[string]Usage{}
	for _, u := range all {
		if u.ID != "" || u.Scope == OfAll {
			found[u.Scope] = u
		}
	}
	return found, err
}

// NotifyOnce notes that somebody is told that a scope has used up its quota of a day. It reports whether it is the first time.
func (s *Quotas) NotifyOnce(ctx context.Context, at time.Time, scope, id string) (first bool, err error) {
	n, err := s.db.Exec(ctx, "note an exhausted quota", `UPDATE usage SET told = TRUE WHERE day = ? AND scope = ? AND id = ? AND NOT told`, day(at), scope, id)
	return n > 0, err
}

func day(at time.Time) string { return at.UTC().Format(time.DateOnly) }

// DayUsage is the use of all on a day.
type DayUsage struct {
	Day string // in UTC, such as 2026-05-01
	Used
}

// UsageByDay returns the use of all on each day from that of since, oldest first. Days without a turn are missing.
func (s *Quotas) UsageByDay(ctx context.Context, since time.Time) ([]DayUsage, error) {
	return List(ctx, s.db, "read usage by day", func(row Scanner) (d DayUsage, err error) {
		err = row.Scan(&d.Day, &d.Turns, &d.Lookups, &d.Tokens, dollars{&d.Cost})
		return d, err
	}, `SELECT day, CAST(sum(turns) AS BIGINT), CAST(sum(lookups) AS BIGINT), CAST(sum(tokens) AS BIGINT), CAST(sum(cost) AS BIGINT) FROM usage
		WHERE day >= ? AND scope = 'all' GROUP BY day ORDER BY day`, day(since))
}

// UsageOf returns what a person, a channel or a server has used since the day of a time. Of somebody who has opted out or was forgotten it
// returns nothing.
func (s *Quotas) UsageOf(ctx context.Context, since time.Time, scope, id string) (u Used, err error) {
	all, err := List(ctx, s.db, "read the usage of one", func(row Scanner) (u Used, err error) {
		err = row.Scan(&u.Turns, &u.Lookups, &u.Tokens, dollars{&u.Cost})
		return u, err
	}, `SELECT turns, lookups, tokens, cost FROM usage WHERE day >= ? AND scope = ? AND id = ?`, day(since), scope, id)
	for _, one := range all {
		u = u.Plus(one)
	}
	return u, err
}

// TopUsage returns the people, channels or servers with most tokens since the day of a time, summed over all days.
func (s *Quotas) TopUsage(ctx context.Context, since time.Time, scope string, most int) ([]Usage, error) {
	return List(ctx, s.db, "read usage of "+scope, func(row Scanner) (u Usage, err error) {
		err = row.Scan(&u.ID, &u.Turns, &u.Lookups, &u.Tokens, dollars{&u.Cost})
		u.Scope = scope
		return u, err
	}, `SELECT id, CAST(sum(turns) AS BIGINT), CAST(sum(lookups) AS BIGINT), CAST(sum(tokens) AS BIGINT), CAST(sum(cost) AS BIGINT) FROM usage
		WHERE day >= ? AND scope = ? GROUP BY id ORDER BY sum(tokens) DESC, id LIMIT 0 + ?`, day(since), scope, most)
}

// What processes that share a database must agree on while turns are being taken. A process that is alone keeps it in memory.

// Hold keeps a part of the quotas for a turn until it is counted or let go. judge is told what was used on a day, with what other turns of all
// processes hold. It returns what this one holds, or false if there is nothing left. A second call with the same id changes what it holds.
func (s *Quotas) Hold(ctx context.Context, at time.Time, id int64, p Party, span time.Duration, judge func(map[string]Usage) (Used, bool)) error {
	return s.db.Change(ctx, "hold a part of the quotas", func(tx *sql.Tx) error {
		if _, err := tx.Exec(endHoldings); err != nil {
			return err
		}
		person := p.Person
		if p.Person != "" {
			person = s.db.Privacy.Pseudonym(p.Person)
		}
		counted, err := s.db.Privacy.alias(tx, p.Person)
		if err != nil {
			return err
		}
		used, err := s.usedOrHeld(tx, at, Party{counted, p.Channel, p.Guild}, person)
		if err != nil {
			return err
		}
		holds, ok := judge(used)
		if !ok {
			return nil
		}
		_, err = tx.Exec(`INSERT INTO holdings (process, id, person, channel, guild, turns, lookups, tokens, cost, until) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, `+serverNow+` + ?)
			ON CONFLICT (process, id) DO UPDATE SET turns = excluded.turns, lookups = excluded.lookups, tokens = excluded.tokens, cost = excluded.cost`,
			s.db.Leases.process, id, person, p.Channel, p.Guild, holds.Turns, holds.Lookups, holds.Tokens, int64(holds.Cost*microdollars), span.Milliseconds())
		return err
	})
}

// endHoldings deletes what processes hold that are gone. One that leaves is not, as long as it has a shard.
const endHoldings = `DELETE FROM holdings WHERE until <= ` + serverNow + ` OR process NOT IN
	(SELECT id FROM processes WHERE until > ` + serverNow + ` UNION ALL SELECT holder FROM shards WHERE until > ` + serverNow + ` UNION ALL SELECT holder FROM finishing)`

// usedOrHeld returns what was used on a day and what is held, for each scope with any. person is under whom holdings count.
func (s *Quotas) usedOrHeld(tx *sql.Tx, at time.Time, p Party, person string) (map[string]Usage, error) {
	rows, err := tx.Query(`SELECT scope, id, turns, lookups, tokens, cost FROM usage
			WHERE day = ?1 AND (scope, id) IN (VALUES ('all', ''), ('person', ?2), ('channel', ?3), ('server', ?4))
		UNION ALL SELECT asked.scope, asked.id, CAST(sum(turns) AS BIGINT), CAST(sum(lookups) AS BIGINT), CAST(sum(tokens) AS BIGINT), CAST(sum(cost) AS BIGINT)
			FROM (VALUES ('all', '', ''), ('person', ?2, ?5), ('channel', ?3, ?3), ('server', ?4, ?4)) AS asked (scope, id, held)
			JOIN holdings h ON asked.held = CASE asked.scope WHEN 'all' THEN '' WHEN 'person' THEN h.person WHEN 'channel' THEN h.channel ELSE h.guild END
			GROUP BY asked.scope, asked.id`, day(at), p.Person, p.Channel, p.Guild, person)
	all, err := Collect(s.db, "read what is used and held", rows, err, func(row Scanner) (u Usage, err error) {
		err = row.Scan(&u.Scope, &u.ID, &u.Turns, &u.Lookups, &u.Tokens, dollars{&u.Cost})
		return u, err
	})
	found := map[string]Usage{}
	for _, u := range all {
		if u.ID != "" || u.Scope == OfAll {
			u.Used = u.Plus(found[u.Scope].Used)
			found[u.Scope] = u
		}
	}
	return found, err
}

// LetGo ends what a turn holds that is not counted.
func (s *Quotas) LetGo(ctx context.Context, id int64) error {
	ctx, cancel := context.WithTimeout(ctx, leaseLimit)
	defer cancel()
	_, err := s.db.engine.Aside().ExecContext(ctx, letGo, s.db.Leases.process, id)
	if err != nil {
		return fmt.Errorf("let go of a part of the quotas: %w", s.db.Explain(err))
	}
	return nil
}

// LetGoIn is [Quotas.LetGo] in the transaction that counts the turn.
func (s *Quotas) LetGoIn(tx *sql.Tx, id int64) error {
	_, err := tx.Exec(letGo, s.db.Leases.process, id)
	return err
}

const letGo = `DELETE FROM holdings WHERE process = ? AND id = ?`

// Within notes that something is done. It reports false if all processes together have done it that often within a span. A process that is
// alone counts by itself: it gets true, as with an error.
func (s *Quotas) Within(ctx context.Context, name string, most int, span time.Duration) (allowed bool, err error) {
	aside := s.db.engine.Aside()
	if aside == nil || s.db.Leases.Live() == 1 {
		return true, nil
	}
	ctx, cancel := context.WithTimeout(ctx, rateLimit)
	defer cancel()
	r, err := aside.ExecContext(ctx, noteRate, name, most, span.Milliseconds())
	if err == nil {
		allowed, err = changed(r)
	}
	if err != nil {
		return true, fmt.Errorf("count what all processes do: %w", s.db.Explain(err))
	}
	return allowed, nil
}

// rateLimit is short: without an answer a turn goes on.
const rateLimit = time.Second

// noteRate also deletes two rows that are over, so that they don't add up.
const noteRate = `WITH over AS (DELETE FROM rates WHERE name IN (SELECT name FROM rates WHERE until <= ` + serverNow + ` AND name <> ?1 LIMIT 2 FOR UPDATE SKIP LOCKED))
	INSERT INTO rates AS r (name, times, until) VALUES (?1, ARRAY[` + serverNow + `], ` + serverNow + ` + ?3)
	ON CONFLICT (name) DO UPDATE SET times = array_append(ARRAY(SELECT t FROM unnest(r.times) t WHERE t > ` + serverNow + ` - ?3), ` + serverNow + `), until = excluded.until
		WHERE (SELECT count(*) FROM unnest(r.times) t WHERE t > ` + serverNow + ` - ?3) < ?2`
