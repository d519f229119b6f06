package trace

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/store"
)

const (
	// deleted takes the place of words that are gone.
	deleted = "(deleted)"
	// questionDeleted is the error of a record that is only a tombstone.
	questionDeleted = "the question was deleted, and what was known of it"
	// optedOut is the error of a record whose asker has opted out.
	optedOut = "who asked has opted out, and nothing of theirs is kept"

	// shortestMatch is the least number of bytes at which equal words count as the deleted ones. They may be anywhere in a record.
	shortestMatch = 12
	// ShortestQuote is the least number of bytes at which equal words in somebody else's text are taken for a quotation. Those are whole
	// sentences.
	ShortestQuote = 24
)

// Redaction says what to take out of records: deleted messages, or a person with everything they wrote.
type Redaction struct {
	Messages map[string]bool // ids of the deleted messages, or of the messages that the person wrote
	Words    []string        // texts of these messages, as far as they are known
	Person   *Person         // nil: nobody, only the messages

	since  time.Time // when Withhold was given it
	once   sync.Once // guards quotes
	quotes *strings.Replacer
}

// quoted replaces the words of a person that others quote. It is made once: for 20,000 messages that takes 0.15 s.
func (r *Redaction) quoted() *strings.Replacer {
	r.once.Do(func() { r.quotes = Replacer(r.Words, ShortestQuote) })
	return r.quotes
}

// Person is a person who is taken out of records.
type Person struct {
	ID        string
	Pseudonym string // takes the place of ID where the record counts
	Names     map[string]bool
	Memories  map[int64]bool // ids of what is remembered about them
	Before    time.Time      // what they wrote later stays; zero: nothing stays
}

// Asked reports whether the record is of a turn that the person asked for.
func (r *Redaction) Asked(t *turn.Trace) bool {
	by := t.Request.Message.Author.ID
	return r.Person != nil && (by == r.Person.ID || by == r.Person.Pseudonym)
}

// hits reports whether something of this provenance is to be taken out.
func (r *Redaction) hits(from provenance) bool {
	if slices.ContainsFunc(from.messages, func(id string) bool { return r.Messages[id] }) {
		return true
	}
	p := r.Person
	if p == nil {
		return false
	}
	wrote := from.person != "" && from.person == p.ID && (p.Before.IsZero() || !from.at.After(p.Before))
	return wrote || from.name != "" && p.Names[from.name] || slices.ContainsFunc(from.memories, func(id int64) bool { return p.Memories[id] })
}

// concerns is a cheap check: could Apply change a record of this provenance? A person's words may be anywhere in it.
func (r *Redaction) concerns(from []provenance) bool {
	return r.Person != nil || slices.ContainsFunc(from, r.hits)
}

// Apply takes the messages or the person out of a record, and reports whether that changed it. If the question itself goes, only a
// tombstone is left. Otherwise each part that was made from them goes, and its words are replaced wherever else they appear.
func (r *Redaction) Apply(t *turn.Trace) (changed bool) {
	if r.hits(question(t)) {
		if r.Person == nil && t.Request.Message.Text == deleted {
			return false
		}
		*t = tombstone(t, questionDeleted)
		if r.Asked(t) {
			t.Request.Message.Author.ID = r.Person.Pseudonym
		}
		return true
	}
	var words []string
	above := false // something above the question goes: the lookups may be made of it
	for _, p := range parts(t) {
		if !r.hits(p.from) || p.gone && r.Person == nil {
			continue
		}
		words, above, changed = append(words, p.words...), above || p.above, true
		p.drop(r)
	}
	if above {
		for _, l := range Lookups(t) {
			words = append(words, madeOf(t, l)...)
		}
	}
	if r.Person == nil {
		words = append(words, r.Words...)
	} else if replacer := r.quoted(); replacer != nil {
		changed = replaceTexts(t, replacer) || changed
	}
	if !changed {
		return false
	}
	t.Calls = bare(t.Calls) // what a side model was shown has the words in other forms
	if r.Person != nil {
		r.dropDerived(t)
	}
	replaceWords(t, words)
	return true
}

// bare returns calls without what was said in them.
func bare(calls []turn.Call) []turn.Call {
	calls = slices.Clone(calls)
	for i := range calls {
		calls[i] = calls[i].Bare()
	}
	return calls
}

