package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

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
	(SELECT id FROM processes WHERE until > ` + serverNow + ` UNION ALL SELECT holder FROM shards WHERE until > ` + serverNow + `)`

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
