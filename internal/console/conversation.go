package console

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/forget"
	"familiar/internal/memory"
	"familiar/internal/store"
	"familiar/internal/text"
	"familiar/internal/trace"
)

// shownChannels is how many channels are listed.
const shownChannels = 120

// channels lists the channels with turns, the one that was used last first.
func (k *Console) channels(w http.ResponseWriter, r *http.Request) {
	all, err := k.Traces.Channels(r.Context(), mostChannels)
	if err != nil {
		k.broken(w, r, err)
		return
	}
	slices.SortStableFunc(all, func(a, b trace.Channel) int { return b.Last.Compare(a.Last) })
	k.render(w, r, http.StatusOK, "channels", "Conversations", all[:min(len(all), shownChannels)])
}

type channelPage struct {
	ID, GuildID          string
	Said                 []said
	Older, Newer, Newest string // addresses; empty at the ends
	Way                  *way   // nil: nothing can be operated
}

// said is a message as people saw it, with what the program knows of it.
type said struct {
	store.Message
	Link      string // to the message in Discord
	Person    string // whose page there is; empty: nobody's
	Above     *said  // that it replies to; only its author and its beginning
	Turns     []trace.Summary
	Reaction  string // with which the character answered it
	Good, Bad int    // what people think of it
}

const (
	messagesPerPage = 40
	bytesPerPage    = 20_000 // of the texts of messages
	longestAbove    = 100    // characters of the message that is replied to
	longestSaid     = 4000   // characters of a message; Discord has no longer ones
)

func (k *Console) channel(w http.ResponseWriter, r *http.Request) {
	p := channelPage{ID: r.PathValue("id")}
	some, err := k.messagesOf(r, &p)
	if err == nil && len(some) == 0 {
		k.fail(w, r, http.StatusNotFound, "No message of this channel is kept.")
		return
	}
	if err == nil {
		p.GuildID = some[len(some)-1].GuildID
		p.Said, err = k.asSeen(r.Context(), some)
	}
	if err == nil && k.Controls != nil {
		p.Way, err = k.wayIn(r.Context(), p.ID, p.GuildID)
	}
	if err != nil {
		k.broken(w, r, err)
		return
	}
	k.render(w, r, http.StatusOK, "channel", k.channelName(p.ID), p)
}

// messagesOf reads the messages that a request asks for, oldest first. They are the last ones, or those from, before or after one.
func (k *Console) messagesOf(r *http.Request, p *channelPage) (some []store.Message, err error) {
	f, ctx := r.URL.Query(), r.Context()
	at, before, after := f.Get("at"), f.Get("before"), f.Get("after")
	older, newer := false, true
	var m store.Message
	if id := at + before + after; id == "" {
		newer = false
		some, err = k.Store.Messages.Recent(ctx, p.ID, messagesPerPage+1)
	} else if m, err = k.Store.Messages.Get(ctx, id); err == nil && m.ChannelID == p.ID {
		switch {
		case before != "":
			some, err = k.Store.Messages.Around(ctx, m, messagesPerPage+1, 0)
			some = some[:max(0, len(some)-1)]
		default: // at or after it
			older = true
			if some, err = k.Store.Messages.After(ctx, p.ID, m.At, m.ID, messagesPerPage+1); at != "" {
				some = slices.Insert(some, 0, m)
			}
			n := fitting(some)
			newer, some = n < len(some), some[:n]
		}
	}
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if !older {
		slices.Reverse(some) // the last ones matter
		n := fitting(some)
		older, some = n < len(some), some[:n]
		slices.Reverse(some)
	}
	path := "/channel/" + p.ID
	if len(some) > 0 && older {
		p.Older = withQuery(path, "before", some[0].ID)
	}
	if len(some) > 0 && newer {
		p.Newer, p.Newest = withQuery(path, "after", some[len(some)-1].ID), path
	}
	return some, err
}

// fitting returns how many of some messages fit on a page, from the first on.
func fitting(some []store.Message) int {
	size := 0
	for i, m := range some {
		if size += len(m.Text); i > 0 && size > bytesPerPage || i == messagesPerPage {
			return i
		}
	}
	return len(some)
}

