package webtest

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// Case is one case of an archive of replies. It is a folder with a question, a service's reply and the expected result.
type Case struct {
	Files map[string]string // by their names in the folder

	name    string
	archive *txtar.Archive
	update  bool
}

// RunCases runs every case of the archive in file as a subtest. The archive must have the required cases. With update, [Case.Compare]
// records the results, and the archive is rewritten.
func RunCases(t *testing.T, file string, required []string, update bool, run func(*testing.T, *Case)) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatalf("there is no archive: %v", err)
	}
	cases := casesOf(archive, update)
	for _, name := range required {
		if !slices.ContainsFunc(cases, func(c *Case) bool { return c.name == name }) {
			t.Errorf("%s has no case %q", file, name)
		}
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { run(t, c) })
	}
	if update {
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func casesOf(a *txtar.Archive, update bool) []*Case {
	var cases []*Case
	for _, f := range a.Files {
		name, part, _ := strings.Cut(f.Name, "/")
		i := slices.IndexFunc(cases, func(c *Case) bool { return c.name == name })
		if i < 0 {
			i = len(cases)
			cases = append(cases, &Case{Files: map[string]string{}, name: name, archive: a, update: update})
		}
		cases[i].Files[part] = string(f.Data)
	}
	return cases
}

// Compare fails the test if a file of the case differs from the result.
func (c *Case) Compare(t testing.TB, file, got string) {
	t.Helper()
	if c.update {
		c.record(file, got)
	} else if diff := cmp.Diff(c.Files[file], got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// record replaces a file of the case, or appends it.
func (c *Case) record(file, data string) {
	last := 0
	for i := range c.archive.Files {
		f := &c.archive.Files[i]
		if f.Name == c.name+"/"+file {
			f.Data = []byte(data)
			return
		}
		if strings.HasPrefix(f.Name, c.name+"/") {
			last = i + 1
		}
	}
	c.archive.Files = slices.Insert(c.archive.Files, last, txtar.File{Name: c.name + "/" + file, Data: []byte(data)})
}

// Replies is a service with prepared replies that records requests. It is an [http.RoundTripper] and safe for concurrent use.
type Replies struct {
	// Find returns the reply to a request. It is an HTTP response, in which a header "Pad: n" makes the body n bytes longer. If there is none,
	// the connection is refused.
	Find func(*http.Request) (reply string, ok bool)
	// Describe writes a request for people.
	Describe func(*http.Request) string

	mu   sync.Mutex
	sent []string // guarded by mu
}

// Client returns a client of the service for every origin.
func (r *Replies) Client(string) *http.Client { return &http.Client{Transport: r} }

// Sent returns the descriptions of all requests, in their order.
func (r *Replies) Sent() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.sent)
}

func (r *Replies) RoundTrip(req *http.Request) (*http.Response, error) {
	request := r.Describe(req)
	r.mu.Lock()
	r.sent = append(r.sent, request)
	r.mu.Unlock()
	reply, ok := r.Find(req)
	if !ok {
		return nil, errors.New("connection refused")
	}
	head, body, _ := strings.Cut(reply, "\n\n")
	res, err := http.ReadResponse(bufio.NewReader(strings.NewReader(strings.ReplaceAll(head, "\n", "\r\n")+"\r\n\r\n")), req)
	if err != nil {
		return nil, err
	}
	pad, _ := strconv.Atoi(res.Header.Get("Pad"))
	res.Body = io.NopCloser(io.MultiReader(strings.NewReader(body), bytes.NewReader(bytes.Repeat([]byte(" "), pad))))
	return res, nil
}
