package backend

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/search"
)

// Entry is one line of the table.
type Entry struct {
	Name string
	search.Profile
	// Keys are the environment variables it reads. The backend is off if one that is not optional is missing.
	Keys []Key
	// base is the address used if Config.Base has none. If it is empty, the operator must give one. second is the other
	// address of a service with two hosts; an address in Config.Base replaces both.
	base, second string
	make         func(*service) search.Backend
}

// Key is an environment variable that switches a backend on or improves it.
type Key struct {
	Name     string // such as "TAVILY_API_KEY"
	About    string // what it is, for the operator
	Where    string // where to get it
	Optional bool   // the backend works without it
	Open     bool   // an identifier or an address, not a secret
}

// Keys returns the keys of all backends, in the table's order.
func Keys() []Key {
	var all []Key
	for _, e := range Table() {
		all = append(all, e.Keys...)
	}
	return all
}

// Table returns every backend, in the order of reports and merging.
func Table() []Entry {
	weather, forum := []turn.Intent{turn.IntentWeather}, []turn.Intent{turn.IntentForum}
	topical := []turn.Intent{turn.IntentWeather, turn.IntentNews, turn.IntentImage, turn.IntentVideo, turn.IntentForum} // not what an encyclopedia is good for
	const slow = 2 * time.Second
	return []Entry{
		{
			Name: "searxng", make: newSearXNG,
			Profile: search.Profile{Latency: slow, Limit: search.Limit{PerSecond: 5, Burst: 30}},
		}, {
			Name: "tavily", make: newTavily, base: "https://api.tavily.com",
			Profile: search.Profile{Latency: slow, Limit: search.Limit{PerSecond: 1.6, Burst: 20, PerMonth: 1000}},
			Keys:    keyOf("TAVILY_API_KEY", "Tavily Search", "https://app.tavily.com"),
		}, {
			Name: "brave", make: newBrave, base: "https://api.search.brave.com/res/v1",
			Profile: search.Profile{General: true, Best: []turn.Intent{turn.IntentImage, turn.IntentVideo}, Limit: search.Limit{PerSecond: 1, PerMonth: 1000}},
			Keys:    keyOf("BRAVE_SEARCH_API_KEY", "Brave Search", "https://api-dashboard.search.brave.com"),
		}, {
			Name: "kagi", make: newKagi, base: "https://kagi.com/api",
			Profile: search.Profile{General: true, Limit: search.Limit{PerSecond: 1, Burst: 10}},
			Keys:    keyOf("KAGI_API_KEY", "Kagi Search", "https://kagi.com/settings/api"),
		}, {
			Name: "serper", make: newSerper, base: "https://google.serper.dev",
			Profile: search.Profile{General: true, Limit: search.Limit{PerSecond: 5, Burst: 20}},
			Keys:    keyOf("SERPER_API_KEY", "Serper, which asks Google", "https://serper.dev/api-keys"),
		}, {
			Name: "serpapi", make: newSerpAPI, base: "https://serpapi.com",
			Profile: search.Profile{General: true, Latency: slow, Limit: search.Limit{PerSecond: 1, Burst: 10, PerMonth: 100}},
			Keys:    keyOf("SERPAPI_API_KEY", "SerpApi, which asks Google", "https://serpapi.com/manage-api-key"),
		}, {
			Name: "exa", make: newExa, base: "https://api.exa.ai",
			Profile: search.Profile{Weight: 0.9, Limit: search.Limit{PerSecond: 10}},
			Keys:    keyOf("EXA_API_KEY", "Exa", "https://dashboard.exa.ai/api-keys"),
		}, {
			Name: "firecrawl", make: newFirecrawl, base: "https://api.firecrawl.dev",
			Profile: search.Profile{Weight: 0.9, Latency: slow, Limit: search.Limit{PerSecond: 0.16, Burst: 10, PerMonth: 500}},
			Keys:    keyOf("FIRECRAWL_API_KEY", "Firecrawl", "https://www.firecrawl.dev/app/api-keys"),
		}, {
			Name: "openmeteo", make: newOpenMeteo, base: "https://api.open-meteo.com", second: "https://geocoding-api.open-meteo.com",
			Profile: search.Profile{Weight: 2, Only: weather, Limit: search.Limit{PerSecond: 1, Burst: 60, PerDay: 4000}},
		}, {
			Name: "openweathermap", make: newOpenWeatherMap, base: "https://api.openweathermap.org",
			Profile: search.Profile{Weight: 2, Only: weather, Limit: search.Limit{PerSecond: 0.5, Burst: 30}},
			Keys:    keyOf("OPENWEATHER_API_KEY", "OpenWeather, for the weather; a new one takes up to two hours to work", "https://home.openweathermap.org/api_keys"),
		}, {
			Name: "wttr", make: newWttr, base: "https://wttr.in",
			Profile: search.Profile{Only: weather, Last: weather, Limit: search.Limit{PerSecond: 1, Burst: 50}},
		}, {
			Name: "newsapi", make: newNewsAPI, base: "https://newsapi.org",
			Profile: search.Profile{Only: []turn.Intent{turn.IntentNews}, Limit: search.Limit{PerSecond: 1, Burst: 10, PerDay: 100}},
			Keys:    keyOf("NEWSAPI_KEY", "NewsAPI; a developer key's articles come 24 hours late, and it is not for bots that run for others", "https://newsapi.org/account"),
		}, {
			Name: "reddit", make: newReddit, base: "https://oauth.reddit.com", second: "https://www.reddit.com",
			Profile: search.Profile{Only: forum, Limit: search.Limit{PerSecond: 1.6, Burst: 20}},
			Keys: []Key{
				{Name: redditID, About: "the ID of an application that Reddit has approved", Where: "https://www.reddit.com/prefs/apps", Open: true},
				{Name: redditSecret, About: "the secret of that application", Where: "https://www.reddit.com/prefs/apps"},
				{Name: redditName, About: "the Reddit account that answers for it, named in the User-Agent", Optional: true, Open: true},
			},
		}, {
			Name: "hackernews", make: newHackerNews, base: "https://hn.algolia.com",
			Profile: search.Profile{Weight: 0.7, Only: forum, Limit: search.Limit{PerSecond: 2.5, Burst: 50}},
		}, {
			Name: "stackexchange", make: newStackExchange, base: "https://api.stackexchange.com",
			Profile: search.Profile{Weight: 0.8, Only: []turn.Intent{turn.IntentForum, turn.IntentDocs, turn.IntentHowTo}, Limit: search.Limit{PerSecond: 5, PerDay: 280}},
			Keys:    []Key{{Name: stackexchangeKey, About: "the key of Stack Exchange: more requests a day", Where: "https://stackapps.com/apps/oauth/register", Optional: true}},
		}, {
			Name: "github", make: newGitHub, base: "https://api.github.com",
			Profile: search.Profile{Weight: 0.7, Only: []turn.Intent{turn.IntentDocs}, Limit: search.Limit{PerSecond: 0.16, Burst: 10}},
			Keys:    []Key{{Name: githubToken, About: "a token of GitHub without any scope: more searches a minute", Where: "https://github.com/settings/tokens", Optional: true}},
		}, {
			Name: "wikipedia", make: newWikipedia, base: "https://{language}.wikipedia.org",
			Profile: search.Profile{Weight: 0.9, Last: topical, Best: []turn.Intent{turn.IntentPerson}, Limit: search.Limit{PerSecond: 2, Burst: 100}},
		}, {
			Name: "duckduckgo", make: newDuckDuckGo, base: "https://api.duckduckgo.com",
			Profile: search.Profile{Weight: 0.6, Last: topical, Limit: search.Limit{PerSecond: 5, Burst: 100}},
		},
	}
}

