// Package history offers the conversation so far: the message that is replied to and the chain above it,
// the channel's last messages before the turn's, and a summary of what was said before those.
//
// A summary is made beside the turns (keeper.go), by a side model whose every sentence must be borne out by messages, or without one
// of the messages that tell most (summarise.go). A turn uses the one that is there (summary.go). It is a few sentences, each with the
// messages that it rests on; another one keeps old sentences as they are and adds new ones, so that none is worded twice. It is gone
// from the moment on in which a message that it covers is deleted or changed, until another is made.
//
// What the bot itself said is in no summary: it may be the words of web pages.
package history

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"familiar/internal/context/turn"
	"familiar/internal/llm"
	"familiar/internal/store"
	"familiar/internal/text"
)

const (
	window    = 20   // messages of the channel, unless told otherwise
	beside    = 4    // messages read beside the window at first: the turn's own, and seldom another
	ahead     = 20   // messages looked through at most for such as came after the turn's own
	longest   = 1500 // characters of one message; a longer one is shortened at the end of a sentence
	chainMost = 10   // messages of the reply chain
)

// Priorities within the layer. Of the chain, and of the recent messages, each older one has one less; a
// window is never so wide that they meet.
const (
	parentPriority = 1000
	chainPriority  = 900
	recentPriority = 800
)

// Provider offers each message as one contribution, so that the budget can keep the newest. The parent of a
// reply comes first of all, also when it is older than the window. What was said before the window it offers as a summary.
type Provider struct {
	Store     *store.DB
	Window    int              // messages of the channel, at most; 0: 20
	Summaries *Summaries       // nil: there are none
	Side      *llm.Client      // makes summaries; nil: the messages that tell most are the summary
	Zone      *time.Location   // in which times are told; nil: UTC
	Count     func(string) int // tokens of a text; nil: a cautious estimate
}

// Name implements prompt.Provider.
func (p *Provider) Name() string { return "history" }

// Contribute implements prompt.Provider. With an error it returns what the request itself holds: the parent
// and the chain.
func (p *Provider) Contribute(ctx context.Context, req turn.Request) ([]turn.Contribution, error) {
	o := offer{known: map[string]bool{req.Message.ID: true}}
	for _, id := range req.Burst {
		o.known[id] = true
	}
	parent, err := p.parent(ctx, req)
	if parent != nil {
		o.add(*parent, parentPriority, "history:parent")
	}
	for i, m := range req.Chain[:min(len(req.Chain), chainMost)] {
		o.add(m, chainPriority-i, "history:chain")
	}
	recent, recentErr := p.recent(ctx, req)
	for i, m := range recent {
		o.add(m, recentPriority-i, "history:recent")
	}
	if recentErr != nil {
		err = recentErr // the same cause, and the greater loss
	}
	p.follow(ctx, req, recent)
	summaries, summaryErr := p.summaries(ctx, req)
	if err == nil && summaryErr != nil {
		err = fmt.Errorf("read summaries: %w", summaryErr)
	}
	return append(o.contributions, summaries...), err
}

// follow has a summary made of what lies beyond the window, if that has grown. The turn does not wait for it.
func (p *Provider) follow(ctx context.Context, req turn.Request, recent []turn.Message) {
	if p.room(req) == 0 || len(recent) < p.window() {
		return
	}
	before, err := p.Store.Summary(ctx, req.ChannelID)
	if err != nil && !errors.Is(err, store.ErrNotFound) || !before.LastAt.Before(recent[len(recent)-1].At) {
		return
	}
	p.Summaries.refresh(ctx, job{req.ChannelID, req.GuildID, p.window(), p.Side})
}

func (p *Provider) window() int {
	if p.Window <= 0 {
		return window
	}
	return p.Window
}

