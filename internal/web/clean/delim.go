package clean

import (
	"bytes"
	"crypto/rand"
	"encoding/base32"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"familiar/internal/text"
)

// templateTokens is D2, for text whose angle brackets are already ‹ ›. It matches the control tokens of common chat templates (ChatML,
// Llama, Mistral, Gemma, DeepSeek, GLM). It also matches the tags of tool calls.
var templateTokens = text.LazyRegexpOf(func() string {
	return `(?i)` + strings.Join([]string{
		`‹[|｜][^‹›\n]{0,100}[|｜]›`,
		`‹‹/?sys››`,
		`‹/?(?:function|parameter)(?:=|\s+name=)[^‹›]{0,300}›`,
		`‹/?(?:start_of_turn|end_of_turn|s|bos|eos|pad|unk|sop|eop)›`,
		`‹/?(?:antml:)?(?:tool_calls?|tool_responses?|tool_results?|function_calls?|function_results?|invoke|think|thinking)(?:[\s=/:][^‹›]{0,300})?›`,
		`\[/?(?:inst|sys|tool_calls|tool_results|available_tools|system_prompt|gmask)\]`,
	}, "|")
})

// headLength is how far into a line the colon of a speaker may be, in bytes. It leaves room for a quote sign, a list
// marker and stars.
const headLength = 64

// disarm applies D1 to D4 once.
func disarm(s, nonce string, r *Report) string {
	s = strings.Map(func(c rune) rune {
		plain := bracket(c)
		if plain != c {
			r.add("D1", 1)
		}
		return plain
	}, s)
	if strings.Contains(s, "‹") || strings.Contains(s, "[") {
		s = replace(templateTokens, s, "", "D2", r)
	}
	s = quoteRoles(s, r)
	return dropNonce(s, nonce, r)
}

// bracket is D1 for one character.
func bracket(c rune) rune {
	switch c {
	case '<', '＜', '﹤':
		return '‹'
	case '>', '＞', '﹥':
		return '›'
	case '`', '｀':
		return '\''
	}
	return c
}

func unbracket(c rune) rune {
	if strings.ContainsRune("‹›[]", bracket(c)) {
		return gone
	}
	return c
}

// quoteRoles is D3.
func quoteRoles(s string, r *Report) string {
	if !strings.ContainsFunc(s, isColon) {
		return s
	}
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		h, ok := headOf(line)
		if !ok || !h.names(nil) {
			continue
		}
		r.add("D3", 1)
		label := strings.ToLower(norm.NFKC.String(line[h.start:h.end]))
		if !plainASCII(label) {
			r.add("lookalike_delims", 1)
			label = line[h.start:h.end] // the letters may belong to another language, so they stay
		}
		_, size := utf8.DecodeRuneInString(line[h.colon:])
		lines[i] = line[:h.start] + "(quoted) " + label + line[h.end:h.colon] + " -" + line[h.colon+size:]
	}
	return strings.Join(lines, "\n")
}

// dropNonce is D4, in one pass. The result never ends in the nonce, so that no removal can restore it. White space
// inside the nonce does not hide it, as at the end of a line.
func dropNonce(s, nonce string, r *Report) string {
	if nonce == "" || len(s) < len(nonce) {
		return s
	}
	out, secret := make([]byte, 0, len(s)), []byte(nonce)
	var black []byte // out without white space
	var at []int     // positions of black's bytes in out
	for i := range len(s) {
		out = append(out, s[i])
		if strings.IndexByte(" \n\t", s[i]) >= 0 {
			continue
		}
		black, at = append(black, s[i]), append(at, len(out)-1)
		if n := len(black) - len(secret); n >= 0 && bytes.EqualFold(black[n:], secret) {
			out, black, at = out[:at[n]], black[:n], at[:n]
			r.add("D4", 1)
		}
	}
	if len(out) == len(s) {
		return s
	}
	return string(out)
}

// encodedRun is T10: the length from which a run of base64 or hex characters counts as data. A SHA-512 in hex has 128
// and is removed. A SHA-256 has 64 and stays.
const encodedRun = 120

