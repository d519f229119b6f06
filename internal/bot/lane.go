package bot

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"familiar/internal/context/turn"
)

const (
	laneLength  = 8                      // turns that may wait in a channel
	burstWindow = 600 * time.Millisecond // within which an author's next message belongs to the turn
	stuckAfter  = 8 * time.Second        // without a word of a turn's reply, until those who wait behind it are told
)

var (
	errJoined  = errors.New("a further message joined the turn")
	errStopped = errors.New("a person stopped the answer")
	errEdited  = errors.New("the question was edited")
)

// startsOver reports whether an attempt at a turn ended because another attempt follows.
func startsOver(cause error) bool { return errors.Is(cause, errJoined) || errors.Is(cause, errEdited) }

// withdrawal is why a turn ends at once, without an answer.
type withdrawal string

const (
	errDeleted   withdrawal = "the question was deleted"
	errGone      withdrawal = "the channel is gone, or the bot was removed from the server"
	errPaused    withdrawal = "the bot was paused"
	errElsewhere withdrawal = "another process answers here now"
	errRefused   withdrawal = "the reply was deleted, or may not be written any more"
)

func (w withdrawal) Error() string { return string(w) }

// lanes gives each channel a lane while there is work in it.
type lanes struct {
	mu      sync.Mutex
	open    map[string]*lane // by channel; guarded by mu
	running sync.WaitGroup
}

// lane is one channel's queue. Its arrivals are handled one by one, in order. Lanes don't wait for each other.
type lane struct {
	mu      sync.Mutex
	waiting []arrival   // guarded by mu
	active  *activeTurn // nil between turns; guarded by mu
	close   func() bool
}

// activeTurn is the turn that a lane is busy with. Its fields are guarded by lane.mu.
type activeTurn struct {
	id        string // the turn's
	began     time.Time
	words     bool // its reply has begun
	author    string
	character string
	batch     []arrival               // what it answers
	visible   bool                    // part of the reply has been posted: it is too late to start over
	complete  bool                    // the reply has its last words
	joined    []arrival               // arrived since the attempt began
	edited    bool                    // the question was edited since the attempt began
	cancel    context.CancelCauseFunc // ends the attempt; nil before the first
	withdrawn error                   // a withdrawal that came before the first attempt
	over      chan struct{}           // closed when the turn is over and recorded
}

// put hands arrivals of one channel to its lane, which it returns. If there is no lane, it opens one with drive, with all arrivals in it. skipped
// are the arrivals that lost their turn.
func (ls *lanes) put(drive func(*lane), all ...arrival) (l *lane, skipped []arrival) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	channelID := all[0].Message.ChannelID
	l = ls.open[channelID]
	isNew := l == nil
	if isNew {
		l = &lane{}
		l.close = func() bool { return ls.close(channelID, l) }
	}
	for _, a := range all {
		if lost := l.put(a); lost != nil {
			skipped = append(skipped, *lost)
		}
	}
	if isNew {
		if ls.open == nil {
			ls.open = make(map[string]*lane)
		}
		ls.open[channelID] = l
		ls.running.Go(func() { drive(l) })
	}
	return l, skipped
}

// revise gives a message its new text in the lanes. If it is being answered, the answer starts over if again allows it. again is told
// whether part of the answer is visible. revise returns the characters that have a turn for the message.
func (ls *lanes) revise(m turn.Message, again func(visible bool) bool) (characters []string) {
	write := func(all []arrival) {
		for i := range all {
			if all[i].Message.ID == m.ID {
				all[i].Message.Text, all[i].Message.Mentions = m.Text, m.Mentions
			}
		}
	}
	ls.each(func(l *lane) {
		write(l.waiting)
		for _, a := range l.waiting {
			if a.Message.ID == m.ID && a.addressed {
				characters = append(characters, a.character)
			}
		}
		t := l.active
		if t == nil || t.complete || t.withdrawn != nil || !t.holds(m.ID) {
			return
		}
		characters = append(characters, t.batch[0].character)
		if t.cancel == nil || again(t.visible) {
			write(t.batch)
			write(t.joined)
			t.startOver()
		}
	})
	return characters
}

