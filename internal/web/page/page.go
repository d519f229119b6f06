// Package page turns the bytes of a web page into the text that a person would have read there.
//
// The order of the steps matters:
//
// 1. charset.go finds the character encoding as browsers do, and refuses encodings in which markup can hide. 2. budget.go bounds how much
// of a page becomes a tree. Package visible reads a page that is nested too deeply for a tree from its source. 3. meta.go and
// dates.go read what the page says about itself: title, author, dates, kind. None of it becomes part of the text. Before that, stream.go puts
// together a page that comes in pieces. 4. Package visible
// removes what a reader cannot see. This must happen before the extraction, which undoes some hiding. 5. wall.go recognises challenges,
// consent walls, and empty shells for scripts. 6. extract.go finds the content. It is an article with its lead (extract.go) or the posts of
// a thread (thread.go). Otherwise it is a page without its boilerplate (boilerplate.go). product.go protects the facts of a product.
// lines.go and marks.go remove what interrupts the text. 7. markdown.go writes the content as Markdown.
//
// What an external stylesheet or a script hides cannot be known without a browser. The text is what was on the page.
// Package clean makes it safe to show.
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
	"familiar/visible"
)

// Page is what a person would have read on one web page. Every string comes from the page and is neither cleaned nor
// trusted.
type Page struct {
	Title     string
	Author    string
	Site      string    // the site's name for itself
	Language  string    // BCP 47, as the page declares it; empty if it does not
	Type      string    // how it was read: "article", "forum", "product", "list", "page" (any other HTML), "text" or "json"; package read adds "video"
	Published time.Time // zero if unknown; midnight UTC if only the day is known
	MonthOnly bool      // Published is the first day of a month, and the day is unknown
	Modified  time.Time // zero if unknown or not after Published
	Markdown  string    // with headings, lists, tables and code; without links, images and emphasis
	Links     []Link    // links of the content, absolute, each address once, in order, without fragments
	Hidden    int       // characters that were removed because a reader could not have seen them
	Doubtful  int       // those of Hidden that a reader may have seen
	Low       bool      // the text is under 250 characters, so the page says little or was read badly
}

// Link is one link in the content.
type Link struct{ URL, Text string }

// Error says why a page cannot be read. Code is "bad_charset", "unparsable", "javascript_required", "challenge", "empty" or
// "extraction_failed". "challenge" means that a check for humans or a request for consent hides the page.
type Error struct{ Code turn.Code }

func (e *Error) Error() string { return "read page: " + string(e.Code) }

func fail(code turn.Code) (Page, error) { return Page{}, &Error{Code: code} }

// lowLength is the number of characters below which a text is Low.
const lowLength = 250

// Read reads the body of a response. contentType is its header, or empty. base is the address of the body, against which
// links are resolved, and may be nil. Read extracts the content of HTML, puts JSON into a code fence, and returns any
// other text as it is. The error is always a *Error.
func Read(body []byte, contentType string, base *url.URL) (Page, error) {
	kind := mediaType(body, contentType)
	text, err := ToUTF8(body, contentType, kind == "text/html" || kind == "application/xhtml+xml")
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
	case "application/xhtml+xml":
		if p, err = readXHTML(text, base); err != nil {
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

// mediaType returns "text/html", "application/xhtml+xml", "application/json" or "text/plain". It follows the header, or else the bytes.
func mediaType(body []byte, contentType string) string {
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil || kind == "application/octet-stream" {
		kind, _, _ = mime.ParseMediaType(http.DetectContentType(body))
	}
	switch {
	case kind == "text/html", kind == "application/xhtml+xml":
		return kind
	case kind == "application/json", strings.HasSuffix(kind, "+json"):
		return "application/json"
	}
	return "text/plain"
}

// fenced puts JSON into a code fence longer than any inside it. It indents valid JSON.
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

// indentation returns how many bytes of white space indenting adds to JSON. Each value gets a line, indented by its depth. So deep nesting
// can make a text a thousand times as long. Brackets in strings are counted too.
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
		// The page shows something to a reader without scripts, possibly everything.
		if plain, plainErr := readTree(text, rest, base, false); plainErr == nil && !low(plain.Markdown) {
			return plain, nil
		}
	}
	return p, err
}

