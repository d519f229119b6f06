package backend

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"familiar/internal/api"
	"familiar/internal/context/turn"
	"familiar/internal/search"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// wire is a listener that records every byte it receives.
type wire struct {
	net.Listener
	mu   sync.Mutex
	seen bytes.Buffer // guarded by mu
}

type tapped struct {
	net.Conn
	wire *wire
}

func (w *wire) Accept() (net.Conn, error) {
	c, err := w.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return tapped{c, w}, nil
}

func (t tapped) Read(p []byte) (int, error) {
	n, err := t.Conn.Read(p)
	t.wire.mu.Lock()
	defer t.wire.mu.Unlock()
	t.wire.seen.Write(p[:n])
	return n, err
}

func (w *wire) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen.String()
}

// take returns what arrived since the last call.
func (w *wire) take() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.seen.Reset()
	return w.seen.String()
}

// farEnd serves h and records what arrives.
func farEnd(t *testing.T, h http.HandlerFunc) (address string, w *wire) {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	w = &wire{Listener: s.Listener}
	s.Listener = w
	s.Start()
	t.Cleanup(s.Close)
	return s.URL, w
}

// clients makes the production clients and closes their connections at the end of the test.
func clients(t *testing.T) func(string) *http.Client {
	return func(origin string) *http.Client {
		c := api.Client(api.Service{Origin: origin})
		t.Cleanup(c.CloseIdleConnections)
		return c
	}
}

