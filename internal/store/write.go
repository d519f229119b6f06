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

// maxBatch limits how long the first job of a batch waits for the last.
const maxBatch = 64

var (
	errClosed  = errors.New("store is closed")
	errLooking = errors.New("opened for reading only")
)

// Tx is a transaction of [DB.Write], for those who only pass it on.
type Tx = sql.Tx

// Write runs f in a transaction and returns after its commit. Then the changes survive the death of the process. If f fails or panics, its
// changes are undone and Write returns the error.
// | Writes of the same moment share one transaction. If one of them fails, all are undone, and each runs again in a transaction of its own.
// Savepoints would make SQLite copy every page that a write touches. So f may run twice, and only the results of the last run count.
// | f must be quick. It must not end the transaction, and must write only through it. It should use tx.Exec and not tx.ExecContext: a
// context that ends would undo the work of all.
// | The context counts while f waits for its turn. Once f has begun, Write waits for the commit.
func (db *DB) Write(ctx context.Context, f func(*sql.Tx) error) error {
	if db.writes == nil {
		return &Error{Kind: ReadOnly, Path: db.path, Err: errLooking}
	}
	return db.Explain(db.writes.do(ctx, f))
}

// OnCommit has f called at once when the present transaction is committed, before it is synced to the disk. Only the function of a write may
// call it, and f must be quick.
func (db *DB) OnCommit(f func()) { db.writes.committed = append(db.writes.committed, f) }

// A writer is one goroutine that runs all writes. It commits the first write at once; those that arrive meanwhile share the next
// transaction. Yielding to goroutines that are about to write saves two thirds of the transactions.
type writer struct {
	pool    *sql.DB       // one connection; only run uses it once the store is open
	wake    chan struct{} // capacity 1: queue may not be empty
	stopped chan struct{} // closed by run
	logged  chan struct{} // capacity 1: the log has grown by checkpointEvery transactions

	synced func() // syncs the log to the disk; only run calls it
	sync   bool   // the transaction must be on the disk before its jobs are done; only run uses it

	committed []func() // what the transaction's jobs want called after its commit; only run uses it

	ready func() error // set before the store is open: returns why nothing can be written, or nil

	mu     sync.Mutex
	queue  []*job // guarded by mu
	closed bool   // guarded by mu; wake is closed too
}

type job struct {
	f    func(*sql.Tx) error
	err  error         // written by run before done is closed
	done chan struct{} // closed by run
}

func startWriter(pool *sql.DB, synced func()) *writer {
	w := &writer{pool: pool, synced: synced, wake: make(chan struct{}, 1), stopped: make(chan struct{}), logged: make(chan struct{}, 1)}
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
	<-j.done // it has begun and ends soon
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

// withdraw removes j from the queue, and reports false if it is not there any more.
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
	runtime.Gosched() // others may be about to write
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
				default: // the log is being copied
				}
			}
		}
	}
}

// write stores the result in each job. If the transaction fails, each job gets one of its own, so that only failing jobs fail.
func (w *writer) write(batch []*job) {
	err := w.transact(batch)
	if err == nil {
		for _, f := range w.committed {
			f()
		}
		if w.sync {
			w.synced()
		}
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

// transact returns an error if nothing was written.
func (w *writer) transact(batch []*job) error {
	if w.ready != nil {
		if err := w.ready(); err != nil {
			return err
		}
	}
	w.sync, w.committed = false, nil
	tx, err := w.pool.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback() // does nothing after Commit
	for _, j := range batch {
		if err := protect(j.f, tx); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// protect turns a panic of f into an error, because a bug in one write must not end the others.
func protect(f func(*sql.Tx) error, tx *sql.Tx) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("write panicked: %v\n%s", v, debug.Stack())
		}
	}()
	return f(tx)
}

// close refuses new writes, waits for pending ones and closes the connection.
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

const (
	// checkpointEvery is after how many transactions the log is copied into the file. It has one to four MB then.
	checkpointEvery = 32
	// logPages is the largest length of the log, in pages of 4 KiB, if copying falls behind. At that length the writer copies it, and all
	// writes wait.
	logPages = "8192"
	// logLimit is the size in bytes, a little more than logPages, up to which the log's file is not truncated when the log restarts.
	// Truncating takes longer than a write.
	logLimit = "41943040"
)

// carryLog copies the log into the file in the background, through one of the connections for reading, which may do that. SQLite itself
// would do it at the end of an unlucky write, which would wait for two fsyncs: a hundred times as long as usual.
// https://www.sqlite.org/wal.html#checkpointing
func (db *DB) carryLog(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-db.writes.logged:
			db.carryNow(ctx)
		}
	}
}

// carryNow copies the log as far as possible. If that fails, the log stays, and the writer reports the cause.
func (db *DB) carryNow(ctx context.Context) {
	_, _ = db.readers.ExecContext(ctx, `PRAGMA wal_checkpoint(PASSIVE)`)
}

// WriteStep is [DB.Write] for a step of a long task that nobody waits for. It returns after the log was copied into the file. Steps without
// a pause would fill the log faster than it is copied in the background. Then the writer would copy it, and all writes would wait.
func (db *DB) WriteStep(ctx context.Context, f func(*sql.Tx) error) error {
	if err := db.Write(ctx, f); err != nil {
		return err
	}
	db.carryNow(ctx)
	return nil
}

// background is a goroutine that runs from start to end.
type background struct {
	stop    context.CancelFunc // nil: not started
	running sync.WaitGroup
}

// start runs a function until end, which ends its context.
func (b *background) start(run func(context.Context)) {
	ctx, stop := context.WithCancel(context.Background())
	b.stop = stop
	b.running.Go(func() { run(ctx) })
}

// end waits until the function has returned.
func (b *background) end() {
	if b.stop != nil {
		b.stop()
	}
	b.running.Wait()
}
