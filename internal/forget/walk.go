package forget

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"familiar/internal/store"
	"familiar/internal/trace"
)

// subject is what is forgotten. Exactly one field is set.
type subject struct {
	messages []store.Message // deleted ones
	person   *footprint
	server   string // its id
	old      Limits // whatever is older
}

// Limits say how old something may be, by its class: what is older goes. A class without a limit stays.
type Limits map[Class]time.Time

// Class is a class of what is kept for the same time.
type Class string

const (
	Messages Class = "messages" // with summaries of them
	Names    Class = "names"
	Records  Class = "records"
	Answered Class = "answered" // events that were answered, and posts of turns
	Memories Class = "memories" // that the bot learned by itself
	Feedback Class = "feedback"
	Usage    Class = "usage"
	Changes  Class = "changes" // of settings
	Unkept   Class = "unkept"  // notes about turns that are not kept
)

// keeper is one line of the list. It is a table, or another place, with what it holds of people and what happens to that. A table with
// several kinds of data has several lines.
type keeper struct {
	table  string
	key    string   // columns that name a row; empty: no rule has a condition
	kind   Kind     // as which it is counted for a person; empty: it is not counted, or with another line
	people string   // columns that hold ids, names or words of people; empty: none, or another line has them
	other  string   // all other columns
	who    []string // expressions for the ids of people in it, or ''

	onServer bool // only PostgreSQL has the table, so the rules have no conditions

	optedOut outcome // what happens to what somebody who has opted out would leave there

	message rules // a message is deleted; none: nothing of a message is there
	person  rules // a person is forgotten
	server  rules // the bot has left a server
	old     rules // time passes; none: it is kept until somebody changes or deletes it
}

// outcome is what is kept of somebody who has opted out.
type outcome string

const (
	nothing  outcome = "nothing"   // the store does not write it
	unsigned outcome = "unsigned"  // it is written without their id and name
	hashed   outcome = "pseudonym" // it is written under their pseudonym
	asIs     outcome = "as is"     // it is needed to keep their decision
)

type rules []rule

// rule says what happens in one case. It has a condition, or a function, or a reason why nothing needs to be done.
type rule struct {
	where string // SQL condition for the rows; its parameters are those of Forgetter.args
	set   string // what changes in these rows; empty: they are deleted
	class Class  // whose limit the condition has
	do    step
	why   string
}

// step carries out a rule that takes more than a condition, and returns how many things it was about. If it only counts, it changes nothing.
type step func(ctx context.Context, s *subject, onlyCount bool) (int, error)

func remove(where string) rule      { return rule{where: where} }
func change(where, set string) rule { return rule{where: where, set: set} }
func do(f step) rule                { return rule{do: f} }
func because(why string) rules      { return rules{{why: why}} }

// with is for rows that go together with those of another table. A foreign key or a trigger deletes them, or the function that deletes the
// others.
func with(table string) rules { return because("goes with " + table) }

// older deletes the rows for which a condition holds that has the limit of a class.
func older(class Class, where string) rules { return rules{{where: where, class: class}} }

// age is older for what takes more than a condition.
func age(of Class, prune func(context.Context, time.Time) (int, error)) rules {
	return rules{do(func(ctx context.Context, s *subject, _ bool) (int, error) {
		before, limited := s.old[of]
		if !limited {
			return 0, nil
		}
		return prune(ctx, before)
	})}
}

// forgotten is what the walk did in a line of the list.
type forgotten struct {
	table string
	kind  Kind
	rows  int
}

// walk forgets a subject in every keeper, in the order of the list; or counts what it would be about. It ends at the first error, except
// for what is old: each table has its own time there.
func (f *Forgetter) walk(ctx context.Context, s *subject, onlyCount bool) (all []forgotten, err error) {
	for _, k := range f.keepers() {
		one := forgotten{k.table, k.kind, 0}
		for _, r := range s.rules(k) {
			n, failed := f.apply(ctx, k, r, s, onlyCount)
			if one.rows += n; failed == nil {
				continue
			}
			err = errors.Join(err, fmt.Errorf("forget in %s: %w", k.table, failed))
			if s.old == nil || ctx.Err() != nil {
				return all, err
			}
		}
		all = append(all, one)
	}
	return all, err
}

func (f *Forgetter) apply(ctx context.Context, k keeper, r rule, s *subject, onlyCount bool) (rows int, err error) {
	if r.do != nil {
		return r.do(ctx, s, onlyCount)
	}
	for _, args := range f.args(s, r) {
		var n int
		if onlyCount {
			n, err = f.Traces.DB.CountRows(ctx, k.table, r.where, args)
		} else {
			n, err = f.Traces.DB.ChangeRows(ctx, k.table, k.key, r.where, r.set, args)
		}
		if rows += n; err != nil {
			return rows, err
		}
	}
	return rows, nil
}

func (s *subject) rules(k keeper) rules {
	switch {
	case s.messages != nil:
		return k.message
	case s.person != nil:
		return k.person
	case s.server != "":
		return k.server
	}
	return k.old
}

