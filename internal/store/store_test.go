package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"familiar/internal/store/engine"
	"familiar/internal/test/postgres"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("STORE_TEST_CHILD"); dir != "" {
		child(dir)
		return
	}
	if dir := os.Getenv("STORE_TEST_DISK"); dir != "" {
		smallDisk(dir)
		return
	}
	goleak.VerifyTestMain(m)
}

// The files of a store.
const (
	fileName = "familiar.db"
	lockName = "familiar.lock"
)

// seed makes dir as if a store had been opened there and closed. Making a new one takes longer than most tests. Tests of creation call Open
// themselves.
func seed(tb testing.TB, dir string) {
	tb.Helper()
	path := filepath.Join(dir, fileName)
	if _, err := os.Stat(path); err == nil {
		return
	}
	file, err := empty()
	if err == nil {
		err = os.WriteFile(path, file, 0o600)
	}
	if err != nil {
		tb.Fatal(err)
	}
}

var empty = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "familiar")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	db, err := Open(context.Background(), dir)
	if err != nil {
		return nil, err
	}
	if err := db.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(dir, fileName))
})

// open opens a store that is closed at the end of the test.
func open(tb testing.TB, dir string) *DB {
	tb.Helper()
	if postgres.Used() {
		return openAt(tb, postgres.Place(tb, dir), Open)
	}
	return openFile(tb, dir)
}

// openFile is open for tests of the file.
func openFile(tb testing.TB, dir string) *DB {
	tb.Helper()
	seed(tb, dir)
	return openAt(tb, dir, Open)
}

func openAt(tb testing.TB, place string, how func(ctx context.Context, place string) (*DB, error)) *DB {
	tb.Helper()
	db, err := how(tb.Context(), place)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Error(err)
		}
	})
	return db
}

type counter struct{ n atomic.Int64 }

func (c *counter) next() int64 { return c.n.Add(1) }

var noon = time.Date(2026, 5, 1, 12, 0, 0, 123456000, time.UTC)

func message(id, channel string, minute int) Message {
	return Message{ID: id, ChannelID: channel, GuildID: "g", AuthorID: "u1", AuthorName: "Ada", Text: "text of " + id,
		At: noon.Add(time.Duration(minute) * time.Minute)}
}

func ids(ms []Message) []string {
	var all []string
	for _, m := range ms {
		all = append(all, m.ID)
	}
	return all
}

func TestMessages(t *testing.T) {
	db, ctx := open(t, t.TempDir()), t.Context()
	whole := Message{ID: "m4", ChannelID: "a", GuildID: "g", AuthorID: "u1", AuthorName: "Ada 🦉", Text: "line\nline \x00 ' \"", ReplyTo: "m2",
		TurnID: "t1", At: noon.Add(4 * time.Minute), Own: true}
	// Out of order, two of the same moment, one of another channel.
	err := db.Messages.Save(ctx, message("m3", "a", 3), whole, message("m2b", "a", 2), message("m2", "a", 2), message("x1", "b", 9), message("m1", "a", 1))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		n    int
		want []string
	}{
		{20, []string{"m1", "m2", "m2b", "m3", "m4"}},
		{3, []string{"m2b", "m3", "m4"}},
		{0, nil},
	} {
		got, err := db.Messages.Recent(ctx, "a", c.n)
		if err != nil || !slices.Equal(ids(got), c.want) {
			t.Errorf("Recent(a, %d) = %v, %v; want %v", c.n, ids(got), err, c.want)
		}
	}
	if postgres.Used() { // which has no zero bytes in texts
		whole.Text = strings.ReplaceAll(whole.Text, "\x00", "\ufffd")
	}
	got, err := db.Messages.Get(ctx, "m4")
	if diff := cmp.Diff(whole, got); err != nil || diff != "" {
		t.Errorf("Message(m4): %v\n%s", err, diff)
	}
	whole.Text = "new"
	if err := db.Messages.Save(ctx, whole); err != nil {
		t.Fatal(err)
	}
	if got, err := db.Messages.Get(ctx, "m4"); err != nil || got != whole {
		t.Errorf("saved again: %v, %v", got, err)
	}
	if err := db.Messages.Delete(ctx, "m4"); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Messages.Get(ctx, "m4"); !errors.Is(err, ErrNotFound) {
		t.Errorf("deleted message: %v", err)
	}
}

