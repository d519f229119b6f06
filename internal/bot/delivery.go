package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"familiar/internal/bot/discord"
	"familiar/internal/bot/outgoing"
	"familiar/internal/context/prompt"
	"familiar/internal/context/turn"
	"familiar/internal/store"
)

const (
	landLimit   = 2 * time.Minute  // to deliver a complete reply, when the turn's time is up
	streamLimit = 30 * time.Second // to post a part of a reply
	firstRetry  = 500 * time.Millisecond
	lastRetry   = 5 * time.Second

	recordLimit = time.Minute // for a store that does not work, before a complete reply is given up
	awayAfter   = time.Minute // a question that waited longer for its turn is told that the bot was away
)

var (
	// errUnrecorded holds a reply back: what has no record is not posted.
	errUnrecorded = errors.New("the turn could not be recorded")
	errBroke      = errors.New("panic while delivering the reply")
)

// delivery brings a growing reply to its channel: the first words soon, then edits at the door's pace, each with the latest
// text, and at last the whole text, whatever failed before. What is posted has always passed the guard.
type delivery struct {
	bot      *Bot
	actor    *Actor
	rules    outgoing.Rules
	marker   *outgoing.Marker
	channel  string
	language string // of the labels of buttons
	replyTo  string
	persona  *turn.Persona
	again    bool   // an earlier process has begun it
	id       string // the turn's
	lane     *lane
	show     func(ctx context.Context, text string) error // called before the first post, until it succeeds once
	shown    bool                                         // it did; owned by the writer
	began    time.Time
	keys     map[string]string // of the buttons by kind, once there is something to post; owned by the writer
	ending   []string          // the kinds under the complete reply; set before final is sent
	request  turn.Request
	spoken   bool            // posted as somebody types
	author   string          // of the question
	attempt  context.Context // the turn's; it ends when the turn does
	paused   time.Duration   // between posts, so far; owned by the writer
	away     bool            // the question was written while the bot was away

	mu  sync.Mutex
	raw strings.Builder // the model's words so far; guarded by mu

	wake   chan struct{}  // there are more words; holds one
	final  chan string    // the final text; holds one
	done   chan struct{}  // closed by the writer when it has returned
	result deliveryResult // owned by the writer until done is closed
	made   atomic.Int64   // posts, as others may know
}

// deliveryResult is what became of a delivery.
type deliveryResult struct {
	posts     []sentPost
	created   int // posts made so far, including those that got lost
	wanted    int // posts that the text fills
	firstSeen time.Duration
	unsaid    bool // the rest was not posted: nobody waits for it
	err       error
}

type sentPost struct {
	id, text string
	buttons  []turn.Button
}

// resumed is what an earlier attempt at a turn, or an earlier process, has posted.
func resumed(of arrival) (r deliveryResult) {
	for _, p := range of.posts {
		r.posts = append(r.posts, sentPost{id: p.ID, text: p.Text})
	}
	r.created = max(of.created, len(of.posts))
	return r
}

// kept are the posts for another attempt.
func (r deliveryResult) kept() (posts []store.Post) {
	for _, p := range r.posts {
		posts = append(posts, store.Post{ID: p.id, Text: p.text})
	}
	return posts
}

// deliver begins to deliver the reply to a turn that the arrival began. finish must be called. settle is called before the turn's record is written.
func (b *Bot) deliver(ctx context.Context, l *lane, actor *Actor, t *turn.Trace, typing *typing, p prompt.Prompt, of arrival, settle func()) *delivery {
	pending := *t // what goes to disk before the first word is visible
	pending.Phase = turn.Answering
	var d *delivery
	d = &delivery{
		bot: b, actor: actor, lane: l, away: of.Late || t.Began.Sub(of.at) > awayAfter, rules: outgoing.RulesFor(t.Request, p.Lookup, b.Redact), marker: &outgoing.Marker{Lookup: p.Lookup},
		channel: t.Request.ChannelID, language: t.Request.Language, persona: t.Request.Persona, again: of.turnID != "", id: t.Request.ID, began: t.Began,
		wake: make(chan struct{}, 1), final: make(chan string, 1), done: make(chan struct{}),
		show: func(ctx context.Context, text string) error {
			typing.stop()
			if !l.show() {
				return errJoined
			}
			pending.Reply = text
			settle()
			if err := b.save(ctx, &pending); err != nil {
				return fmt.Errorf("%w: %w", errUnrecorded, err)
			}
			if t.Request.Buttons {
				d.keys = b.keys(t.Request.ID, append(finalButtons(p.Lookup, true), stopButton)...)
			}
			return nil
		},
	}
	d.spoken, d.author, d.attempt = t.Request.Mode == turn.ImitateVoice && b.Pace.Units > 0, t.Request.Message.Author.ID, ctx
	d.result, d.request = resumed(of), t.Request
	d.made.Store(int64(d.result.created))
	if t.Request.GuildID != "" && of.unasked == "" && t.Request.Message.ID != t.Request.ChannelID { // else it stands above the thread
		d.replyTo = t.Request.Message.ID
	}
	go d.write(ctx)
	return d
}

