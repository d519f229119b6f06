package backend

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/search"
	"familiar/internal/test/webtest"
)

var update = flag.Bool("update", false, "write the outcomes of this run into the archives")

// required are the cases that every archive must have.
var required = []string{"hits", "empty", "quota", "blocked", "malformed", "html", "odd", "large"}

// Each case of an archive is a folder. It holds query, one field per line, and reply, an HTTP response, or reply/<path> for the reply to
// one path. want has the hits and then the error. A header "Pad: n" makes the body n bytes longer. sent, if present, is what left the
// machine, in order. It is sorted by address if the query has "at once: yes".
func TestBackends(t *testing.T) {
	for _, e := range Table() {
		t.Run(e.Name, func(t *testing.T) {
			file := filepath.Join("testdata", e.Name+".txtar")
			names := required
			if e.Keys != nil {
				names = append(slices.Clone(required), "badkey", "ratelimit")
			}
			webtest.RunCases(t, file, names, *update, func(t *testing.T, c *webtest.Case) {
				synctest.Test(t, func(t *testing.T) {
					time.Sleep(time.Until(noon()))
					runCase(t, c, e)
				})
			})
		})
	}
}

func runCase(t *testing.T, c *webtest.Case, e Entry) {
	far := replies(c.Files)
	config := Config{SearXNG: "http://searxng.internal:8888/search", UserAgent: "familiar/test (+https://example.org/operator)", Client: far.Client, Keys: testKeys(), Now: noon}
	q := parseQuery(t, c.Files["query"], &config)
	b, err := e.open(config)
	if err != nil {
		t.Fatal(err)
	}
	if b.Name() != e.Name {
		t.Errorf("Name() = %q, want %q", b.Name(), e.Name)
	}
	reply, err := b.Search(t.Context(), q)
	outcome := describe(reply, err)
	if strings.Contains(outcome, "secret-of-") {
		t.Errorf("a key shows in the outcome:\n%s", outcome)
	}
	c.Compare(t, "want", outcome)
	sent := far.Sent()
	for _, request := range sent {
		if address, _, _ := strings.Cut(request, "\n"); strings.Contains(address, "secret-of-") {
			t.Errorf("a key in the address: %s", address)
		}
	}
	if strings.Contains(c.Files["query"], "at once: yes") {
		slices.Sort(sent)
	}
	if _, interesting := c.Files["sent"]; interesting {
		c.Compare(t, "sent", strings.Join(sent, ""))
	}
}

func parseQuery(t *testing.T, text string, c *Config) search.Query {
	q := search.Query{Limit: 10}
	for l := range strings.Lines(text) {
		field, value, _ := strings.Cut(strings.TrimSpace(l), ": ")
		switch field {
		case "text":
			q.Text = value
		case "intent":
			q.Intent = turn.Intent(value)
		case "language":
			q.Language = value
		case "fresh":
			q.Fresh = value
		case "place":
			q.Place = value
		case "include":
			q.Include = strings.Fields(value)
		case "exclude":
			q.Exclude = strings.Fields(value)
		case "at once":
		case "safe":
			q.Safe = value
		case "limit":
			q.Limit, _ = strconv.Atoi(value)
		case "usual depth":
			c.Depth = value
		case "depth":
			q.Depth = value
		default:
			t.Fatalf("query has no field %q", field)
		}
	}
	return q
}

// noon is the time in every archive: Friday, 20 November 2026.
func noon() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

// testKeys returns a value for every key. No outcome may show one.
func testKeys() map[string]string {
	keys := map[string]string{}
	for _, k := range Keys() {
		keys[k.Name] = "secret-of-" + strings.ToLower(k.Name)
	}
	return keys
}

// describe formats an outcome for people.
func describe(reply search.Reply, err error) string {
	var b strings.Builder
	for i, h := range reply.Hits {
		fmt.Fprintf(&b, "%d. %s\n   %s\n", i+1, h.Title, h.URL)
		if h.Answer {
			fmt.Fprintf(&b, "   answer\n")
		}
		if !h.Published.IsZero() {
			fmt.Fprintf(&b, "   published %s%s\n", h.Published.Format("2006-01-02 15:04 -07:00"), map[bool]string{true: " (day)"}[h.DayOnly])
		}
		if h.Given != 0 {
			fmt.Fprintf(&b, "   given %g\n", h.Given)
		}
		if h.Language != "" {
			fmt.Fprintf(&b, "   language %s\n", h.Language)
		}
		if h.Media != "" || h.Thumbnail != "" {
			fmt.Fprintf(&b, "   media %s\n   thumbnail %s\n", h.Media, h.Thumbnail)
		}
		if h.Snippet != "" && h.Snippet != h.Text {
			fmt.Fprintf(&b, "   snippet: %s\n", h.Snippet)
		}
		for l := range strings.Lines(h.Text) {
			fmt.Fprintf(&b, "   text: %s\n", strings.TrimSpace(l))
		}
	}
	var failed *search.Error
	switch {
	case errors.As(err, &failed):
		fmt.Fprintf(&b, "error: %v", failed)
		if failed.RetryAfter > 0 {
			fmt.Fprintf(&b, " (retry after %s)", failed.RetryAfter)
		}
		b.WriteByte('\n')
	case err != nil:
		fmt.Fprintf(&b, "error that is no *Error: %v\n", err)
	case len(reply.Hits) == 0:
		b.WriteString("nothing\n")
	}
	if left := reply.Allowance; left.Of > 0 {
		fmt.Fprintf(&b, "allowance: %d of %d until %s\n", left.Left, left.Of, left.Resets.Format(time.DateTime))
	}
	return b.String()
}

// replies is a service that replies from the files of a case.
func replies(files map[string]string) *webtest.Replies {
	return &webtest.Replies{Describe: describeRequest, Find: func(req *http.Request) (string, bool) {
		if reply, ok := files["reply"+req.URL.Path]; ok {
			return reply, true
		}
		reply, ok := files["reply"]
		return reply, ok
	}}
}

// everywhere lists the headers of every request, which archives do not repeat.
var everywhere = []string{"Accept", "Accept-Language", "User-Agent", "Content-Type"}

// describeRequest formats a request for people: its address, parameters, headers and body, one per line.
func describeRequest(req *http.Request) string {
	var b strings.Builder
	params := req.URL.Query()
	fmt.Fprintf(&b, "%s %s://%s%s\n", req.Method, req.URL.Scheme, req.URL.Host, req.URL.Path)
	for _, name := range slices.Sorted(maps.Keys(params)) {
		fmt.Fprintf(&b, "  %s=%s\n", name, strings.Join(params[name], ","))
	}
	for _, name := range slices.Sorted(maps.Keys(req.Header)) {
		if !slices.Contains(everywhere, name) {
			fmt.Fprintf(&b, "  %s: %s\n", name, req.Header.Get(name))
		}
	}
	if req.Body != nil {
		body, err := io.ReadAll(req.Body)
		fmt.Fprintf(&b, "  %s\n", body)
		if err != nil {
			fmt.Fprintf(&b, "  error: %v\n", err)
		}
	}
	return b.String()
}
