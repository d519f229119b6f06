package discord

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"familiar/internal/context/turn"
	"familiar/internal/discord/rest"
)

// Discord knows what the bot has posted, also after the bot's own records were lost.

// Replies returns the bot's own replies to a message, oldest first, among the hundred messages that follow it.
func (s *Session) Replies(ctx context.Context, channelID, messageID string) (all []turn.Standing, err error) {
	ctx, cancel := withDeadline(ctx)
	defer cancel()
	self := s.me().user.ID
	if self == "" {
		var u user
		if err := s.rest.Get(ctx, rest.Request{URL: discordgo.EndpointUser("@me"), Rank: rest.Back}, &u); err != nil {
			return nil, fmt.Errorf("look for replies: %w", err)
		}
		self = u.ID
	}
	var page []struct {
		message
		Components []keyRow `json:"components"`
	}
	url := fmt.Sprintf("%s?after=%s&limit=100", discordgo.EndpointChannelMessages(channelID), messageID)
	if err := s.rest.Get(ctx, rest.Request{URL: url, Rank: rest.Back}, &page); err != nil {
		return nil, fmt.Errorf("look for replies: %w", err)
	}
	for i := len(page) - 1; i >= 0; i-- { // newest first
		m := page[i]
		if m.Author == nil || m.Author.ID != self || m.Reference == nil || m.Reference.MessageID != messageID {
			continue
		}
		buttons := 0
		for _, row := range m.Components {
			buttons += len(row.Components)
		}
		all = append(all, turn.Standing{ID: m.ID, Text: m.Content, Buttons: buttons})
	}
	return all, nil
}

// lateAfter is when a post is read after an edit whose fate is unknown: it may take effect after the edits that follow it.
var lateAfter = []time.Duration{3 * time.Second, 7 * time.Second, 20 * time.Second}

// lateEdits are the messages with an edit whose fate is unknown. The zero value is ready.
type lateEdits struct {
	mu     sync.Mutex
	wanted map[string]turn.Edit // the latest edit of each; guarded by mu
}

// follow notes the latest edit of a message, if one before it is still in doubt.
func (l *lateEdits) follow(e turn.Edit) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, doubted := l.wanted[e.ID]; doubted {
		l.wanted[e.ID] = e
	}
}

// doubt notes that the fate of an edit is unknown. It reports whether the message was not in doubt before.
func (l *lateEdits) doubt(e turn.Edit) (first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, doubted := l.wanted[e.ID]; doubted {
		return false
	}
	if l.wanted == nil {
		l.wanted = map[string]turn.Edit{}
	}
	l.wanted[e.ID] = e
	return true
}

// latest returns the latest edit of a message in doubt.
func (l *lateEdits) latest(id string) (e turn.Edit, doubted bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, doubted = l.wanted[id]
	return e, doubted
}

func (l *lateEdits) settle(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.wanted, id)
}

// doubted has the post of an edit read in the background, because nobody knows whether and when the edit takes effect.
func (s *Session) doubted(e turn.Edit) {
	if s.late.doubt(e) && !s.start(func(ctx context.Context) { s.putRight(ctx, e.ID) }) {
		s.late.settle(e.ID)
	}
}

// putRight reads a post a few times, and edits it again if it does not hold what the latest edit says.
func (s *Session) putRight(ctx context.Context, id string) {
	defer s.late.settle(id)
	for _, wait := range lateAfter {
		if rest.Sleep(ctx, wait) != nil {
			return
		}
		e, doubted := s.late.latest(id)
		if !doubted { // it was deleted
			return
		}
		var sent sentMessage
		within, cancel := context.WithTimeout(ctx, requestLimit)
		err := s.rest.Get(within, rest.Request{URL: discordgo.EndpointChannelMessage(e.ChannelID, id), Rank: rest.Back}, &sent)
		if err == nil && !sent.holds(turn.Post{Text: e.Text, Buttons: e.Buttons}) {
			e, _ = s.late.latest(id)
			s.log.Info("an edit took effect late: the post is put right", "channel", e.ChannelID, "message", id)
			if e.Persona != nil {
				_, err = s.editAs(within, e)
			} else {
				err = s.editOwn(within, e)
			}
		}
		cancel()
		if err != nil {
			s.log.Debug("put a post right", "err", err)
		}
	}
}
