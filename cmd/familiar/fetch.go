package main

import (
	"context"
	"fmt"
	"strings"

	"familiar/internal/web/clean"
	"familiar/internal/web/fetch"
	"familiar/internal/web/page"
	"familiar/internal/web/page/charset"
	"familiar/internal/web/read"
)

type fetchCommand struct {
	URL     string `arg:"" name:"url" help:"Address of the page; https:// may be left out."`
	Explain bool   `help:"Print every rule that was applied, and what was taken out."`
	Links   bool   `help:"Print the links of the text after it."`
	JSON    bool   `name:"json" help:"Print everything as JSON."`
	Plain   bool   `help:"Read the page itself, also where there is a special reader for its site."`
}

// Run reads a page through the same rules as a lookup whose message names it, and prints what was read.
func (f fetchCommand) Run(ctx context.Context, p *program, stop stopper) error {
	a, err := open(ctx, p, toRead)
	if err != nil {
		return err
	}
	defer a.close()
	if err := a.needWeb(); err != nil {
		return err
	}
	if !strings.Contains(f.URL, "://") {
		f.URL = "https://" + f.URL
	}
	return p.interruptible(stop, func() error { return f.show(p, a, a.readPage(ctx, f.URL, f.Plain)) })
}

// reading is one page as the command shows it.
type reading struct {
	*read.Page
	asked   string
	hops    []fetch.Hop
	charset string       // as declared
	shown   page.Page    // Extract, inert
	removed clean.Report // from its Markdown
}

// readPage does what a lookup does with a URL that a person typed.
func (a *app) readPage(ctx context.Context, address string, plain bool) *reading {
	r := &reading{asked: address}
	r.Page = a.reader.Read(ctx, read.Request{URL: address, Domains: a.domains, Human: true, Plain: plain, Hops: &r.hops, Short: true})
	if r.Err != nil {
		return r
	}
	if d := r.Fetched; d != nil && r.Extract.Type != "text" && r.Extract.Type != "json" {
		r.charset = charset.Detect(d.Body, d.ContentType, true)
	}
	r.inert()
	return r
}

// inert makes everything that is shown of the page inert. The links may be shared with others and are not changed.
func (r *reading) inert() {
	r.shown = r.Extract
	r.shown.Markdown, r.removed = clean.Page(r.Extract.Markdown)
	for _, s := range []*string{&r.shown.Title, &r.shown.Author, &r.shown.Site, &r.shown.Language} {
		*s = line(*s)
	}
	r.shown.Links = make([]page.Link, len(r.Extract.Links))
	for i, l := range r.Extract.Links {
		r.shown.Links[i] = page.Link{URL: line(l.URL), Text: line(l.Text)}
	}
}

// maxLine is how much of a title, a name or an address is shown, in characters.
const maxLine = 2048

func line(s string) string { return clean.Line(s, maxLine) }

// notRead is a failure on its way to the operator: with everything that is known.
type notRead fetch.Error

func (n *notRead) Error() string {
	text := string(n.Code)
	if n.Reason != "" {
		text += " (" + string(n.Reason) + ")"
	}
	if n.Status != 0 {
		text += fmt.Sprintf(" with status %d", n.Status)
	}
	if n.Message != "" {
		text += ": " + n.Message
	}
	return text
}
