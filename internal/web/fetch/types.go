package fetch

import (
	"mime"
	"net/http"
	"regexp"
	"strings"

	"github.com/gabriel-vasile/mimetype"

	"familiar/internal/context/turn"
)

// sniffLength is the number of bytes of a page by which its type is detected.
const sniffLength = 512

// mediaType is a type that is read, as the site declared it.
type mediaType struct {
	name    string // lower case: "text/html"
	charset string // as declared; empty if it is not
}

func (t mediaType) String() string {
	if t.charset == "" {
		return t.name
	}
	return t.name + "; charset=" + t.charset
}

var charsetName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:+-]{0,39}$`)

// contentType reads the declared type and refuses what is not read. The type is never guessed: a site that does not
// declare one is refused.
func contentType(h http.Header, allowJSON, allowXML bool) (mediaType, *Error) {
	value := h.Get("Content-Type")
	name, _, _ := strings.Cut(value, ";")
	t := mediaType{name: strings.ToLower(strings.TrimSpace(name))}
	if t.name == "" {
		return mediaType{}, fail(turn.CodeMissingType)
	}
	if !readableType(t.name) && !(allowJSON && isJSON(t.name)) && !(allowXML && isXML(t.name)) {
		return mediaType{}, fail(turn.CodeBadType)
	}
	// Parameters that cannot be read cost the charset, not the page: it may declare itself inside.
	if _, params, err := mime.ParseMediaType(value); err == nil && charsetName.MatchString(params["charset"]) {
		t.charset = params["charset"]
	}
	return t, nil
}

func readableType(name string) bool {
	switch name {
	case "text/html", "application/xhtml+xml", "text/plain", "text/markdown", "text/x-markdown":
		return true
	}
	return false
}

func isXML(name string) bool { return name == "application/xml" || name == "text/xml" }

func isJSON(name string) bool {
	return name == "application/json" || name == "text/json" || strings.HasSuffix(name, "+json") && strings.HasPrefix(name, "application/")
}

// agrees looks at the first bytes and refuses a page that is not what it was declared to be.
//
// What has no marks of its own is plain text, and plain text may be any of the types; so may HTML be, except JSON:
// Markdown begins with tags as often as not, and a site that serves its source as text/plain means it.
func (t mediaType) agrees(page []byte) *Error {
	found := mimetype.Detect(page[:min(len(page), sniffLength)])
	structured := found.Is("application/json") || found.Is("image/svg+xml") || found.Is("text/rtf") || found.Is("application/rtf")
	switch {
	case isJSON(t.name):
		if found.Is("application/json") || found.Is("text/plain") || found.Is("application/x-ndjson") {
			return nil
		}
	case !structured && isText(found):
		return nil
	}
	return fail(turn.CodeTypeMismatch)
}

// isText reports whether m descends from plain text in mimetype's tree: no byte is one that text has not.
func isText(m *mimetype.MIME) bool {
	for ; m != nil; m = m.Parent() {
		if m.Is("text/plain") {
			return true
		}
	}
	return false
}