// connect makes one backend.
func connect(t *testing.T, name string, c Config) search.Backend {
	t.Helper()
	e, _ := entryOf(name)
	b, err := e.connect(c)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// opened returns the backends that c switches on.
func opened(t *testing.T, c Config) []search.Backend {
	t.Helper()
	set, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	return set.On
}

// atBase directs every backend to one address.
func atBase(base string) map[string]string {
	all := map[string]string{}
	for _, e := range Table() {
		all[e.Name] = base
	}
	all["wikipedia"] = base + "/{language}"
	return all
}

// These requests, compared byte by byte, are all that leaves the machine for a search, with every key set.
func TestEgress(t *testing.T) {
	base, w := farEnd(t, func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		switch {
		case r.URL.Path == "/v1/search" && r.Method == http.MethodGet:
			fmt.Fprint(rw, `{"results":[{"name":"Berlin","latitude":52.52437,"longitude":13.41053,"country_code":"DE"}]}`)
		case r.URL.Path == "/geo/1.0/direct":
			fmt.Fprint(rw, `[{"name":"Berlin","lat":52.52437,"lon":13.41053,"country":"DE"}]`)
		case r.URL.Path == "/api/v1/access_token":
			fmt.Fprint(rw, `{"access_token":"token","expires_in":3600}`)
		case strings.HasPrefix(r.URL.Path, "/search/"):
			fmt.Fprint(rw, `{"items":[]}`)
		default:
			fmt.Fprint(rw, `{}`)
		}
	})
	host := strings.TrimPrefix(base, "http://")
	const agent = "familiar/1.0 (+https://example.org/operator)"
	head := func(target, language, length, key, kind string) string {
		method := map[bool]string{true: "GET", false: "POST"}[length == ""]
		return method + " " + target + " HTTP/1.1\r\nHost: " + host + "\r\nUser-Agent: " + agent + "\r\n" + length + "Accept: application/json, text/html;q=0.5\r\n" +
			"Accept-Language: " + language + "\r\n" + key + kind + "Accept-Encoding: gzip\r\n\r\n"
	}
	get := func(target, language string, key ...string) string {
		return head(target, language, "", header(key), "")
	}
	post := func(target, body string, key ...string) string {
		// Headers are sorted: the key's header comes before or after Content-Type.
		before, kind, after := "", "Content-Type: application/json\r\n", header(key)
		if after < kind {
			before, after = after, ""
		}
		return head(target, "de-AT", fmt.Sprintf("Content-Length: %d\r\n", len(body)), before, kind+after) + body
	}
	want := map[string]string{
		"searxng": get("/search?categories=general&engines=google%2Cbing&format=json&language=de-AT&pageno=1&q=who+is+Ada+Lovelace&safesearch=1&time_range=year", "de-AT"),
		"tavily": post("/search", `{"country":"austria","exclude_domains":["spam.example.org"],"include_answer":false,"max_results":10,`+
			`"query":"who is Ada Lovelace","search_depth":"basic","time_range":"year","topic":"general"}`, "Authorization", "Bearer secret-of-tavily_api_key"),
		"brave": get("/web/search?count=10&country=AT&freshness=py&q=who+is+Ada+Lovelace+-site%3Aspam.example.org&result_filter=web&safesearch=moderate"+
			"&search_lang=de&text_decorations=false", "de-AT", "X-Subscription-Token", "secret-of-brave_search_api_key"),
		"kagi": post("/v1/search", `{"filters":{"after":"2025-11-20","region":"at"},"lens":{"sites_excluded":["spam.example.org"]},"limit":10,`+
			`"query":"who is Ada Lovelace","safe_search":true,"workflow":"search"}`, "Authorization", "Bearer secret-of-kagi_api_key"),
		"serper":  post("/search", `{"gl":"at","hl":"de","num":10,"q":"who is Ada Lovelace -site:spam.example.org","tbs":"qdr:y"}`, "X-Api-Key", "secret-of-serper_api_key"),
		"serpapi": get("/search.json?api_key=secret-of-serpapi_api_key&engine=google&gl=at&hl=de&q=who+is+Ada+Lovelace+-site%3Aspam.example.org&tbs=qdr%3Ay", "de-AT"),
		"exa": post("/search", `{"contents":{"highlights":true},"excludeDomains":["spam.example.org"],"moderation":true,"numResults":10,`+
			`"query":"who is Ada Lovelace","startPublishedDate":"2025-11-20T00:00:00Z","type":"auto","userLocation":"AT"}`, "X-Api-Key", "secret-of-exa_api_key"),
		"firecrawl": post("/v2/search", `{"country":"AT","excludeDomains":["spam.example.org"],"limit":10,"query":"who is Ada Lovelace","safe":true,"sources":["web"],"tbs":"qdr:y"}`,
			"Authorization", "Bearer secret-of-firecrawl_api_key"),
		"openmeteo": get("/v1/search?count=10&format=json&language=de&name=Berlin", "de-AT") +
			get("/v1/forecast?current=temperature_2m%2Capparent_temperature%2Crelative_humidity_2m%2Cprecipitation%2Cweather_code%2Cwind_speed_10m"+
				"&daily=weather_code%2Ctemperature_2m_max%2Ctemperature_2m_min%2Cprecipitation_probability_max%2Csunrise%2Csunset"+
				"&forecast_days=4&latitude=52.52&longitude=13.41&timezone=auto", "de-AT"),
		"openweathermap": get("/geo/1.0/direct?appid=secret-of-openweather_api_key&limit=5&q=Berlin", "de-AT") +
			get("/data/2.5/weather?appid=secret-of-openweather_api_key&lat=52.52&lon=13.41&units=metric", "de-AT") +
			get("/data/2.5/forecast?appid=secret-of-openweather_api_key&lat=52.52&lon=13.41&units=metric", "de-AT"),
		"wttr":    get("/Berlin?format=j1", "de-AT"),
		"newsapi": get("/v2/everything?excludeDomains=spam.example.org&language=de&pageSize=10&q=who+is+Ada+Lovelace&sortBy=relevancy", "de-AT", "X-Api-Key", "secret-of-newsapi_key"),
		"reddit": strings.Replace(head("/api/v1/access_token", "en", "Content-Length: 29\r\n", "Authorization: Basic c2VjcmV0LW9mLXJlZGRpdF9jbGllbnRfaWQ6c2VjcmV0LW9mLXJlZGRpdF9jbGllbnRfc2VjcmV0\r\n",
			"Content-Type: application/x-www-form-urlencoded\r\n")+"grant_type=client_credentials"+
			get("/search?limit=10&q=who+is+Ada+Lovelace&raw_json=1&sort=relevance&t=year&type=link", "de-AT", "Authorization", "Bearer token"),
			agent, redditAgent(agent, "secret-of-reddit_username"), -1),
		"hackernews": get("/api/v1/search?hitsPerPage=10&numericFilters=created_at_i%3E1763640000&query=who+is+Ada+Lovelace&tags=%28story%2Ccomment%29", "de-AT"),
		"stackexchange": get("/2.3/search/advanced?filter=withbody&fromdate=1763640000&key=secret-of-stackexchange_key&order=desc&pagesize=10"+
			"&q=who+is+Ada+Lovelace&site=stackoverflow.com&sort=relevance", "de-AT"),
		"github": strings.NewReplacer("application/json, text/html;q=0.5", "application/vnd.github+json", "Accept-Encoding", "X-Github-Api-Version: 2022-11-28\r\nAccept-Encoding").Replace(
			get("/search/repositories?per_page=10&q=who+is+Ada+Lovelace+is%3Apublic+pushed%3A%3E%3D2025-11-20", "de-AT", "Authorization", "Bearer secret-of-github_token")),
		"wikipedia": get("/de/w/api.php?action=query&exintro=1&exlimit=max&explaintext=1&format=json&formatversion=2&generator=search&gsrlimit=5"+
			"&gsrsearch=who+is+Ada+Lovelace&inprop=url&maxlag=5&pilimit=max&piprop=thumbnail&pithumbsize=320&ppprop=disambiguation&prop=extracts%7Cinfo%7Cpageprops%7Cpageimages&redirects=1", "de"),
		"duckduckgo": get("/?format=json&no_html=1&no_redirect=1&q=who+is+Ada+Lovelace&skip_disambig=1&t=familiar", "de-AT"),
	}
	config := Config{SearXNG: base, Client: clients(t), UserAgent: agent, Keys: testKeys(), Now: noon, Base: atBase(base)}
	query := search.Query{Text: "who is Ada Lovelace", Intent: "person", Language: "de-AT", Fresh: "year", Place: "Berlin", Exclude: []string{"spam.example.org"}}
	for _, e := range Table() {
		b, err := e.open(config)
		if err != nil {
			t.Fatal(err)
		}
		q := query
		if e.Only != nil && !slices.Contains(e.Only, q.Intent) { // backends that do not serve the person intent
			q.Intent = e.Only[0]
		}
		(&search.Engine{Backends: []search.Backend{b}}).Search(t.Context(), q)
		if diff := cmp.Diff(want[e.Name], w.take()); diff != "" {
			t.Errorf("%s, on the wire (-want +got):\n%s", e.Name, diff)
		}
	}
}

