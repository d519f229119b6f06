package memory

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"familiar/internal/store"
)

// Forget deletes a statement that may be read, and what it replaced, or returns [store.ErrNotFound]. That somebody forgets what
// is not theirs goes on record.
func (s *Store) Forget(ctx context.Context, w ScopeFilter, id int64, by store.By) error {
	return s.change(ctx, "forget memory", w, id, func(tx *sql.Tx, m Statement) error {
		if err := s.record(tx, m, store.Change{By: by, Kind: store.ChangeMemory, From: m.number()}); err != nil {
			return err
		}
		return s.drop(tx, m.ID)
	})
}

// Pin pins a statement that may be read, or unpins it, or returns [store.ErrNotFound]. That somebody does so to what is not theirs goes on
// record.
func (s *Store) Pin(ctx context.Context, w ScopeFilter, id int64, pinned bool, by store.By) error {
	return s.change(ctx, "pin memory", w, id, func(tx *sql.Tx, m Statement) error {
		if m.Pinned == pinned {
			return nil
		}
		c := store.Change{By: by, Kind: store.ChangePin, To: m.number()}
		if !pinned {
			c.From, c.To = c.To, c.From
		}
		if err := s.record(tx, m, c); err != nil {
			return err
		}
		_, err := tx.Exec(`UPDATE memories SET pinned = ? WHERE id = ?`, pinned, m.ID)
		return err
	})
}

// number is what a statement is known by on record.
func (m Statement) number() string { return strconv.FormatInt(m.ID, 10) }

// record puts on record that somebody changes a statement of a server that is not theirs. Its text is not recorded.
func (s *Store) record(tx *sql.Tx, m Statement, c store.Change) error {
	if c.By.ID == "" || c.By.ID == m.By || m.Kind == Person && c.By.ID == m.Subject || m.Scope.GuildID == "" {
		return nil
	}
	c.GuildID = m.Scope.GuildID
	if m.Scope.Kind == ScopeChannel {
		c.ChannelID = m.Scope.ID
	}
	return s.DB.Changes.RecordIn(tx, c)
}

// change changes a statement that may be read and is not history. The error begins with what.
func (s *Store) change(ctx context.Context, what string, w ScopeFilter, id int64, change func(*sql.Tx, Statement) error) error {
	err := s.DB.Write(ctx, func(tx *sql.Tx) error {
		m, err := statementIn(tx, id)
		if err == nil && (m.Superseded || !w.Allows(m)) {
			err = store.ErrNotFound
		}
		if err != nil {
			return err
		}
		return change(tx, m)
	})
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// drop deletes a statement and what it replaced. A statement that is itself history leaves its place to what it replaced.
func (s *Store) drop(tx *sql.Tx, id int64) error {
	m, err := statementIn(tx, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if m.Superseded {
		if _, err := tx.Exec(`UPDATE memories SET supersedes = ? WHERE supersedes = ?`, m.Supersedes, m.ID); err != nil {
			return err
		}
		return deleteStatement(tx, m)
	}
	if _, err := tx.Exec(unindexMemory, m.ID, m.indexed()); err != nil {
		return err
	}
	for {
		if err := deleteStatement(tx, m); err != nil || m.Supersedes == 0 {
			return err
		}
		if m, err = statementIn(tx, m.Supersedes); err != nil {
			return err
		}
	}
}

// deleteStatement deletes a row, and by a foreign key its sources.
func deleteStatement(tx *sql.Tx, m Statement) error {
	_, err := tx.Exec(`DELETE FROM memories WHERE id = ?`, m.ID)
	return err
}

// dropGroundless deletes those of some statements that rest on nothing.
func (s *Store) dropGroundless(tx *sql.Tx, all []int64) error {
	for _, id := range all {
		var grounded bool
		if err := tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM memory_sources WHERE memory_id = ?)`, id).Scan(&grounded); err != nil {
			return err
		}
		if grounded {
			continue
		}
		if err := s.drop(tx, id); err != nil {
			return err
		}
	}
	return nil
}

// dropWhere deletes the statements for which a condition holds.
func (s *Store) dropWhere(tx *sql.Tx, where string, args ...any) (int, error) {
	rows, err := tx.Query(`SELECT id FROM memories WHERE `+where+` ORDER BY id`, args...)
	all, err := store.Collect(s.DB, "read memories", rows, err, store.ScanValue[int64])
	if err != nil {
		return 0, err
	}
	for _, id := range all {
		if err := s.drop(tx, id); err != nil {
			return 0, err
		}
	}
	return len(all), nil
}

// reindex rebuilds the index of statements.
func (s *Store) reindex(tx *sql.Tx) error {
	if _, err := tx.Exec(emptyMemory); err != nil {
		return err
	}
	rows, err := tx.Query(selectStatement + `WHERE NOT m.superseded`)
	all, err := store.Collect(s.DB, "read memories", rows, err, scanStatement)
	if err != nil {
		return err
	}
	for _, m := range all {
		if _, err := tx.Exec(indexMemory, m.ID, m.indexed()); err != nil {
			return err
		}
	}
	return nil
}

// Prune deletes what the bot learned by itself before a time, unless it is pinned. It returns how many statements those were. What somebody
// asked for stays until somebody deletes it.
func (s *Store) Prune(ctx context.Context, before time.Time) (int, error) {
	return s.deleteWhere(ctx, `by_id = '' AND NOT pinned AND NOT superseded AND learned_at < ?`, before.UnixMicro())
}

// DeleteGuild deletes the memories of a server, and returns how many those were.
func (s *Store) DeleteGuild(ctx context.Context, guildID string) (int, error) {
	return s.deleteWhere(ctx, `guild_id = ?`, guildID)
}

// EraseAll deletes statements and what they replaced.
func (s *Store) EraseAll(ctx context.Context, ids []int64) error {
	if err := store.WriteEach(ctx, s.DB, ids, s.drop); err != nil {
		return fmt.Errorf("delete memories: %w", err)
	}
	return nil
}

// deleteWhere deletes the statements for which a condition holds, in steps. Looking for them holds no writer.
func (s *Store) deleteWhere(ctx context.Context, where string, arg any) (removed int, err error) {
	ids, err := store.List(ctx, s.DB, "read memories", func(row store.Scanner) (id int64, err error) { return id, row.Scan(&id) },
		`SELECT id FROM memories WHERE `+where+` ORDER BY id`, arg)
	if err != nil {
		return 0, err
	}
	err = store.WriteEach(ctx, s.DB, ids, func(tx *sql.Tx, id int64) error {
		n, err := s.dropWhere(tx, `id = ? AND `+where, id, arg)
		removed += n
		return err
	})
	if err != nil {
		return removed, fmt.Errorf("delete memories: %w", err)
	}
	return removed, nil
}

// retract deletes the statements that rest only on a message that is gone or says something else now. It takes the message from the others.
// resting are all that rest on it.
func (s *Store) retract(tx *sql.Tx, messageID string, resting []int64) error {
	if _, err := tx.Exec(`DELETE FROM memory_sources WHERE message_id = ?`, messageID); err != nil {
		return err
	}
	return s.dropGroundless(tx, resting)
}
