package search

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"familiar/internal/context/turn"
)

// restarted returns an engine over dir, as after a restart.
func restarted(t *testing.T, setup, dir string, backends ...Backend) *Engine {
	t.Helper()
	d, err := OpenDisk(dir, setup, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	e := &Engine{Backends: backends, Disk: d}
	t.Cleanup(func() { e.Close(t.Context()) })
	return e
}

// fullHit returns a hit with every field that a backend sets.
func fullHit() turn.Hit {
	return turn.Hit{
		URL: "https://a.org/?v=1", Title: "A <b> & C", Snippet: "天気\u2028x", Text: "line\nline", Answer: true, DayOnly: true, Given: 0.5,
		Published: time.Date(1999, 12, 1, 0, 0, 0, 0, time.UTC), Thumbnail: "https://a.org/t.png", Media: "https://a.org/v.mp4", Language: "de",
	}
}

// An answer from before a restart stays fresh for its usual lifetime, replaces failures for a day, and then expires.
func TestDiskSurvivesRestart(t *testing.T) {
	for _, test := range []struct {
		name  string
		later time.Duration
		query Query
		setup string
		asked bool
		stale bool
		state turn.State
	}{
		{"at once", 0, Query{Text: "Q"}, "", false, false, turn.Found},
		{"within the hour", 59 * time.Minute, Query{Text: "q "}, "", false, false, turn.Found},
		{"for all limits and types that are alike", 0, Query{Text: "q", Type: typeGeneral, Caller: "somebody", PerMinute: 1}, "", false, false, turn.Found},
		{"after an hour", time.Hour, Query{Text: "q"}, "", true, true, turn.Found},
		{"within a day", 24*time.Hour - time.Second, Query{Text: "q"}, "", true, true, turn.Found},
		{"after a day", 24 * time.Hour, Query{Text: "q"}, "", true, false, turn.LookupFailed},
		{"another query", 0, Query{Text: "another"}, "", true, false, turn.LookupFailed},
		{"another language", 0, Query{Text: "q", Language: "de"}, "", true, false, turn.LookupFailed},
		{"another setup", 0, Query{Text: "q"}, "another", true, false, turn.LookupFailed},
		{"news within 15 minutes", 14 * time.Minute, Query{Text: "news", Intent: "news"}, "", false, false, turn.Found},
		{"news after 15 minutes", 15 * time.Minute, Query{Text: "news", Intent: "news"}, "", true, true, turn.Found},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "searches")
			synctest.Test(t, func(t *testing.T) {
				found := Reply{Hits: []turn.Hit{{URL: "http://10.0.0.1/"}, fullHit()}}
				x := countedAs("x", func(int) (Reply, error) { return found, nil })
				e := restarted(t, "", dir, x)
				first := e.Search(t.Context(), Query{Text: "q"})
				e.Search(t.Context(), Query{Text: "news", Intent: "news"})
				e.Close(t.Context())

				time.Sleep(test.later)
				down := countedAs("x", func(int) (Reply, error) { return Reply{}, &Error{Backend: "x", Code: turn.CodeUnreachable} })
				e = restarted(t, test.setup, dir, down)
				for i := range 2 {
					got := e.Search(t.Context(), test.query)
					if got.State != test.state || (down.n > i) != test.asked || got.Cached == test.asked || (got.Stale > 0) != test.stale {
						t.Fatalf("%s, asked %d times, cached %t, %s old", got.State, down.n, got.Cached, got.Stale)
					}
					if got.State != turn.Found {
						continue
					}
					if diff := cmp.Diff(first.Hits, got.Hits, cmpopts.IgnoreFields(turn.Hit{}, "Age", "Score")); diff != "" || got.Hits[0].Age.Round(time.Second) != test.later {
						t.Errorf("%s old, -want +got:\n%s", got.Hits[0].Age, diff)
					}
				}
				hits := 0
				if !test.asked {
					hits = 1
				}
				if s := e.Stats(); s.DiskHits != hits || s.Dropped+s.Faults != 0 {
					t.Errorf("%+v", s)
				}
			})
		})
	}
}

