package page

import (
	"bytes"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"pgregory.net/rapid"
)

// TestScanner compares the tags in random markup with those that html.Tokenizer finds.
func TestScanner(t *testing.T) {
	pieces := []string{"<", ">", "/", "!", "-", "--", "<!--", "-->", "--!>", "<!", "<?", "</", "</>", " ", "\n", "=", "'", `"`, "x", "text",
		"<p", "<p>", "</p>", "<A Href=", "<br/>", "<img src=a/>", `<b class="a>b" id='c'>`, "<script", "<script>", "</script>", "</SCRIPT >", "</scriptx>",
		"<style>", "</style>", "<title>", "</title>", "<textarea>", "</textarea>", "<noscript>", "</noscript>", "<xmp>", "<plaintext>", "<averylongcustomname>", "\x00", "é"}
	rapid.Check(t, func(t *rapid.T) {
		var source []byte
		for _, piece := range rapid.SliceOf(rapid.SampledFrom(pieces)).Draw(t, "pieces") {
			source = append(source, piece...)
		}
		compareTokens(t, source)
	})
}

func FuzzScanner(f *testing.F) {
	f.Add([]byte("<script><!--<<script></script>"))
	f.Fuzz(func(t *testing.T, source []byte) { compareTokens(t, source) })
}

func compareTokens(t interface {
	Helper()
	Fatalf(string, ...any)
}, source []byte) {
	t.Helper()
	z := html.NewTokenizer(bytes.NewReader(source))
	found := scanner{source: source}
	read := 0
	for {
		want, wantEnd := nextTag(z, &read)
		one, ok := found.next()
		for ok && one == (token{}) { // text may come in several pieces
			one, ok = found.next()
		}
		one.attributes = 0
		if !ok && want == (token{}) {
			return
		}
		if one != want || found.at != wantEnd {
			t.Fatalf("%q: %+v up to %d, want %+v up to %d", source, one, found.at, want, wantEnd)
		}
	}
}

// nextTag returns the next token that is not text, and where it ends. At the end, the token is zero.
func nextTag(z *html.Tokenizer, read *int) (token, int) {
	for {
		kind := z.Next()
		*read += len(z.Raw())
		switch kind {
		case html.ErrorToken:
			return token{}, *read
		case html.CommentToken, html.DoctypeToken:
			return token{comment: true}, *read
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
			one := token{start: kind != html.EndTagToken, end: kind == html.EndTagToken}
			if name, _ := z.TagName(); len(name) <= 16 {
				one.name = atom.Lookup(name)
			}
			return one, *read
		}
	}
}
