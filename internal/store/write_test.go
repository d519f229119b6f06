package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"familiar/internal/store/engine"
	"familiar/internal/test/wait"
)

// hold keeps the writer busy until the returned function is called, so that later writes form one batch.
func hold(t *testing.T, db *DB) (letGo func()) {
	begun, free, done := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		done <- db.Write(context.Background(), func(*sql.Tx) error {
			close(begun)
			<-free
			return nil
		})
	}()
	<-begun
	return func() {
		close(free)
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// queue starts a write and returns when it is queued.
func queue(t *testing.T, db *DB, ctx context.Context, f func(*sql.Tx) error) <-chan error {
	db.writes.mu.Lock()
	before := len(db.writes.queue)
	db.writes.mu.Unlock()
	done := make(chan error, 1)
	go func() { done <- db.Write(ctx, f) }()
	if !wait.Until(func() bool {
		db.writes.mu.Lock()
		defer db.writes.mu.Unlock()
		return len(db.writes.queue) > before
	}) {
		t.Fatal("the write was never queued")
	}
	return done
}

func note(key string) func(*sql.Tx) error {
	return func(tx *sql.Tx) error {
		_, err := tx.Exec(`INSERT INTO notes (key, value) VALUES (?, ?)`, key, "v")
		return err
	}
}

func notes(t *testing.T, db *DB) string {
	rows, err := db.Read().Query(`SELECT key FROM notes ORDER BY key`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var k string
		if err := rows.Scan(&k); err != nil {
			t.Fatal(err)
		}
		all = append(all, k)
	}
	return strings.Join(all, " ")
}

func TestOneFailureInABatch(t *testing.T) {
	db, ctx := open(t, t.TempDir()), t.Context()
	sorry := errors.New("sorry")
	letGo := hold(t, db)
	type write struct {
		name string
		f    func(*sql.Tx) error
		fine bool
	}
	writes := []write{
		{"good1", note("good1"), true},
		{"error", func(tx *sql.Tx) error { return errors.Join(note("error")(tx), sorry) }, false},
		{"panic", func(tx *sql.Tx) error { _ = note("panic")(tx); panic("oh") }, false},
		{"constraint", func(tx *sql.Tx) error { return errors.Join(note("c")(tx), note("c")(tx)) }, false},
		{"good2", note("good2"), true},
	}
	var done []<-chan error
	for _, w := range writes {
		done = append(done, queue(t, db, ctx, w.f))
	}
	letGo()
	for i, w := range writes {
		if err := <-done[i]; (err == nil) != w.fine {
			t.Errorf("%s: %v", w.name, err)
		}
	}
	if got := notes(t, db); got != "good1 good2" {
		t.Errorf("written: %s", got)
	}
}

// TestLostTransaction has a write that rolls back the whole transaction, as an interrupted statement does.
func TestLostTransaction(t *testing.T) {
	db, ctx := open(t, t.TempDir()), t.Context()
	letGo := hold(t, db)
	before := queue(t, db, ctx, note("before"))
	bad := queue(t, db, ctx, func(tx *sql.Tx) error {
		_, err := tx.Exec(`ROLLBACK`)
		return errors.Join(err, errors.New("sorry"))
	})
	after := queue(t, db, ctx, note("after"))
	letGo()
	if err := <-bad; err == nil {
		t.Error("the bad write succeeded")
	}
	if err := errors.Join(<-before, <-after); err != nil {
		t.Errorf("its neighbours: %v", err)
	}
	if got := notes(t, db); got != "after before" {
		t.Errorf("written: %s", got)
	}
}

func TestContextWhileQueued(t *testing.T) {
	db := open(t, t.TempDir())
	letGo := hold(t, db)
	ctx, cancel := context.WithCancel(t.Context())
	waiting := queue(t, db, ctx, note("withdrawn"))
	other := queue(t, db, t.Context(), note("other"))
	cancel()
	if err := <-waiting; !errors.Is(err, context.Canceled) { // the writer is still busy
		t.Errorf("withdrawn write: %v", err)
	}
	letGo()
	if err := <-other; err != nil {
		t.Error(err)
	}
	if got := notes(t, db); got != "other" {
		t.Errorf("written: %s", got)
	}
	if err := db.Write(ctx, note("late")); !errors.Is(err, context.Canceled) {
		t.Errorf("write with an ended context: %v", err)
	}
}

func TestContextAfterItBegan(t *testing.T) {
	db := open(t, t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	err := db.Write(ctx, func(tx *sql.Tx) error {
		cancel()
		return note("kept")(tx)
	})
	if got := notes(t, db); err != nil || got != "kept" {
		t.Errorf("Write = %v, written: %s", err, got)
	}
}

func TestCloseDrains(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir)
	letGo := hold(t, db)
	var done []<-chan error
	for i := range 2*maxBatch + 1 {
		done = append(done, queue(t, db, t.Context(), note(fmt.Sprint(i))))
	}
	closed := make(chan error)
	go func() { closed <- db.Close() }()
	letGo()
	if err := <-closed; err != nil {
		t.Error(err)
	}
	for _, d := range done {
		if err := <-d; err != nil {
			t.Error(err)
		}
	}
	if got := len(strings.Fields(notes(t, open(t, dir)))); got != len(done) {
		t.Errorf("%d of %d notes are there", got, len(done))
	}
}

func TestFullDisk(t *testing.T) {
	db, ctx := openFile(t, t.TempDir()), t.Context()
	if err := db.Notes.Set(ctx, "kept", "v"); err != nil {
		t.Fatal(err)
	}
	limit := func(pages int) {
		if _, err := db.writes.pool.Exec(fmt.Sprintf(`PRAGMA max_page_count = %d`, pages)); err != nil {
			t.Fatal(err)
		}
	}
	limit(1) // SQLite reads this as: not one more page
	letGo := hold(t, db)
	big := queue(t, db, ctx, func(tx *sql.Tx) error {
		_, err := tx.Exec(`INSERT INTO notes (key, value) VALUES ('big', ?)`, strings.Repeat("x", 1<<20))
		return err
	})
	small := queue(t, db, ctx, note("small"))
	letGo()
	if err := <-big; kind(err) != Full || !strings.Contains(err.Error(), "free some space") {
		t.Errorf("big write: %v", err)
	}
	if err := <-small; err != nil {
		t.Errorf("a write that fits: %v", err)
	}
	limit(1 << 30)
	if err := db.Notes.Set(ctx, "later", "v"); err != nil {
		t.Errorf("with space again: %v", err)
	}
	if got := notes(t, db); got != "kept later small" {
		t.Errorf("written: %s", got)
	}
}

// A task that nobody waits for writes only while no other write waits, and each of its steps alone. What a turn writes comes after the step
// that is under way, and before the next.
func TestStepsYield(t *testing.T) {
	db, ctx := open(t, t.TempDir()), t.Context()
	begun, goOn := make(chan struct{}), make(chan struct{})
	var order []string // owned by the writer
	done := make(chan error, 1)
	steps := 0
	go func() {
		done <- db.WriteSteps(context.Background(), 4, func(tx *sql.Tx, n int) (bool, error) {
			order = append(order, "step")
			if steps++; steps == 1 {
				close(begun)
				<-goOn
			}
			return steps < 5, note(fmt.Sprint("step", steps))(tx)
		})
	}()
	<-begun
	var turns []<-chan error
	for i := range 3 {
		turns = append(turns, queue(t, db, ctx, func(tx *sql.Tx) error {
			order = append(order, "turn")
			return note(fmt.Sprint("turn", i))(tx)
		}))
	}
	close(goOn)
	for _, turn := range turns {
		if err := <-turn; err != nil {
			t.Error(err)
		}
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if got := strings.Join(order, " "); got != "step turn turn turn step step step step" {
		t.Errorf("written in this order: %s", got)
	}
	if got := notes(t, db); got != "step1 step2 step3 step4 step5 turn0 turn1 turn2" {
		t.Errorf("written: %s", got)
	}
}

// countedCommits counts the transactions of an engine.
type countedCommits struct {
	engine.Engine
	n    int            // owned by the writer
	then map[int]func() // what is called after which of them
	keep bool           // the last one must survive a loss of power; owned by the writer
}

func (c *countedCommits) Committed(keep bool) {
	c.Engine.Committed(keep)
	c.keep = keep
	if c.n++; c.then[c.n] != nil {
		c.then[c.n]()
	}
}

// TestWhatMustLast checks which writes are synced before they are done. What came is not: Discord has it still, and nothing of an answer is
// visible before a turn begins.
func TestWhatMustLast(t *testing.T) {
	db, ctx := open(t, t.TempDir()), t.Context()
	commits := &countedCommits{Engine: db.writes.engine}
	db.writes.engine = commits
	in := func(f func(*sql.Tx) error) func() error { return func() error { return db.Write(ctx, f) } }
	for _, c := range []struct {
		what string
		want bool
		do   func() error
	}{
		{"a message comes", false, func() error { _, err := arrive(ctx, db, message("1", "c", 0), "1"); return err }},
		{"a turn begins", true, in(func(tx *sql.Tx) error { return db.Claims.Begin(tx, "T", "1") })},
		{"it posts", true, func() error { return db.Claims.SavePost(ctx, "", "T", 0, Post{"P", "Half"}) }},
		{"it ends", true, in(func(tx *sql.Tx) error { return db.Claims.End(tx, "T") })},
		{"it is asked for again", true, func() error { return db.Claims.Reopen(ctx, "", "1", "T", "what was asked") }},
		{"somebody is told", true, func() error { return db.Claims.Close(ctx, "", "1") }},
		{"a command comes", true, func() error { _, err := db.Claims.Claim(ctx, "2"); return err }},
		{"a note is kept", false, func() error { return db.Notes.Set(ctx, "k", "v") }},
	} {
		if err := c.do(); err != nil || commits.keep != c.want {
			t.Errorf("%s: synced %t, %v", c.what, commits.keep, err)
		}
	}
}

// TestChangeRowsInSteps changes and deletes many rows. That goes in steps, between which others write. What ended half way is finished by
// the next call.
func TestChangeRowsInSteps(t *testing.T) {
	db, ctx := open(t, t.TempDir()), t.Context()
	if _, err := db.Exec(ctx, "fill", `INSERT INTO takings (name, until) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT 'all/u', i / 2 FROM n`); err != nil {
		t.Fatal(err)
	}
	half, cancel := context.WithCancel(ctx)
	defer cancel()
	commits := &countedCommits{Engine: db.writes.engine, then: map[int]func(){2: cancel}}
	db.writes.engine = commits
	rename := func(ctx context.Context) (int, error) {
		return db.ChangeRows(ctx, "takings", "name, until", `name = @old`, `name = @new`, Args{"old": "all/u", "new": "all/v"})
	}
	first, err := rename(half)
	if !errors.Is(err, context.Canceled) || first == 0 || first > 100 {
		t.Errorf("%d rows in two steps, %v", first, err)
	}
	if rest, err := rename(ctx); err != nil || first+rest != 1000 {
		t.Errorf("%d rows, and %d more, %v", first, rest, err)
	}
	if n, err := db.ChangeRows(ctx, "takings", "name, until", `name = @new`, "", Args{"new": "all/v"}); n != 1000 || err != nil {
		t.Errorf("%d rows deleted, %v", n, err)
	}
	if left, err := db.CountRows(ctx, "takings", "TRUE", nil); left != 0 || err != nil {
		t.Errorf("%d rows are left, %v", left, err)
	}
	if commits.n < 8 {
		t.Errorf("%d transactions for 2000 changes", commits.n)
	}
}

func TestNextStep(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n    int
		took time.Duration
		want int
	}{
		{8, 500 * time.Microsecond, 16}, {8, time.Millisecond, 8}, {9, 5 * time.Millisecond, 2}, {100, time.Second, 1}, {1, time.Minute, 1}, {60, 0, 64},
	} {
		if got := nextStep(c.n, 64, c.took); got != c.want {
			t.Errorf("after %d things in %v come %d, want %d", c.n, c.took, got, c.want)
		}
	}
}

// TestOnCommit checks that a function is called once, after the commit, and never for a write that fails.
func TestOnCommit(t *testing.T) {
	db := open(t, t.TempDir())
	calls := 0
	note := func() {
		calls++
		if v, err := db.Notes.Get(t.Context(), "k"); err != nil || v != "v" {
			t.Errorf("called before the commit: %q, %v", v, err)
		}
	}
	err := db.Write(t.Context(), func(tx *sql.Tx) error {
		db.OnCommit(note)
		return errors.New("no")
	})
	if err == nil || calls != 0 {
		t.Errorf("after a write that fails: %d calls, %v", calls, err)
	}
	for range 2 {
		if err := db.Write(t.Context(), func(tx *sql.Tx) error {
			if calls == 0 {
				db.OnCommit(note)
			}
			_, err := tx.Exec(setNote, "k", "v")
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	if calls != 1 {
		t.Errorf("%d calls, want 1", calls)
	}
}