// The disk keeps hits only. Missing parts stay missing, and no file reveals a query.
func TestDiskKeepsOnlyHits(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "searches")
	part := countedAs("part", func(int) (Reply, error) {
		return Reply{Hits: one("part.org")}, &Error{Backend: "part", Code: turn.CodeUpstream, Detail: "an engine failed", RetryAfter: time.Hour}
	})
	rest := []Backend{fake{name: "empty"}, fake{name: "down", err: &Error{Code: turn.CodeBlocked}}}
	e := restarted(t, "", dir, append(rest, part)...)
	e.Search(t.Context(), Query{Text: "somebody's secret", Place: "somewhere"})
	e.Close(t.Context())
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	file := filepath.Join(dir, files[0].Name())
	data, err := os.ReadFile(file)
	if err != nil || bytes.Contains(data, []byte("some")) {
		t.Errorf("%q, %v", data, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	e = restarted(t, "", dir, part)
	got := e.Search(t.Context(), Query{Text: "somebody's secret", Place: "somewhere"})
	if part.n != 1 || got.complete || got.Asked[0].Detail != "cached; an engine failed" {
		t.Errorf("asked %d times; %+v", part.n, got)
	}
}

// Files that hold what no backend could have returned are not used.
func TestDiskFilesAreValidated(t *testing.T) {
	for name, hits := range map[string][]turn.Hit{
		"address": {{Backend: "x", URL: "http://127.0.0.1/"}, {Backend: "x", URL: "javascript:alert(1)"}, {Backend: "x"}},
		"backend": {{Backend: "y", URL: "https://y.org/"}},
	} {
		x := countedAs("x", nil)
		e := restarted(t, "", filepath.Join(t.TempDir(), "searches"), x)
		q := Query{Text: "q"}.withDefaults()
		planted := answer{at: time.Now()}
		for _, h := range hits {
			planted.hits = append(planted.hits, candidate{Hit: h})
		}
		e.Disk.put(keyOf("x", q), planted)
		got := e.Search(t.Context(), q)
		if x.n != 1 || got.Cached || len(got.Hits) != 1 || !strings.Contains(got.Hits[0].URL, "x.org") {
			t.Errorf("%s: asked %d times: %+v", name, x.n, got.Hits)
		}
	}
}

// Two processes share the answers on one disk.
func TestDiskIsShared(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "searches")
	synctest.Test(t, func(t *testing.T) {
		a, b := countedAs("x", nil), countedAs("x", nil)
		ea, eb := restarted(t, "", dir, a), restarted(t, "", dir, b)
		for range 8 { // four hours
			for _, e := range []*Engine{ea, eb} {
				if got := e.Search(t.Context(), Query{Text: "q"}); got.Hits[0].Age >= keepAnswer {
					t.Errorf("a hit is %s old", got.Hits[0].Age)
				}
				e.Wait()
			}
			time.Sleep(30 * time.Minute)
		}
		if a.n+b.n != 4 {
			t.Errorf("asked %d times, want once an hour", a.n+b.n)
		}
	})
}

// Forget removes answers and their files, so the backend is asked again.
func TestForget(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "searches")
	x := countedAs("x", nil)
	e := restarted(t, "", dir, x)
	ask := func(want int) {
		t.Helper()
		e.Search(t.Context(), Query{Text: "q"})
		e.Wait() // for pending writes
		if files, err := os.ReadDir(dir); err != nil || len(files) != 1 || x.n != want {
			t.Errorf("asked %d times, %d files, %v", x.n, len(files), err)
		}
	}
	ask(1)
	ask(1)
	if err := e.Forget(); err != nil {
		t.Fatal(err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
		t.Errorf("%d files are left, %v", len(files), err)
	}
	ask(2)
}
