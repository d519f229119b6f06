package read

import (
	"strings"
	"testing"
)

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