func TestEditMessage(t *testing.T) {
	db, ctx := open(t, t.TempDir()), t.Context()
	if err := db.Messages.Save(ctx, message("m", "a", 0)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		id, text string
		want     bool
	}{
		{"m", "text of m", false},
		{"m", "other", true},
		{"m", "other", false},
		{"unknown", "other", false},
	} {
		if got, err := db.Messages.Edit(ctx, c.id, c.text); got != c.want || err != nil {
			t.Errorf("EditMessage(%q, %q) = %v, %v", c.id, c.text, got, err)
		}
	}
}

func TestChain(t *testing.T) {
	db, ctx := open(t, t.TempDir()), t.Context()
	reply := func(id, channel, to string) Message {
		m := message(id, channel, 0)
		m.ReplyTo = to
		return m
	}
	err := db.Messages.Save(ctx, reply("1", "a", "gone"), reply("2", "a", "1"), reply("3", "a", "2"), reply("4", "a", "3"),
		reply("away", "b", "1"), reply("ring1", "a", "ring2"), reply("ring2", "a", "ring1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		id   string
		n    int
		want []string
	}{
		{"4", 9, []string{"3", "2", "1"}},
		{"4", 2, []string{"3", "2"}},
		{"1", 9, nil},
		{"away", 9, nil},
		{"ring1", 3, []string{"ring2", "ring1", "ring2"}},
	} {
		got, err := db.Messages.Chain(ctx, c.id, c.n)
		if err != nil || !slices.Equal(ids(got), c.want) {
			t.Errorf("Chain(%s, %d) = %v, %v; want %v", c.id, c.n, ids(got), err, c.want)
		}
	}
	if _, err := db.Messages.Chain(ctx, "unknown", 9); !errors.Is(err, ErrNotFound) {
		t.Errorf("chain of an unknown message: %v", err)
	}
}

func TestArriveClaimsOnce(t *testing.T) {
	dir := t.TempDir()
	db, ctx := open(t, dir), t.Context()
	m := message("m", "a", 0)
	var firsts counter
	done := make(chan error)
	for range 20 {
		go func() {
			first, err := arrive(ctx, db, m, "event")
			if first {
				firsts.next()
			}
			done <- err
		}()
	}
	for range 20 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if n := firsts.n.Load(); n != 1 {
		t.Errorf("%d of 20 were first", n)
	}
	// The same event again, after an edit and a restart.
	if _, err := db.Messages.Edit(ctx, "m", "edited"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = open(t, dir)
	if first, err := arrive(ctx, db, m, "event"); first || err != nil {
		t.Errorf("after a restart: %v, %v", first, err)
	}
	if first, err := arrive(ctx, db, m, ""); first || err != nil {
		t.Errorf("without a claim: %v, %v", first, err)
	}
	if got, err := db.Messages.Get(ctx, "m"); err != nil || got.Text != "edited" {
		t.Errorf("an old event undid an edit: %q, %v", got.Text, err)
	}
	if n, err := db.ChangeRows(ctx, "claims", "event_id", `at < @limit`, "", Args{"limit": time.Now().Add(time.Minute).UnixMicro()}); n != 1 || err != nil {
		t.Errorf("%d claims pruned, %v", n, err)
	}
	if first, err := arrive(ctx, db, m, "event"); !first || err != nil {
		t.Errorf("after pruning: %v, %v", first, err)
	}
}

// set sets the settings of a channel to want.
func set(t *testing.T, db *DB, want Channel) {
	t.Helper()
	got, err := db.Settings.ChangeChannel(t.Context(), Channel{ID: want.ID, GuildID: want.GuildID}, By{}, func(c *Channel) { *c = want })
	if err != nil || got != want {
		t.Fatalf("ChangeChannel = %+v, %v", got, err)
	}
}

// TestChangesToAChannel checks that concurrent changes are all kept, and that only the first applies to the inherited settings.
func TestChangesToAChannel(t *testing.T) {
	db, ctx := open(t, t.TempDir()), t.Context()
	var all sync.WaitGroup
	for _, change := range []func(*Channel){
		func(c *Channel) { c.Mode = "text" }, func(c *Channel) { c.WebOff = true }, func(c *Channel) { c.Bare = true },
	} {
		all.Go(func() {
			if _, err := db.Settings.ChangeChannel(ctx, Channel{ID: "a", GuildID: "g"}, By{}, change); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if c, err := db.Settings.Channel(ctx, "a"); err != nil || c != (Channel{ID: "a", GuildID: "g", Mode: "text", WebOff: true, Bare: true}) {
		t.Errorf("Channel = %+v, %v", c, err)
	}
}

func TestSettingsAndNotes(t *testing.T) {
	dir := t.TempDir()
	db, ctx := open(t, dir), t.Context()
	if c, err := db.Settings.Channel(ctx, "a"); err != nil || c != (Channel{ID: "a"}) {
		t.Errorf("untouched channel: %v, %v", c, err)
	}
	if _, err := db.Notes.Get(ctx, "k"); !errors.Is(err, ErrNotFound) {
		t.Errorf("missing note: %v", err)
	}
	for _, c := range []Channel{{ID: "a", Mode: "text", WebOff: true}, {ID: "a", Mode: "full_rp"}} {
		set(t, db, c)
		if err := db.Notes.Set(ctx, "k", c.Mode); err != nil {
			t.Fatal(err)
		}
	}
	db.Close()
	db = open(t, dir)
	if c, err := db.Settings.Channel(ctx, "a"); err != nil || c != (Channel{ID: "a", Mode: "full_rp"}) {
		t.Errorf("Channel = %v, %v", c, err)
	}
	if v, err := db.Notes.Get(ctx, "k"); err != nil || v != "full_rp" {
		t.Errorf("Note = %q, %v", v, err)
	}
}

func TestFilesAreTheOwnersAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "data # 100%?")
	db, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Notes.Set(t.Context(), "k", "v"); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("directory: %v, %v", info.Mode(), err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 4 { // database, -wal, -shm, lock
		t.Errorf("files: %v, %v", files, err)
	}
	for _, f := range files {
		if info, err := f.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", f.Name(), info.Mode(), err)
		}
	}
}

func TestReadersCannotWrite(t *testing.T) {
	db := open(t, t.TempDir())
	_, err := db.Read().Exec(`DELETE FROM messages`)
	if k := kind(db.Explain(err)); k != engine.ReadOnly && k != engine.Replica {
		t.Errorf("a write through a reader: %v", err)
	}
}

func TestLook(t *testing.T) {
	dir := t.TempDir()
	if _, err := Look(t.Context(), dir); kind(err) != Missing {
		t.Errorf("an empty directory: %v", err)
	}
	db := openFile(t, dir)
	if err := db.Notes.Set(t.Context(), "k", "v"); err != nil {
		t.Fatal(err)
	}
	looker, err := Look(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer looker.Close()
	if v, err := looker.Notes.Get(t.Context(), "k"); v != "v" || err != nil {
		t.Errorf("Note = %q, %v", v, err)
	}
	if err := looker.Notes.Set(t.Context(), "k", "w"); kind(err) != engine.ReadOnly {
		t.Errorf("a looker wrote: %v", err)
	}
	setVersion(t, db, 28)
	if _, err := Look(t.Context(), dir); kind(err) != Older {
		t.Errorf("an old schema: %v", err)
	}
}

func TestClosed(t *testing.T) {
	db := open(t, t.TempDir())
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := db.Notes.Set(context.Background(), "k", "v"); !errors.Is(err, errClosed) {
		t.Errorf("write after Close: %v", err)
	}
	if _, err := db.Messages.Recent(context.Background(), "a", 1); err == nil {
		t.Error("read after Close succeeded")
	}
}

func TestOpenStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, t.TempDir()); !errors.Is(err, context.Canceled) {
		t.Errorf("Open: %v", err)
	}
}

func kind(err error) engine.Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return engine.Kind(fmt.Sprintf("%T", err))
}

// TestBeside writes from two processes. One of them owns the store.
func TestBeside(t *testing.T) {
	dir := t.TempDir()
	if _, err := Beside(t.Context(), dir); !isKind(err, Missing) {
		t.Errorf("a store that is not there: %v", err)
	}
	seed(t, dir)
	owner, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	other, err := Beside(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	var writing sync.WaitGroup
	for i, db := range []*DB{owner, other} {
		writing.Go(func() {
			for n := range 50 {
				if err := db.Notes.Set(t.Context(), fmt.Sprint("note ", i, n), "text"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writing.Wait()
	if err := other.Close(); err != nil {
		t.Error(err)
	}
	for i := range 2 {
		if _, err := owner.Notes.Get(t.Context(), fmt.Sprint("note ", i, 49)); err != nil {
			t.Error(err)
		}
	}
	if err := owner.Close(); err != nil {
		t.Error(err)
	}
	again, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

func isKind(err error, kind engine.Kind) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind == kind
}
