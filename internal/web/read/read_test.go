package read

import (
	"strings"
	"testing"

	"familiar/internal/text"
)

func TestPlain(t *testing.T) {
	in := "# Head\n\nA **bold** and *soft* [word](https://evil.net/a_(b)) with ~~struck words~~ ![pic](https://evil.net/p.png) and snake_case_name <https://x.org> 3 \\* 4.\n\n| a | b |\n|---|---|\n| 1 | 2 |"
	if got, want := text.OneLine(plain(in)), "# Head A bold and soft word with and snake_case_name 3 * 4. | a | b | | 1 | 2 |"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func FuzzSitemap(f *testing.F) {
	f.Add("<urlset><url><loc> https://docs.example.org/a </loc></url><url><loc><![CDATA[https://docs.example.org/b]]></loc>")
	f.Add("<!DOCTYPE x [<!ENTITY a 'b'>]><loc>&a;&amp;</loc><loc></loc><loc>x")
	f.Fuzz(func(t *testing.T, text string) {
		for _, l := range listed([]byte(text)) {
			if strings.TrimSpace(l.URL) == "" {
				t.Error("an empty address")
			}
		}
	})
}
