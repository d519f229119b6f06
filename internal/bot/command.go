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

	"familiar/internal/context/turn"
	"familiar/internal/store"

	"github.com/oklog/ulid/v2"
)

const (
	answerUnits = 1900 // UTF-16 units of an answer to a command; Discord takes 2,000
	maxFile     = 8 << 20
	settleTime  = time.Second
)

// order carries out a command. Only its giver sees the answer.
func (b *Bot) order(ctx context.Context, e turn.Event) {
	defer func() { b.recovered("carry out a command", recover()) }()
	var a turn.Answer
	switch c := e.Command; {
	case strings.HasPrefix(c.Button, "context:"):
		a = b.turnPage(ctx, e)
	case c.Name == "context":
		a = b.lastTurn(ctx, e)
	case c.Name == "lookup":
		a = b.lookUp(ctx, e)
	case c.Name == "docs":
		a = b.askDocs(ctx, e)
	case c.Name == "mode":
		a = b.setMode(ctx, e)
	default:
		a = turn.Answer{Text: b.help()}
	}
	a.Text = b.Redact.String(a.Text)
	b.logged("answer a command", b.Door.Respond(ctx, *e.Command, a))
}

// lastTurn shows the record of the channel's last turn, or of the one that is named by its id or a message's.
func (b *Bot) lastTurn(ctx context.Context, e turn.Event) turn.Answer {
	id := e.Command.Options["turn"]
	if id == "" {
		b.settle(e.Message.ChannelID)
		list, err := b.Traces.Recent(ctx, e.Message.ChannelID, 1)
		if err != nil {
			return b.storeTrouble(err)
		}
		if len(list) == 0 {
			return turn.Answer{Text: "No turn has been recorded in this channel yet."}
		}
		id = list[0].ID
	}
	t, a := b.visibleTurn(ctx, e, id)
	if t == nil {
		return a
	}
	return b.show(t, 0)
}

// settle lets a turn whose reply is just out complete its record.
func (b *Bot) settle(channelID string) {
	if over := b.lanes.settled(channelID); over != nil {
		select {
		case <-over:
		case <-time.After(settleTime):
		}
	}
}

// turnPage turns to another leaf of a record. The button's id is "context:TURN:LEAF" or "context:TURN:LEAF:WHITHER".
func (b *Bot) turnPage(ctx context.Context, e turn.Event) turn.Answer {
	parts := strings.Split(e.Command.Button, ":")
	if len(parts) < 3 {
		return turn.Answer{Text: b.help()}
	}
	t, a := b.visibleTurn(ctx, e, parts[1])
	if t == nil {
		return a
	}
	n, _ := strconv.Atoi(parts[2])
	return b.show(t, n)
}

// visibleTurn finds a record, if it is of this channel: what was said elsewhere is not this reader's to see.
func (b *Bot) visibleTurn(ctx context.Context, e turn.Event, id string) (*turn.Trace, turn.Answer) {
	t, err := b.Traces.Get(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		t, err = b.Traces.ByMessage(ctx, id)
	}
	if errors.Is(err, store.ErrNotFound) || err == nil && t.Request.ChannelID != e.Message.ChannelID {
		return nil, turn.Answer{Text: "No turn of this channel has that id."}
	}
	if err != nil {
		return nil, b.storeTrouble(err)
	}
	return t, turn.Answer{}
}

func (b *Bot) storeTrouble(err error) turn.Answer {
	b.logged("read a record", err)
	return turn.Answer{Text: "The record could not be read. The operator's log says why."}
}

// show is one leaf of a record as a code block, in which nothing of it is formatted, linked or pinged, with buttons to
// the others and the whole record attached. A door without a limit gets the whole record.
func (b *Bot) show(t *turn.Trace, n int) turn.Answer {
	if b.Pace.Units == 0 {
		return turn.Answer{Text: WholeView(t)}
	}
	var pages []Page
	for _, p := range View(t) {
		pages = append(pages, Page{p.Name, b.Redact.String(p.Text)}) // before a cut goes through a secret
	}
	all := leaves(pages, answerUnits-len(fence0+fence1))
	n = min(max(n, 0), len(all)-1)
	a := turn.Answer{Text: fence0 + all[n].Text + fence1, Buttons: leafButtons("context:"+t.Request.ID, all, n)}
	// With every leaf: an answer that is edited keeps nothing of what it was.
	if record, err := json.MarshalIndent(t, "", "  "); err == nil && len(record) <= maxFile {
		a.File, a.Name = []byte(b.Redact.String(string(record))), "turn-"+t.Request.ID+".json"
	}
	return a
}

