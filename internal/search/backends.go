package search

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"familiar/internal/context/turn"
)

// Config is what the operator chose. Its zero value, with a Client, asks every service that needs neither an
// address nor a key.
type Config struct {
	SearXNG   string                           // address of a SearXNG instance, its /search path or not; empty: off
	Depth     string                           // of SearXNG: "basic" (also if empty) or "advanced"
	Keys      map[string]string                // by the names in Keys: what services ask for to be let in
	Client    func(origin string) *http.Client // makes the HTTP client of one origin; required
	Now       func() time.Time                 // clock that a page's age is counted back from; nil is time.Now
	UserAgent string                           // sent to all; an honest one: name, version, address of the operator
	Only      []string                         // names of the backends to be used, in the order in which they are asked; empty: all
	Off       []string                         // names of backends not to be used
	Base      map[string]string                // other addresses, by backend name: mirrors and tests
}

func (c Config) now() func() time.Time {
	if c.Now == nil {
		return time.Now
	}
	return c.Now
}

// entry is one line of the table.
type entry struct {
	name   string
	weight float64       // of its ranks in the merged list; 1 is usual; who weighs most among those asked is waited for
	only   []turn.Intent // intents it serves; nil: all
	best   []turn.Intent // intents for which it is asked before others
	not    []turn.Intent // intents it serves only when nobody else does, or when those fail or find nothing; also of those in only
	// general is a wide index of the web of its own, with pictures, videos and news: first for queries of that type.
	general bool
	// pace is how long it may take before it is late, until it is known how long it takes; 0 is a second. One that asks
	// other services itself needs more.
	pace  time.Duration
	limit Limit // of its free plan, or of good manners; Engine.Limits may say otherwise
	// keys are what it wants from the environment. Without one that is not optional it is off.
	keys []Key
	// base is the address used if Config.Base has none; empty where the operator must give one.
	base string
	make func(c Config, base string) (Backend, error)
}

// Key is a variable of the environment that switches a backend on or makes it better.
type Key struct {
	Name     string // as in "TAVILY_API_KEY"
	About    string // what it is, for the operator
	Where    string // where to get it
	Optional bool   // the backend works without it
	Open     bool   // no secret: an identifier or an address
}

// Keys lists the keys of all backends, in the table's order.
func Keys() []Key {
	var all []Key
	for _, e := range table() {
		all = append(all, e.keys...)
	}
	return all
}

// Line is a backend's line in the table, for people.
type Line struct {
	Name    string
	General bool          // a wide index of the web of its own
	Only    []turn.Intent // intents that it serves; nil: all
	Best    []turn.Intent // intents for which it is asked before others
	Spared  []turn.Intent // intents for which it is asked last
}

// Lines lists every backend there is, in the table's order.
func Lines() []Line {
	var all []Line
	for _, e := range table() {
		all = append(all, Line{e.name, e.general, e.only, e.best, e.not})
	}
	return all
}

