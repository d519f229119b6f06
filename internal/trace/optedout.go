package trace

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"

	"familiar/internal/context/turn"
	"familiar/internal/store"
)

// optedOut is the cause given to a turn of which no more is kept than its skeleton.
const optedOut = "who asked has opted out, and nothing of theirs is kept"

// permitted returns a record as it may be kept: without those who were forgotten while its turn went on, and without the words of those who
// have opted out. It is t itself if that is all of it, and nil if that is nothing. standing is what the people in it had said by then.
func (s *Store) permitted(ctx context.Context, t *turn.Trace) (left *turn.Trace, standing map[string]store.Standing, err error) {
	standing = map[string]store.Standing{}
	for _, id := range peopleIn(t) {
		if standing[id], err = s.DB.Standing(ctx, id); err != nil {
			return nil, nil, err
		}
	}
	asker := t.Request.Message.Author.ID
	switch own := standing[asker]; {
	case !own.Forgotten.IsZero() && !t.Began.After(own.Forgotten):
		return nil, standing, nil
	case !own.OptedOut.IsZero():
		return anonymous(t, s.DB.Pseudonym(asker)), standing, nil
	}
	left = t
	for _, x := range s.expungersFor(t, standing) {
		if left == t { // a copy
			if left, err = copied(t); err != nil {
				return nil, nil, err
			}
		}
		x.takeOut(left)
	}
	return left, standing, nil
}

// expungersFor are those of people who were forgotten while the turn went on, and who opted out.
func (s *Store) expungersFor(t *turn.Trace, standing map[string]store.Standing) (all []*expunger) {
	s.mu.Lock()
	for _, x := range s.expungers {
		if !t.Began.After(x.since) {
			all = append(all, x)
		}
	}
	s.mu.Unlock()
	for id, of := range standing {
		if !of.OptedOut.IsZero() && id != t.Request.Message.Author.ID {
			all = append(all, &expunger{person: id, who: s.DB.Pseudonym(id)})
		} else if !of.Forgotten.IsZero() && id != t.Request.Message.Author.ID {
			all = append(all, &expunger{person: id, who: s.DB.Pseudonym(id), before: of.Forgotten})
		}
	}
	return all
}

// peopleIn are the ids of those whose standing decides what of a record is kept.
func peopleIn(t *turn.Trace) []string {
	ids := map[string]bool{}
	note := func(m *turn.Message) {
		if m != nil && m.ByPerson() && m.Author.ID != "" {
			ids[m.Author.ID] = true
		}
	}
	r := &t.Request
	note(&r.Message)
	note(r.Target)
	note(r.Parent)
	for i := range r.Chain {
		note(&r.Chain[i])
	}
	for _, p := range t.Presses {
		ids[p.ByID] = true
	}
	delete(ids, "")
	return slices.Collect(maps.Keys(ids))
}

// unchangedStanding returns errStale if people have said something else meanwhile.
func (s *Store) unchangedStanding(tx *sql.Tx, standing map[string]store.Standing) error {
	for id, then := range standing {
		now, err := s.DB.StandingIn(tx, id)
		if err != nil {
			return err
		}
		if now != then {
			return errStale
		}
	}
	return nil
}

// drop notes that a turn, whose record is not kept, is kept in no other way.
func (s *Store) drop(ctx context.Context, t *turn.Trace) error {
	return s.DB.Write(ctx, func(tx *sql.Tx) error {
		return errors.Join(s.DB.LeaveUnkept(tx, t.Request.ID), s.DB.ClaimsSettle(tx, claims(t)...), s.DB.ClaimsEnd(tx, t.Request.ID))
	})
}

// anonymous is a record of a turn of somebody who has opted out: how it went, and what it used, under their pseudonym.
func anonymous(t *turn.Trace, who string) *turn.Trace {
	left := skeleton(t)
	left.Request.Message.Author = turn.Author{ID: who}
	left.Err, left.Presses, left.Transcripts = optedOut, slices.Clone(t.Presses), nil
	for i := range left.Presses {
		left.Presses[i].ByID = ""
	}
	return &left
}

// copied is a record that shares nothing with t.
func copied(t *turn.Trace) (*turn.Trace, error) {
	text, err := encode(t)
	if err != nil {
		return nil, err
	}
	return (&Store{}).decode([]byte(text))
}
