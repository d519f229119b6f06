package clean

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"familiar/internal/text/lazyregexp"
)

// templateTokens is D2, written for text whose angle brackets are ‹ › already: the control tokens of the chat
// templates in use (ChatML, Llama, Mistral, Gemma, DeepSeek, GLM) and the tags that tool calls are written in.
var templateTokens = lazyregexp.New(`(?i)` + strings.Join([]string{
	`‹[|｜][^‹›\n]{0,100}[|｜]›`,
	`‹‹/?sys››`,
	`‹/?(?:function|parameter)(?:=|\s+name=)[^‹›]{0,300}›`,
	`‹/?(?:start_of_turn|end_of_turn|s|bos|eos|pad|unk|sop|eop)›`,
	`‹/?(?:antml:)?(?:tool_calls?|tool_responses?|tool_results?|function_calls?|function_results?|invoke|think|thinking)(?:[\s=/:][^‹›]{0,300})?›`,
	`\[/?(?:inst|sys|tool_calls|tool_results|available_tools|system_prompt|gmask)\]`,
}, "|"))

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
			label = line[h.start:h.end] // the letters may be those of another language: they stay
		}
		_, size := utf8.DecodeRuneInString(line[h.colon:])
		lines[i] = line[:h.start] + "(quoted) " + label + line[h.end:h.colon] + " -" + line[h.colon+size:]
	}
	return strings.Join(lines, "\n")
}

// dropNonce is D4, in one pass: what is left never ends in the nonce, so no removal can put it together again. White space
// within does not hide it, as a line's end.
func dropNonce(s, nonce string, r *Report) string {
	if nonce == "" || len(s) < len(nonce) {
		return s
	}
	out, secret := make([]byte, 0, len(s)), []byte(nonce)
	var black []byte // what of out is no white space
	var at []int     // where it is in out
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