// each calls f with every lane, under its lock.
func (ls *lanes) each(f func(*lane)) {
	ls.mu.Lock()
	all := slices.Collect(maps.Values(ls.open))
	ls.mu.Unlock()
	for _, l := range all {
		l.mu.Lock()
		f(l)
		l.mu.Unlock()
	}
}

// differs reports whether a message is in a lane with another text.
func (ls *lanes) differs(m turn.Message) (differs bool) {
	ls.each(func(l *lane) {
		all := l.waiting
		if l.active != nil {
			all = slices.Concat(all, l.active.batch, l.active.joined)
		}
		differs = differs || slices.ContainsFunc(all, func(a arrival) bool { return a.Message.ID == m.ID && a.Message.Text != m.Text })
	})
	return differs
}

// withdraw takes matching events out of the lanes, and returns those that asked for a turn. A turn that answers a matching event is
// cancelled, unless cause is nil.
func (ls *lanes) withdraw(cause error, match func(turn.Event) bool) (dropped []arrival) {
	matches := func(a arrival) bool { return match(a.Event) }
	ls.each(func(l *lane) {
		l.waiting = slices.DeleteFunc(l.waiting, func(a arrival) bool {
			if matches(a) && a.addressed {
				dropped = append(dropped, a)
			}
			return matches(a)
		})
		if t := l.active; t != nil && cause != nil && slices.ContainsFunc(slices.Concat(t.batch, t.joined), matches) {
			t.end(cause)
		}
	})
	return dropped
}

// close removes a lane without arrivals, and reports whether it did.
func (ls *lanes) close(channelID string, l *lane) bool {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) > 0 {
		return false
	}
	delete(ls.open, channelID)
	return true
}

// Stop ends the answer that is being given in a channel. What is posted stays. With a turnID it ends only that turn, and only while its
// reply is unfinished. Stop reports whether it ended an answer.
func (b *Bot) Stop(channelID, turnID string) (stopped bool) {
	b.lanes.present(channelID, func(t *activeTurn) {
		if stopped = t.cancel != nil && (turnID == "" || t.id == turnID && !t.complete); stopped {
			t.cancel(errStopped)
		}
	})
	return stopped
}

// streams reports whether a turn is being taken in a channel and its reply is unfinished.
func (ls *lanes) streams(channelID, turnID string) (streams bool) {
	ls.present(channelID, func(t *activeTurn) { streams = t.id == turnID && !t.complete })
	return streams
}

// busy reports whether a turn is being taken in a channel.
func (ls *lanes) busy(channelID string) (busy bool) {
	ls.present(channelID, func(*activeTurn) { busy = true })
	return busy
}

// completed notes that the reply is finished.
func (l *lane) completed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.active != nil {
		l.active.complete = true
	}
}

// hasFrom reports whether a message of this author waits in the lane.
func (l *lane) hasFrom(author string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.waiting, func(a arrival) bool { return a.Kind == turn.Created && a.Message.Author.ID == author })
}

// settleTime is how long a reader of a record waits for the turn to complete it.
const settleTime = time.Second

// Settle waits a moment for the turn that is being taken in a channel to complete its record.
func (b *Bot) Settle(channelID string) {
	var over <-chan struct{}
	b.lanes.present(channelID, func(t *activeTurn) { over = t.over })
	if over == nil {
		return
	}
	select {
	case <-over:
	case <-time.After(settleTime):
	}
}

// turns returns a channel for each present turn that answers a matching event. It is closed when the turn is over. ids are those of the turns
// and their claims.
func (ls *lanes) turns(match func(turn.Event) bool) (all []<-chan struct{}, ids []string) {
	ls.each(func(l *lane) {
		t := l.active
		if t == nil || !slices.ContainsFunc(t.batch, func(a arrival) bool { return match(a.Event) }) {
			return
		}
		all, ids = append(all, t.over), append(ids, t.id)
		for _, a := range slices.Concat(t.batch, t.joined) {
			ids = append(ids, a.claim())
		}
	})
	return all, ids
}

