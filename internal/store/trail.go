package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"
)

// Trail is where a person is found in the store. It goes stale: what is written later is not on it.
type Trail struct {
	Person   string           // their id
	Before   time.Time        // what they did later is not on it; zero: all is
	Names    map[string]bool  // under which they were seen
	Messages map[string]bool  // ids of what they wrote
	Words    []string         // what they wrote, and what is remembered of it
	Turns    map[string]bool  // their turns; package trace finds them
	Direct   map[string]bool  // channels that they alone share with the bot
	Memories map[int64]bool   // statements that are theirs
	Counts   map[DataKind]int // but for records, and quotes
	answers  map[string]bool  // ids of the bot's messages to them
}

// NewTrail is a trail without anything on it.
func NewTrail(personID string, before time.Time) *Trail {
	return &Trail{Person: personID, Before: before, Names: map[string]bool{}, Messages: map[string]bool{}, Turns: map[string]bool{}, Memories: map[int64]bool{},
		Direct: map[string]bool{"user:" + personID: true}, answers: map[string]bool{}}
}

// Follow finds a person in the store, by what is on the trail already, and counts what is there now.
func (db *DB) Follow(ctx context.Context, t *Trail) error {
	t.Counts = map[DataKind]int{}
	for _, step := range []func(context.Context, *Trail) error{db.trailMessages, db.trailAnswers, db.trailMemories, db.trailClaims, db.trailRows} {
		if err := step(ctx, t); err != nil {
			return fmt.Errorf("find a person: %w", db.Explain(err))
		}
	}
	return nil
}

