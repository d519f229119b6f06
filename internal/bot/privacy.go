package bot

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"familiar/internal/bot/view"
	"familiar/internal/context/turn"
	"familiar/internal/store"
	"familiar/internal/trace"
)

const (
	privacyCommand = "privacy"
	privacyButton  = "privacy:"
	forgetButton   = privacyButton + "forget"
	receiptButton  = privacyButton + "receipt" // and a number of days, and a page

	receiptDays = 30
	mostDays    = 3650

	eraseLimit   = 10 * time.Minute // to forget a person; what is not done by then goes on later
	stoppedLimit = 15 * time.Second // for turns of theirs to be over
)

// errForgotten is why turns end of somebody who wants to be forgotten.
const errForgotten withdrawal = "who asked wants to be forgotten"

// What is said about what is kept of people.
const (
	privacyUsage  sentence = "I can export what I keep of you, forget it, keep nothing more (optout), keep it again (optin), or show what left my machine for you (receipt)."
	exportDone    sentence = "This is all that I keep of you. Nobody else sees it here."
	exportLarge   sentence = "There is too much of that for a file here. Whoever runs me can give it to you."
	forgetAsk     sentence = "This deletes for good, in all servers and direct messages, what I keep of you. Turns of yours that go on now end. It cannot be undone."
	forgetNothing sentence = "I keep nothing of you."
	forgetStays   sentence = "What others wrote stays, also where it mentions you, and so does what Discord itself holds: you can delete that there."
	forgetDone    sentence = "You are forgotten. This is what there was, and what I find now that I have looked again:"
	forgetUndone  sentence = "I am not done yet, and go on with it by myself. Ask me again in an hour."
	forgetLabel   sentence = "Forget me"
	optedOut      sentence = "From now on I keep nothing of what you write, once I have answered it. What I kept before stays until you have me forget it. With optin I keep it again."
	optedIn       sentence = "From now on I keep what you write again, as I do for others."
	youOptedOut   sentence = "You have opted out of everything that I keep, so I did not keep this. /privacy changes that."
)

// What people are told of kinds of data.
const (
	yourMessages sentence = "your messages"
	myAnswers    sentence = "my answers to you"
	yourMemories sentence = "what I remember of you"
	yourNames    sentence = "your names"
	yourRecords  sentence = "records of your turns"
	yourQuotes   sentence = "records and answers for others that quote you"
	yourOpinions sentence = "your opinions of answers and sources"
	yourUsage    sentence = "your usage"
	yourSettings sentence = "your settings"
	yourPending  sentence = "what waits for an answer to you"
)

var dataNames = map[store.DataKind]sentence{
	store.DataMessages: yourMessages, store.DataAnswers: myAnswers, store.DataMemories: yourMemories, store.DataNames: yourNames, store.DataRecords: yourRecords,
	store.DataQuotes: yourQuotes, store.DataOpinions: yourOpinions, store.DataUsage: yourUsage, store.DataSettings: yourSettings, store.DataPending: yourPending,
}

// privacy answers /privacy: a person sees, takes along and deletes what is kept of them, and of nobody else.
func (b *Bot) privacy(ctx context.Context, e turn.Event) turn.Answer {
	action := e.Command.Options["action"]
	if reads := action == "export" || action == "forget" || action == "receipt"; reads && !b.allows(e.Command.By) {
		return b.respond(e, tooMany) // all records are read for it
	}
	switch action {
	case "export":
		return b.exportData(ctx, e)
	case "forget":
		return b.askToForget(ctx, e)
	case "optout":
		return b.optOut(ctx, e, true)
	case "optin":
		return b.optOut(ctx, e, false)
	case "receipt":
		return b.receipt(ctx, e, days(e.Command.Options["days"]), 0)
	}
	return b.respond(e, privacyUsage)
}