// posted is how many posts were made so far, earlier attempts included.
func (d *delivery) posted() int { return int(d.made.Load()) }

// add takes the model's next words.
func (d *delivery) add(words string) {
	d.mu.Lock()
	d.raw.WriteString(words)
	d.mu.Unlock()
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// finish posts the final text, with buttons of those kinds, and returns when it is posted or has failed for good.
func (d *delivery) finish(text string, buttons ...string) deliveryResult {
	d.ending = buttons
	d.final <- text
	<-d.done
	return d.result
}

func (d *delivery) write(ctx context.Context) {
	defer close(d.done)
	defer func() {
		if d.bot.recovered("deliver a reply", recover()) {
			d.result.err = errBroke
		}
	}()
	next := time.Duration(0)
	for {
		select {
		case text := <-d.final:
			d.land(ctx, text)
			return
		case <-d.wake:
		}
		if next == 0 {
			next = d.bot.Pace.First
		}
		select {
		case text := <-d.final:
			d.land(ctx, text)
			return
		case <-time.After(next):
		}
		took := d.stream(ctx)
		// A slow post is Discord asking for patience.
		next = max(d.bot.Pace.Every, 2*took)
	}
}

// stream shows what may be shown so far. After a failure, even a panic, the delivery goes on: the final text is still to come.
func (d *delivery) stream(ctx context.Context) (took time.Duration) {
	start := time.Now()
	defer func() {
		d.bot.recovered("stream a reply", recover())
		took = time.Since(start)
	}()
	d.mu.Lock()
	raw := d.raw.String()
	d.mu.Unlock()
	body, undecided := d.actor.unlabelled(raw)
	if undecided || d.bot.mayReact(d.actor) && d.posted() == 0 && isEmoji(body) {
		return
	}
	text, _ := d.rules.Guard(d.rules.Visible(d.actor.rewritten(d.request, body)))
	text, _, _ = d.marker.Mark(text, true)
	// A turn that is withdrawn meanwhile must know of this post, to take it away: it is not called off halfway.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), streamLimit)
	defer cancel()
	err := d.carry(ctx, strings.TrimRight(text, " \n"), false)
	if err != nil && !startsOver(err) {
		d.bot.Log.Debug("stream a reply", "err", d.bot.Redact.String(err.Error()))
	}
	if kind := failureKind(err); kind == discord.Gone || kind == discord.Forbidden {
		d.lane.abort(errRefused) // nobody will see what the model goes on to say
	}
	return
}

// land posts the final text. It has a time limit of its own, so that the text is posted even when the turn's time is up.
func (d *delivery) land(ctx context.Context, text string) {
	if cause := context.Cause(ctx); startsOver(cause) {
		d.result.err = cause
		return
	}
	var withdrawn withdrawal
	errors.As(context.Cause(ctx), &withdrawn)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), landLimit)
	defer cancel()
	switch {
	case withdrawn == errDeleted:
		d.result.err = errors.Join(withdrawn, d.clear(ctx, 0))
	case withdrawn != "":
		d.result.err = withdrawn
	default:
		switch err := d.carry(ctx, text, true); {
		case errors.Is(err, errUnsaid):
			d.result.unsaid = true
			if errors.Is(context.Cause(d.attempt), errDeleted) {
				d.result.err = errors.Join(errDeleted, d.clear(ctx, 0))
			}
		case err == nil:
			d.result.err = d.clear(ctx, d.result.wanted)
		default:
			d.result.err = err
		}
	}
}

// carry makes the posts hold text. The last pass retries, and clear then deletes the posts that are left over.
func (d *delivery) carry(ctx context.Context, text string, last bool) error {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	pieces := []string{text}
	if units := d.units(); units > 0 {
		pieces = outgoing.Split(text, units)
	}
	if d.spoken && last {
		if short := spoken(text); short != nil {
			pieces = short
		}
	}
	if err := d.record(ctx, text, last); err != nil {
		return err
	}
	for i, piece := range pieces {
		if d.spoken && i > 0 && i >= len(d.result.posts) && !d.pause(ctx, piece) {
			return errUnsaid
		}
		if err := d.post(ctx, i, piece, last, i == len(pieces)-1); err != nil {
			return err
		}
	}
	d.result.wanted = len(pieces)
	return nil
}

// units is how much a post may hold, 0 for any length. Where a persona speaks, its name may have to stand in front.
func (d *delivery) units() int {
	units := d.bot.Pace.Units
	if d.persona != nil && units > 0 {
		units -= outgoing.Units(discord.Labelled(d.persona.Name, ""))
	}
	return units
}

