package console

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/trace"
)

// The live feed is server-sent events: https://html.spec.whatwg.org/multipage/server-sent-events.html. An event carries a fragment of the
// page as the server writes it, made once for all pages.

// liveRow is a turn in the list of those that run.
type liveRow struct {
	turn.Progress
	Line *trace.Summary // what its record says; nil: there is none yet
	Over bool
}

// broadcast sends what changes to the pages that are open, until ctx is done. While none is, it sleeps.
func (k *Console) broadcast(ctx context.Context) {
	wake := k.Feed.signal()
	glance := time.NewTicker(glancing)
	defer glance.Stop()
	var last string
	for {
		select {
		case <-ctx.Done():
			return
		case <-glance.C:
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
			case <-time.After(gathering):
			}
			for _, p := range k.Feed.take() {
				k.Feed.send(k.turnEvent(ctx, p))
			}
		}
	}
}

// event writes an event.
func event(name string, data any) []byte {
	text, err := json.Marshal(data)
	if err != nil {
		return nil // strings always can be
	}
	return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", name, text)
}

// turnEvent is a turn's row as it is now.
func (k *Console) turnEvent(ctx context.Context, p turn.Progress) []byte {
	row := k.row(ctx, p)
	return event("turn", map[string]any{"id": p.ID, "html": k.fragment("row", row), "over": row.Over})
}

func (k *Console) row(ctx context.Context, p turn.Progress) liveRow {
	row := liveRow{Progress: p, Over: p.Phase != turn.Begun && p.Phase != turn.Answering}
	if line, err := k.Traces.Line(ctx, p.ID); err == nil {
		row.Line = &line
	}
	return row
}

// writePatience is how long a page may take for one event.
const writePatience = 10 * time.Second

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
	h.Set("X-Accel-Buffering", "no") // of a proxy
	send := func(event []byte) bool {
		_ = out.SetWriteDeadline(time.Now().Add(writePatience)) // a recorder in a test has none
		_, err := w.Write(event)
		return err == nil && out.Flush() == nil
	}
	_ = out.SetReadDeadline(time.Time{})
	first := append([]byte("retry: 2000\n\n"), event("all", k.fragment("rows", k.rows(r.Context())))...)
	if !send(first) {
		return
	}
	breath := time.NewTicker(breathing)
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
