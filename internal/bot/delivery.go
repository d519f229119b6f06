package bot

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"familiar/internal/bot/discord"
	"familiar/internal/bot/outgoing"
	"familiar/internal/context/prompt"
	"familiar/internal/context/turn"
)

const (
	typingAfter = 150 * time.Millisecond // a reply that is quicker needs no sign of life
	typingEvery = 8 * time.Second        // Discord shows it for ten
	defaultPost = 2000
	lastWords   = 30 * time.Second // to deliver a reply that is complete, when the turn's time is up
	firstRetry  = 500 * time.Millisecond
	lastRetry   = 5 * time.Second
)

var (
	// errUnrecorded keeps a reply back: nothing is said that has no record.
	errUnrecorded = errors.New("the turn could not be recorded")
	errBroke      = errors.New("panic while delivering the reply")
)

// speech carries a growing reply to its channel: the first words soon, then edits at the door's pace, the latest
// text winning, and at last the whole text, come what may. What is posted has always passed the guard.
type speech struct {
	bot     *Bot
	rules   outgoing.Rules
	marker  *outgoing.Marker
	channel string
	replyTo string
	id      string                                       // the turn's
	show    func(ctx context.Context, text string) error // asked once, before the first post
	began   time.Time

	mu  sync.Mutex
	raw strings.Builder // what the model said so far; guarded by mu

	wake  chan struct{} // something was said; holds one
	ended chan string   // the final text; holds one
	done  chan struct{} // closed by the writer when it has returned
	said  said          // the writer's until done is closed
}

// said is what became of a speech.
type said struct {
	posts     []posted
	created   int // posts made so far, those included that went missing
	wanted    int // posts that the text fills
	firstSeen time.Duration
	err       error
}

type posted struct{ id, text string }

// speak opens the reply to a turn. finish must be called.
func (b *Bot) speak(ctx context.Context, l *lane, t *turn.Trace, typing *typing, p prompt.Prompt) *speech {
	pending := *t // what goes to disk before the first word is visible
	pending.Phase = turn.Answering
	s := &speech{
		bot: b, rules: outgoing.RulesFor(t.Request, p.Lookup, b.Redact), marker: &outgoing.Marker{Lookup: p.Lookup}, channel: t.Request.ChannelID, id: t.Request.ID, began: t.Began,
		wake: make(chan struct{}, 1), ended: make(chan string, 1), done: make(chan struct{}),
		show: func(ctx context.Context, text string) error {
			typing.stop()
			if !l.show() {
				return errJoined
			}
			pending.Reply = text
			if err := b.save(ctx, &pending); err != nil {
				return fmt.Errorf("%w: %w", errUnrecorded, err)
			}
			return nil
		},
	}
	if t.Request.GuildID != "" {
		s.replyTo = t.Request.Message.ID
	}
	go s.write(ctx)
	return s
}

