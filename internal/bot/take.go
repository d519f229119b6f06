package bot

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"familiar/internal/context/prompt"
	"familiar/internal/context/turn"
	"familiar/internal/discord/rest"
	"familiar/internal/gate"
	"familiar/internal/llm"
	"familiar/internal/memory"
	"familiar/internal/reply"
	"familiar/internal/store"
)

const (
	storeLimit = 10 * time.Second // for every wait for the store
	saveAgain  = time.Second      // after a record could not be saved

	// begunAfter is how long a turn goes on before it is recorded as begun. Most have their first words by then.
	begunAfter = 200 * time.Millisecond
)

// drive takes a lane's turns until none is left.
func (b *Bot) drive(ctx context.Context, l *lane) {
	for {
		batch := l.next()
		if len(batch) > 0 {
			b.handle(ctx, l, batch)
		} else if l.close() {
			return
		}
	}
}

// leaves reports whether another process goes on with what this one leaves when it stops.
func (b *Bot) leaves() bool { return b.Others != nil && b.Others() }

// handle takes a turn, if a batch asks for one. Once the bot is stopping no turn begins.
func (b *Bot) handle(ctx context.Context, l *lane, batch []arrival) {
	defer func() { b.recovered("handle an event", recover()) }()
	defer l.release()
	if !batch[0].addressed {
		return
	}
	moved := false
	defer func() {
		if !moved { // another lane has them now
			giveBack(batch...)
		}
	}()
	select {
	case <-b.stopping:
		if batch[0].again || b.leaves() { // its answer is there, or another process goes on with it
			return
		}
		b.Log.Warn("a message came too late to be answered", "channel", batch[0].Message.ChannelID, "message", batch[0].Message.ID)
		if len(batch[0].posts) > 0 && (batch[0].turnID != "" || !batch[0].pressed()) { // all posts are of one turn
			b.markInterrupted(ctx, batch[0])
			return
		}
		for _, a := range batch {
			if a.addressed {
				b.tell(a.Event, reply.Leaving, a.claim())
			}
		}
	default:
		if !b.Store.Leases.HoldsFor(batch[0].GuildID) { // the next holder goes on with it
			return
		}
		if batch[0].again && !b.replaces(ctx, l, batch[0]) || b.answeredBefore(ctx, l, batch) {
			return
		}
		if moved = b.moves(ctx, batch); !moved {
			b.take(ctx, l, batch)
		}
	}
}

// take is one turn: gather, ask, answer, remember. It starts over while the author goes on writing and nothing of the reply is visible. It
// also does so when the question is edited. After an edit it reuses the posts.
func (b *Bot) take(ctx context.Context, l *lane, batch []arrival) {
	defer b.watchStuck(l)()
	id := cmp.Or(batch[0].turnID, batch[0].newID, b.newTurnID(batch[0].claim()))
	began := b.now()
	actor, heard := b.actor(ctx, batch[0]), map[string]hearing{}
	b.seen(actor, batch[0].GuildID, batch[0].Message.ChannelID, batch[len(batch)-1].Message.ID)
	b.keepEarlier(ctx, batch[0])
	var so deliveryResult
	var applied memory.Applied
	var joined []arrival // with those that joined the turn
	defer func() { giveBack(joined...) }()
	for {
		attempt, cancel := context.WithCancelCause(ctx)
		batch = l.begin(id, cancel)
		joined = batch
		if so.created > 0 {
			batch[0].posts, batch[0].created = so.kept(), so.created
		}
		so = b.attempt(attempt, l, actor, id, began, batch, heard, &applied)
		cancel(nil)
		if l.end() {
			return
		}
	}
}

