package footprint

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

func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		began := collections()
		go func() { defer close(done); Watch(ctx, true) }()
		for _, step := range []struct {
			what  string
			alloc int
			wait  time.Duration
			want  uint64 // from the beginning
		}{
			{"started", 0, start + period/2, 1},
			{"quiet", 0, 5 * period, 1},
			{"busy", 4 * quiet, period, 1},
			{"quiet again", 0, period, 2},
			{"still quiet", 0, 5 * period, 2},
		} {
			if step.alloc > 0 {
				garbage = make([]byte, step.alloc)
			}
			time.Sleep(step.wait)
			synctest.Wait()
			if n := collections() - began; n != step.want {
				t.Errorf("%s: memory was given back %d times, not %d", step.what, n, step.want)
			}
		}
		stop()
		<-done
	})
}
