package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

// schedulerTrace has Go's runtime write all goroutines into the log, every five seconds. The program itself knows nothing of it.
// https://pkg.go.dev/runtime#hdr-Environment_Variables
const schedulerTrace = "GODEBUG=schedtrace=5000,scheddetail=1"

var (
	traceHead = []byte("\nSCHED ")
	// living is a goroutine in a trace, unless it is dead, which is status 6.
	living = regexp.MustCompile(`(?m)^  G\d+: status=[^6]`)
)

// latestGoroutines counts the goroutines in the latest whole trace of the log, 0 if there is none.
func (s *stage) latestGoroutines() (int, error) {
	const enough = 256 << 10
	f, err := os.Open(filepath.Join(s.dir, "log"))
	if err != nil {
		return 0, fmt.Errorf("count goroutines: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, fmt.Errorf("count goroutines: %w", err)
	}
	from := max(0, info.Size()-enough)
	end := make([]byte, info.Size()-from)
	if _, err := f.ReadAt(end, from); err != nil {
		return 0, fmt.Errorf("count goroutines: %w", err)
	}
	at := bytes.LastIndex(end, traceHead)
	if at < 0 {
		return 0, nil
	}
	return len(living.FindAll(end[at:], -1)), nil
}
