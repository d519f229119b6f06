package bot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"familiar/internal/bot/outgoing"
	"familiar/internal/bot/view"
	"familiar/internal/context/turn"
	"familiar/internal/store"
)

const (
	maxFile    = 8 << 20     // bytes of a record that is attached
	settleTime = time.Second // for a turn to complete its record
)

// What is said about records.
const (
	noTurns        sentence = "No turn has been recorded in this channel yet."
	noSuchTurn     sentence = "No turn of this channel has that id."
	recordUnread   sentence = "The record could not be read. The operator's log says why."
	noAnswerOfMine sentence = "I have no record of an answer in this message."
	labelPrevious  sentence = "Previous"
	labelNext      sentence = "Next"
)

// lastTurn shows the record of the channel's last turn, or of the one with a given id or message id.
func (b *Bot) lastTurn(ctx context.Context, e turn.Event) turn.Answer {
	id := e.Command.Options["turn"]
	if id == "" {
		b.settle(e.Message.ChannelID)
		list, err := b.Traces.Recent(ctx, e.Message.ChannelID, 1)
		if err != nil {
			return b.storeTrouble(e, err)
		}
		if len(list) == 0 {
			return b.respond(e, noTurns)
		}
		id = list[0].ID
	}
	t, a := b.visibleTurn(ctx, e, id)
	if t == nil {
		return a
	}
	return b.show(ctx, e, t, "context:"+t.Request.ID, 0)
}

// explain answers "Why this answer?" on a message with what the button of that name shows: the record of the turn that posted
// the message, or that it asked for.
func (b *Bot) explain(ctx context.Context, e turn.Event) turn.Answer {
	if e.Command.Target == nil {
		return b.respond(e, noAnswerOfMine)
	}
	t, err := b.Traces.ByMessage(ctx, e.Command.Target.ID)
	if err == nil {
		t, err = b.settledTurn(ctx, t.Request.ID)
	}
	switch {
	case errors.Is(err, store.ErrNotFound), err == nil && t.Request.ChannelID != e.Message.ChannelID:
		return b.respond(e, noAnswerOfMine)
	case err != nil:
		return b.storeTrouble(e, err)
	}
	return b.show(ctx, e, t, b.keys(t.Request.ID, whyButton)[whyButton], 0)
}

// settle gives a turn whose reply has just been posted the time to complete its record.
func (b *Bot) settle(channelID string) {
	if over := b.lanes.settled(channelID); over != nil {
		select {
		case <-over:
		case <-time.After(settleTime):
		}
	}
}

// turnPage shows another part of a record. The button's id is "context:TURN:PART" or "context:TURN:PART:DIRECTION".
func (b *Bot) turnPage(ctx context.Context, e turn.Event) turn.Answer {
	parts := strings.Split(e.Command.Button, ":")
	if len(parts) < 3 {
		return b.help(ctx, e)
	}
	t, a := b.visibleTurn(ctx, e, parts[1])
	if t == nil {
		return a
	}
	return b.show(ctx, e, t, "context:"+t.Request.ID, pageNumber(parts[2]))
}

// pageNumber reads the part of a record that a button names: "3" or "3:next".
func pageNumber(text string) int {
	text, _, _ = strings.Cut(text, ":")
	n, _ := strconv.Atoi(text)
	return n
}

// visibleTurn finds a record of this channel: this reader may not see those of others.
func (b *Bot) visibleTurn(ctx context.Context, e turn.Event, id string) (*turn.Trace, turn.Answer) {
	t, err := b.Traces.Get(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		t, err = b.Traces.ByMessage(ctx, id)
	}
	if errors.Is(err, store.ErrNotFound) || err == nil && t.Request.ChannelID != e.Message.ChannelID {
		return nil, b.respond(e, noSuchTurn)
	}
	if err != nil {
		return nil, b.storeTrouble(e, err)
	}
	return t, turn.Answer{}
}

func (b *Bot) storeTrouble(e turn.Event, err error) turn.Answer {
	b.logged("read a record", err)
	return b.respond(e, recordUnread)
}

// part is as much of a page as one answer takes.
type part struct {
	name     string
	sections []turn.Section
	n, of    int // from 1
}

const (
	sectionUnits = 3400 // UTF-16 units of a part, less what a door puts around its sections
	mostSections = 8    // in a part
	leastRest    = 300  // units that are worth to begin a section in
)

