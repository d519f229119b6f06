// Package charset finds the character encoding of a text the way browsers do, and decodes it. A byte-order mark comes
// first, then the header, then what an HTML document declares (prescan.go). Where nothing is declared, the frequencies of
// bytes decide (guess.go). It refuses the encodings in which markup can hide.
package charset

import (
	"bytes"
	"cmp"
	"errors"
	"mime"
	"regexp"
	"strings"
	"unicode/utf8"

	whatwg "golang.org/x/net/html/charset"
	"golang.org/x/text/encoding/unicode"
)

// ErrRefused is the error of a text whose encoding is not read.
var ErrRefused = errors.New("the encoding is refused")

// refusedLabels stand for the encodings in which markup can hide from a reader of ASCII. The Encoding Standard maps some of
// them to "replacement" and does not list the others.
var refusedLabels = regexp.MustCompile(`(?i)^(?:(?:unicode-1-1-)?utf-?7|x-utf-7|utf-?32(?:le|be)?|ucs-?4|hz-gb-2312|hz|iso-2022-(?:cn|kr)(?:-ext)?|csiso2022kr|scsu|bocu-1|cesu-8|utf-ebcdic|replacement)$`)

// The HTML Standard looks for a declaration in the first 1,024 bytes of a document. A browser that meets a later one while
// it parses starts again. Pages put theirs behind long comments and scripts, so the search goes on, in markup alone.
const (
	prescanLength = 1 << 10
	searchLength  = 64 << 10
)

// fallback is the encoding of a text that declares none and fits no other.
const fallback = "windows-1252"

// Detect returns the encoding that body is declared to be in, by its name in the Encoding Standard: by byte-order mark, then
// by contentType, the header, then, if isHTML, by the document itself. It returns "windows-1252" where nothing is declared,
// and "replacement" if the declared encoding is refused.
func Detect(body []byte, contentType string, isHTML bool) string {
	name, _ := declaration(body, contentType, isHTML)
	return cmp.Or(name, fallback)
}

// declaration returns the encoding that is declared, "" if there is none. Only a byte-order mark and the header are certain.
func declaration(body []byte, contentType string, isHTML bool) (name string, certain bool) {
	for _, mark := range [...]struct{ bytes, name string }{
		{"\xFF\xFE\x00\x00", "replacement"}, {"\x00\x00\xFE\xFF", "replacement"},
		{"\xEF\xBB\xBF", "utf-8"}, {"\xFE\xFF", "utf-16be"}, {"\xFF\xFE", "utf-16le"},
	} {
		if bytes.HasPrefix(body, []byte(mark.bytes)) {
			return mark.name, true
		}
	}
	_, params, _ := mime.ParseMediaType(contentType)
	if name = nameOf(params["charset"]); name != "" || !isHTML { // a <meta> in plain text is text
		return name, name != ""
	}
	name = nameOf(prescan(body[:min(len(body), prescanLength)], false))
	if name == "" && len(body) > prescanLength {
		name = nameOf(prescan(body[:min(len(body), searchLength)], true))
	}
	return name, false
}

// nameOf returns the name of the encoding that a label stands for, "" if it stands for none.
func nameOf(label string) string {
	label = strings.TrimSpace(label)
	if refusedLabels.MatchString(label) {
		return "replacement"
	}
	_, name := whatwg.Lookup(label)
	return name
}

// Decode returns body in UTF-8. Unless its encoding is certain, a body that is valid UTF-8 is taken for UTF-8. A body in
// UTF-8 is returned without a copy. The only error is [ErrRefused].
func Decode(body []byte, contentType string, isHTML bool) ([]byte, error) {
	name, certain := declaration(body, contentType, isHTML)
	switch {
	case name == "replacement":
		return nil, ErrRefused
	case !certain && utf8.Valid(body):
		// Text in another encoding is hardly ever valid UTF-8 by chance. The declaration, or the fallback, is the mistake.
		name = "utf-8"
	case name == "":
		name = guess(body)
	}
	if name == "utf-8" {
		body = bytes.TrimPrefix(body, []byte("\xEF\xBB\xBF"))
		if !utf8.Valid(body) {
			body = bytes.ToValidUTF8(body, []byte("\uFFFD"))
		}
		return body, nil
	}
	encoding, _ := whatwg.Lookup(name)
	switch name {
	case "utf-16be":
		encoding = unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	case "utf-16le":
		encoding = unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	}
	text, err := encoding.NewDecoder().Bytes(body)
	if err != nil {
		return nil, ErrRefused
	}
	return text, nil
}