// table lists every backend there is, in the order in which they are reported and merged.
func table() []entry {
	encyclopedic := []turn.Intent{turn.IntentWeather, turn.IntentNews, turn.IntentImage, turn.IntentVideo, turn.IntentForum}
	const slow = 2 * time.Second
	return []entry{
		{name: "searxng", weight: 1, pace: slow, limit: Limit{PerSecond: 5, Burst: 30}, make: newSearXNG},
		{name: "tavily", weight: 1, pace: slow, limit: Limit{PerSecond: 1.6, Burst: 20, PerMonth: 1000}, keys: secretKey("TAVILY_API_KEY", "Tavily Search", "https://app.tavily.com"), base: "https://api.tavily.com", make: newTavily},
		{name: "brave", weight: 1, general: true, best: []turn.Intent{"image", "video"}, limit: Limit{PerSecond: 1, PerMonth: 1000}, keys: secretKey("BRAVE_SEARCH_API_KEY", "Brave Search", "https://api-dashboard.search.brave.com"), base: "https://api.search.brave.com/res/v1", make: newBrave},
		{name: "kagi", weight: 1, general: true, limit: Limit{PerSecond: 1, Burst: 10}, keys: secretKey("KAGI_API_KEY", "Kagi Search", "https://kagi.com/settings/api"), base: "https://kagi.com/api", make: newKagi},
		{name: "serper", weight: 1, general: true, limit: Limit{PerSecond: 5, Burst: 20}, keys: secretKey("SERPER_API_KEY", "Serper, which asks Google", "https://serper.dev/api-keys"), base: "https://google.serper.dev", make: newSerper},
		{name: "serpapi", weight: 1, general: true, pace: slow, limit: Limit{PerSecond: 1, Burst: 10, PerMonth: 100}, keys: secretKey("SERPAPI_API_KEY", "SerpApi, which asks Google", "https://serpapi.com/manage-api-key"), base: "https://serpapi.com", make: newSerpAPI},
		{name: "exa", weight: 0.9, limit: Limit{PerSecond: 10}, keys: secretKey("EXA_API_KEY", "Exa", "https://dashboard.exa.ai/api-keys"), base: "https://api.exa.ai", make: newExa},
		{name: "firecrawl", weight: 0.9, pace: slow, limit: Limit{PerSecond: 0.16, Burst: 10, PerMonth: 500}, keys: secretKey("FIRECRAWL_API_KEY", "Firecrawl", "https://www.firecrawl.dev/app/api-keys"), base: "https://api.firecrawl.dev", make: newFirecrawl},
		{name: "openmeteo", weight: 2, limit: Limit{PerSecond: 1, Burst: 60, PerDay: 4000}, only: []turn.Intent{"weather"}, base: "https://api.open-meteo.com", make: newOpenMeteo},
		{name: "openweathermap", weight: 2, limit: Limit{PerSecond: 0.5, Burst: 30}, only: []turn.Intent{"weather"}, base: "https://api.openweathermap.org", make: newOpenWeatherMap, keys: []Key{
			{Name: "OPENWEATHER_API_KEY", About: "the key of OpenWeather, for the weather; a new one takes up to two hours to work", Where: "https://home.openweathermap.org/api_keys"},
		}},
		{name: "wttr", weight: 1, limit: Limit{PerSecond: 1, Burst: 50}, only: []turn.Intent{"weather"}, not: []turn.Intent{"weather"}, base: "https://wttr.in", make: newWttr},
		{name: "newsapi", weight: 1, limit: Limit{PerSecond: 1, Burst: 10, PerDay: 100}, only: []turn.Intent{"news"}, base: "https://newsapi.org", make: newNewsAPI, keys: []Key{
			{Name: "NEWSAPI_KEY", About: "the key of NewsAPI; a developer key's articles come 24 hours late, and it is not for bots that run for others", Where: "https://newsapi.org/account"},
		}},
		{name: "reddit", weight: 1, limit: Limit{PerSecond: 1.6, Burst: 20}, only: []turn.Intent{"forum"}, base: "https://oauth.reddit.com", make: newReddit, keys: []Key{
			{Name: redditID, About: "the ID of an application that Reddit has approved", Where: "https://www.reddit.com/prefs/apps", Open: true},
			{Name: redditSecret, About: "the secret of that application", Where: "https://www.reddit.com/prefs/apps"},
			{Name: redditName, About: "the Reddit account that answers for it, named in the User-Agent", Optional: true, Open: true},
		}},
		{name: "hackernews", weight: 0.7, limit: Limit{PerSecond: 2.5, Burst: 50}, only: []turn.Intent{"forum"}, base: "https://hn.algolia.com", make: newHackerNews},
		{name: "stackexchange", weight: 0.8, limit: Limit{PerSecond: 5, PerDay: 280}, only: []turn.Intent{"forum", "docs", "howto"}, base: "https://api.stackexchange.com", make: newStackExchange, keys: []Key{
			{Name: stackexchangeKey, About: "the key of Stack Exchange: more requests a day", Where: "https://stackapps.com/apps/oauth/register", Optional: true},
		}},
		{name: "github", weight: 0.7, limit: Limit{PerSecond: 0.16, Burst: 10}, only: []turn.Intent{"docs"}, base: "https://api.github.com", make: newGitHub, keys: []Key{
			{Name: githubToken, About: "a token of GitHub without any scope: more searches a minute", Where: "https://github.com/settings/tokens", Optional: true},
		}},
		{name: "wikipedia", weight: 0.9, limit: Limit{PerSecond: 2, Burst: 100}, not: encyclopedic, best: []turn.Intent{"person"}, base: "https://{language}.wikipedia.org", make: newWikipedia},
		{name: "duckduckgo", weight: 0.6, limit: Limit{PerSecond: 5, Burst: 100}, not: encyclopedic, base: "https://api.duckduckgo.com", make: newDuckDuckGo},
	}
}

