package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

const (
	// eraseBatch is how many messages go in one transaction: few enough for others to get between.
	eraseBatch = 20
	// longQuote is how many bytes must agree for a text of others to be taken for a quote: whole sentences.
	longQuote = 24
)

// BeginErasure notes that a person is being forgotten. From then on nothing that they did up to that time is kept any more, whoever is
// about to write it, and a restart goes on with it until [DB.EndErasure].
func (db *DB) BeginErasure(ctx context.Context, personID string, byOperator bool, at time.Time) error {
	err := db.Write(ctx, func(tx *sql.Tx) error {
		db.standings.Store(true)
		_, err := tx.Exec(`INSERT INTO privacy (who, opted_out, forgotten) VALUES (?, 0, ?) ON CONFLICT (who) DO UPDATE SET forgotten = max(forgotten, excluded.forgotten)`,
			db.Pseudonym(personID), at.UnixMicro())
		if err == nil {
			_, err = tx.Exec(`INSERT INTO erasures (person_id, at, by_operator) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`, personID, at.UnixMicro(), byOperator)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("begin to forget a person: %w", err)
	}
	return nil
}

// Erasure is somebody who is being forgotten, with what they did up to a time.
type Erasure struct {
	PersonID   string
	At         time.Time
	ByOperator bool // and not by the person
}

// Erasures returns who is being forgotten: an earlier process may not have come to the end of it.
func (db *DB) Erasures(ctx context.Context) ([]Erasure, error) {
	rows, err := db.readers.QueryContext(ctx, `SELECT person_id, at, by_operator FROM erasures ORDER BY at`)
	return collect(db, "read who is being forgotten", rows, err, func(row scanner) (e Erasure, err error) {
		var at int64
		err = row.Scan(&e.PersonID, &at, &e.ByOperator)
		e.At = time.UnixMicro(at).UTC()
		return e, err
	})
}

// EndErasure overwrites what is left of a person's bytes, see [DB.Scrub], and puts on record that they were forgotten, and who asked for it.
func (db *DB) EndErasure(ctx context.Context, personID string) error {
	if err := db.Scrub(ctx); err != nil {
		return err
	}
	err := db.Write(ctx, func(tx *sql.Tx) error {
		var byOperator bool
		err := tx.QueryRow(`DELETE FROM erasures WHERE person_id = ? RETURNING by_operator`, personID).Scan(&byOperator)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		return db.logAct(tx, personID, ActForget, byOperator, time.Now())
	})
	if err != nil {
		return fmt.Errorf("put on record that a person was forgotten: %w", err)
	}
	return db.Explain(db.emptyLog(ctx)) // their id was there until now
}

// Erase deletes all that is on a trail but for records, which package trace deletes before it. It does so in small transactions; whoever
// writes meanwhile does not wait long.
func (db *DB) Erase(ctx context.Context, t *Trail) error {
	defer db.names.changed()
	defer db.settings.changed()
	mine := slices.Concat(sorted(t.Messages), sorted(t.answers))
	for ids := range slices.Chunk(mine, eraseBatch) {
		if err := db.Write(ctx, func(tx *sql.Tx) error { return db.eraseMessages(tx, ids) }); err != nil {
			return fmt.Errorf("delete a person's messages: %w", err)
		}
	}
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(t.Memories)), eraseBatch) {
		if err := db.Write(ctx, func(tx *sql.Tx) error { return db.eraseMemories(tx, ids) }); err != nil {
			return fmt.Errorf("delete what is remembered of a person: %w", err)
		}
	}
	if _, err := db.Quotes(ctx, t, true); err != nil {
		return err
	}
	if err := db.Write(ctx, func(tx *sql.Tx) error { return db.eraseEvents(tx, t) }); err != nil {
		return fmt.Errorf("delete what waits for an answer to a person: %w", err)
	}
	args := t.args(db, time.Now())
	for _, p := range plan {
		query := `DELETE FROM ` + p.table + ` WHERE ` + p.rows
		switch {
		case p.rows == "":
			continue
		case p.set != "":
			query = `UPDATE OR REPLACE ` + p.table + ` SET ` + p.set + ` WHERE ` + p.rows
		}
		if _, err := db.exec(ctx, "delete a person's "+p.table, query, args...); err != nil {
			return err
		}
	}
	return nil
}