// asSeen adds to messages their turns, what they reply to, and what people think of them.
func (k *Console) asSeen(ctx context.Context, some []store.Message) (all []said, err error) {
	var ids, turnIDs []string
	for _, m := range some {
		ids = append(ids, m.ID)
	}
	turns, err := k.Traces.TurnsOf(ctx, ids...)
	if err != nil {
		return nil, err
	}
	for _, of := range turns {
		turnIDs = append(turnIDs, of...)
	}
	lines, err := k.Traces.Lines(ctx, turnIDs...)
	if err != nil {
		return nil, err
	}
	var opinions []store.Opinion
	if len(turnIDs) > 0 { // none means all
		opinions, err = k.Store.Ratings.Opinions(ctx, turnIDs...)
	}
	asked := map[string]bool{} // turns whose question is on the page
	for _, m := range some {
		one := said{Message: m, Link: linkTo(m.GuildID, m.ChannelID, m.ID)}
		if one.Text = text.Truncate(m.Text, longestSaid); !m.Own {
			one.Person = personOf(m.AuthorID)
		}
		for _, id := range turns[m.ID] {
			at := slices.IndexFunc(lines, func(l trace.Summary) bool { return l.ID == id })
			if m.Own {
				one.count(opinions, id)
			}
			if at >= 0 && !(m.Own && asked[id]) {
				one.Turns = append(one.Turns, lines[at])
				asked[id] = true
			}
		}
		if m.ReplyTo != "" && err == nil {
			one.Above, err = k.above(ctx, some, m)
		}
		if !m.Own && err == nil {
			one.Reaction, err = k.reaction(ctx, some, one.Turns)
		}
		all = append(all, one)
	}
	return all, err
}

// count counts what people think of the reply of a turn.
func (s *said) count(opinions []store.Opinion, turnID string) {
	for _, o := range opinions {
		switch {
		case o.TurnID != turnID:
		case o.Verdict == "good":
			s.Good++
		default:
			s.Bad++
		}
	}
}

