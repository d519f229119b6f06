package backend

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"familiar/internal/context/turn"
	"familiar/internal/search"
)

// letIn makes every backend that has a key. All their requests go through client.
func letIn(t *testing.T, client *http.Client) []search.Backend {
	t.Helper()
	config := Config{Client: func(string) *http.Client { return client }, Keys: testKeys(), Now: noon}
	var all []search.Backend
	for _, e := range Table() {
		if e.Keys == nil {
			continue
		}
		b, err := e.open(config)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b)
	}
	return all
}

// answering returns a client that gets the same reply to every request.
func answering(status int, body string) *http.Client {
	return &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	})}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Whatever a service says about a failure, the error has a code and none of the service's words.
func TestErrorsHideServiceMessages(t *testing.T) {
	const words = "zebra secret-of-everything"
	for _, status := range []int{204, 302, 400, 401, 402, 403, 404, 408, 409, 422, 429, 432, 500, 503} {
		for _, body := range []string{
			"", "null", words, `"` + words + `"`, `{"error":"` + words + `"}`, `{"detail":{"error":"` + words + `"}}`, `{"detail":[{"msg":"` + words + `","input":5}]}`,
			`{"error":[{"code":2,"msg":"` + words + `"}]}`, `{"message":"` + words + `","statusCode":403}`, `{"error":{"meta":{"errors":[{"msg":"` + words + `"}]}}}`, "<p>" + words,
		} {
			for _, b := range letIn(t, answering(status, body)) {
				reply, err := b.Search(t.Context(), search.Query{Text: "anything", Limit: 10})
				var failed *search.Error
				if !errors.As(err, &failed) || failed.Code == "" || failed.Backend != b.Name() || len(reply.Hits) > 0 {
					t.Errorf("%s, HTTP %d %q: %v, %v", b.Name(), status, body, reply, err)
				} else if strings.Contains(err.Error(), "zebra") || strings.Contains(err.Error(), "secret") {
					t.Errorf("%s, HTTP %d %q: the error repeats it: %v", b.Name(), status, body, err)
				}
			}
		}
	}
}

// A query that a service repeats in its failure does not change the failure's code.
func TestQueryCannotImitateAFailure(t *testing.T) {
	const echo = `{"error":{"detail":"x","input":"%[1]s","query":"%[1]s","meta":{"errors":[{"loc":["%[1]s"],"msg":"y","input":"%[1]s"}]}}}`
	body := fmt.Sprintf(echo, "not enough credits insufficient credits invalid api key subscription_token quota unauthorized run out of searches")
	for _, b := range letIn(t, answering(http.StatusBadRequest, body)) {
		var failed *search.Error
		if _, err := b.Search(t.Context(), search.Query{Text: "anything", Limit: 10}); !errors.As(err, &failed) || failed.Code != turn.CodeRejected {
			t.Errorf("%s: %v, want %s", b.Name(), err, turn.CodeRejected)
		}
	}
}

// A query without a word sends no request.
func TestEmptyQuerySendsNothing(t *testing.T) {
	for _, b := range letIn(t, &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		t.Errorf("%s was asked", r.URL.Host)
		return nil, errors.New("asked")
	})}) {
		if reply, err := b.Search(t.Context(), search.Query{Text: " \t", Limit: 10}); err != nil || len(reply.Hits) > 0 {
			t.Errorf("%s: %v, %v", b.Name(), reply, err)
		}
	}
}

