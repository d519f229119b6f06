package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"familiar/internal/test/postgres"
	"familiar/internal/test/wait"
)

// member is one of several processes that share a database.
type member struct {
	*DB
	stop func() // waits for the end of its leases
	ctx  context.Context
}

// modulo takes the number of a server for its id.
func modulo(guildID string, of int) int {
	n, _ := strconv.Atoi(guildID)
	return n % of
}

// join opens the database of a test as one process of several, which holds what it gets.
func join(t *testing.T, place string, of int) *member {
	t.Helper()
	db, err := Share(t.Context(), place)
	if err != nil {
		t.Fatal(err)
	}
	db.Leases.ShardOf = modulo
	m := &member{DB: db, ctx: t.Context()}
	got, err := db.Leases.Agree(t.Context(), func(context.Context, int) (int, error) { return of, nil })
	if err != nil || got != of {
		t.Fatalf("%d shards, %v", got, err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { db.Leases.Run(ctx) })
	for n := range of {
		running.Go(func() {
			for {
				held, err := db.Leases.Hold(ctx, n)
				if err != nil {
					return
				}
				<-held.Done()
				db.Leases.Release(n)
			}
		})
	}
	m.stop = sync.OnceFunc(func() {
		stop()
		running.Wait()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(m.stop)
	return m
}

// holds returns the shards that a process holds.
func (m *member) holds() (all []int) {
	for n := range m.Leases.total {
		if m.Leases.Holds(n) {
			all = append(all, n)
		}
	}
	return all
}

// balanced waits until the processes hold all shards, each as many as the test wants.
func balanced(t *testing.T, within time.Duration, of int, want int, members ...*member) {
	t.Helper()
	var held [][]int
	if !wait.Within(within, func() bool {
		held = nil
		var all []int
		for _, m := range members {
			mine := m.holds()
			held = append(held, mine)
			if all = append(all, mine...); len(mine) > want {
				return false
			}
		}
		slices.Sort(all)
		return len(slices.Compact(all)) == of && len(all) == of
	}) {
		t.Fatalf("of %d shards the processes hold %v", of, held)
	}
	for i, m := range members {
		if !wait.Within(5*time.Second, func() bool { return !m.Leases.Short() }) {
			t.Errorf("of the processes with %v, number %d counts as short", held, i)
		}
	}
}

// A process that may not write yet takes no shard. It would refuse what people wrote meanwhile.
func TestNoShardsBeforeItMayWrite(t *testing.T) {
	db, err := Share(t.Context(), shelter(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.Leases.Agree(t.Context(), func(context.Context, int) (int, error) { return 4, nil }); err != nil {
		t.Fatal(err)
	}
	other, err := db.engine.Aside().Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	var pid, class, object int
	err = other.QueryRowContext(t.Context(), `SELECT pid, CAST(CAST(CAST(classid AS BIGINT) AS BIT(32)) AS INTEGER), CAST(CAST(CAST(objid AS BIGINT) AS BIT(32)) AS INTEGER)
		FROM pg_locks JOIN pg_database d ON d.oid = database WHERE locktype = 'advisory' AND granted AND datname = current_database()`).Scan(&pid, &class, &object)
	for _, statement := range []string{fmt.Sprintf(`SELECT pg_terminate_backend(%d)`, pid), fmt.Sprintf(`SELECT pg_advisory_lock(%d, %d)`, class, object)} {
		if err == nil {
			_, err = other.ExecContext(t.Context(), statement)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if !wait.Within(5*time.Second, func() bool { return db.engine.Ready() != nil }) {
		t.Fatal("the lock is not missed")
	}
	held := func() int { return len(db.Leases.numbers(func(*lease) bool { return true })) }
	if err := db.Leases.beat(t.Context(), &renewal{}, false); err == nil || held() > 0 {
		t.Errorf("%d shards taken, %v", held(), err)
	}
	if _, err := other.ExecContext(t.Context(), `SELECT pg_advisory_unlock_all()`); err != nil {
		t.Fatal(err)
	}
	if !wait.Within(5*time.Second, func() bool { return db.Leases.beat(t.Context(), &renewal{}, false) == nil }) || held() != 4 {
		t.Errorf("%d shards taken", held())
	}
}

// shelter returns the place of a new database that is shared.
func shelter(t *testing.T) string {
	t.Helper()
	postgres.Needed(t)
	return postgres.Place(t, t.TempDir())
}

// TestSharesOfShards checks that processes share the shards evenly as they come and go.
func TestSharesOfShards(t *testing.T) {
	t.Parallel()
	place := shelter(t)
	a := join(t, place, 7)
	balanced(t, 5*time.Second, 7, 7, a)
	b := join(t, place, 7)
	balanced(t, 20*time.Second, 7, 4, a, b)
	c := join(t, place, 7)
	balanced(t, 20*time.Second, 7, 3, a, b, c)
	b.stop()
	balanced(t, 5*time.Second, 7, 4, a, c)
}

// TestDeadAndFrozenHolders checks that the shards of a process that does not renew its leases are taken, once they have ended. When it wakes,
// it may write nothing for them.
func TestDeadAndFrozenHolders(t *testing.T) {
	t.Parallel()
	place := shelter(t)
	frozen, err := Share(t.Context(), place)
	if err != nil {
		t.Fatal(err)
	}
	defer frozen.Close()
	s := frozen.Leases
	s.ShardOf = modulo
	if _, err := s.Agree(t.Context(), func(context.Context, int) (int, error) { return 2, nil }); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.renew(t.Context(), time.Now(), true), s.balance(t.Context())); err != nil {
		t.Fatal(err)
	}
	held, err := s.Hold(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	claim := func(db *DB, id, guild string) bool {
		t.Helper()
		first, err := db.Messages.SaveIncoming(t.Context(), Incoming{Message: Message{ID: id, ChannelID: "c", GuildID: guild, Text: "hello", At: time.Now()}, Claim: id, Event: "{}"})
		if err != nil {
			t.Fatal(err)
		}
		return first[0]
	}
	if !claim(frozen, "1", "1") || s.SaveSession(t.Context(), 1, "session") != nil {
		t.Error("the holder could not claim an event, or save its session")
	}
	began := time.Now()
	other := join(t, place, 2)
	if wait.Within(8*time.Second, func() bool { return other.Leases.Holds(1) }) {
		t.Errorf("a lease was taken after %v", time.Since(began))
	}
	balanced(t, 15*time.Second, 2, 2, other)
	t.Logf("the leases were taken after %v", time.Since(began).Round(time.Millisecond))
	if claim(frozen, "3", "1") || !errors.Is(s.SaveSession(t.Context(), 1, "late"), ErrLost) || !errors.Is(s.SaveServers(t.Context(), map[string]string{"1": "late"}), ErrLost) ||
		!errors.Is(frozen.Claims.Close(t.Context(), "1", "1"), ErrLost) {
		t.Error("a process wrote for a shard that it had lost")
	}
	if s.Holds(1) {
		t.Error("it takes the shard for its own")
	}
	select {
	case <-held.Done():
	default:
		t.Error("it was not told that the shard is lost")
	}
	if session, saved, err := other.Leases.Session(t.Context(), 1); session != "session" || saved.Sub(began).Abs() > time.Second || err != nil {
		t.Errorf("the session is %q of %v, %v", session, saved, err)
	}
	if !claim(other.DB, "3", "1") {
		t.Error("the new holder could not claim an event")
	}
	s.Release(1) // must not take it from the new holder
	if !claim(other.DB, "5", "1") {
		t.Error("a process released a shard that it had lost")
	}
}

// TestPassedOn has a process pass on a shard in which it still answers. Another one takes it within two seconds. The first may finish what it
// named, and begin nothing. The other learns when that is over, also if the first is frozen.
func TestPassedOn(t *testing.T) {
	t.Parallel()
	place := shelter(t)
	first, err := Share(t.Context(), place)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	s := first.Leases
	s.ShardOf = modulo
	if _, err := s.Agree(t.Context(), func(context.Context, int) (int, error) { return 2, nil }); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.renew(t.Context(), time.Now(), true), s.balance(t.Context())); err != nil {
		t.Fatal(err)
	}
	finish := func(guild string) error {
		return first.Claims.SavePost(t.Context(), guild, "T"+guild, 0, Post{ID: "P" + guild, Text: "half"})
	}
	begin := func(guild string) error {
		_, err := first.Claims.ClaimIn(t.Context(), guild, "greeting")
		return err
	}
	if err := s.beat(t.Context(), &renewal{}, true); err != nil { // it leaves
		t.Fatal(err)
	}
	for n, guild := range []string{"0", "1"} {
		s.Pass(n, func() []string {
			if s.Holds(n) || s.HoldsFor(guild) || !s.Finishes(n) || finish(guild) != nil || !errors.Is(begin(guild), ErrLost) {
				t.Errorf("a turn begins in shard %d while it is passed on, or may not be finished", n)
			}
			return []string{"T" + guild, "7"}
		})
	}
	other := join(t, place, 2)
	balanced(t, 2*time.Second, 2, 2, other)
	if err := finish("1"); err != nil || !errors.Is(begin("1"), ErrLost) || !s.Finishes(1) {
		t.Errorf("a turn cannot be finished in a shard that was passed on, or begins there: %v", err)
	}
	if ids := other.Leases.Finishing(t.Context(), 1); !slices.Equal(ids, []string{"T1", "7"}) {
		t.Errorf("it finishes %q", ids)
	}
	over := make(chan int, 2)
	for n := range 2 {
		go func() {
			other.Leases.Finished(t.Context(), n)
			over <- n
		}()
	}
	if err := s.renew(t.Context(), time.Now(), false); err != nil {
		t.Fatal(err)
	}
	s.Release(0)
	if n := <-over; n != 0 {
		t.Errorf("shard %d was finished first", n)
	}
	if n := <-over; n != 1 || s.Finishes(1) || !errors.Is(finish("1"), ErrLost) || !other.Leases.Holds(1) {
		t.Error("a process that was frozen goes on with what another one has taken up")
	}
}

// TestDiesWhileItFinishes has a process die after it passed a shard on. When it starts again, what it was to finish is left to others.
func TestDiesWhileItFinishes(t *testing.T) {
	t.Parallel()
	place, dir := shelter(t), t.TempDir()
	begin := func() *Leases {
		db, err := Share(t.Context(), place)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		if err := db.Leases.Remember(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Leases.Agree(t.Context(), func(context.Context, int) (int, error) { return 1, nil }); err != nil {
			t.Fatal(err)
		}
		return db.Leases
	}
	dead := begin()
	if err := dead.beat(t.Context(), &renewal{}, false); err != nil {
		t.Fatal(err)
	}
	dead.Pass(0, func() []string { return []string{"T"} })
	if ids := dead.Finishing(t.Context(), 0); len(ids) != 1 {
		t.Fatalf("it finishes %q", ids)
	}
	if err := dead.keeps.Close(); err != nil {
		t.Fatal(err)
	}
	again := begin()
	if ids := again.Finishing(t.Context(), 0); len(ids) > 0 || again.process != dead.process {
		t.Errorf("a process that died finishes %q", ids)
	}
}

// TestIdentifiesOfAll checks that IDENTIFYs of all processes are 5 s apart in a bucket. The day's budget is theirs together.
func TestIdentifiesOfAll(t *testing.T) {
	t.Parallel()
	place := shelter(t)
	var all []*DB
	for range 2 {
		db, err := Share(t.Context(), place)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		all = append(all, db)
	}
	began := time.Now()
	var mu sync.Mutex
	took := map[int][]time.Duration{}
	var running sync.WaitGroup
	for i := range 4 {
		running.Go(func() {
			if err := all[i/2].Leases.Identify(t.Context(), i%2, 4, time.Hour); err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			took[i%2] = append(took[i%2], time.Since(began).Round(100*time.Millisecond))
		})
	}
	running.Wait()
	for bucket, times := range took {
		if times[0] > time.Second || times[1] < 5*time.Second || times[1] > 7*time.Second {
			t.Errorf("IDENTIFYs of bucket %d came after %v", bucket, times)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := all[0].Leases.Identify(ctx, 0, 4, time.Hour); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a fifth IDENTIFY of four: %v", err)
	}
}

// TestOthersAreHeard checks that what one process sets is known to the others after a refresh. It does not count its own writes for theirs.
func TestOthersAreHeard(t *testing.T) {
	t.Parallel()
	place := shelter(t)
	ctx := t.Context()
	a, err := Share(ctx, place)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, err := Share(ctx, place)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	mode := func(db *DB) string {
		t.Helper()
		c, err := db.Settings.Channel(ctx, "1")
		if err != nil {
			t.Fatal(err)
		}
		return c.Mode
	}
	refreshed := func(db *DB) bool {
		t.Helper()
		written, err := db.Refresh(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return written
	}
	refreshed(a)
	refreshed(b)
	if mode(a) != "" || mode(b) != "" {
		t.Fatal("a new channel has a mode")
	}
	if _, err := a.Settings.ChangeChannel(ctx, Channel{ID: "1"}, By{}, func(c *Channel) { c.Mode = "text" }); err != nil {
		t.Fatal(err)
	}
	if refreshed(a) || mode(a) != "text" {
		t.Error("a process takes its own write for another's")
	}
	if !refreshed(b) || mode(b) != "text" || refreshed(b) {
		t.Error("a process does not know what another one set")
	}
	if _, err := Open(ctx, place); kind(err) != InUse {
		t.Errorf("a shared store has another owner: %v", err)
	}
}

// TestSharedFromTheFirst has several processes open a new database at once. One of them makes the tables.
func TestSharedFromTheFirst(t *testing.T) {
	t.Parallel()
	postgres.Needed(t)
	place := postgres.New(t)
	var opening sync.WaitGroup
	for range 6 {
		opening.Go(func() {
			db, err := Share(t.Context(), place)
			if err != nil {
				t.Error(err)
				return
			}
			if err := errors.Join(db.Writable(t.Context()), db.Close()); err != nil {
				t.Error(err)
			}
		})
	}
	opening.Wait()
}
