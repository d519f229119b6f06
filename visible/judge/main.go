// Command judge asks a browser which texts of generated pages can be seen. The tests of package visible read its verdicts:
//
//	go run ./visible/judge > visible/testdata/judged.jsonl
//
// With a number, it begins at that page.
//
// cases.go makes the pages. They are those of cases.txt, more that combine ways to hide with ways to write them, later.txt and painted.txt.
// browser.go drives Chromium over its debugging protocol. A text is judged by its pixels. The page is drawn with it and with blanks of the
// same width in its place. The screen has 1280 by 720 pixels, after all animations that end within a minute. It is visible if at least a
// quarter of the pixels that the page's plain text takes differ clearly. It is hidden if hardly any do. Texts between the two are not
// judged.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"strconv"
)

// verdict is one line of the output.
type verdict struct {
	Page   string          `json:"page"`
	Stated bool            `json:"stated,omitempty"` // the reader hides more than the browser, on purpose
	Class  string          `json:"class,omitempty"`
	Held   bool            `json:"held,omitempty"` // the code was not tuned on it
	Seen   map[string]bool `json:"seen"`           // by the first word of the text; unclear ones are missing
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "judge:", err)
		os.Exit(1)
	}
}

func run() error {
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt)
	b, err := openBrowser()
	if err != nil {
		return err
	}
	defer b.close()
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	first := 0
	if len(os.Args) > 1 {
		if first, err = strconv.Atoi(os.Args[1]); err != nil {
			return fmt.Errorf("read number: %w", err)
		}
	}
	for _, c := range allCases()[first:] {
		select {
		case <-interrupted:
			return fmt.Errorf("judge pages: interrupted")
		default:
		}
		seen, err := b.judge(c)
		if err != nil {
			return fmt.Errorf("judge %s: %w", c.page, err)
		}
		if err := out.Encode(verdict{Page: c.page, Stated: c.stated, Class: c.class, Held: c.held, Seen: seen}); err != nil {
			return fmt.Errorf("write verdicts: %w", err)
		}
	}
	return nil
}