// above returns the author and the beginning of the message that one replies to; nil if it is not kept.
func (k *Console) above(ctx context.Context, some []store.Message, m store.Message) (*said, error) {
	var above store.Message
	if i := slices.IndexFunc(some, func(o store.Message) bool { return o.ID == m.ReplyTo }); i >= 0 {
		above = some[i]
	} else {
		var err error
		above, err = k.Store.Messages.Get(ctx, m.ReplyTo)
		if errors.Is(err, store.ErrNotFound) || err == nil && above.ChannelID != m.ChannelID {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
	}
	above.Text = text.Truncate(text.OneLine(above.Text), longestAbove)
	return &said{Message: above}, nil
}

// reaction returns the reaction with which the last of a message's turns answered it, or "". Only a turn without a post has one.
func (k *Console) reaction(ctx context.Context, some []store.Message, turns []trace.Summary) (string, error) {
	if len(turns) == 0 || turns[len(turns)-1].Phase != turn.Answered {
		return "", nil
	}
	id := turns[len(turns)-1].ID
	if slices.ContainsFunc(some, func(m store.Message) bool { return m.TurnID == id }) {
		return "", nil
	}
	t, err := k.Traces.Get(ctx, id)
	if err != nil || !t.Reacted {
		return "", ignoring(err, store.ErrNotFound)
	}
	return t.Reply, nil
}

func ignoring(err, what error) error {
	if errors.Is(err, what) {
		return nil
	}
	return err
}

// linkTo returns the address of a message in Discord. At a terminal nothing has one: its ids are not numbers.
func linkTo(guildID, channelID, messageID string) string {
	if strings.Trim(channelID+messageID, "0123456789") != "" {
		return ""
	}
	if guildID == "" {
		guildID = "@me"
	}
	return "https://discord.com/channels/" + guildID + "/" + channelID + "/" + messageID
}

// personOf returns the id of a person who has a page. Somebody who opted out has none: records only have their pseudonym.
func personOf(id string) string {
	if strings.HasPrefix(id, "~") {
		return ""
	}
	return id
}

// personPage is what is kept of a person. Of somebody who has opted out it has only that.
type personPage struct {
	ID, Name string
	Servers  []string
	store.Standing
	Card     []cardField
	Learns   bool // they agreed that the bot learns about them
	Memories []memory.Statement
	Names    map[string]string
	More     bool // there are more memories
	Used     store.Used
	Opinions map[string]int
	Acts     []store.PrivacyEntry
	Counts   *counted // what was counted for this page; nil: nothing
	Counting bool
	CanCount bool
}

type cardField struct{ Name, Value string }

// counted is how much is kept of a person, by kind.
type counted struct {
	PersonID string
	Kinds    []kindCount
	Problem  string
}

type kindCount struct {
	Kind forget.Kind
	N    int
}

const (
	usageDays       = 30
	mostServersOf   = 20
	memoriesOfOne   = 40
	longestMemory   = 300 // characters
	forgottenNotice = "There is nothing of such a person."
)

func (k *Console) person(w http.ResponseWriter, r *http.Request) {
	p := personPage{ID: r.PathValue("id"), CanCount: k.Controls != nil}
	ctx := r.Context()
	var err error
	if p.Standing, err = k.Store.Privacy.Standing(ctx, p.ID); err == nil && p.OptedOut.IsZero() {
		err = k.kept(ctx, &p)
	}
	if err == nil {
		p.Acts, err = k.Store.Privacy.Acts(ctx, p.ID)
	}
	if err != nil {
		k.broken(w, r, err)
		return
	}
	if p.Name == "" && p.Standing == (store.Standing{}) && len(p.Memories)+len(p.Card) == 0 && p.Used == (store.Used{}) {
		k.fail(w, r, http.StatusNotFound, forgottenNotice)
		return
	}
	now, _, going := k.counts.state()
	if p.Counting = going; now.PersonID == p.ID {
		p.Counts = &now
	}
	if going {
		w.Header().Set("Refresh", refreshInterval)
	}
	title := p.Name
	if title == "" {
		title = "Person " + p.ID
	}
	k.render(w, r, http.StatusOK, "person", title, p)
}

// kept reads what is kept of a person.
func (k *Console) kept(ctx context.Context, p *personPage) error {
	names, err := k.Store.People.NamesByID(ctx, "", []string{p.ID})
	if err != nil {
		return err
	}
	p.Name = names[p.ID]
	if p.Servers, err = k.Store.People.Servers(ctx, p.ID, mostServersOf); err != nil {
		return err
	}
	card, err := k.Memories.Card(ctx, p.ID)
	if err != nil {
		return err
	}
	for _, field := range turn.CardFields() {
		if card[field] != "" {
			p.Card = append(p.Card, cardField{field, card[field]})
		}
	}
	if p.Learns, err = k.Memories.Consent(ctx, p.ID); err != nil {
		return err
	}
	p.Memories, err = k.Memories.Browse(ctx, memory.Browse{Person: p.ID, Limit: memoriesOfOne + 1})
	if err != nil {
		return err
	}
	if p.More = len(p.Memories) > memoriesOfOne; p.More {
		p.Memories = p.Memories[:memoriesOfOne]
	}
	for i := range p.Memories {
		p.Memories[i].Text = text.Truncate(p.Memories[i].Text, longestMemory)
	}
	if p.Names, err = k.namesIn(ctx, p.Memories); err != nil {
		return err
	}
	if p.Used, err = k.Store.Quotas.UsageOf(ctx, time.Now().AddDate(0, 0, 1-usageDays), store.OfPerson, p.ID); err != nil {
		return err
	}
	p.Opinions, err = k.Store.Ratings.OpinionsOf(ctx, p.ID)
	return err
}

// countPerson counts what is kept of a person, as before they are forgotten. It reads everything, so it is a POST.
func (k *Console) countPerson(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	if err := k.act(r, store.ActCount, "", "", k.Store.Privacy.Pseudonym(id)); err != nil {
		k.broken(w, r, err)
		return
	}
	k.counts.begin(r, func(ctx context.Context, set func(counted)) {
		set(counted{PersonID: id})
		found, err := k.Controls.Count(ctx, id)
		done := counted{PersonID: id}
		if err != nil {
			done.Problem = err.Error()
		}
		for _, kind := range forget.Kinds() {
			if err == nil {
				done.Kinds = append(done.Kinds, kindCount{kind, found[kind]})
			}
		}
		set(done)
	})
	k.redirect(w, r, "/person/"+id)
}
