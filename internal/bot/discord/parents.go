package discord

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"familiar/internal/context/turn"
)

// parents asks Discord for channels that the gateway did not announce, such as a thread that was archived when the session began.
// Its zero value is ready.
type parents struct {
	mu        sync.Mutex
	inquiries map[string]*inquiry // by channel; guarded by mu
	busy      int                 // requests under way; guarded by mu
}

// inquiry is one channel that is being asked for, or was in vain.
type inquiry struct {
	done     chan struct{} // closed when the request has ended; nil: none is under way
	failures int           // in a row
	again    time.Time     // when it may be asked for again
}

const (
	maxInquiries  = 64               // channels asked for at once
	inquiryMemory = 10_000           // channels that were asked for in vain
	firstInquiry  = 2 * time.Second  // after a failure, before the channel is asked for again; doubles
	lastInquiry   = 10 * time.Minute // the longest such wait
)

// place says which channel an event's thread hangs on. Where that cannot be told it says so, and has the channel asked for.
func (s *Session) place(e *turn.Event) {
	if e.ParentID != "" || e.GuildID == "" || e.Message.ChannelID == "" || e.Kind == turn.Gone || e.Kind == turn.Deleted {
		return
	}
	c, ok := s.names.channel(e.Message.ChannelID)
	switch {
	case !ok:
		e.ParentUnknown = true
		s.ask(e.Message.ChannelID)
	case c.thread():
		e.ParentID = c.ParentID
		if e.Message.ID == c.ID && s.names.holdsPosts(c.ParentID) {
			e.Title = c.Name
		}
	}
}

// Parent returns the channel that a thread hangs on, or "" for a channel that is no thread. Of a channel that is not known it asks
// Discord, unless it did so in vain a moment ago, and waits for the answer until ctx is done. known is false where it has none.
func (s *Session) Parent(ctx context.Context, channelID string) (parentID string, known bool) {
	if c, ok := s.names.channel(channelID); ok {
		return c.above(), true
	}
	done := s.ask(channelID)
	if done == nil {
		return "", false
	}
	select {
	case <-done:
	case <-ctx.Done():
		return "", false
	}
	c, ok := s.names.channel(channelID)
	return c.above(), ok
}

// above returns the channel that a thread hangs on, or "" if it is none.
func (c channel) above() string {
	if c.thread() {
		return c.ParentID
	}
	return ""
}

// ask asks for a channel in the background, if nobody does. It returns what is closed when the answer is there, or nil if the
// channel is not asked for now: too many are, it was in vain a moment ago, or Run has ended.
func (s *Session) ask(channelID string) <-chan struct{} {
	p := &s.parents
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.inquiries == nil || len(p.inquiries) > inquiryMemory {
		p.inquiries = map[string]*inquiry{}
	}
	q := p.inquiries[channelID]
	if q == nil {
		q = &inquiry{}
	}
	if q.done != nil {
		return q.done
	}
	if p.busy >= maxInquiries || time.Now().Before(q.again) {
		return nil
	}
	done := make(chan struct{})
	if !s.start(func(ctx context.Context) { s.inquire(ctx, channelID, q, done) }) {
		return nil
	}
	q.done, p.inquiries[channelID] = done, q
	p.busy++
	return done
}

// inquire asks for a channel and puts it into the directory.
func (s *Session) inquire(ctx context.Context, channelID string, q *inquiry, done chan struct{}) {
	defer s.logPanic("ask for a channel")
	err := s.fetchChannel(ctx, channelID)
	p := &s.parents
	p.mu.Lock()
	defer p.mu.Unlock()
	defer close(done)
	p.busy--
	q.done = nil
	if err == nil {
		delete(p.inquiries, channelID)
		return
	}
	q.failures++
	q.again = time.Now().Add(backoff(firstInquiry, lastInquiry, q.failures))
	if ctx.Err() == nil {
		s.log.Warn("channel is unknown", "channel", channelID, "err", err)
	}
}

// fetchChannel asks for a channel once and puts it into the directory.
func (s *Session) fetchChannel(ctx context.Context, channelID string) error {
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	body, err := s.call(ctx, request{method: http.MethodGet, url: discordgo.EndpointChannel(channelID), rank: rankBack})
	if err != nil {
		return err
	}
	var c channel
	if err = decode(body, &c); err != nil {
		return fmt.Errorf("read channel: %w", err)
	}
	if c.ID != channelID || !s.names.setChannel(c) {
		return errors.New("the answer is not a channel of a server that the bot is in")
	}
	return nil
}
