package command

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/forget"
	"familiar/internal/store"
	"familiar/internal/view"
)

const (
	forgetButton  = "privacy:forget"
	receiptPrefix = "privacy:receipt" // of the ids of buttons; a number of days follows, and the page

	receiptDays = 30
	mostDays    = 3650

	eraseLimit = 10 * time.Minute // to forget a person; what is not done by then is done later
)

// These are the answers to /privacy.
const (
	privacyUsage  sentence = "I can export what I keep of you, forget it, keep nothing more (optout), keep it again (optin), or show what left my machine for you (receipt)."
	exportDone    sentence = "This is all that I keep of you. Nobody else sees it here."
	exportLarge   sentence = "There is too much of that for a file here. My operator can give it to you."
	forgetAsk     sentence = "This deletes forever, in all servers and direct messages, what I keep of you. Your turns that are going on now end. It cannot be undone."
	forgetNothing sentence = "I keep nothing of you."
	forgetStays   sentence = "What others wrote stays, also where it mentions you, and so does what Discord itself holds: you can delete that there."
	forgetDone    sentence = "You are forgotten. This is what there was, and what I find now that I have looked again:"
	forgetUndone  sentence = "I am not done yet, and go on with it by myself. Ask me again in an hour."
	forgetLabel   sentence = "Forget me"
	optedOut      sentence = "From now on I keep nothing of what you write, once I have answered it. What I kept before stays until you have me forget it. With optin I keep it again."
	optedIn       sentence = "From now on I keep what you write again, as I do for others."
)

// These name kinds of data.
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

var dataNames = map[forget.Kind]sentence{
	forget.KindMessages: yourMessages, forget.KindAnswers: myAnswers, forget.KindMemories: yourMemories, forget.KindNames: yourNames, forget.KindRecords: yourRecords,
	forget.KindQuotes: yourQuotes, forget.KindOpinions: yourOpinions, forget.KindUsage: yourUsage, forget.KindSettings: yourSettings, forget.KindPending: yourPending,
}

// exportData answers with a file of all data about the person.
func (c *call) exportData(ctx context.Context) turn.Answer {
	data, err := c.Bot.Forgetter.Export(ctx, c.Command.By.ID)
	if err != nil {
		return c.unread(err)
	}
	content, err := json.MarshalIndent(data, "", "  ")
	name := "familiar-data.json"
	if err == nil {
		content = []byte(c.Bot.Redact.String(string(content)))
	}
	if err == nil && len(content) > maxFile {
		content, err = zipped(name, content)
		name = "familiar-data.zip"
	}
	switch {
	case err != nil:
		return c.unread(err)
	case len(content) > maxFile:
		return c.say(exportLarge)
	}
	if err := c.noteAct(ctx, store.ActExport); err != nil {
		return c.unread(err)
	}
	a := c.say(exportDone)
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

// noteAct records that a person did something about their data.
func (c *call) noteAct(ctx context.Context, act store.PrivacyAct) error {
	c.Bot.Log.Info("privacy", "act", act, "by", c.Bot.Store.Privacy.Pseudonym(c.Command.By.ID))
	return c.Bot.Store.Privacy.LogAct(ctx, c.Command.By.ID, act, false, time.Now())
}

// optOut returns the handler that stops keeping a person's data from now on, or ends that.
func optOut(out bool) handler {
	return func(c *call, ctx context.Context) turn.Answer {
		if err := c.Bot.Store.Privacy.OptOut(ctx, c.Command.By.ID, out, time.Now()); err != nil {
			return c.unsaved("keep that a person opted out", err)
		}
		c.Bot.Log.Info("privacy", "opted out", out, "by", c.Bot.Store.Privacy.Pseudonym(c.Command.By.ID))
		if out {
			return c.say(optedOut)
		}
		return c.say(optedIn)
	}
}

// askToForget says what would be deleted, with a button that does it.
func (c *call) askToForget(ctx context.Context) turn.Answer {
	counts, err := c.Bot.Forgetter.Survey(ctx, c.Command.By.ID)
	if err != nil {
		return c.unread(err)
	}
	lines, all := []string{forgetAsk.In(c.language)}, 0
	for _, kind := range forget.Kinds() {
		if n := counts[kind]; n > 0 {
			lines = append(lines, fmt.Sprintf("- %s: %d", dataNames[kind].In(c.language), n))
			all += n
		}
	}
	if all == 0 {
		return c.say(forgetNothing)
	}
	lines = append(lines, forgetStays.In(c.language))
	return turn.Answer{Text: strings.Join(lines, "\n"), Buttons: []turn.Button{{ID: forgetButton, Label: forgetLabel.In(c.language)}}}
}

// forgetPerson forgets the person who pressed the button, ends their turns, and says what was deleted. If the bot stops meanwhile, the next
// start goes on with it.
func (c *call) forgetPerson(ctx context.Context) turn.Answer {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), eraseLimit)
	defer cancel()
	done := make(chan struct{})
	defer close(done)
	go func() {
		select {
		case <-c.Bot.Stopping():
			cancel()
		case <-done:
		}
	}()
	id := c.Command.By.ID
	at := time.Now()
	if c.Message.At.After(at) { // by the clock that dates their messages
		at = c.Message.At
	}
	if err := c.Bot.Store.Privacy.BeginErasure(ctx, id, false, at); err != nil {
		return c.unread(err)
	}
	erased, err := c.Bot.Forget(ctx, store.Erasure{PersonID: id, At: at})
	if err != nil {
		c.logged("forget a person", err)
		return c.say(forgetUndone)
	}
	lines := []string{forgetDone.In(c.language)}
	for _, kind := range forget.Kinds() {
		lines = append(lines, fmt.Sprintf("- %s: %d → %d", dataNames[kind].In(c.language), erased.Before[kind], erased.After[kind]))
	}
	return turn.Answer{Text: strings.Join(append(lines, forgetStays.In(c.language)), "\n")}
}

// receipt shows what left the machine for the person's turns, and to whom it went.
func (c *call) receipt(ctx context.Context) turn.Answer {
	days, page := days(cmp.Or(c.variables["days"], c.option("days"))), c.number("page")
	since := time.Now().AddDate(0, 0, -days)
	all, first, err := c.Bot.Traces.Of(ctx, c.Command.By.ID, since)
	if err == nil && c.Command.Button == "" {
		err = c.noteAct(ctx, store.ActReceipt)
	}
	if err != nil {
		return c.unread(err)
	}
	pages := c.shown(view.Receipt(all, since, first))
	if c.Bot.Pace.Units == 0 {
		return turn.Answer{Text: view.WholePages(pages)}
	}
	return c.page(fmt.Sprintf("%s:%d", receiptPrefix, days), pages, page)
}

func days(text string) int {
	n, _ := strconv.Atoi(strings.TrimSpace(text))
	if n <= 0 {
		return receiptDays
	}
	return min(n, mostDays)
}
