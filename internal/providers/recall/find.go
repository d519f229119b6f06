package recall

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"familiar/internal/context/turn"
	"familiar/internal/memory"
	"familiar/internal/store"
)

const (
	maxDirect      = 400 // messages of a direct conversation that are searched; no index has them
	defaultWindow  = 20  // messages that the conversation shows
	maxSearched    = 20  // candidates for notes, by words
	maxNamed       = 3   // people named in the message
	maxKnownPeople = 500 // people whose names are looked for in a direct message
)

// candidates are what was found in the store for a message.
type candidates struct {
	people    []store.Person // the asker, and who is named
	about     []memory.Statement
	notes     []memory.Statement // also topics and sessions
	nearNotes []int64            // those near in meaning, the nearest first
	names     map[string]string  // of the authors of notes, by id
	messages  found
	shown     map[string]bool // the messages that the conversation shows
}

// found are messages that may hold an answer.
type found struct {
	messages []turn.Message
	weights  []float64       // of the query's words; nil: the messages are the whole conversation
	near     []string        // the messages near in meaning, the nearest first
	apart    map[string]bool // those of them that have none of the words
}

// find finds what may bear on a message in the store. If it fails, it returns what it has found before.
func (p *MemoryProvider) find(ctx context.Context, q *asked, m *meaning) (c candidates, err error) {
	defer m.wait()
	if err = p.findStatements(ctx, q, m, &c); err != nil {
		return c, err
	}
	if !q.looksBack || q.room == 0 {
		return c, nil
	}
	if c.messages, err = p.findMessages(ctx, q, m); err != nil || len(c.messages.messages) == 0 {
		return c, err
	}
	if c.shown, err = p.shown(ctx, q); err != nil {
		c.messages = found{}
		return c, fmt.Errorf("read the messages that the conversation shows: %w", err)
	}
	return c, nil
}

// findStatements finds what the asker and the people named said about themselves. It also finds the notes that have words of the message or
// are near in meaning.
func (p *MemoryProvider) findStatements(ctx context.Context, q *asked, m *meaning, c *candidates) (err error) {
	if !p.Memories.MayHoldAny(q.GuildID) {
		return nil
	}
	filter := memory.FilterFor(ctx, p.Memories, p.Servers, q.Request)
	if c.people, err = p.named(ctx, q, filter); err != nil {
		return fmt.Errorf("find the people named: %w", err)
	}
	c.people = slices.Insert(c.people, 0, store.Person{ID: q.Message.Author.ID, Name: q.Message.Author.Name})
	var ids []string
	for _, person := range c.people {
		ids = append(ids, person.ID)
	}
	if c.about, err = p.Memories.About(ctx, filter, ids, memory.Person); err != nil {
		return fmt.Errorf("read memories about people: %w", err)
	}
	if c.notes, err = p.Memories.Search(ctx, filter, q.content, maxSearched); err != nil {
		return fmt.Errorf("search memories: %w", err)
	}
	c.notes = slices.DeleteFunc(c.notes, func(m memory.Statement) bool { return m.Kind == memory.Person })
	for _, n := range p.nearestNotes(filter, m) {
		if c.nearNotes = append(c.nearNotes, n.ID); !slices.ContainsFunc(c.notes, func(m memory.Statement) bool { return m.ID == n.ID }) {
			c.notes = append(c.notes, n)
		}
	}
	c.names = p.authors(ctx, q, c.notes)
	return nil
}

// named returns the people named in the message, except the asker. In a server they are its members. In a direct message they are people
// with memories that its author may read.
func (p *MemoryProvider) named(ctx context.Context, q *asked, filter memory.ScopeFilter) (all []store.Person, err error) {
	var people []store.Person
	named := q.Named
	switch {
	case q.GuildID == "":
		if people, err = p.Memories.People(ctx, filter, maxKnownPeople); len(people) > 0 {
			var names []string
			for _, person := range people {
				names = append(names, person.Name)
			}
			named, _ = namedIn(q.said, names)
		}
	case len(named) > 0:
		people, err = p.Store.People.List(ctx, q.GuildID)
	}
	if err != nil {
		return nil, err
	}
	for _, person := range people {
		known := person.ID == q.Message.Author.ID || slices.ContainsFunc(all, func(p store.Person) bool { return p.ID == person.ID })
		if slices.Contains(named, person.Name) && !known && len(all) < maxNamed {
			all = append(all, person)
		}
	}
	return all, nil
}

