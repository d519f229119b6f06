package backends

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"familiar/internal/context/turn"
	"familiar/internal/search"
)

var update = flag.Bool("update", false, "write the outcomes of this run into the archives")

// required are the cases that every archive has, whatever else is in it.
var required = []string{"hits", "empty", "quota", "blocked", "malformed", "html", "odd", "large"}

// TestBackends plays every archive against its backend. A case is a folder of the archive: query, one field a line;
// reply, an HTTP response, or reply/<path> for one path only, where a header "Pad: n" makes the body n bytes longer;
// want, the hits and then the error; and, where it is of interest, sent: what left the machine, in its order, or where
// the query has "at once: yes" in that of the addresses.
func TestBackends(t *testing.T) {
	for _, e := range Table() {
		t.Run(e.Name, func(t *testing.T) {
			file := filepath.Join("testdata", e.Name+".txtar")
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatalf("backend %s has no archive: %v", e.Name, err)
			}
			cases := casesOf(archive)
			names := required
			if e.Keys != nil {
				names = append(slices.Clone(required), "badkey", "ratelimit")
			}
			for _, name := range names {
				if !slices.ContainsFunc(cases, func(c *archived) bool { return c.name == name }) {
					t.Errorf("%s has no case %q", file, name)
				}
			}
			for _, c := range cases {
				t.Run(c.name, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						time.Sleep(time.Until(noon()))
						c.run(t, e, archive)
					})
				})
			}
			if *update {
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// archived is one case of an archive.
type archived struct {
	name  string
	files map[string]string
}

func casesOf(a *txtar.Archive) []*archived {
	var cases []*archived
	for _, f := range a.Files {
		name, part, _ := strings.Cut(f.Name, "/")
		i := slices.IndexFunc(cases, func(c *archived) bool { return c.name == name })
		if i < 0 {
			i = len(cases)
			cases = append(cases, &archived{name: name, files: map[string]string{}})
		}
		cases[i].files[part] = string(f.Data)
	}
	return cases
}

func (c *archived) run(t *testing.T, e Entry, archive *txtar.Archive) {
	far := &replies{files: c.files}
	config := Config{SearXNG: "http://searxng.internal:8888/search", UserAgent: "familiar/test (+https://example.org/operator)", Client: far.client, Keys: testKeys(), Now: noon}
	q := parseQuery(t, c.files["query"], &config)
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
	c.compare(t, archive, "want", outcome)
	if strings.Contains(c.files["query"], "at once: yes") {
		slices.Sort(far.sent)
	}
	if _, interesting := c.files["sent"]; interesting {
		c.compare(t, archive, "sent", strings.Join(far.sent, ""))
	}
}

func (c *archived) compare(t *testing.T, archive *txtar.Archive, part, got string) {
	if *update {
		setFile(archive, c.name+"/"+part, got)
	} else if diff := cmp.Diff(c.files[part], got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", part, diff)
	}
}

func setFile(a *txtar.Archive, name, data string) {
	folder, _, _ := strings.Cut(name, "/")
	last := 0
	for i := range a.Files {
		if a.Files[i].Name == name {
			a.Files[i].Data = []byte(data)
			return
		}
		if strings.HasPrefix(a.Files[i].Name, folder+"/") {
			last = i + 1
		}
	}
	a.Files = slices.Insert(a.Files, last, txtar.File{Name: name, Data: []byte(data)})
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

// testKeys are values for every key that a backend may want. They must never be seen in an outcome.
func testKeys() map[string]string {
	keys := map[string]string{}
	for _, k := range Keys() {
		keys[k.Name] = "secret-of-" + strings.ToLower(k.Name)
	}
	return keys
}

// describe writes an outcome as a person would read it.
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

// replies is the far end of one case.
type replies struct {
	files map[string]string
	mu    sync.Mutex
	sent  []string // guarded by mu: the requests
}

func (r *replies) client(origin string) *http.Client { return &http.Client{Transport: r} }

// everywhere are the headers of every request, which archives do not repeat.
var everywhere = []string{"Accept", "Accept-Language", "User-Agent", "Content-Type"}

func (r *replies) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := r.note(req); err != nil {
		return nil, err
	}
	if key := "secret-of-"; strings.Contains(req.URL.Host, key) || strings.Contains(req.URL.Path, key) {
		return nil, errors.New("a key in the address")
	}
	raw, ok := r.files["reply"+req.URL.Path]
	if !ok {
		raw, ok = r.files["reply"]
	}
	if !ok {
		return nil, errors.New("connection refused")
	}
	head, body, _ := strings.Cut(raw, "\n\n")
	res, err := http.ReadResponse(bufio.NewReader(strings.NewReader(strings.ReplaceAll(head, "\n", "\r\n")+"\r\n\r\n")), req)
	if err != nil {
		return nil, err
	}
	pad, _ := strconv.Atoi(res.Header.Get("Pad"))
	res.Body = io.NopCloser(io.MultiReader(strings.NewReader(body), bytes.NewReader(bytes.Repeat([]byte(" "), pad))))
	return res, nil
}

// note writes a request down as a person would read it.
func (r *replies) note(req *http.Request) error {
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
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "  %s\n", body)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent = append(r.sent, b.String())
	return nil
}
