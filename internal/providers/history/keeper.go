package history

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/flight"
	"familiar/internal/llm"
	"familiar/internal/store"
)

const (
	summaryLimit = 12 * time.Second // for one summary, its model's answer included
	mostAtOnce   = 2                // summaries that are made at a time
	restAfter    = 5 * time.Minute  // in a channel whose summary could not be made
	mostResting  = 1000             // channels of which that is remembered
)

// Summaries makes the summaries of channels, beside the turns: a turn uses the one that is there and asks for another, for those to come.
// Its exported fields are set before first use and not changed after. Close ends it.
type Summaries struct {
	Store  *store.DB
	Redact func(string) string // takes secrets out of what a model is shown and of what it says
	Log    *slog.Logger
	// Readable returns the names of those of some channels of a server that a person may read at this moment and, where an audience is
	// named, all who read that channel. nil: nothing is told of other channels.
	Readable func(ctx context.Context, guildID string, who turn.Reader, audience string, channels ...string) map[string]string
	// Allows reports whether the side model may be asked for a channel today, and Count counts what that used; nil: it always may.
	Allows func(ctx context.Context, channelID, guildID string) bool
	Count  func(ctx context.Context, channelID, guildID string, u llm.Usage)

	once   sync.Once
	making *flight.Group[string, struct{}]

	mu      sync.Mutex
	running int                  // guarded by mu
	resting map[string]time.Time // by channel: until when none is made; guarded by mu
}

// errSpent says that the side model may not be asked any more today.
var errSpent = errors.New("a quota is used up")

// errBusy says that enough summaries are being made.
var errBusy = errors.New("busy")

// job is a summary to be made.
type job struct {
	channelID, guildID string
	window             int
	side               *llm.Client // nil: the messages that tell most are the summary
}

// refresh begins to make a summary unless one is being made. It does not wait.
func (s *Summaries) refresh(ctx context.Context, j job) {
	deliver := func(struct{}) {}
	// Nobody leaves: the work goes on when the turn is over, and Close waits for it.
	_, _ = s.group().Join(context.WithoutCancel(ctx), j.channelID, deliver, func() (func(context.Context) struct{}, error) {
		if !s.begin(j.channelID) {
			return nil, errBusy
		}
		return func(ctx context.Context) struct{} {
			defer s.end()
			s.make(ctx, j)
			return struct{}{}
		}, nil
	})
}

func (s *Summaries) group() *flight.Group[string, struct{}] {
	s.once.Do(func() { s.making = &flight.Group[string, struct{}]{Timeout: summaryLimit} })
	return s.making
}

// begin takes a place, and reports whether there is one and the channel does not rest.
func (s *Summaries) begin(channelID string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running >= mostAtOnce || time.Now().Before(s.resting[channelID]) {
		return false
	}
	s.running++
	return true
}

func (s *Summaries) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running--
}

// rest lets a channel alone for a while.
func (s *Summaries) rest(channelID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.resting == nil || len(s.resting) >= mostResting {
		s.resting = map[string]time.Time{}
	}
	s.resting[channelID] = time.Now().Add(restAfter)
}

// Close ends what is being made and waits for it.
func (s *Summaries) Close() { s.group().Close() }

// make makes the summary of a channel. What comes of it is in the store, in the counts and in the log.
func (s *Summaries) make(ctx context.Context, j job) {
	d, err := s.read(ctx, j)
	if err != nil || d == nil {
		s.failed(ctx, j, err)
		return
	}
	counts := map[string]int{}
	if j.side != nil {
		err = s.ask(ctx, j, d, counts)
	}
	if j.side == nil || err != nil && d.before.Made.IsZero() {
		d.extract()
	}
	if failed := s.save(ctx, j, d); err == nil {
		err = failed
	}
	if err != nil && !errors.Is(err, errSpent) {
		counts["summary failed"]++
	}
	s.failed(ctx, j, err)
	s.Log.Debug("summary of a channel", "channel", j.channelID, "by", d.by, "messages", len(d.messages), "counts", counts)
	if err := s.Store.Tally(context.WithoutCancel(ctx), counts); err != nil {
		s.Log.Error("count what became of a summary", "err", err)
	}
}

// failed notes that a summary could not be made. That messages have changed meanwhile is no fault.
func (s *Summaries) failed(ctx context.Context, j job, err error) {
	if err == nil || errors.Is(err, store.ErrChanged) {
		return
	}
	s.rest(j.channelID)
	if !errors.Is(err, errSpent) && !errors.Is(context.Cause(ctx), context.Canceled) {
		s.Log.Warn("a summary could not be made", "channel", j.channelID, "err", s.Redact(err.Error()))
	}
}
