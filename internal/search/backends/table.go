package backends

import (
	"fmt"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/search"
)

// Entry is one line of the table.
type Entry struct {
	Name string
	search.Profile
	// Keys are the variables of the environment that it wants. Without one that is not optional it is off.
	Keys []Key
	// base is the address used if Config.Base has none; empty where the operator must give one. second is that of a
	// service at two hosts; an address in Config.Base serves both.
	base, second string
	make         func(*service) search.Backend
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
	for _, e := range Table() {
		all = append(all, e.Keys...)
	}
	return all
}

// Table lists every backend there is, in the order in which they are reported and merged.
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

// keyOf is the one key of a service.
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
