package main

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/memory"
	"familiar/internal/search/backend"
	"familiar/internal/store"
	"familiar/internal/trace"
	"familiar/internal/view"
	"github.com/rogpeppe/go-internal/txtar"
)

// TestJSONSpelling looks at every type that a command prints with --json. Names are small with _ between the words, and durations say their
// unit.
func TestJSONSpelling(t *testing.T) {
	small := regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
	seen := map[reflect.Type]bool{}
	var look func(path string, of reflect.Type)
	look = func(path string, of reflect.Type) {
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			look(path, of.Elem())
			return
		case reflect.Struct:
		default:
			return
		}
		if seen[of] || of == reflect.TypeFor[time.Time]() {
			return
		}
		seen[of] = true
		for i := range of.NumField() {
			f := of.Field(i)
			tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if !f.IsExported() || tag == "-" {
				continue
			}
			name := jsonName(f, tag)
			if !small.MatchString(name) {
				t.Errorf("%s.%s is called %q", path, f.Name, name)
			}
			if f.Type == durationType && !strings.HasSuffix(name, "_ms") {
				t.Errorf("%s.%s has no unit in its name: %q", path, f.Name, name)
			}
			look(path+"."+f.Name, f.Type)
		}
	}
	for _, v := range []any{turn.Trace{}, turn.Lookup{}, trace.Summary{}, view.Searched{}, backend.Status{}, view.PageRecord{}, memory.Statement{}, store.Change{}, store.Feedback{}, examined{}, view.Differences{}} {
		look(reflect.TypeOf(v).Name(), reflect.TypeOf(v))
	}
	if len(seen) < 30 {
		t.Errorf("only %d types were looked at", len(seen))
	}
}

func TestAsJSON(t *testing.T) {
	type inner struct{ ChannelID, URL string }
	got, err := asJSON(struct {
		inner
		Took   time.Duration   `json:"took"`
		Stale  time.Duration   `json:"stale,omitempty"`
		At     time.Time       `json:"at,omitzero"`
		All    []time.Duration `json:"all"`
		Text   string
		Hidden string `json:"-"`
		None   []string
		Of     map[string]time.Duration
	}{inner: inner{"7", "https://a"}, Took: 1500 * time.Microsecond, All: []time.Duration{time.Second}, Text: "a\u200bb\U000e0041c\ue000 \u2764\u200d", Of: map[string]time.Duration{"x": time.Millisecond}})
	want := `{
  "channel_id": "7",
  "url": "https://a",
  "took_ms": 1.5,
  "all_ms": [
    1000
  ],
  "text": "a\u200bb\udb40\udc41c\ue000 ❤` + "\u200d" + `",
  "none": [],
  "of_ms": {
    "x": 1
  }
}`
	if err != nil || got != want {
		t.Errorf("%v\n%s", err, got)
	}
}

// TestCheckAsJSON: scripts read the settings without secrets, and what is wrong.
func TestCheckAsJSON(t *testing.T) {
	t.Parallel()
	c := newConversation(t, &txtar.Archive{})
	code, out, complaint := c.command(nil, "config", "check", "--json")
	if code != exitOK || !strings.Contains(out, `"name": "FAMILIAR_SEARCH"`) || !strings.Contains(out, `"problems": []`) || strings.Contains(out, c.env["DISCORD_TOKEN"]) {
		t.Errorf("exit code %d, errors %q:\n%s", code, complaint, out)
	}
	c.must(os.MkdirAll(filepath.Join(c.dir, "characters/fox"), 0o755))
	c.must(os.WriteFile(filepath.Join(c.dir, "characters/fox/character.toml"), []byte("nonsense = 1\n"), 0o644))
	if code, out, _ := c.command(nil, "config", "check", "--json"); code != exitUsage || !strings.Contains(out, "fox/character.toml") {
		t.Errorf("a broken character: exit code %d:\n%s", code, out)
	}
	c.must(os.WriteFile(filepath.Join(c.dir, ".env"), []byte("\ufeffOPENAI_MODEL=x\nnot a line\n"), 0o600))
	if code, out, _ := c.command(nil, "config", "check", "--json"); code != exitUsage || !strings.Contains(out, `.env: line 2 is not NAME=value`) {
		t.Errorf("a .env that cannot be read: exit code %d:\n%s", code, out)
	}
	c.must(os.WriteFile(filepath.Join(c.dir, ".env"), []byte("\xff\xfeO\x00P\x00"), 0o600))
	if code, _, said := c.command(nil, "config", "check"); code != exitUsage || !strings.Contains(said, ".env: it is not UTF-8") {
		t.Errorf("a .env in UTF-16: exit code %d: %s", code, said)
	}
	if code, out, _ := c.command(nil, "version", "--json"); code != exitOK || !strings.Contains(out, `"version": "`+version()+`"`) {
		t.Errorf("exit code %d:\n%s", code, out)
	}
}
