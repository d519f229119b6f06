// Package trace keeps the record of each turn, in tables of [store.DB].
//
// A record is a whole [turn.Trace] as compressed JSON (record.go), saved again at each phase of the turn (trace.go). The texts of pages,
// and the texts of the prompt that most turns share, are kept apart, once each (text.go). Reading a record puts them back (read.go). Beside
// the record are the few columns that a list of turns shows (find.go). The words by which turns are found are there, too (words.go). At
// start-up, turns that the last process did not finish are marked as interrupted (upkeep.go).
//
// Deleted messages, and people who are forgotten or have opted out, are taken out of records by a [Redaction] (redact.go). It goes by the
// provenance of each part of a record (fields.go). Package forget decides what is redacted when.
package trace

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/store"
)

// Store holds the records. Its methods may be called from many goroutines; their errors are those of [store.DB]. It must not be copied
// after the first Save.
type Store struct {
	DB *store.DB
	// Redact takes secrets out of what is kept, as JSON; nil takes nothing. A person may have written one in a channel.
	Redact func(string) string
	// SearchTime is how long a search may take at once. 0: 60 ms.
	SearchTime time.Duration

	packer   packer
	repeated repeated

	mu           sync.Mutex
	withheld     []*Redaction     // guarded by mu; no slice is ever changed
	withholdings int              // guarded by mu: how often withheld has changed
	stmts        *statements      // guarded by mu; nil before the first Save
	saved        map[string]saved // guarded by mu; by the turn's id
	searching    chan struct{}    // guarded by mu until it is made; holds a token while a search runs
}

// errStale says that a record, or what may be kept of it, changed while it was being written.
var errStale = errors.New("changed meanwhile")

// inFlight is how long a turn that has seen a message may still be saved.
const inFlight = time.Hour

// Save keeps the record of a turn in place of an earlier one with the same id. It notes how far the turn has come with the messages that it
// answers. When it returns, both survive the death of the process. It does not change or keep t. If the asker has opted out, only the
// outcome is kept. If they were forgotten after the turn began, nothing is.
func (s *Store) Save(ctx context.Context, t *turn.Trace) error {
	return s.SaveWith(ctx, t, func(*sql.Tx) error { return nil })
}

// SaveWith is Save with more that is written in the same transaction. It may run more than once, as the function of [store.DB.Write] may.
func (s *Store) SaveWith(ctx context.Context, t *turn.Trace, also func(*sql.Tx) error) error {
	if t.Request.ID == "" {
		return errors.New("save trace: the turn has no id")
	}
	for {
		withheld, changes := s.withheldNow()
		left, standings, err := s.permitted(ctx, t, withheld)
		if err == nil && left == nil {
			return s.drop(ctx, t, also)
		}
		if err == nil {
			err = s.write(ctx, left, func(tx *sql.Tx) error {
				if _, now := s.withheldNow(); now != changes {
					return errStale
				}
				if !standings[t.Request.Message.Author.ID].OptedOut.IsZero() {
					if err := s.DB.Privacy.LeaveUnkept(tx, t.Request.ID); err != nil {
						return err
					}
				}
				if err := s.unchangedStandings(tx, standings); err != nil {
					return err
				}
				if err := s.saveClaims(tx, left); err != nil {
					return err
				}
				return also(tx)
			})
		}
		if !errors.Is(err, errStale) {
			return err
		}
	}
}

// Withhold applies redactions to everything that turns save from now on. They hold as long as a turn that has seen the words may go on.
func (s *Store) Withhold(rs ...*Redaction) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	all := slices.Clone(rs) // a new slice: others may be reading the old one
	for _, r := range rs {
		r.since = now
	}
	for _, r := range s.withheld {
		if now.Sub(r.since) < inFlight {
			all = append(all, r)
		}
	}
	s.withheld, s.saved = all, nil
	s.repeated.empty() // a shared text may hold the words, too
	s.withholdings++
}

// withheldNow returns what is withheld, and a number that changes with it.
func (s *Store) withheldNow() ([]*Redaction, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.withheld, s.withholdings
}

// permitted returns what may be kept of a record: t itself if all of it may, nil if nothing may. standings are those of the people in it.
func (s *Store) permitted(ctx context.Context, t *turn.Trace, withheld []*Redaction) (left *turn.Trace, standings map[string]store.Standing, err error) {
	standings = map[string]store.Standing{}
	for _, id := range peopleIn(t) {
		if standings[id], err = s.DB.Privacy.Standing(ctx, id); err != nil {
			return nil, nil, err
		}
	}
	asker := t.Request.Message.Author.ID
	switch own := standings[asker]; {
	case !own.Forgotten.IsZero() && !t.Began.After(own.Forgotten):
		return nil, standings, nil
	case !own.OptedOut.IsZero():
		return anonymous(t, s.DB.Privacy.Pseudonym(asker)), standings, nil
	}
	left = t
	redactions := s.redactionsOf(t, withheld, standings)
	if len(redactions) == 0 {
		return t, standings, nil
	}
	from := provenances(t)
	for _, r := range redactions {
		if !r.concerns(from) {
			continue
		}
		if left == t { // Apply needs a copy
			if left, err = copied(t); err != nil {
				return nil, nil, err
			}
		}
		r.Apply(left)
	}
	return left, standings, nil
}

