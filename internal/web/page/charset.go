package page

import (
	"bytes"
	"cmp"
	"errors"
	"mime"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/gogs/chardet"
	whatwg "golang.org/x/net/html/charset"
	"golang.org/x/text/encoding/unicode"

	"familiar/internal/text"
	"familiar/visible/dom"
)

// errCharset reports an encoding that is refused.
var errCharset = errors.New("encoding is refused")

// refusedLabels matches the encodings in which markup can hide from a reader of ASCII. The Encoding Standard maps some
// of them to "replacement" and does not list the others.
var refusedLabels = text.NewLazyRegexp(`(?i)^(?:(?:unicode-1-1-)?utf-?7|x-utf-7|utf-?32(?:le|be)?|ucs-?4|hz-gb-2312|hz|iso-2022-(?:cn|kr)(?:-ext)?|csiso2022kr|scsu|bocu-1|cesu-8|utf-ebcdic|replacement)$`)

// The HTML Standard looks for a declaration in the first 1,024 bytes of a document. If a browser finds a later one while
// it parses, it starts again. Pages put it after long comments and scripts, so the search continues up to searchLength,
// outside scripts and styles.
const (
	prescanLength = 1 << 10
	searchLength  = 64 << 10
)

// fallback is the encoding of a text that declares none and that no guess fits.
const fallback = "windows-1252"

// Charset returns the encoding that body declares, by its name in the Encoding Standard. The arguments are those of
// [ToUTF8]. It returns "windows-1252" if none is declared, and "replacement" if the declared encoding is refused.
func Charset(body []byte, contentType string, isHTML bool) string {
	name, _ := declaration(body, contentType, isHTML)
	return cmp.Or(name, fallback)
}

// declaration returns the declared encoding by its name in the Encoding Standard, or "" if there is none. It looks for a
// byte-order mark, then at contentType (the header), then, if isHTML, at the document itself. The name is "replacement"
// if the encoding is refused. Only a byte-order mark and the header are certain.
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
	if name = charsetName(params["charset"]); name != "" || !isHTML { // in plain text, a <meta> is text
		return name, name != ""
	}
	name = charsetName(prescan(body[:min(len(body), prescanLength)], false))
	if name == "" && len(body) > prescanLength {
		name = charsetName(prescan(body[:min(len(body), searchLength)], true))
	}
	return name, false
}

// charsetName returns the name of the encoding for a label, or "" if the label is unknown.
func charsetName(label string) string {
	label = strings.TrimSpace(label)
	if refusedLabels.MatchString(label) {
		return "replacement"
	}
	_, name := whatwg.Lookup(label)
	return name
}

// ToUTF8 decodes body to UTF-8. It finds the encoding as browsers do, and guesses it if none is declared. contentType is
// the header of the response, and may be empty. A body that is valid UTF-8 is taken as UTF-8 unless its encoding is
// certain. It is then returned without a copy. ToUTF8 fails only if the encoding is refused or the decoder fails.
func ToUTF8(body []byte, contentType string, isHTML bool) ([]byte, error) {
	name, certain := declaration(body, contentType, isHTML)
	switch {
	case name == "replacement":
		return nil, errCharset
	case !certain && utf8.Valid(body):
		// Text in another encoding is hardly ever valid UTF-8 by chance, so the declaration or the fallback is wrong.
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
		return nil, errCharset
	}
	return text, nil
}

// prescan looks for a declaration of the encoding at the beginning of an HTML document. See HTML Standard, "prescan a byte stream to
// determine its encoding". Like browsers, it works on bytes, so a <meta> in a script counts too. With skip, it ignores scripts and styles.
// It returns the label as written, or "" if no label names an encoding.
func prescan(head []byte, skip bool) (label string) {
	for len(head) > 0 {
		at := bytes.IndexByte(head, '<')
		if at < 0 {
			return ""
		}
		head = head[at:]
		switch {
		case bytes.HasPrefix(head, []byte("<!--")):
			end := bytes.Index(head[2:], []byte("-->"))
			if end < 0 {
				return ""
			}
			head = head[2+end+3:]
		case tagNamed(head, "meta"):
			if label, head = metaCharset(head[len("<meta"):]); label != "" {
				return label
			}
		case skip && tagNamed(head, "script"):
			_, head, _ = dom.CutFold(head, "</script")
		case skip && tagNamed(head, "style"):
			_, head, _ = dom.CutFold(head, "</style")
		case len(head) > 1 && dom.IsLetter(head[1]), len(head) > 2 && head[1] == '/' && dom.IsLetter(head[2]):
			head = head[min(len(head), 1+wordEnd(head[1:])):]
			for more := true; more; {
				_, _, head, more = readAttribute(head)
			}
		case len(head) > 1 && strings.IndexByte("!/?", head[1]) >= 0:
			_, head, _ = bytes.Cut(head, []byte(">"))
		default:
			head = head[1:]
		}
	}
	return ""
}

// tagNamed reports whether head begins with a start tag of this name.
func tagNamed(head []byte, name string) bool {
	end := 1 + len(name)
	return len(head) > end && strings.EqualFold(string(head[1:end]), name) && (dom.IsSpace(head[end]) || head[end] == '/' || head[end] == '>')
}

// wordEnd returns where the name of a tag ends.
func wordEnd(s []byte) int {
	for i, c := range s {
		if dom.IsSpace(c) || c == '>' {
			return i
		}
	}
	return len(s)
}

