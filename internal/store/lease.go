package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"familiar/internal/store/engine"
)

// ErrLost says that another process may act for a shard, and this one may not.
var ErrLost = errors.New("another process holds the shard")

// How long a lease is held, and how often it is renewed. A process trusts its own lease for a shorter time than others do.
const (
	leaseHold  = 15 * time.Second
	leaseTrust = 12 * time.Second // since the renewal was sent
	leaseRenew = 5 * time.Second
	leaseBeat  = time.Second            // between two looks for shards that nobody holds
	leaseRetry = 200 * time.Millisecond // the same while the database cannot be reached
	leaseLimit = 3 * time.Second
)

// Leases shares the shards of a bot among the processes that have the same database. A process takes at most its share, and holds a shard as
// long as it renews the lease. All times are those of the server's clock. A file has one owner, which holds all shards: see [Leases.Shared].
type Leases struct {
	// ShardOf returns the number of the shard that brings a server's events. Version is that of the program, for people. Both are set before
	// Run.
	ShardOf func(guildID string, of int) int
	Version string

	db      *DB
	process string       // a random name, or that of the directory
	keeps   *engine.Name // what keeps the name for this process; nil: it is random
	host    string       // name of the machine, or ""

	mu    sync.Mutex
	total int            // number of shards; 0: not agreed yet. Guarded by mu, as is all that follows
	held  map[int]*lease // until they are released, also after they are lost
	live  int            // processes
	short bool           // the others have more than their share, or nobody has some
	taken chan struct{}  // closed and replaced when leases are taken
}

// lease is a shard that this process holds, or held. It is guarded by [Leases.mu].
type lease struct {
	fence   int64
	renewed time.Time // before the statement that renewed it last was sent
	lost    bool
	end     context.CancelCauseFunc // of who holds it; nil: nobody does yet
	ending  bool                    // it was asked to release the lease
	passed  bool                    // another process may take the lease, and this one only finishes what it has begun
}

// trusted reports whether no other process can have the lease. The clock that stands still while a machine sleeps is not enough.
func (l *lease) trusted() bool {
	return !l.lost && max(time.Since(l.renewed), time.Now().Round(0).Sub(l.renewed.Round(0))) < leaseTrust
}

func newLeases(db *DB) *Leases {
	host, _ := os.Hostname()
	return &Leases{db: db, process: rand.Text(), host: host, held: map[int]*lease{}, live: 1, short: true, taken: make(chan struct{})}
}

// Shared reports whether several processes may share the database.
func (s *Leases) Shared() bool { return s.db.engine.Aside() != nil }

// Remember gives this process the name of a directory, unless another process has it now. So a process that starts again has at once what it
// held when it died.
func (s *Leases) Remember(dir string) error {
	keeps, err := engine.NameOf(dir)
	if err == nil && keeps != nil {
		s.keeps, s.process = keeps, keeps.Text
	}
	return err
}

// serverNow is the server's time. It is not that of the transaction's beginning.
const serverNow = `CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)`

