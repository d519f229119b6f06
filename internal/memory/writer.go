package memory

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/evidence"
	"familiar/internal/llm"
	"familiar/internal/store"
)

// Writer reads the channels in which the bot took part and keeps what is worth remembering. That is events, topics and, with their consent,
// people.
//
// Code finds the sentences that may be remembered, and a side model chooses among them by their numbers. A sentence is kept as it was
// written, and deleted with its message. What is passed over and refused is counted; see [store.Tallies]. A transaction saves the
// sentences together with the watermark, so that no message is read twice or skipped. If the model fails, the watermark does not move.
//
// The model sees only what people wrote in their own words. The bot's messages are left out because they may repeat web pages. So are
// quotations, code and addresses. This keeps the web out of memory.
//
// Its fields are set before Run and not changed after.
type Writer struct {
	Memories *Store
	Side     func() *llm.Client  // returns the model that proposes, or nil; the model may change
	Redact   func(string) string // removes secrets from requests to the model and from its answers
	Log      *slog.Logger
	PerHour  int           // requests to the model
	Idle     time.Duration // how long a channel must be silent before it is read; 0: half an hour
	// Allows reports whether the side model may be asked for a channel today; nil: always. Count records the tokens used; nil: nothing does.
	Allows func(ctx context.Context, channelID, guildID string) bool
	Count  func(ctx context.Context, channelID, guildID string, u turn.Usage)
}

const (
	every      = time.Minute      // between two rounds
	dueTurns   = 50               // turns after which a channel is read
	dueIdle    = 30 * time.Minute // silence after which a channel is read
	askLimit   = 60 * time.Second
	storeLimit = 10 * time.Second

	maxRead       = 150      // messages of a batch
	maxReadBytes  = 20 << 10 // text of a batch
	maxReadLength = 4000     // characters of a message

	firstRetry, maxRetry = 5 * time.Minute, 6 * time.Hour // delay after a failure; it doubles with each one
	quotaName            = "memory_writer"
)

// Run reads the channels that are due until ctx is done, one channel at a time.
func (w *Writer) Run(ctx context.Context) {
	ticks := time.NewTicker(min(every, w.idle()))
	defer ticks.Stop()
	for {
		if err := w.round(ctx); err != nil && ctx.Err() == nil {
			w.Log.Error("write memory", "err", w.Redact(err.Error()))
		}
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
	}
}

var (
	errQuota = errors.New("hourly quota of the memory writer is used up")
	errSpent = errors.New("daily quota of the channel is used up")
)

// round reads each channel that is due.
func (w *Writer) round(ctx context.Context) error {
	all, err := w.Memories.Watermarks(ctx)
	if err != nil {
		return err
	}
	for _, mark := range all {
		due, err := w.due(ctx, mark)
		if err != nil {
			return err
		}
		for more := due; more && ctx.Err() == nil; {
			if more, err = w.read(ctx, &mark); errors.Is(err, errQuota) {
				return nil
			} else if errors.Is(err, errSpent) {
				break
			} else if err != nil {
				w.putOff(ctx, mark, err)
				break
			}
		}
	}
	return nil
}

// due reports whether a channel should be read: after a number of turns, or after a silence.
func (w *Writer) due(ctx context.Context, mark Watermark) (bool, error) {
	now := time.Now()
	if now.Before(mark.Retry) {
		return false, nil
	}
	if mark.Turns >= dueTurns {
		return true, nil
	}
	last, err := w.Memories.DB.Messages.Recent(ctx, mark.ChannelID, 1)
	if err != nil {
		return false, err
	}
	active := mark.Active
	if len(last) > 0 && last[0].At.After(active) {
		active = last[0].At
	}
	return now.Sub(active) >= w.idle(), nil
}

func (w *Writer) idle() time.Duration { return cmp.Or(w.Idle, dueIdle) }

// putOff postpones a channel after a failure. A watermark that moved meanwhile, and a stop of the program, are not failures.
func (w *Writer) putOff(ctx context.Context, mark Watermark, err error) {
	if ctx.Err() != nil || errors.Is(err, store.ErrChanged) {
		return
	}
	delay := maxRetry
	if mark.Failures < 8 {
		delay = min(delay, firstRetry<<mark.Failures)
	}
	w.Log.Warn("writing memory failed, will retry", "channel", mark.ChannelID, "in", delay, "err", w.Redact(err.Error()))
	err = errors.Join(w.Memories.PutOff(ctx, mark, time.Now().Add(delay)), w.Memories.DB.Tallies.Add(ctx, map[string]int{"memory failed": 1}))
	if err != nil && ctx.Err() == nil {
		w.Log.Error("postpone writing memory", "err", err)
	}
}

// read reads a batch of messages after a watermark and moves the watermark. It reports whether there are more.
func (w *Writer) read(ctx context.Context, mark *Watermark) (more bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	all, err := w.Memories.Unread(ctx, *mark, maxRead+1)
	if err != nil {
		return false, err
	}
	if len(all) == 0 {
		return false, w.Memories.MarkRead(ctx, *mark)
	}
	b := batch{scope: ScopeOf(mark.GuildID, mark.ChannelID), counts: map[string]int{}}
	n := b.fill(all[:min(len(all), maxRead)], w.Redact)
	more = n < len(all)
	names, err := w.Memories.DB.People.Names(ctx, mark.GuildID)
	if err != nil {
		return false, err
	}
	if b.choose(names); len(b.choices) > 0 {
		if err := w.ask(ctx, &b); err != nil {
			return false, err
		}
	}
	if err := w.Memories.Learn(ctx, *mark, all[n-1], more, b.lessons, b.counts); err != nil {
		return false, err
	}
	w.Log.Info("read messages for memory", "channel", mark.ChannelID, "messages", n, "proposed", b.proposed, "supported", len(b.lessons), "counts", b.counts)
	mark.At, mark.MessageID = all[n-1].At, all[n-1].ID
	mark.Turns, mark.Failures = 1, 0 // if there are more, Save left one turn
	return more, nil
}

// scopeFilter admits the memories of a scope and of the wider ones.
func scopeFilter(s Scope) ScopeFilter {
	if s.Kind == ScopeDM {
		return FilterDM(s.ID)
	}
	return FilterGuild(s.GuildID, []string{s.ID})
}

// batch is the messages of one request to the model, with its result.
type batch struct {
	scope    Scope
	stored   map[string]store.Message // the messages as stored, by id
	shown    []turn.Message           // the messages of people, reduced to their own words
	agreed   map[string]bool          // by author: whether they agreed to be remembered
	choices  []choice                 // their sentences that may be remembered
	known    []Statement              // older statements that a proposal may replace
	proposed int
	lessons  []Lesson
	counts   map[string]int
}

// fill takes as many messages as fit, at least one, and returns how many it took.
func (b *batch) fill(all []store.Message, redact func(string) string) int {
	b.stored = map[string]store.Message{}
	size := 0
	for i, m := range all {
		words := ""
		if !m.Own {
			words = redact(evidence.OwnWords(m.Text, maxReadLength))
		}
		if size += len(words); size > maxReadBytes && i > 0 {
			return i
		}
		if words != "" {
			b.stored[m.ID] = m
			b.shown = append(b.shown, turn.Message{ID: m.ID, Author: turn.Author{ID: m.AuthorID, Name: m.AuthorName}, Text: words, At: m.At})
		}
	}
	return len(all)
}