// readXHTML reads a page of XHTML, which is parsed by the rules of XML.
func readXHTML(text []byte, base *url.URL) (p Page, err error) {
	defer recoverUnparsable(&err)
	end := treeLength(text)
	doc, err := visible.XHTML(string(text[:end]))
	if err != nil {
		return fail(turn.CodeUnparsable)
	}
	return readDocument(doc, text[end:], base, true)
}

// recoverUnparsable is deferred around the libraries that parse pages. A page that makes one of them panic cannot be
// read, but it does not end the program.
func recoverUnparsable(err *error) {
	if recover() != nil {
		*err = &Error{Code: turn.CodeUnparsable}
	}
}

func isCode(err error, code turn.Code) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Code == code
}

// readTree reads what a browser shows, with or without scripts. rest is the part of the page that is not in the tree.
func readTree(text, rest []byte, base *url.URL, scripts bool) (Page, error) {
	doc, err := html.ParseWithOptions(bytes.NewReader(text), html.ParseOptionEnableScripting(scripts))
	if err != nil { // more than 512 elements are open at once
		return readFlat(string(text), string(rest))
	}
	return readDocument(doc, rest, base, scripts)
}

// readDocument reads what a tree shows.
func readDocument(doc *html.Node, rest []byte, base *url.URL, scripts bool) (Page, error) {
	joinStream(doc)
	m := readMetadata(doc, base)
	base = baseOf(doc, base)
	all, builders := countScripts(doc)
	count, err := visible.Prune(doc, visible.Options{Rest: string(rest), Scripts: scripts})
	if err != nil {
		return fail(turn.CodeUnparsable)
	}
	if count.Seen < blankLength {
		builders = all // even a small script may load the rest
	}
	if code := wall(doc, m.Title, builders, count.Seen); code != "" {
		return fail(code)
	}
	root, kind := extract(doc, &m, base)
	if root == nil {
		return fail(turn.CodeExtractionFailed)
	}
	p := Page{Title: m.Title, Author: m.Author, Site: m.Site, Language: m.Language, Published: m.Published, MonthOnly: m.MonthOnly, Modified: m.Modified, Type: kind, Hidden: count.Hidden + count.Doubtful, Doubtful: count.Doubtful}
	p.Links = links(root, base, maxLinks)
	if p.Markdown, err = markdown(root); err != nil || p.Markdown == "" {
		return fail(turn.CodeExtractionFailed)
	}
	return p, nil
}

// readFlat reads a page without a tree. Only the styles of rest count.
func readFlat(source, rest string) (Page, error) {
	text, err := visible.Flat(source, visible.Options{Rest: rest})
	p := Page{Title: text.Title, Type: "page", Hidden: text.Hidden, Markdown: tidy(text.Body)}
	if err != nil || p.Markdown == "" {
		return fail(turn.CodeUnparsable)
	}
	return p, nil
}

// Part reads a piece of HTML that consists only of content. Examples are a post or an article from an API. It removes only hidden text and
// marks between the words. base is as in [Read]. edit, unless nil, may change the piece before it is read. It is called with the element
// around the piece. Only Markdown, Links, Hidden, Doubtful and Low of the Page are set. The error is always a *Error.
func Part(text string, base *url.URL, edit func(root *html.Node)) (p Page, err error) {
	defer recoverUnparsable(&err)
	text = strings.ToValidUTF8(text, "\uFFFD")
	doc, err := html.Parse(strings.NewReader(text[:treeLength([]byte(text))]))
	if err != nil { // more than 512 elements are open at once
		return readFlat(text, "")
	}
	body := bodies.MatchFirst(doc)
	if body == nil { // a frameset
		return fail(turn.CodeUnparsable)
	}
	if edit != nil {
		edit(body)
	}
	count, err := visible.Prune(doc, visible.Options{Scripts: true})
	if err != nil {
		return fail(turn.CodeUnparsable)
	}
	dropMarks(body, false)
	p = Page{Hidden: count.Hidden + count.Doubtful, Doubtful: count.Doubtful, Links: links(body, base, maxLinks)}
	if p.Markdown, err = markdown(body); err != nil {
		return fail(turn.CodeExtractionFailed)
	}
	if p.Markdown == "" {
		return fail(turn.CodeEmpty)
	}
	p.Low = low(p.Markdown)
	return p, nil
}