// secretKey is the one key of a web search.
func secretKey(name, service, where string) []Key {
	return []Key{{Name: name, About: "the key of " + service, Where: where}}
}

// Disabled is a backend that is not used, and why: for the operator.
type Disabled struct {
	Name, Why string
	Key       string // the variable that would switch it on, if that is all that it lacks
}

// keyless is why a backend is off that nobody has a key for.
type keyless struct{ Key }

func (k keyless) Error() string {
	return fmt.Sprintf("%s is not set: %s, from %s", k.Name, k.About, k.Where)
}

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
	for _, e := range c.table() {
		b, err := e.build(c)
		if err != nil {
			var lacks keyless
			errors.As(err, &lacks)
			off = append(off, Disabled{Name: e.name, Why: err.Error(), Key: lacks.Name})
			continue
		}
		on = append(on, b)
	}
	return on, off
}

// table is the table in the operator's order: whom Only does not name comes last, and build leaves it off.
func (c Config) table() []entry {
	all := table()
	place := func(e entry) int {
		if i := slices.Index(c.Only, e.name); i >= 0 {
			return i
		}
		return len(c.Only)
	}
	slices.SortStableFunc(all, func(a, b entry) int { return cmp.Compare(place(a), place(b)) })
	return all
}

func (e entry) build(c Config) (Backend, error) {
	if slices.Contains(c.Off, e.name) || len(c.Only) > 0 && !slices.Contains(c.Only, e.name) {
		return nil, errors.New("switched off")
	}
	for _, k := range e.keys {
		if !k.Optional && c.Keys[k.Name] == "" {
			return nil, keyless{k}
		}
	}
	base := e.base
	if other := c.Base[e.name]; other != "" {
		base = other
	}
	return e.make(c, base)
}

// Check reports what is wrong with c itself: a depth or a backend's name that does not exist, an address that is
// none, a backend named in Only that cannot be used. All problems are joined.
func (c Config) Check() error {
	var problems []error
	if c.Depth != "" && c.Depth != depthBasic && c.Depth != depthAdvanced {
		problems = append(problems, fmt.Errorf("search depth %q: must be %s or %s", c.Depth, depthBasic, depthAdvanced))
	}
	named := slices.Concat(c.Only, c.Off)
	for name := range c.Base {
		named = append(named, name)
	}
	slices.Sort(named)
	for _, name := range slices.Compact(named) {
		e, known := lineOf(name)
		if !known {
			problems = append(problems, unknown(name))
			continue
		}
		if !slices.Contains(c.Only, name) {
			continue
		}
		if _, err := e.build(c); err != nil {
			problems = append(problems, fmt.Errorf("search backend %s: wanted, but %w", name, err))
		}
	}
	if c.SearXNG != "" && !slices.Contains(c.Only, "searxng") {
		if _, err := newSearXNG(c, ""); err != nil {
			problems = append(problems, fmt.Errorf("search backend searxng: %w", err))
		}
	}
	return errors.Join(problems...)
}

func unknown(name string) error {
	return fmt.Errorf("search backend %q: there is none of that name; known: %s", name, strings.Join(names(), ", "))
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
