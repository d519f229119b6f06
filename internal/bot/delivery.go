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
	"unicode/utf8"

	"familiar/internal/context/prompt"
	"familiar/internal/context/turn"
	"familiar/internal/discord/rest"
	"familiar/internal/reply"
	"familiar/internal/store"
)

// unfinished ends a reply that is still being written where buttons are off. Elsewhere it has a button to stop it.
const unfinished = " …"

const (
	landLimit   = 2 * time.Minute  // for the complete reply, once the turn's time is up
	streamLimit = 30 * time.Second // for a part of a reply

	recordLimit = time.Minute     // for a store that does not work, until a complete reply is given up
	passLimit   = 2 * time.Second // from the first words until they queue with all other posts; until then only what need not wait is posted
	awayAfter   = time.Minute     // the reply to a question that waited longer says that the bot was away
)

var (
	// errUnrecorded holds a reply back: nothing is posted without a record.
	errUnrecorded = errors.New("the turn could not be recorded")
	errBroke      = errors.New("panic while delivering the reply")
)

// delivery posts a growing reply in its channel. The first words come soon. Edits with the latest text follow at the
// door's pace. The whole text comes last, even if something failed before. Every posted text has passed the guard.
type delivery struct {
	bot     *Bot
	actor   *Actor
	rules   reply.Rules
	marker  *reply.Marker
	replyTo string
	again   bool                                         // an earlier process may have posted parts of it
	claim   string                                       // what the turn answers, and the same after a restart that knows no turn
	lane    *lane                                        // nil: the turn is over, and nobody can write again before its last post
	show    func(ctx context.Context, text string) error // called before the first post until it succeeds once
	shown   bool                                         // show has succeeded; owned by the writer
	began   time.Time
	key     func(kind string) string // of a button; set before the first post, nil: none; owned by the writer
	ending  []string                 // kinds of the buttons under the complete reply; set before final is sent
	request turn.Request             // as the delivery began
	spoken  bool                     // posted in short messages with pauses, as a person types
	picture *turn.Picture            // of the mood of the complete reply; nil: it is attached later, or never
	attempt context.Context          // the turn's context
	paused  time.Duration            // sum of the pauses between posts; owned by the writer
	away    bool                     // the question was written while the bot was away
	words   time.Time                // when the first words were to be posted; owned by the writer
	passed  bool                     // the door dropped them, because they would have had to wait; owned by the writer

	mu  sync.Mutex
	raw strings.Builder // the model's words so far; guarded by mu

	wake   chan struct{}  // holds one token while there are new words
	final  chan string    // holds the final text
	done   chan struct{}  // closed when the writer has returned
	result deliveryResult // owned by the writer until done is closed
	made   atomic.Int64   // posts made so far, for other goroutines
}

// deliveryResult is the outcome of a delivery.
type deliveryResult struct {
	posts     []sentPost
	created   int // posts made so far, including lost ones
	wanted    int // number of posts that the text fills
	firstSeen time.Duration
	unsaid    bool // the rest was not posted, because nobody waits for it
	err       error
}

type sentPost struct {
	id, text string
	buttons  []turn.Button
}

// resumed returns what an earlier attempt at the turn, or an earlier process, has posted.
func resumed(of arrival) (r deliveryResult) {
	for _, p := range of.posts {
		r.posts = append(r.posts, sentPost{id: p.ID, text: p.Text, buttons: []turn.Button{{}}}) // of its buttons nothing is known
	}
	r.created = max(of.created, len(of.posts))
	return r
}

// kept returns the posts for another attempt.
func (r deliveryResult) kept() (posts []store.Post) {
	for _, p := range r.posts {
		posts = append(posts, store.Post{ID: p.id, Text: p.text})
	}
	return posts
}

// deliver begins the delivery of the reply to a turn that the arrival began. The caller must call finish. deliver calls
// settle before it writes the turn's record.
func (b *Bot) deliver(ctx context.Context, l *lane, actor *Actor, t *turn.Trace, typing *typing, p prompt.Prompt, of arrival, settle func()) *delivery {
	pending := *t // saved before the first word is visible
	pending.Phase = turn.Answering
	rules := reply.RulesFor(t.Request, p.Lookup, b.Redact)
	rules.Own = actor.Written()
	var d *delivery
	d = &delivery{
		bot: b, actor: actor, lane: l, away: of.Late || t.Began.Sub(of.at) > awayAfter, rules: rules, marker: &reply.Marker{Lookup: p.Lookup},
		request: t.Request, again: of.turnID != "", began: t.Began, attempt: ctx, result: resumed(of),
		spoken: t.Request.Mode == turn.ImitateVoice && b.Pace.Units > 0,
		wake:   make(chan struct{}, 1), final: make(chan string, 1), done: make(chan struct{}),
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
				d.key = b.ButtonKeys(t.Request.ID)
			}
			return nil
		},
	}
	if d.claim = of.claim(); of.again {
		d.claim += pressClaim + t.Request.ID
	}
	d.made.Store(int64(d.result.created))
	if t.Request.GuildID != "" && of.unasked == "" && t.Request.Message.ID != t.Request.ChannelID { // otherwise the question is above the thread, or there is none
		d.replyTo = t.Request.Message.ID
	}
	go d.write(ctx)
	return d
}

