package reader

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"familiar/internal/web/guard"
	"familiar/internal/web/webtest"
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
			webtest.RunCases(t, file, required, *update, func(t *testing.T, c *webtest.Case) { runCase(t, c, e) })
		})
	}
}

func runCase(t *testing.T, c *webtest.Case, e entry) {
	far := &webtest.Replies{Describe: describeRequest, Find: func(req *http.Request) (string, bool) { return findReply(c.Files, req.URL) }}
	r := New(Config{Client: far.Client, UserAgent: "familiar/test (+https://example.org/operator)"})
	defer r.Close()
	address, language, _ := strings.Cut(strings.TrimSpace(c.Files["url"]), "\n")
	doc, err := r.Read(t.Context(), address, Options{Language: language})
	c.Compare(t, "want", describe(t, e.name, doc, err))
	if _, interesting := c.Files["sent"]; interesting {
		sent := far.Sent()
		slices.Sort(sent)
		c.Compare(t, "sent", strings.Join(sent, ""))
	}
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

// describeRequest writes a request as a person would read it: its address, parameters and some headers, a line each.
func describeRequest(req *http.Request) string {
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
	return sent
}

// findReply returns the reply with most of the request's parameters in its name.
func findReply(files map[string]string, u *url.URL) (reply string, ok bool) {
	most := -1
	for name, text := range files {
		at, err := url.Parse(strings.TrimPrefix(name, "reply"))
		if !strings.HasPrefix(name, "reply/") || err != nil || at.Path != u.Path {
			continue
		}
		fits := len(at.Query())
		for key, values := range at.Query() {
			if u.Query().Get(key) != values[0] {
				fits = -1
			}
		}
		if fits > most {
			most, reply, ok = fits, text, true
		}
	}
	return reply, ok
}

func lists(t *testing.T, allow, deny []string) guard.Domains {
	t.Helper()
	d, err := guard.NewDomains(allow, deny)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
