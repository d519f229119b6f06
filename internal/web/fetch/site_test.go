package fetch

import (
	"testing"

	"familiar/internal/context/turn"
	"familiar/internal/web/guard"
)

// TestSite keeps a fetch to a part of the web: the page that is asked for, every hop on the way to it, and what an
// earlier fetch without that bound has left in the cache.
func TestSite(t *testing.T) {
	f, w := open(t, `
-- docs.example.org/colony/a.html --
<p>A page of the documentation.
-- docs.example.org/colony/moved.head --
301
Location: /colony/a.html
-- docs.example.org/colony/away.head --
301
Location: /blog/a.html
-- docs.example.org/colony/far.head --
302
Location: https://example.org/
-- docs.example.org/colony/through.head --
302
Location: https://docs.example.org/blog/back
-- docs.example.org/blog/back.head --
302
Location: /colony/a.html
-- docs.example.org/blog/a.html --
<p>A page of the blog.
-- example.org/index.html --
<p>Elsewhere.
-- docs.example.org/colony/sitemap.xml.head --
Content-Type: application/xml
-- docs.example.org/colony/sitemap.xml --
<?xml version="1.0"?><urlset></urlset>
`, nil)
	site, err := guard.NewSite("https://docs.example.org/colony/")
	if err != nil {
		t.Fatal(err)
	}
	const base = "https://docs.example.org/"
	for _, o := range []Options{{}, {Site: site}} { // the first fills the cache
		for path, reason := range map[string]turn.Code{
			"colony/a.html": "", "colony/moved": "", "blog/a.html": turn.CodeOutsideSite, "colony/../blog/a.html": turn.CodeOutsideSite,
			"colony/away": "redirect_to_blocked_target", "colony/far": "redirect_to_blocked_target", "colony/through": "redirect_to_blocked_target",
			"colony/sitemap.xml": "bad_type",
		} {
			if o.Site == (guard.Site{}) && reason != "bad_type" {
				reason = ""
			}
			if _, err := f.Fetch(t.Context(), base+path, o); reason == "" && err != nil || reason != "" && !is(err, reason) {
				t.Errorf("%s in %s: %v", path, o.Site, err)
			}
		}
	}
	if n := w.Hits(base+"blog/a.html") + w.Hits(base+"blog/back") + w.Hits("https://example.org/"); n != 4 { // all of the first round
		t.Errorf("%d requests outside", n)
	}
	if d, err := f.Fetch(t.Context(), base+"colony/sitemap.xml", Options{Site: site, XML: true}); err != nil || d.ContentType != "application/xml" {
		t.Errorf("%+v, %v", d, err)
	}
}
