package card

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
)

// Limits of one pattern. With them, some hundred patterns over some kilobytes of text stay quick.
const (
	maxPattern      = 4000 // bytes
	maxInstructions = 2000 // of the compiled program
)

// patternLiteral splits /pattern/flags. It reports false for any other text: a slash inside must be escaped, and the
// flags must be JavaScript's.
func patternLiteral(s string) (pattern, flags string, ok bool) {
	end := strings.LastIndexByte(s, '/')
	if end < 2 || s[0] != '/' || strings.Trim(s[end+1:], "dgimsuvy") != "" {
		return "", "", false
	}
	pattern, flags = s[1:end], s[end+1:]
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '/':
			return "", "", false
		}
	}
	return pattern, flags, true
}

// compilePattern compiles a pattern of JavaScript with Go's engine, RE2, whose time is linear in the text. The flags i, m
// and s count. The error names what RE2 lacks: lookaround and backreferences.
func compilePattern(pattern, flags string) (*regexp.Regexp, error) {
	if len(pattern) > maxPattern {
		return nil, fmt.Errorf("the pattern has %d bytes, at most %d are read", len(pattern), maxPattern)
	}
	translated, err := translate(pattern)
	if err != nil {
		return nil, err
	}
	if own := strings.Map(supportedFlag, flags); own != "" {
		translated = "(?" + own + ")" + translated
	}
	parsed, err := syntax.Parse(translated, syntax.Perl)
	if err != nil {
		return nil, explain(err)
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, explain(err)
	}
	if n := len(program.Inst); n > maxInstructions {
		return nil, fmt.Errorf("the pattern comes to %d steps when its repetitions are spelled out, at most %d are run", n, maxInstructions)
	}
	return regexp.Compile(translated)
}

func supportedFlag(r rune) rune {
	if strings.ContainsRune("ims", r) {
		return r
	}
	return -1
}

func explain(err error) error {
	var e *syntax.Error
	if !errors.As(err, &e) {
		return err
	}
	switch {
	case e.Code == syntax.ErrInvalidPerlOp && (strings.HasPrefix(e.Expr, "(?=") || strings.HasPrefix(e.Expr, "(?!")):
		return errors.New("lookahead " + e.Expr + " does not exist in RE2")
	case e.Code == syntax.ErrInvalidPerlOp && strings.HasPrefix(e.Expr, "(?<"), e.Code == syntax.ErrInvalidNamedCapture && lookbehind(e.Expr):
		return errors.New("lookbehind " + e.Expr + " does not exist in RE2")
	case e.Code == syntax.ErrInvalidEscape && len(e.Expr) == 2 && e.Expr[1] >= '1' && e.Expr[1] <= '9', e.Expr == `\k`:
		return errors.New("backreference " + e.Expr + " does not exist in RE2")
	}
	return errors.New(strings.TrimPrefix(e.Error(), "error parsing regexp: "))
}

func lookbehind(expr string) bool {
	return strings.HasPrefix(expr, "(?<=") || strings.HasPrefix(expr, "(?<!")
}

// translate rewrites what JavaScript and Go spell differently.
func translate(pattern string) (string, error) {
	if !strings.Contains(pattern, `\`) && !strings.Contains(pattern, "[") {
		return pattern, nil
	}
	var b strings.Builder
	class := false
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		switch {
		case c == '\\' && i+1 < len(pattern):
			n, escape, err := escape(pattern[i:])
			if err != nil {
				return "", err
			}
			b.WriteString(escape)
			i += n - 1
			continue
		case c == '[' && class: // plain text in JavaScript, but perhaps the beginning of [:name:] in Go
			b.WriteByte('\\')
		case c == '[':
			if strings.HasPrefix(pattern[i:], "[^]") {
				b.WriteString(`[\s\S]`)
				i += 2
				continue
			}
			class = true
		case c == ']':
			class = false
		}
		b.WriteByte(c)
	}
	return b.String(), nil
}

// escape translates the escape at the beginning of s, and returns its length in bytes.
func escape(s string) (n int, translated string, err error) {
	switch s[1] {
	case '/', '-', '#', ' ', '"', '\'', '%', '&', ',', ':', ';', '<', '=', '>', '@', '_', '`', '~', '!':
		return 2, regexp.QuoteMeta(s[1:2]), nil
	case 'u':
		digits, n := "", 6
		if strings.HasPrefix(s, `\u{`) {
			if end := strings.IndexByte(s, '}'); end > 0 {
				digits, n = s[3:end], end+1
			}
		} else if len(s) >= 6 {
			digits = s[2:6]
		}
		r, err := strconv.ParseUint(digits, 16, 32)
		if err != nil || r > 0x10ffff || r >= 0xd800 && r < 0xe000 {
			return 0, "", errors.New(s[:min(len(s), n)] + " is no character")
		}
		return n, fmt.Sprintf(`\x{%x}`, r), nil
	case 'k':
		return 0, "", errors.New(`backreference \k does not exist in RE2`)
	case 'c':
		return 0, "", errors.New(`control escape \c is not supported; write \x and two digits`)
	}
	return 2, s[:2], nil
}
