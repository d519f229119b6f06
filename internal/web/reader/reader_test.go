package reader

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"go.uber.org/goleak"

	"familiar/internal/web/guard"
)

var update = flag.Bool("update", false, "write the outcomes of this run into the archives")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// required are the cases that every archive has, whatever else is in it.
var required = []string{"hits", "missing", "limit", "malformed", "odd", "html", "large", "silence"}

// TestReaders plays every archive against its reader. A case is a folder of the archive: url, and on a second line
// the language that is wanted; reply/<path>, an HTTP response to requests for a path and, if it has them, parameters,
// where a header "Pad: n" makes the body n bytes longer; want, the page or the error; and, where it is of interest,
// sent: what left the machine.
func TestReaders(t *testing.T) {
	for _, e := range table() {
		t.Run(e.name, func(t *testing.T) {
			file := filepath.Join("testdata", e.name+".txtar")
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatalf("reader %s has no archive: %v", e.name, err)
			}
			cases := casesOf(archive)
			for _, name := range required {
				if !slices.ContainsFunc(cases, func(c *archived) bool { return c.name == name }) {
					t.Errorf("%s has no case %q", file, name)
				}
			}
			for _, c := range cases {
				t.Run(c.name, func(t *testing.T) { c.run(t, e, archive) })
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

func (c *archived) run(t *testing.T, e entry, archive *txtar.Archive) {
	far := &replies{files: c.files}
	r := New(Config{Client: far.client, UserAgent: "familiar/test (+https://example.org/operator)"})
	defer r.Close()
	address, language, _ := strings.Cut(strings.TrimSpace(c.files["url"]), "\n")
	doc, err := r.Read(t.Context(), address, Options{Language: language})
	c.compare(t, archive, "want", describe(t, e.name, doc, err))
	if _, interesting := c.files["sent"]; interesting {
		slices.Sort(far.sent)
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

// describe writes an outcome as a person would read it.
func describe(t *testing.T, name string, doc *Document, err error) string {
	var b strings.Builder
	if failed, ok := errors.AsType[*Error](err); ok {
		return fmt.Sprintf("error: %v: %s\n", failed, failed.Detail)
	} else if err != nil {
		return fmt.Sprintf("error: %v\n", err)
	}
	if doc.Reader != name {
		t.Errorf("read by %q", doc.Reader)
	}
	p := doc.Page
	for _, fact := range [][2]string{
		{"url", doc.Final}, {"title", p.Title}, {"author", p.Author}, {"site", p.Site}, {"language", p.Language}, {"type", p.Type},
	} {
		if fact[1] != "" {
			fmt.Fprintf(&b, "%s: %s\n", fact[0], fact[1])
		}
	}
	if !p.Published.IsZero() {
		fmt.Fprintf(&b, "published: %s\n", p.Published)
	}
	if !p.Modified.IsZero() {
		fmt.Fprintf(&b, "modified: %s\n", p.Modified)
	}
	if p.Hidden > 0 {
		fmt.Fprintf(&b, "hidden: %d\n", p.Hidden)
	}
	for _, l := range p.Links {
		fmt.Fprintf(&b, "link: %s %s\n", l.URL, l.Text)
	}
	fmt.Fprintf(&b, "\n%s\n", p.Markdown)
	return b.String()
}

// replies is the far end of one case.
type replies struct {
	files map[string]string

	mu   sync.Mutex
	sent []string // guarded by mu
}

func (r *replies) client(string) *http.Client { return &http.Client{Transport: r} }

func (r *replies) RoundTrip(req *http.Request) (*http.Response, error) {
	params := req.URL.Query()
	sent := fmt.Sprintf("%s %s://%s%s\n", req.Method, req.URL.Scheme, req.URL.Host, req.URL.EscapedPath())
	for _, name := range slices.Sorted(maps.Keys(params)) {
		sent += fmt.Sprintf("  %s=%s\n", name, strings.Join(params[name], ","))
	}
	for _, name := range []string{"Accept", "Authorization", "User-Agent"} {
		if value := req.Header.Get(name); value != "" {
			sent += fmt.Sprintf("  %s: %s\n", name, value)
		}
	}
	r.mu.Lock()
	r.sent = append(r.sent, sent)
	r.mu.Unlock()
	raw, ok := r.find(req.URL)
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

// find is the reply with most of the request's parameters in its name.
func (r *replies) find(asked *url.URL) (raw string, ok bool) {
	most := -1
	for name, text := range r.files {
		at, err := url.Parse(strings.TrimPrefix(name, "reply"))
		if !strings.HasPrefix(name, "reply/") || err != nil || at.Path != asked.Path {
			continue
		}
		fits := len(at.Query())
		for key, values := range at.Query() {
			if asked.Query().Get(key) != values[0] {
				fits = -1
			}
		}
		if fits > most {
			most, raw, ok = fits, text, true
		}
	}
	return raw, ok
}

func lists(t *testing.T, allow, deny []string) guard.Domains {
	t.Helper()
	d, err := guard.NewDomains(allow, deny)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
