package fetch

import (
	"bytes"
	"context"
	"net/url"
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/web/clean"
)

// rules are the rules of a site's robots.txt for this program (RFC 9309). Only the decision leaves this package, never
// the text.
type rules struct {
	RobotsRules
	err *Error // why nothing may be read; may be nil
}

func (r rules) weight() int64 { return 1024 + r.RobotsRules.weight() }

// allowedByRobots returns an error unless the site's robots.txt allows u to be read.
func (f *Fetcher) allowedByRobots(ctx context.Context, u *url.URL, o Options) *Error {
	r, err := f.rulesOf(ctx, u, o)
	switch {
	case err != nil:
		return err
	case r.err != nil:
		return clone(r.err)
	}
	path := u.EscapedPath()
	if u.RawQuery != "" {
		path += "?" + u.RawQuery
	}
	if !r.Allows(path) {
		return fail(turn.CodeRobots)
	}
	return nil
}

// rulesOf returns the rules of u's origin from the cache or the site. Concurrent fetches of pages with the same rules
// share one request.
func (f *Fetcher) rulesOf(ctx context.Context, u *url.URL, o Options) (rules, *Error) {
	at := &url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/robots.txt"}
	key := at.String() + " " + o.Domains.Version()
	if r, ok := f.robots.get(key); ok {
		return r, nil
	}
	r, err := f.robotFlights.Do(ctx, key, func(ctx context.Context) (r rules) {
		defer func() {
			if recover() != nil {
				r = rules{err: fail(turn.CodeRobotsUnreachable)}
			}
		}()
		ctx, cancel := context.WithTimeoutCause(ctx, f.limits.robots, fail(turn.CodeTotalTimeout))
		defer cancel()
		v := visit{f: f, options: Options{Domains: o.Domains, Pins: o.Pins}, kind: kindRobots}
		got := v.run(ctx, at)
		r = f.rulesFrom(got)
		switch {
		case r.err == nil:
			f.robots.put(key, r, f.limits.robotsTTL)
		case !reasons[r.err.Reason].transient:
			f.robots.put(key, r, f.limits.robotsFailureTTL)
		}
		return r
	})
	if err != nil {
		return rules{}, fromCause(err)
	}
	return r, nil
}

// rulesFrom converts the result of the request for robots.txt (RFC 9309 §2.3.1). A site without the file allows
// everything. A site that fails allows nothing.
func (f *Fetcher) rulesFrom(got outcome) rules {
	if got.err == nil {
		return rules{RobotsRules: ParseRobots(f.wholeLines(got.doc.Body), productToken(f.config.UserAgent))}
	}
	switch e := got.err; {
	case 400 <= e.Status && e.Status < 500:
		return rules{}
	case reasons[e.Reason].transient, failsEveryPage(e):
		return rules{err: e}
	}
	return rules{err: fail(turn.CodeRobotsUnreachable)}
}

// failsEveryPage reports whether every page of the site would fail in the same way. Then the error names that failure
// instead of the rules.
func failsEveryPage(e *Error) bool {
	switch e.Reason {
	case turn.CodeDeniedAddress, turn.CodeDeniedHost, turn.CodeFakeIP, turn.CodeDNS, turn.CodeConnect,
		turn.CodeTLS, turn.CodeDNSTimeout, turn.CodeDialTimeout, turn.CodeTLSTimeout:
		return true
	}
	return false
}

// wholeLines drops the last line of a truncated robots.txt, because half a path is another path.
func (f *Fetcher) wholeLines(text []byte) []byte {
	if int64(len(text)) < f.limits.robotsBody {
		return text
	}
	return text[:bytes.LastIndexAny(text, "\r\n")+1]
}

// RobotsRules are the rules of one robots.txt for one program (RFC 9309). The zero value allows everything. Rules are
// immutable.
//
// The longest matching rule decides. Of two equally long ones, the one that allows decides. RFC 9309 §2.2.2 compares
// addresses after unescaping. Google's parser, against which sites test their files, compares them as written.
// RobotsRules takes the stricter result: a rule that forbids matches in either form, a rule that allows only as written.
type RobotsRules struct {
	rules []robotsRule
}

type robotsRule struct {
	allow  bool
	exact  pattern // escapes in upper case, bytes beyond ASCII escaped
	normal pattern // unescaped where possible; only for rules that forbid
}

// robotsLine is the length after which a line is cut, as in Google's parser. It is 8 times the longest address in browsers.
const robotsLine = 8*2083 - 1

// ParseRobots parses a robots.txt for the program named agent, a product token as in RFC 9309 §2.2.1. Case does not
// matter. All groups with that name count as one. If there is none, the groups for "*" count. Invalid lines are skipped,
// so there is no error.
func ParseRobots(text []byte, agent string) RobotsRules {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	var (
		ours, general []robotsRule
		found         bool // some group names agent
		forUs, forAll bool // whom the current group names
		inRules       bool
	)
	for line := range bytes.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		key, value := robotsRecord(line[:min(len(line), robotsLine)])
		switch key {
		case "user-agent":
			if inRules { // it begins a new group
				forUs, forAll, inRules = false, false, false
			}
			if value == "*" || strings.HasPrefix(value, "* ") || strings.HasPrefix(value, "*\t") {
				forAll = true
			} else if token := productToken(value); token != "" && strings.EqualFold(token, agent) {
				forUs, found = true, true
			}
		case "allow", "disallow":
			inRules = true
			if value == "" || !forUs && !forAll {
				continue
			}
			if rules := newRobotsRules(key == "allow", value); forUs {
				ours = append(ours, rules...)
			} else {
				general = append(general, rules...)
			}
		}
	}
	if found {
		return RobotsRules{rules: ours}
	}
	return RobotsRules{rules: general}
}

