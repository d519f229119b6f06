package trace

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/store"
)

// Erased is how much of a person there was, and how much is left, by kind.
type Erased struct{ Before, After map[store.DataKind]int }

// Left is how much is left in all.
func (e Erased) Left() (n int) {
	for _, left := range e.After {
		n += left
	}
	return n
}

// Erase forgets a person: it deletes all that was kept of them up to a time, also what is being written at that moment, and then looks again.
// What was asked for and not finished, be it by another process, [Store.Unerased] lists.
func (s *Store) Erase(ctx context.Context, personID string, byOperator bool, at time.Time) (e Erased, err error) {
	s.erasing.Lock()
	defer s.erasing.Unlock()
	defer func() {
		if err != nil {
			err = fmt.Errorf("forget a person: %w", err)
		}
	}()
	if err := s.DB.BeginErasure(ctx, personID, byOperator, at); err != nil {
		return e, err
	}
	if err := s.Forget(ctx); err != nil { // what was deleted before is in no table any more that names its author
		return e, err
	}
	trail := store.NewTrail(personID, at)
	own, err := s.follow(ctx, trail)
	if err != nil {
		return e, err
	}
	e.Before = maps.Clone(trail.Counts)
	if err := s.removeOwn(ctx, own); err != nil {
		return e, err
	}
	if err := s.DB.Follow(ctx, trail); err != nil {
		return e, err
	}
	x := newExpunger(trail, s.DB.Pseudonym(personID))
	s.expunge(x)
	quoting, err := s.quoting(ctx, x, true)
	if err != nil {
		return e, err
	}
	quotes, err := s.DB.Quotes(ctx, trail, false)
	if err != nil {
		return e, err
	}
	e.Before[store.DataRecords], e.Before[store.DataQuotes] = len(own), quoting+quotes
	if err := s.DB.Erase(ctx, trail); err != nil {
		return e, err
	}
	if err := s.DB.EndErasure(ctx, personID); err != nil {
		return e, err
	}
	e.After, err = s.survey(ctx, trail)
	return e, err
}

// askEvery is how often it is looked whether another process has done what it was asked to.
const askEvery = 200 * time.Millisecond

// AskToErase has the process that owns the store, which this one has opened beside it, forget a person up to a time, waits until it has done
// so, or until ctx is done, and looks again.
func (s *Store) AskToErase(ctx context.Context, personID string, at time.Time) (e Erased, err error) {
	trail := store.NewTrail(personID, at)
	counts, err := s.survey(ctx, trail)
	if err != nil {
		return e, fmt.Errorf("count what is kept of a person: %w", err)
	}
	e.Before = maps.Clone(counts)
	if err := s.DB.BeginErasure(ctx, personID, true, at); err != nil {
		return e, err
	}
	for waiting := true; waiting; {
		select {
		case <-ctx.Done():
			return e, ctx.Err()
		case <-time.After(askEvery):
		}
		all, err := s.DB.Erasures(ctx)
		if err != nil {
			return e, err
		}
		waiting = slices.ContainsFunc(all, func(one store.Erasure) bool { return one.PersonID == personID })
	}
	e.After, err = s.survey(ctx, trail)
	return e, err
}

// Survey counts what is kept of a person, by kind, and changes nothing.
func (s *Store) Survey(ctx context.Context, personID string) (map[store.DataKind]int, error) {
	return s.survey(ctx, store.NewTrail(personID, time.Time{}))
}

// survey counts by what is on a trail already.
func (s *Store) survey(ctx context.Context, trail *store.Trail) (map[store.DataKind]int, error) {
	own, err := s.follow(ctx, trail)
	if err != nil {
		return nil, err
	}
	quoting, err := s.quoting(ctx, newExpunger(trail, s.DB.Pseudonym(trail.Person)), false)
	if err != nil {
		return nil, err
	}
	quotes, err := s.DB.Quotes(ctx, trail, false)
	trail.Counts[store.DataRecords], trail.Counts[store.DataQuotes] = len(own), quoting+quotes
	return trail.Counts, err
}