// redactionsOf adds the people who opted out or were forgotten to what is withheld.
func (s *Store) redactionsOf(t *turn.Trace, withheld []*Redaction, standings map[string]store.Standing) (all []*Redaction) {
	for _, r := range withheld {
		if r.Person == nil || !t.Began.After(r.since) {
			all = append(all, r)
		}
	}
	for id, of := range standings {
		if of == (store.Standing{}) || id == t.Request.Message.Author.ID {
			continue
		}
		p := &Person{ID: id, Pseudonym: s.DB.Privacy.Pseudonym(id)}
		if of.OptedOut.IsZero() {
			p.Before = of.Forgotten
		}
		all = append(all, &Redaction{Person: p})
	}
	return all
}

// peopleIn returns the ids of the people whose standings decide what is kept of a record.
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

// unchangedStandings returns errStale if a standing has changed.
func (s *Store) unchangedStandings(tx *sql.Tx, standings map[string]store.Standing) error {
	for id, then := range standings {
		now, err := s.DB.Privacy.StandingIn(tx, id)
		if err != nil {
			return err
		}
		if now != then {
			return errStale
		}
	}
	return nil
}

// drop closes the claims of a turn whose record is not kept, and has nothing else of it kept.
func (s *Store) drop(ctx context.Context, t *turn.Trace, also func(*sql.Tx) error) error {
	return s.DB.Write(ctx, func(tx *sql.Tx) error {
		return errors.Join(s.DB.Privacy.LeaveUnkept(tx, t.Request.ID), also(tx), s.DB.Claims.CloseIn(tx, claims(t)...), s.DB.Claims.End(tx, t.Request.ID))
	})
}

// saveClaims notes that the turn answers its messages or, at its end, that it has. So no restart resumes it.
func (s *Store) saveClaims(tx *sql.Tx, t *turn.Trace) error {
	err := s.DB.Claims.Begin(tx, t.Request.ID, claims(t)...)
	if err == nil && t.Phase.Over() {
		err = s.DB.Claims.End(tx, t.Request.ID)
	}
	return err
}

// claims returns the ids under which the store knows what asked for a turn.
func claims(t *turn.Trace) []string {
	return append([]string{cmp.Or(t.Request.Claim, t.Request.Message.ID)}, t.Request.Burst...)
}

// copied returns a deep copy of a record.
func copied(t *turn.Trace) (*turn.Trace, error) {
	text, err := encode(t)
	if err != nil {
		return nil, err
	}
	return (&Store{}).decode([]byte(text))
}

// write writes a record. An error of check, which runs in the transaction, undoes that.
func (s *Store) write(ctx context.Context, t *turn.Trace, check func(*sql.Tx) error) error {
	bare, texts := s.detach(t)
	record, err := encode(&bare)
	if err != nil {
		return fmt.Errorf("save trace %s: %w", t.Request.ID, err)
	}
	asked := s.redact(t.Request.Message.Text)
	line := summarise(t, asked)
	record, line.Err = s.redact(record), s.redact(line.Err)
	if t.Phase.Over() {
		line.Said = s.searchText(t)
	}
	prepared, err := s.prepare(ctx)
	if err != nil {
		return fmt.Errorf("save trace %s: %w", t.Request.ID, err)
	}
	known := s.known(t.Request.ID)
	var body []byte // compressed only if the turn is over: the others are written again soon
	if t.Phase.Over() {
		body = s.packer.pack(record)
	}
	unchanged := known.messages != nil && slices.Equal(known.refs, texts.refs)
	if !unchanged {
		texts.pack() // before the transaction, for which others wait
	}
	err = s.DB.Write(ctx, func(tx *sql.Tx) error {
		if err := check(tx); err != nil {
			return err
		}
		if err := prepared.saveRecord(tx, line, t.Request.GuildID, record, body, known.open); err != nil {
			return err
		}
		if err := saveMessages(tx.Stmt(prepared.message), t, known.messages); err != nil {
			return err
		}
		if err := saveQuotes(tx.Stmt(prepared.quote), t); err != nil {
			return err
		}
		if unchanged {
			return nil
		}
		return prepared.saveTexts(tx, t.Request.ID, texts)
	})
	if err != nil {
		return fmt.Errorf("save trace %s: %w", t.Request.ID, err)
	}
	s.noteSaved(t.Request.ID, saved{texts.refs, messagesOf(t), !t.Phase.Over()})
	if texts.shared != [2]sum{} && !texts.late {
		s.repeated.add(texts.shared[0], texts.shared[1])
	}
	return nil
}

