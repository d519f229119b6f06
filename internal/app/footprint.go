package app

import (
	"context"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	settling   = time.Second
	quietCheck = 2 * time.Second
	// quiet is how many bytes a process may allocate in a period in which it does nothing. A turn takes 300 KB.
	quiet = 64 << 10
	// growth is how much the heap grows before it is collected, in percent. Compared with 100 it saves 4 MiB at the peak, for
	// 2 to 4 % of the processor under full load.
	growth = 60
)

// watchFootprint gives memory back to the system after the start and, until ctx is done, whenever a quiet period follows a busy one: the heap has
// room for twice what lives on it, and the pages of the binary that were used count as the process's own. The next turn reads them again, which
// takes some milliseconds.
//
// The garbage collector also begins earlier than usual, unless tuned says that the operator has set GOGC:
// https://pkg.go.dev/runtime#hdr-Environment_Variables.
func watchFootprint(ctx context.Context, tuned bool) {
	if !tuned {
		defer debug.SetGCPercent(debug.SetGCPercent(growth))
	}
	var before uint64
	for wait, busy, resting := settling, true, false; ; wait = quietCheck {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		now := allocated()
		switch quietly := now-before < quiet; {
		case busy && (quietly || wait == settling):
			giveBack()
			now, busy, resting = allocated(), false, true
		case !quietly:
			busy = true
		case resting: // what followed has read parts of the binary again
			forgetBinary()
			resting = false
		}
		before = now
	}
}

// giveBack collects twice: the first collection empties pools, the second frees what was in them.
func giveBack() {
	runtime.GC()
	debug.FreeOSMemory()
	forgetBinary()
}

// allocated is how many bytes the process has allocated since it began.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