// Agree returns the number of shards. It is the one in use while any process holds a shard. Otherwise ask is told what it was, 0 if there was
// none, and chooses it. Each new shard then begins where shard 0 ended.
func (s *Leases) Agree(ctx context.Context, ask func(ctx context.Context, before int) (int, error)) (of int, err error) {
	aside := s.db.engine.Aside()
	if s.keeps != nil { // the process that had the name before is dead
		_, err = aside.ExecContext(ctx, `UPDATE shards SET holder = '', until = 0 WHERE holder = ?`, s.process)
		if err == nil {
			_, err = aside.ExecContext(ctx, `WITH finishing AS (DELETE FROM finishing WHERE holder = ?1) DELETE FROM processes WHERE id = ?1`, s.process)
		}
	}
	live := false
	if err == nil {
		of, live, err = s.inUse(aside.QueryRowContext(ctx, inUseQuery))
	}
	if err == nil && !live {
		var want int
		if want, err = ask(ctx, of); err == nil {
			of, err = s.divide(ctx, want)
		}
	}
	if err != nil {
		return 0, fmt.Errorf("agree on the number of shards: %w", s.db.Explain(err))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total = of
	return of, nil
}

const inUseQuery = `SELECT count(*), coalesce(bool_or(until > ` + serverNow + `), FALSE) FROM shards`

func (s *Leases) inUse(row Scanner) (of int, live bool, err error) {
	err = row.Scan(&of, &live)
	return of, live, err
}

// divide makes the rows of a number of shards, unless another process was quicker.
func (s *Leases) divide(ctx context.Context, want int) (of int, err error) {
	err = s.db.Write(ctx, func(tx *sql.Tx) error {
		before, live, err := s.inUse(tx.QueryRow(inUseQuery))
		if of = before; err != nil || live || before == want {
			return err
		}
		of = want
		var fence int64
		var session string
		err = tx.QueryRow(`SELECT coalesce(max(fence), 0), coalesce(max(CASE WHEN number = 0 THEN session END), '') FROM shards`).Scan(&fence, &session)
		if err == nil {
			_, err = tx.Exec(`DELETE FROM shards`)
		}
		for n := range want {
			if err == nil {
				_, err = tx.Exec(`INSERT INTO shards (number, total, fence, session) VALUES (?, ?, ?, ?)`, n, want, fence+1, session)
			}
		}
		return err
	})
	return of, err
}

// Run takes and renews leases until ctx is done and all are released.
func (s *Leases) Run(ctx context.Context) {
	ticks := time.NewTicker(leaseBeat)
	defer ticks.Stop()
	if s.keeps != nil {
		defer s.keeps.Close()
	}
	var r renewal
	quit := ctx.Done()
	for failing := false; ; {
		leaving := ctx.Err() != nil
		err := s.beat(context.WithoutCancel(ctx), &r, leaving)
		if err != nil && !failing && !leaving {
			s.db.notify("renew the leases of shards: %v", s.db.Explain(err))
		}
		every := leaseBeat
		if failing = err != nil; failing {
			every = leaseRetry
		}
		ticks.Reset(every)
		if ctx.Err() != nil && s.leave() {
			return
		}
		select {
		case <-ticks.C:
		case <-quit:
			quit = nil
		}
	}
}

// renewal is what [Leases.Run] knows of its last renewal.
type renewal struct {
	at   time.Time // before it was sent
	left bool      // the others may take all
}

// beat does what is due. A process that leaves has no share any more, but keeps its leases until they are released.
func (s *Leases) beat(ctx context.Context, r *renewal, leaving bool) (err error) {
	ctx, cancel := context.WithTimeout(ctx, leaseLimit)
	defer cancel()
	s.expire()
	if leaving && !r.left {
		_, err = s.db.engine.Aside().ExecContext(ctx, `DELETE FROM processes WHERE id = ? OR until < `+serverNow, s.process)
		r.left = err == nil
	}
	if began := time.Now(); began.Sub(r.at) >= leaseRenew {
		if err = s.renew(ctx, began, !r.left); err == nil {
			r.at = began
		}
	}
	if err == nil && !leaving {
		err = s.db.engine.Ready() // who cannot write yet would refuse what people wrote meanwhile
	}
	if err == nil && !leaving {
		err = s.balance(ctx)
	}
	return err
}

// expire ends leases that others may have taken, because they could not be renewed.
func (s *Leases) expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.held {
		if !l.trusted() {
			l.lose()
		}
	}
}

// lose notes that another process may have the lease. The caller holds mu.
func (l *lease) lose() {
	l.lost = true
	if l.end != nil {
		l.end(ErrLost)
	}
}

// renew renews the leases, and this process if it stays. Those that it does not have any more are lost.
func (s *Leases) renew(ctx context.Context, began time.Time, stays bool) error {
	aside := s.db.engine.Aside()
	if stays {
		_, err := aside.ExecContext(ctx, `INSERT INTO processes (id, until, began, host, version) VALUES (?, `+serverNow+` + ?, `+serverNow+`, ?, ?)
			ON CONFLICT (id) DO UPDATE SET until = excluded.until`, s.process, leaseHold.Milliseconds(), s.host, s.Version)
		if err != nil {
			return err
		}
	}
	rows, err := aside.QueryContext(ctx, `WITH finished AS (UPDATE finishing SET until = `+serverNow+` + ?1 WHERE holder = ?2 RETURNING shard, fence),
		kept AS (UPDATE shards SET until = `+serverNow+` + ?1 WHERE holder = ?2 AND number = ANY (CAST(CAST(?3 AS TEXT) AS BIGINT[])) RETURNING number, fence)
		SELECT * FROM finished UNION ALL SELECT * FROM kept`,
		leaseHold.Milliseconds(), s.process, listed(s.numbers(func(l *lease) bool { return !l.lost })))
	fences, err := Mapped[int, int64](s.db, "read leases", rows, err)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for n, l := range s.held {
		switch fence, mine := fences[n]; {
		case mine && fence == l.fence:
			l.renewed = began
		case l.renewed.Before(began): // else it was taken meanwhile
			l.lose()
		}
	}
	return nil
}

// numbers returns the shards whose leases match.
func (s *Leases) numbers(match func(*lease) bool) (all []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n, l := range s.held {
		if match(l) {
			all = append(all, n)
		}
	}
	return all
}

// amongShards is true for the shards in a list. Its parameter comes from listed.
const amongShards = `number = ANY (CAST(CAST(? AS TEXT) AS BIGINT[]))`

