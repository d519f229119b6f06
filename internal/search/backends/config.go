package backends

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"familiar/internal/search"
)

// Config is what the operator chose. Its zero value, with a Client, asks every service that needs neither an
// address nor a key.
type Config struct {
	SearXNG   string                           // address of a SearXNG instance, its /search path or not; empty: off
	Depth     string                           // of SearXNG: "basic" (also if empty) or "advanced"
	Keys      map[string]string                // by the names in Keys: what services want before they answer
	Client    func(origin string) *http.Client // makes the HTTP client of one origin; required
	Now       func() time.Time                 // clock that a page's age is counted back from; nil is time.Now
	UserAgent string                           // sent to all; an honest one: name, version, address of the operator
	Only      []string                         // names of the backends to be used, in the order in which they are asked; empty: all
	Off       []string                         // names of backends not to be used
	Base      map[string]string                // other addresses, by backend name: mirrors and tests
	Limits    []string                         // in place of those in the table: "brave=2000/month", "brave=1/second", of which 0 is no limit
}

// Disabled is a backend that is not used, and why: for the operator.
type Disabled struct {
	Name, Why string
	Key       string // the variable that would switch it on, if that is all that it lacks
}

// keyless is why a backend without its key is off.
type keyless struct{ Key }

func (k keyless) Error() string {
	return fmt.Sprintf("%s is not set: %s, from %s", k.Name, k.About, k.Where)
}

// Set is every backend that there is, as the operator's choice leaves it.
type Set struct {
	On       []search.Backend          // in the order in which they are asked
	Profiles map[string]search.Profile // of those in On, by name, with the operator's limits
	Off      []Disabled
	Setup    string // what answers depend on besides the queries; for [search.OpenDisk]
}

// Open makes the backends that c switches on. The error joins all that is wrong with c itself: a depth, a limit or a
// backend's name that does not exist, an address that is none, a backend named in Only that cannot be used. The set
// then holds the others.
func Open(c Config) (*Set, error) {
	limits, wrong := parseLimits(c.Limits)
	problems := []error{c.check()}
	set := &Set{Profiles: map[string]search.Profile{}, Setup: c.setup()}
	for _, e := range c.table() {
		b, err := e.open(c)
		if err != nil {
			lacks, _ := errors.AsType[keyless](err)
			set.Off = append(set.Off, Disabled{Name: e.Name, Why: err.Error(), Key: lacks.Name})
			if slices.Contains(c.Only, e.Name) {
				problems = append(problems, fmt.Errorf("search backend %s: wanted, but %w", e.Name, err))
			}
			continue
		}
		if l, ok := limits[e.Name]; ok {
			e.Limit = l
		}
		set.On, set.Profiles[e.Name] = append(set.On, b), e.Profile
	}
	return set, errors.Join(append(problems, wrong)...)
}

// CheckNames returns an error for each of names that is no backend.
func CheckNames(names []string) error {
	var problems []error
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		if _, ok := entryOf(name); !ok {
			problems = append(problems, unknown(name))
		}
	}
	return errors.Join(problems...)
}

// check finds what is wrong with c without opening what is on.
func (c Config) check() error {
	var problems []error
	if c.Depth != "" && c.Depth != search.DepthBasic && c.Depth != search.DepthAdvanced {
		problems = append(problems, fmt.Errorf("search depth %q: must be %s or %s", c.Depth, search.DepthBasic, search.DepthAdvanced))
	}
	problems = append(problems, CheckNames(slices.Concat(c.Only, c.Off, slices.Collect(maps.Keys(c.Base)))))
	if e, _ := entryOf("searxng"); c.SearXNG != "" && !slices.Contains(c.Only, e.Name) {
		if _, err := e.connect(c); err != nil {
			problems = append(problems, fmt.Errorf("search backend %s: %w", e.Name, err))
		}
	}
	return errors.Join(problems...)
}

// setup names the SearXNG and its depth. The login makes no difference to the answers.
func (c Config) setup() string {
	instance := ""
	if u, err := url.Parse(c.SearXNG); err == nil {
		instance = u.Host + u.EscapedPath()
	}
	return instance + " " + c.Depth
}

// table is the table in the operator's order: the backends that Only does not name come last, and are off.
func (c Config) table() []Entry {
	all := Table()
	if len(c.Only) == 0 {
		return all
	}
	place := func(e Entry) int {
		if i := slices.Index(c.Only, e.Name); i >= 0 {
			return i
		}
		return len(c.Only)
	}
	slices.SortStableFunc(all, func(a, b Entry) int { return cmp.Compare(place(a), place(b)) })
	return all
}

// open makes a backend, or says why it is off.
func (e Entry) open(c Config) (search.Backend, error) {
	if slices.Contains(c.Off, e.Name) || len(c.Only) > 0 && !slices.Contains(c.Only, e.Name) {
		return nil, errors.New("switched off")
	}
	for _, k := range e.Keys {
		if !k.Optional && c.Keys[k.Name] == "" {
			return nil, keyless{k}
		}
	}
	return e.connect(c)
}

// connect makes a backend, whether it is switched on or not.
func (e Entry) connect(c Config) (search.Backend, error) {
	base := cmp.Or(c.Base[e.Name], e.base)
	if e.Name == "searxng" {
		base = cmp.Or(c.SearXNG, base)
	}
	if base == "" {
		return nil, errors.New("SEARXNG_URL is not set: the address of a SearXNG, best your own, see https://docs.searxng.org")
	}
	s, err := newService(c, e, base)
	if err == nil && e.second != "" {
		s.second, err = newService(c, e, cmp.Or(c.Base[e.Name], e.second))
	}
	if err != nil {
		return nil, err
	}
	return e.make(s), nil
}

// parseLimits reads limits as in "brave=2000/month", by backend. A backend that is named has no others.
func parseLimits(words []string) (map[string]search.Limit, error) {
	limits := map[string]search.Limit{}
	var problems []error
	for _, w := range words {
		name, rest, _ := strings.Cut(w, "=")
		number, span, _ := strings.Cut(rest, "/")
		n, err := strconv.Atoi(number)
		l := limits[name]
		switch {
		case err != nil || n < 0:
			span = ""
		case span == "second":
			l.PerSecond = float64(n)
		case span == "day":
			l.PerDay = n
		case span == "month":
			l.PerMonth = n
		}
		if span != "second" && span != "day" && span != "month" {
			problems = append(problems, fmt.Errorf("search limit %q: must be as in brave=2000/month, with second, day or month", w))
		} else if _, ok := entryOf(name); !ok {
			problems = append(problems, unknown(name))
		}
		limits[name] = l
	}
	return limits, errors.Join(problems...)
}
