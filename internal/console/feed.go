package console

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/trace"
)

const (
	// maxEnded is how many finished turns are remembered, so that late progress does not make them run again.
	maxEnded = 256
	// maxQueued is how many events a page may leave unread before it is dropped. It then reconnects and receives the
	// current state.
	maxQueued = 32
	// maxAside is how many calls of models that belong to no turn are remembered.
	maxAside = 20
	// maxPages is the greatest number of live pages.
	maxPages = 64
)

// Feed collects the progress of turns. Turns publish without waiting, so their cost does not depend on the number of
// open pages. The zero value is ready.
type Feed struct {
	mu      sync.Mutex
	running map[string]turn.Progress // by turn id; guarded by mu
	ended   []string                 // turn ids, oldest first; guarded by mu
	changed map[string]turn.Progress // since the last take; nil if no page is open; guarded by mu
	pages   map[*reader]struct{}     // guarded by mu
	wake    chan struct{}            // with capacity 1; made for the first page; guarded by mu
	aside   []Call                   // the last of them, oldest first; guarded by mu
}

// Call is a request to a model that belongs to no turn, without what was said.
type Call struct {
	turn.Call
	Failed bool
}

// Aside notes a request to a model that belongs to no turn.
func (f *Feed) Aside(c turn.Call, failed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.aside = append(f.aside, Call{c.Bare(), failed}); len(f.aside) > maxAside {
		f.aside = slices.Clone(f.aside[len(f.aside)-maxAside/2:])
	}
}

// lastAside returns the last of them, newest first.
func (f *Feed) lastAside() []Call {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := slices.Clone(f.aside[max(0, len(f.aside)-maxAside/2):])
	slices.Reverse(all)
	return all
}

// reader is an open page. Its channel is closed when the page is dropped.
type reader struct{ events chan []byte }

// Publish records the progress of a turn.
func (f *Feed) Publish(p turn.Progress) {
	if p.ID == "" {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if slices.Contains(f.ended, p.ID) {
		return
	}
	if !p.Phase.Over() {
		if f.running == nil {
			f.running = map[string]turn.Progress{}
		}
		f.running[p.ID] = p
	} else {
		delete(f.running, p.ID)
		if f.ended = append(f.ended, p.ID); len(f.ended) > maxEnded {
			f.ended = slices.Clone(f.ended[maxEnded/2:])
		}
	}
	if f.changed == nil {
		return
	}
	f.changed[p.ID] = p
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// Running returns the running turns, newest first.
func (f *Feed) Running() []turn.Progress {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := inOrder(f.running)
	slices.Reverse(all)
	return all
}

// inOrder returns turns in the order in which they began.
func inOrder(turns map[string]turn.Progress) []turn.Progress {
	all := slices.Collect(maps.Values(turns))
	sort.Slice(all, func(i, j int) bool {
		return cmp.Or(all[i].Began.Compare(all[j].Began), strings.Compare(all[i].ID, all[j].ID)) < 0
	})
	return all
}

// signal returns the channel that signals changes.
func (f *Feed) signal() chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.wake == nil {
		f.wake = make(chan struct{}, 1)
	}
	return f.wake
}

// join adds a page. It fails if there are too many.
func (f *Feed) join() (*reader, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.pages) >= maxPages {
		return nil, false
	}
	if f.wake == nil {
		f.wake = make(chan struct{}, 1)
	}
	if f.pages == nil {
		f.pages = map[*reader]struct{}{}
	}
	if f.changed == nil {
		f.changed = map[string]turn.Progress{}
	}
	r := &reader{events: make(chan []byte, maxQueued)}
	f.pages[r] = struct{}{}
	return r, true
}

// leave removes a page unless it was already dropped.
func (f *Feed) leave(r *reader) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.drop(r)
}

// drop removes a page. The caller must hold mu.
func (f *Feed) drop(r *reader) {
	if _, there := f.pages[r]; !there {
		return
	}
	delete(f.pages, r)
	close(r.events)
	if len(f.pages) == 0 {
		f.changed = nil
	}
}

