// Package page turns the bytes of a web page into what a person would have read there.
//
// The order of work is the point of the package:
//
//  1. decode.go finds the character encoding the way browsers do (prescan.go), and refuses those that hide markup.
//  2. parse.go says how much of the page makes a tree within limits; what is too deep for one is read by flat.go.
//  3. witness.go and byline.go take the title, the author and the dates from whatever the page offers: they are facts about
//     the page and never part of its text.
//  4. hidden.go takes away everything that a reader could not see, with css.go, colour.go and sheet.go to know
//     what the page's own styles hide. It must come before the extraction, which undoes some hiding.
//  5. wall.go recognises pages that are no pages: challenges, consent walls, empty shells for scripts.
//  6. extract.go finds the matter: the text of an article (edges.go takes off what such texts carry), the posts of
//     a thread (thread.go), or all of a page but what stands around its matter (trim.go). kind.go and items.go help
//     to tell which it is, product.go what belongs to the one that is sold. markdown.go writes it down.
//
// What is hidden by a style sheet of another address, or by a script, cannot be known without a browser.
// The text is what was on the page, not what is safe to show: that is package clean's business.
package page

import (
	"bytes"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/html"

	"familiar/internal/context/turn"
	"familiar/internal/web/page/charset"
	"familiar/internal/web/page/meta"
	"familiar/internal/web/page/visible"
)

// Page is what a person would have read on one web page. Every string is the page's own: not yet cleaned, to be
// trusted with nothing.
type Page struct {
	Title     string
	Author    string
	Site      string    // the site's name for itself
	Language  string    // BCP 47, as the page declares it; empty if it doesn't
	Type      string    // what it was read as: "article", "forum", "product", "list", "page" (anything else of HTML), "text" or "json"; "video" comes from a special reader
	Published time.Time // zero if no witness was found; midnight UTC where only the day is known
	Modified  time.Time // zero if unknown or not after Published
	Markdown  string    // headings, lists, tables and code kept; no links, no images, no emphasis
	Links     []Link    // of the body copy, absolute, each address once, in order, without fragments
	Hidden    int       // characters dropped because a reader could not have seen them
	Low       bool      // the text is under 250 characters: the page says little, or was read badly
}

// Link is one link of the body copy.
type Link struct{ URL, Text string }

// Error says why there is nothing to read. Code is one of "bad_charset", "unparsable", "javascript_required",
// "challenge" (a check for humans or for consent stands before the page), "empty" and "extraction_failed".
type Error struct{ Code turn.Code }

func (e *Error) Error() string { return "read page: " + string(e.Code) }

// lowLength is the number of characters under which a text is Low.
const lowLength = 250

// Read reads the body of a response. contentType is its header, empty if there was none; base is the address
// the body came from, to resolve links against, and may be nil. HTML is extracted, JSON is put into a code
// fence, any other text is passed through. The error is always a *Error.
func Read(body []byte, contentType string, base *url.URL) (Page, error) {
	kind := mediaType(body, contentType)
	text, err := charset.Decode(body, contentType, kind == "text/html")
	if err != nil {
		return Page{}, &Error{Code: turn.CodeBadCharset}
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return Page{}, &Error{Code: turn.CodeEmpty}
	}
	var p Page
	switch kind {
	case "text/html":
		if p, err = readHTML(text, base); err != nil {
			return Page{}, err
		}
	case "application/json":
		p = Page{Type: "json", Markdown: fenced(string(text))}
	default:
		p = Page{Type: "text", Markdown: strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n"))}
		p.Title = firstHeading(p.Markdown)
	}
	p.Low = low(p.Markdown)
	return p, nil
}

func low(text string) bool { return utf8.RuneCountInString(text) < lowLength }

// mediaType is "text/html", "application/json" or "text/plain": what the header says, else what the bytes look like.
func mediaType(body []byte, contentType string) string {
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil || kind == "application/octet-stream" {
		kind, _, _ = mime.ParseMediaType(http.DetectContentType(body))
	}
	switch {
	case kind == "text/html", kind == "application/xhtml+xml":
		return "text/html"
	case kind == "application/json", strings.HasSuffix(kind, "+json"):
		return "application/json"
	}
	return "text/plain"
}

// fenced puts JSON, indented where it is valid, into a fence that is longer than any inside it.
func fenced(text string) string {
	var indented bytes.Buffer
	if spread(text) <= 2*len(text) && json.Indent(&indented, []byte(text), "", "  ") == nil {
		text = indented.String()
	}
	longest, run := 2, 0
	for i := range len(text) {
		if run++; text[i] != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	return fence + "json\n" + strings.TrimSpace(text) + "\n" + fence
}

// spread is how many bytes of white space indenting would add to JSON: a line a value, indented by its depth, so
// that what is nested thousands deep would grow thousandfold. Brackets inside strings are counted with the others.
func spread(text string) (size int) {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ',':
		default:
			continue
		}
		size += 1 + 2*max(depth, 0)
	}
	return size - 64<<10
}

