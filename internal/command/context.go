package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/reply"
	"familiar/internal/store"
	"familiar/internal/view"
	"familiar/internal/web/clean"
)

// contextPrefix begins the ids of buttons that turn the pages of /context. The turn and the page follow.
const contextPrefix = "context"

const maxFile = 8 << 20 // bytes of a record that is attached

// These are the answers about records.
const (
	noTurns        sentence = "No turn has been recorded in this channel yet."
	noSuchTurn     sentence = "No turn of this channel has that id."
	recordUnread   sentence = "The record could not be read. The operator's log says why."
	noAnswerOfMine sentence = "I have no record of an answer in this message."
)

// lastTurn shows the record of the channel's last turn, or of the one with a given id or message id.
func (c *call) lastTurn(ctx context.Context) turn.Answer {
	id := c.option("turn")
	if id == "" {
		c.Bot.Settle(c.Message.ChannelID)
		list, err := c.Bot.Traces.Recent(ctx, c.Message.ChannelID, 1)
		if err != nil {
			return c.unread(err)
		}
		if len(list) == 0 {
			return c.say(noTurns)
		}
		id = list[0].ID
	}
	return c.showTurn(ctx, id, 0)
}

// turnPage shows another page of a record.
func (c *call) turnPage(ctx context.Context) turn.Answer {
	return c.showTurn(ctx, c.variables["turn"], c.number("page"))
}

func (c *call) showTurn(ctx context.Context, id string, page int) turn.Answer {
	t, a := c.visibleTurn(ctx, id)
	if t == nil {
		return a
	}
	return c.show(ctx, t, contextPrefix+":"+t.Request.ID, page)
}

// explain answers "Why this answer?" with the record of the turn that posted the message, or that the message asked for. The button "Why"
// shows the same.
func (c *call) explain(ctx context.Context) turn.Answer {
	if c.Command.Target == nil {
		return c.say(noAnswerOfMine)
	}
	t, err := c.Bot.Traces.ByMessage(ctx, c.Command.Target.ID)
	if err == nil {
		t, err = c.Bot.SettledTurn(ctx, t.Request.ID)
	}
	switch {
	case errors.Is(err, store.ErrNotFound), err == nil && t.Request.ChannelID != c.Message.ChannelID:
		return c.say(noAnswerOfMine)
	case err != nil:
		return c.unread(err)
	}
	return c.show(ctx, t, c.key(t.Request.ID, reply.WhyButton), 0)
}

// visibleTurn finds the record with a turn's or a message's id. A person may not see the records of other channels. Without a record it
// returns the answer that says so.
func (c *call) visibleTurn(ctx context.Context, id string) (*turn.Trace, turn.Answer) {
	t, err := c.Bot.Traces.Get(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		t, err = c.Bot.Traces.ByMessage(ctx, id)
	}
	if errors.Is(err, store.ErrNotFound) || err == nil && t.Request.ChannelID != c.Message.ChannelID {
		return nil, c.say(noSuchTurn)
	}
	if err != nil {
		return nil, c.unread(err)
	}
	return t, turn.Answer{}
}

// show answers with the n-th part of a record. It has buttons to the others, whose ids begin with prefix, and the whole record is attached.
// Only people who may manage the server get the attachment and the page of the prompt. They hold how the character is made. Nobody gets
// them if the record quotes channels that the person may not read. A door without a limit gets the story of the turn.
func (c *call) show(ctx context.Context, t *turn.Trace, prefix string, n int) turn.Answer {
	if c.Bot.Pace.Units == 0 {
		return turn.Answer{Text: view.Story(t)}
	}
	t, complete := c.readable(ctx, t)
	whole := complete && c.Command.Admin
	if !c.Command.Admin && t.Cure != "" { // it holds names of settings and addresses
		shown := *t
		shown.Cure = ""
		t = &shown
	}
	pages := view.Pages(t)
	if faults := c.Bot.CurrentCast().Faults; c.Command.Admin && len(faults) > 0 {
		wrong := turn.Section{Text: fmt.Sprintf(view.FilesWrong, len(faults))}
		pages[0].Sections = slices.Insert(pages[0].Sections, 0, wrong)
		pages = append(pages, view.Page{Name: view.Files, Sections: []turn.Section{{Text: strings.Join(faults, "\n")}}})
	}
	if !whole {
		pages = slices.DeleteFunc(pages, func(p view.Page) bool { return p.Name == view.Prompt })
	}
	a := c.page(prefix, c.shown(pages), n)
	if !complete {
		a.Text = unreadableLeftOut.In(c.language)
	}
	if !whole {
		return a
	}
	// Each part brings the record again: an answer that is edited keeps nothing of what it was.
	if record, err := json.MarshalIndent(t, "", "  "); err == nil && len(record) <= maxFile {
		a.File, a.Name = []byte(c.Bot.Redact.String(string(record))), "turn-"+t.Request.ID+".json"
	}
	return a
}

