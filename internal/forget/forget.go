// Package forget deletes what is kept of people. It deletes messages that were deleted on Discord, and a person who asks to be forgotten.
// It also deletes a server that the bot has left, and everything that is too old.
//
// Everything that is kept has a line in one list of keepers (keepers.go). It is a table with its columns that hold something of people, and
// how to find that. It says what happens to it in each of these cases. A line also says what happens for people who have opted out. Every
// case is one walk over the list (walk.go). A person is found by a footprint (footprint.go). It has the ids of their messages, answers,
// turns and memories, and their names and words. Inside the records of turns, package trace redacts by the provenance of each part. A test
// compares the list with the schema and with the type of the record.
//
// The package also tells people what is kept of them (export.go).
package forget

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/memory"
	"familiar/internal/store"
	"familiar/internal/trace"
)

// Forgetter deletes what is kept. Its methods may be called from many goroutines; their errors are those of [store.DB]. It must not be
// copied after first use.
type Forgetter struct {
	Traces   *trace.Store
	Memories *memory.Store
	// Caches empties the caches of searches and pages, which may hold what a person asked; nil: there are none.
	Caches func() error

	deleting sync.Mutex // held by Messages
	erasing  sync.Mutex // held by Person, which then locks deleting
}

// Messages deletes messages, what was learned from them alone, and what records say of them. It also finishes what an earlier call, even of
// another process, left undone. It is not an error if a message is not known.
func (f *Forgetter) Messages(ctx context.Context, ids ...string) error {
	for _, id := range ids {
		if err := f.Traces.DB.Messages.Delete(ctx, id); err != nil {
			return err
		}
	}
	f.deleting.Lock()
	defer f.deleting.Unlock()
	all, err := f.Traces.DB.Messages.PendingDeletions(ctx)
	if err != nil || len(all) == 0 {
		return err
	}
	_, err = f.walk(ctx, &subject{messages: all}, false)
	return err
}

// Erased is how much was kept of a person before and after, by kind.
type Erased struct{ Before, After map[Kind]int }

// Left returns how much is left in all.
func (e Erased) Left() (n int) {
	for _, left := range e.After {
		n += left
	}
	return n
}

// Person deletes everything that was kept of a person up to a time, even while turns go on. Then it counts again. An erasure that is not
// finished is resumed by [Forgetter.Resume].
func (f *Forgetter) Person(ctx context.Context, personID string, byOperator bool, at time.Time) (e Erased, err error) {
	f.erasing.Lock()
	defer f.erasing.Unlock()
	defer func() {
		if err != nil {
			err = fmt.Errorf("forget a person: %w", err)
		}
	}()
	if err := f.Traces.DB.Privacy.BeginErasure(ctx, personID, byOperator, at); err != nil {
		return e, err
	}
	if err := f.Messages(ctx); err != nil { // deleted messages no longer name their author
		return e, err
	}
	p := newFootprint(personID, at)
	if e.Before, err = f.survey(ctx, p); err != nil {
		return e, err
	}
	if _, err := f.walk(ctx, &subject{person: p}, false); err != nil {
		return e, err
	}
	meanwhile := f.redaction(p) // of turns that read what was still there, such as a summary
	f.Traces.Withhold(meanwhile)
	if _, err := f.Traces.RedactPerson(ctx, meanwhile, at.Add(-time.Hour), false); err != nil {
		return e, err
	}
	if err := f.Traces.DB.Privacy.EndErasure(ctx, personID); err != nil {
		return e, err
	}
	e.After, err = f.survey(ctx, p)
	return e, err
}

// askEvery is how often Ask checks whether the other process has finished.
const askEvery = 200 * time.Millisecond

// Ask makes the process that owns the store, which this process has opened beside it, forget a person. It waits until that is done, or
// until ctx is done, and then counts again.
func (f *Forgetter) Ask(ctx context.Context, personID string, at time.Time) (e Erased, err error) {
	p := newFootprint(personID, at)
	if e.Before, err = f.survey(ctx, p); err != nil {
		return e, fmt.Errorf("count what is kept of a person: %w", err)
	}
	if err := f.Traces.DB.Privacy.BeginErasure(ctx, personID, true, at); err != nil {
		return e, err
	}
	for waiting := true; waiting; {
		select {
		case <-ctx.Done():
			return e, ctx.Err()
		case <-time.After(askEvery):
		}
		all, err := f.Traces.DB.Privacy.Erasures(ctx)
		if err != nil {
			return e, err
		}
		waiting = slices.ContainsFunc(all, func(one store.Erasure) bool { return one.PersonID == personID })
	}
	e.After, err = f.survey(ctx, p)
	return e, err
}

