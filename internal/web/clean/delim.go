package clean

import (
	"bytes"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// templateTokens is D2, written for text whose angle brackets are ‹ › already: the control tokens of the chat
// templates in use (ChatML, Llama, Mistral, Gemma, DeepSeek, GLM) and the tags that tool calls are written in.
var templateTokens = regexp.MustCompile(`(?i)` + strings.Join([]string{
	`‹[|｜][^‹›\n]{0,100}[|｜]›`,
	`‹‹/?sys››`,
	`‹/?(?:function|parameter)(?:=|\s+name=)[^‹›]{0,300}›`,
	`‹/?(?:start_of_turn|end_of_turn|s|bos|eos|pad|unk|sop|eop)›`,
	`‹/?(?:antml:)?(?:tool_calls?|tool_responses?|tool_results?|function_calls?|function_results?|invoke|think|thinking)(?:[\s=/:][^‹›]{0,300})?›`,
	`\[/?(?:inst|sys|tool_calls|tool_results|available_tools|system_prompt|gmask)\]`,
}, "|"))

// roles are the names a chat template gives to its speakers.
var roles = map[string]bool{"system": true, "assistant": true, "user": true, "tool": true, "developer": true, "human": true}

// headLength is how far into a line a speaker's colon may be, in bytes: room for a quote sign, a list marker, stars.
const headLength = 64

// disarm is D1 to D4, once over.
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
	if !strings.ContainsFunc(s, func(c rune) bool { return c == ':' || c > unicode.MaxASCII && strings.ContainsRune(colons, c) }) {
		return s
	}
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if start, end, colon, role := speaker(line); role != "" {
			r.add("D3", 1)
			_, size := utf8.DecodeRuneInString(line[colon:])
			lines[i] = line[:start] + "(quoted) " + role + line[end:colon] + " -" + line[colon+size:]
		}
	}
	return strings.Join(lines, "\n")
}

// colons are the characters that read as one.
const colons = ":：﹕︓∶ː꞉"

// speaker finds a role at the start of a line: where its name begins and ends, where its colon is, and its
// plain name, "" if there is none. Compatibility forms of letters (full width, mathematical) count as letters.
func speaker(line string) (start, end, colon int, role string) {
	colon = strings.IndexAny(line, colons)
	if colon < 0 || colon > headLength {
		return 0, 0, 0, ""
	}
	head := line[:colon]
	word := strings.TrimFunc(head, func(c rune) bool { return !unicode.IsLetter(c) })
	role = strings.ToLower(norm.NFKC.String(word))
	if !roles[role] {
		return 0, 0, 0, ""
	}
	start = strings.Index(head, word)
	return start, start + len(word), colon, role
}

// dropNonce is D4, in one pass: what is left never ends in the nonce, so no removal can put it together again.
func dropNonce(s, nonce string, r *Report) string {
	if nonce == "" || len(s) < len(nonce) {
		return s
	}
	out, secret := make([]byte, 0, len(s)), []byte(nonce)
	for i := range len(s) {
		out = append(out, s[i])
		if n := len(out) - len(secret); n >= 0 && bytes.EqualFold(out[n:], secret) {
			out = out[:n]
			r.add("D4", 1)
		}
	}
	if len(out) == len(s) {
		return s
	}
	return string(out)
}