// A reply of any shape makes hits of plain lines or a failure, and never a panic.
func TestHostileReplies(t *testing.T) {
	value := rapid.Deferred(func() *rapid.Generator[string] { return hostileJSON(3) })
	rapid.Check(t, func(rt *rapid.T) {
		body := value.Draw(rt, "body")
		q := search.Query{
			Text: "anything", Limit: rapid.IntRange(1, 25).Draw(rt, "limit"),
			Intent: rapid.SampledFrom([]turn.Intent{"", turn.IntentNews, turn.IntentImage, turn.IntentVideo}).Draw(rt, "intent"),
			Depth:  rapid.SampledFrom([]string{search.DepthBasic, search.DepthAdvanced}).Draw(rt, "depth"),
		}
		for _, b := range letIn(t, answering(http.StatusOK, body)) {
			reply, err := b.Search(t.Context(), q)
			var failed *search.Error
			if err != nil && !errors.As(err, &failed) {
				rt.Fatalf("%s: an error that is none of ours: %v", b.Name(), err)
			}
			for _, h := range reply.Hits {
				if h.URL == "" || strings.ContainsAny(h.Title+h.Snippet, "\n\x00") || h.Media != "" && !strings.HasPrefix(h.Media, "http") {
					rt.Fatalf("%s: %+v", b.Name(), h)
				}
			}
		}
	})
}

// hostileJSON draws values with the services' field names in shapes that the services do not use.
func hostileJSON(depth int) *rapid.Generator[string] {
	leaf := rapid.SampledFrom([]string{
		"null", "7", "-1e99", "true", `""`, `"text\n\u0000 <b>&amp;"`, `"https://example.org/"`, `"data:x"`, `"3 hours ago"`, `"2026-11-20T09:00:00"`, `"Success"`, "[]", "{}",
	})
	if depth == 0 {
		return leaf
	}
	names := strings.Fields("results web news images image video data search organic organic_results images_results grounding generic sources snippets title url link " +
		"content description snippet date age page_age thumbnail properties src imageUrl original raw_content score highlights text error success type " +
		"searchParameters search_metadata status answerBox answer_box knowledgeGraph knowledge_graph source metadata statusCode markdown t")
	return rapid.Custom(func(t *rapid.T) string {
		switch rapid.IntRange(0, 5).Draw(t, "shape") {
		case 0:
			return leaf.Draw(t, "leaf")
		case 1:
			return "[" + strings.Join(rapid.SliceOfN(hostileJSON(depth-1), 0, 3).Draw(t, "items"), ",") + "]"
		}
		var fields []string
		for range rapid.IntRange(1, 6).Draw(t, "fields") {
			fields = append(fields, fmt.Sprintf("%q:%s", rapid.SampledFrom(names).Draw(t, "name"), hostileJSON(depth-1).Draw(t, "value")))
		}
		return "{" + strings.Join(fields, ",") + "}"
	})
}

// The newer API is asked only once with a key that belongs to the older one.
func TestKagiRemembersAnOldKey(t *testing.T) {
	far := replies(map[string]string{
		"reply/api/v1/search": "HTTP/1.1 401 Unauthorized\nContent-Type: application/json\n\n{}",
		"reply/api/v0/search": "HTTP/1.1 200 OK\nContent-Type: application/json\n\n{\"data\":[]}",
	})
	b := connect(t, "kagi", Config{Client: far.Client, Keys: testKeys()})
	for range 3 {
		if _, err := b.Search(t.Context(), search.Query{Text: "anything", Limit: 10}); err != nil {
			t.Error(err)
		}
	}
	var paths []string
	for _, sent := range far.Sent() {
		first, _, _ := strings.Cut(sent, "\n")
		paths = append(paths, strings.TrimPrefix(first, "GET https://kagi.com/api"))
	}
	if want := []string{"POST https://kagi.com/api/v1/search", "/v0/search", "/v0/search", "/v0/search"}; !slices.Equal(paths, want) {
		t.Errorf("asked %q, want %q", paths, want)
	}
}

// A backend is on if it has its keys. Without one it is off, and the reason names the key and where to get it.
func TestKeys(t *testing.T) {
	keys := testKeys()
	for _, e := range Table() {
		config := Config{SearXNG: "https://search.example.org", Client: replies(nil).Client, Keys: map[string]string{}}
		for _, k := range e.Keys {
			if k.Optional {
				continue
			}
			_, err := e.open(config)
			if err == nil || !strings.Contains(err.Error(), k.Name) || !strings.Contains(err.Error(), k.Where) {
				t.Fatalf("%s without %s: %v", e.Name, k.Name, err)
			}
			if set, _ := Open(config); !slices.ContainsFunc(set.Off, func(d Disabled) bool { return d == Disabled{e.Name, err.Error(), k.Name} }) {
				t.Errorf("%s is not among those that are off: %v", e.Name, set.Off)
			}
			config.Keys[k.Name] = keys[k.Name]
		}
		if _, err := e.open(config); err != nil {
			t.Errorf("%s with its key: %v", e.Name, err)
		}
	}
}