// trailMessages finds what they wrote. There is no index of authors, which would cost more than it is used.
func (db *DB) trailMessages(ctx context.Context, t *Trail) error {
	rows, err := db.readers.QueryContext(ctx, `SELECT id, channel_id, guild_id, author_name, text, note FROM messages
		WHERE author_id = ? AND NOT own AND at <= ?`, t.Person, t.before())
	err = each(rows, err, func(row scanner) error {
		var id, channel, guild, name, text, note string
		if err := row.Scan(&id, &channel, &guild, &name, &text, &note); err != nil {
			return err
		}
		t.Messages[id], t.Names[name] = true, true
		t.Counts[DataMessages]++
		t.Words = append(t.Words, text, note)
		if guild == "" {
			t.Direct[channel] = true
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := db.trailSources(ctx, t); err != nil {
		return err
	}
	rows, err = db.readers.QueryContext(ctx, `SELECT name FROM people WHERE author_id = ? UNION SELECT by_name FROM backdrops WHERE by_id = ?`, t.Person, t.Person)
	err = each(rows, err, func(row scanner) error {
		var name string
		err := row.Scan(&name)
		t.Names[name] = true
		return err
	})
	delete(t.Names, "")
	return err
}

// trailSources finds messages of theirs that are not kept any more, but on which memory rests.
func (db *DB) trailSources(ctx context.Context, t *Trail) error {
	rows, err := db.readers.QueryContext(ctx, `SELECT DISTINCT message_id FROM memory_sources s WHERE author_id = ?
		AND substr(message_id, 1, length(?)) <> ? AND NOT EXISTS (SELECT 1 FROM messages WHERE id = s.message_id)`, t.Person, commandSource, commandSource)
	return each(rows, err, func(row scanner) error {
		var id string
		err := row.Scan(&id)
		t.Messages[id] = true
		return err
	})
}

// trailAnswers finds what the bot wrote to them, by the messages, the turns and the channels that are theirs.
func (db *DB) trailAnswers(ctx context.Context, t *Trail) error {
	rows, err := db.readers.QueryContext(ctx, `SELECT id, channel_id, reply_to, turn_id FROM messages WHERE own`)
	err = each(rows, err, func(row scanner) error {
		var id, channel, replyTo, turn string
		if err := row.Scan(&id, &channel, &replyTo, &turn); err != nil {
			return err
		}
		if t.Messages[replyTo] || t.Direct[channel] || t.Turns[turn] {
			t.answers[id] = true
			t.Counts[DataAnswers]++
		}
		return nil
	})
	return err
}

// trailMemories finds what is remembered of them or at their wish, what rests on messages of theirs, and of the bot to them, alone, and
// summaries that tell of their messages.
func (db *DB) trailMemories(ctx context.Context, t *Trail) error {
	all, err := db.ExportMemories(ctx)
	for _, m := range all {
		if t.remembers(m) {
			t.Memories[m.ID], t.Words = true, append(t.Words, m.Text)
			t.Counts[DataMemories]++
		}
	}
	if err != nil {
		return err
	}
	rows, err := db.readers.QueryContext(ctx, `SELECT `+summaryColumns+` FROM summaries`)
	return each(rows, err, func(row scanner) error {
		s, err := scanSummary(row)
		theirs := 0
		for _, one := range s.Sentences {
			if slices.ContainsFunc(one.Sources, func(id string) bool { return t.Messages[id] }) {
				t.Words = append(t.Words, one.Text)
				theirs++
			}
		}
		if theirs > 0 && !t.Direct[s.ChannelID] { // those are in the plan
			t.Counts[DataMemories]++
		}
		return err
	})
}

// remembers reports whether a statement is theirs.
func (t *Trail) remembers(m Memory) bool {
	if m.By == t.Person || m.Kind == MemoryPerson && m.Subject == t.Person || m.Scope.Kind == ScopeDM && t.Direct[m.Scope.ID] {
		return true
	}
	return len(m.Sources) > 0 && !slices.ContainsFunc(m.Sources, func(id string) bool { return !t.Messages[id] && !t.answers[id] })
}

// trailClaims counts what waits for an answer to them, and messages of theirs that are being deleted.
func (db *DB) trailClaims(ctx context.Context, t *Trail) error {
	rows, err := db.readers.QueryContext(ctx, `SELECT event FROM claims WHERE state <> 'done'`)
	err = each(rows, err, func(row scanner) error {
		var event string
		err := row.Scan(&event)
		if asked, replied := t.inEvent(event); asked || replied {
			t.Counts[DataPending]++
		}
		return err
	})
	if err != nil {
		return err
	}
	rows, err = db.readers.QueryContext(ctx, `SELECT message_id FROM forgetting`)
	return each(rows, err, func(row scanner) error {
		var id string
		err := row.Scan(&id)
		if t.Messages[id] {
			t.Counts[DataPending]++
		}
		return err
	})
}

// trailRows counts what the plan has conditions for.
func (db *DB) trailRows(ctx context.Context, t *Trail) error {
	args := t.args(db, time.Now())
	for _, p := range plan {
		if p.rows == "" || p.kind == "" {
			continue
		}
		n := 0
		if err := db.readers.QueryRowContext(ctx, `SELECT count(*) FROM `+p.table+` WHERE `+p.rows, args...).Scan(&n); err != nil {
			return fmt.Errorf("%s: %w", p.table, err)
		}
		t.Counts[p.kind] += n
	}
	return nil
}

func (t *Trail) args(db *DB, now time.Time) []any {
	return []any{sql.Named("before", t.before()), sql.Named("person", t.Person), sql.Named("who", db.Pseudonym(t.Person)), sql.Named("today", day(now)),
		sql.Named("direct", listed(sorted(t.Direct)))}
}

func (t *Trail) before() int64 {
	if t.Before.IsZero() {
		return math.MaxInt64
	}
	return t.Before.UnixMicro()
}

// inEvent reports whether an event is theirs, and whether it replies to a message of theirs.
func (t *Trail) inEvent(event string) (asked, replied bool) {
	message, reply := authorsOf(event)
	theirs := func(w written) bool { return w.id == t.Person && (t.Before.IsZero() || !w.at.After(t.Before)) }
	return theirs(message), theirs(reply)
}

func sorted(all map[string]bool) []string { return slices.Sorted(maps.Keys(all)) }

// each calls do for each row of a query, which failed if err is not nil.
func each(rows *sql.Rows, err error, do func(scanner) error) error {
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := do(rows); err != nil {
			return err
		}
	}
	return errors.Join(rows.Err(), rows.Close())
}