// Allows reports whether target may be requested. target is the path and query of a URL, as sent.
func (r RobotsRules) Allows(target string) bool {
	exact, normal := upperEscapes(target), normalize(target)
	length, allow := 0, true
	for _, rule := range r.rules {
		n := len(rule.exact)
		if n < length || n == length && allow {
			continue
		}
		if rule.exact.matches(exact) || !rule.allow && rule.normal.matches(normal) {
			length, allow = n, rule.allow
		}
	}
	return allow
}

// weight returns the approximate size of r in bytes.
func (r RobotsRules) weight() int64 {
	n := int64(0)
	for _, rule := range r.rules {
		n += 40 + int64(len(rule.exact)+len(rule.normal))
	}
	return n
}

// robotsRecord splits a line into a normalised key and its value. The key is empty if the line is not a record. Frequent
// typos are accepted, because their authors meant the rule.
func robotsRecord(line []byte) (key, value string) {
	line, _, _ = bytes.Cut(line, []byte("#"))
	line = bytes.TrimSpace(line)
	name, rest, ok := bytes.Cut(line, []byte(":"))
	if !ok { // accept "disallow /path" if it is unambiguous
		words := bytes.Fields(line)
		if len(words) != 2 {
			return "", ""
		}
		name, rest = words[0], words[1]
	}
	switch name := strings.ToLower(string(bytes.TrimSpace(name))); name {
	case "user-agent", "useragent", "user agent":
		key = "user-agent"
	case "disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw":
		key = "disallow"
	case "allow":
		key = name
	}
	return key, string(bytes.TrimSpace(rest))
}

// productToken returns the beginning of s that may be the name of a program (RFC 9309 §2.2.1): letters, "_" and "-".
func productToken(s string) string {
	for i := range len(s) {
		if c := s[i] | 0x20; (c < 'a' || 'z' < c) && s[i] != '_' && s[i] != '-' {
			return s[:i]
		}
	}
	return s
}

// newRobotsRules returns the rule for a path. If it allows the index file of a directory, there is a second rule that allows the directory.
// Both are the same page.
func newRobotsRules(allow bool, path string) []robotsRule {
	if !allow {
		return []robotsRule{{exact: pattern(escapeNonASCII(path)), normal: pattern(normalizePattern(path))}}
	}
	rules := []robotsRule{{allow: true, exact: pattern(escapeNonASCII(path))}}
	if i := strings.LastIndexByte(path, '/'); i >= 0 && strings.HasPrefix(path[i:], "/index.htm") {
		rules = append(rules, robotsRule{allow: true, exact: pattern(escapeNonASCII(path[:i+1]) + "$")})
	}
	return rules
}

// pattern is the beginning of a path. "*" matches anything, and a final "$" matches the end.
type pattern string

// matches takes the first occurrence of each piece between stars, because that leaves the most for the rest. The time is
// linear for any pattern.
func (p pattern) matches(path string) bool {
	text, whole := strings.CutSuffix(string(p), "$")
	head, text, star := strings.Cut(text, "*")
	if !strings.HasPrefix(path, head) {
		return false
	}
	path = path[len(head):]
	for star {
		var piece string
		if piece, text, star = strings.Cut(text, "*"); !star && whole {
			return strings.HasSuffix(path, piece)
		}
		i := strings.Index(path, piece)
		if i < 0 {
			return false
		}
		path = path[i+len(piece):]
	}
	return !whole || path == ""
}

const upperHex = "0123456789ABCDEF"

// upperEscapes converts the escapes of s to upper case (RFC 3986 §6.2.2.1).
func upperEscapes(s string) string { return rewrite(s, false, "") }

// escapeNonASCII is like upperEscapes, but also escapes bytes beyond ASCII. So a path in robots.txt reads as in a URL.
func escapeNonASCII(s string) string { return rewrite(s, true, "") }

// normalize returns the normal form of a URL: like escapeNonASCII, without needless escapes (RFC 3986 §6.2.2.2). The
// special characters of patterns are escaped, so that a pattern can match them (RFC 9309 §2.2.3).
func normalize(s string) string { return clean.FoldEscapes(rewrite(s, true, "*$")) }

// normalizePattern is normalize for a pattern. It does not escape its special characters.
func normalizePattern(s string) string {
	body, end := strings.CutSuffix(s, "$")
	body = clean.FoldEscapes(rewrite(body, true, "$"))
	if end {
		body += "$"
	}
	return body
}

// rewrite converts escapes to upper case. It escapes the bytes in also and, if beyondASCII is set, bytes beyond ASCII.
func rewrite(s string, beyondASCII bool, also string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case isEscape(s[i:]):
			b.WriteString(strings.ToUpper(s[i : i+3]))
			i += 2
		case beyondASCII && c >= 0x80, strings.IndexByte(also, c) >= 0:
			b.Write([]byte{'%', upperHex[c>>4], upperHex[c&15]})
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func isEscape(s string) bool { return len(s) >= 3 && s[0] == '%' && isHex(s[1]) && isHex(s[2]) }

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}
