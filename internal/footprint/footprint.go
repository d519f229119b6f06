// Package footprint keeps the process small while it has nothing to do.
//
// What the start and busy hours need, and nothing else, stays with a process for long: the heap has room for twice what lives
// on it, and the pages of the binary that were ever used count as the process's own. [Watch] gives both back when the process
// falls quiet (here), the binary's on Linux alone (binary_linux.go). The price is paid by the next turn, which reads them again
// from the system's cache: some milliseconds. In busy hours the heap may grow by less than usual before it is collected.
package footprint

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	start  = time.Second
	period = 2 * time.Second
	// quiet is how many bytes a process may allocate in a period in which it does nothing. A turn takes 300 KB.
	quiet = 64 << 10
	// growth is by how much of itself the heap grows before it is collected, in percent. Against 100 it takes 4 MiB off the worst
	// moment, for 2 to 4 % of the processor under full load.
	growth = 60
)

// Watch gives memory back to the system once the process has started and, until ctx is done, each time that a quiet period
// follows a busy one.
//
// It also has the garbage collector begin earlier than is usual, unless GOGC says when it should:
// https://pkg.go.dev/runtime#hdr-Environment_Variables.
func Watch(ctx context.Context) {
	if os.Getenv("GOGC") == "" {
		defer debug.SetGCPercent(debug.SetGCPercent(growth))
	}
	var before uint64
	for wait, busy := start, true; ; wait = period {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		now := allocated()
		switch quietly := now-before < quiet; {
		case busy && (quietly || wait == start):
			giveBack()
			now, busy = allocated(), false
		case !quietly:
			busy = true
		}
		before = now
	}
}

func giveBack() {
	debug.FreeOSMemory()
	forgetBinary()
}

// allocated is how many bytes the process has allocated since it began.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