// keyOf returns the key of a service that has one.
func keyOf(name, service, where string) []Key {
	return []Key{{Name: name, About: "the key of " + service, Where: where}}
}

func unknown(name string) error {
	return fmt.Errorf("search backend %q: there is none of that name; known: %s", name, strings.Join(names(), ", "))
}

func names() []string {
	var all []string
	for _, e := range Table() {
		all = append(all, e.Name)
	}
	return all
}

func entryOf(name string) (Entry, bool) {
	for _, e := range Table() {
		if e.Name == name {
			return e, true
		}
	}
	return Entry{}, false
}

// Config holds the operator's choices. The zero value with a Client asks every service that needs neither an address
// nor a key.
type Config struct {
	SearXNG   string                           // address of a SearXNG instance, with or without /search; empty: off
	Depth     string                           // of SearXNG: "basic" (also if empty) or "advanced"
	Keys      map[string]string                // values of the variables that Keys lists, by name
	Client    func(origin string) *http.Client // returns the HTTP client for one origin; required
	Now       func() time.Time                 // clock from which a page's age is subtracted; nil means time.Now
	UserAgent string                           // sent to all services; gives name, version and the operator's address
	Only      []string                         // names of the backends to use, in the order of asking; empty: all
	Off       []string                         // names of the backends not to use
	Base      map[string]string                // other addresses, by backend name, for mirrors and tests
	Limits    []string                         // replace the table's: "brave=2000/month", "brave=1/second"; 0 means no limit
}

// Disabled says why a backend is off, for the operator.
type Disabled struct {
	Name, Why string
	Key       string // the variable that would switch it on, if nothing else is missing
}

// keyless is the error of a backend without its key.
type keyless struct{ Key }

func (k keyless) Error() string {
	return fmt.Sprintf("%s is not set: %s, from %s", k.Name, k.About, k.Where)
}

// Set holds all backends under one Config.
type Set struct {
	On       []search.Backend          // in the order of asking
	Profiles map[string]search.Profile // of the backends in On, by name, with the operator's limits
	Off      []Disabled
	Setup    string // what answers depend on besides the query; for [search.OpenDisk]
}

// Open makes the backends that c switches on. Its error joins everything that is wrong with c: an unknown depth, limit or backend, or an
// invalid address. A backend in Only that cannot be used is wrong, too. The set then holds the other backends.
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

// CheckNames returns an error for each name that is not a backend's.
func CheckNames(names []string) error {
	var problems []error
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		if _, ok := entryOf(name); !ok {
			problems = append(problems, unknown(name))
		}
	}
	return errors.Join(problems...)
}

// check validates c without opening a backend.
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

// setup identifies the SearXNG instance and its depth. The login does not change the answers.
func (c Config) setup() string {
	instance := ""
	if u, err := url.Parse(c.SearXNG); err == nil {
		instance = u.Host + u.EscapedPath()
	}
	return instance + " " + c.Depth
}

// table returns the table in the operator's order. Backends that Only does not name come last; they are off.
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
	sort.SliceStable(all, func(i, j int) bool {
		a, b := all[i], all[j]
		return cmp.Compare(place(a), place(b)) < 0
	})
	return all
}

// open makes a backend, or returns why it is off.
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

// connect makes a backend, switched on or not.
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

// parseLimits reads limits such as "brave=2000/month", by backend. They replace all limits of that backend.
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
