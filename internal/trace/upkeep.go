package trace

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/store"
)

// Prune removes the records of turns that began before a time, and the texts that no other record has. It returns how many records it
// removed, also if it failed halfway.
func (s *Store) Prune(ctx context.Context, before time.Time) (int, error) {
	n, err := s.removeWhere(ctx, `began < ?`, before.UnixMicro())
	if err != nil {
		return n, fmt.Errorf("prune traces: %w", err)
	}
	return n, nil
}

// DeleteGuild removes the records of a server, and returns how many those were.
func (s *Store) DeleteGuild(ctx context.Context, guildID string) (int, error) {
	n, err := s.removeWhere(ctx, `guild_id = ?`, guildID)
	if err != nil {
		return n, fmt.Errorf("delete records of server %s: %w", guildID, err)
	}
	return n, nil
}

// Oldest returns when the newest of the n oldest records began, among those that began before a time. It is the zero time if there are none.
func (s *Store) Oldest(ctx context.Context, n int, before time.Time) (time.Time, error) {
	row := s.DB.Read().QueryRowContext(ctx, `SELECT coalesce(max(began), 0) FROM (SELECT began FROM traces WHERE began < ? ORDER BY began LIMIT ?) AS oldest`, before.UnixMicro(), n)
	return store.One(s.DB, "find the oldest traces", row, store.ScanTime)
}

// removeRead is how many ids are read at a time.
const removeRead = 1000

// removeWhere removes the records for which a condition holds, oldest first.
func (s *Store) removeWhere(ctx context.Context, where string, arg any) (removed int, err error) {
	for more := true; more; {
		ids, err := store.List(ctx, s.DB, "list ids", store.ScanValue[string], `SELECT id FROM traces WHERE `+where+` ORDER BY began, id LIMIT ?`, arg, removeRead)
		if err != nil {
			return removed, err
		}
		n, err := s.Remove(ctx, ids, false)
		if removed += n; err != nil {
			return removed, err
		}
		more = len(ids) == removeRead
	}
	return removed, nil
}

// Remove removes records, and the texts that no other record has. It returns how many records it removed, also if it failed halfway. If
// forgotten is set, turns among them that still go on keep nothing from then on.
func (s *Store) Remove(ctx context.Context, ids []string, forgotten bool) (removed int, err error) {
	defer s.forgetSaved()
	err = store.WriteEach(ctx, s.DB, ids, func(tx *sql.Tx, id string) error {
		if forgotten {
			if err := errors.Join(s.DB.Privacy.LeaveUnkept(tx, id), s.DB.Claims.End(tx, id)); err != nil {
				return err
			}
		}
		removed++
		return remove(tx, id)
	})
	if err != nil {
		return removed, fmt.Errorf("remove records: %w", err)
	}
	return removed, nil
}

func remove(tx *sql.Tx, id string) error {
	gone, err := readRefs(tx.Query(refsQuery, id))
	if err != nil {
		return err
	}
	if err := dropParts(tx, tx.QueryRow(placeQuery, id)); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if _, err := tx.Exec(`DELETE FROM traces WHERE id = ?`, id); err != nil {
		return err
	}
	return sweep(tx, gone)
}

// cutShort is the error of a turn that was found unfinished.
const cutShort = "the process ended before the turn did"

// Interrupt marks the turns that are not over as interrupted, and returns how many those were. mine names the servers whose turns are meant, and
// with "" direct messages. It is called before this process begins a turn there.
func (s *Store) Interrupt(ctx context.Context, mine func(guildID, id string) bool) (n int, err error) {
	type begun struct{ id, guild string }
	all, err := store.List(ctx, s.DB, "list interrupted turns", func(row store.Scanner) (b begun, err error) {
		err = row.Scan(&b.id, &b.guild)
		return b, err
	}, `SELECT id, guild_id FROM traces WHERE phase IN ('begun', 'answering')`) // literals, as the partial index has them
	all = slices.DeleteFunc(all, func(b begun) bool { return !mine(b.guild, b.id) })
	if err != nil || len(all) == 0 {
		return 0, err
	}
	prepared, err := s.prepare(ctx)
	if err == nil {
		err = s.DB.Write(ctx, func(tx *sql.Tx) error {
			for _, b := range all {
				if err := s.interrupt(tx, prepared, b.id); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err != nil {
		return 0, fmt.Errorf("mark interrupted turns: %w", err)
	}
	return len(all), nil
}

func (s *Store) interrupt(tx *sql.Tx, prepared *statements, id string) error {
	_, body, err := readBody(tx.Query(bodyQuery+`WHERE t.id = ? ORDER BY p.id`, id))
	if err != nil {
		return err
	}
	cause, said := cutShort, ""
	if t, err := s.decode(body); err == nil { // a record that can't be read must not keep the bot from starting
		cause = cmp.Or(t.Err, cutShort)
		t.Phase, t.Err = turn.Interrupted, cause
		said = s.searchText(t)
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
