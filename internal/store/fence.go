package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// What only the holder of a shard may do is done under its newest fence.

// fenceQuery finds the lease of a shard. Until the transaction ends nobody can take it, but it can be renewed.
const fenceQuery = `SELECT fence FROM shards WHERE number = ? AND holder = ? AND fence = ? AND until > ` + serverNow + ` FOR KEY SHARE`

// Check returns [ErrLost] unless this process may finish what it does for a server, or with "" for direct messages. That holds until the end of
// the transaction, which is one of [DB.Write]. A database that is not shared has one process, which may.
func (s *Leases) Check(tx *sql.Tx, guildID string) error { return s.check(tx, guildID, false) }

// check is Check, or with begins for what only the holder of the shard may do.
func (s *Leases) check(tx *sql.Tx, guildID string, begins bool) error {
	s.mu.Lock()
	if s.total == 0 {
		s.mu.Unlock()
		return nil
	}
	shard := s.ShardOf(guildID, s.total)
	l := s.held[shard]
	may := l != nil && !(begins && l.passed)
	s.mu.Unlock()
	if !may {
		return ErrLost
	}
	var fence int64
	err := tx.QueryRow(fenceQuery, shard, s.process, l.fence).Scan(&fence)
	s.mu.Lock()
	passed := l.passed
	s.mu.Unlock()
	if errors.Is(err, sql.ErrNoRows) && passed && !begins {
		err = tx.QueryRow(`SELECT fence FROM finishing WHERE shard = ? AND holder = ? AND fence = ? FOR KEY SHARE`, shard, s.process, l.fence).Scan(&fence)
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !passed || !begins { // else it was passed on just now
		l.lose()
	}
	return ErrLost
}

// change is [DB.Change] for what only the process may do that acts for a server. Unless it begins, what it does is finished also where the
// shard was passed on. The error is [ErrLost] if another process acts for the server.
func (s *Leases) change(ctx context.Context, what, guildID string, begins bool, f func(*sql.Tx) error) error {
	return s.db.Change(ctx, what, func(tx *sql.Tx) error {
		if err := s.check(tx, guildID, begins); err != nil {
			return err
		}
		return f(tx)
	})
}

// Session returns what was saved for a shard, or "", and when that was by the clock of this machine.
func (s *Leases) Session(ctx context.Context, shard int) (session string, saved time.Time, err error) {
	var age int64
	err = s.db.engine.Aside().QueryRowContext(ctx, `SELECT session, `+serverNow+` - seen FROM shards WHERE number = ?`, shard).Scan(&session, &age)
	if err != nil {
		return "", time.Time{}, fmt.Errorf("read the session of a shard: %w", s.db.Explain(err))
	}
	return session, time.Now().Add(-time.Duration(age) * time.Millisecond), nil
}

// SaveSession saves what the next holder of a shard resumes. The error is [ErrLost] if there is one already.
func (s *Leases) SaveSession(ctx context.Context, shard int, session string) error {
	s.mu.Lock()
	l := s.held[shard]
	s.mu.Unlock()
	if l == nil {
		return ErrLost
	}
	r, err := s.db.engine.Aside().ExecContext(ctx, `UPDATE shards SET session = ?, seen = `+serverNow+` WHERE number = ? AND holder = ? AND fence = ?`, session, shard, s.process, l.fence)
	if err != nil {
		return fmt.Errorf("save the session of a shard: %w", s.db.Explain(err))
	}
	saved, err := changed(r)
	if err == nil && !saved {
		err = ErrLost
	}
	return err
}

// SaveServers is [Notes.SetUnder] for the servers of a shard. The error is [ErrLost] if another process holds it.
func (s *Leases) SaveServers(ctx context.Context, values map[string]string) error {
	return s.db.Change(ctx, "save servers", func(tx *sql.Tx) error {
		for guildID := range values { // all of one shard
			if err := s.check(tx, guildID, true); err != nil {
				return err
			}
			break
		}
		return s.db.Notes.setUnder(tx, ServerNote, values)
	})
}

const (
	budgetRow = -1                      // has the day's budget
	startGap  = 5500 * time.Millisecond // between two IDENTIFYs in a bucket; Discord wants 5 s, and one may be sent a little late
)

// Identify waits until an IDENTIFY may be sent in a bucket. left is how many Discord still allows, and reset how long until there are more.
func (s *Leases) Identify(ctx context.Context, bucket, left int, reset time.Duration) error {
	for left > 0 { // without a limit there is nothing to count
		var now int
		var wait int64
		err := s.db.engine.Aside().QueryRowContext(ctx, `INSERT INTO starts (bucket, at, budget) VALUES (?1, `+serverNow+` + ?2, ?3)
			ON CONFLICT (bucket) DO UPDATE SET at = CASE WHEN starts.at <= `+serverNow+` THEN excluded.at ELSE starts.at END,
				budget = CASE WHEN starts.at <= `+serverNow+` THEN excluded.budget ELSE least(excluded.budget, greatest(starts.budget, 0) - 1) END
			RETURNING budget, at - `+serverNow, budgetRow, reset.Milliseconds(), left-1).Scan(&now, &wait)
		if err != nil {
			return fmt.Errorf("count an IDENTIFY: %w", s.db.Explain(err))
		}
		if now >= 0 {
			break
		}
		if err := pause(ctx, time.Duration(wait)*time.Millisecond); err != nil {
			return err
		}
	}
	var wait int64
	err := s.db.engine.Aside().QueryRowContext(ctx, `INSERT INTO starts (bucket, at) VALUES (?1, `+serverNow+`)
		ON CONFLICT (bucket) DO UPDATE SET at = greatest(starts.at + ?2, `+serverNow+`) RETURNING at - `+serverNow, bucket, startGap.Milliseconds()).Scan(&wait)
	if err != nil {
		return fmt.Errorf("wait for an IDENTIFY: %w", s.db.Explain(err))
	}
	return pause(ctx, time.Duration(wait)*time.Millisecond)
}

func pause(ctx context.Context, wait time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(max(0, wait)):
		return nil
	}
}