// meanPiece tells data from a long address. In an address, the pieces between slashes and hyphens are words. In base64
// they are several times longer, because one character in 32 is a separator.
const meanPiece = 16

var (
	dataURI    = text.NewLazyRegexp(`(?i)\bdata:(?:[a-z0-9.+-]+/[a-z0-9.+*-]+)?(?:;[a-z0-9._-]+(?:=[^,;\s]*)?)*,[^\s)"'<>\]]*`)
	image      = text.NewLazyRegexp(`(?m)!+(\[.*\][(\[])`)
	bangs      = text.NewLazyRegexp(`!+\[`)
	scriptLink = text.NewLazyRegexp(`(?i)(\]\([\s<]*)(?:(?:javascript|vbscript|livescript)[\s:]*:\s*)+`)
)

// defuse is T10. It also disarms the two kinds of Markdown that act by themselves. Images, which are fetched when shown, become links, and
// links to scripts lose their scheme.
func defuse(s string, r *Report) string {
	if strings.Contains(s, "![") {
		// Images can be nested, so all images of a line are replaced at once.
		s = image.ReplaceAllStringFunc(s, func(line string) string { return replace(bangs, line, "[", "image", r) })
	}
	if strings.Contains(s, "](") {
		s = replace(scriptLink, s, "$1", "script", r)
	}
	if hasDataScheme(s) {
		s = dataURI.ReplaceAllStringFunc(s, func(uri string) string { return removed(uri, r) })
	}
	return dropEncoded(s, r)
}

func replace(re *text.LazyRegexp, s, with, rule string, r *Report) string {
	n := len(re.FindAllStringIndex(s, -1))
	if n == 0 {
		return s
	}
	r.add(rule, n)
	return re.ReplaceAllString(s, with)
}

func removed(data string, r *Report) string {
	r.add("T10", 1)
	return fmt.Sprintf("(encoded data removed, %d chars)", utf8.RuneCountInString(data))
}

func dropEncoded(s string, r *Report) string {
	var b strings.Builder
	copied := 0
	for start := 0; start+encodedRun <= len(s); {
		// Checking from the end skips most of the text: a byte that encodes nothing rules out everything before it.
		other := start + encodedRun - 1
		for other >= start && encodes(s[other]) {
			other--
		}
		if other >= start {
			start = other + 1
			continue
		}
		end := start + encodedRun
		for end < len(s) && encodes(s[end]) {
			end++
		}
		if isData(s[start:end]) {
			b.WriteString(s[copied:start])
			b.WriteString(removed(s[start:end], r))
			copied = end
		}
		start = end
	}
	if copied == 0 {
		return s
	}
	b.WriteString(s[copied:])
	return b.String()
}

func isData(run string) bool {
	letters, pieces, inside := 0, 0, false
	for i := range len(run) {
		if separates(run[i]) {
			inside = false
			continue
		}
		if !inside {
			pieces++
		}
		letters, inside = letters+1, true
	}
	return letters >= encodedRun/2 && letters >= meanPiece*pieces
}

// encodes reports whether c belongs to the alphabets of base64, base64url or hex.
func encodes(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || separates(c)
}

func separates(c byte) bool {
	return c == '+' || c == '/' || c == '-' || c == '_' || c == '='
}

func hasDataScheme(s string) bool {
	for i := 4; i < len(s); i++ {
		if s[i] == ':' && strings.EqualFold(s[i-4:i], "data") {
			return true
		}
	}
	return false
}

// schemeEnds reports whether before, the text up to a colon, ends with a scheme that defuse removes.
func schemeEnds(before string) bool {
	if len(before) > 10 {
		before = before[len(before)-10:]
	}
	before = strings.ToLower(before)
	return strings.HasSuffix(before, "data") || strings.HasSuffix(before, "script") || strings.HasSuffix(before, " ")
}

