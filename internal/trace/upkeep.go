package trace

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"familiar/internal/context/turn"
)

// pruneBatch is how many records go in one transaction, which takes about 10 ms, most of it for their words: turns get between.
const pruneBatch = 5

// Prune removes the records of turns that began before that time, with the page texts that no other record
// has. It returns how many it removed, also where it failed halfway.
func (s *Store) Prune(ctx context.Context, before time.Time) (int, error) {
	removed := 0
	defer s.unremember()
	for {
		var n int
		err := s.DB.WriteStep(ctx, func(tx *sql.Tx) (err error) {
			n, err = prune(tx, before)
			return err
		})
		if err != nil {
			return removed, fmt.Errorf("prune traces: %w", err)
		}
		removed += n
		if n < pruneBatch {
			return removed, nil
		}
	}
}

// PruneOldest removes the oldest records, but none of a turn that began since some time, and returns how many it removed and when the newest of them
// began.
func (s *Store) PruneOldest(ctx context.Context, n int, since time.Time) (removed int, newest time.Time, err error) {
	var began int64
	err = s.DB.Read().QueryRowContext(ctx, `SELECT coalesce(max(began), -1) FROM (SELECT began FROM traces WHERE began < ? ORDER BY began LIMIT ?)`, since.UnixMicro(), n).Scan(&began)
	if err != nil {
		return 0, newest, fmt.Errorf("find the oldest traces: %w", s.DB.Explain(err))
	}
	if began < 0 {
		return 0, newest, nil
	}
	newest = time.UnixMicro(began).UTC()
	removed, err = s.Prune(ctx, newest.Add(time.Microsecond))
	return removed, newest, err
}

func prune(tx *sql.Tx, before time.Time) (int, error) {
	rows, err := tx.Query(`SELECT id FROM traces WHERE began < ? ORDER BY began, id LIMIT ?`, before.UnixMicro(), pruneBatch)
	if err != nil {
		return 0, err
	}
	ids, err := strs(rows)
	if err != nil {
		return 0, err
	}
	return len(ids), remove(tx, ids)
}

// remove removes records, with the texts that no other record has.
func remove(tx *sql.Tx, ids []string) error {
	for _, id := range ids {
		gone, err := readRefs(tx.Query(refsQuery, id))
		if err != nil {
			return err
		}
		if err := dropParts(tx, tx.QueryRow(placeQuery, id)); err != nil {
			return err
		}
		if _, err := tx.Exec(`DELETE FROM traces WHERE id = ?`, id); err != nil {
			return err
		}
		if err := sweep(tx, gone); err != nil {
			return err
		}
	}
	return nil
}

// DeleteGuild removes the records of a server.
func (s *Store) DeleteGuild(ctx context.Context, guildID string) error {
	defer s.unremember()
	for from, more := int64(0), true; more; {
		last := from
		err := s.DB.WriteStep(ctx, func(tx *sql.Tx) error {
			rows, err := tx.Query(`SELECT rowid, id FROM traces WHERE rowid > ? AND guild_id = ? ORDER BY rowid LIMIT ?`, from, guildID, pruneBatch)
			if err != nil {
				return err
			}
			defer rows.Close()
			var ids []string
			for rows.Next() {
				var id string
				if err := rows.Scan(&last, &id); err != nil {
					return err
				}
				ids = append(ids, id)
			}
			if err := errors.Join(rows.Err(), rows.Close()); err != nil {
				return err
			}
			more = len(ids) == pruneBatch
			return remove(tx, ids)
		})
		if err != nil {
			return fmt.Errorf("delete records of server %s: %w", guildID, err)
		}
		from = last
	}
	return nil
}

// cutShort is the cause given to a turn that was found unfinished.
const cutShort = "the process ended before the turn did"

// Interrupt marks all turns that are not finished as interrupted and returns how many those were. It is for
// the start of the process, before any turn has begun.
func (s *Store) Interrupt(ctx context.Context) (int, error) {
	prepared, err := s.prepare(ctx)
	if err != nil {
		return 0, fmt.Errorf("mark interrupted turns: %w", err)
	}
	var ids []string
	err = s.DB.Write(ctx, func(tx *sql.Tx) error {
		rows, err := tx.Query(`SELECT id FROM traces WHERE phase IN ('begun', 'answering')`) // words of the index: no parameters
		if err != nil {
			return err
		}
		if ids, err = strs(rows); err != nil {
			return err
		}
		for _, id := range ids {
			if err := s.interrupt(tx, prepared, id); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("mark interrupted turns: %w", err)
	}
	return len(ids), nil
}

func (s *Store) interrupt(tx *sql.Tx, prepared *statements, id string) error {
	_, body, err := readBody(tx.Query(bodyQuery+`WHERE t.id = ? ORDER BY p.id`, id))
	if err != nil {
		return err
	}
	cause, said := cutShort, ""
	if t, err := s.decode(body); err == nil { // one that can't be read must not keep the bot from starting
		cause = cmp.Or(t.Err, cutShort)
		t.Phase, t.Err = turn.Interrupted, cause
		said = s.said(t)
		text, err := encode(t)
		if err != nil {
			return err
		}
		body = s.packer.pack(text)
	}
	at, err := prepared.saveParts(tx, body)
	if err != nil {
		return err
	}
	if _, err := tx.Stmt(prepared.close).Exec(id); err != nil {
		return err
	}
	_, err = tx.Exec(`UPDATE traces SET phase = ?, err = ?, said = ?, part = ?, parts = ?, record = '' WHERE id = ?`, turn.Interrupted, cause, said, at.first, at.n, id)
	return err
}
