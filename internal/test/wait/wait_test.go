package wait

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestWithin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for after, want := range map[time.Duration]bool{0: true, 500 * time.Millisecond: true, 2 * time.Second: false} {
			began := time.Now()
			got := Within(time.Second, func() bool { return time.Since(began) >= after })
			if took := time.Since(began); got != want || took > min(after, time.Second)+20*time.Millisecond {
				t.Errorf("what holds after %v: %v after %v", after, got, took)
			}
		}
	})
}
