package search

import (
	"fmt"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/disk"
)

// Disk keeps the answers of backends in a directory, so that they outlive the program: for as long as they may stand in
// where nobody can look. A nil one keeps nothing.
//
// It holds neither queries nor keys, but answers tell what was asked: the directory is private, as that of [disk.Cache].
type Disk struct{ answers *disk.Cache[file] }

// fileVersion is that of the files. Change it when the meaning of a [turn.Hit] changes.
const fileVersion = 1

// file is an answer on disk. It expires keepStale after the answer came.
type file struct {
	Hits   []fileHit
	Failed *Error // why hits are missing; nil: none are
}

// fileHit is a hit with its text, which JSON leaves out of records.
type fileHit struct {
	turn.Hit
	Text string
}

// OpenDisk opens dir, which it makes if it is not there, for answers of at most bytes together. setup is what they depend
// on besides the queries: answers of another one are not found. It fails if dir cannot be made, or if others may write
// to it.
func OpenDisk(dir, setup string, bytes int64) (*Disk, error) {
	answers, err := disk.Open[file](disk.Config{
		Dir: dir, Kind: "answer", Version: fileVersion, Policy: setup, Bytes: bytes, Longest: keepStale, Now: time.Now,
	})
	if err != nil {
		return nil, err
	}
	return &Disk{answers}, nil
}

// Clear removes all answers.
func (d *Disk) Clear() error {
	if d == nil {
		return nil
	}
	return d.answers.Clear()
}

// Close closes the directory.
func (d *Disk) Close() error {
	if d == nil {
		return nil
	}
	return d.answers.Close()
}

// get returns the answer to k, without what cannot be a hit today.
func (d *Disk) get(k key) (answer, bool) {
	if d == nil {
		return answer{}, false
	}
	var a answer
	entry, ok := d.answers.Get(fmt.Sprintf("%#v", k), func(f file) bool {
		for _, h := range f.Hits {
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
	a.at = entry.Till.Add(-keepStale)
	if entry.Value.Failed != nil {
		a.err = entry.Value.Failed
	}
	return a, true
}

// put writes an answer that holds something.
func (d *Disk) put(k key, a answer) {
	if d == nil || len(a.hits) == 0 {
		return
	}
	var f file
	for _, c := range a.hits {
		f.Hits = append(f.Hits, fileHit{c.Hit, c.Text})
	}
	if err := asError(k.backend, a.err); err != nil {
		f.Failed = &Error{Backend: err.Backend, Code: err.Code, Detail: err.Detail}
	}
	d.answers.Put(fmt.Sprintf("%#v", k), disk.Entry[file]{Value: f, Till: a.at.Add(keepStale)})
}

// recall loads an answer from disk where memory has none that is fresh, and reports whether it did.
func (e *Engine) recall(k key) bool {
	if a, ok := e.answers.Get(k); ok && e.fresh(k, a) {
		return false
	}
	old, ok := e.Disk.get(k) // without the lock: a disk may be slow
	if !ok {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if a, ok := e.answers.Get(k); ok && !a.at.Before(old.at) {
		return false
	}
	e.answers.Set(k, old)
	return true
}

// fresh reports whether an answer is as good as a new one.
func (e *Engine) fresh(k key, a answer) bool {
	return e.now().Before(a.at.Add(lifetime(k.intent, keepAnswer)))
}
