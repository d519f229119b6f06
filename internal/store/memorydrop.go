package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
)

// Forget deletes a statement that may be read, and what it replaced, or returns [ErrNotFound]. That somebody forgets what
// is not theirs goes on record.
func (s *Memories) Forget(ctx context.Context, w ScopeFilter, id int64, by By) error {
	return s.change(ctx, "forget memory", w, id, func(tx *sql.Tx, m Memory) error {
		if err := s.record(tx, m, Change{By: by, Kind: ChangeMemory, From: m.number()}); err != nil {
			return err
		}
		return s.drop(tx, m.ID)
	})
}

// Pin pins a statement that may be read, or unpins it, or returns [ErrNotFound]. That somebody does so to what is not theirs goes on
// record.
func (s *Memories) Pin(ctx context.Context, w ScopeFilter, id int64, pinned bool, by By) error {
	return s.change(ctx, "pin memory", w, id, func(tx *sql.Tx, m Memory) error {
		if m.Pinned == pinned {
			return nil
		}
		c := Change{By: by, Kind: ChangePin, To: m.number()}
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
func (m Memory) number() string { return strconv.FormatInt(m.ID, 10) }

// record puts on record that somebody changes a statement of a server that is not theirs. What it says is on no record.
func (s *Memories) record(tx *sql.Tx, m Memory, c Change) error {
	if c.By.ID == "" || c.By.ID == m.By || m.Kind == MemoryPerson && c.By.ID == m.Subject || m.Scope.GuildID == "" {
		return nil
	}
	c.GuildID = m.Scope.GuildID
	if m.Scope.Kind == ScopeChannel {
		c.ChannelID = m.Scope.ID
	}
	return s.db.Changes.record(tx, c)
}

// change changes a statement that may be read and is no history. The error begins with what.
func (s *Memories) change(ctx context.Context, what string, w ScopeFilter, id int64, change func(*sql.Tx, Memory) error) error {
	err := s.db.Write(ctx, func(tx *sql.Tx) error {
		m, err := memoryIn(tx, id)
		if err == nil && (m.Superseded || !w.Allows(m)) {
			err = ErrNotFound
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
func (s *Memories) drop(tx *sql.Tx, id int64) error {
	m, err := memoryIn(tx, id)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if m.Superseded {
		if _, err := tx.Exec(`UPDATE memories SET supersedes = ? WHERE supersedes = ?`, m.Supersedes, m.ID); err != nil {
			return err
		}
		return deleteMemory(tx, m)
	}
	if _, err := tx.Exec(unindexMemory, m.ID, m.indexed()); err != nil {
		return err
	}
	for {
		if err := deleteMemory(tx, m); err != nil || m.Supersedes == 0 {
			return err
		}
		if m, err = memoryIn(tx, m.Supersedes); err != nil {
			return err
		}
	}
}

// deleteMemory deletes a row, and by a foreign key its sources.
func deleteMemory(tx *sql.Tx, m Memory) error {
	_, err := tx.Exec(`DELETE FROM memories WHERE id = ?`, m.ID)
	return err
}

// dropSource deletes the statements that rest on a message alone, which is gone or says something else now, and takes it from the others.
func (s *Memories) dropSource(tx *sql.Tx, messageID string) error {
	all, err := memoryIDs(s.db.stmt(tx, restingOn).Query(messageID))
	if err != nil || len(all) == 0 {
		return err
	}
	if _, err := tx.Exec(`DELETE FROM memory_sources WHERE message_id = ?`, messageID); err != nil {
		return err
	}
	return s.dropGroundless(tx, all)
}

// restingOn finds the statements that rest on a message.
const restingOn = `SELECT memory_id FROM memory_sources WHERE message_id = ? ORDER BY memory_id`

// dropGroundless deletes those of some statements that rest on nothing.
func (s *Memories) dropGroundless(tx *sql.Tx, all []int64) error {
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
func (s *Memories) dropWhere(tx *sql.Tx, where string, args ...any) (int, error) {
	all, err := memoryIDs(tx.Query(`SELECT id FROM memories WHERE `+where+` ORDER BY id`, args...))
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

// memoryIDs reads ids to the end, so that the rows may be changed.
func memoryIDs(rows *sql.Rows, err error) (all []int64, _ error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		all = append(all, id)
	}
	return all, rows.Err()
}

// reindex rebuilds the index of statements.
func (s *Memories) reindex(tx *sql.Tx) error {
	if _, err := tx.Exec(emptyMemory); err != nil {
		return err
	}
	rows, err := tx.Query(selectMemory + `WHERE NOT m.superseded`)
	all, err := collect(s.db, "read memories", rows, err, scanMemory)
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

// Consent reports whether a person has agreed that the bot learns about them by itself.
func (s *Privacy) Consent(ctx context.Context, userID string) (agreed bool, err error) {
	err = s.db.readers.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM consents WHERE user_id = ?)`, userID).Scan(&agreed)
	if err != nil {
		return false, fmt.Errorf("read consent: %w", s.db.Explain(err))
	}
	return agreed, nil
}

// SetConsent saves whether a person agrees. If they no longer agree, it deletes everything that the bot learned about them by itself. It
// returns how many statements it deleted.
func (s *Privacy) SetConsent(ctx context.Context, who By, agrees bool) (deleted int, err error) {
	err = s.db.Write(ctx, func(tx *sql.Tx) (err error) {
		deleted = 0
		var agreed bool
		err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM consents WHERE user_id = ?)`, who.ID).Scan(&agreed)
		if err == nil {
			err = s.db.Changes.record(tx, Change{By: who, Kind: ChangeLearning, From: onOff(agreed), To: onOff(agrees)})
		}
		if err != nil {
			return err
		}
		if agrees {
			if err := s.consenting(tx, who.ID, who.At); err != nil {
				return err
			}
			_, err = tx.Exec(`INSERT INTO consents (user_id, at) VALUES (?, ?) ON CONFLICT DO NOTHING`, who.ID, who.At.UnixMicro())
			return err
		}
		if _, err = tx.Exec(`DELETE FROM consents WHERE user_id = ?`, who.ID); err == nil {
			deleted, err = s.db.Memories.dropWhere(tx, `kind = ? AND subject = ? AND by_id = ''`, MemoryPerson, who.ID)
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("keep consent: %w", err)
	}
	return deleted, nil
}
