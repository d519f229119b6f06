//go:build unix

package websearch

import (
	"syscall"
	"testing"
	"time"
)

// processor measures processor time, which a busy machine does not stretch.
func processor(b *testing.B) (report func()) {
	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	from := used()
	return func() {
		b.ReportMetric(float64((used()-from).Microseconds())/1000/float64(b.N), "cpu-ms/op")
	}
}
