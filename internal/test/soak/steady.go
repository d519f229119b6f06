package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	warmUp     = 3 * time.Minute
	sampleSpan = 2 * time.Second
	mayGrow    = 0.05 // resident memory, compared with its value after warmUp
	mayFall    = 1.5  // 99th percentile in the last quarter, compared with the first
)

// sample is the program's memory at a moment, in KiB.
type sample struct {
	at       time.Time
	rss, pss int
	file     int // the part of rss that is mapped from files: the binary
}

// playSteady keeps the program busy for a long time. A signal ends the load early, and what was measured until then is judged.
func playSteady(ctx context.Context, s *stage) error {
	if err := s.come(ctx); err != nil {
		return err
	}
	began := time.Now()
	quiet := background(ctx, s.load)
	defer quiet()
	var samples []sample
	for time.Since(began) < s.opt.span && wait(ctx, sampleSpan) == nil {
		now, err := s.sample()
		if err != nil {
			return err
		}
		samples = append(samples, now)
	}
	quiet()
	s.opt.span = min(s.opt.span, time.Since(began)).Round(time.Second)
	ctx = context.WithoutCancel(ctx)
	s.minutes(began, samples)
	s.quarters(began)
	if err := s.settle(ctx, patience); err != nil {
		return err
	}
	s.own()
	return s.finish(ctx, patience)
}

func (s *stage) sample() (now sample, err error) {
	now.at = time.Now()
	pid := s.proc.cmd.Process.Pid
	status := fmt.Sprintf("/proc/%d/status", pid)
	if now.rss, err = kib(status, "VmRSS:"); err != nil {
		return now, err
	}
	if now.file, err = kib(status, "RssFile:"); err != nil {
		return now, err
	}
	now.pss, err = kib(fmt.Sprintf("/proc/%d/smaps_rollup", pid), "Pss:")
	return now, err
}

// kib reads a line such as "Pss:  1234 kB".
func kib(file, name string) (n int, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, fmt.Errorf("read memory: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, found := strings.CutPrefix(line, name); found {
			_, err := fmt.Sscanf(rest, "%d kB", &n)
			return n, err
		}
	}
	return 0, fmt.Errorf("read memory: no %s in %s", name, file)
}

// minutes notes memory and first words of each minute. The median of a minute counts. Memory must not grow after warmUp, or after the first
// third of a shorter run.
func (s *stage) minutes(began time.Time, samples []sample) {
	if len(samples) == 0 {
		return
	}
	whole := samples[len(samples)-1].at.Sub(began)
	warm, each := min(warmUp, whole/3), max(min(time.Minute, whole/6), sampleSpan)
	var steady [2]int
	for from := time.Duration(0); from+each <= whole+sampleSpan; from += each {
		var rss, pss []int
		for _, p := range samples {
			if at := p.at.Sub(began); at >= from && at < from+each {
				rss, pss = append(rss, p.rss), append(pss, p.pss)
			}
		}
		now := [2]int{median(rss), median(pss)}
		took := s.firstWords(began.Add(from), began.Add(from+each), nil)
		s.note(fmt.Sprintf("minute %.1f: RSS, Pss; first word p50, p99", from.Minutes()), "%.1f, %.1f MiB; %v, %v",
			float64(now[0])/1024, float64(now[1])/1024, percentile(took, 50), percentile(took, 99))
		switch {
		case from < warm:
		case steady[0] == 0:
			steady = now
		default:
			s.compare(from, steady, now)
		}
	}
}

func (s *stage) compare(at time.Duration, steady, now [2]int) {
	for i, what := range []string{"VmRSS", "Pss"} {
		if change := float64(now[i]-steady[i]) / float64(steady[i]); change > mayGrow || change < -mayGrow {
			s.complain("memory stays within 5 %", "%s in minute %.1f is %+.1f %%: %d KiB after %d", what, at.Minutes(), 100*change, now[i], steady[i])
		}
	}
}

func median(all []int) int {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// quarters compares the first words of the last quarter with those of the first.
func (s *stage) quarters(began time.Time) {
	each := s.opt.span / 4
	first, last := s.firstWords(began, began.Add(each), nil), s.firstWords(began.Add(3*each), began.Add(4*each), nil)
	a, b := percentile(first, 99), percentile(last, 99)
	s.note("first word p99, first and last quarter", "%v, %v", a, b)
	if float64(b) > mayFall*float64(a) {
		s.complain("answers stay as quick", "the 99th percentile of the first word was %v in the first quarter and is %v in the last", a, b)
	}
}

// schedulerTrace makes Go's runtime write all goroutines into the log every five seconds. The program itself is unchanged.
// https://pkg.go.dev/runtime#hdr-Environment_Variables
const schedulerTrace = "GODEBUG=schedtrace=5000,scheddetail=1"

var (
	traceHead = []byte("\nSCHED ")
	// living matches a goroutine in a trace that is not dead (status 6).
	living = regexp.MustCompile(`(?m)^  G\d+: status=[^6]`)
)

// latestGoroutines counts the goroutines in the latest complete trace of the log. It returns 0 if there is none.
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