// posted returns how many posts were made so far, including those of earlier attempts.
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

// finish posts the final text with buttons of these kinds. It returns when the text is posted or has finally failed.
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
		if !d.passed { // else there are words that were not posted
			select {
			case text := <-d.final:
				d.land(ctx, text)
				return
			case <-d.wake:
			}
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
		// A slow post means that Discord asks for patience.
		if next = max(d.bot.Pace.Every, 2*took); d.passed {
			next = d.bot.Pace.First
		}
	}
}

// stream posts what may be shown so far. After a failure or a panic the delivery goes on, because the final text is
// still to come.
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
	if undecided || d.bot.mayReact(d.actor) && d.posted() == 0 && reply.IsEmoji(body) {
		return
	}
	text := d.rules.Shown(d.actor.Reworded(d.request, body, true))
	text, _, _ = d.marker.Mark(text, true)
	// This call is not cancelled: a turn that is withdrawn meanwhile must know the post, to delete it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), streamLimit)
	defer cancel()
	err := d.carry(ctx, strings.TrimRight(text, " \n"), false)
	if err != nil && !startsOver(err) {
		d.bot.Log.Debug("stream a reply", "err", d.bot.Redact.String(err.Error()))
	}
	switch kind := rest.KindOf(err); {
	case kind == rest.Gone || kind == rest.Forbidden:
		d.lane.abort(errRefused) // nobody would see the rest of the model's answer
	case diskFull(err):
		d.lane.abort(errUnrecorded) // the author is told now, and not when the model has ended
	}
	return
}

