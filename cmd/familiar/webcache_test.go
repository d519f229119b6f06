package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"familiar/internal/app"
	"familiar/internal/store"
)

// TestWebCache looks the same thing up twice over a directory that keeps it. The second time nothing leaves the machine, and what is kept
// is for nobody else.
func TestWebCache(t *testing.T) {
	t.Parallel()
	c := newConversation(t, txtar.Parse([]byte(mountain)))
	c.env["FAMILIAR_WEB_CACHE"] = "web"
	for range 2 {
		code, out, complaint := c.command(nil, "lookup", "how high is Mount Example?")
		if code != exitOK || !strings.Contains(out, "4,321") {
			t.Errorf("exit code %d, errors %q:\n%s", code, complaint, out)
		}
	}
	if asked := c.search.asked(); len(asked) != 1 {
		t.Errorf("asked %q", asked)
	}
	if n := c.web.Hits("https://fast.example.org/mount"); n != 1 {
		t.Errorf("fetched %d times", n)
	}
	if kept := c.webCache(); kept["pages"] != 1 || kept["searches"] != 1 {
		t.Errorf("kept %v", kept)
	}
	if code, _, complaint := c.command(nil, "erase", "--yes", "1001"); code != exitOK {
		t.Errorf("erase: exit code %d, errors %q", code, complaint)
	}
	if kept := c.webCache(); len(kept) != 0 {
		t.Errorf("when somebody is forgotten, %v are left", kept)
	}
}

// TestEraseWithUnusableWebCache: where the directory cannot be used nobody is forgotten by halves, and where there is none, nothing else goes.
func TestEraseWithUnusableWebCache(t *testing.T) {
	t.Parallel()
	c := newConversation(t, txtar.Parse(nil))
	db, err := store.Open(t.Context(), filepath.Join(c.dir, "data"))
	c.must(err)
	_, err = db.Messages.SaveIncoming(t.Context(), store.Incoming{Message: store.Message{ID: "91001", ChannelID: "5", GuildID: "6", AuthorID: "1001", AuthorName: "ana", Text: "words", At: time.Now()}})
	c.must(err)
	c.must(db.Close())
	c.env["FAMILIAR_WEB_CACHE"] = "/dev/null/pages"
	if code, _, complaint := c.command(nil, "erase", "--yes", "1001"); code == exitOK || !strings.Contains(complaint, "FAMILIAR_WEB_CACHE: ") {
		t.Errorf("exit code %d, errors %q", code, complaint)
	}
	other := filepath.Join(c.dir, strings.Repeat("a", 64)+".page")
	c.must(os.WriteFile(other, nil, 0o600))
	delete(c.env, "FAMILIAR_WEB_CACHE")
	if code, out, complaint := c.command(nil, "erase", "--yes", "1001"); code != exitOK || !strings.Contains(out, "messages   1 → 0\n") {
		t.Errorf("exit code %d, errors %q:\n%s", code, complaint, out)
	}
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
}

// webCache counts what is kept of the web on disk by its directories. It checks that it is for nobody else.
func (c *conversation) webCache() map[string]int {
	c.Helper()
	kept := map[string]int{}
	c.must(filepath.WalkDir(filepath.Join(c.dir, "web"), func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			c.Errorf("%s: %v", path, info.Mode())
		}
		if !e.IsDir() {
			kept[filepath.Base(filepath.Dir(path))]++
		}
		return err
	}))
	return kept
}

// TestWebCacheOfOthers refuses a directory in which others may write, whichever it is.
func TestWebCacheOfOthers(t *testing.T) {
	t.Parallel()
	for _, open := range []string{"", "pages", "searches"} {
		c := newConversation(t, txtar.Parse([]byte(mountain)))
		c.env["FAMILIAR_WEB_CACHE"] = "web"
		dir := filepath.Join(c.dir, "web", open)
		c.must(os.MkdirAll(dir, 0o700))
		c.must(os.Chmod(dir, 0o777))
		for _, args := range [][]string{{"config", "check"}, {"lookup", "how high is Mount Example?"}} {
			code, _, complaint := c.command(nil, args...)
			if code != exitUsage || !strings.Contains(complaint, "FAMILIAR_WEB_CACHE: ") || !strings.Contains(complaint, dir) {
				t.Errorf("%q, %v: exit code %d, errors %q", open, args, code, complaint)
			}
		}
	}
}

// TestAdvancedDepthReads reads candidates of a search as a lookup reads pages.
func TestAdvancedDepthReads(t *testing.T) {
	t.Parallel()
	special, err := txtar.ParseFile("testdata/wikipediaurl.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		archive       *txtar.Archive
		address, want string
	}{
		{special, "https://en.m.wikipedia.org/wiki/Sample_Point_Light", "was built in 1871 by masons"},
		{txtar.Parse([]byte(mountain)), "https://fast.example.org/mount", "4,321 metres high"},
	} {
		c := newConversation(t, test.archive)
		a, err := app.Open(t.Context(), (&program{dir: c.dir, err: t.Output(), far: c.far(), env: func(name string) (string, bool) { v, ok := c.env[name]; return v, ok }}).process(), app.ToRead)
		c.must(err)
		got, err := a.Read(t.Context(), "", test.address)
		if err != nil || got.Title == "" || !strings.Contains(got.Text, test.want) || strings.Contains(got.Text, "should not have been asked") {
			t.Errorf("%s: %+v, %v", test.address, got, err)
		}
		c.must(a.Close())
	}
}
