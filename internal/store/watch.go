package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"
)

// watchEvery is how often the file is looked for while nobody writes.
const watchEvery = 5 * time.Second

// A watch looks whether the file is still the one that was opened: SQLite would go on writing into one that was deleted, and
// nothing of that could ever be read again.
type watch struct {
	path    string
	opened  os.FileInfo
	looking background
}

// look returns an [*Error] if the file is gone or another one.
func (w *watch) look() error {
	if w.opened == nil { // the store is not open yet
		return nil
	}
	info, err := os.Stat(w.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &Error{Kind: Gone, Path: w.path}
	case err != nil:
		return nil // a write will tell
	case !os.SameFile(info, w.opened):
		return &Error{Kind: Replaced, Path: w.path}
	}
	return nil
}

// start looks every few seconds, and leaves a notice when the file disappears.
func (w *watch) start(db *DB) error {
	info, err := os.Stat(w.path)
	if err != nil {
		return err
	}
	w.opened = info
	db.writes.ready = w.look
	w.looking.start(func(ctx context.Context) {
		ticks := time.NewTicker(watchEvery)
		defer ticks.Stop()
		for lost := false; ; {
			select {
			case <-ctx.Done():
				return
			case <-ticks.C:
				err := w.look()
				if err != nil && !lost {
					db.notify("%v", err)
				}
				lost = err != nil
			}
		}
	})
	return nil
}

// end returns when nobody looks any more, and says what was wrong with the file at the end.
func (w *watch) end() error {
	if w.looking.stop == nil {
		return nil
	}
	w.looking.end()
	w.looking.stop = nil
	return w.look()
}
