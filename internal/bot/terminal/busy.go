package terminal

import (
	"context"
	"fmt"
	"io"
	"time"

	"familiar/internal/context/turn"
)

const (
	// turning is how long each of signs stands.
	turning = 120 * time.Millisecond
	signs   = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
	// clearLine takes the cursor to the beginning of the line and what stands there off the screen. ECMA-48, EL.
	clearLine = "\r\x1b[K"
)

// Watch is told what the bot is at in a turn.
func (d *Door) Watch(a turn.Activity, n int) {
	d.open()
	d.mu.Lock()
	defer d.mu.Unlock()
	switch a {
	case turn.Searching:
		d.doing = "searching the web"
	case turn.Reading:
		d.doing = "reading a page"
		if n > 1 {
			d.doing = fmt.Sprintf("reading %d pages", n)
		}
	case turn.Checking:
		d.doing = "checking what they say"
	case turn.Thinking:
		d.doing = "thinking"
	}
}

// await waits for an answer, and shows on a screen what the bot is at until its first word.
func (d *Door) await(ctx context.Context) {
	var tick <-chan time.Time
	if d.Screen != nil {
		ticker := time.NewTicker(turning)
		defer ticker.Stop()
		tick = ticker.C
	}
	d.Watch(turn.Thinking, 0)
	for n := 0; ; n++ {
		select {
		case <-d.ended:
			return
		case <-ctx.Done():
			d.mu.Lock()
			d.rest()
			d.mu.Unlock()
			return
		case <-tick:
			d.turn(n)
		}
	}
}

// turn shows the next sign, unless a reply has begun.
func (d *Door) turn(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.replies) > 0 {
		return
	}
	all := []rune(signs)
	fmt.Fprintf(d.Out, "%s%c %s", clearLine, all[n%len(all)], d.doing)
	d.waiting = true
}

// rest takes the sign off the screen. d.mu is held.
func (d *Door) rest() {
	if d.waiting {
		io.WriteString(d.Out, clearLine)
		d.waiting = false
	}
}