// parent returns the message that is replied to: the door may not have been told it.
func (p *Provider) parent(ctx context.Context, req turn.Request) (*turn.Message, error) {
	if req.Parent != nil || req.Message.ReplyTo == "" {
		return req.Parent, nil
	}
	m, err := p.Store.Message(ctx, req.Message.ReplyTo)
	if errors.Is(err, store.ErrNotFound) || err == nil && m.ChannelID != req.ChannelID {
		return nil, nil // it was deleted, or it is none of this channel's business
	}
	if err != nil {
		return nil, fmt.Errorf("find parent: %w", err)
	}
	parent := message(m, req.Character)
	return &parent, nil
}

// recent returns the channel's last messages before the turn's, newest first, without those that are in it.
// What people wrote after it has a turn of its own. What the bot wrote after it, it wrote while the turn was
// waiting, and should remember; but not an earlier answer to the same message, which is about to be given anew.
func (p *Provider) recent(ctx context.Context, req turn.Request) ([]turn.Message, error) {
	n := p.window()
	for extra := beside; ; extra = ahead {
		stored, err := p.Store.Recent(ctx, req.ChannelID, n+extra)
		if err != nil {
			return nil, fmt.Errorf("read recent messages: %w", err)
		}
		ms := before(req, stored, n)
		if len(ms) == n || len(stored) < n+extra || extra == ahead {
			return ms, nil
		}
	}
}

// before picks the last n of what was stored, newest first.
func before(req turn.Request, stored []store.Message, n int) []turn.Message {
	at := req.Message.At.Truncate(time.Microsecond) // as precise as what is stored
	ms := make([]turn.Message, 0, n)
	for _, m := range slices.Backward(stored) {
		answer := m.Own && !m.OfAnother(req.Character) && m.ReplyTo != "" && m.ReplyTo == req.Message.ID
		later := !m.Own && !at.IsZero() && m.At.After(at)
		if m.ID == req.Message.ID || slices.Contains(req.Burst, m.ID) || answer || later {
			continue
		}
		if ms = append(ms, message(m, req.Character)); len(ms) == n {
			break
		}
	}
	return ms
}

// offer gathers contributions, each message once.
type offer struct {
	contributions []turn.Contribution
	known         map[string]bool // ids
}

func (o *offer) add(m turn.Message, priority int, source string) {
	if m.ID != "" && o.known[m.ID] || strings.TrimSpace(m.Text+m.Note) == "" {
		return
	}
	o.known[m.ID] = true
	m.Text = shorten(m.Text)
	o.contributions = append(o.contributions, turn.Contribution{
		Layer: turn.RecentHistory, Priority: priority, Source: source, Message: &m,
	})
}

// shorten ends a long message at its last sentence that fits, else at a space, and marks it with "…".
func shorten(message string) string {
	if len(message) <= longest || utf8.RuneCountInString(message) <= longest {
		return message
	}
	head, left := 0, longest-2 // room for the mark
	for end := range text.SentenceEnds(message) {
		if left -= utf8.RuneCountInString(message[head:end]); left < 0 {
			break
		}
		head = end
	}
	if head == 0 {
		head = firstWords(message, longest-2)
	}
	return strings.TrimRightFunc(message[:head], unicode.IsSpace) + " …"
}

// firstWords returns how many bytes the first n characters of text have, without a word cut in half if there
// is a space among them.
func firstWords(text string, n int) int {
	for i := range text {
		if n--; n < 0 {
			if space := strings.LastIndexFunc(text[:i], unicode.IsSpace); space > 0 {
				return space
			}
			return i
		}
	}
	return len(text)
}

// message is a stored message as a character sees it: what another one wrote is not its own.
func message(m store.Message, character string) turn.Message {
	other := m.OfAnother(character)
	return turn.Message{
		ID: m.ID, ChannelID: m.ChannelID, Author: turn.Author{ID: m.AuthorID, Name: m.AuthorName, Machine: other},
		Text: m.Text, Note: m.Note, At: m.At, ReplyTo: m.ReplyTo, Own: m.Own && !other,
	}
}
