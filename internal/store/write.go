package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
)

// maxBatch bounds how long the first of a batch waits for the last.
const maxBatch = 64

var (
	errClosed  = errors.New("store is closed")
	errLooking = errors.New("opened for reading only")
)

// Write runs f in a transaction and returns once that is committed: what f did then survives the death of
// the process. An error of f, or its panic, undoes what f did and is returned.
//
// Those who write at the same time share one transaction. If one of them fails, all are undone and run again, each in a
// transaction of its own: savepoints instead would have SQLite copy every page that a write touches. So f may run twice, and
// only what it did the last time counts. It must be quick, must not end the transaction nor write through anything but it, and
// should use tx.Exec and not tx.ExecContext, whose context, if it ends, undoes everybody's work.
//
// The context is looked at while f waits for its turn. Once f has begun, Write waits for the commit.
func (db *DB) Write(ctx context.Context, f func(*sql.Tx) error) error {
	if db.writes == nil {
		return &Error{Kind: ReadOnly, Path: db.path, Err: errLooking}
	}
	return db.Explain(db.writes.do(ctx, f))
}

// A writer is one goroutine that runs everybody's writes. Nobody waits for company: the first write is committed at once, and those that
// came in the meantime share the next transaction. Where goroutines wait for a processor, they go first: a third of the transactions does.
type writer struct {
	pool    *sql.DB       // one connection; used by run alone, once the store is open
	wake    chan struct{} // capacity 1: there may be something in queue
	stopped chan struct{} // closed by run
	logged  chan struct{} // capacity 1: the log has grown by checkpointEvery transactions

	ready func() error // set before the store is open: why nothing can be written, if there is a reason

	mu     sync.Mutex
	queue  []*job // guarded by mu
	closed bool   // guarded by mu; wake is closed too
}

type job struct {
	f    func(*sql.Tx) error
	err  error         // written by run before done is closed
	done chan struct{} // closed by run
}

func startWriter(pool *sql.DB) *writer {
	w := &writer{pool: pool, wake: make(chan struct{}, 1), stopped: make(chan struct{}), logged: make(chan struct{}, 1)}
	go w.run()
	return w
}

func (w *writer) do(ctx context.Context, f func(*sql.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	j := &job{f: f, done: make(chan struct{})}
	if err := w.push(j); err != nil {
		return err
	}
	select {
	case <-j.done:
		return j.err
	case <-ctx.Done():
	}
	if w.withdraw(j) {
		return ctx.Err()
	}
	<-j.done // it has begun, and will be over soon
	return j.err
}

func (w *writer) push(j *job) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return errClosed
	}
	w.queue = append(w.queue, j)
	select {
	case w.wake <- struct{}{}:
	default:
	}
	return nil
}

// withdraw takes j out of the queue, unless it has left it already.
func (w *writer) withdraw(j *job) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.Index(w.queue, j)
	if i < 0 {
		return false
	}
	w.queue = slices.Delete(w.queue, i, i+1)
	return true
}

func (w *writer) take() []*job {
	runtime.Gosched() // others may be about to write, too
	w.mu.Lock()
	defer w.mu.Unlock()
	n := min(len(w.queue), maxBatch)
	batch := slices.Clone(w.queue[:n])
	w.queue = slices.Delete(w.queue, 0, n)
	return batch
}

func (w *writer) run() {
	defer close(w.stopped)
	written := 0
	for range w.wake {
		for batch := w.take(); len(batch) > 0; batch = w.take() {
			w.write(batch)
			for _, j := range batch {
				close(j.done)
			}
			if written++; written%checkpointEvery == 0 {
				select {
				case w.logged <- struct{}{}:
				default: // it is being carried
				}
			}
		}
	}
}

// write leaves in each job what came of it. If the transaction is lost, each job gets one of its own, so that only those
// fail that are themselves to blame.
func (w *writer) write(batch []*job) {
	err := w.transact(batch)
	if err == nil {
		return
	}
	if len(batch) == 1 {
		batch[0].err = err
		return
	}
	for _, j := range batch {
		w.write([]*job{j})
	}
}

// transact returns an error if nothing at all was written.
func (w *writer) transact(batch []*job) error {
	if w.ready != nil {
		if err := w.ready(); err != nil {
			return err
		}
	}
	tx, err := w.pool.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback() // after Commit it does nothing
	for _, j := range batch {
		if err := protect(j.f, tx); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// protect turns a panic of f into an error: a bug in one write must not end everybody's.
func protect(f func(*sql.Tx) error, tx *sql.Tx) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("write panicked: %v\n%s", v, debug.Stack())
		}
	}()
	return f(tx)
}

// close refuses new writes, waits for those that were asked for and closes the connection.
func (w *writer) close() error {
	w.mu.Lock()
	if !w.closed {
		w.closed = true
		close(w.wake)
	}
	w.mu.Unlock()
	<-w.stopped
	return w.pool.Close()
}
