package backends

import (
	"slices"
	"strings"
	"testing"

	"familiar/internal/search"
)

func TestConfig(t *testing.T) {
	client := replies(nil).Client
	// A new backend changes nothing here.
	known := strings.Fields("searxng openmeteo wttr hackernews stackexchange github wikipedia duckduckgo")
	names := func(set *Set) string { // of those that need no key
		var all []string
		for _, b := range set.On {
			if slices.Contains(known, b.Name()) {
				all = append(all, b.Name())
			}
		}
		for _, d := range set.Off {
			if line, _ := entryOf(d.Name); line.Keys == nil && slices.Contains(known, d.Name) {
				all = append(all, "-"+d.Name+": "+d.Why)
			}
		}
		return strings.Join(all, ", ")
	}
	for _, test := range []struct {
		name   string
		config Config
		want   string
		check  string // part of the error
	}{
		{"nothing set", Config{}, "openmeteo, wttr, hackernews, stackexchange, github, wikipedia, duckduckgo, -searxng: SEARXNG_URL is not set: the address of a SearXNG, best your own, see https://docs.searxng.org", ""},
		{"all", Config{SearXNG: "https://search.example.org/searxng/search"}, "searxng, openmeteo, wttr, hackernews, stackexchange, github, wikipedia, duckduckgo", ""},
		{"switched off", Config{Off: []string{"duckduckgo", "openmeteo"}},
			"wttr, hackernews, stackexchange, github, wikipedia, -searxng: SEARXNG_URL is not set: the address of a SearXNG, best your own, see https://docs.searxng.org, -openmeteo: switched off, -duckduckgo: switched off", ""},
		{"one wanted that cannot be", Config{Only: []string{"searxng"}},
			"-searxng: SEARXNG_URL is not set: the address of a SearXNG, best your own, see https://docs.searxng.org, -openmeteo: switched off, -wttr: switched off, -hackernews: switched off, -wikipedia: switched off, -duckduckgo: switched off",
			"searxng: wanted, but SEARXNG_URL"},
		{"one wanted that is off", Config{Only: []string{"wikipedia", "duckduckgo"}, Off: []string{"wikipedia"}},
			"duckduckgo, -wikipedia: switched off, -searxng: switched off, -openmeteo: switched off, -wttr: switched off, -hackernews: switched off", "wikipedia: wanted, but switched off"},
		{"only some, in this order", Config{Only: []string{"duckduckgo", "wikipedia"}},
			"duckduckgo, wikipedia, -searxng: switched off, -openmeteo: switched off, -wttr: switched off, -hackernews: switched off", ""},
		{"no address", Config{SearXNG: "localhost:8888"},
			"openmeteo, wttr, hackernews, stackexchange, github, wikipedia, duckduckgo, -searxng: its address is not an http or https URL", "searxng: its address"},
		{"no such depth", Config{Depth: "deep"}, "openmeteo, wttr, hackernews, stackexchange, github, wikipedia, duckduckgo, -searxng: SEARXNG_URL is not set: the address of a SearXNG, best your own, see https://docs.searxng.org", `"deep"`},
		{"no such backend", Config{Off: []string{"googol"}, Base: map[string]string{"wikipaedia": "x"}},
			"openmeteo, wttr, hackernews, stackexchange, github, wikipedia, duckduckgo, -searxng: SEARXNG_URL is not set: the address of a SearXNG, best your own, see https://docs.searxng.org", `"wikipaedia"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.config.Client = client
			set, err := Open(test.config)
			if got := names(set); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if (err != nil) != (test.check != "") || err != nil && !strings.Contains(err.Error(), test.check) {
				t.Errorf("%v, want %q", err, test.check)
			}
		})
	}
}

// TestLimits: the operator's limits take the place of the table's.
func TestLimits(t *testing.T) {
	open := func(limits ...string) (*Set, error) { return Open(Config{Client: replies(nil).Client, Limits: limits}) }
	set, err := open("wikipedia=5/second", "wikipedia=0/month", "duckduckgo=100/day")
	if err != nil || set.Profiles["wikipedia"].Limit != (search.Limit{PerSecond: 5}) || set.Profiles["duckduckgo"].Limit != (search.Limit{PerDay: 100}) ||
		set.Profiles["wttr"].Limit != (search.Limit{PerSecond: 1, Burst: 50}) {
		t.Errorf("got %+v, %v", set.Profiles, err)
	}
	for word, want := range map[string]string{
		"wikipedia": "must be as in", "wikipedia=5": "must be as in", "wikipedia=-1/day": "must be as in", "wikipedia=5/hour": "must be as in",
		"wikipaedia=5/day": "known: searxng",
	} {
		if _, err := open(word); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", word, err, want)
		}
	}
}

// TestSetup: what another SearXNG or another depth found is not what this one finds; a login changes nothing.
func TestSetup(t *testing.T) {
	usual := Config{SearXNG: "https://search.example.org/a"}
	for _, test := range []struct {
		config Config
		same   bool
	}{
		{Config{SearXNG: "https://me:secret@search.example.org/a"}, true},
		{Config{SearXNG: "https://search.example.org/b"}, false},
		{Config{SearXNG: "https://other.example.org/a"}, false},
		{Config{SearXNG: "https://search.example.org/a", Depth: search.DepthAdvanced}, false},
	} {
		if got := test.config.setup(); (got == usual.setup()) != test.same || strings.Contains(got, "secret") {
			t.Errorf("%+v: %q", test.config, got)
		}
	}
}