// findMessages finds older messages that may answer a message, by their words and their meaning.
func (p *MemoryProvider) findMessages(ctx context.Context, q *asked, m *meaning) (f found, err error) {
	defer m.wait()
	if len(q.terms) == 0 {
		return f, nil
	}
	var stored []store.Message
	channels := []string{q.ChannelID}
	if q.GuildID != "" {
		if channels = memory.ReadableChannels(ctx, p.Servers, q.GuildID, q.Reader, q.audience); len(channels) == 0 {
			return f, nil
		}
		var got store.Recalled
		got, err = p.Store.Messages.Recall(ctx, store.Recall{GuildID: q.GuildID, Channels: channels, Words: q.words(), Kin: q.kinWords(), Language: q.knownLanguage(), From: q.Span.From, To: q.Span.To})
		stored, f.weights = got.Messages, got.Weights
	} else {
		stored, err = p.Store.Messages.Recent(ctx, q.ChannelID, maxDirect)
	}
	if err != nil {
		return found{}, fmt.Errorf("recall older messages: %w", err)
	}
	for _, s := range append(slices.Clip(stored), p.nearest(ctx, q, m, channels, stored, &f)...) {
		if s.ID != q.Message.ID && !slices.Contains(q.Burst, s.ID) && (q.Message.At.IsZero() || !s.At.After(q.Message.At)) {
			f.messages = append(f.messages, s.SeenBy(q.Character))
		}
	}
	return f, nil
}

// nearest finds the messages near in meaning, and returns those that have none of the words, with their neighbours.
func (p *MemoryProvider) nearest(ctx context.Context, q *asked, m *meaning, channels []string, stored []store.Message, f *found) (more []store.Message) {
	if !m.wait() {
		return nil
	}
	limited, cancel := context.WithTimeout(m.ctx, nearestLimit)
	defer cancel()
	all, err := p.Vectors.Nearest(limited, memory.Nearest{GuildID: q.GuildID, Channels: channels, Model: p.Embeddings.Model, To: m.vector, Limit: maxNear,
		Except: append(slices.Clone(q.Burst), q.Message.ID)})
	if err != nil {
		m.sent.Failure = failure(err)
		return nil
	}
	have := map[string]bool{}
	for _, s := range stored {
		have[s.ID] = true
	}
	f.apart = map[string]bool{}
	for _, n := range all {
		f.near = append(f.near, n.ID)
		if !n.Apart || len(f.apart) == maxApart {
			continue
		}
		f.apart[n.ID] = true
		around, err := p.Store.Messages.Around(ctx, n.Message, apartContext, apartContext)
		if err != nil {
			around = []store.Message{n.Message}
		}
		for _, a := range around {
			if !have[a.ID] {
				have[a.ID] = true
				more = append(more, a)
			}
		}
	}
	return more
}

// nearestNotes returns the notes near in meaning, the nearest first.
func (p *MemoryProvider) nearestNotes(filter memory.ScopeFilter, m *meaning) []memory.Statement {
	if !m.wait() {
		return nil
	}
	limited, cancel := context.WithTimeout(m.ctx, nearestLimit)
	defer cancel()
	notes, err := p.Memories.Nearest(limited, filter, p.Embeddings.Model, m.vector, maxNotes)
	if err != nil {
		m.sent.Failure = failure(err)
		return nil
	}
	return slices.DeleteFunc(notes, func(of memory.Statement) bool { return of.Kind == memory.Person })
}

// authors returns the names of those who wrote statements, by id, as they are called where they wrote them.
func (p *MemoryProvider) authors(ctx context.Context, q *asked, statements []memory.Statement) map[string]string {
	names := map[string]string{q.Message.Author.ID: q.Message.Author.Name}
	wrote := map[string][]string{} // by server
	for _, m := range statements {
		if m.Scope.GuildID != "" && m.Author != "" {
			wrote[m.Scope.GuildID] = append(wrote[m.Scope.GuildID], m.Author)
		}
	}
	for guildID, ids := range wrote {
		if found, err := p.Store.People.NamesByID(ctx, guildID, ids); err == nil { // without a name they are told without it
			maps.Copy(names, found)
		}
	}
	return names
}

// shown returns the ids of the messages that the conversation shows.
func (p *MemoryProvider) shown(ctx context.Context, q *asked) (map[string]bool, error) {
	if p.Unread {
		return nil, nil
	}
	n := p.Window
	if n <= 0 {
		n = defaultWindow
	}
	recent, err := p.Store.Messages.Latest(ctx, q.Request, n+1)
	if err != nil {
		return nil, err
	}
	ids := map[string]bool{}
	for _, m := range recent {
		ids[m.ID] = true
	}
	for _, m := range q.Chain {
		ids[m.ID] = true
	}
	if q.Parent != nil {
		ids[q.Parent.ID] = true
	}
	return ids, nil
}
