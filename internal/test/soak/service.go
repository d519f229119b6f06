package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// How well people are served whose mentions came in good times. Then the program ran, and Discord, the model and the disk worked.
const (
	share   = "nine of ten mentions of good times are answered"
	waits   = "the first words come in time"
	toldNow = "who gets no answer is told within 10 s"
	aWord   = "there is a word within 2 s while the disk is full, within 10 s while it is frozen"
	intact  = "SQLite finds no fault in the file"
)

const (
	leastShare = 0.9
	mostTold   = 10 * time.Second
	mostWord   = 2 * time.Second
	aTurn      = 2 * time.Second // before a fault: a turn that has begun is hit by it, too
)

// fault notes that something beside the program does not work, until the returned function is called.
func (s *stage) fault() (over func()) {
	from := time.Now().Add(-aTurn)
	return func() { s.faults = append(s.faults, gap{from, time.Now()}) }
}

// good reports whether a moment was in good times.
func (s *stage) good(at time.Time) bool {
	for _, f := range s.faults {
		if !at.Before(f.from) && at.Before(f.to) {
			return false
		}
	}
	return !s.inGap(at)
}

// served compares the outcomes of good times with the promises.
func (s *stage) served(all []outcome) {
	if s.opt.first == 0 {
		return
	}
	var answered, asked, late int
	var first, told []time.Duration
	for _, o := range all {
		if o.withdrawn || !s.good(o.at) {
			continue
		}
		asked++
		switch {
		case o.whole():
			answered++
		case o.told != "":
			told = append(told, o.toldAt.Sub(o.at))
			if o.toldAt.Sub(o.at) > mostTold {
				late++
			}
		}
		if len(o.answers) > 0 {
			first = append(first, o.answers[0].At.Sub(o.at))
		}
	}
	if asked == 0 {
		return
	}
	got := float64(answered) / float64(asked)
	s.note("in good times: mentions, answered", "%d, %.1f %%", asked, 100*got)
	s.note("in good times: first word, p50 and p99", "%v, %v", percentile(first, 50), percentile(first, 99))
	s.note("in good times: told instead, most", "%v", percentile(told, 100))
	if got < leastShare {
		s.complain(share, "%d of %d were answered", answered, asked)
	}
	if p99 := percentile(first, 99); p99 > s.opt.first {
		s.complain(waits, "the 99th percentile is %v, where %v is the most", p99, s.opt.first)
	}
	if late > 0 {
		s.complain(toldNow, "%d were told later, the last after %v", late, percentile(told, 100))
	}
}

// word compares how long people waited for any word while the disk was full or frozen. The word is an answer or a notice.
func (s *stage) word(how string, most time.Duration, from, to time.Time) {
	var took []time.Duration
	late := 0
	for _, o := range s.outcomes() {
		if o.at.Before(from) || o.at.After(to.Add(-most)) {
			continue
		}
		at := o.toldAt
		if len(o.answers) > 0 && (at.IsZero() || o.answers[0].At.Before(at)) {
			at = o.answers[0].At
		}
		if at.IsZero() {
			at = time.Now()
		}
		if took = append(took, at.Sub(o.at)); at.Sub(o.at) > most {
			late++
		}
	}
	s.note("a word while the disk was "+how+", p50 and most", "%v, %v", percentile(took, 50), percentile(took, 100))
	if late > 0 {
		s.complain(aWord, "%s: %d of %d waited longer, one %v", how, late, len(took), percentile(took, 100))
	}
}

// inspect has SQLite's own tool look through the database. The program must have ended.
func (s *stage) inspect(ctx context.Context) error {
	if s.opt.database != "" {
		return nil
	}
	if _, err := exec.LookPath("sqlite3"); err != nil {
		s.note("the file", "not looked through: there is no sqlite3")
		return nil
	}
	if wrong, err := s.wrong(ctx); err != nil {
		return err
	} else if wrong != "" {
		s.complain(intact, "%s", wrong[:min(len(wrong), 500)])
	}
	s.note("the file", "looked through by sqlite3")
	return nil
}

// wrong returns what SQLite's own tool finds wrong with the file.
func (s *stage) wrong(ctx context.Context) (string, error) {
	said, err := exec.CommandContext(ctx, "sqlite3", filepath.Join(s.data(), "familiar.db"), "PRAGMA integrity_check; PRAGMA foreign_key_check").CombinedOutput()
	text := strings.TrimSpace(string(said))
	switch {
	case text == "ok":
		return "", nil
	case err != nil && text == "":
		return "", fmt.Errorf("look through the file: %w", err)
	}
	return text, nil
}

// playBusy keeps the program busy beside two processes that never rest.
func playBusy(ctx context.Context, s *stage) error {
	for range 2 {
		beside := exec.CommandContext(ctx, "sh", "-c", "while :; do :; done")
		if err := beside.Start(); err != nil {
			return fmt.Errorf("start a busy process: %w", err)
		}
		defer func() {
			_ = beside.Process.Kill()
			_ = beside.Wait()
		}()
	}
	if err := s.come(ctx); err != nil {
		return err
	}
	quiet := background(ctx, s.load)
	defer quiet()
	if err := wait(ctx, s.opt.span); err != nil {
		return err
	}
	quiet()
	return s.finish(ctx, patience)
}
