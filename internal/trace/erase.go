package trace

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/store"
)

// optedOut is the cause given to a turn of which no more is kept than its skeleton.
const optedOut = "who asked has opted out, and nothing of theirs is kept"

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
	for last, more := "", true; more; {
		rows, err := s.DB.Read().QueryContext(ctx, `SELECT id FROM traces WHERE id > ? ORDER BY id LIMIT ?`, last, forgetBatch)
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

// expunger takes what is of one person out of records of others.
type expunger struct {
	person, who string
	names       map[string]bool
	messages    map[string]bool
	memories    map[int64]bool
	words       *strings.Replacer // nil: none
	before      time.Time         // zero: at any time
	since       time.Time
}

func newExpunger(t *store.Trail, who string) *expunger {
	return &expunger{t.Person, who, maps.Clone(t.Names), maps.Clone(t.Messages), maps.Clone(t.Memories), t.Marker(2 * longWords), t.Before, time.Now()}
}

// own reports whether a record is of a turn of theirs.
func (x *expunger) own(t *turn.Trace) bool {
	by := t.Request.Message.Author.ID
	return by == x.person || by == x.who
}

// wrote reports whether a message is theirs.
func (x *expunger) wrote(m *turn.Message) bool {
	return m != nil && (m.Author.ID == x.person || x.messages[m.ID]) && (x.before.IsZero() || !m.At.After(x.before))
}

// takeOut takes them out of a record, and reports whether they were there. What the model was shown goes as a whole then: their name and
// what was made of their words may stand anywhere in it.
func (x *expunger) takeOut(t *turn.Trace) (changed bool) {
	r := &t.Request
	if x.wrote(r.Target) { // the question is their words
		*t = skeleton(t)
		return true
	}
	var words []string
	drop := func(m *turn.Message) bool {
		if !x.wrote(m) {
			return false
		}
		words, changed = append(words, m.Text, m.Note), true
		for _, q := range m.Quotes {
			words = append(words, q.Text, q.Title)
		}
		return true
	}
	asked := drop(r.Parent)
	if asked {
		r.Parent = nil
	}
	r.Chain = slices.DeleteFunc(slices.Clone(r.Chain), func(m turn.Message) bool {
		dropped := drop(&m)
		asked = asked || dropped
		return dropped
	})
	if r.Backdrop != nil && x.names[r.Backdrop.By] && r.Backdrop.By != "" {
		words, changed = append(words, r.Backdrop.Text), true
		r.Backdrop = nil
	}
	for i := range t.Presses {
		if t.Presses[i].ByID == x.person {
			t.Presses[i].ByID, changed = x.who, true
		}
	}
	for i := range t.Outcomes {
		o := &t.Outcomes[i]
		o.Contributions = slices.DeleteFunc(slices.Clone(o.Contributions), func(c turn.Contribution) bool { return drop(c.Message) })
		for j := range o.Contributions {
			words, changed = x.takeOutOf(t, &o.Contributions[j], asked, words, changed)
		}
	}
	if x.words != nil {
		eachString(reflect.ValueOf(t).Elem(), func(text string) string {
			marked := x.words.Replace(text)
			changed = changed || marked != text
			return marked
		})
	}
	if changed {
		x.clear(t)
		mark(t, words)
	}
	return changed
}

// takeOutOf takes them out of what a provider offered.
func (x *expunger) takeOutOf(t *turn.Trace, c *turn.Contribution, asked bool, words []string, changed bool) ([]string, bool) {
	theirs := func(id string) bool { return x.messages[id] }
	if c.Summary != nil && slices.ContainsFunc(c.Summary.Sources, theirs) {
		words, changed = append(append(words, c.Text), strings.Split(c.Text, "\n")...), true
		c.Text, c.Summary = deleted, &turn.Summary{}
	}
	if slices.ContainsFunc(c.Recalled, func(m turn.Recalled) bool { return x.memories[m.ID] || slices.ContainsFunc(m.Sources, theirs) }) {
		words, changed = append(append(words, c.Text), strings.Split(c.Text, "\n")...), true
		c.Text, c.Recalled = deleted, nil
	}
	if l := c.Lookup; l != nil && slices.ContainsFunc(l.Quoted, theirs) {
		words, changed = append(words, quotes(l)...), true
		unquote(t, c)
	}
	if a := c.Attached; a != nil && x.messages[a.MessageID] && a.MessageID != "" {
		words, changed = append(words, a.Open+c.Text+a.Close, c.Text, a.Name, labelOf(a)), true
		c.Text, c.Attached = deleted, &turn.Attached{}
	}
	if asked && c.Lookup != nil {
		words = append(words, madeOf(t, c.Lookup)...)
	}
	return words, changed
}

// clear takes out of a record in which they stood whatever may have been made of that.
func (x *expunger) clear(t *turn.Trace) {
	t.Prompt = nil
	for i := range t.Processed {
		t.Processed[i].Text = ""
	}
	for i := range t.Outcomes {
		for j := range t.Outcomes[i].Contributions {
			c := &t.Outcomes[i].Contributions[j]
			told := c.Layer == turn.HistorySummary || c.Recalled != nil
			if c.Message == nil && !c.Web && c.Text != "" && (told || x.named(c.Text)) {
				c.Text, c.Recalled = deleted, nil
			}
		}
	}
}

// named reports whether a text holds their id or one of their names.
func (x *expunger) named(text string) bool {
	if strings.Contains(text, x.person) {
		return true
	}
	for name := range x.names {
		if len(name) > 2 && strings.Contains(text, name) {
			return true
		}
	}
	return false
}

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
func (s *Store) drop(ctx context.Context, id string) error {
	return s.DB.Write(ctx, func(tx *sql.Tx) error {
		return errors.Join(s.DB.LeaveUnkept(tx, id), s.DB.ClaimsEnd(tx, id))
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