func listed(numbers []int) string {
	return "{" + strings.Trim(strings.Join(strings.Fields(fmt.Sprint(numbers)), ","), "[]") + "}"
}

// balance takes shards up to this process's share, or asks for the release of one beyond it. It may still be named as the holder of a shard
// that it could not release.
func (s *Leases) balance(ctx context.Context) error {
	aside := s.db.engine.Aside()
	var live int
	if err := aside.QueryRowContext(ctx, `SELECT count(*) FROM processes WHERE until > `+serverNow).Scan(&live); err != nil {
		return err
	}
	s.mu.Lock()
	s.live = max(1, live)
	share := (s.total + s.live - 1) / s.live
	kept := 0
	for _, l := range s.held {
		if !l.passed {
			kept++
		}
	}
	lacking := share - kept
	s.short = kept < s.total-(s.live-1)*share // what is left if all others have their share
	if lacking < 0 {
		s.giveUpOne(-lacking)
	}
	s.mu.Unlock()
	if lacking <= 0 {
		return nil
	}
	began := time.Now()
	rows, err := aside.QueryContext(ctx, `UPDATE shards SET holder = ?, fence = fence + 1, since = `+serverNow+`, until = `+serverNow+` + ? WHERE number IN (
		SELECT number FROM shards WHERE (until <= `+serverNow+` OR holder = ?) AND NOT `+amongShards+` ORDER BY number LIMIT 0 + ? FOR UPDATE SKIP LOCKED)
		RETURNING number, fence`, s.process, leaseHold.Milliseconds(), s.process, listed(s.numbers(func(*lease) bool { return true })), lacking)
	fences, err := Mapped[int, int64](s.db, "read leases", rows, err)
	if err != nil || len(fences) == 0 {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for n, fence := range fences {
		s.held[n] = &lease{fence: fence, renewed: began}
	}
	close(s.taken)
	s.taken = make(chan struct{})
	return nil
}

// giveUpOne asks the holder of the last lease for its release, unless enough are about to be released. The caller holds mu.
func (s *Leases) giveUpOne(surplus int) {
	last := -1
	for n, l := range s.held {
		switch {
		case l.passed:
		case l.ending:
			surplus--
		case l.end != nil:
			last = max(last, n)
		}
	}
	if surplus > 0 && last >= 0 {
		s.held[last].ending = true
		s.held[last].end(context.Canceled)
	}
}

// leave releases the leases that nobody has asked for, and reports whether none is left.
func (s *Leases) leave() (done bool) {
	for _, n := range s.numbers(func(l *lease) bool { return l.end == nil }) {
		s.Release(n)
	}
	return len(s.numbers(func(*lease) bool { return true })) == 0
}

// Hold waits until this process holds a shard. The context that it returns ends with ctx, when the lease is lost, or when it is to be
// released. The caller must call Release then.
func (s *Leases) Hold(ctx context.Context, shard int) (context.Context, error) {
	for {
		s.mu.Lock()
		taken := s.taken
		if l := s.held[shard]; l != nil && l.end == nil && ctx.Err() == nil {
			var held context.Context
			if held, l.end = context.WithCancelCause(ctx); l.lost {
				l.end(ErrLost)
			}
			s.mu.Unlock()
			return held, nil
		}
		s.mu.Unlock()
		select {
		case <-taken:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Pass lets another process have a shard from now on. This one may finish what it has begun there, until Release. work returns the ids of
// that, turns and claims. It is called when nothing more begins.
func (s *Leases) Pass(shard int, work func() []string) {
	s.mu.Lock()
	l := s.held[shard]
	if l != nil {
		l.passed = true
	}
	s.mu.Unlock()
	ids := work()
	if l == nil || len(ids) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), leaseLimit)
	defer cancel()
	_, _ = s.db.engine.Aside().ExecContext(ctx, `WITH passed AS (UPDATE shards SET holder = '', until = 0 WHERE number = ?1 AND holder = ?2 AND fence = ?3 RETURNING number)
		INSERT INTO finishing SELECT number, ?3, ?2, `+serverNow+` + ?4, ?5 FROM passed`,
		shard, s.process, l.fence, leaseHold.Milliseconds(), strings.Join(ids, " ")) // else Release gives it up
}

// Finishing returns the ids of what other processes finish in a shard that this one has taken. It asks until the database answers or ctx is done.
func (s *Leases) Finishing(ctx context.Context, shard int) []string {
	var work string
	for {
		_, err := s.db.engine.Aside().ExecContext(ctx, `DELETE FROM finishing WHERE until < `+serverNow) // nobody finishes that any more
		if err == nil {
			err = s.db.engine.Aside().QueryRowContext(ctx, `SELECT coalesce(string_agg(work, ' '), '') FROM finishing WHERE shard = ?`, shard).Scan(&work)
		}
		if err == nil || pause(ctx, leaseRetry) != nil {
			return strings.Fields(work)
		}
	}
}

// Finished waits until other processes finish nothing in a shard, or ctx is done.
func (s *Leases) Finished(ctx context.Context, shard int) {
	for len(s.Finishing(ctx, shard)) > 0 && pause(ctx, leaseBeat) == nil {
	}
}

// Release gives a shard up, and another process may take it.
func (s *Leases) Release(shard int) {
	s.mu.Lock()
	l := s.held[shard]
	s.mu.Unlock()
	if l == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), leaseLimit)
	defer cancel()
	_, _ = s.db.engine.Aside().ExecContext(ctx, `WITH finished AS (DELETE FROM finishing WHERE shard = ?1 AND holder = ?2 AND fence = ?3)
		UPDATE shards SET holder = '', until = 0 WHERE number = ?1 AND holder = ?2 AND fence = ?3`, shard, s.process, l.fence) // else it ends by itself
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.held, shard)
}