// privacyPress carries out a button under an answer to /privacy. It means who presses it, whoever that is.
func (b *Bot) privacyPress(ctx context.Context, e turn.Event) turn.Answer {
	button := e.Command.Button
	if button == forgetButton {
		return b.forgetPerson(ctx, e)
	}
	if rest, ok := strings.CutPrefix(button, receiptButton+":"); ok {
		span, page, _ := strings.Cut(rest, ":")
		return b.receipt(ctx, e, days(span), pageNumber(page))
	}
	return b.respond(e, unknownButton)
}

// aboutPrivacy reports whether somebody wants to know or change what is kept of them, which even those may whom the bot does not answer.
func aboutPrivacy(c *turn.Command) bool {
	return c.Button == "" && c.Name == privacyCommand || strings.HasPrefix(c.Button, privacyButton)
}

func days(text string) int {
	n, _ := strconv.Atoi(strings.TrimSpace(text))
	if n <= 0 {
		return receiptDays
	}
	return min(n, mostDays)
}

func (b *Bot) exportData(ctx context.Context, e turn.Event) turn.Answer {
	data, err := b.Traces.Export(ctx, e.Command.By.ID)
	if err != nil {
		return b.storeTrouble(e, err)
	}
	content, err := json.MarshalIndent(data, "", "  ")
	name := "familiar-data.json"
	if err == nil {
		content = []byte(b.Redact.String(string(content)))
	}
	if err == nil && len(content) > maxFile {
		content, err = zipped(name, content)
		name = "familiar-data.zip"
	}
	switch {
	case err != nil:
		return b.storeTrouble(e, err)
	case len(content) > maxFile:
		return b.respond(e, exportLarge)
	}
	if err := b.noteAct(ctx, e, store.ActExport); err != nil {
		return b.storeTrouble(e, err)
	}
	a := b.respond(e, exportDone)
	a.File, a.Name = content, name
	return a
}

func zipped(name string, content []byte) ([]byte, error) {
	var all bytes.Buffer
	w := zip.NewWriter(&all)
	file, err := w.Create(name)
	if err == nil {
		_, err = file.Write(content)
	}
	return all.Bytes(), errors.Join(err, w.Close())
}

// noteAct puts on record that a person did something about what is kept of them.
func (b *Bot) noteAct(ctx context.Context, e turn.Event, act store.PrivacyAct) error {
	b.Log.Info("privacy", "act", act, "by", b.Store.Pseudonym(e.Command.By.ID))
	return b.Store.LogAct(ctx, e.Command.By.ID, act, false, time.Now())
}

func (b *Bot) optOut(ctx context.Context, e turn.Event, out bool) turn.Answer {
	if err := b.Store.OptOut(ctx, e.Command.By.ID, out, time.Now()); err != nil {
		b.logged("keep that a person opted out", err)
		return b.respond(e, couldNotBeSaved)
	}
	b.Log.Info("privacy", "opted out", out, "by", b.Store.Pseudonym(e.Command.By.ID))
	if out {
		return b.respond(e, optedOut)
	}
	return b.respond(e, optedIn)
}

// askToForget says what would be deleted, with a button that does it.
func (b *Bot) askToForget(ctx context.Context, e turn.Event) turn.Answer {
	counts, err := b.Traces.Survey(ctx, e.Command.By.ID)
	if err != nil {
		return b.storeTrouble(e, err)
	}
	lines, all := []string{forgetAsk.in(language(e))}, 0
	for _, kind := range store.DataKinds() {
		if n := counts[kind]; n > 0 {
			lines = append(lines, fmt.Sprintf("- %s: %d", dataNames[kind].in(language(e)), n))
			all += n
		}
	}
	if all == 0 {
		return b.respond(e, forgetNothing)
	}
	lines = append(lines, forgetStays.in(language(e)))
	return turn.Answer{Text: strings.Join(lines, "\n"), Buttons: []turn.Button{{ID: forgetButton, Label: forgetLabel.in(language(e))}}}
}

