package page

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWalls reads challenges and consent walls. Each is modelled on a real one.
func TestWalls(t *testing.T) {
	files, err := filepath.Glob("testdata/walls/*.html")
	if err != nil || len(files) == 0 {
		t.Fatalf("no walls: %v", err)
	}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var e *Error
		if p, err := Read(body, "text/html; charset=utf-8", nil); !errors.As(err, &e) || e.Code != "challenge" {
			t.Errorf("%s is read as %q, %v", file, p.Markdown, err)
		}
	}
}

// TestNoticesAreNotWalls reads short pages with a cookie notice below their text.
func TestNoticesAreNotWalls(t *testing.T) {
	const notice = `<div><p>We use cookies to make this site work. You may accept all cookies or decline them.</p></div>`
	for _, matter := range []string{
		"<p>The library is open from nine to five on working days. On Saturdays it closes at noon. Cards are made at the desk while you wait, and cost two euros a year.</p>",
		"<h1>Oat biscuits</h1><p>Mix the oats with butter and syrup. Put them on a tray by the spoon. Bake them for twelve minutes, until their edges are brown.</p>",
	} {
		if p, err := Read([]byte("<title>A page</title>"+matter+notice), "text/html", nil); err != nil || !strings.Contains(p.Markdown, matter[30:60]) {
			t.Errorf("%s with a notice is read as %q, %v", matter, p.Markdown, err)
		}
	}
}
