package page

import (
	"bytes"
	"mime"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding/unicode"
)

// refused are the encodings in which markup can hide from whoever reads the bytes as ASCII. The Encoding
// Standard maps some of them to "replacement", and doesn't know the others.
var refused = regexp.MustCompile(`(?i)^(?:(?:unicode-1-1-)?utf-?7|x-utf-7|utf-?32(?:le|be)?|ucs-?4|hz-gb-2312|hz|iso-2022-(?:cn|kr)(?:-ext)?|csiso2022kr|scsu|bocu-1|cesu-8|utf-ebcdic|replacement)$`)

var metaCharset = regexp.MustCompile(`(?i)<meta[^>]{0,200}charset\s*=\s*["']?\s*([a-z0-9_:-]{1,40})`)

// prescanned is how much of a document the Encoding Standard lets one search for a declaration.
const prescanned = 1024

// decode turns body into UTF-8: by byte-order mark, then header, then, for HTML, the document's own word
// (HTML Standard, "determining the character encoding"), else UTF-8 where it is valid and Windows-1252 where not.
func decode(body []byte, contentType string, isHTML bool) (string, error) {
	head := body[:min(len(body), prescanned)]
	_, params, _ := mime.ParseMediaType(contentType)
	label := strings.TrimSpace(params["charset"])
	switch {
	case bytes.HasPrefix(head, []byte{0xFF, 0xFE, 0, 0}), bytes.HasPrefix(head, []byte{0, 0, 0xFE, 0xFF}), refused.MatchString(label):
		return "", &Error{Code: "bad_charset"}
	case label == "" && isHTML:
		if m := metaCharset.FindSubmatch(head); m != nil && refused.Match(m[1]) {
			return "", &Error{Code: "bad_charset"}
		}
	case label == "":
		contentType = "text/plain" // a <meta> in a plain text is text
		head = head[:min(len(head), 3)]
	}
	encoding, name, certain := charset.DetermineEncoding(head, contentType)
	switch {
	case name == "replacement":
		return "", &Error{Code: "bad_charset"}
	case !certain && name != "utf-8" && !strings.HasPrefix(name, "utf-16") && utf8.Valid(body):
		// Only UTF-8 is valid UTF-8 by chance so rarely; the declaration, or the default, is the mistake.
		name = "utf-8"
	case strings.HasPrefix(name, "utf-16"):
		encoding = unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
		if name == "utf-16be" {
			encoding = unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
		}
	}
	if name == "utf-8" {
		return strings.ToValidUTF8(string(bytes.TrimPrefix(body, []byte("\xEF\xBB\xBF"))), "\uFFFD"), nil
	}
	text, err := encoding.NewDecoder().Bytes(body)
	if err != nil {
		return "", &Error{Code: "bad_charset"}
	}
	return string(text), nil
}
