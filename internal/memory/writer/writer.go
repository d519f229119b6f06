// Package writer reads on in the channels where the bot took part, and writes down what to remember: what happened, what is known of
// topics and, of those who agreed, of people. It is the only way in which the bot learns by itself.
//
// A side model proposes, and code decides (check.go): each statement must be borne out by one message, of those that were shown, by
// itself, so that it goes when that message does. What fails is dropped and counted ([store.DB.Tallies]). Statements and watermark are
// written together, so that nothing is read twice and nothing is passed over; where the model fails, the watermark stays.
//
// The model is shown what people wrote in words of their own. What the bot said is left out, since it may be the words of web pages,
// and so are quotations, code and addresses (package attest). So nothing of the web becomes memory.
package writer

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"familiar/internal/llm"
	"familiar/internal/memory/attest"
	"familiar/internal/store"
)

// Writer is set before Run and not changed after.
type Writer struct {
	Store   *store.DB
	Side    func() *llm.Client  // the model that proposes; what it returns may change
	Redact  func(string) string // takes secrets out of what the model is shown, and of what it says
	Log     *slog.Logger
	PerHour int           // requests to the model
	Idle    time.Duration // after which a channel in which nobody writes is read; 0: half an hour
	// Allows reports whether the side model may be asked for a channel today, and Count counts what that used; nil: it always may.
	Allows func(ctx context.Context, channelID, guildID string) bool
	Count  func(ctx context.Context, channelID, guildID string, u llm.Usage)
}

const (
	every      = time.Minute      // is looked for what is due
	dueTurns   = 50               // since a channel was read last
	dueIdle    = 30 * time.Minute // since anything was written there
	askLimit   = 60 * time.Second
	storeLimit = 10 * time.Second

	mostRead      = 150 // messages that are read at once
	mostReadBytes = 20 << 10
	longestRead   = 600 // characters of a message

	firstRest, longestRest = 5 * time.Minute, 6 * time.Hour // after a failure; it doubles
	quotaName              = "memory_writer"
)

// Run reads what is due until ctx is done, one channel at a time.
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
	errQuota = errors.New("enough for this hour")
	errSpent = errors.New("enough for this channel and today")
)

// round reads what is due.
func (w *Writer) round(ctx context.Context) error {
	all, err := w.Store.Watermarks(ctx)
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

// due reports whether a channel is to be read: after so many turns, or when nobody has written there for a while.
func (w *Writer) due(ctx context.Context, mark store.Watermark) (bool, error) {
	now := time.Now()
	if now.Before(mark.Retry) {
		return false, nil
	}
	if mark.Turns >= dueTurns {
		return true, nil
	}
	last, err := w.Store.Recent(ctx, mark.ChannelID, 1)
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

// putOff notes a failure. That somebody else moved the watermark, and that the program stops, are none.
func (w *Writer) putOff(ctx context.Context, mark store.Watermark, err error) {
	if ctx.Err() != nil || errors.Is(err, store.ErrChanged) {
		return
	}
	rest := longestRest
	if mark.Failures < 8 {
		rest = min(rest, firstRest<<mark.Failures)
	}
	w.Log.Warn("memory could not be written: it is tried again", "channel", mark.ChannelID, "in", rest, "err", w.Redact(err.Error()))
	err = errors.Join(w.Store.LearnLater(ctx, mark, time.Now().Add(rest)), w.Store.Tally(ctx, map[string]int{"memory failed": 1}))
	if err != nil && ctx.Err() == nil {
		w.Log.Error("put off writing memory", "err", err)
	}
}

// read reads some messages behind a watermark and moves it. It reports whether there are more.
func (w *Writer) read(ctx context.Context, mark *store.Watermark) (more bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	all, err := w.Store.After(ctx, *mark, mostRead+1)
	if err != nil {
		return false, err
	}
	if len(all) == 0 {
		return false, w.Store.Settled(ctx, *mark)
	}
	s := session{scope: scopeOf(*mark), counts: map[string]int{}}
	n := s.show(all[:min(len(all), mostRead)], w.Redact)
	more = n < len(all)
	if len(s.shown) > 0 {
		if err := w.ask(ctx, &s); err != nil {
			return false, err
		}
	}
	if err := w.Store.Learn(ctx, *mark, all[n-1], more, s.lessons, s.counts); err != nil {
		return false, err
	}
	w.Log.Info("read on for memory", "channel", mark.ChannelID, "messages", n, "proposed", s.proposed, "borne out", len(s.lessons), "counts", s.counts)
	mark.At, mark.MessageID = all[n-1].At, all[n-1].ID
	mark.Turns, mark.Failures = 1, 0 // if there are more, Learn has left one
	return more, nil
}

// scopeOf is that of what is said in a channel.
func scopeOf(mark store.Watermark) store.Scope {
	if mark.GuildID == "" {
		return store.Scope{Kind: store.ScopeDM, ID: mark.ChannelID}
	}
	return store.Scope{Kind: store.ScopeChannel, ID: mark.ChannelID, GuildID: mark.GuildID}
}

// within reads what is in a scope, and what holds beyond it.
func within(s store.Scope) store.Within {
	if s.Kind == store.ScopeDM {
		return store.WithinDM(s.ID)
	}
	return store.WithinGuild(s.GuildID, []string{s.ID})
}

// session is the messages that are read at once, and what comes of them.
type session struct {
	scope    store.Scope
	stored   map[string]store.Message // as they are in the store, by id
	shown    []store.Message          // those of people, in their own words
	agreed   map[string]bool          // the ids of those of them who agreed to be remembered
	known    []store.Memory           // statements of before that may be replaced
	proposed int
	lessons  []store.Lesson
	counts   map[string]int
}

// show takes messages up to what may be read at once, and returns how many those are: one at least.
func (s *session) show(all []store.Message, redact func(string) string) int {
	s.stored = map[string]store.Message{}
	size := 0
	for i, m := range all {
		words := ""
		if !m.Own {
			words = redact(attest.Words(m, longestRead))
		}
		if size += len(words); size > mostReadBytes && i > 0 {
			return i
		}
		if words != "" {
			s.stored[m.ID] = m
			m.Text = words
			s.shown = append(s.shown, m)
		}
	}
	return len(all)
}