// unreadableLeftOut is shown above a record that quotes channels which the person may not read.
const unreadableLeftOut sentence = "What this quotes from channels that you may not read is left out."

// readable returns a record as the person may read it now. It lacks quotes from channels of the server that the person may not read.
// complete is false if something is left out. A channel is unreadable if it is not known to be readable.
func (c *call) readable(ctx context.Context, t *turn.Trace) (shown *turn.Trace, complete bool) {
	may := map[string]bool{} // by channel
	complete = true
	for _, l := range serverLookups(t) {
		for _, s := range l.Sources {
			id := clean.ChannelOf(s.URL)
			if _, checked := may[id]; !checked {
				may[id] = c.mayRead(ctx, t, id)
			}
			complete = complete && may[id]
		}
	}
	if complete {
		return t, true
	}
	return withoutQuotes(t, may), false
}

// mayRead reports whether the person may read a channel of the record's server.
func (c *call) mayRead(ctx context.Context, t *turn.Trace, channelID string) bool {
	if c.Bot.Servers == nil || channelID == "" {
		return false
	}
	audience := ""
	if channelID == c.Message.ChannelID { // the person gave the command there, so they are a member if it is a private thread
		audience = channelID
	}
	return c.Bot.Servers.Platform.Readable(ctx, t.Request.GuildID, c.Reader, audience, channelID)[channelID]
}

// serverLookups returns the lookups of a record that quote messages of the server.
func serverLookups(t *turn.Trace) (all []*turn.Lookup) {
	for c := range t.Contributions() {
		if c.Lookup != nil && c.Lookup.Intent == turn.IntentServer {
			all = append(all, c.Lookup)
		}
	}
	return all
}

// withoutQuotes copies a record without its quotes from channels that may not be read. It also leaves out what may repeat them. That is the
// prompt, what was made of it, and a reply that was not posted.
func withoutQuotes(t *turn.Trace, may map[string]bool) *turn.Trace {
	left := *t
	left.Prompt, left.Guarded, left.Unsupported, left.Verified = nil, nil, nil, nil
	if len(t.ReplyIDs) == 0 {
		left.Reply = ""
	}
	left.Outcomes = slices.Clone(t.Outcomes)
	for i := range left.Outcomes {
		o := &left.Outcomes[i]
		o.Contributions = slices.Clone(o.Contributions)
		for j := range o.Contributions {
			if c := &o.Contributions[j]; c.Lookup != nil && c.Lookup.Intent == turn.IntentServer {
				c.Text, c.Lookup = "", readableLookup(c.Lookup, may)
			}
		}
	}
	return &left
}

