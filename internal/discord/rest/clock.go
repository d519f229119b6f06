package rest

import (
	"log/slog"
	"net/http"
	"sync"
	"time"
)

// MostSkew is how far the machine's clock may be from Discord's. A clock that jumps further is not believed.
const MostSkew = time.Hour

// Clock knows the time from the Date headers of Discord's responses. Between two responses it counts on the monotonic clock, which does not
// jump.
type Clock struct {
	mu    sync.Mutex
	date  time.Time // the latest header; zero: none came yet; guarded by mu, as is all that follows
	at    time.Time // when it came
	wrong bool      // the operator was told that the machine's clock is wrong
	known chan struct{}
}

// learn reads a response's Date. A header that comes from a cache tells an old time.
func (c *Clock) learn(h http.Header, log *slog.Logger) {
	date, err := http.ParseTime(h.Get("Date"))
	if err != nil || h.Get("Age") != "" {
		return
	}
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.date.IsZero() && c.known != nil {
		close(c.known)
	}
	c.date, c.at = date, now
	off := now.Round(0).Sub(date)
	if wrong := off.Abs() > MostSkew; wrong != c.wrong {
		c.wrong = wrong
		if wrong {
			log.Error("the clock of this machine is wrong: what depends on the time follows Discord's clock", "off", off.Round(time.Minute), "discord", date.UTC())
		} else {
			log.Info("the clock of this machine is right again")
		}
	}
}

// Now returns the machine's time, or Discord's if they differ by more than MostSkew.
func (c *Clock) Now() time.Time {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.date.IsZero() {
		return now
	}
	if theirs := c.date.Add(now.Sub(c.at)); now.Round(0).Sub(theirs).Abs() > MostSkew {
		return theirs
	}
	return now
}

// Known returns a channel that is closed when Discord has told the time.
func (c *Clock) Known() <-chan struct{} { return c.known }
