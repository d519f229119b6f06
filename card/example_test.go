package card_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"
	"testing"

	"familiar/card"
)

func Example() {
	data, err := os.ReadFile("testdata/mira.json")
	if err != nil {
		log.Fatal(err)
	}
	c, _, err := card.Read(data)
	if err != nil {
		log.Fatal(err)
	}

	macros := card.Macros{Char: c.Name(), User: "Ada"}
	fmt.Println(macros.Expand(c.Greetings()[0]))

	book, _, err := c.Book()
	if err != nil {
		log.Fatal(err)
	}
	lore, _ := card.NewScanner([]card.Book{book}, c.Name())
	found := lore.Scan(context.Background(), card.Chat{
		Messages: []string{"Ada: Who keeps the lighthouse?"},
		Budget:   1000, // tokens
	})
	for _, f := range found.Fired {
		fmt.Printf("%s (%s)\n", f.Text, f.Why)
	}
	// Output:
	// Mira looks up from her nets. "You came, Ada."
	// The lighthouse has been dark since the storm. (key lighthouse)
	// The storm sank the ferry. (key /storm(s|y)?/i, in another entry)
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
