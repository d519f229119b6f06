package app

import (
	"context"
	"runtime/metrics"
	"testing"
	"testing/synctest"
	"time"
)

// collections is how often somebody asked for a garbage collection.
func collections() uint64 {
	sample := []metrics.Sample{{Name: "/gc/cycles/forced:gc-cycles"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

var garbage []byte

func TestFootprint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		began := collections()
		go func() { defer close(done); watchFootprint(ctx, true) }()
		for _, step := range []struct {
			what  string
			alloc int
			wait  time.Duration
			want  uint64 // from the beginning
		}{
			{"started", 0, settling + quietCheck/2, 1},
			{"quiet", 0, 5 * quietCheck, 1},
			{"busy", 4 * quiet, quietCheck, 1},
			{"quiet again", 0, quietCheck, 2},
			{"still quiet", 0, 5 * quietCheck, 2},
		} {
			if step.alloc > 0 {
				garbage = make([]byte, step.alloc)
			}
			time.Sleep(step.wait)
			synctest.Wait()
			if n := (collections() - began) / 2; n != step.want { // giving back collects twice
				t.Errorf("%s: memory was given back %d times, not %d", step.what, n, step.want)
			}
		}
		stop()
		<-done
	})
}