// firstHeading is the title of a Markdown text: its first line, if that is a heading.
func firstHeading(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	if title, ok := strings.CutPrefix(line, "# "); ok {
		return strings.TrimSpace(title)
	}
	return ""
}

// readHTML reads a page of HTML. Nobody knows every page that the libraries below were never shown: one that
// makes them panic is a page that can't be read, not the end of the program.
func readHTML(text []byte, base *url.URL) (p Page, err error) {
	defer func() {
		if recover() != nil {
			p, err = Page{}, &Error{Code: turn.CodeUnparsable}
		}
	}()
	end := affordable(text)
	text, rest := text[:end], text[end:]
	if p, err = readTree(text, rest, base, true); isCode(err, turn.CodeJavaScriptRequired) && bytes.Contains(text, []byte("<noscript")) {
		// A reader without scripts is shown something, and may be shown all there is.
		if plain, plainErr := readTree(text, rest, base, false); plainErr == nil && !low(plain.Markdown) {
			return plain, nil
		}
	}
	return p, err
}

func isCode(err error, code turn.Code) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == code
}

// readTree reads what a browser shows, with or without scripts. rest is the part of the page beyond what a tree is
// made of.
func readTree(text, rest []byte, base *url.URL, scripts bool) (Page, error) {
	doc, err := html.ParseWithOptions(bytes.NewReader(text), html.ParseOptionEnableScripting(scripts))
	if err != nil { // more than 512 elements are open at once
		return readFlat(string(text), string(rest))
	}
	m := meta.Read(doc, base)
	p := Page{Title: m.Title, Author: m.Author, Site: m.Site, Language: m.Language, Published: m.Published, Modified: m.Modified}
	if href := baseHref(doc, base); href != nil {
		base = href
	}
	all, builders := countScripts(doc)
	hidden, seen, err := visible.Prune(doc, string(rest), scripts)
	if err != nil {
		return Page{}, &Error{Code: turn.CodeUnparsable}
	}
	p.Hidden = hidden
	if seen < blankLength {
		builders = all // even a small one may fetch the rest
	}
	if code := wall(doc, p.Title, builders, seen); code != "" {
		return Page{}, &Error{Code: code}
	}
	if framed(doc, seen) {
		if builders > 0 {
			return Page{}, &Error{Code: turn.CodeJavaScriptRequired}
		}
		return Page{}, &Error{Code: turn.CodeExtractionFailed}
	}
	root, kind := extract(doc, p.Title, base, &m)
	if root == nil {
		return Page{}, &Error{Code: turn.CodeExtractionFailed}
	}
	p.Type = kind
	p.Links = links(root, base, maxLinks)
	if p.Markdown, err = markdown(root); err != nil || p.Markdown == "" {
		return Page{}, &Error{Code: turn.CodeExtractionFailed}
	}
	return p, nil
}

// readFlat reads a page that makes no tree. Of rest, only the styles count.
func readFlat(source, rest string) (Page, error) {
	title, text, hidden, err := visible.Flat(source, rest)
	p := Page{Title: title, Type: "page", Hidden: hidden, Markdown: tidy(text)}
	if err != nil || p.Markdown == "" {
		return Page{}, &Error{Code: turn.CodeUnparsable}
	}
	return p, nil
}