// args returns the parameters of a condition, once for each time that it is carried out. They are @server, or @limit and its day @limitday,
// or @person, @who (the pseudonym), @before, @today, and @direct. @direct stands for each channel that the person shares with the bot alone.
func (f *Forgetter) args(s *subject, r rule) (all []store.Args) {
	switch {
	case r.where == "":
		return nil
	case s.old != nil:
		if limit, limited := s.old[r.class]; limited {
			all = []store.Args{{"limit": limit.UnixMicro(), "limitday": limit.UTC().Format(time.DateOnly)}}
		}
		return all
	case s.person == nil:
		return []store.Args{{"server": s.server}}
	}
	p := s.person
	one := func(direct string) store.Args {
		before := int64(math.MaxInt64)
		if !p.before.IsZero() {
			before = p.before.UnixMicro()
		}
		return store.Args{"person": p.id, "who": f.Traces.DB.Privacy.Pseudonym(p.id), "before": before, "today": time.Now().UTC().Format(time.DateOnly), "direct": direct}
	}
	if !strings.Contains(r.where, "@direct") {
		return []store.Args{one("")}
	}
	for _, direct := range sorted(p.direct) {
		all = append(all, one(direct))
	}
	return all
}

// inGuild makes a step of a function that deletes what is of a server.
func inGuild(remove func(ctx context.Context, guildID string) (int, error)) step {
	return func(ctx context.Context, s *subject, _ bool) (int, error) { return remove(ctx, s.server) }
}

func (f *Forgetter) redactMessages(ctx context.Context, s *subject, _ bool) (int, error) {
	return len(s.messages), f.Traces.RedactMessages(ctx, s.messages)
}

// endDeletion notes that no record holds the messages any more.
func (f *Forgetter) endDeletion(ctx context.Context, s *subject, _ bool) (int, error) {
	for _, m := range s.messages {
		if err := f.Traces.DB.Messages.FinishDeletion(ctx, m.ID); err != nil {
			return 0, err
		}
	}
	return len(s.messages), nil
}

// found is for what a footprint has counted and names by ids.
func found(kind Kind, erase func(context.Context, *footprint) error) rule {
	return do(func(ctx context.Context, s *subject, onlyCount bool) (int, error) {
		if onlyCount {
			return s.person.counts[kind], nil
		}
		return s.person.counts[kind], erase(ctx, s.person)
	})
}

// eraseRecords deletes the records of a person's turns. From then on nothing is written for these turns, and the footprint is completed by
// what was written until then.
func (f *Forgetter) eraseRecords(ctx context.Context, p *footprint) error {
	_, err := f.Traces.Remove(ctx, sorted(p.records), true)
	if err == nil {
		err = f.findRows(ctx, p)
	}
	if err == nil {
		f.Traces.Withhold(f.redaction(p))
	}
	return err
}

func (f *Forgetter) eraseMessages(ctx context.Context, p *footprint) error {
	return f.Traces.DB.Messages.Erase(ctx, sorted(p.messages))
}

func (f *Forgetter) eraseAnswers(ctx context.Context, p *footprint) error {
	return f.Traces.DB.Messages.Erase(ctx, sorted(p.answers))
}

func (f *Forgetter) eraseMemories(ctx context.Context, p *footprint) error {
	return f.Memories.EraseAll(ctx, slices.Sorted(maps.Keys(p.memories)))
}

func (f *Forgetter) redactPerson(ctx context.Context, s *subject, onlyCount bool) (int, error) {
	return f.Traces.RedactPerson(ctx, f.redaction(s.person), time.Time{}, onlyCount)
}

// eraseQuotes takes whole sentences of a person out of what the bot wrote to others.
func (f *Forgetter) eraseQuotes(ctx context.Context, s *subject, onlyCount bool) (int, error) {
	replacer := trace.Replacer(sorted(s.person.words), trace.ShortestQuote)
	if replacer == nil {
		return 0, nil
	}
	changes := map[string]string{}
	err := f.Traces.DB.Each(ctx, `SELECT id, text FROM messages WHERE own`, nil, func(scan func(...any) error) error {
		var id, text string
		if err := scan(&id, &text); err != nil {
			return err
		}
		if replaced := replacer.Replace(text); replaced != text && !s.person.answers[id] {
			changes[id] = replaced
		}
		return nil
	})
	if err != nil || onlyCount {
		return len(changes), err
	}
	for id, text := range changes {
		if _, err := f.Traces.DB.Messages.Edit(ctx, id, text); err != nil {
			return 0, err
		}
	}
	return len(changes), nil
}

func (f *Forgetter) eraseEvents(ctx context.Context, s *subject, onlyCount bool) (int, error) {
	return f.Traces.DB.Claims.EraseEvents(ctx, s.person.id, s.person.before, onlyCount)
}

// countSummaries counts the summaries that retell a person's messages: they go with these messages.
func (f *Forgetter) countSummaries(_ context.Context, s *subject, _ bool) (int, error) {
	return s.person.retold, nil
}

// countDeletions counts the messages of a person that are being deleted: [Forgetter.Messages] finishes that before the walk.
func (f *Forgetter) countDeletions(ctx context.Context, s *subject, _ bool) (n int, err error) {
	all, err := f.Traces.DB.Messages.PendingDeletions(ctx)
	for _, m := range all {
		if s.person.messages[m.ID] {
			n++
		}
	}
	return n, err
}

func (f *Forgetter) emptyCaches(_ context.Context, _ *subject, onlyCount bool) (int, error) {
	if onlyCount || f.Caches == nil {
		return 0, nil
	}
	return 0, f.Caches()
}