const fence0, fence1 = "```\n", "\n```"

// leafButtons lead to each page's first leaf and, where a page has several, one leaf back and on. No two may have the
// same id.
func leafButtons(prefix string, all []leaf, n int) []turn.Button {
	var buttons []turn.Button
	long := false
	for i, l := range all {
		long = long || l.of > 1
		if l.part > 1 {
			continue
		}
		button := turn.Button{ID: fmt.Sprintf("%s:%d", prefix, i), Label: l.Name, Disabled: i == n}
		if here := all[n]; l.Name == here.Name && here.of > 1 {
			button.Label = fmt.Sprintf("%s %d/%d", here.Name, here.part, here.of)
		}
		buttons = append(buttons, button)
	}
	if long {
		buttons = append(buttons,
			turn.Button{ID: fmt.Sprintf("%s:%d:previous", prefix, n-1), Label: "Previous", Disabled: n == 0},
			turn.Button{ID: fmt.Sprintf("%s:%d:next", prefix, n+1), Label: "Next", Disabled: n == len(all)-1})
	}
	return buttons
}

// lookUp answers /lookup.
func (b *Bot) lookUp(ctx context.Context, e turn.Event) turn.Answer {
	if verdict := e.Command.Options["feedback"]; verdict != "" {
		return b.feedback(ctx, e, verdict, strings.TrimSpace(e.Command.Options["source"]))
	}
	question := strings.TrimSpace(e.Command.Options["query"])
	switched := ""
	if web := e.Command.Options["web"]; web != "" {
		switched = b.setWeb(ctx, e, web).Text
		if question == "" {
			return turn.Answer{Text: switched}
		}
		switched += "\n\n"
	}
	if question == "" {
		return turn.Answer{Text: "What shall I look up? Or shall I stop looking things up here: web off?"}
	}
	l, err := b.lookUpFor(ctx, e, question, "")
	if err != nil {
		return b.storeTrouble(err)
	}
	return turn.Answer{Text: switched + b.LookupAnswer(l)}
}

// LookUp looks a message's question up, whether or not it seems to need it: anywhere or, with docs, in that site of
// documentation alone. What left the machine must be on record, so it is recorded like a turn; the error is the store's.
func (b *Bot) LookUp(ctx context.Context, m turn.Message, docs string) (*turn.Lookup, error) {
	return b.lookUpFor(ctx, turn.Event{ID: m.ID, Message: m}, m.Text, docs)
}

func (b *Bot) lookUpFor(ctx context.Context, e turn.Event, question, docs string) (*turn.Lookup, error) {
	t := &turn.Trace{Began: time.Now(), Phase: turn.Begun, Model: NoModel}
	if e.Command != nil {
		e.Message = turn.Message{ID: e.ID, ChannelID: e.Message.ChannelID, Author: e.Command.By, Text: question, At: t.Began}
	}
	t.Request = b.request(ctx, ulid.Make().String(), []arrival{{Event: e}})
	t.Request.Chain, t.Request.Parent, t.Request.Web.Docs = nil, nil, docs
	if t.Request.Web.Switch == turn.WebAuto {
		t.Request.Web.Switch = turn.WebAlways
	}
	if err := b.save(ctx, t); err != nil {
		return nil, err
	}
	l := turn.Lookup{State: turn.Disabled, Reason: offReason(t.Request.Web), Question: question, Began: t.Began}
	if t.Request.Web.Switch != turn.WebOff { // else whether there is anything to look up is not the question
		l = b.Lookup.Lookup(ctx, t.Request)
	}
	o := turn.Outcome{Provider: b.Lookup.Name(), Status: turn.OK, Took: l.Took,
		Contributions: []turn.Contribution{{Layer: turn.Content, Source: b.Lookup.Name(), Lookup: &l}}}
	if l.State == turn.LookupFailed {
		o.Status = turn.Failed
	}
	t.Outcomes, t.Phase, t.Took, t.Reply = []turn.Outcome{o}, turn.Answered, time.Since(t.Began), b.LookupAnswer(&l)
	return &l, b.save(ctx, t)
}

// LookupAnswer says what came of a lookup, with its sources: one message of Discord.
func (b *Bot) LookupAnswer(l *turn.Lookup) string {
	switch l.State {
	case turn.Found:
		return b.foundAnswer(l)
	case turn.Empty:
		if l.Query == "" {
			return "I looked and found nothing that answers it."
		}
		return "I looked for " + quoted(l.Query) + " and found nothing that answers it."
	case turn.Disabled:
		return "The web is switched off here (" + l.Reason + ")."
	case turn.LookupFailed:
		words := failureWords(l)
		if l.Failure == "unreadable" {
			_, words = unreadable(l)
		}
		return "I could not look: " + words + "."
	}
	return "There was nothing to look up (" + l.Reason + ")."
}