// eraseMessages deletes messages with their claims, and no record is found by them any more.
func (db *DB) eraseMessages(tx *sql.Tx, ids []string) error {
	for _, id := range ids {
		row, m, err := db.rowOf(tx, id)
		switch {
		case err != nil:
		case row > 0:
			err = db.deleteRow(tx, row, m)
		default: // it was not kept any more; what was learned from it may be
			err = db.unsay(tx, id)
		}
		for _, query := range []string{
			`DELETE FROM claims WHERE event_id = ?1 OR event_id > ?1 || '/' AND event_id < ?1 || '0'`, // '0' is what follows '/'
			`DELETE FROM trace_quotes WHERE message_id = ?`,
			`DELETE FROM forgetting WHERE message_id = ?`,
			`DELETE FROM posts WHERE message_id = ?`,
		} {
			if err == nil {
				_, err = tx.Exec(query, id)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (db *DB) eraseMemories(tx *sql.Tx, ids []int64) error {
	for _, id := range ids {
		if err := db.dropMemory(tx, id); err != nil {
			return err
		}
	}
	return nil
}

// eraseEvents deletes what waits for an answer to a person, and takes their messages out of what waits for others to be answered.
func (db *DB) eraseEvents(tx *sql.Tx, t *Trail) error {
	change := map[string]string{} // by claim, the new event
	rows, err := tx.Query(`SELECT event_id, event FROM claims WHERE state <> 'done'`)
	err = each(rows, err, func(row scanner) (err error) {
		var id, event string
		if err := row.Scan(&id, &event); err != nil {
			return err
		}
		asked, replied := t.inEvent(event)
		switch {
		case asked:
			change[id] = ""
		case replied:
			change[id], err = withoutReply(event)
		}
		return err
	})
	for id, event := range change {
		switch {
		case err != nil:
		case event == "":
			_, err = tx.Exec(`DELETE FROM claims WHERE event_id = ?`, id)
		default:
			_, err = tx.Exec(`UPDATE claims SET event = ? WHERE event_id = ?`, event, id)
		}
	}
	return err
}

// Quotes counts the bot's messages to others that hold whole sentences of the person's, and takes these out of them, if that is wanted.
func (db *DB) Quotes(ctx context.Context, t *Trail, takeOut bool) (n int, err error) {
	marker := t.Marker(longQuote)
	if marker == nil {
		return 0, nil
	}
	change := map[string]string{}
	rows, err := db.readers.QueryContext(ctx, `SELECT id, text FROM messages WHERE own`)
	err = each(rows, err, func(row scanner) error {
		var id, text string
		if err := row.Scan(&id, &text); err != nil {
			return err
		}
		if !t.answers[id] {
			if marked := marker.Replace(text); marked != text {
				change[id] = marked
			}
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("find quotes: %w", db.Explain(err))
	}
	if takeOut {
		for id, text := range change {
			if _, err := db.EditMessage(ctx, id, text); err != nil {
				return 0, err
			}
		}
	}
	return len(change), nil
}

// DeletedMark stands where words were that are deleted.
const DeletedMark = "(deleted)"

// Marker puts DeletedMark in the place of what the person wrote, where that is at least so many bytes long; nil if nothing is.
func (t *Trail) Marker(atLeast int) *strings.Replacer {
	var long []string
	for _, w := range t.Words {
		if w = strings.TrimSpace(w); len(w) < atLeast {
			continue
		}
		line := strings.Join(strings.Fields(w), " ")
		long = append(long, w, line)
		if r := []rune(line); len(r) > 80 { // as a reply quotes it
			long = append(long, strings.TrimSpace(string(r[:80])))
		}
		for l := range strings.Lines(w) { // as lines of a quote
			if l = strings.TrimSpace(l); len(l) >= atLeast {
				long = append(long, l)
			}
		}
	}
	if len(long) == 0 {
		return nil
	}
	slices.SortFunc(long, func(a, b string) int { return len(b) - len(a) })
	pairs := make([]string, 0, 2*len(long))
	for _, w := range slices.Compact(long) {
		pairs = append(pairs, w, DeletedMark)
	}
	return strings.NewReplacer(pairs...)
}