func TestDated(t *testing.T) {
	const instant, day, none = "2006-01-02 15:04", "2006-01-02", ""
	for _, test := range []struct{ texts, want, precision string }{
		{"2026-08-11T09:10:00.000Z", "2026-08-11 09:10", instant},
		{"2026-08-11T00:00:00.000Z", "2026-08-11", day},
		{"2026-08-11T00:30:00+02:00", "2026-08-10 22:30", instant},
		{"Tue, 11 Aug 2026 09:00:00 GMT", "2026-08-11 09:00", instant},
		{"Tue, 11 Aug 2026 09:00:00 PST", "2026-08-11", day},
		{"2026-08-11T23:59:59", "2026-08-11", day},
		{"2026-08-11T23:59:59.123", "2026-08-11", day},
		{"2026-08-11 | 3 hours ago", "2026-11-20 09:00", instant},
		{"2026-08-11 | 2026-08-12", "2026-08-11", day},
		{"soon | Aug 11, 2026", "2026-08-11", day},
		{"11 August 2026", "2026-08-11", day},
		{"11.08.2026", "2026-08-11", day},
		{"08/11/2026", "", none}, // or November 8
		{"5 minutes ago", "2026-11-20 11:55", instant},
		{"5 mins ago", "2026-11-20 11:55", instant},
		{"an hour ago", "2026-11-20 11:00", instant},
		{"1 hour ago", "2026-11-20 11:00", instant},
		{"23 hours ago", "2026-11-19 13:00", instant},
		{"1 day ago", "2026-11-19", day},
		{"Yesterday", "2026-11-19", day},
		{"vor 2 Tagen", "2026-11-18", day},
		{"il y a 3 heures", "2026-11-20 09:00", instant},
		{"hace 2 días", "2026-11-18", day},
		{"há 4 horas", "2026-11-20 08:00", instant},
		{"3時間前", "2026-11-20 09:00", instant},
		{"2 天前", "2026-11-18", day},
		{"2 weeks ago", "", none},
		{"3 months ago", "", none},
		{"9999 days ago", "", none},
		{"3 of 5 days ago", "", none},
		{"2027-01-01", "", none},
		{"2026-11-21", "2026-11-21", day}, // it has begun farther east
		{"0001-01-01", "", none},
		{"2026-13-45", "", none},
		{"", "", none},
	} {
		at, dayOnly := dated(noon(), strings.Split(test.texts, " | ")...)
		got := ""
		if !at.IsZero() {
			got = at.UTC().Format(test.precision)
		}
		if got != test.want || dayOnly != (test.precision == day) {
			t.Errorf("%q: %s, day only %t; want %q", test.texts, at, dayOnly, test.want)
		}
	}
}

func TestWithoutOperators(t *testing.T) {
	for text, want := range map[string]string{
		`who is "Ada Lovelace"`:                      "who is Ada Lovelace",
		"covid-19 -vaccine":                          "covid-19 vaccine",
		"site:evil.example cats":                     "site evil.example cats",
		"SITE:site:evil.example (inurl:admin)":       "SITE site evil.example inurl admin",
		"--site:evil.example":                        "site evil.example",
		"website: my site":                           "website: my site",
		"cats OR dogs AND NOT mice":                  "cats or dogs and not mice",
		"std::vector C++ C# 10:30 https://go.dev/x?": "std::vector C++ C# 10:30 https://go.dev/x?",
		"~cheap @someone * | flights":                "cheap someone flights",
		"何 -site:evil.example":                       "何 site evil.example",
		"- + \" ":                                    "",
	} {
		if got := withoutOperators(text); got != want {
			t.Errorf("withoutOperators(%q) = %q, want %q", text, got, want)
		}
	}
}

