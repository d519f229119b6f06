package charset

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gogs/chardet"
	whatwg "golang.org/x/net/html/charset"
)

// How much text a guess is made from, in bytes, and how sure it must be, in percent.
const (
	maxSample     = 8 << 10
	minConfidence = 20
)

// guess returns the likeliest encoding of a text that is not UTF-8, judging by those parts that are not ASCII.
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

// guessSample returns the likeliest encoding that pages are written in and that sample can be in. The library runs its
// parts on goroutines of its own, where a panic would end the program: it is pinned, its tables were checked for indexes
// out of range, and FuzzGuess keeps looking. It answers in the order in which the parts finish, so equally likely
// encodings are sorted by name.
func guessSample(sample []byte) string {
	found, err := chardet.NewTextDetector().DetectAll(sample)
	if err != nil {
		return fallback
	}
	slices.SortFunc(found, func(a, b chardet.Result) int {
		return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(a.Charset, b.Charset))
	})
	for _, result := range found {
		if result.Confidence < minConfidence {
			break
		}
		name := nameOf(strings.Replace(result.Charset, "GB-18030", "gb18030", 1)) // the one label that only the library uses
		if name == "" || name == "replacement" || strings.HasPrefix(name, "utf-16") || strings.HasPrefix(name, "iso-2022") {
			continue // encodings of mainframes are among them
		}
		encoding, _ := whatwg.Lookup(name)
		text, err := encoding.NewDecoder().Bytes(sample)
		if err == nil && bytes.Count(text, []byte("\uFFFD"))*100 <= utf8.RuneCount(text) { // one in a hundred may be a mistake
			return name
		}
	}
	return fallback
}