// header returns a header line for a name and value.
func header(key []string) string {
	if key == nil {
		return ""
	}
	return key[0] + ": " + key[1] + "\r\n"
}

// An instance that follows a redirect command ("!!g") must not send the query to another site.
func TestRedirectsAreNotFollowed(t *testing.T) {
	elsewhere, w := farEnd(t, func(http.ResponseWriter, *http.Request) {})
	base, _ := farEnd(t, func(rw http.ResponseWriter, r *http.Request) {
		http.Redirect(rw, r, elsewhere+"/?"+r.URL.RawQuery, http.StatusFound)
	})
	follows := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(follows.CloseIdleConnections)
	for _, client := range []func(string) *http.Client{clients(t), func(string) *http.Client { return follows }} {
		for _, b := range opened(t, Config{SearXNG: base, Client: client, Keys: testKeys(), Base: atBase(base)}) {
			var failed *search.Error
			_, err := b.Search(t.Context(), search.Query{Text: "secret words", Place: "Berlin", Limit: 10})
			if !errors.As(err, &failed) || failed.Code != turn.CodeRejected {
				t.Errorf("%s: %v, want code %s", b.Name(), err, turn.CodeRejected)
			}
		}
	}
	if w.String() != "" {
		t.Errorf("the redirect was followed:\n%s", w)
	}
}

// These failures happen before there is a reply. No error shows the query, the login or a key.
func TestBrokenLines(t *testing.T) {
	const gone = "127.0.0.1:1" // no program gets this port by chance
	hang := make(chan struct{})
	silent, _ := farEnd(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	})
	t.Cleanup(func() { close(hang) })
	broken, _ := farEnd(t, func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Length", "1000")
		fmt.Fprint(rw, `{"results": [`)
	})
	endless, _ := farEnd(t, func(rw http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			fmt.Fprint(rw, strings.Repeat(" ", 64<<10))
		}
	})
	for _, test := range []struct {
		name, base string
		code       turn.Code
		patience   time.Duration
	}{
		{"nobody there", "http://" + gone, turn.CodeUnreachable, time.Minute},
		{"no answer", silent, turn.CodeTimeout, 200 * time.Millisecond},
		{"half an answer", broken, turn.CodeUnreachable, time.Minute},
		{"an answer without end", endless, turn.CodeTooLarge, time.Minute},
	} {
		t.Run(test.name, func(t *testing.T) {
			login := strings.Replace(test.base, "//", "//operator:hunter2-password@", 1)
			var asking sync.WaitGroup
			for _, b := range opened(t, Config{SearXNG: login, Client: clients(t), Keys: testKeys(), Base: atBase(login)}) {
				asking.Go(func() {
					ctx, cancel := context.WithTimeout(t.Context(), test.patience)
					defer cancel()
					_, err := b.Search(ctx, search.Query{Text: "hidden words", Place: "Berlin", Limit: 10})
					var failed *search.Error
					if !errors.As(err, &failed) || failed.Code != test.code {
						t.Errorf("%s: %v, want code %s", b.Name(), err, test.code)
						return
					}
					for _, secret := range []string{"hidden", "hunter2", "operator", "secret-of-"} {
						if strings.Contains(err.Error(), secret) {
							t.Errorf("the error %q tells %q", err, secret)
						}
					}
				})
			}
			asking.Wait()
		})
	}
}

func TestLogin(t *testing.T) {
	base, _ := farEnd(t, func(rw http.ResponseWriter, r *http.Request) {
		name, password, _ := r.BasicAuth()
		fmt.Fprintf(rw, `{"results":[{"url":"https://example.org/%s/%s"}]}`, name, password)
	})
	b := connect(t, "searxng", Config{SearXNG: strings.Replace(base, "//", "//me:word@", 1), Client: clients(t)})
	got, err := b.Search(t.Context(), search.Query{Text: "q", Limit: 10})
	if want := (search.Reply{Hits: []turn.Hit{{URL: "https://example.org/me/word"}}}); err != nil || !cmp.Equal(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
}
