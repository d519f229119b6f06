package bot

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"familiar/internal/context/prompt"
	"familiar/internal/context/turn"
	"familiar/internal/llm"
	"familiar/internal/memory"
	"familiar/internal/providers/character"
	"familiar/internal/reply"
)

const (
	processLimit = 9 * time.Second // for each step
	thoughtLimit = 256             // tokens
)

// A model may take a step before the answer, and another one after it. A step that fails or comes too late changes nothing.

// processing returns the model that takes a step, or nil if the step is not taken.
func (a *Actor) processing(by character.ModelRole) *llm.Client {
	switch {
	case by == character.BySide && a.Side != nil:
		return a.Side
	case by != "":
		return a.Model
	}
	return nil
}

// think has the model make notes before the answer, if the mode wants them.
func (b *Bot) think(ctx context.Context, actor *Actor, t *turn.Trace, p *prompt.Prompt) {
	m := actor.processing(actor.Modes[t.Request.Mode].Think)
	if m == nil || ctx.Err() != nil {
		return
	}
	if notes := b.process(ctx, actor, t, m, "think", thinking(*p), nil); notes != "" {
		actor.Builder.Inject(p, "think", "Your notes on the message that follows, which nobody else has read:\n"+notes)
		t.Prompt, t.Layers, t.Dropped = p.Messages, p.Layers, p.Dropped
	}
}

// recaster returns the model that rewords an answer in a mode, or nil. Then the answer is shown only as a whole.
func (a *Actor) recaster(mode turn.Mode) *llm.Client { return a.processing(a.Modes[mode].Recast) }

// recast returns the body of a reply in the character's voice, if the mode wants that.
func (b *Bot) recast(ctx context.Context, actor *Actor, t *turn.Trace, p prompt.Prompt, body string) string {
	m := actor.recaster(t.Request.Mode)
	if m == nil || ctx.Err() != nil {
		return body
	}
	return cmp.Or(b.process(ctx, actor, t, m, "recast", recasting(p, body), func(text string) error { return reply.SameFacts(body, text) }), body)
}

// process asks the model for a step and records the result. It returns "" if the result cannot be used.
func (b *Bot) process(ctx context.Context, actor *Actor, t *turn.Trace, model *llm.Client, by string, r llm.Request, check func(string) error) (text string) {
	began, done := time.Now(), turn.Processed{By: by, Model: model.Model, Status: turn.OK}
	defer func() {
		if b.recovered(by, recover()) {
			text, done.Status = "", turn.Panicked
		}
		done.Took = time.Since(began)
		t.Processed = append(t.Processed, done)
	}()
	ctx, cancel := context.WithTimeout(ctx, processLimit)
	defer cancel()
	r.For, r.Lane = by, t.Request.ChannelID
	a, err := model.Complete(ctx, r)
	body, _ := actor.unlabelled(a.Text)
	done.Model, done.Text = a.Model, strings.TrimSpace(body)
	switch {
	case err == nil && done.Text == "":
		err = errors.New("it wrote nothing")
	case err == nil && check != nil:
		if a.Finish == "length" {
			err = errors.New("it did not come to its end")
		} else {
			err = check(done.Text)
		}
	}
	if err != nil {
		done.Status, done.Err = turn.Failed, b.Redact.String(llm.Cause(err))
		if ctx.Err() != nil {
			done.Status = turn.Timeout
		}
		return ""
	}
	return done.Text
}

// AskModel asks a model something beside the answer, in the lane of a channel. The record has the model's words, or why there are none. by is the
// record's name for who asks.
func (b *Bot) AskModel(ctx context.Context, model *llm.Client, by, channelID string, words turn.Rendered, mostTokens int, limit time.Duration) (llm.Answer, turn.Processed) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	words.Role = "user"
	a, err := model.Complete(ctx, llm.Request{For: by, Lane: channelID, MaxTokens: mostTokens, Messages: []turn.Rendered{words}})
	return a, b.processed(by, a, err, began)
}

// processed records what a model was asked beside the answer.
func (b *Bot) processed(by string, a llm.Answer, err error, began time.Time) turn.Processed {
	asked := turn.Processed{By: by, Model: a.Model, Status: turn.OK, Text: strings.TrimSpace(a.Text), Took: time.Since(began)}
	if err != nil {
		asked.Status, asked.Err = turn.Failed, b.Redact.String(llm.Cause(err))
	}
	return asked
}

const thinkPlease = "Before you answer, note for yourself what the last message asks for, what in the conversation matters for it, and how you would say it. " +
	"At most 120 words, as notes. Nobody but you reads them. Do not write the answer."

