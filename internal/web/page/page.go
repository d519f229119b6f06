// Package page turns the bytes of a web page into what a person would have read there.
//
// The order of the steps matters:
//
//  1. Package charset finds the character encoding the way browsers do, and refuses those in which markup can hide.
//  2. budget.go bounds how much of a page becomes a tree, with the tags that scanner.go finds. Package visible reads a page
//     that is too deep for a tree from its source.
//  3. Package meta takes the title, the author and the dates from what the page says about itself. They are never part of
//     its text.
//  4. Package visible removes what a reader cannot see. This has to come before the extraction, which undoes some hiding.
//  5. wall.go recognises what is not a page: challenges, consent walls, empty shells for scripts.
//  6. extract.go finds the content: the text of an article, the posts of a thread (thread.go), or all of a page except its
//     boilerplate (boilerplate.go, lines.go, references.go, marks.go). list.go and product.go help to tell which, lead.go begins an article.
//  7. markdown.go writes it down, as simplify.go has prepared it.
//
// What an external stylesheet or a script hides cannot be known without a browser. The text is what was on the page, not
// what is safe to show, which is the business of package clean.
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

// Page is what a person would have read on one web page. Every string is the page's own, neither cleaned nor to be trusted.
type Page struct {
	Title     string
	Author    string
	Site      string    // the site's name for itself
	Language  string    // BCP 47, as the page declares it; empty if it doesn't
	Type      string    // what it was read as: "article", "forum", "product", "list", "page" (any other HTML), "text" or "json"; "video" comes from package reader
	Published time.Time // zero if unknown; midnight UTC where only the day is known
	MonthOnly bool      // Published is the first day of a month, and no more is known
	Modified  time.Time // zero if unknown or not after Published
	Markdown  string    // with headings, lists, tables and code; without links, images and emphasis
	Links     []Link    // of the content, absolute, each address once, in order, without fragments
	Hidden    int       // characters that were dropped because a reader could not have seen them
	Low       bool      // the text is under 250 characters: the page says little, or was read badly
}

// Link is one link of the content.
type Link struct{ URL, Text string }

// Error is the reason why there is nothing to read. Code is one of "bad_charset", "unparsable", "javascript_required",
// "challenge" (a check for humans or for consent stands before the page), "empty" and "extraction_failed".
type Error struct{ Code turn.Code }

func (e *Error) Error() string { return "read page: " + string(e.Code) }

func fail(code turn.Code) (Page, error) { return Page{}, &Error{Code: code} }

// lowLength is the number of characters under which a text is Low.
const lowLength = 250

// Read reads the body of a response. contentType is its header, empty if there was none. base is the address that the body
// came from, to resolve links against, and may be nil. The content of HTML is extracted, JSON is put into a code fence, and
// any other text is returned as it is. The error is always a *Error.
func Read(body []byte, contentType string, base *url.URL) (Page, error) {
	kind := mediaType(body, contentType)
	text, err := charset.Decode(body, contentType, kind == "text/html")
	if err != nil {
		return fail(turn.CodeBadCharset)
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return fail(turn.CodeEmpty)
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

// mediaType returns "text/html", "application/json" or "text/plain": what the header says, else what the bytes look like.
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

// fenced puts JSON into a code fence that is longer than any inside it. Valid JSON is indented.
func fenced(text string) string {
	var indented bytes.Buffer
	if indentation(text) <= 2*len(text)+64<<10 && json.Indent(&indented, []byte(text), "", "  ") == nil {
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

// indentation returns how many bytes of white space indenting adds to JSON: each value gets a line, indented by its depth,
// so deep nesting can make a text a thousand times as long. Brackets inside strings are counted too.
func indentation(text string) (size int) {
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
	return size
}

// firstHeading returns the title of a Markdown text: its first line if that is a heading.
func firstHeading(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	if title, ok := strings.CutPrefix(line, "# "); ok {
		return strings.TrimSpace(title)
	}
	return ""
}

// readHTML reads a page of HTML.
func readHTML(text []byte, base *url.URL) (p Page, err error) {
	defer recoverUnparsable(&err)
	end := treeLength(text)
	text, rest := text[:end], text[end:]
	if p, err = readTree(text, rest, base, true); isCode(err, turn.CodeJavaScriptRequired) && bytes.Contains(text, []byte("<noscript")) {
		// A reader without scripts is shown something, and may be shown everything.
		if plain, plainErr := readTree(text, rest, base, false); plainErr == nil && !low(plain.Markdown) {
			return plain, nil
		}
	}
	return p, err
}

// recoverUnparsable is deferred around the libraries that parse pages. A page that makes one of them panic cannot be read,
// but does not end the program.
func recoverUnparsable(err *error) {
	if recover() != nil {
		*err = &Error{Code: turn.CodeUnparsable}
	}
}

func isCode(err error, code turn.Code) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Code == code
}

// readTree reads what a browser shows, with or without scripts. rest is the part of the page that is left out of the tree.
func readTree(text, rest []byte, base *url.URL, scripts bool) (Page, error) {
	doc, err := html.ParseWithOptions(bytes.NewReader(text), html.ParseOptionEnableScripting(scripts))
	if err != nil { // more than 512 elements are open at once
		return readFlat(string(text), string(rest))
	}
	m := meta.Read(doc, base)
	base = baseOf(doc, base)
	all, builders := countScripts(doc)
	hidden, seen, err := visible.Prune(doc, string(rest), scripts)
	if err != nil {
		return fail(turn.CodeUnparsable)
	}
	if seen < blankLength {
		builders = all // even a small one may fetch the rest
	}
	if code := wall(doc, m.Title, builders, seen); code != "" {
		return fail(code)
	}
	root, kind := extract(doc, &m, base)
	if root == nil {
		return fail(turn.CodeExtractionFailed)
	}
	p := Page{Title: m.Title, Author: m.Author, Site: m.Site, Language: m.Language, Published: m.Published, MonthOnly: m.MonthOnly, Modified: m.Modified, Type: kind, Hidden: hidden}
	p.Links = links(root, base, maxLinks)
	if p.Markdown, err = markdown(root); err != nil || p.Markdown == "" {
		return fail(turn.CodeExtractionFailed)
	}
	return p, nil
}

// readFlat reads a page that makes no tree. Of rest, only the styles count.
func readFlat(source, rest string) (Page, error) {
	title, text, hidden, err := visible.Flat(source, rest)
	p := Page{Title: title, Type: "page", Hidden: hidden, Markdown: tidy(text)}
	if err != nil || p.Markdown == "" {
		return fail(turn.CodeUnparsable)
	}
	return p, nil
}
