package guard

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"familiar/internal/context/turn"
)

// maxURL bounds a URL before and after canonicalisation, in bytes.
const maxURL = 2048

// hosts is the lookup profile of IDNA (UTS #46): mapped, non-transitional, STD3 letters, bidi and length rules.
// Hyphens in third and fourth place are let pass, as browsers do: real hosts have them.
var hosts = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.BidiRule(),
	idna.VerifyDNSLength(true), idna.CheckHyphens(false))

// localSuffixes are names that are not of the public internet: special-use names (RFC 6761, RFC 8375, RFC 7686,
// RFC 9476), suffixes that local networks use, and cloud metadata names.
var localSuffixes = set("localhost", "local", "internal", "intranet", "lan", "home", "home.arpa", "corp", "private",
	"localdomain", "onion", "i2p", "invalid", "test", "example", "alt", "arpa", "svc", "metadata.goog",
	"metadata.amazonaws.com", "metadata.azure.com")

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}

// Parse returns the canonical URL for raw, or a *[Error]. The result is absolute, http or https, without user,
// fragment or default port, with a lower-case ASCII host that is a public name and never an address, a path
// that begins with a slash and has no dot segments, and at most 2,048 bytes. It is a fixed point:
// Parse(u.String()) is u again, so the URL that was checked is the URL that is dialled and recorded.
//
// Anything that two parsers could read differently is refused rather than repaired.
func Parse(raw string) (*url.URL, error) {
	if !readable(raw) {
		return nil, blocked(turn.CodeInvalidTarget)
	}
	u, err := url.Parse(raw)
	if err != nil || u.Scheme == "" {
		return nil, blocked(turn.CodeInvalidTarget)
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return nil, &Error{Code: turn.CodeUnsupportedScheme, Reason: turn.CodeBadScheme}
	}
	if u.Opaque != "" || u.Host == "" || u.User != nil || encodedAuthority(raw) {
		return nil, blocked(turn.CodeInvalidTarget)
	}
	host, err := hostPort(u.Scheme, u.Host)
	if err != nil {
		return nil, err
	}
	if u.RawPath != "" || strings.Contains(u.Path, "/.") || strings.Contains(u.Path, "//") {
		// Resolving an absolute reference against nothing removes its dot segments (RFC 3986 §5.2.4).
		u = new(url.URL).ResolveReference(u)
	}
	out := &url.URL{Scheme: u.Scheme, Host: host, Path: u.Path, RawPath: u.RawPath, RawQuery: escapeQuery(u.RawQuery)}
	if out.Path == "" {
		out.Path, out.RawPath = "/", ""
	}
	// Encoding triples a byte at most, and a host has at most 253: only a long URL has to be written out to be measured.
	if 3*len(raw)+300 > maxURL && len(out.String()) > maxURL {
		return nil, blocked(turn.CodeInvalidTarget)
	}
	return out, nil
}

// Resolve is [Parse] for a reference found at base, such as a Location header. base must come from Parse.
func Resolve(base *url.URL, ref string) (*url.URL, error) {
	if !readable(ref) {
		return nil, blocked(turn.CodeInvalidTarget)
	}
	u, err := base.Parse(ref)
	if err != nil {
		return nil, blocked(turn.CodeInvalidTarget)
	}
	return Parse(u.String())
}

// Host returns the canonical form of a bare host name, as in allow and deny lists: lower-case ASCII, at least two
// labels, no port. The error is a *[Error].
func Host(raw string) (string, error) {
	if !readable(raw) {
		return "", blocked(turn.CodeInvalidTarget)
	}
	// IDNA would refuse a colon, too, but addresses are not left to its rules for letters.
	if _, err := netip.ParseAddr(raw); err == nil {
		return "", blocked(turn.CodeInvalidTarget)
	}
	host := strings.TrimSuffix(raw, ".")
	if plain(host) {
		return host, checkName(host)
	}
	host, err := hosts.ToASCII(host)
	if err != nil {
		return "", blocked(turn.CodeInvalidTarget)
	}
	// Some names map to a name that maps to something else; nobody can say which of them was checked.
	if again, err := hosts.ToASCII(host); err != nil || again != host {
		return "", blocked(turn.CodeInvalidTarget)
	}
	return host, checkName(host)
}

// plain reports whether host is so ordinary that IDNA would return it as it is, which it takes its time to find out.
func plain(host string) bool {
	if len(host) > 253 {
		return false
	}
	label := 0
	for i := range len(host) {
		switch c := host[i]; {
		case c == '.' && label > 0:
			label = 0
			continue
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '-':
		default:
			return false
		}
		if label++; label > 63 || label == 4 && host[i-3:i+1] == "xn--" {
			return false
		}
	}
	return label > 0
}

// checkName applies the rules for canonical names. A last label that starts with a digit is some spelling of an
// IPv4 address or nothing: no top-level domain does.
func checkName(host string) error {
	last := host[strings.LastIndexByte(host, '.')+1:]
	if last == "" || '0' <= last[0] && last[0] <= '9' {
		return blocked(turn.CodeInvalidTarget)
	}
	if len(last) == len(host) || hasSuffix(localSuffixes, host) {
		return blocked(turn.CodeDeniedHost)
	}
	return nil
}

// hasSuffix reports whether host, or one of the domains it is in, is in names.
func hasSuffix(names map[string]bool, host string) bool {
	for ; host != ""; _, host, _ = strings.Cut(host, ".") {
		if names[host] {
			return true
		}
	}
	return false
}

// hostPort canonicalises the authority of a URL and drops the scheme's default port.
func hostPort(scheme, authority string) (string, error) {
	name, port, hasPort := strings.Cut(authority, ":")
	host, err := Host(name)
	if err != nil {
		// "[::1]" is cut at its first colon, and a bracket is no letter of a name.
		return "", err
	}
	switch {
	case !hasPort, scheme == "http" && port == "80", scheme == "https" && port == "443":
		return host, nil
	case port == "80" || port == "443":
		return host + ":" + port, nil
	case port == "":
		return "", blocked(turn.CodeInvalidTarget)
	}
	return "", blocked(turn.CodeDeniedPort)
}

// readable reports whether s is at most maxURL bytes of valid UTF-8 without controls, spaces or backslashes, which
// parsers drop, encode or read as slashes, each in its own way.
func readable(s string) bool {
	if len(s) > maxURL || !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if r <= 0x20 || r == '\\' || 0x7f <= r && r <= 0x9f {
			return false
		}
	}
	return true
}

// encodedAuthority reports whether the authority of raw holds percent-encoding, which some parsers decode.
func encodedAuthority(raw string) bool {
	_, rest, _ := strings.Cut(raw, "//")
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	return strings.Contains(rest, "%")
}

// escapeQuery encodes what the URL standard encodes in the query of an http URL: net/url passes it through.
// https://url.spec.whatwg.org/#special-query-percent-encode-set
func escapeQuery(q string) string {
	if !strings.ContainsFunc(q, escaped) {
		return q
	}
	var b strings.Builder
	for _, c := range []byte(q) {
		if escaped(rune(c)) {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

func escaped(r rune) bool { return r >= 0x80 || r == '"' || r == '<' || r == '>' || r == '\'' }
