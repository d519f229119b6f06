package forget

import (
	"context"
	"maps"
	"slices"

	"familiar/internal/trace"
)

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
	return f.Traces.RedactPerson(ctx, f.redaction(s.person), onlyCount)
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