// Resume finishes the erasures that an earlier process began.
func (f *Forgetter) Resume(ctx context.Context) error {
	all, err := f.Traces.DB.Privacy.Erasures(ctx)
	for _, one := range all {
		if err == nil {
			_, err = f.Person(ctx, one.PersonID, false, one.At) // the store knows whether the operator asked
		}
	}
	return err
}

// Due forgets the people who had everything forgotten and can no longer undo it. What they wrote since then stays.
func (f *Forgetter) Due(ctx context.Context, now time.Time) error {
	all, err := f.Memories.Due(ctx, now)
	for _, one := range all {
		if err == nil {
			_, err = f.Person(ctx, one.PersonID, false, one.At)
		}
	}
	return err
}

// Survey counts what is kept of a person, by kind, and changes nothing.
func (f *Forgetter) Survey(ctx context.Context, personID string) (map[Kind]int, error) {
	return f.survey(ctx, newFootprint(personID, time.Time{}))
}

// survey completes a footprint and counts by it.
func (f *Forgetter) survey(ctx context.Context, p *footprint) (map[Kind]int, error) {
	if err := f.find(ctx, p); err != nil {
		return nil, err
	}
	all, err := f.walk(ctx, &subject{person: p}, true)
	counts := map[Kind]int{}
	for _, one := range all {
		if one.kind != "" {
			counts[one.kind] += one.rows
		}
	}
	return counts, err
}

// Again forgets the people who asked another store for it after this store, a copy of it, was made. standings are those of the other store.
// It returns how many people those are.
func (f *Forgetter) Again(ctx context.Context, standings store.Standings) (n int, err error) {
	ids, err := f.people(ctx)
	for id := range ids {
		if err != nil {
			break
		}
		var now store.Standing
		if now, err = f.Traces.DB.Privacy.Standing(ctx, id); err == nil && standings.Of(id).Forgotten.After(now.Forgotten) {
			n++
			_, err = f.Person(ctx, id, true, standings.Of(id).Forgotten)
		}
	}
	if err == nil { // only now: Standing above must not know them yet
		err = f.Traces.DB.Privacy.AdoptStandings(ctx, standings)
	}
	if err != nil {
		return n, fmt.Errorf("forget again: %w", err)
	}
	return n, nil
}

// people returns the ids of all people of whom something is kept.
func (f *Forgetter) people(ctx context.Context) (map[string]bool, error) {
	ids := map[string]bool{}
	for _, k := range f.keepers() {
		for _, who := range k.who {
			err := f.Traces.DB.Each(ctx, `SELECT DISTINCT `+who+` FROM `+k.table, nil, func(scan func(...any) error) error {
				var id string
				err := scan(&id)
				ids[id] = true
				return err
			})
			if err != nil {
				return nil, fmt.Errorf("list people: %w", err)
			}
		}
	}
	err := f.Traces.Each(ctx, time.Time{}, func(t *turn.Trace) error {
		ids[t.Request.Message.Author.ID] = true
		return nil
	})
	delete(ids, "")
	return ids, err
}

// Server deletes everything that is kept of a server.
func (f *Forgetter) Server(ctx context.Context, guildID string) error {
	_, err := f.walk(ctx, &subject{server: guildID}, false)
	return err
}

// Removed is how many rows of a table were too old.
type Removed struct {
	Table string
	Rows  int
}

// Old deletes everything that is older than its limit. An error in one table does not keep it from the others.
func (f *Forgetter) Old(ctx context.Context, limits Limits) (all []Removed, err error) {
	done, err := f.walk(ctx, &subject{old: limits}, false)
	for _, one := range done {
		if one.rows > 0 {
			all = append(all, Removed{one.table, one.rows})
		}
	}
	return all, err
}

// Oldest deletes some of the oldest records or, if there are none, of the oldest messages. It deletes at least n of either if so many are
// there. It leaves records and messages that are not older than their limits. It returns how many records and messages it deleted.
func (f *Forgetter) Oldest(ctx context.Context, n int, limits Limits) (records, messages int, err error) {
	newest, err := f.Traces.Oldest(ctx, n, limits[Records])
	if err != nil {
		return 0, 0, err
	}
	if !newest.IsZero() {
		records, err = f.Traces.Prune(ctx, newest.Add(time.Microsecond))
		return records, 0, err
	}
	newest, err = f.Traces.DB.Messages.Oldest(ctx, n, limits[Messages])
	if err != nil || newest.IsZero() {
		return 0, 0, err
	}
	all, err := f.walk(ctx, &subject{old: Limits{Messages: newest.Add(time.Microsecond)}}, false)
	for _, one := range all {
		if one.table == "messages" {
			messages += one.rows
		}
	}
	return 0, messages, err
}