// add takes the model's next words.
func (s *speech) add(words string) {
	s.mu.Lock()
	s.raw.WriteString(words)
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// finish posts the final text and returns when it has landed or failed for good.
func (s *speech) finish(text string) said {
	s.ended <- text
	<-s.done
	return s.said
}

func (s *speech) write(ctx context.Context) {
	defer close(s.done)
	defer func() {
		if s.bot.recovered("deliver a reply", recover()) {
			s.said.err = errBroke
		}
	}()
	next := time.Duration(0)
	for {
		select {
		case text := <-s.ended:
			s.land(ctx, text)
			return
		case <-s.wake:
		}
		if next == 0 {
			next = s.bot.Pace.First
		}
		select {
		case text := <-s.ended:
			s.land(ctx, text)
			return
		case <-time.After(next):
		}
		took := s.stream(ctx)
		// A slow post is Discord asking for patience.
		next = max(s.bot.Pace.Every, 2*took)
	}
}

// stream shows what may be shown so far. A failure is not the end, not even a panic: the final text is still to come.
func (s *speech) stream(ctx context.Context) (took time.Duration) {
	start := time.Now()
	defer func() {
		s.bot.recovered("stream a reply", recover())
		took = time.Since(start)
	}()
	s.mu.Lock()
	raw := s.raw.String()
	s.mu.Unlock()
	body, undecided := unlabelled(raw, s.bot.Character.Name)
	if undecided {
		return
	}
	text, _ := s.rules.Guard(s.rules.Visible(body))
	text, _, _ = s.marker.Mark(text, true)
	if err := s.carry(ctx, strings.TrimRight(text, " \n"), false); err != nil && !errors.Is(err, errJoined) {
		s.bot.Log.Debug("stream a reply", "err", s.bot.Redact.String(err.Error()))
	}
	return
}

// land posts the final text. It has time of its own, so that what was said lands even when the turn's is up.
func (s *speech) land(ctx context.Context, text string) {
	if errors.Is(context.Cause(ctx), errJoined) {
		s.said.err = errJoined
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
	defer cancel()
	s.said.err = s.carry(ctx, text, true)
	if s.said.err == nil {
		s.said.err = s.clear(ctx)
	}
	if len(s.said.posts) == 0 && errors.Is(s.said.err, errUnrecorded) {
		s.bot.apologise(ctx, s.channel, s.replyTo, s.id)
	}
}

// carry makes the posts say text. The last pass insists, and clear then takes away what it left over.
func (s *speech) carry(ctx context.Context, text string, last bool) error {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	pieces := []string{text}
	if units := s.bot.Pace.Units; units > 0 {
		pieces = outgoing.Split(text, units)
	}
	if len(s.said.posts) == 0 {
		if err := s.show(ctx, text); err != nil {
			return err
		}
	}
	for i, piece := range pieces {
		if err := s.post(ctx, i, piece, last, i == len(pieces)-1); err != nil {
			return err
		}
	}
	s.said.wanted = len(pieces)
	return nil
}

// post makes the i-th post say piece. In the last pass an edit that is not taken becomes a new post, unless a
// person has deleted the old one: that was an answer to the answer.
func (s *speech) post(ctx context.Context, i int, piece string, last, end bool) error {
	p := turn.Post{ChannelID: s.channel, Text: piece, Final: last && end}
	if i < len(s.said.posts) {
		if s.said.posts[i].text == piece && !(p.Final && s.bot.Pace.Close) {
			return nil
		}
		p.ID = s.said.posts[i].id
		_, err := s.deliver(ctx, p, last)
		if err == nil {
			s.said.posts[i].text = piece
			return nil
		}
		if !last || temporary(err) || failureKind(err) == discord.Gone || failureKind(err) == discord.Forbidden {
			return fmt.Errorf("edit a post: %w", err)
		}
		p.ID = ""
	}
	return s.create(ctx, i, p, last)
}

func (s *speech) create(ctx context.Context, i int, p turn.Post, last bool) error {
	if i == 0 {
		p.ReplyTo = s.replyTo
	}
	p.Nonce = nonce(s.id, s.said.created)
	id, err := s.deliver(ctx, p, last)
	if err != nil {
		return fmt.Errorf("post a reply: %w", err)
	}
	s.said.created++
	if s.said.firstSeen == 0 {
		s.said.firstSeen = time.Since(s.began)
	}
	if made := (posted{id: id, text: p.Text}); i < len(s.said.posts) {
		s.said.posts[i] = made
	} else {
		s.said.posts = append(s.said.posts, made)
	}
	return nil
}

// deliver hands a post to the door, in the last pass again and again while the trouble may pass. The nonce keeps
// one that landed unnoticed from landing twice.
func (s *speech) deliver(ctx context.Context, p turn.Post, last bool) (string, error) {
	for wait := firstRetry; ; wait = min(2*wait, lastRetry) {
		id, err := s.bot.Door.Deliver(ctx, p)
		if err == nil || !last || !temporary(err) {
			return id, err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return "", err
		}
	}
}

// clear takes away posts that the final text does not fill.
func (s *speech) clear(ctx context.Context) error {
	for len(s.said.posts) > s.said.wanted && s.said.wanted > 0 {
		surplus := s.said.posts[len(s.said.posts)-1]
		_, err := s.deliver(ctx, turn.Post{ID: surplus.id, ChannelID: s.channel}, true)
		if err != nil && failureKind(err) != discord.Gone {
			return fmt.Errorf("take away a post: %w", err)
		}
		s.said.posts = s.said.posts[:len(s.said.posts)-1]
	}
	return nil
}

// failureKind is what Discord said of a post, or "" if it said nothing.
func failureKind(err error) discord.Kind {
	var e *discord.SendError
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}

// temporary reports whether the same post may be taken later.
func temporary(err error) bool {
	switch failureKind(err) {
	case discord.Unavailable, discord.RateLimited:
		return true
	case "":
		return !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
	}
	return false
}

// nonce is unique for a post of a turn and the same when it is sent again. Discord takes 25 characters.
func nonce(id string, n int) string {
	if len(id) > 20 {
		id = id[len(id)-20:]
	}
	return fmt.Sprintf("%s-%d", id, n)
}

// typing shows that the bot is busy, until the reply is about to appear.
type typing struct {
	cancel context.CancelFunc
	done   chan struct{}
}

func (b *Bot) typing(ctx context.Context, channelID string) *typing {
	ctx, cancel := context.WithCancel(ctx)
	t := &typing{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(t.done)
		for wait := typingAfter; ; wait = typingEvery {
			select {
			case <-ctx.Done():
				return
			case <-time.After(wait):
			}
			if err := b.Door.Typing(ctx, channelID); err != nil && ctx.Err() == nil {
				b.Log.Debug("show typing", "err", b.Redact.String(err.Error()))
			}
		}
	}()
	return t
}

// stop returns when no sign of typing can follow.
func (t *typing) stop() {
	t.cancel()
	<-t.done
}
