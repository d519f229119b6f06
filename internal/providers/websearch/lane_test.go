package websearch

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/llm"
)

// TestSideModelIsFair checks that a busy channel does not make another channel wait behind all its lookups.
func TestSideModelIsFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, &finder{hits: hits("https://peaks.example.org/everest.html")})
		w.side(t, "wait 1s\nsay {\"quotes\":[1],\"answers\":true}")
		w.Side.Slots = &llm.Slots{Limit: 1}
		var wg sync.WaitGroup
		look := func(channel string, n int) {
			wg.Go(func() {
				req := ask(fmt.Sprintf("What is the height of Mount Everest in the year %d?", n))
				req.ChannelID = channel
				if l := w.lookup(t, req); channel == "quiet" && l.By != "side" {
					t.Errorf("the quiet channel had to wait: by %q", l.By)
				}
			})
			time.Sleep(10 * time.Millisecond)
		}
		for n := range 12 {
			look("busy", 1900+n)
		}
		look("quiet", 1950)
		wg.Wait()
	})
}