// Any query stays within the limits.
func TestWithSitesKeepsToItsLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		host := rapid.StringMatching(`[a-z]{1,60}\.example`)
		q := search.Query{Text: rapid.String().Draw(t, "text"), Include: rapid.SliceOfN(host, 0, 7).Draw(t, "include"), Exclude: rapid.SliceOfN(host, 0, 7).Draw(t, "exclude")}
		text := withSites(q, 400, 50)
		if n := len([]rune(text)); n > 400 || len(strings.Fields(text)) > 50 {
			t.Fatalf("%d characters, %d words: %q", n, len(strings.Fields(text)), text)
		}
		if again := strings.TrimSuffix(text, sites(q.Include, q.Exclude)); withoutOperators(again) != again {
			t.Fatalf("operators are left in %q: %q", again, withoutOperators(again))
		}
	})
}

func TestParametersOfLanguages(t *testing.T) {
	for _, test := range []struct{ tag, brave, hl, gl, tavily string }{
		{"en-US", "en", "en", "us", "united states"},
		{"en-GB", "en-gb", "en", "uk", "united kingdom"},
		{"ja-JP", "jp", "ja", "jp", "japan"},
		{"zh", "zh-hans", "zh-cn", "", ""},
		{"zh-Hant", "zh-hant", "zh-tw", "", ""},
		{"zh-HK", "zh-hant", "zh-tw", "hk", ""},
		{"pt-BR", "pt-br", "pt-br", "br", "brazil"},
		{"pt-PT", "pt-pt", "pt-pt", "pt", "portugal"},
		{"nn-NO", "nb", "no", "no", "norway"},
		{"he", "he", "iw", "", ""},
		{"tlh-XX", "", "", "xx", ""},
		{"", "", "", "", ""},
	} {
		hl, gl := google(test.tag)
		_, region := locale(test.tag)
		if got := braveLanguage(test.tag); got != test.brave || hl != test.hl || gl != test.gl || tavilyCountry(region) != test.tavily {
			t.Errorf("%q: brave %q, google %q and %q, tavily %q; want %+v", test.tag, got, hl, gl, tavilyCountry(region), test)
		}
	}
}

func TestBraveAllowance(t *testing.T) {
	for _, test := range []struct {
		limit, left, reset string
		want               search.Allowance
	}{
		{"1, 15000", "1, 14999", "1, 60", search.Allowance{Left: 14999, Of: 15000, Resets: noon().Add(time.Minute)}},
		{"1, 15000", "0, 14999", "1, 60", search.Allowance{Left: 0, Of: 1, Resets: noon().Add(time.Second)}},
		{"1, 15000", "0, 0", "1, 60", search.Allowance{Left: 0, Of: 15000, Resets: noon().Add(time.Minute)}},
		{"50, 0", "49, 0", "1, 60", search.Allowance{Left: 49, Of: 50, Resets: noon().Add(time.Second)}},
		{"50", "-3", "1", search.Allowance{Left: 0, Of: 50, Resets: noon().Add(time.Second)}},
		{"", "", "", search.Allowance{}},
		{"x, 5", "1", "1, 2", search.Allowance{}},
	} {
		h := http.Header{}
		h.Set("X-RateLimit-Limit", test.limit)
		h.Set("X-RateLimit-Remaining", test.left)
		h.Set("X-RateLimit-Reset", test.reset)
		if got := braveAllowance(h, noon()); got != test.want {
			t.Errorf("%q %q %q: %v, want %v", test.limit, test.left, test.reset, got, test.want)
		}
	}
}

// sequence answers requests in order and counts them.
type sequence struct {
	replies []string // status, headers and body, as in the archives
	asked   int      // requests so far
}