// forgetPerson forgets who gave a command, whatever is under way, and says what became of it. A bot that stops goes on with it when it
// starts again.
func (b *Bot) forgetPerson(ctx context.Context, e turn.Event) turn.Answer {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), eraseLimit)
	defer cancel()
	done := make(chan struct{})
	defer close(done)
	b.commands.Go(func() {
		select {
		case <-b.stopping:
			cancel()
		case <-done:
		}
	})
	id := e.Command.By.ID
	at := time.Now()
	if e.Message.At.After(at) { // of the clock that dates their messages
		at = e.Message.At
	}
	if err := b.Store.BeginErasure(ctx, id, false, at); err != nil {
		return b.storeTrouble(e, err)
	}
	erased, err := b.Forget(ctx, store.Erasure{PersonID: id, At: at})
	if err != nil {
		b.logged("forget a person", err)
		return b.respond(e, forgetUndone)
	}
	lines := []string{forgetDone.in(language(e))}
	for _, kind := range store.DataKinds() {
		lines = append(lines, fmt.Sprintf("- %s: %d → %d", dataNames[kind].in(language(e)), erased.Before[kind], erased.After[kind]))
	}
	return turn.Answer{Text: strings.Join(append(lines, forgetStays.in(language(e))), "\n")}
}

// Forget forgets a person for whom [store.DB.BeginErasure] has been called: what they wait for ends, what the process has in memory goes, and
// so does what is kept.
func (b *Bot) Forget(ctx context.Context, one store.Erasure) (trace.Erased, error) {
	b.stopTurnsOf(ctx, one.PersonID)
	erased, err := b.Traces.Erase(ctx, one.PersonID, one.ByOperator, one.At)
	for _, actor := range append([]*Actor{b.cast().Default}, b.cast().Others...) {
		if actor.Tokens != nil {
			actor.Tokens.Forget()
		}
	}
	if b.Forgetting != nil {
		b.Forgetting()
	}
	if err == nil {
		b.Log.Info("privacy", "act", store.ActForget, "of", b.Store.Pseudonym(one.PersonID), "by_operator", one.ByOperator, "left", erased.Left())
	}
	return erased, err
}

// stopTurnsOf ends what a person waits for, and waits until turns of theirs are over. What is remembered in the process goes too.
func (b *Bot) stopTurnsOf(ctx context.Context, personID string) {
	theirs := func(e turn.Event) bool { return e.Message.Author.ID == personID }
	over := b.lanes.turnsOf(personID)
	b.withdraw(ctx, errForgotten, theirs)
	b.chatter.forget(personID)
	for _, actor := range append([]*Actor{b.cast().Default}, b.cast().Others...) {
		actor.Lookup.Forget()
	}
	ctx, cancel := context.WithTimeout(ctx, stoppedLimit)
	defer cancel()
	for _, ended := range over {
		select {
		case <-ended:
		case <-ctx.Done():
			return // the record that it saves later is not kept
		}
	}
}

// receipt shows what left the machine for a person's turns, and to whom it went.
func (b *Bot) receipt(ctx context.Context, e turn.Event, days, page int) turn.Answer {
	id := e.Command.By.ID
	since := time.Now().AddDate(0, 0, -days)
	all, first, err := b.Traces.Of(ctx, id, since)
	if err == nil && page == 0 && e.Command.Button == "" {
		err = b.noteAct(ctx, e, store.ActReceipt)
	}
	if err != nil {
		return b.storeTrouble(e, err)
	}
	pages := view.Receipt(all, since, first)
	for _, p := range pages {
		for i := range p.Sections {
			s := &p.Sections[i]
			s.Title, s.Text = sentence(s.Title).in(language(e)), b.Redact.String(s.Text)
		}
	}
	parts := paginate(pages, sectionUnits)
	page = min(max(page, 0), len(parts)-1)
	a := turn.Answer{Sections: parts[page].sections, Buttons: pageButtons(language(e), fmt.Sprintf("%s:%d", receiptButton, days), parts, page)}
	if b.Pace.Units == 0 {
		a = turn.Answer{Text: view.WholePages(pages)}
	}
	return a
}