// record sees to it that the turn is on record before its reply is visible. The last pass waits for a store that does not
// work, for recordLimit.
func (d *delivery) record(ctx context.Context, text string, last bool) error {
	ctx, cancel := context.WithTimeout(ctx, recordLimit)
	defer cancel()
	for !d.shown {
		err := d.show(ctx, text)
		if d.shown = err == nil; d.shown || !last || !errors.Is(err, errUnrecorded) {
			return err
		}
		select {
		case <-time.After(saveAgain):
		case <-d.bot.stopping:
			return err
		case <-ctx.Done():
			return err
		}
	}
	return nil
}

// post makes the i-th post hold piece. In the last pass an edit that is refused becomes a new post, unless a person has
// deleted the old one, who does not want the answer.
func (d *delivery) post(ctx context.Context, i int, piece string, last, end bool) error {
	p := turn.Post{ChannelID: d.channel, Text: piece, Final: last && end, Passing: !last, Persona: d.persona}
	switch {
	case p.Final:
		p.Buttons = row(d.language, d.keys, d.ending...)
	case end:
		p.Buttons = row(d.language, d.keys, stopButton)
	}
	if i < len(d.result.posts) {
		if d.result.posts[i].text == piece && slices.Equal(d.result.posts[i].buttons, p.Buttons) && !(p.Final && d.bot.Pace.Close) {
			return nil
		}
		p.ID = d.result.posts[i].id
		_, err := d.bot.send(ctx, p, last)
		if err == nil {
			d.result.posts[i].text, d.result.posts[i].buttons = piece, p.Buttons
			d.keep(ctx, i)
			return nil
		}
		if !last || temporary(err) || isClosed(failureKind(err)) {
			return fmt.Errorf("edit a post: %w", err)
		}
		p.ID = ""
	}
	return d.create(ctx, i, p, last)
}

func (d *delivery) create(ctx context.Context, i int, p turn.Post, last bool) error {
	if i == 0 {
		p.ReplyTo = d.replyTo
	}
	p.Nonce, p.Again = nonce(d.id, d.result.created), d.again
	id, err := d.bot.send(ctx, p, last)
	if err != nil {
		return fmt.Errorf("post a reply: %w", err)
	}
	d.result.created++
	d.made.Add(1)
	if d.result.firstSeen == 0 {
		d.result.firstSeen = time.Since(d.began)
	}
	if sent := (sentPost{id: id, text: p.Text, buttons: p.Buttons}); i < len(d.result.posts) {
		d.result.posts[i] = sent
	} else {
		d.result.posts = append(d.result.posts, sent)
	}
	d.keep(ctx, i)
	return nil
}

// keep notes what the i-th post is: a restart goes on with it.
func (d *delivery) keep(ctx context.Context, i int) {
	if d.bot.Resume {
		p := d.result.posts[i]
		d.bot.logged("keep a post", d.bot.Store.SavePost(ctx, d.id, i, store.Post{ID: p.id, Text: p.text}))
	}
}

// send hands a post to the door, again and again if asked to, while the failure may be temporary. The nonce keeps a post whose
// answer got lost from being posted twice. Nothing is posted once the bot has left.
func (b *Bot) send(ctx context.Context, p turn.Post, again bool) (id string, err error) {
	ctx, cancel := until(ctx, b.left)
	defer cancel()
	defer func() {
		if err != nil && errors.Is(context.Cause(ctx), errLeft) {
			err = fmt.Errorf("%w: %w", errLeft, err)
		}
	}()
	for wait := firstRetry; ; wait = min(2*wait, lastRetry) {
		id, err = b.Door.Deliver(ctx, p)
		if err == nil || !again || !temporary(err) {
			return id, err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return "", err
		}
	}
}

// clear deletes the posts behind the first n.
func (d *delivery) clear(ctx context.Context, n int) error {
	for len(d.result.posts) > n {
		surplus := d.result.posts[len(d.result.posts)-1]
		_, err := d.bot.send(ctx, turn.Post{ID: surplus.id, ChannelID: d.channel, Persona: d.persona}, true)
		if err != nil && failureKind(err) != discord.Gone {
			return fmt.Errorf("delete a post: %w", err)
		}
		d.result.posts = d.result.posts[:len(d.result.posts)-1]
	}
	return nil
}

// failureKind returns why Discord refused a post, or "" if the error is not Discord's.
func failureKind(err error) discord.Kind {
	var e *discord.SendError
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}

// isClosed reports whether nothing more can be written there, be it a new post.
func isClosed(kind discord.Kind) bool {
	return kind == discord.Gone || kind == discord.Forbidden || kind == discord.ClosedThread
}

// temporary reports whether the same post may succeed later.
func temporary(err error) bool {
	switch failureKind(err) {
	case discord.Unavailable, discord.RateLimited:
		return true
	case "":
		return !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
	}
	return false
}

// unsent reports whether a post failed for a reason that passes, and may be sent later.
func unsent(err error) bool {
	return err != nil && (temporary(err) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errLeft))
}

// nonce returns an id for the nth post of a turn, the same when the post is sent again. Discord takes 25 characters.
func nonce(id string, n int) string {
	if len(id) > 20 {
		id = id[len(id)-20:]
	}
	return fmt.Sprintf("%s-%d", id, n)
}
