package discordtest

import (
	"slices"
	"strings"
	"time"
)

// WaitReply waits for the bot's next message in a channel; each is given once, as it is at that moment.
func (s *Server) WaitReply(channel string, timeout time.Duration) (Message, bool) {
	var found Message
	ok := s.until(timeout, func() bool {
		c := s.find(channel)
		own := 0
		for _, m := range c.messages {
			if !m.Own {
				continue
			}
			if own++; own > c.taken {
				c.taken, found = own, m.Message
				return true
			}
		}
		return false
	})
	return found, ok
}

// WaitText waits until a message of the bot in a channel contains a text, and gives the message.
func (s *Server) WaitText(channel, part string, timeout time.Duration) (Message, bool) {
	var found Message
	ok := s.until(timeout, func() bool {
		messages := s.find(channel).messages
		i := slices.IndexFunc(messages, func(m *message) bool { return m.Own && strings.Contains(m.Text, part) })
		if i >= 0 {
			found = messages[i].Message
		}
		return i >= 0
	})
	return found, ok
}

// Settle waits until the bot has written or edited something in a channel and then nothing for a while, and gives
// its messages there.
func (s *Server) Settle(channel string, quiet, timeout time.Duration) ([]Message, bool) {
	end := time.Now().Add(timeout)
	for {
		var own []Message
		var last time.Time
		s.mu.Lock()
		for _, m := range s.find(channel).messages {
			if m.Own {
				own = append(own, m.Message)
				last = later(last, m.versions[len(m.versions)-1].At)
			}
		}
		s.mu.Unlock()
		rest := quiet
		if !last.IsZero() {
			if rest = quiet - time.Since(last); rest <= 0 {
				return own, true
			}
		}
		if time.Now().After(end) {
			return own, false
		}
		time.Sleep(min(rest, 50*time.Millisecond))
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