// saved is what is known about the record of a turn that goes on.
type saved struct {
	refs     []ref
	messages []string // by which it is found; nil: nothing is known
	open     bool     // it is in open_records
}

func (s *Store) known(id string) saved {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.saved[id]
}

// maxSaved is how many turns are remembered: more than are answered at the same time.
const maxSaved = 512

// noteSaved notes what a record has, because each record is saved about three times.
func (s *Store) noteSaved(id string, of saved) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.saved == nil || len(s.saved) >= maxSaved {
		s.saved = make(map[string]saved, maxSaved)
	}
	s.saved[id] = of
}

// forgetSaved is called by everything that removes texts.
func (s *Store) forgetSaved() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.saved = nil
}

// statements are the prepared statements of Save.
type statements struct {
	upsert, message, quote   *sql.Stmt
	refs, refer, text        *sql.Stmt
	open, close, place, part *sql.Stmt // of records
}

func (s *Store) prepare(ctx context.Context) (*statements, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stmts != nil {
		return s.stmts, nil
	}
	var all statements
	for into, query := range map[**sql.Stmt]string{
		&all.upsert: upsertQuery, &all.message: messageQuery, &all.quote: quoteQuery, &all.refs: refsQuery, &all.refer: referQuery, &all.text: textQuery,
		&all.open: openQuery, &all.close: closeQuery, &all.place: placeQuery, &all.part: partQuery,
	} {
		var err error
		if *into, err = s.DB.Prepare(ctx, query); err != nil {
			return nil, err
		}
	}
	s.stmts = &all
	return s.stmts, nil
}

const (
	upsertQuery = `INSERT INTO traces (` + summaryColumns + `, guild_id, part, parts, record) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '')
		ON CONFLICT (id) DO UPDATE SET took = excluded.took, phase = excluded.phase, lookup = excluded.lookup,
		author = excluded.author, question = excluded.question, model = excluded.model, err = excluded.err, character_id = excluded.character_id, tokens = excluded.tokens, cost = excluded.cost, seen = excluded.seen, part = excluded.part, parts = excluded.parts, said = excluded.said, record = ''`
	messageQuery = `INSERT INTO trace_messages (message_id, trace_id) VALUES (?, ?) ON CONFLICT DO NOTHING`
	quoteQuery   = `INSERT INTO trace_quotes (message_id, trace_id) VALUES (?, ?) ON CONFLICT DO NOTHING`
)

func upsert(stmt *sql.Stmt, s Summary, guildID string, at place) error {
	_, err := stmt.Exec(s.ID, s.Began.UnixMicro(), s.Took.Microseconds(), s.ChannelID, s.Author, s.Question, s.Phase, s.Lookup,
		s.Model, s.Err, s.Character, s.Tokens, s.Cost, s.Seen.Microseconds(), s.Said, guildID, at.first, at.n)
	return err
}

// messagesOf returns the ids of the messages of the question and of the replies.
func messagesOf(t *turn.Trace) []string {
	all := slices.Concat([]string{t.Request.Message.ID}, t.Request.Burst, t.ReplyIDs)
	return slices.DeleteFunc(all, func(id string) bool { return id == "" })
}

// saveMessages makes the record be found by its messages, except those by which it is found already.
func saveMessages(stmt *sql.Stmt, t *turn.Trace, known []string) error {
	for _, id := range messagesOf(t) {
		if slices.Contains(known, id) {
			continue
		}
		if _, err := stmt.Exec(id, t.Request.ID); err != nil {
			return err
		}
	}
	return nil
}

// saveQuotes makes the record be found by the messages that it quotes or retells. One of them may be deleted some day.
func saveQuotes(stmt *sql.Stmt, t *turn.Trace) error {
	for c := range t.Contributions() {
		for _, id := range quoted(c) {
			if _, err := stmt.Exec(id, t.Request.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// quoted returns the ids of messages of other channels that a contribution quotes or retells. Messages of its own channel are found
// without that.
func quoted(c *turn.Contribution) (ids []string) {
	if c.Lookup != nil {
		ids = c.Lookup.Quoted
	}
	if c.Summary != nil && c.Summary.Channel != "" {
		ids = slices.Concat(ids, c.Summary.Sources)
	}
	for _, m := range c.Recalled {
		ids = slices.Concat(ids, m.Sources)
	}
	return ids
}