// take returns the turns that changed since the last call, oldest first.
func (f *Feed) take() []turn.Progress {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.changed) == 0 {
		return nil
	}
	all := inOrder(f.changed)
	f.changed = map[string]turn.Progress{}
	return all
}

// open returns the number of pages.
func (f *Feed) open() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.pages)
}

// send sends an event to every page. It drops pages whose queue is full.
func (f *Feed) send(event []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for r := range f.pages {
		select {
		case r.events <- event:
		default:
			f.drop(r)
		}
	}
}

const (
	collectInterval   = 100 * time.Millisecond // time in which changes are collected before they are sent
	checkInterval     = 2 * time.Second        // interval between checks of the gateway, queues and quotas
	keepAliveInterval = 20 * time.Second       // interval of a keep-alive for pages without news
)

// The live feed uses server-sent events: https://html.spec.whatwg.org/multipage/server-sent-events.html. An event
// carries a fragment of a page as the server writes it. It is made once for all pages.

// liveRow is a turn in the list of running turns.
type liveRow struct {
	turn.Progress
	Line *trace.Summary // from its record; nil if there is none yet
	Over bool
}

// broadcast sends changes to open pages until ctx is done, and notes what the page Health shows.
func (k *Console) broadcast(ctx context.Context) {
	wake := k.Feed.signal()
	glance := time.NewTicker(checkInterval)
	defer glance.Stop()
	var last string
	k.look()
	for {
		select {
		case <-ctx.Done():
			return
		case <-glance.C:
			k.look()
			if k.Feed.open() == 0 {
				last = ""
				continue
			}
			if state := k.fragment("state", k.state(ctx)); state != last {
				k.Feed.send(event("state", state))
				last = state
			}
		case <-wake:
			select {
			case <-ctx.Done():
				return
			case <-time.After(collectInterval):
			}
			over := false
			for _, p := range k.Feed.take() {
				k.Feed.send(k.turnEvent(ctx, p))
				over = over || p.Phase.Over()
			}
			if over {
				k.Feed.send(event("recent", k.fragment("recent", k.rows(ctx))))
			}
		}
	}
}

func event(name string, data any) []byte {
	text, err := json.Marshal(data)
	if err != nil {
		return nil // strings can always be encoded
	}
	return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", name, text)
}

// turnEvent returns a turn's current row.
func (k *Console) turnEvent(ctx context.Context, p turn.Progress) []byte {
	row := k.row(ctx, p)
	return event("turn", map[string]any{"id": p.ID, "html": k.fragment("row", row), "over": row.Over})
}

func (k *Console) row(ctx context.Context, p turn.Progress) liveRow {
	row := liveRow{Progress: p, Over: p.Phase.Over()}
	if line, err := k.Traces.Line(ctx, p.ID); err == nil {
		row.Line = &line
	}
	return row
}

// writeTimeout is the time limit for writing one event to a page.
const writeTimeout = 10 * time.Second

func (k *Console) live(w http.ResponseWriter, r *http.Request) {
	page, ok := k.Feed.join()
	if !ok {
		http.Error(w, "There are too many live pages.", http.StatusServiceUnavailable)
		return
	}
	defer k.Feed.leave(page)
	out := http.NewResponseController(w)
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // for proxies
	send := func(event []byte) bool {
		_ = out.SetWriteDeadline(time.Now().Add(writeTimeout)) // not supported by a test's recorder
		_, err := w.Write(event)
		return err == nil && out.Flush() == nil
	}
	_ = out.SetReadDeadline(time.Time{})
	first := append([]byte("retry: 2000\n\n"), event("all", k.fragment("rows", k.rows(r.Context())))...)
	if !send(first) {
		return
	}
	breath := time.NewTicker(keepAliveInterval)
	defer breath.Stop()
	for {
		select {
		case <-r.Context().Done():
			return
		case e, open := <-page.events:
			if !open || !send(e) {
				return
			}
		case <-breath.C:
			if !send([]byte(": still here\n\n")) {
				return
			}
		}
	}
}
