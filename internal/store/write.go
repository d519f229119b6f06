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
	"sync/atomic"
	"time"

	"familiar/internal/store/engine"
)

// maxBatch limits how long the first job of a batch waits for the last.
const maxBatch = 64

var errClosed = errors.New("store is closed")

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
	if err := db.looking(); err != nil {
		return err
	}
	return db.Explain(db.writes.do(ctx, &job{f: f}))
}

// Calm returns how long nobody has written anything that is waited for. While turns are taken, that is a few milliseconds.
func (db *DB) Calm() time.Duration {
	if db.writes == nil {
		return time.Hour
	}
	return time.Since(time.Unix(0, db.writes.asked.Load()))
}

// looking returns an error if the store is open for reading only.
func (db *DB) looking() error {
	if db.writes == nil {
		return &Error{Kind: engine.ReadOnly, Path: db.engine.Place(), Err: errors.New("opened for reading only")}
	}
	return nil
}

// OnCommit has f called at once when the present transaction is committed, before it is synced to the disk. Only the function of a write may
// call it, and f must be quick.
func (db *DB) OnCommit(f func()) { db.writes.committed = append(db.writes.committed, f) }

// A writer is one goroutine that runs all writes. It commits the first write at once; those that arrive meanwhile share the next
// transaction. Yielding to goroutines that are about to write saves two thirds of the transactions.
type writer struct {
	pool    *sql.DB // one connection; only run uses it once the store is open
	engine  engine.Engine
	wake    chan struct{} // capacity 1: queue may not be empty
	stopped chan struct{} // closed by run

	keep      bool     // the transaction must survive a loss of power before its jobs are done; only run uses it
	committed []func() // what the transaction's jobs want called after its commit; only run uses it

	asked atomic.Int64 // when the newest job came that somebody waits for, in nanoseconds of Unix time

	mu     sync.Mutex
	queue  []*job // guarded by mu
	later  []*job // steps of tasks that nobody waits for, each in a transaction of its own while queue is empty. Guarded by mu
	closed bool   // guarded by mu; wake is closed too
}

type job struct {
	f     func(*sql.Tx) error
	later bool
	took  time.Duration // of its transaction; written by run before done is closed
	err   error         // written by run before done is closed
	done  chan struct{} // closed by run
}

func startWriter(pool *sql.DB, e engine.Engine) *writer {
	w := &writer{pool: pool, engine: e, wake: make(chan struct{}, 1), stopped: make(chan struct{})}
	go w.run()
	return w
}

func (w *writer) do(ctx context.Context, j *job) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	j.done = make(chan struct{})
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
	if !j.later {
		w.asked.Store(time.Now().UnixNano())
	}
	queue := w.queueOf(j)
	*queue = append(*queue, j)
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
	queue := w.queueOf(j)
	i := slices.Index(*queue, j)
	if i < 0 {
		return false
	}
	*queue = slices.Delete(*queue, i, i+1)
	return true
}

// queueOf returns the queue of a job. The caller holds mu.
func (w *writer) queueOf(j *job) *[]*job {
	if j.later {
		return &w.later
	}
	return &w.queue
}

func (w *writer) take() []*job {
	runtime.Gosched() // others may be about to write
	w.mu.Lock()
	defer w.mu.Unlock()
	queue, n := &w.queue, min(len(w.queue), maxBatch)
	if n == 0 {
		queue, n = &w.later, min(len(w.later), 1)
	}
	batch := slices.Clone((*queue)[:n])
	*queue = slices.Delete(*queue, 0, n)
	return batch
}

func (w *writer) run() {
	defer close(w.stopped)
	for range w.wake {
		for batch := w.take(); len(batch) > 0; batch = w.take() {
			began := time.Now()
			w.write(batch)
			for _, j := range batch {
				j.took = time.Since(began)
				close(j.done)
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
		w.engine.Committed(w.keep)
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
	if err := w.engine.Ready(); err != nil {
		return err
	}
	w.keep, w.committed = false, nil
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

// close refuses new writes and waits for pending ones.
func (w *writer) close() {
	w.mu.Lock()
	if !w.closed {
		w.closed = true
		close(w.wake)
	}
	w.mu.Unlock()
	<-w.stopped
}

const (
	// stepLimit is how long a step of a task that nobody waits for may hold the writer. A turn may begin to wait for it.
	stepLimit = 5 * time.Millisecond
	firstStep = 8 // things that the first step of a task does
)

// WriteSteps does a long task that nobody waits for. It calls f, each time in a transaction of its own, until there is no more to do. A
// step begins only while no other write waits. n says how many things it should do, so that it is over within stepLimit. It is at least
// one, and at most the given number. After each step the log is copied into the file. Steps without a pause would fill it faster than it is
// copied in the background. Then the writer would copy it while all wait.
func (db *DB) WriteSteps(ctx context.Context, most int, f func(tx *sql.Tx, n int) (more bool, err error)) error {
	if err := db.looking(); err != nil {
		return err
	}
	for n, more := min(firstStep, most), true; more; {
		j := &job{later: true}
		j.f = func(tx *sql.Tx) (err error) {
			more, err = f(tx, n)
			return err
		}
		if err := db.writes.do(ctx, j); err != nil {
			return db.Explain(err)
		}
		_ = db.engine.Carry(ctx, false)
		n = nextStep(n, most, j.took)
	}
	return nil
}

// nextStep returns how many things the step does that follows one of n things.
func nextStep(n, most int, took time.Duration) int {
	const usual = stepLimit / 3 // some steps take longer, when parts of an index are merged
	switch {
	case took > usual:
		n = int(int64(n) * int64(usual) / int64(took))
	case took < usual/2:
		n *= 2
	}
	return max(1, min(n, most))
}

// WriteEach does a task in steps, see [DB.WriteSteps]: f for each of some things.
func WriteEach[T any](ctx context.Context, db *DB, things []T, f func(*sql.Tx, T) error) error {
	return engine.InSteps(ctx, db.WriteSteps, things, f)
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

// mustLast makes the present transaction, and all before it, survive a loss of power. It is for what a restart must not forget. That is
// which events were claimed, begun to be answered, answered, or told about. Only the function of a write may call it.
func (db *DB) mustLast() { db.writes.keep = true }
