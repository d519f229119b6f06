package search

import (
	"fmt"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/disk"
)

// Disk keeps in a directory what backends found, so that it outlives the program: for as long as it may stand in where
// nobody can look. A nil one keeps nothing.
//
// It holds neither queries nor keys, but what was found tells what was asked: the directory is private, as that of
// [disk.Cache].
type Disk struct{ answers *disk.Cache[said] }

// saidVersion is that of the files. Change it when the meaning of a [turn.Hit] changes.
const saidVersion = 1

// said is an answer as a file holds it: what expires keepStale after it came.
type said struct {
	Hits   []saidHit
	Failed *Error // why something is missing from the hits; nil: nothing is
}

// saidHit is a hit with its text, which JSON leaves out of records.
type saidHit struct {
	turn.Hit
	Text string
}

// OpenDisk opens dir, which it makes if it is not there, for answers of at most bytes together. setup is what they depend
// on besides the queries: answers of another one are not found. It fails if dir cannot be made, or if others may write
// to it.
func OpenDisk(dir, setup string, bytes int64) (*Disk, error) {
	answers, err := disk.Open[said](disk.Config{
		Dir: dir, Kind: "answer", Version: saidVersion, Policy: setup, Bytes: bytes, Longest: keepStale, Now: time.Now,
	})
	if err != nil {
		return nil, err
	}
	return &Disk{answers}, nil
}

func (d *Disk) close() error {
	if d == nil {
		return nil
	}
	return d.answers.Close()
}

// get returns what was answered to k. What cannot be a hit today is left out.
func (d *Disk) get(k key) (answer, bool) {
	if d == nil {
		return answer{}, false
	}
	var a answer
	kept, ok := d.answers.Get(fmt.Sprintf("%#v", k), func(s said) bool {
		for _, h := range s.Hits {
			h.Hit.Text = h.Text
			if c, ok := candidateOf(h.Hit); ok && h.Backend == k.backend {
				a.hits = append(a.hits, c)
			}
		}
		return len(a.hits) > 0
	})
	if !ok {
		return answer{}, false
	}
	a.at = kept.Till.Add(-keepStale)
	if kept.Value.Failed != nil {
		a.err = kept.Value.Failed
	}
	return a, true
}

// put keeps an answer that holds something.
func (d *Disk) put(k key, a answer) {
	if d == nil || len(a.hits) == 0 {
		return
	}
	var s said
	for _, c := range a.hits {
		s.Hits = append(s.Hits, saidHit{c.Hit, c.Text})
	}
	if err := typed(k.backend, a.err); err != nil {
		s.Failed = &Error{Backend: err.Backend, Code: err.Code, Detail: err.Detail}
	}
	d.answers.Put(fmt.Sprintf("%#v", k), disk.Entry[said]{Value: s, Till: a.at.Add(keepStale)})
}

// recall brings an answer from the directory where memory has none that is as good as new, and reports whether it did.
func (e *Engine) recall(k key) bool {
	if a, ok := e.answers.GetIfPresent(k); ok && e.fresh(k, a) {
		return false
	}
	old, ok := e.Disk.get(k) // without the lock: a disk may be slow
	if !ok {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if a, ok := e.answers.GetIfPresent(k); ok && !a.at.Before(old.at) {
		return false
	}
	e.answers.Set(k, old)
	return true
}

// fresh is whether an answer is as good as a new one.
func (e *Engine) fresh(k key, a answer) bool {
	return e.now().Before(a.at.Add(lifetime(k.intent, keepAnswer)))
}
