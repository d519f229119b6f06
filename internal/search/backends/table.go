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
	// Keys are what it wants from the environment. Without one that is not optional it is off.
	Keys []Key
	// base is the address used if Config.Base has none; empty where the operator must give one.
	base string
	make func(c Config, base string) (search.Backend, error)
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
	encyclopedic := []turn.Intent{turn.IntentWeather, turn.IntentNews, turn.IntentImage, turn.IntentVideo, turn.IntentForum}
	const slow = 2 * time.Second
	return []Entry{
		{Name: "searxng", Profile: search.Profile{Weight: 1, Latency: slow, Limit: search.Limit{PerSecond: 5, Burst: 30}}, make: newSearXNG},
		{Name: "tavily", Profile: search.Profile{Weight: 1, Latency: slow, Limit: search.Limit{PerSecond: 1.6, Burst: 20, PerMonth: 1000}}, Keys: secretKey("TAVILY_API_KEY", "Tavily Search", "https://app.tavily.com"), base: "https://api.tavily.com", make: newTavily},
		{Name: "brave", Profile: search.Profile{Weight: 1, General: true, Best: []turn.Intent{turn.IntentImage, turn.IntentVideo}, Limit: search.Limit{PerSecond: 1, PerMonth: 1000}}, Keys: secretKey("BRAVE_SEARCH_API_KEY", "Brave Search", "https://api-dashboard.search.brave.com"), base: "https://api.search.brave.com/res/v1", make: newBrave},
		{Name: "kagi", Profile: search.Profile{Weight: 1, General: true, Limit: search.Limit{PerSecond: 1, Burst: 10}}, Keys: secretKey("KAGI_API_KEY", "Kagi Search", "https://kagi.com/settings/api"), base: "https://kagi.com/api", make: newKagi},
		{Name: "serper", Profile: search.Profile{Weight: 1, General: true, Limit: search.Limit{PerSecond: 5, Burst: 20}}, Keys: secretKey("SERPER_API_KEY", "Serper, which asks Google", "https://serper.dev/api-keys"), base: "https://google.serper.dev", make: newSerper},
		{Name: "serpapi", Profile: search.Profile{Weight: 1, General: true, Latency: slow, Limit: search.Limit{PerSecond: 1, Burst: 10, PerMonth: 100}}, Keys: secretKey("SERPAPI_API_KEY", "SerpApi, which asks Google", "https://serpapi.com/manage-api-key"), base: "https://serpapi.com", make: newSerpAPI},
		{Name: "exa", Profile: search.Profile{Weight: 0.9, Limit: search.Limit{PerSecond: 10}}, Keys: secretKey("EXA_API_KEY", "Exa", "https://dashboard.exa.ai/api-keys"), base: "https://api.exa.ai", make: newExa},
		{Name: "firecrawl", Profile: search.Profile{Weight: 0.9, Latency: slow, Limit: search.Limit{PerSecond: 0.16, Burst: 10, PerMonth: 500}}, Keys: secretKey("FIRECRAWL_API_KEY", "Firecrawl", "https://www.firecrawl.dev/app/api-keys"), base: "https://api.firecrawl.dev", make: newFirecrawl},
		{Name: "openmeteo", Profile: search.Profile{Weight: 2, Limit: search.Limit{PerSecond: 1, Burst: 60, PerDay: 4000}, Only: []turn.Intent{turn.IntentWeather}}, base: "https://api.open-meteo.com", make: newOpenMeteo},
		{Name: "openweathermap", Profile: search.Profile{Weight: 2, Limit: search.Limit{PerSecond: 0.5, Burst: 30}, Only: []turn.Intent{turn.IntentWeather}}, base: "https://api.openweathermap.org", make: newOpenWeatherMap, Keys: []Key{
			{Name: "OPENWEATHER_API_KEY", About: "the key of OpenWeather, for the weather; a new one takes up to two hours to work", Where: "https://home.openweathermap.org/api_keys"},
		}},
		{Name: "wttr", Profile: search.Profile{Weight: 1, Limit: search.Limit{PerSecond: 1, Burst: 50}, Only: []turn.Intent{turn.IntentWeather}, Last: []turn.Intent{turn.IntentWeather}}, base: "https://wttr.in", make: newWttr},
		{Name: "newsapi", Profile: search.Profile{Weight: 1, Limit: search.Limit{PerSecond: 1, Burst: 10, PerDay: 100}, Only: []turn.Intent{turn.IntentNews}}, base: "https://newsapi.org", make: newNewsAPI, Keys: []Key{
			{Name: "NEWSAPI_KEY", About: "the key of NewsAPI; a developer key's articles come 24 hours late, and it is not for bots that run for others", Where: "https://newsapi.org/account"},
		}},
		{Name: "reddit", Profile: search.Profile{Weight: 1, Limit: search.Limit{PerSecond: 1.6, Burst: 20}, Only: []turn.Intent{turn.IntentForum}}, base: "https://oauth.reddit.com", make: newReddit, Keys: []Key{
			{Name: redditID, About: "the ID of an application that Reddit has approved", Where: "https://www.reddit.com/prefs/apps", Open: true},
			{Name: redditSecret, About: "the secret of that application", Where: "https://www.reddit.com/prefs/apps"},
			{Name: redditName, About: "the Reddit account that answers for it, named in the User-Agent", Optional: true, Open: true},
		}},
		{Name: "hackernews", Profile: search.Profile{Weight: 0.7, Limit: search.Limit{PerSecond: 2.5, Burst: 50}, Only: []turn.Intent{turn.IntentForum}}, base: "https://hn.algolia.com", make: newHackerNews},
		{Name: "stackexchange", Profile: search.Profile{Weight: 0.8, Limit: search.Limit{PerSecond: 5, PerDay: 280}, Only: []turn.Intent{turn.IntentForum, turn.IntentDocs, turn.IntentHowTo}}, base: "https://api.stackexchange.com", make: newStackExchange, Keys: []Key{
			{Name: stackexchangeKey, About: "the key of Stack Exchange: more requests a day", Where: "https://stackapps.com/apps/oauth/register", Optional: true},
		}},
		{Name: "github", Profile: search.Profile{Weight: 0.7, Limit: search.Limit{PerSecond: 0.16, Burst: 10}, Only: []turn.Intent{turn.IntentDocs}}, base: "https://api.github.com", make: newGitHub, Keys: []Key{
			{Name: githubToken, About: "a token of GitHub without any scope: more searches a minute", Where: "https://github.com/settings/tokens", Optional: true},
		}},
		{Name: "wikipedia", Profile: search.Profile{Weight: 0.9, Limit: search.Limit{PerSecond: 2, Burst: 100}, Last: encyclopedic, Best: []turn.Intent{turn.IntentPerson}}, base: "https://{language}.wikipedia.org", make: newWikipedia},
		{Name: "duckduckgo", Profile: search.Profile{Weight: 0.6, Limit: search.Limit{PerSecond: 5, Burst: 100}, Last: encyclopedic}, base: "https://api.duckduckgo.com", make: newDuckDuckGo},
	}
}

// secretKey is the one key of a web search.
func secretKey(name, service, where string) []Key {
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