// attempt is one attempt at a turn. It returns the posts so far.
func (b *Bot) attempt(ctx context.Context, l *lane, actor *Actor, id string, began time.Time, batch []arrival, heard map[string]hearing, applied *memory.Applied) (so deliveryResult) {
	so = resumed(batch[0])
	t := &turn.Trace{}
	defer func() {
		if b.recovered("take a turn", recover()) {
			t.Phase = turn.Broken
			b.over(t)
			b.tell(batch[0].Event, reply.TurnBroken, batch[0].claim())
		}
	}()
	ctx, release := until(ctx, b.cut)
	defer release()
	ctx, calls := llm.Collect(ctx, b.Redact.String)
	typing := b.typing(ctx, batch[0].Message.ChannelID)
	defer typing.stop()
	b.listen(ctx, batch, heard)
	spoken, transcripts := withWords(batch, heard)
	*t = turn.Trace{Request: b.request(ctx, actor, id, spoken), Phase: turn.Begun, Began: began, Transcripts: transcripts, ModelHost: actor.modelHost()}
	b.watched(t)
	if said := batch[0].considered; said != nil {
		t.Processed = append(t.Processed, said.Processed)
		calls.Add(said.call, said.read...)
	}
	ctx, cancel := context.WithDeadline(ctx, t.Request.Deadline.Add(b.limit()))
	defer cancel()

	ordered := b.orderMemory(ctx, actor, t, batch[0].parse, applied) // it sees nothing of what the turn reads
	defer ordered.settle()
	settle := b.saveBegun(ctx, *t)
	defer settle()
	p := b.gather(ctx, actor, t)
	t.Outcomes = append(t.Outcomes, batch[0].recalled...)
	b.tellMemory(actor, t, &p, ordered)
	if actor.Model != nil {
		b.think(ctx, actor, t, &p)
	}
	if cause := context.Cause(ctx); startsOver(cause) || elsewhere(cause) {
		return so
	}
	d := b.deliver(ctx, l, actor, t, typing, p, batch[0], settle)
	text := b.answer(ctx, t, p, d, ordered.settle)
	ordered.settle()
	l.completed()
	if b.react(ctx, l, actor, t, text, d.posted()) {
		text = ""
	}
	so = d.finish(text, b.endingOf(ctx, t, batch[0])...)
	settle()
	t.Calls = calls.Close()
	b.remember(ctx, actor, t, so, batch)
	return so
}

// Aside takes a turn outside the lanes, for a command. Nothing waits for it and nothing is posted. prepare may change the request before it
// is recorded. look fills in the record, and reports whether the turn counts as used. The error is the store's, or a [*gate.Refusal].
func (b *Bot) Aside(ctx context.Context, actor *Actor, e turn.Event, prepare func(*turn.Request), look func(context.Context, *turn.Trace) (counts bool)) (*turn.Trace, error) {
	p, no := b.Gate.Pass(ctx, e, gate.Passage{Tokens: actor.PromptTokens(), Rated: e.Command != nil}) // else the operator's own program asks
	if no != nil {
		return nil, no
	}
	defer p.GiveBack()
	t := &turn.Trace{Began: b.now(), Phase: turn.Begun, Model: NoModel}
	t.Request = b.request(ctx, actor, ulid.Make().String(), []arrival{{Event: e, pass: p}})
	t.Request.Chain, t.Request.Parent, t.Request.Addressed = nil, nil, turn.ByDirect
	prepare(&t.Request)
	if err := b.saveWith(ctx, t, noMore); err != nil { // the process that got the command answers it
		return nil, err
	}
	ctx, calls := llm.Collect(ctx, b.Redact.String)
	counts := look(ctx, t)
	t.Calls = calls.Close()
	t.Phase, t.Took = turn.Answered, b.now().Sub(t.Began)
	if !counts {
		return t, b.saveWith(ctx, t, noMore)
	}
	return t, b.saveWith(ctx, t, b.Gate.Counted(t, p))
}

