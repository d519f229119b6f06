package page

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/internal/context/turn"
)

func TestAllLinks(t *testing.T) {
	base := &url.URL{Scheme: "https", Host: "example.org", Path: "/a/"}
	got, err := Links([]byte(`<base href="/b/"><nav><a href="x">X</a><ul hidden><li><a href="y#z">Y</a></ul></nav><p><a href="x#2">X again</a><a href="javascript:1">no</a><a href="//evil.net/">Z</a>`),
		"text/html", base)
	want := []Link{{"https://example.org/b/x", "X"}, {"https://example.org/b/y", "Y"}, {"https://evil.net/", "Z"}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, err := Links([]byte(strings.Repeat("<div>", 5_000)), "", nil); !isCode(err, turn.CodeUnparsable) {
		t.Errorf("5,000 deep: %v", err)
	}
}

func TestPart(t *testing.T) {
	base := &url.URL{Scheme: "https", Host: "example.org", Path: "/a/b"}
	got, err := Part(`<style>.x{display:none}</style><p>Short, and <a href="../c#d">all of it</a> matter.<p class=x>Unseen.</p><nav>Menu</nav><ul><li>one<li>two</ul>`+
		`<pre><code class="language-go">a &lt; b</code></pre><h2>Gone</h2>`, base, func(root *html.Node) {
		for n := range root.Descendants() {
			if n.DataAtom == atom.H2 {
				n.Parent.RemoveChild(n)
				return
			}
		}
	})
	want := Page{
		Markdown: "Short, and all of it matter.\n\n- one\n- two\n\n```go\na < b\n```",
		Links:    []Link{{URL: "https://example.org/c", Text: "all of it"}}, Hidden: 7, Low: true,
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for text, code := range map[string]turn.Code{"": "empty", "<p hidden>x": "empty", "<frameset><frame>": "unparsable"} {
		if p, err := Part(text, nil, nil); !isCode(err, code) || p.Markdown != "" {
			t.Errorf("%q: %+v, %v", text, p, err)
		}
	}
	if p, err := Part(strings.Repeat("<div>", 5_000)+"deep", nil, nil); err != nil || p.Markdown != "deep" {
		t.Errorf("5,000 deep: %+v, %v", p, err)
	}
}