// dropDerived drops what was made from the whole conversation, in which the person's name and words may be anywhere.
func (r *Redaction) dropDerived(t *turn.Trace) {
	t.Prompt = nil
	for i := range t.Processed {
		t.Processed[i].Text = ""
	}
	for c := range t.Contributions() {
		told := c.Layer == turn.HistorySummary || c.Recalled != nil
		if c.Message == nil && !c.Web && c.Text != "" && (told || r.named(c.Text)) {
			c.Text, c.Recalled = deleted, nil
		}
	}
}

// named reports whether a text holds the person's id or one of their names.
func (r *Redaction) named(text string) bool {
	if strings.Contains(text, r.Person.ID) {
		return true
	}
	for name := range r.Person.Names {
		if len(name) > 2 && strings.Contains(text, name) {
			return true
		}
	}
	return false
}

// madeOf returns what a lookup made of the question together with the messages above it.
func madeOf(t *turn.Trace, l *turn.Lookup) []string {
	if l.Question == "" || l.Question == t.Request.Message.Text {
		return nil
	}
	words := append(strings.Split(l.Query, "\n"), l.Question)
	for _, s := range l.Steps {
		words = append(words, s.Text)
	}
	return slices.DeleteFunc(words, func(w string) bool { return strings.Contains(t.Request.Message.Text, w) })
}

// tombstone returns what is left of a record whose question is gone: ids, times, counts and the outcome. It lists what stays, so that
// a new field of the record goes.
func tombstone(t *turn.Trace, cause string) turn.Trace {
	r := &t.Request
	left := turn.Trace{
		Request: turn.Request{ID: r.ID, Character: r.Character, GuildID: r.GuildID, ChannelID: r.ChannelID, Mode: r.Mode, Persona: r.Persona, Burst: r.Burst,
			Message: turn.Message{ID: r.Message.ID, ChannelID: r.Message.ChannelID, Author: turn.Author{ID: r.Message.Author.ID}, Text: deleted, At: r.Message.At},
			Web:     r.Web, Budget: r.Budget, Deadline: r.Deadline},
		Phase: t.Phase, Layers: t.Layers, Model: t.Model, ModelHost: t.ModelHost, Tried: t.Tried, Usage: t.Usage, Finish: t.Finish, Reacted: t.Reacted, ReplyIDs: t.ReplyIDs,
		Uncited: t.Uncited, Cut: t.Cut, Presses: t.Presses, Calls: bare(t.Calls), Blind: t.Blind, Err: cause, Cure: t.Cure, Began: t.Began, Transcripts: t.Transcripts, Speech: t.Speech, Mood: t.Mood, Timings: t.Timings, Took: t.Took,
	}
	if t.Reply != "" {
		left.Reply = deleted
	}
	for _, o := range t.Outcomes {
		bare := turn.Outcome{Provider: o.Provider, Status: o.Status, Took: o.Took}
		for _, c := range o.Contributions {
			if l := c.Lookup; l != nil {
				bare.Contributions = append(bare.Contributions, turn.Contribution{Layer: c.Layer, Priority: c.Priority, Tokens: c.Tokens, Source: c.Source, Web: c.Web,
					Lookup: &turn.Lookup{State: l.State, Reason: deleted, Failure: l.Failure, Stages: l.Stages, Began: l.Began, Took: l.Took, Caps: l.Caps}})
			}
		}
		left.Outcomes = append(left.Outcomes, bare)
	}
	return left
}

// Gone reports whether the question of a turn is gone, and whether its reply is deleted. Of a reply to somebody who has opted out it does not know.
func Gone(t *turn.Trace) (question, reply bool) {
	return t.Err == questionDeleted || t.Err == optedOut, t.Reply == deleted && t.Err != optedOut
}

// anonymous returns the record of a turn whose asker has opted out: its outcome and usage under a pseudonym.
func anonymous(t *turn.Trace, pseudonym string) *turn.Trace {
	left := tombstone(t, optedOut)
	left.Request.Message.Author, left.Presses, left.Transcripts = turn.Author{ID: pseudonym}, slices.Clone(t.Presses), nil
	for i := range left.Presses {
		left.Presses[i].ByID = ""
	}
	return &left
}

// replaceWords replaces words wherever they appear in a record. Short words are replaced only where they are a whole message of the prompt.
func replaceWords(t *turn.Trace, words []string) {
	for _, w := range words {
		if w = trimmed(w); w != "" && len(w) < shortestMatch {
			replaceShort(t, w)
		}
	}
	if r := Replacer(words, shortestMatch); r != nil {
		replaceTexts(t, r)
	}
}