func (b *Bot) gather(ctx context.Context, actor *Actor, t *turn.Trace) prompt.Prompt {
	within, cancel := context.WithDeadline(ctx, t.Request.Deadline)
	defer cancel()
	p := actor.Builder.Build(within, t.Request)
	if t.Request.GoOn {
		p.Messages = append(p.Messages, b.rest(ctx, actor, t.Request.EarlierID)...)
	}
	t.Outcomes, t.Layers, t.Dropped, t.Prompt = p.Outcomes, p.Layers, p.Dropped, p.Messages
	t.Blind = actor.Model != nil && blind(t)
	b.logUnread(t)
	t.Timings.Prompt = b.now().Sub(t.Began)
	return p
}

// goOnBytes is how much of the end of a cut reply the model is shown.
const goOnBytes = 4000

// rest returns the messages that ask a model for the rest of a reply that was cut.
func (b *Bot) rest(ctx context.Context, actor *Actor, earlierID string) []turn.Rendered {
	earlier, err := b.Traces.Get(ctx, earlierID)
	if err != nil {
		b.logged("read the record of a reply that was cut", err)
		return nil
	}
	words := reply.OwnWords(earlier.Reply)
	if from := len(words) - goOnBytes; from > 0 {
		words = strings.ToValidUTF8(words[from:], "")
	}
	return []turn.Rendered{
		{Role: "assistant", Text: words, Tokens: actor.Builder.Count(words)},
		{Role: "user", Text: goOnPlease, Tokens: actor.Builder.Count(goOnPlease)},
	}
}

const goOnPlease = "Your answer above was cut off. Go on exactly where it ends. Repeat nothing of it, and write no introduction."

func (b *Bot) limit() time.Duration {
	if b.Limit > 0 {
		return b.Limit
	}
	return answerLimit
}

// moves opens a thread for a message that mentions the bot, if people want that, and moves the turn there. If Discord does not allow a
// thread, the turn stays where it is, and the channel is told once.
func (b *Bot) moves(ctx context.Context, batch []arrival) bool {
	first := batch[0]
	if b.Pace.Units == 0 || !first.Mentioned || first.GuildID == "" || first.Kind != turn.Created || first.turnID != "" || first.newID != "" ||
		first.ParentID != "" || first.ParentUnknown || !b.Conduct(ctx, first.Event).Threads {
		return false
	}
	question := turn.Ref{GuildID: first.GuildID, ChannelID: first.Message.ChannelID, ID: first.Message.ID}
	id, err := b.sendThread(ctx, question, cmp.Or(reply.ThreadName(first.Message, b.Redact), b.actor(ctx, first).Name))
	if err != nil {
		b.logged("open a thread", err)
		switch rest.KindOf(err) {
		case rest.Full:
			b.tellOnce(ctx, first.Event, reply.ThreadsFull)
		case rest.Forbidden:
			b.tellOnce(ctx, first.Event, reply.NoThread)
		} // else it may be a voice channel, which has no threads
		return false
	}
	moved := slices.Clone(batch)
	for i := range moved {
		moved[i].ParentID, moved[i].Message.ChannelID = first.Message.ChannelID, id
		event := ""
		if b.Resume {
			event = encodeArrival(moved[i])
		}
		b.logged("move to a thread", b.Store.Threads.MoveMessage(ctx, moved[i].Message.ID, moved[i].claim(), id, first.GuildID, event, time.Now()))
	}
	if actor := b.actor(ctx, first); actor.Greetings.Threads {
		b.logged("greet in a thread", b.Greet(ctx, moved[0].Event, actor, actor.Greetings.First, first.Message.Author))
	}
	b.enqueue(ctx, moved...)
	return true
}

// tellOnce says something in a channel, once for all time.
func (b *Bot) tellOnce(ctx context.Context, e turn.Event, what sentence) {
	key := "told/" + e.Message.ChannelID + "/" + string(what)
	if _, err := b.Store.Notes.Get(ctx, key); !errors.Is(err, store.ErrNotFound) {
		return
	}
	b.logged("note what was told", b.Store.Notes.Set(ctx, key, "yes"))
	b.tell(e, what)
}
