package discordtest

import "time"

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

// bump wakes everybody who waits for a change. Its caller holds mu.
func (s *Server) bump() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// until waits for a condition, which is looked at under mu, and reports whether it came true in time.
func (s *Server) until(timeout time.Duration, ok func() bool) bool {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	for {
		s.mu.Lock()
		done, changed := ok(), s.changed
		s.mu.Unlock()
		if done {
			return true
		}
		select {
		case <-changed:
		case <-timer.C:
			return false
		}
	}
}
