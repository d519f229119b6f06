package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Prune deletes the messages written before a time, and returns how many those were. What was learned from them stays.
// Rows are in order of arrival: it looks no further than the first message that is not so old.
func (s *Messages) Prune(ctx context.Context, before time.Time) (int, error) {
	return s.dropWhere(ctx, `rowid < coalesce((SELECT rowid FROM messages WHERE at >= @before ORDER BY rowid LIMIT 1), 4611686018427387904)`, Args{"before": before.UnixMicro()}, false)
}

// DeleteGuild deletes the messages of a server, and returns how many those were.
func (s *Messages) DeleteGuild(ctx context.Context, guildID string) (int, error) {
	return s.dropWhere(ctx, `guild_id = @server`, Args{"server": guildID}, false)
}

// Erase deletes messages, what was learned from them, and what finds records and answers by them. They need not be kept any more.
func (s *Messages) Erase(ctx context.Context, ids []string) error {
	return s.dropEach(ctx, ids, true)
}

// dropWhere deletes the messages for which a condition holds, and returns how many those were.
func (s *Messages) dropWhere(ctx context.Context, where string, args Args, erase bool) (int, error) {
	ids, err := List(ctx, s.db, "read messages", ScanValue[string], `SELECT id FROM messages WHERE `+where, args.named()...)
	if err == nil {
		err = s.dropEach(ctx, ids, erase)
	}
	return len(ids), err
}

// dropEach deletes messages in steps. Erase says that everything goes that comes from them.
func (s *Messages) dropEach(ctx context.Context, ids []string, erase bool) error {
	err := WriteEach(ctx, s.db, ids, func(tx *sql.Tx, id string) error {
		row, m, err := s.rowOf(tx, id)
		if err == nil && row > 0 {
			_, err = s.dropRow(tx, row, m)
		}
		if err == nil && erase {
			err = s.eraseTraces(tx, id)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("delete messages: %w", err)
	}
	return nil
}

// eraseTraces deletes what comes from a message outside its table.
func (s *Messages) eraseTraces(tx *sql.Tx, id string) error {
	for _, query := range []string{
		`DELETE FROM claims WHERE event_id = ?1 OR event_id > ?1 || '/' AND event_id < ?1 || '0'`, // '0' follows '/'
		`DELETE FROM trace_quotes WHERE message_id = ?`,
		`DELETE FROM forgetting WHERE message_id = ?`,
		`DELETE FROM posts WHERE message_id = ?`,
	} {
		if _, err := tx.Exec(query, id); err != nil {
			return err
		}
	}
	return s.dropStatements(tx, id)
}

// Oldest returns when the newest of the n oldest messages was written, among those written before a time. It is the zero time if
// there are none.
func (s *Messages) Oldest(ctx context.Context, n int, before time.Time) (time.Time, error) {
	row := s.db.readers.QueryRowContext(ctx, `SELECT coalesce(max(at), 0) FROM (SELECT at FROM messages WHERE at < ? ORDER BY rowid LIMIT ?) AS oldest`, before.UnixMicro(), n)
	return One(s.db, "find the oldest messages", row, ScanTime)
}

// Prune deletes the names of people who have not spoken in a server since a time. It returns how many those were. It allows for the ten
// minutes within which speaking again is not noted.
func (s *People) Prune(ctx context.Context, before time.Time) (int, error) {
	return s.db.ChangeRows(ctx, "people", "guild_id, author_id", `at < @before`, "", Args{"before": before.Add(-metAgain).UnixMicro()})
}

// Leave notes that the bot has left a server, unless that is known.
func (s *Guilds) Leave(ctx context.Context, guildID string, at time.Time) error {
	s.db.left.Store(true)
	_, err := s.db.Exec(ctx, "leave server", `INSERT INTO left_guilds (guild_id, at) VALUES (?, ?) ON CONFLICT DO NOTHING`, guildID, at.UnixMicro())
	return err
}

// Return notes that the bot is in a server again, so that nothing of the server is deleted.
func (s *Guilds) Return(ctx context.Context, guildID string) error {
	_, err := s.db.Exec(ctx, "return to server", `DELETE FROM left_guilds WHERE guild_id = ?`, guildID)
	return err
}

// List returns the servers from which something is kept.
func (s *Guilds) List(ctx context.Context) ([]string, error) {
	return List(ctx, s.db, "list servers", ScanValue[string], `SELECT guild_id FROM people UNION SELECT guild_id FROM channels WHERE guild_id <> '' UNION
		SELECT guild_id FROM castings WHERE guild_id <> '' UNION SELECT guild_id FROM backdrops WHERE guild_id <> '' UNION
		SELECT guild_id FROM memories WHERE guild_id <> '' UNION
		SELECT guild_id FROM changes WHERE guild_id <> '' UNION SELECT guild_id FROM left_guilds`)
}

// Left returns the servers that the bot left before a time and from which something may still be kept.
func (s *Guilds) Left(ctx context.Context, before time.Time) ([]string, error) {
	return List(ctx, s.db, "list servers", ScanValue[string], `SELECT guild_id FROM left_guilds WHERE at < ? ORDER BY at`, before.UnixMicro())
}

// BeginErasure notes that a person is being forgotten. From then on nothing that they did up to that time is kept. It does not matter which
// goroutine or process is about to write it. A restart resumes the erasure until [Privacy.EndErasure].
func (s *Privacy) BeginErasure(ctx context.Context, personID string, byOperator bool, at time.Time) error {
	return s.db.Change(ctx, "begin to forget a person", func(tx *sql.Tx) error {
		s.db.standings.Store(true)
		_, err := tx.Exec(`INSERT INTO privacy (who, opted_out, forgotten) VALUES (?, 0, ?) ON CONFLICT (who) DO UPDATE SET forgotten = max(privacy.forgotten, excluded.forgotten)`,
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
	err := s.db.Change(ctx, "put on record that a person was forgotten", func(tx *sql.Tx) error {
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
		return err
	}
	return s.db.Explain(s.db.engine.Carry(ctx, true)) // their id was there until now
}

// EraseEvents deletes the events of a person that wait for an answer. It takes the person's messages out of the waiting events of others.
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
	err = WriteEach(ctx, s.db, slices.Collect(maps.Keys(changes)), func(tx *sql.Tx, id string) error {
		query, args := `UPDATE claims SET event = ? WHERE event_id = ? AND state <> 'done'`, []any{changes[id], id}
		if changes[id] == "" {
			query, args = `DELETE FROM claims WHERE event_id = ? AND state <> 'done'`, []any{id}
		}
		_, err := tx.Exec(query, args...)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("erase events: %w", err)
	}
	return len(changes), nil
}
