package charset

import (
	"bytes"
	"cmp"
	"errors"
	"mime"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gogs/chardet"
	whatwg "golang.org/x/net/html/charset"
	"golang.org/x/text/encoding/unicode"
)

// refused are the encodings in which markup can hide from whoever reads the bytes as ASCII. The Encoding
// Standard maps some of them to "replacement", and doesn't know the others.
var refused = regexp.MustCompile(`(?i)^(?:(?:unicode-1-1-)?utf-?7|x-utf-7|utf-?32(?:le|be)?|ucs-?4|hz-gb-2312|hz|iso-2022-(?:cn|kr)(?:-ext)?|csiso2022kr|scsu|bocu-1|cesu-8|utf-ebcdic|replacement)$`)

// A document is searched for a declaration in its first 1,024 bytes as the HTML Standard does it; but a browser that
// meets a later one while it parses begins anew, and so the search goes on, in markup alone, where pages put theirs
// behind long comments and scripts.
const (
	prescanned = 1 << 10
	searched   = 64 << 10
)

// defaultCharset is what is supposed where nothing is declared and nothing else fits.
const defaultCharset = "windows-1252"

// Detect is the name in the Encoding Standard of the encoding that body is declared to be in: by byte-order mark,
// then by contentType, the header, then, for HTML, by the document itself. It is "windows-1252" where nothing is
// declared, and "replacement" if the declared one is refused, because markup can hide in it.
func Detect(body []byte, contentType string, isHTML bool) string {
	name, _ := declared(body, contentType, isHTML)
	if name == "" {
		return defaultCharset
	}
	return name
}

// declared is the encoding that is declared, "" if there is none. Only the byte-order mark and the header, which
// leave no doubt, make it certain.
func declared(body []byte, contentType string, isHTML bool) (name string, certain bool) {
	for _, mark := range [...]struct{ bytes, name string }{
		{"\xFF\xFE\x00\x00", "replacement"}, {"\x00\x00\xFE\xFF", "replacement"},
		{"\xEF\xBB\xBF", "utf-8"}, {"\xFE\xFF", "utf-16be"}, {"\xFF\xFE", "utf-16le"},
	} {
		if bytes.HasPrefix(body, []byte(mark.bytes)) {
			return mark.name, true
		}
	}
	_, params, _ := mime.ParseMediaType(contentType)
	if name = known(params["charset"]); name != "" || !isHTML { // a <meta> in a plain text is text
		return name, name != ""
	}
	name = known(prescan(body[:min(len(body), prescanned)], false))
	if name == "" && len(body) > prescanned {
		name = known(prescan(body[:min(len(body), searched)], true))
	}
	return name, false
}

// known is the name of the encoding that a label stands for, "" if for none.
func known(label string) string {
	label = strings.TrimSpace(label)
	if refused.MatchString(label) {
		return "replacement"
	}
	_, name := whatwg.Lookup(label)
	return name
}

// Decode turns body into UTF-8 from the encoding that it is declared to be in. Where nothing is certain, bytes that
// are valid UTF-8 are UTF-8; where nothing is declared at all, the bytes decide by their frequencies. A body that is
// UTF-8 comes back as it is, without a copy.
func Decode(body []byte, contentType string, isHTML bool) ([]byte, error) {
	name, certain := declared(body, contentType, isHTML)
	switch {
	case name == "replacement":
		return nil, ErrRefused
	case !certain && utf8.Valid(body):
		// Only UTF-8 is valid UTF-8 by chance so rarely; the declaration, or the default, is the mistake.
		name = "utf-8"
	case name == "":
		name = likely(body)
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

// ErrRefused is the error of an encoding that is not read.
var ErrRefused = errors.New("the encoding is refused")

// How much text a guess is made from, in bytes, and how sure it must be, in percent.
const (
	sampled = 8 << 10
	sure    = 20
)

// likely guesses the encoding of a text that is not UTF-8, from those of its parts that are not ASCII.
func likely(body []byte) string {
	sample := make([]byte, 0, sampled)
	for part := range bytes.FieldsFuncSeq(body, func(c rune) bool { return c == '<' || c == '>' || c == '\n' }) {
		if len(sample)+len(part) >= sampled {
			break
		}
		if bytes.IndexFunc(part, func(c rune) bool { return c >= 0x80 }) >= 0 {
			sample = append(append(sample, part...), ' ')
		}
	}
	if len(sample) == 0 {
		return defaultCharset
	}
	return firstUsable(sample)
}

// firstUsable is the likeliest encoding that pages are written in and that sample can be in. The library's parts run on
// goroutines of its own: it is pinned, its tables were read for indexes out of range, and FuzzDetect goes on looking.
// It answers in the order in which they are done, so that those that are equally likely are put in the order of their
// names.
func firstUsable(sample []byte) string {
	found, err := chardet.NewTextDetector().DetectAll(sample)
	if err != nil {
		return defaultCharset
	}
	slices.SortFunc(found, func(a, b chardet.Result) int {
		return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(a.Charset, b.Charset))
	})
	for _, guess := range found {
		if guess.Confidence < sure {
			break
		}
		label := guess.Charset
		if label == "GB-18030" {
			label = "gb18030"
		}
		name := known(label)
		if name == "" || name == "replacement" || strings.HasPrefix(name, "utf-16") || strings.HasPrefix(name, "iso-2022") {
			continue // mainframes' among them
		}
		encoding, _ := whatwg.Lookup(name)
		text, err := encoding.NewDecoder().Bytes(sample)
		if err == nil && bytes.Count(text, []byte("\uFFFD"))*100 <= utf8.RuneCount(text) { // one in a hundred is a slip
			return name
		}
	}
	return defaultCharset
}