func replaceShort(t *turn.Trace, w string) {
	for i := range t.Prompt {
		m := &t.Prompt[i]
		if m.Role == "system" || m.Web {
			continue
		}
		if before, ok := strings.CutSuffix(m.Text, w); ok && (before == "" || strings.HasSuffix(before, ": ")) {
			m.Text = before + deleted
		}
	}
}

func replaceTexts(t *turn.Trace, r *strings.Replacer) (changed bool) {
	texts(t, func(text *string) {
		replaced := r.Replace(*text)
		changed = changed || replaced != *text
		*text = replaced
	})
	return changed
}

// quotedRunes is how much of a long message a reply quotes.
const quotedRunes = 80

// Replacer replaces texts by "(deleted)", if these have at least so many bytes. It also replaces their lines, and their beginnings as
// replies quote them. It is nil if none is.
func Replacer(words []string, atLeast int) *strings.Replacer {
	var long []string
	add := func(w string) {
		if len(w) >= atLeast && w != deleted {
			long = append(long, w)
		}
	}
	for _, w := range words {
		w = trimmed(w)
		if len(w) < atLeast {
			continue
		}
		line := strings.Join(strings.Fields(w), " ")
		add(w)
		add(line)
		if r := []rune(line); len(r) > quotedRunes {
			add(strings.TrimSpace(string(r[:quotedRunes])))
		}
		for l := range strings.Lines(w) {
			add(strings.TrimSpace(l))
		}
	}
	if len(long) == 0 {
		return nil
	}
	slices.SortStableFunc(long, func(a, b string) int { return len(b) - len(a) }) // the longest match wins
	pairs := make([]string, 0, 2*len(long))
	for _, w := range slices.Compact(long) {
		pairs = append(pairs, w, deleted)
	}
	return strings.NewReplacer(pairs...)
}

func trimmed(w string) string {
	return strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(w), "…"))
}

// skew is how far apart the clocks of messages and of turns may be.
const skew = 10 * time.Minute

// RedactMessages takes deleted messages out of the records. It has turns that go on leave them out of what they save. Of a turn that
// answered one of them a tombstone is left. In other records, the words are replaced. A message that was not kept has no channel.
func (s *Store) RedactMessages(ctx context.Context, ms []store.Message) error {
	var withheld []*Redaction
	for _, m := range ms {
		withheld = append(withheld, redactionOf(m))
	}
	s.Withhold(withheld...)
	ids, err := s.holding(ctx, ms)
	for _, id := range ids {
		if err == nil {
			err = s.redactMessage(ctx, id, ms)
		}
	}
	if err != nil {
		return fmt.Errorf("take deleted messages out of the records: %w", err)
	}
	return nil
}

func redactionOf(m store.Message) *Redaction {
	return &Redaction{Messages: map[string]bool{m.ID: true}, Words: []string{m.Text}}
}

// holding returns the records that may hold some messages. They are those of turns that answered, wrote or quoted one. Those of later turns
// in the channel, whose history may hold it, are among them. A message that was not kept was written in the channel and at the time of the
// first of them.
func (s *Store) holding(ctx context.Context, ms []store.Message) ([]string, error) {
	// An empty transaction: whatever was saved without knowing of the deletion can be read after it.
	if err := s.DB.Write(ctx, func(*sql.Tx) error { return nil }); err != nil {
		return nil, err
	}
	all := map[string]bool{}
	add := func(query string, args ...any) (ids []string, err error) {
		ids, err = store.List(ctx, s.DB, "find traces", store.ScanValue[string], query, args...)
		for _, id := range ids {
			all[id] = true
		}
		return ids, err
	}
	since := map[string]int64{} // by channel: when the first of the messages was written
	for _, m := range ms {
		own, err := add(`SELECT trace_id FROM trace_messages WHERE message_id = ? ORDER BY trace_id`, m.ID)
		if err == nil {
			_, err = add(`SELECT trace_id FROM trace_quotes WHERE message_id = ?`, m.ID)
		}
		at := m.At.UnixMicro()
		if err == nil && m.ChannelID == "" && len(own) > 0 {
			err = s.DB.Read().QueryRowContext(ctx, `SELECT channel_id, began FROM traces WHERE id = ?`, own[0]).Scan(&m.ChannelID, &at)
		}
		if err != nil && !errors.Is(err, sql.ErrNoRows) { // it was pruned meanwhile
			return nil, s.DB.Explain(err)
		}
		if first, ok := since[m.ChannelID]; m.ChannelID != "" && (!ok || at < first) {
			since[m.ChannelID] = at
		}
	}
	for channel, at := range since {
		if _, err := add(`SELECT id FROM traces WHERE channel_id = ? AND began > ?`, channel, at-skew.Microseconds()); err != nil {
			return nil, err
		}
	}
	return slices.Sorted(maps.Keys(all)), nil
}