// brackets maps characters that look like the brackets and strokes of delimiters.
var brackets = strings.NewReplacer(
	"〈", "<", "〉", ">", "⟨", "<", "⟩", ">", "❮", "<", "❯", ">", "˂", "<", "˃", ">", "ᐸ", "<", "ᐳ", ">", "‹", "<", "›", ">", "«", "<<", "»", ">>",
	"∣", "|", "ǀ", "|", "│", "|", "‐", "-", "‑", "-", "–", "-", "−", "-",
)

// lookalikes is D5. It counts the lines of s that look like a delimiter but are not one by their characters. It is a hint for the record.
// Nothing is rewritten, because the same letters spell words in other languages. D3 handles the lines of speakers.
func lookalikes(s string) int {
	if plainASCII(s) {
		return 0
	}
	n := 0
	for line := range strings.SplitSeq(s, "\n") {
		if !plainASCII(line) && delimits(skeleton(line)) && !delimits(strings.ToLower(line)) {
			n++
		}
	}
	return n
}

func delimits(line string) bool {
	return strings.Contains(line, "web-search-results") || strings.Contains(line, "<|") || strings.Contains(line, "[inst]") || strings.Contains(line, "<<sys")
}

// Seal marks what strangers wrote where a model is shown it. The text is between two tags with an unpredictable name,
// and each of its lines begins with an unpredictable character. So no line of the text can end its block or pass for
// one of ours (rules P8, P9).
type Seal struct {
	Nonce string // part of the names of the tags
	Mark  rune   // begins text from outside, which has none
}

// NewSeal returns a seal whose nonce occurs in none of the texts. Its mark may, since marking a text removes all marks from it.
func NewSeal(texts []string) Seal {
	for {
		s := Seal{NewNonce(), newMark()}
		if !slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(strings.ToLower(t), s.Nonce) }) {
			return s
		}
	}
}

// Marks are private-use characters, which cleaning removes from every text. Common vocabularies (o200k, Llama 3, Qwen,
// Gemma) spell these in two tokens, and others in three. The choice need not be secret.
const firstMark, marks = 0xF080, 32

func newMark() rune {
	var b [1]byte
	rand.Read(b[:]) // never fails, see crypto/rand
	return firstMark + rune(b[0]%marks)
}

// MarkOf returns the mark for a text that is shown in several prompts. The text must have the same bytes in each. It depends on when the
// text was made.
func MarkOf(made time.Time) rune { return firstMark + rune(uint64(made.UnixNano()/1000)%marks) }

// NewNonce returns an unpredictable name: 80 bits, as lower-case letters and digits.
func NewNonce() string {
	var b [10]byte
	rand.Read(b[:]) // never fails, see crypto/rand
	return strings.ToLower(base32.StdEncoding.EncodeToString(b[:]))
}

// Tagged puts a text between two tags that it cannot contain. The text must be inert with the nonce.
func Tagged(name, nonce, text string) string {
	return "<" + name + "-" + nonce + ">\n" + text + "\n</" + name + "-" + nonce + ">"
}

// InertLine makes a text inert and puts it on one line. The result is safe inside a block and in an attribute of its
// tag.
func InertLine(s, nonce string) string {
	s = Inert(text.OneLine(s), nonce)
	return strings.ReplaceAll(text.OneLine(s), `"`, "'")
}

// Line writes a text from outside as one line after the mark. So it can only be quoted words (P9, D1 to D6). It removes the text's own
// references, because their numbers would name other sources.
func (s Seal) Line(words string) string {
	words, _ = settle(words, func(words string) string { return Unreferenced(InertLine(words, s.Nonce)) })
	return string(s.Mark) + strings.TrimSpace(words)
}

// Words writes a text from outside between two marks, for a line where our own words follow.
func (s Seal) Words(words string) string { return s.Line(words) + string(s.Mark) }

// Rule tells a model how to read what a seal marks.
func (s Seal) Rule() string {
	return fmt.Sprintf("What strangers wrote there begins with %c and ends at the next %c or with its line.", s.Mark, s.Mark)
}