// foundAnswer is as many whole claims as there is room for beside their sources.
func (b *Bot) foundAnswer(l *turn.Lookup) string {
	text, _ := b.outgoing(turn.Request{}, l).Guard(extracts(l))
	claims := strings.Split(text, "\n")
	for n := len(claims); ; n-- {
		body := strings.Join(claims[:n], "\n")
		lines := sourceLines(l, body, b.Redact)
		if slices.ContainsFunc(l.Pages, turn.Page.Snippet) {
			lines = append([]string{small + b.say(onlySnippets)}, lines...)
		}
		tail := "\n\n" + strings.Join(lines, "\n")
		if n < len(claims) {
			tail = fmt.Sprintf("\n(%d more: /context)", len(claims)-n) + tail
		}
		room := answerUnits - units(tail)
		if n > 1 && units(body) > room {
			continue
		}
		if units(body) > room { // one claim too long to be whole
			body = cutUnits(body, max(room-1, 0)) + "…"
		}
		return cutUnits(body+tail, answerUnits)
	}
}

// quoted is what was searched for. Several queries stand on a line each.
func quoted(query string) string {
	var each []string
	for line := range strings.SplitSeq(query, "\n") {
		each = append(each, strconv.Quote(line))
	}
	return strings.Join(each, " and ")
}

// offReason says, to people, who switched the web off.
func offReason(w turn.Web) string {
	switch w.Reason {
	case "channel":
		return "in this channel; the command lookup switches it on again"
	case "mode":
		return "by this channel's mode"
	case "character":
		return "for this character"
	}
	return "by the operator"
}

// setMode shows or changes the channel's mode.
func (b *Bot) setMode(ctx context.Context, e turn.Event) turn.Answer {
	want := turn.Mode(e.Command.Options["mode"])
	if want == "" {
		settings := b.settings(ctx, e)
		mode, _ := b.mode(settings)
		return turn.Answer{Text: fmt.Sprintf("This channel is in %s mode, the web is %s. Modes: %s.", mode, onOff(!settings.WebOff), modeList())}
	}
	if !slices.Contains(turn.Modes(), want) {
		return turn.Answer{Text: fmt.Sprintf("There is no mode %q. Modes: %s.", want, modeList())}
	}
	return b.set(ctx, e, "This channel is now in "+string(want)+" mode.", func(c *store.Channel) { c.Mode = string(want) })
}

// setWeb is the channel's switch for the web.
func (b *Bot) setWeb(ctx context.Context, e turn.Event, web string) turn.Answer {
	if web != "on" && web != "off" {
		return turn.Answer{Text: "The web can be switched on or off."}
	}
	return b.set(ctx, e, "In this channel the web is now "+web+".", func(c *store.Channel) { c.WebOff = web == "off" })
}

// set changes the channel's settings. A thread starts from those that it inherited.
func (b *Bot) set(ctx context.Context, e turn.Event, done string, change func(*store.Channel)) turn.Answer {
	settings := b.settings(ctx, e)
	settings.ID = e.Message.ChannelID
	change(&settings)
	if err := b.Store.SetChannel(ctx, settings); err != nil {
		b.logged("change a channel's settings", err)
		return turn.Answer{Text: "That could not be saved. The operator's log says why."}
	}
	b.Log.Info("channel changed", "channel", settings.ID, "mode", settings.Mode, "web", onOff(!settings.WebOff), "by", e.Command.By.ID)
	return turn.Answer{Text: done}
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func modeList() string {
	var names []string
	for _, m := range turn.Modes() {
		names = append(names, string(m))
	}
	return strings.Join(names, ", ")
}

func (b *Bot) help() string {
	name := b.Character.Name
	return strings.Join([]string{
		"I am " + name + ". Mention me, reply to me, say my name, or write to me in private.",
		"If a question needs the web I look it up and name my sources. \"look up …\" makes me look, \"don't search\" keeps me from it.",
		"",
		"/context – what happened in the last turn here: providers, queries, pages, claims, prompt",
		"/lookup – look something up, without a conversation; switch the web on or off here; say what you think of a source",
		"/docs – look something up in the documentation that I know, and nowhere else",
		"/mode – show or set how I talk here (" + modeList() + ")",
		"/help – this",
	}, "\n")
}
