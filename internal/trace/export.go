package trace

import (
	"context"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/store"
)

// ExportFormat is the format of [Export].
const ExportFormat = "familiar personal data 1"

// Export is all that is kept of a person. It holds no words of other people, but for what the bot's answers quote.
type Export struct {
	Format   string    `json:"format"`
	Made     time.Time `json:"made"`
	PersonID string    `json:"person_id"`
	store.PersonalData
	Records  []PersonalRecord `json:"records,omitempty"`   // of their turns
	QuotedIn []string         `json:"quoted_in,omitempty"` // ids of the turns of others whose records hold something of theirs
}

// PersonalRecord is what the person is given of the record of one of their turns.
type PersonalRecord struct {
	ID        string            `json:"id"`
	Began     time.Time         `json:"began"`
	Character string            `json:"character"`
	GuildID   string            `json:"guild_id,omitempty"`
	ChannelID string            `json:"channel_id"`
	Question  string            `json:"question"`
	Reply     string            `json:"reply"`
	Model     string            `json:"model,omitempty"`
	Host      string            `json:"model_host,omitempty"`
	Usage     turn.Usage        `json:"usage,omitzero"`
	Queries   []string          `json:"queries,omitempty"`
	Pages     []string          `json:"pages,omitempty"` // addresses
	Voice     []turn.Transcript `json:"voice,omitempty"`
}

// Export returns all that is kept of a person.
func (s *Store) Export(ctx context.Context, personID string) (*Export, error) {
	trail := store.NewTrail(personID, time.Time{})
	if _, err := s.follow(ctx, trail); err != nil {
		return nil, err
	}
	e := &Export{Format: ExportFormat, Made: time.Now().UTC().Truncate(time.Second), PersonID: personID}
	var err error
	if e.PersonalData, err = s.DB.Export(ctx, trail); err != nil {
		return nil, err
	}
	x := newExpunger(trail, s.DB.Pseudonym(personID))
	err = s.each(ctx, func(t *turn.Trace) error {
		if x.own(t) {
			e.Records = append(e.Records, personal(t))
		} else if x.takeOut(t) {
			e.QuotedIn = append(e.QuotedIn, t.Request.ID)
		}
		return nil
	})
	return e, err
}

func personal(t *turn.Trace) PersonalRecord {
	r := t.Request
	p := PersonalRecord{ID: r.ID, Began: t.Began, Character: r.Character, GuildID: r.GuildID, ChannelID: r.ChannelID, Question: r.Message.Text,
		Reply: t.Reply, Model: t.Model, Host: t.ModelHost, Usage: t.Usage, Voice: t.Transcripts}
	for _, l := range Lookups(t) {
		if l.Query != "" {
			p.Queries = append(p.Queries, l.Query)
		}
		for _, page := range l.Pages {
			p.Pages = append(p.Pages, page.URL)
		}
	}
	return p
}

// Lookups are all those of a record.
func Lookups(t *turn.Trace) (all []*turn.Lookup) {
	for _, o := range t.Outcomes {
		for _, c := range o.Contributions {
			if c.Lookup != nil {
				all = append(all, c.Lookup)
			}
		}
	}
	return all
}

// Of reads the records of a person's turns since some time, in order. first is when the oldest record of anybody began, or the zero time:
// older ones are not kept.
func (s *Store) Of(ctx context.Context, personID string, since time.Time) (all []*turn.Trace, first time.Time, err error) {
	who := s.DB.Pseudonym(personID)
	err = s.each(ctx, func(t *turn.Trace) error {
		if first.IsZero() || t.Began.Before(first) {
			first = t.Began
		}
		if by := t.Request.Message.Author.ID; (by == personID || by == who) && !t.Began.Before(since) {
			all = append(all, t)
		}
		return nil
	})
	return all, first, err
}