// land posts the final text. It has its own time limit, so that the text is posted even after the turn's time is up.
func (d *delivery) land(ctx context.Context, text string) {
	if cause := context.Cause(ctx); startsOver(cause) || elsewhere(cause) {
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

// carry makes the posts hold the text. The last pass retries. clear then deletes surplus posts.
func (d *delivery) carry(ctx context.Context, text string, last bool) error {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	pieces := d.pieces(text, last)
	if err := d.record(ctx, text, last); err != nil {
		return err
	}
	for i, piece := range pieces {
		piece = d.linked(piece)
		if d.spoken && d.lane != nil && i > 0 && i >= len(d.result.posts) && !d.pause(ctx, piece) {
			return errUnsaid
		}
		if err := d.post(ctx, i, piece, last, i == len(pieces)-1); err != nil {
			return err
		}
	}
	d.result.wanted = len(pieces)
	return nil
}

// pieces returns the posts that a text fills.
func (d *delivery) pieces(text string, last bool) []string {
	if d.spoken && last {
		if short := reply.SplitSpoken(text); short != nil {
			return short
		}
	}
	return d.bot.split(text, d.request.Persona)
}

// linked returns a post whose citations are links, where the line of sources has no addresses. A voice types none.
func (d *delivery) linked(piece string) string {
	if !d.request.Buttons || d.spoken || d.bot.units(d.request.Persona) == 0 || reply.ForAddress(d.marker.Lookup) {
		return piece
	}
	return reply.Linked(piece, d.marker.Lookup, d.rules.Secrets, d.bot.units(d.request.Persona))
}

// record makes sure that the turn is recorded before its reply is visible. The last pass waits up to recordLimit for a store that does not
// work. It does not wait for space on a full disk.
func (d *delivery) record(ctx context.Context, text string, last bool) error {
	ctx, cancel := context.WithTimeout(ctx, recordLimit)
	defer cancel()
	for !d.shown {
		err := d.show(ctx, text)
		if d.shown = err == nil; d.shown || !last || !errors.Is(err, errUnrecorded) || diskFull(err) || elsewhere(err) {
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

// diskFull reports whether a turn cannot be recorded before somebody frees space.
func diskFull(err error) bool {
	full, ok := errors.AsType[*store.Error](err)
	return ok && full.Kind == store.Full
}

// post makes the i-th post hold piece. In the last pass an edit that Discord calls malformed is sent again without buttons. One that is
// refused still becomes a new post in place of the old one. It does not if the old post is gone or the channel is closed. A person who
// deletes an answer does not want it again. An earlier process may have deleted a surplus post.
func (d *delivery) post(ctx context.Context, i int, piece string, last, end bool) error {
	want, final := sentPost{text: piece}, last && end
	switch {
	case final:
		want.buttons = reply.Buttons(d.request.Language, d.key, d.ending...)
	case end && d.bot.Pace.Buttons && !d.request.Buttons:
		want.text = reply.Head(piece, d.bot.units(d.request.Persona)-reply.Units(unfinished)) + unfinished
	case end:
		want.buttons = reply.Buttons(d.request.Language, d.key, reply.StopButton)
	}
	if i >= len(d.result.posts) {
		return d.create(ctx, i, want, last, final)
	}
	have := d.result.posts[i]
	if have.text == want.text && slices.Equal(have.buttons, want.buttons) && !(final && d.bot.Pace.Close) {
		return nil
	}
	want.id = have.id
	edit := turn.Edit{Ref: d.request.Ref(have.id), Text: want.text, Buttons: want.buttons, Final: final, Passing: !last}
	if final {
		edit.Picture = d.picture
	}
	err := d.bot.sendEdit(ctx, edit, last)
	if last && rest.KindOf(err) == rest.Rejected && len(edit.Buttons) > 0 {
		edit.Buttons, want.buttons = nil, nil
		err = d.bot.sendEdit(ctx, edit, last)
	}
	switch kind := rest.KindOf(err); {
	case err == nil:
		d.result.posts[i] = want
		d.keep(ctx, i)
		return nil
	case !last || Temporary(err) || kind == rest.Gone && (i == 0 || !d.again) || kind == rest.Forbidden || kind == rest.ClosedThread: // where not even a new post can be written
		return fmt.Errorf("edit a post: %w", err)
	}
	edited := err
	if err = d.create(ctx, i, want, last, final); err != nil {
		return err
	}
	if rest.KindOf(edited) != rest.Gone {
		d.bot.logged("delete a post that could not be edited", d.bot.sendDelete(ctx, d.request.Ref(have.id)))
	}
	return nil
}

// create posts the i-th post as a new message.
func (d *delivery) create(ctx context.Context, i int, want sentPost, last, final bool) error {
	p := turn.Post{
		GuildID: d.request.GuildID, ChannelID: d.request.ChannelID, Text: want.text, Buttons: want.buttons, Persona: d.request.Persona,
		Nonce: nonce(d.claim, d.result.created), Final: final, Again: d.again,
	}
	if d.words.IsZero() {
		d.words = time.Now()
	}
	// When many answer at once, one request for each has to do. The words that wait are old when they are posted, and need another.
	p.Passing = !last && d.result.created == 0 && time.Since(d.words) < passLimit
	if i == 0 {
		p.ReplyTo = d.replyTo
	}
	var err error
	want.id, err = d.bot.sendPost(ctx, p, last)
	if d.passed = p.Passing && rest.KindOf(err) == rest.RateLimited; err != nil {
		return fmt.Errorf("post a reply: %w", err)
	}
	d.result.created++
	d.made.Add(1)
	if d.result.firstSeen == 0 {
		d.result.firstSeen = d.bot.now().Sub(d.began)
	}
	if i < len(d.result.posts) {
		d.result.posts[i] = want
	} else {
		d.result.posts = append(d.result.posts, want)
	}
	d.keep(ctx, i)
	if final && d.picture != nil {
		return d.bot.sendEdit(ctx, turn.Edit{Ref: d.request.Ref(want.id), Text: want.text, Buttons: want.buttons, Picture: d.picture, Final: true}, last)
	}
	return nil
}

// keep saves what the i-th post holds, so that a restart can go on with it.
func (d *delivery) keep(ctx context.Context, i int) {
	if d.bot.Resume {
		p := d.result.posts[i]
		d.bot.logged("keep a post", d.bot.Store.Claims.SavePost(ctx, d.request.GuildID, d.request.ID, i, store.Post{ID: p.id, Text: p.text}))
	}
}

// clear deletes all posts after the first n. The records of other answers that were in them keep their words.
func (d *delivery) clear(ctx context.Context, n int) error {
	for len(d.result.posts) > n {
		surplus := d.result.posts[len(d.result.posts)-1]
		if d.request.EarlierID != "" || d.lane == nil {
			d.bot.vacate(ctx, d.request.Message.ID, surplus.id)
		}
		if err := d.bot.sendDelete(ctx, d.request.Ref(surplus.id)); err != nil && rest.KindOf(err) != rest.Gone {
			return fmt.Errorf("delete a post: %w", err)
		}
		d.result.posts = d.result.posts[:len(d.result.posts)-1]
	}
	return nil
}

// A reply in the mode imitate_voice is posted as a person types. Between its short posts are pauses in which the bot shows as typing.
const (
	spokenPace = 40                     // characters per second
	pauseLeast = 800 * time.Millisecond // before each post but the first
	pauseMost  = 3 * time.Second
	pausesMost = 8 * time.Second // in total
)

// pause waits as long as typing the post takes, or as long as is left of pausesMost. It reports whether the post is
// still wanted. It is not if the author has written again or the turn has ended.
func (d *delivery) pause(ctx context.Context, piece string) bool {
	wait := time.Duration(utf8.RuneCountInString(piece)) * time.Second / spokenPace
	wait = min(max(wait, pauseLeast), pauseMost, pausesMost-d.paused)
	d.paused += wait
	if wait > 0 {
		if err := d.bot.Door.Typing(ctx, d.request.ChannelID); err != nil {
			d.bot.Log.Debug("show typing", "err", d.bot.Redact.String(err.Error()))
		}
		select {
		case <-time.After(wait):
		case <-d.attempt.Done():
		}
	}
	return d.attempt.Err() == nil && !d.lane.hasFrom(d.request.Message.Author.ID)
}

// errUnsaid ends a reply whose rest is no longer wanted.
var errUnsaid = errors.New("the person wrote again before the reply was complete")
