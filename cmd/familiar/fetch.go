package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"familiar/internal/web/clean"
	"familiar/internal/web/fetch"
	"familiar/internal/web/page"
	"familiar/internal/web/page/charset"
	"familiar/internal/web/reader"
)

type fetchCommand struct {
	URL     string `arg:"" name:"url" help:"Address of the page."`
	Explain bool   `help:"Print every rule that was applied, and what was taken out."`
	Links   bool   `help:"Print the links of the text after it."`
	JSON    bool   `name:"json" help:"Print everything as JSON."`
	Plain   bool   `help:"Read the page itself, also where there is a special reader for its site."`
}

// Run reads a page through the same rules as a lookup whose message names it, and prints what was read.
func (f fetchCommand) Run(ctx context.Context, p *program, stop stopper) error {
	h, err := openReader(p)
	if err != nil {
		return err
	}
	defer h.close()
	if h.config.get("FAMILIAR_WEB") == "off" {
		return problems{"FAMILIAR_WEB is off: no page is read"}
	}
	return p.interruptible(stop, func() error { return f.show(p, h, h.readPage(ctx, f.URL, f.Plain)) })
}

// reading is one page on its way, as far as it came.
type reading struct {
	asked   string
	special *reader.Document // nil if no special reader read it
	passed  *reader.Error    // why one did not
	hops    []fetch.Hop
	doc     *fetch.Document // nil if it was not, or could not be, fetched
	page    page.Page
	charset string       // as declared
	text    string       // Markdown, inert
	removed clean.Report // by cleaning
	err     *fetch.Error // why there is no text
}

// readPage does what a lookup does with a URL that a person typed: ask a special reader, else fetch and read; clean.
func (h *house) readPage(ctx context.Context, address string, plain bool) *reading {
	r := &reading{asked: address}
	var err error
	if !plain {
		if r.special, err = h.readers.Read(ctx, address, reader.Options{Domains: h.domains}); err == nil {
			r.page = r.special.Page
			r.clean()
			return r
		}
		r.passed, _ = errors.AsType[*reader.Error](err)
	}
	if r.doc, err = h.fetcher.Fetch(ctx, address, fetch.Options{Domains: h.domains, Human: true, Hops: &r.hops}); err != nil {
		r.err = typed(err)
		return r
	}
	base, err := url.Parse(r.doc.Final)
	if err != nil {
		r.err = typed(err)
		return r
	}
	if r.page, err = page.Read(r.doc.Body, r.doc.ContentType, base); err != nil {
		r.err = typed(err)
		r.err.Status = r.doc.Status
		return r
	}
	if r.page.Type != "text" && r.page.Type != "json" {
		r.charset = charset.Detect(r.doc.Body, r.doc.ContentType, true)
	}
	r.clean()
	return r
}

// clean makes everything that is shown of the page inert. The links may be shared with others and are not changed.
func (r *reading) clean() {
	r.text, r.removed = clean.Inert(r.page.Markdown, "")
	r.page.Title, r.page.Author, r.page.Site = line(r.page.Title), line(r.page.Author), line(r.page.Site)
	r.page.Language = line(r.page.Language)
	links := make([]page.Link, len(r.page.Links))
	for i, l := range r.page.Links {
		links[i] = page.Link{URL: line(l.URL), Text: line(l.Text)}
	}
	r.page.Links = links
}

// maxLine is how much of a title, a name or an address is shown, in characters.
const maxLine = 2048

func line(s string) string { return clean.Line(s, maxLine) }

// unreadable says for people what a page.Error says.
var unreadable = map[string]string{
	"bad_charset":         "the page is in an encoding that can hide text",
	"challenge":           "the site wants proof that a person is reading, or their consent",
	"empty":               "the page is empty",
	fetch.CodeExtraction:  "no text was found on the page",
	fetch.CodeNeedsScript: "the page shows its text to browsers that run scripts alone",
	"unparsable":          "the page cannot be read",
}

// typed is any failure to read a page in the words of the one closed set.
func typed(err error) *fetch.Error {
	if e, ok := errors.AsType[*fetch.Error](err); ok {
		return e
	}
	e, ok := errors.AsType[*page.Error](err)
	if !ok {
		return &fetch.Error{Code: fetch.CodeHTTP, Reason: "malformed", Message: "the page's address cannot be read"}
	}
	failure := &fetch.Error{Code: fetch.CodeExtraction, Reason: e.Code, Message: unreadable[e.Code]}
	if e.Code == fetch.CodeExtraction || e.Code == fetch.CodeNeedsScript {
		failure.Code, failure.Reason = e.Code, ""
	}
	return failure
}

// notRead is a failure on its way to the operator: with everything that is known.
type notRead fetch.Error

func (n *notRead) Error() string {
	text := n.Code
	if n.Reason != "" {
		text += " (" + n.Reason + ")"
	}
	if n.Status != 0 {
		text += fmt.Sprintf(" with status %d", n.Status)
	}
	if n.Message != "" {
		text += ": " + n.Message
	}
	return text
}