func (s *sequence) RoundTrip(req *http.Request) (*http.Response, error) {
	far := replies(map[string]string{"reply": s.replies[min(s.asked, len(s.replies)-1)]})
	s.asked++
	return far.RoundTrip(req)
}

// A service that asks for a pause gets it, for as long as it says.
func TestPauses(t *testing.T) {
	const (
		head  = "HTTP/1.1 200 OK\nContent-Type: application/json\n"
		empty = `{"items":[]`
	)
	resets := func(after time.Duration) string { // by the bubble's clock
		return fmt.Sprint(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(after).Unix())
	}
	for _, test := range []struct {
		name, backend, reply string
		code                 turn.Code
		wait                 time.Duration
	}{
		{"backoff", "stackexchange", head + "\n" + empty + `,"backoff":10,"quota_max":300,"quota_remaining":100}`, turn.CodeRateLimited, 10 * time.Second},
		{"a day's quota", "stackexchange", head + "\n" + empty + `,"quota_max":300,"quota_remaining":0}`, turn.CodeQuota, 24 * time.Hour},
		{"nonsense", "stackexchange", head + "\n" + empty + `,"backoff":1e300,"quota_max":300,"quota_remaining":1}`, turn.CodeRateLimited, 24 * time.Hour},
		{"throttled", "stackexchange", "HTTP/1.1 400 Bad Request\n\n" + `{"error_name":"throttle_violation"}`, turn.CodeRateLimited, time.Minute},
		{"the last search", "github", head + "X-RateLimit-Limit: 10\nX-RateLimit-Remaining: 0\nX-RateLimit-Reset: " + resets(40*time.Second) + "\n\n" + empty + "}", turn.CodeQuota, 40 * time.Second},
		{"primary limit", "github", "HTTP/1.1 403 Forbidden\nX-RateLimit-Limit: 10\nX-RateLimit-Remaining: 0\nX-RateLimit-Reset: " + resets(50*time.Second) + "\n\n" + `{"message":"API rate limit exceeded"}`, turn.CodeRateLimited, 50 * time.Second},
		{"secondary limit", "github", "HTTP/1.1 403 Forbidden\nRetry-After: 90\n\n" + `{"message":"You have exceeded a secondary rate limit"}`, turn.CodeRateLimited, 90 * time.Second},
		{"secondary limit without a time", "github", "HTTP/1.1 429 Too Many Requests\n\n{}", turn.CodeRateLimited, time.Minute},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				far := &sequence{replies: []string{test.reply, head + "\n" + empty + "}"}}
				line, _ := entryOf(test.backend)
				b, err := line.open(Config{Client: func(string) *http.Client { return &http.Client{Transport: far} }})
				if err != nil {
					t.Fatal(err)
				}
				e := &search.Engine{Backends: []search.Backend{b}}
				q := search.Query{Text: "x", Intent: "docs", Limit: 10}
				if first := e.Search(t.Context(), q); (first.State == turn.LookupFailed) != strings.Contains(test.reply, " 4") {
					t.Errorf("the first: %+v", first)
				}
				time.Sleep(test.wait - time.Second)
				if second := e.Search(t.Context(), q); far.asked != 1 || second.Failure != test.code {
					t.Errorf("a second before the end: %+v after %d requests; want %s", second, far.asked, test.code)
				}
				time.Sleep(time.Second)
				if third := e.Search(t.Context(), q); third.State != turn.Empty || far.asked != 2 {
					t.Errorf("at the end: %+v after %d requests", third, far.asked)
				}
			})
		})
	}
}

// Stack Exchange always compresses its replies.
func TestCompressed(t *testing.T) {
	base, _ := farEnd(t, func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		rw.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(rw)
		io.WriteString(z, `{"items":[{"title":"T","link":"https://stackoverflow.com/q/1"}]}`)
		z.Close()
	})
	b := connect(t, "stackexchange", Config{Client: clients(t), Base: map[string]string{"stackexchange": base}})
	if got, err := b.Search(t.Context(), search.Query{Text: "x", Limit: 10}); err != nil || len(got.Hits) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}