// paginate cuts pages into parts of at most so many units, between sections and, where one is too long for that, between its lines.
func paginate(pages []view.Page, units int) []part {
	var all []part
	for _, p := range pages {
		first, room := len(all), 0
		for _, s := range p.Sections {
			rest := strings.Trim(strings.ReplaceAll(s.Text, "`", "'"), "\n")
			for rest != "" {
				if len(all) == first || len(all[len(all)-1].sections) == mostSections || room < min(leastRest, outgoing.Units(rest)) {
					all, room = append(all, part{name: p.Name, n: len(all) - first + 1}), units
				}
				piece := cutLines(rest, room)
				rest = strings.TrimLeft(rest[len(piece):], "\n")
				room -= outgoing.Units(piece) + len(s.Title)
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

// cutLines returns as much of the beginning of text as has room, up to the end of a line where that is not too early.
func cutLines(text string, room int) string {
	piece := outgoing.CutUnits(text, room)
	if i := strings.LastIndexByte(piece, '\n'); len(piece) < len(text) && i > len(piece)/2 {
		piece = piece[:i]
	}
	return piece
}

// show is the i-th part of a record, with buttons to the others, whose ids begin with prefix, and the whole record attached. Whoever
// may not manage the server gets neither the page of the prompt, which holds how the character is made, nor the attachment; and nobody
// does where something is left out that they may not read. A door without a limit gets the story of the turn.
func (b *Bot) show(ctx context.Context, e turn.Event, t *turn.Trace, prefix string, i int) turn.Answer {
	if b.Pace.Units == 0 {
		return turn.Answer{Text: view.Story(t)}
	}
	t, complete := b.readable(ctx, e, t)
	whole := complete && e.Command.Admin
	if !e.Command.Admin && t.Cure != "" { // which tells names of settings and addresses
		shown := *t
		shown.Cure = ""
		t = &shown
	}
	pages := view.Pages(t)
	if faults := b.cast().Faults; e.Command.Admin && len(faults) > 0 {
		wrong := turn.Section{Text: fmt.Sprintf(view.FilesWrong, len(faults))}
		pages[0].Sections = slices.Insert(pages[0].Sections, 0, wrong)
		pages = append(pages, view.Page{Name: view.Files, Sections: []turn.Section{{Text: strings.Join(faults, "\n")}}})
	}
	if !whole {
		pages = slices.DeleteFunc(pages, func(p view.Page) bool { return p.Name == view.Prompt })
	}
	for _, p := range pages {
		for i := range p.Sections {
			s := &p.Sections[i]
			s.Title, s.Text = sentence(s.Title).in(language(e)), b.Redact.String(s.Text) // before a cut goes through a secret
		}
	}
	all := paginate(pages, sectionUnits)
	i = min(max(i, 0), len(all)-1)
	a := turn.Answer{Sections: all[i].sections, Buttons: pageButtons(language(e), prefix, all, i)}
	if !complete {
		a.Text = unreadableLeftOut.in(language(e))
	}
	if !whole {
		return a
	}
	// With every part: an answer that is edited keeps nothing of what it was.
	if record, err := json.MarshalIndent(t, "", "  "); err == nil && len(record) <= maxFile {
		a.File, a.Name = []byte(b.Redact.String(string(record))), "turn-"+t.Request.ID+".json"
	}
	return a
}

// pageButtons lead from the part at here to each page's first part and, where a page has several, one part back and on. No
// two may have the same id.
func pageButtons(language, prefix string, all []part, here int) []turn.Button {
	var buttons []turn.Button
	long := false
	for i, p := range all {
		long = long || p.of > 1
		if p.n > 1 {
			continue
		}
		button := turn.Button{ID: fmt.Sprintf("%s:%d", prefix, i), Label: sentence(p.name).in(language), Disabled: i == here}
		if shown := all[here]; p.name == shown.name && shown.of > 1 {
			button.Label = fmt.Sprintf("%s %d/%d", button.Label, shown.n, shown.of)
		}
		buttons = append(buttons, button)
	}
	if long {
		buttons = append(buttons,
			turn.Button{ID: fmt.Sprintf("%s:%d:previous", prefix, here-1), Label: labelPrevious.in(language), Disabled: here == 0},
			turn.Button{ID: fmt.Sprintf("%s:%d:next", prefix, here+1), Label: labelNext.in(language), Disabled: here == len(all)-1})
	}
	return buttons
}
