package search

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Config is what the operator chose. Its zero value, with a Client, asks every service that needs neither an
// address nor a key.
type Config struct {
	SearXNG   string                           // address of a SearXNG instance, its /search path or not; empty: off
	Depth     string                           // of SearXNG: "basic" (also if empty) or "advanced"
	Client    func(origin string) *http.Client // makes the HTTP client of one origin; required
	UserAgent string                           // sent to all; an honest one: name, version, address of the operator
	Off       []string                         // names of backends not to be used
	Base      map[string]string                // other addresses, by backend name: mirrors and tests
}

// entry is one line of the table.
type entry struct {
	name   string
	weight float64  // of its ranks in the merged list; who weighs most among those asked is waited for
	only   []string // intents it serves; nil: all
	not    []string // intents it serves only when nobody else does
	// base is the address used if Config.Base has none; empty where the operator must give one.
	base string
	make func(c Config, base string) (Backend, error)
}

// table lists every backend there is, in the order in which they are reported and merged.
func table() []entry {
	encyclopedic := []string{"weather", "news", "media", "forum"}
	return []entry{
		{name: "searxng", weight: 1, make: newSearXNG},
		{name: "openmeteo", weight: 2, only: []string{"weather"}, base: "https://api.open-meteo.com", make: newOpenMeteo},
		{name: "wikipedia", weight: 0.9, not: encyclopedic, base: "https://{language}.wikipedia.org", make: newWikipedia},
		{name: "duckduckgo", weight: 0.6, not: encyclopedic, base: "https://api.duckduckgo.com", make: newDuckDuckGo},
	}
}

// Disabled is a backend that is not used, and why: for the operator.
type Disabled struct{ Name, Why string }

// Backends returns the backends that c switches on, in the table's order.
func Backends(c Config) []Backend {
	on, _ := build(c)
	return on
}

// Off returns the backends that c leaves off, in the table's order.
func Off(c Config) []Disabled {
	_, off := build(c)
	return off
}

func build(c Config) (on []Backend, off []Disabled) {
	for _, e := range table() {
		b, err := e.build(c)
		if err != nil {
			off = append(off, Disabled{e.name, err.Error()})
			continue
		}
		on = append(on, b)
	}
	return on, off
}

func (e entry) build(c Config) (Backend, error) {
	if slices.Contains(c.Off, e.name) {
		return nil, errors.New("switched off")
	}
	base := e.base
	if other := c.Base[e.name]; other != "" {
		base = other
	}
	return e.make(c, base)
}

// Check reports what is wrong with c itself: a depth or a backend's name that does not exist, an address that is
// none. All problems are joined.
func (c Config) Check() error {
	var problems []error
	if c.Depth != "" && c.Depth != depthBasic && c.Depth != depthAdvanced {
		problems = append(problems, fmt.Errorf("search depth %q: must be %s or %s", c.Depth, depthBasic, depthAdvanced))
	}
	named := slices.Clone(c.Off)
	for name := range c.Base {
		named = append(named, name)
	}
	slices.Sort(named)
	for _, name := range named {
		if _, known := lineOf(name); !known {
			problems = append(problems, fmt.Errorf("search backend %q: there is none of that name; known: %s", name, strings.Join(names(), ", ")))
		}
	}
	if c.SearXNG != "" {
		if _, err := newSearXNG(c, ""); err != nil {
			problems = append(problems, fmt.Errorf("search backend searxng: %w", err))
		}
	}
	return errors.Join(problems...)
}

func names() []string {
	var all []string
	for _, e := range table() {
		all = append(all, e.name)
	}
	return all
}

func lineOf(name string) (entry, bool) {
	for _, e := range table() {
		if e.name == name {
			return e, true
		}
	}
	return entry{}, false
}
