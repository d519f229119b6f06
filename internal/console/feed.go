package console

import (
	"maps"
	"slices"
	"sync"
	"time"

	"familiar/internal/context/turn"
)

const (
	// mostEnded is how many turns that are over are remembered, so that what is told of them late does not bring them back.
	mostEnded = 256
	// mostQueued is how much a page may leave unread before it is dropped: it comes back by itself, and is then told all anew.
	mostQueued = 32
	// mostPages is how many live pages there may be.
	mostPages = 64
)

// Feed gathers how far turns have come. Turns publish and never wait: what that costs them does not depend on how many pages are open.
// The zero value is ready.
type Feed struct {
	mu      sync.Mutex
	running map[string]turn.Progress // by the turn's id; guarded by mu
	ended   []string                 // ids, the oldest first; guarded by mu
	changed map[string]turn.Progress // since the last take; nil while no page is open; guarded by mu
	pages   map[*reader]struct{}     // guarded by mu
	wake    chan struct{}            // has room for one; made by the first page; guarded by mu
}

// reader is an open page. Its channel is closed when it is dropped.
type reader struct{ events chan []byte }

// Publish notes how far a turn has come.
func (f *Feed) Publish(p turn.Progress) {
	if p.ID == "" {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if slices.Contains(f.ended, p.ID) {
		return
	}
	if p.Phase == turn.Begun || p.Phase == turn.Answering {
		if f.running == nil {
			f.running = map[string]turn.Progress{}
		}
		f.running[p.ID] = p
	} else {
		delete(f.running, p.ID)
		if f.ended = append(f.ended, p.ID); len(f.ended) > mostEnded {
			f.ended = slices.Clone(f.ended[mostEnded/2:])
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

// Running returns the turns that go on, the newest first.
func (f *Feed) Running() []turn.Progress {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.SortedFunc(maps.Values(f.running), newestFirst)
}

func newestFirst(a, b turn.Progress) int {
	if c := b.Began.Compare(a.Began); c != 0 {
		return c
	}
	if a.ID > b.ID {
		return -1
	}
	return 1
}

// signal returns the channel that says that something has changed.
func (f *Feed) signal() chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.wake == nil {
		f.wake = make(chan struct{}, 1)
	}
	return f.wake
}

// join adds a page, or reports that there are too many.
func (f *Feed) join() (*reader, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.pages) >= mostPages {
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
	r := &reader{events: make(chan []byte, mostQueued)}
	f.pages[r] = struct{}{}
	return r, true
}

// leave takes a page out, if it was not dropped.
func (f *Feed) leave(r *reader) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.drop(r)
}

// drop is leave; mu is held.
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

// take returns what has changed since it was called last, the oldest turn first.
func (f *Feed) take() []turn.Progress {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.changed) == 0 {
		return nil
	}
	all := slices.SortedFunc(maps.Values(f.changed), func(a, b turn.Progress) int { return newestFirst(b, a) })
	f.changed = map[string]turn.Progress{}
	return all
}

// open reports how many pages there are.
func (f *Feed) open() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.pages)
}

// send gives an event to every page. One that has not read what came before is dropped.
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
	gathering = 100 * time.Millisecond // in which changes are gathered before they are sent
	glancing  = 2 * time.Second        // between two looks at what is no turn: the gateway, queues and quotas
	breathing = 20 * time.Second       // after which a page without news is told that it is still connected
)