// thinking asks for notes. It does not show what strangers wrote, because the notes are read as the bot's own.
func thinking(p prompt.Prompt) llm.Request {
	messages := slices.DeleteFunc(slices.Clone(p.Messages), func(m turn.Rendered) bool { return m.Web })
	for i := range messages {
		messages[i].Images = nil
	}
	return llm.Request{MaxTokens: thoughtLimit, Messages: append(messages, turn.Rendered{Role: "user", Text: thinkPlease})}
}

const recastPlease = "Rewrite the following draft of your answer in your own voice. Keep what it says and its language: every number, every source in brackets such as [1], " +
	"every link and all code stay as they are. Add nothing, leave nothing out. Write the answer alone.\n\n"

// recasting asks for the draft in the character's voice. The model sees who the character is, and nothing of the conversation.
func recasting(p prompt.Prompt, body string) llm.Request {
	head := slices.IndexFunc(p.Messages, func(m turn.Rendered) bool { return m.Role == "system" && !m.Web })
	var messages []turn.Rendered
	if head >= 0 {
		messages = slices.Clone(p.Messages[head : head+1])
	}
	return llm.Request{Messages: append(messages, turn.Rendered{Role: "user", Text: recastPlease + body})}
}

const (
	askMemoryLimit  = 2500 * time.Millisecond // for a side model to say what a message orders
	tellMemoryLimit = 300 * time.Millisecond  // for the prompt to wait for that
)

// ordering is what a turn's message orders of the memory, while it is carried out.
type ordering struct {
	asking chan struct{} // closed when a side model is first asked
	done   chan struct{} // closed when all is carried out; until then its goroutine owns the fields below
	all    []turn.MemoryChange
	asked  []turn.Processed // the questions to the side model
	settle func()           // waits until done and puts the results on record
}

// orderMemory carries out what a turn's message orders to be remembered, forgotten or corrected. Once it must ask a side model what is
// ordered, it goes on beside the turn. The caller must call settle.
func (b *Bot) orderMemory(ctx context.Context, actor *Actor, t *turn.Trace, parse memory.Parser, before *memory.Applied) *ordering {
	o := &ordering{asking: make(chan struct{}), done: make(chan struct{})}
	r := t.Request
	k := memory.Keeper{Memories: b.Memories, ByMessage: b.Traces.ByMessage, Rooms: b.Servers, Redact: b.Redact, Log: b.Log, Parse: parse, Zone: actor.Character.Location}
	if actor.Side != nil {
		begin := sync.OnceFunc(func() { close(o.asking) })
		k.Ask = func(ctx context.Context, order, text string, answer any) error {
			begin()
			asked, err := b.askOrders(ctx, actor, r.ChannelID, order, text, answer)
			o.asked = append(o.asked, asked)
			return err
		}
	}
	o.settle = sync.OnceFunc(func() {
		<-o.done
		t.Processed = append(t.Processed, o.asked...)
		if len(o.all) > 0 {
			t.Memory = &o.all[0]
			t.Memory.Also = o.all[1:]
			card, err := b.Memories.Card(context.WithoutCancel(ctx), r.Message.Author.ID) // it may have changed
			b.logged("read a person's card", err)
			t.Request.Card = card
		}
	})
	go func() {
		defer close(o.done)
		defer func() { b.recovered("carry out orders of the memory", recover()) }()
		ctx, cancel := context.WithTimeout(ctx, storeLimit)
		defer cancel()
		o.all = k.Apply(ctx, r, before)
	}()
	select {
	case <-o.done:
		o.settle()
	case <-o.asking:
	}
	return o
}

// askOrders asks the side model what a message orders, and returns the record of that.
func (b *Bot) askOrders(ctx context.Context, actor *Actor, channelID, order, text string, answer any) (turn.Processed, error) {
	ctx, cancel := context.WithTimeout(ctx, askMemoryLimit)
	defer cancel()
	began := time.Now()
	a, err := actor.Side.Ask(ctx, llm.Question{For: "orders", Lane: channelID, Order: order, Text: text, Tokens: 200}, answer)
	return b.processed("orders", a, err, began), err
}

// tellMemory tells the model what became of the orders, and how the author wants to be spoken to. Where that is not known soon, the model
// is told to promise nothing.
func (b *Bot) tellMemory(actor *Actor, t *turn.Trace, p *prompt.Prompt, o *ordering) {
	select {
	case <-o.done:
	case <-time.After(t.Began.Add(tellMemoryLimit).Sub(b.now())):
	}
	told := memory.ToldOpen
	select { // both may be so
	case <-o.done:
		o.settle()
		told = memory.Told(t.Memory.All())
	default:
	}
	if told != "" && actor.Model != nil {
		actor.Builder.Inject(p, "memory", told)
		t.Prompt, t.Layers, t.Dropped = p.Messages, p.Layers, p.Dropped
	}
}