// Unerased finishes what was asked for and not done, by an earlier process.
func (s *Store) Unerased(ctx context.Context) error {
	all, err := s.DB.Erasures(ctx)
	if err != nil {
		return err
	}
	for _, one := range all {
		if _, err := s.Erase(ctx, one.PersonID, false, one.At); err != nil { // who asked for it is kept
			return err
		}
	}
	return nil
}

// follow finds the records of a person's turns, and by them and in the store all else but quotes.
func (s *Store) follow(ctx context.Context, trail *store.Trail) (own []string, err error) {
	who := s.DB.Pseudonym(trail.Person)
	err = s.each(ctx, func(t *turn.Trace) error {
		by := t.Request.Message.Author
		if by.ID != trail.Person && by.ID != who || !trail.Before.IsZero() && t.Began.After(trail.Before) {
			return nil
		}
		own = append(own, t.Request.ID)
		trail.Turns[t.Request.ID] = true
		if by.Name != "" {
			trail.Names[by.Name] = true
		}
		if t.Request.GuildID == "" && by.ID == trail.Person {
			trail.Direct[t.Request.ChannelID] = true
		}
		trail.Words = append(trail.Words, t.Request.Message.Text, t.Request.Message.Note)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return own, s.DB.Follow(ctx, trail)
}

// each reads all records, one after the other. What cannot be read nobody can.
func (s *Store) each(ctx context.Context, do func(*turn.Trace) error) error {
	return s.Each(ctx, time.Time{}, do)
}

// Each calls do with the records of all turns that began at some time or later, one after the other, in the order of their ids. Records that cannot be
// read are left out.
func (s *Store) Each(ctx context.Context, since time.Time, do func(*turn.Trace) error) error {
	from := int64(math.MinInt64)
	if !since.IsZero() {
		from = since.UnixMicro()
	}
	for last, more := "", true; more; {
		rows, err := s.DB.Read().QueryContext(ctx, `SELECT id FROM traces WHERE id > ? AND began >= ? ORDER BY id LIMIT ?`, last, from, forgetBatch)
		if err != nil {
			return s.DB.Explain(err)
		}
		ids, err := strs(rows)
		if err != nil {
			return s.DB.Explain(err)
		}
		for _, id := range ids {
			last = id
			t, err := s.read(ctx, id, bodyQuery+`WHERE t.id = ? ORDER BY p.id`)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				continue
			}
			if err := do(t); err != nil {
				return err
			}
		}
		more = len(ids) == forgetBatch
	}
	return nil
}

// removeBatch is how many records go in one transaction.
const removeBatch = 20

// removeOwn removes records of a person's turns. Those that still go on keep nothing from then on.
func (s *Store) removeOwn(ctx context.Context, ids []string) error {
	defer s.unremember()
	for some := range slices.Chunk(ids, removeBatch) {
		err := s.DB.Write(ctx, func(tx *sql.Tx) error {
			for _, id := range some {
				if err := s.DB.LeaveUnkept(tx, id); err != nil {
					return err
				}
				if err := s.DB.ClaimsEnd(tx, id); err != nil {
					return err
				}
			}
			return remove(tx, some)
		})
		if err != nil {
			return fmt.Errorf("remove records: %w", err)
		}
	}
	return nil
}

// quoting counts the records of others that hold something of a person's, and takes it out of them, if that is wanted.
func (s *Store) quoting(ctx context.Context, x *expunger, takeOut bool) (n int, err error) {
	err = s.each(ctx, func(t *turn.Trace) error {
		if x.own(t) || !x.takeOut(t) {
			return nil
		}
		n++
		if !takeOut {
			return nil
		}
		always := func(string) bool { return true }
		return s.amend(ctx, t.Request.ID, always, x.takeOut)
	})
	return n, err
}

// expunge has turns that go on leave a person out of what they save.
func (s *Store) expunge(x *expunger) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []*expunger{x} // a new one: others may be reading the old
	for _, o := range s.expungers {
		if x.since.Sub(o.since) < inFlight {
			all = append(all, o)
		}
	}
	s.expungers, s.saved = all, nil
	s.repeated.empty()
	s.unlearned++
}