// redactMessage takes messages out of a record.
func (s *Store) redactMessage(ctx context.Context, id string, ms []store.Message) error {
	var held []store.Message
	holds := func(text string) bool {
		held = slices.DeleteFunc(slices.Clone(ms), func(m store.Message) bool { return !strings.Contains(text, `"`+m.ID+`"`) })
		return len(held) > 0
	}
	return s.amend(ctx, id, holds, func(t *turn.Trace) (changed bool) {
		for _, m := range held {
			changed = redactionOf(m).Apply(t) || changed
		}
		return changed
	})
}

// RedactPerson takes a person out of the records of turns that others asked for since a time. It returns how many of them hold something of
// the person. If it only counts, it changes nothing.
func (s *Store) RedactPerson(ctx context.Context, r *Redaction, since time.Time, onlyCount bool) (n int, err error) {
	err = s.Each(ctx, since, func(t *turn.Trace) error {
		if r.Asked(t) || !r.Apply(t) {
			return nil
		}
		n++
		if onlyCount {
			return nil
		}
		return s.amend(ctx, t.Request.ID, always, r.Apply)
	})
	return n, err
}

func always(string) bool { return true }

// Press notes on a record that somebody pressed a button under the reply. Somebody who has opted out is not named.
func (s *Store) Press(ctx context.Context, id string, p turn.Press) error {
	by, err := s.DB.Privacy.Standing(ctx, p.ByID)
	if err != nil {
		return err
	}
	if !by.OptedOut.IsZero() {
		p.ByID = ""
	}
	return s.amend(ctx, id, always, func(t *turn.Trace) bool {
		t.Presses = append(t.Presses, p)
		return true
	})
}

// Spoke notes on a record that the reply was said aloud, or that this failed.
func (s *Store) Spoke(ctx context.Context, id string, said turn.Speech, call turn.Call) error {
	return s.amend(ctx, id, always, func(t *turn.Trace) bool {
		t.Calls, t.Speech = append(t.Calls, call), &said
		return true
	})
}

// SpeechDeleted notes on a record that the voice message of the reply is gone.
func (s *Store) SpeechDeleted(ctx context.Context, id string) error {
	return s.amend(ctx, id, always, func(t *turn.Trace) bool {
		if t.Speech == nil {
			return false
		}
		t.Speech.MessageID = ""
		return true
	})
}

// Felt notes on a record which mood the reply shows, and what a model was asked for that.
func (s *Store) Felt(ctx context.Context, id string, m turn.Mood, calls []turn.Call) error {
	return s.amend(ctx, id, always, func(t *turn.Trace) bool {
		t.Calls, t.Mood = append(t.Calls, calls...), &m
		return true
	})
}

// Repost notes on a record which posts hold the reply, or would if it were shown.
func (s *Store) Repost(ctx context.Context, id string, replyIDs []string) error {
	return s.amend(ctx, id, always, func(t *turn.Trace) bool {
		t.ReplyIDs = replyIDs
		return true
	})
}

// mostAmends is how often amend tries again while the turn saves its record.
const mostAmends = 10

// amend changes a record, if interests accepts its text and change reports a change. If the record is saved meanwhile, amend begins again,
// so that nothing is lost.
func (s *Store) amend(ctx context.Context, id string, interests func(text string) bool, change func(*turn.Trace) bool) error {
	for range mostAmends {
		_, body, err := readBody(s.DB.Read().QueryContext(ctx, bodyQuery+`WHERE t.id = ? ORDER BY p.id`, id))
		if errors.Is(err, store.ErrNotFound) {
			return nil // it was pruned
		}
		if err != nil {
			return s.DB.Explain(err)
		}
		text, err := s.packer.unpack(body)
		if err != nil || !interests(text) {
			return nil // nobody can read what cannot be unpacked
		}
		t, err := s.decode(body)
		if err != nil {
			return nil
		}
		if err := s.attach(ctx, t, id); err != nil {
			return s.DB.Explain(err)
		}
		if !change(t) {
			return nil
		}
		err = s.write(ctx, t, func(tx *sql.Tx) error {
			_, now, err := readBody(tx.Query(bodyQuery+`WHERE t.id = ? ORDER BY p.id`, id))
			if err == nil && !slices.Equal(now, body) {
				err = errStale
			}
			return err
		})
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if !errors.Is(err, errStale) {
			return err
		}
	}
	return errStale
}