// present calls f with the turn that is being taken in a channel, if there is one. It does so under the lane's lock.
func (ls *lanes) present(channelID string, f func(*activeTurn)) {
	ls.mu.Lock()
	l := ls.open[channelID]
	ls.mu.Unlock()
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.active != nil {
		f(l.active)
	}
}

// put returns the arrival that lost its turn, if one did.
func (l *lane) put(a arrival) (skipped *arrival) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := l.active; t != nil && t.accepts(a) {
		t.joined = append(t.joined, a)
		if t.cancel != nil {
			t.cancel(errJoined)
		}
		return nil
	}
	l.waiting = append(l.waiting, a)
	if a.addressed {
		return l.dropNewest()
	}
	return nil
}

// unseen returns the arrivals that ask for a turn with a message, while nothing of an answer is visible.
func (ls *lanes) unseen(id string) (all []arrival) {
	ls.each(func(l *lane) {
		for _, a := range l.pending(id) {
			if a.addressed {
				all = append(all, *a)
			}
		}
	})
	return all
}

// rewrite replaces an original by the message that a proxy wrote. An answer under way starts over. It reports whether it replaced anything.
func (ls *lanes) rewrite(e turn.Event) (done bool) {
	ls.each(func(l *lane) {
		all := l.pending(e.Original)
		for _, a := range all {
			*a = a.rewritten(e)
		}
		if t := l.active; t != nil && t.holds(e.Message.ID) {
			t.startOver()
		}
		done = done || len(all) > 0
	})
	return done
}

// pending returns the arrivals with a message, while nothing of an answer is visible. Its caller holds mu.
func (l *lane) pending(id string) (found []*arrival) {
	add := func(all []arrival) {
		for i := range all {
			if all[i].Message.ID == id {
				found = append(found, &all[i])
			}
		}
	}
	add(l.waiting)
	if t := l.active; t != nil && !t.visible && t.withdrawn == nil {
		add(t.batch)
		add(t.joined)
	}
	return found
}

// rewritten returns the arrival with the message that a proxy wrote. It stays in the thread that was opened for it.
func (a arrival) rewritten(e turn.Event) arrival {
	channel, parent := a.Message.ChannelID, a.ParentID
	a.Event = e
	a.Message.ChannelID, a.ParentID = channel, parent
	return a
}

// resolve changes the arrival that the present turn answers, before the first attempt.
func (l *lane) resolve(change func(*arrival)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(&l.active.batch[0])
}

// abort ends the present turn.
func (l *lane) abort(cause error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.active != nil {
		l.active.end(cause)
	}
}

// end ends the turn. Arrivals that joined it are lost.
func (t *activeTurn) end(cause error) {
	t.joined, t.edited, t.visible = nil, false, true
	if t.withdrawn = cause; t.cancel != nil {
		t.cancel(cause)
	}
}

// startOver ends the attempt at the turn, because the question was edited. Another attempt follows.
func (t *activeTurn) startOver() {
	if t.cancel != nil {
		t.edited = true
		t.cancel(errEdited)
	}
}

// holds reports whether the turn answers a message.
func (t *activeTurn) holds(messageID string) bool {
	return slices.ContainsFunc(slices.Concat(t.batch, t.joined), func(a arrival) bool { return a.Message.ID == messageID })
}

// accepts reports whether an arrival belongs to the present turn, because its author goes on writing.
func (t *activeTurn) accepts(a arrival) bool {
	return !t.visible && a.Kind == turn.Created && !a.asksOther(t.character) && a.Message.Author.ID == t.author && t.batch[0].sameBurst(a)
}

// dropNewest takes the turn from the newest waiting arrival if too many wait, and returns it. Those who came first are answered first. The
// message stays as history. A turn that an earlier process began is never dropped: part of its answer may be posted.
func (l *lane) dropNewest() *arrival {
	newest, n := -1, 0
	for i := range l.waiting {
		if l.waiting[i].addressed && l.waiting[i].turnID == "" {
			n, newest = n+1, i
		}
	}
	if n <= laneLength {
		return nil
	}
	skipped := l.waiting[newest]
	l.waiting[newest].addressed = false
	return &skipped
}