// Holds reports whether this process may act for a shard now. It asks nobody.
func (s *Leases) Holds(shard int) bool { return s.holds(shard, false) }

// Finishes is Holds, but also for a shard that was passed on.
func (s *Leases) Finishes(shard int) bool { return s.holds(shard, true) }

func (s *Leases) holds(shard int, passed bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.held[shard]
	return l != nil && l.trusted() && (passed || !l.passed)
}

// HoldsFor is Holds for the shard of a server, or with "" of direct messages.
func (s *Leases) HoldsFor(guildID string) bool {
	s.mu.Lock()
	of := s.total
	s.mu.Unlock()
	return of == 0 || s.Holds(s.ShardOf(guildID, of))
}

// Short reports whether this process has fewer shards than are left once all others have their share.
func (s *Leases) Short() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.short
}

// Live returns how many processes share the shards.
func (s *Leases) Live() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live
}

// Fleet is the processes that share a database, and who has which shard. All times are those of the server's clock.
type Fleet struct {
	Now       time.Time
	Processes []Process // oldest first, also those that are gone and were not missed yet
	Shards    []Holding // by number
}

// Process is one that shares the database.
type Process struct {
	ID, Host, Version string
	Began, Until      time.Time // it counts as alive until then; Began is zero if it does not say
}

// Holding says who has a shard.
type Holding struct {
	Number      int
	Holder      string    // id of a process; "": nobody
	Since, Seen time.Time // when it was taken, and when its session was saved last; zero: not known
	Until       time.Time // the lease ends then
}

// Name returns a name of the process for people. Several may run on one machine.
func (p Process) Name() string { return p.Host + "/" + p.ID[:min(6, len(p.ID))] }

// Of returns the shards that a process has now; with "" those that nobody has.
func (f Fleet) Of(process string) (shards []Holding) {
	for _, h := range f.Shards {
		if held := h.Until.After(f.Now); held && h.Holder == process || !held && process == "" {
			shards = append(shards, h)
		}
	}
	return shards
}

// Alive returns the processes that count as alive.
func (f Fleet) Alive() []Process {
	return slices.DeleteFunc(slices.Clone(f.Processes), func(p Process) bool { return !p.Until.After(f.Now) })
}

// Fleet returns who shares the database now. It has nobody where it cannot be shared.
func (s *Leases) Fleet(ctx context.Context) (f Fleet, err error) {
	if !IsServer(s.db.engine.Place()) {
		return f, nil
	}
	if err := s.db.QueryRow(ctx, `SELECT `+serverNow).Scan(millis{&f.Now}); err != nil {
		return f, s.db.Explain(err)
	}
	f.Processes, err = List(ctx, s.db, "read processes", func(row Scanner) (p Process, err error) {
		err = row.Scan(&p.ID, &p.Host, &p.Version, millis{&p.Began}, millis{&p.Until})
		return p, err
	}, `SELECT id, host, version, began, until FROM processes ORDER BY began, id`)
	if err != nil {
		return f, err
	}
	f.Shards, err = List(ctx, s.db, "read who has the shards", func(row Scanner) (h Holding, err error) {
		err = row.Scan(&h.Number, &h.Holder, millis{&h.Since}, millis{&h.Until}, millis{&h.Seen})
		return h, err
	}, `SELECT number, holder, since, until, seen FROM shards ORDER BY number`)
	return f, err
}

// millis scans a column with milliseconds since 1970; 0 is the zero time.
type millis struct{ at *time.Time }

// Scan implements [sql.Scanner].
func (m millis) Scan(value any) error {
	if n, _ := value.(int64); n != 0 {
		*m.at = time.UnixMilli(n)
	}
	return nil
}