// metaCharset returns the encoding that one <meta> declares.
func metaCharset(head []byte) (label string, rest []byte) {
	names := map[string]bool{}
	content, pragma := "", false // set by http-equiv
	for {
		name, value, next, ok := readAttribute(head)
		head = next
		if !ok {
			if label == "" && pragma {
				label = content
			}
			return labelOf(label), head
		}
		if names[name] {
			continue
		}
		names[name] = true
		switch name {
		case "http-equiv":
			pragma = value == "content-type"
		case "content":
			content = contentCharset(value)
		case "charset":
			label = value
		}
	}
}

// labelOf returns a declared encoding if the Encoding Standard lists it or if it is refused.
func labelOf(label string) string {
	label = strings.TrimSpace(label)
	switch _, name := whatwg.Lookup(label); {
	case refusedLabels.MatchString(label):
		return label
	case strings.HasPrefix(name, "utf-16"):
		return "utf-8" // the declaration itself was read as ASCII
	case name == "x-user-defined":
		return "windows-1252"
	case name == "":
		return ""
	}
	return label
}

// readAttribute is the Standard's "get an attribute". It returns name and value in lower case; ok is false at the end of
// the tag.
func readAttribute(s []byte) (name, value string, rest []byte, ok bool) {
	for len(s) > 0 && (dom.IsSpace(s[0]) || s[0] == '/') {
		s = s[1:]
	}
	if len(s) == 0 || s[0] == '>' {
		return "", "", s, false
	}
	end := 0
	for end < len(s) && !dom.IsSpace(s[end]) && s[end] != '/' && s[end] != '>' && (s[end] != '=' || end == 0) {
		end++
	}
	name, s = strings.ToLower(string(s[:end])), bytes.TrimLeft(s[end:], dom.Blanks)
	if len(s) == 0 || s[0] != '=' {
		return name, "", s, true
	}
	s = bytes.TrimLeft(s[1:], dom.Blanks)
	switch {
	case len(s) == 0 || s[0] == '>':
		return name, "", s, true
	case s[0] == '"' || s[0] == '\'':
		end = bytes.IndexByte(s[1:], s[0])
		if end < 0 {
			return "", "", nil, false // the tag continues beyond what was read
		}
		return name, strings.ToLower(string(s[1 : 1+end])), s[end+2:], true
	}
	end = wordEnd(s)
	return name, strings.ToLower(string(s[:end])), s[end:], true
}

// contentCharset is the Standard's "extracting a character encoding from a meta element".
func contentCharset(s string) string {
	for {
		at := strings.Index(s, "charset")
		if at < 0 {
			return ""
		}
		s = strings.TrimLeft(s[at+len("charset"):], dom.Blanks)
		if !strings.HasPrefix(s, "=") {
			continue
		}
		if s = strings.TrimLeft(s[1:], dom.Blanks); s == "" {
			return ""
		}
		if q := s[0]; q == '"' || q == '\'' {
			own, _, closed := strings.Cut(s[1:], string(q))
			if !closed {
				return ""
			}
			return own
		}
		if end := strings.IndexAny(s, ";"+dom.Blanks); end >= 0 {
			s = s[:end]
		}
		return s
	}
}

// Limits of a guess: the bytes that are examined, and the least confidence in percent.
const (
	maxSample     = 8 << 10
	minConfidence = 20
)

// guess returns the likeliest encoding of a text that is not UTF-8, judging by the parts that are not ASCII.
func guess(body []byte) string {
	sample := make([]byte, 0, maxSample)
	for part := range bytes.FieldsFuncSeq(body, func(c rune) bool { return c == '<' || c == '>' || c == '\n' }) {
		if len(sample)+len(part) >= maxSample {
			break
		}
		if bytes.IndexFunc(part, func(c rune) bool { return c >= 0x80 }) >= 0 {
			sample = append(append(sample, part...), ' ')
		}
	}
	if len(sample) == 0 {
		return fallback
	}
	return guessSample(sample)
}

// guessSample returns the likeliest encoding that is used for pages and can decode sample. The library runs parts of its
// work on its own goroutines, where a panic would end the program. So it is pinned, its tables were checked for indexes
// out of range, and FuzzGuess keeps looking. Its results come in random order, so equally likely encodings are sorted by
// name.
func guessSample(sample []byte) string {
	found, err := chardet.NewTextDetector().DetectAll(sample)
	if err != nil {
		return fallback
	}
	sort.Slice(found, func(i, j int) bool {
		a, b := found[i], found[j]
		return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(a.Charset, b.Charset)) < 0
	})
	for _, result := range found {
		if result.Confidence < minConfidence {
			break
		}
		name := charsetName(strings.Replace(result.Charset, "GB-18030", "gb18030", 1)) // the only label that differs
		if name == "" || name == "replacement" || strings.HasPrefix(name, "utf-16") || strings.HasPrefix(name, "iso-2022") {
			continue // the library also knows encodings of mainframes
		}
		encoding, _ := whatwg.Lookup(name)
		text, err := encoding.NewDecoder().Bytes(sample)
		if err == nil && bytes.Count(text, []byte("\uFFFD"))*100 <= utf8.RuneCount(text) { // one character in a hundred may be a mistake
			return name
		}
	}
	return fallback
}