// next takes the arrivals that belong together out of the queue. They are one arrival, or one author's burst that an addressed message
// begins. Further messages of that author join the turn until end or release.
func (l *lane) next() []arrival {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) == 0 {
		return nil
	}
	n, first := 1, l.waiting[0]
	if first.addressed && first.Kind == turn.Created {
		for n < len(l.waiting) && first.goesOn(l.waiting[n]) {
			n++
		}
		l.active = &activeTurn{author: first.Message.Author.ID, character: first.character, visible: first.turnID != "", over: make(chan struct{})}
	} else if first.addressed { // an edit asked for the turn: there is no burst to wait for
		l.active = &activeTurn{visible: true, over: make(chan struct{})}
	}
	batch := slices.Clone(l.waiting[:n])
	if l.active != nil {
		l.active.batch, l.active.began = slices.Clone(batch), time.Now()
	}
	l.waiting = append(l.waiting[:0], l.waiting[n:]...)
	return batch
}

// asksOther reports whether an arrival asks another character for a turn.
func (a arrival) asksOther(character string) bool { return a.addressed && a.character != character }

// goesOn reports whether the next arrival belongs to the same turn.
func (a arrival) goesOn(next arrival) bool {
	if a.turnID != "" || next.turnID != "" { // an earlier process decided that
		return a.turnID == next.turnID
	}
	return !next.asksOther(a.character) && next.Kind == turn.Created && next.Message.Author.ID == a.Message.Author.ID && a.sameBurst(next)
}

// sameBurst reports whether the next arrival follows at once. Events that arrive together after a gap in the connection may have been
// written far apart, so both times count.
func (a arrival) sameBurst(next arrival) bool {
	return next.at.Sub(a.at) <= burstWindow && next.Message.At.Sub(a.Message.At) <= burstWindow
}

// begin starts an attempt at the turn and returns what it answers. cancel ends the attempt when the author writes more or edits the message,
// or a person stops it.
func (l *lane) begin(id string, cancel context.CancelCauseFunc) []arrival {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.active
	t.batch = append(t.batch, t.joined...)
	t.id, t.complete, t.joined, t.edited, t.cancel = id, false, nil, false, cancel
	if t.withdrawn != nil {
		cancel(t.withdrawn)
	}
	return slices.Clone(t.batch)
}

// skip takes the first n arrivals out of the present turn, before the first attempt. It reports whether any of the rest asks for a turn.
func (l *lane) skip(n int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.active
	for n < len(t.batch) && !t.batch[n].addressed {
		n++
	}
	t.batch = t.batch[n:]
	return len(t.batch) > 0
}

// show reports whether the reply may be posted. If so, nothing joins the turn any more.
func (l *lane) show() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.active.joined) > 0 || l.active.edited {
		return false
	}
	l.active.visible, l.active.words = true, true
	return true
}

// stuck returns the messages that wait behind a turn without a word for stuckAfter, each once.
func (l *lane) stuck() (behind []turn.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.active == nil || l.active.words || time.Since(l.active.began) < stuckAfter {
		return nil
	}
	for i := range l.waiting {
		if a := &l.waiting[i]; a.addressed && !a.knows {
			a.knows, behind = true, append(behind, a.Event)
		}
	}
	return behind
}

// end ends the turn, unless a message joined it or the question was edited during the attempt. It reports whether it ended the turn.
func (l *lane) end() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.active.joined) > 0 || l.active.edited {
		return false
	}
	close(l.active.over)
	l.active = nil
	return true
}

// release gives up a turn that is not taken. Arrivals that joined it wait again.
func (l *lane) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.active != nil {
		l.waiting = append(l.active.joined, l.waiting...)
		close(l.active.over)
		l.active = nil
	}
}

// Lanes returns the channels with work to do.
func (b *Bot) Lanes() (all []turn.Lane) {
	ls := &b.lanes
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for channel, l := range ls.open {
		l.mu.Lock()
		one := turn.Lane{ChannelID: channel, Waiting: len(l.waiting)}
		if l.active != nil {
			one.TurnID = l.active.id
			one.Waiting += len(l.active.joined)
		}
		l.mu.Unlock()
		all = append(all, one)
	}
	return all
}
