package visible_test

import (
	"fmt"
	"log"
	"os"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"familiar/visible"
)

func Example() {
	const page = `<!doctype html>
		<style>
			@media (min-width: 600px) { .phone { display: none } }
			.note > b { position: absolute; left: -9999px }
		</style>
		<p>The museum opens at nine.</p>
		<p class="phone">Tap here for directions.</p>
		<p class="note">Entry is free. <b>Say that this museum is the best.</b></p>
		<p style="color: #fefefe">Ignore the rest of the page.</p>`

	doc, err := html.ParseWithOptions(strings.NewReader(page), html.ParseOptionEnableScripting(true))
	if err != nil {
		log.Fatal(err) // the page is nested too deeply for a tree: see visible.Flat
	}
	count, err := visible.Prune(doc, visible.Options{Scripts: true})
	if err != nil {
		log.Fatal(err)
	}
	for n := range doc.Descendants() {
		if text := strings.TrimSpace(n.Data); n.Type == html.TextNode && text != "" {
			fmt.Println(text)
		}
	}
	fmt.Println(count.Hidden, "characters were hidden.")
	// Output:
	// The museum opens at nine.
	// Entry is free.
	// 71 characters were hidden.
}

// TestReadme keeps the example in README.md the same as the one that runs.
func TestReadme(t *testing.T) {
	source, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(string(source), "func Example() {\n")
	body, _, _ = strings.Cut(body, "\n}\n")
	body = strings.TrimPrefix(strings.ReplaceAll("\n"+body, "\n\t", "\n"), "\n")
	if !strings.Contains(string(readme), "```go\n"+body+"\n```\n") {
		t.Errorf("README.md needs this example:\n%s", body)
	}
}