// readableLookup returns a lookup in the server with those sources whose channels may be read.
func readableLookup(l *turn.Lookup, may map[string]bool) *turn.Lookup {
	left := &turn.Lookup{
		State: l.State, Reason: l.Reason, Need: l.Need, Failure: l.Failure, Score: l.Score, Intent: l.Intent, Question: l.Question, Query: l.Query,
		Asked: l.Asked, By: l.By, Stages: l.Stages, Began: l.Began, Took: l.Took,
	}
	shown := map[int]bool{}
	for _, s := range l.Sources {
		if !may[clean.ChannelOf(s.URL)] {
			continue
		}
		shown[s.N] = true
		left.Sources = append(left.Sources, s)
		left.Newest = later(left.Newest, s.Published)
	}
	for _, p := range l.Pages {
		if shown[p.N] {
			left.Pages = append(left.Pages, p)
		}
	}
	for _, c := range l.Summary {
		if !slices.ContainsFunc(c.Sources(), func(n int) bool { return !shown[n] }) {
			left.Summary = append(left.Summary, c)
		}
	}
	return left
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// The labels of buttons that turn pages.
const (
	labelPrevious sentence = "Previous"
	labelNext     sentence = "Next"
)

// page answers with the n-th part of some pages, and with buttons to the others. The buttons' ids begin with prefix.
func (c *call) page(prefix string, pages []view.Page, n int) turn.Answer {
	parts := paginate(pages, sectionUnits)
	n = min(max(n, 0), len(parts)-1)
	return turn.Answer{Sections: parts[n].sections, Buttons: pageButtons(c.language, prefix, parts, n)}
}

// listPage answers with the n-th part of a list. A list of one part has no buttons.
func (c *call) listPage(prefix string, title sentence, sections []turn.Section, n int) turn.Answer {
	a := c.page(prefix, []view.Page{{Name: string(title), Sections: sections}}, n)
	if len(a.Buttons) == 1 {
		a.Buttons = nil
	}
	return a
}

// shown translates the titles of pages, and takes secrets out of their texts before a cut could go through one.
func (c *call) shown(pages []view.Page) []view.Page {
	for _, p := range pages {
		for i := range p.Sections {
			s := &p.Sections[i]
			s.Title, s.Text = sentence(s.Title).In(c.language), c.Bot.Redact.String(s.Text)
		}
	}
	return pages
}

// part is as much of a page as fits into one answer.
type part struct {
	name     string
	sections []turn.Section
	n, of    int // from 1
}

const (
	sectionUnits = 3400 // UTF-16 units of a part, without what a door puts around its sections
	mostSections = 8    // in a part
	leastRest    = 300  // units; with less room a section begins in the next part
)

// paginate cuts pages into parts of at most so many units. It cuts between sections, and between the lines of a section that is too long.
func paginate(pages []view.Page, units int) []part {
	var all []part
	for _, p := range pages {
		first, room := len(all), 0
		for _, s := range p.Sections {
			rest := strings.Trim(strings.ReplaceAll(s.Text, "`", "'"), "\n")
			for rest != "" {
				if len(all) == first || len(all[len(all)-1].sections) == mostSections || room < min(leastRest, reply.Units(rest)) {
					all, room = append(all, part{name: p.Name, n: len(all) - first + 1}), units
				}
				piece := cutLines(rest, room)
				rest = strings.TrimLeft(rest[len(piece):], "\n")
				room -= reply.Units(piece) + len(s.Title)
				last := &all[len(all)-1]
				last.sections = append(last.sections, turn.Section{Title: s.Title, Text: piece})
			}
		}
		if len(all) == first {
			all = append(all, part{name: p.Name, n: 1})
		}
		for i := first; i < len(all); i++ {
			all[i].of = len(all) - first
		}
	}
	return all
}

// cutLines returns the beginning of a text that has room. It ends at the end of a line if that is not too early.
func cutLines(text string, room int) string {
	piece := reply.CutUnits(text, room)
	if i := strings.LastIndexByte(piece, '\n'); len(piece) < len(text) && i > len(piece)/2 {
		piece = piece[:i]
	}
	return piece
}

// pageButtons lead from the part at here to the first part of each page. A page with several parts also has buttons for one part back and
// on. No two buttons may have the same id.
func pageButtons(language, prefix string, all []part, here int) []turn.Button {
	var buttons []turn.Button
	long := false
	for i, p := range all {
		long = long || p.of > 1
		if p.n > 1 {
			continue
		}
		button := turn.Button{ID: fmt.Sprintf("%s:%d", prefix, i), Label: sentence(p.name).In(language), Disabled: i == here}
		if shown := all[here]; p.name == shown.name && shown.of > 1 {
			button.Label = fmt.Sprintf("%s %d/%d", button.Label, shown.n, shown.of)
		}
		buttons = append(buttons, button)
	}
	if long {
		buttons = append(buttons,
			turn.Button{ID: fmt.Sprintf("%s:%d:previous", prefix, here-1), Label: labelPrevious.In(language), Disabled: here == 0},
			turn.Button{ID: fmt.Sprintf("%s:%d:next", prefix, here+1), Label: labelNext.In(language), Disabled: here == len(all)-1})
	}
	return buttons
}
