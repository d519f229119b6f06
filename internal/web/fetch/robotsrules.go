package fetch

import (
	"bytes"
	"strings"
)

// RobotsRules are what one robots.txt says to one program (RFC 9309). The zero value allows all. It is immutable.
//
// The longest rule that matches decides, and of two equal ones the one that allows. Escapes are where RFC 9309 §2.2.2,
// which compares addresses after unescaping them, and Google's parser, which sites test their files against and which
// compares as written, come to different answers. We take the one that keeps us out: a rule that forbids matches in
// either reading, one that allows only as written.
type RobotsRules struct {
	rules []robotsRule
}

type robotsRule struct {
	allow  bool
	exact  pattern // escapes in upper case, bytes beyond ASCII escaped
	normal pattern // and escapes of ordinary characters undone; only of rules that forbid
}

// robotsLine is how much of a line counts: as much as Google reads, 8 addresses of the longest that browsers take.
const robotsLine = 8*2083 - 1

// ParseRobots reads a robots.txt for the program called agent, a product token as in RFC 9309 §2.2.1 (case does not
// matter). All groups for that name count as one; if there is none, those for "*" do. No text is an error: lines that
// are no rules are passed over.
func ParseRobots(text []byte, agent string) RobotsRules {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	var (
		ours, everybodys  []robotsRule
		found             bool // some group is ours
		forUs, forAll     bool // the group that is being read
		rulesSinceAnyName bool
	)
	for line := range bytes.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		key, value := robotsRecord(line[:min(len(line), robotsLine)])
		switch key {
		case "user-agent":
			if rulesSinceAnyName { // a new group, not one more name of this one
				forUs, forAll, rulesSinceAnyName = false, false, false
			}
			if value == "*" || strings.HasPrefix(value, "* ") || strings.HasPrefix(value, "*\t") {
				forAll = true
			} else if token := productToken(value); token != "" && strings.EqualFold(token, agent) {
				forUs, found = true, true
			}
		case "allow", "disallow":
			rulesSinceAnyName = true
			if value == "" || !forUs && !forAll {
				continue
			}
			if rules := newRobotsRules(key == "allow", value); forUs {
				ours = append(ours, rules...)
			} else {
				everybodys = append(everybodys, rules...)
			}
		}
	}
	if found {
		return RobotsRules{rules: ours}
	}
	return RobotsRules{rules: everybodys}
}

// Allows reports whether target, the path and query of a URL as they are sent, may be asked for.
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

// weight is about how many bytes r takes.
func (r RobotsRules) weight() int64 {
	n := int64(0)
	for _, rule := range r.rules {
		n += 40 + int64(len(rule.exact)+len(rule.normal))
	}
	return n
}

// robotsRecord splits a line into its key, in one writing, and its value; the key is empty if it is no record. The other
// writings are typos so frequent that those who made them are better served by being understood.
func robotsRecord(line []byte) (key, value string) {
	line, _, _ = bytes.Cut(line, []byte("#"))
	line = bytes.TrimSpace(line)
	name, rest, ok := bytes.Cut(line, []byte(":"))
	if !ok { // "disallow /path", as long as it can be nothing else
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

// productToken is the beginning of s that may be the name of a program (RFC 9309 §2.2.1): letters, "_" and "-".
func productToken(s string) string {
	for i := range len(s) {
		if c := s[i] | 0x20; (c < 'a' || 'z' < c) && s[i] != '_' && s[i] != '-' {
			return s[:i]
		}
	}
	return s
}

// newRobotsRules returns the rule for a path, or two where a directory's index is allowed by its file name: a site that
// writes so means the directory, which is the same page.
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

// pattern is the beginning of a path, in which "*" stands for anything and a last "$" for the end.
type pattern string

// matches takes each piece between stars where it first comes: no other place leaves more of the path for the rest.
// Its time is linear, whatever a site writes.
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
