package page

import (
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite the golden parts of testdata/pages")

// TestPages reads the pages in testdata/pages. Each archive holds a page's source and the expected text.
func TestPages(t *testing.T) {
	files, err := filepath.Glob("testdata/pages/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no pages to read: %v", err)
	}
	base := &url.URL{Scheme: "https", Host: "post.example.org", Path: "/a/tides"}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			p, err := Read(archive.Files[0].Data, "text/html; charset=utf-8", base)
			if err != nil {
				t.Fatal(err)
			}
			got := describe(p)
			if *update {
				archive.Files[1].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(archive.Files[1].Data), got); diff != "" {
				t.Errorf("page (-want +got):\n%s", diff)
			}
		})
	}
}

func describe(p Page) string {
	var b strings.Builder
	for _, line := range [][2]string{
		{"title", p.Title}, {"author", p.Author}, {"site", p.Site}, {"language", p.Language}, {"type", p.Type},
		{"published", stamp(p.Published)}, {"modified", stamp(p.Modified)}, {"hidden", fmt.Sprint(p.Hidden)},
	} {
		if line[1] != "" {
			fmt.Fprintf(&b, "%s: %s\n", line[0], line[1])
		}
	}
	for _, l := range p.Links {
		fmt.Fprintf(&b, "link: %s %s\n", l.URL, l.Text)
	}
	return b.String() + "\n" + p.Markdown + "\n"
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339)
}
