//go:build !unix

package bulk

import "time"

var began = time.Now()

// processorTime is the clock on systems where a process cannot ask for its processor time.
func processorTime() time.Duration { return time.Since(began) }
