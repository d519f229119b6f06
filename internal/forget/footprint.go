package forget

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/memory"
	"familiar/internal/store"
	"familiar/internal/trace"
)

// footprint is how a person is found: the typed provenance of everything that is theirs or was made from it. It only grows, because deleted
// items are still looked for. The counts are those of the last find.
type footprint struct {
	id       string
	before   time.Time       // what they did later is not part of it; zero: no limit
	names    map[string]bool // under which they were seen
	records  map[string]bool // ids of their turns
	messages map[string]bool // ids of what they wrote
	answers  map[string]bool // ids of what the bot wrote to them
	memories map[int64]bool  // ids of statements about them, at their request, or from their messages alone
	direct   map[string]bool // channels that only they and the bot read
	words    map[string]bool // what they wrote, and what is remembered or retold of it

	counts map[Kind]int // by kind, at the last find
	retold int          // summaries that retell their messages, at the last find
}

func newFootprint(personID string, before time.Time) *footprint {
	return &footprint{id: personID, before: before, names: map[string]bool{}, records: map[string]bool{}, messages: map[string]bool{}, answers: map[string]bool{},
		memories: map[int64]bool{}, counts: map[Kind]int{}, direct: map[string]bool{"user:" + personID: true}, words: map[string]bool{}}
}

// redaction returns the redaction that removes the person from records.
func (f *Forgetter) redaction(p *footprint) *trace.Redaction {
	return &trace.Redaction{Messages: maps.Clone(p.messages), Words: sorted(p.words), Person: &trace.Person{
		ID: p.id, Pseudonym: f.Traces.DB.Privacy.Pseudonym(p.id), Names: maps.Clone(p.names), Memories: maps.Clone(p.memories), Before: p.before}}
}

// find completes a footprint: the person's turns lead to the answers in the tables.
func (f *Forgetter) find(ctx context.Context, p *footprint) error {
	p.counts[KindRecords] = 0
	r := f.redaction(p)
	err := f.Traces.Each(ctx, time.Time{}, func(t *turn.Trace) error {
		if !r.Asked(t) || !p.before.IsZero() && t.Began.After(p.before) {
			return nil
		}
		m := &t.Request.Message
		p.counts[KindRecords]++
		p.records[t.Request.ID] = true
		p.name(m.Author.Name)
		if t.Request.GuildID == "" && m.Author.ID == p.id {
			p.direct[t.Request.ChannelID] = true
		}
		p.words[m.Text], p.words[m.Note] = true, true
		return nil
	})
	if err != nil {
		return err
	}
	return f.findRows(ctx, p)
}

// findRows completes a footprint from the tables.
func (f *Forgetter) findRows(ctx context.Context, p *footprint) error {
	p.counts[KindMessages], p.counts[KindAnswers], p.counts[KindMemories], p.retold = 0, 0, 0, 0
	for _, find := range []func(context.Context, *footprint) error{f.findMessages, f.findNames, f.findAnswers, f.findMemories, f.findSummaries} {
		if err := find(ctx, p); err != nil {
			return fmt.Errorf("find a person: %w", err)
		}
	}
	return nil
}

// findMessages finds the person's messages. It reads the whole table: an index of authors would cost more than it saves.
func (f *Forgetter) findMessages(ctx context.Context, p *footprint) error {
	before := int64(math.MaxInt64)
	if !p.before.IsZero() {
		before = p.before.UnixMicro()
	}
	err := f.Traces.DB.Each(ctx, `SELECT id, channel_id, guild_id, author_name, text, note FROM messages WHERE author_id = @person AND NOT own AND at <= @before`,
		store.Args{"person": p.id, "before": before}, func(scan func(...any) error) error {
			var id, channel, guild, name, text, note string
			if err := scan(&id, &channel, &guild, &name, &text, &note); err != nil {
				return err
			}
			p.counts[KindMessages]++
			p.messages[id], p.words[text], p.words[note] = true, true, true
			p.name(name)
			if guild == "" {
				p.direct[channel] = true
			}
			return nil
		})
	if err != nil {
		return err
	}
	pruned, err := f.Memories.SourcesOf(ctx, p.id)
	for _, id := range pruned {
		p.messages[id] = true
	}
	return err
}

func (f *Forgetter) findNames(ctx context.Context, p *footprint) error {
	return f.Traces.DB.Each(ctx, `SELECT name FROM people WHERE author_id = @person UNION SELECT by_name FROM backdrops WHERE by_id = @person`,
		store.Args{"person": p.id}, func(scan func(...any) error) error {
			var name string
			err := scan(&name)
			p.name(name)
			return err
		})
}

func (p *footprint) name(name string) {
	if name != "" {
		p.names[name] = true
	}
}

// findAnswers finds the bot's messages to the person: replies, posts of their turns, and direct messages.
func (f *Forgetter) findAnswers(ctx context.Context, p *footprint) error {
	return f.Traces.DB.Each(ctx, `SELECT id, channel_id, reply_to, turn_id FROM messages WHERE own`, nil, func(scan func(...any) error) error {
		var id, channel, replyTo, turn string
		if err := scan(&id, &channel, &replyTo, &turn); err != nil {
			return err
		}
		if p.messages[replyTo] || p.direct[channel] || p.records[turn] {
			p.answers[id] = true
			p.counts[KindAnswers]++
		}
		return nil
	})
}

func (f *Forgetter) findMemories(ctx context.Context, p *footprint) error {
	all, err := f.Memories.Export(ctx)
	for _, m := range all {
		if p.remembers(m) {
			p.memories[m.ID], p.words[m.Text] = true, true
			p.counts[KindMemories]++
		}
	}
	return err
}

// remembers reports whether a statement is about the person, or at their request. It may also be only from messages of theirs and answers
// to them.
func (p *footprint) remembers(m memory.Statement) bool {
	if m.By == p.id || m.Author == p.id || m.Kind == memory.Person && m.Subject == p.id || m.Scope.Kind == memory.ScopeDM && p.direct[m.Scope.ID] {
		return true
	}
	return len(m.Sources) > 0 && !slices.ContainsFunc(m.Sources, func(id string) bool { return !p.messages[id] && !p.answers[id] })
}

// findSummaries finds the sentences of summaries that retell the person's messages.
func (f *Forgetter) findSummaries(ctx context.Context, p *footprint) error {
	all, err := f.Traces.DB.Summaries.All(ctx)
	for _, s := range all {
		retells := false
		for _, one := range s.Sentences {
			if slices.ContainsFunc(one.Sources, func(id string) bool { return p.messages[id] }) {
				p.words[one.Text], retells = true, true
			}
		}
		if retells && !p.direct[s.ChannelID] { // conditions count the others
			p.retold++
		}
	}
	return err
}

func sorted(all map[string]bool) []string { return slices.Sorted(maps.Keys(all)) }
