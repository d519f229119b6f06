package guard

import (
	"net/url"
	"slices"
	"strings"
)

// tracking are query parameters that say where a visitor came from and never which page is meant. Names that begin
// with utm_ are tracking too.
var tracking = set("fbclid", "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "msclkid", "yclid", "twclid", "ttclid",
	"igshid", "igsh", "mc_cid", "mc_eid", "_hsenc", "_hsmi", "srsltid")

// Canonical returns the form in which URLs are compared, and whether raw is a URL at all by the rules of [Parse]. Two
// URLs with one form are one request to any server, so it is safe to say by it where a URL came from.
// Beyond Parse it drops tracking parameters and an empty query, and writes percent-encoding in one way
// (RFC 3986 §6.2.2). The order of parameters is kept: servers may mind it. Canonical is a fixed point.
func Canonical(raw string) (string, bool) {
	u, err := Parse(raw)
	if err != nil {
		return "", false
	}
	path := FoldEscapes(u.EscapedPath())
	query := withoutTracking(FoldEscapes(u.RawQuery))
	s := u.Scheme + "://" + u.Host + path
	if query != "" {
		s += "?" + query
	}
	if path == u.EscapedPath() {
		return s, true
	}
	// An unfolded path may have become one with dot segments.
	u, err = Parse(s)
	if err != nil {
		return "", false
	}
	return u.String(), true
}

// DedupeKey returns a form that pages share which are the same by all likelihood, and whether raw is a URL. Beyond
// [Canonical] it sorts parameters by name, and takes an escaped blank in the query for a plus sign, as forms write it:
// a server may tell such URLs apart, though hardly any does. Use it to drop a double, never to allow anything.
// DedupeKey is a fixed point.
func DedupeKey(raw string) (string, bool) {
	canonical, ok := Canonical(EncodeBlanks(raw))
	if !ok {
		return "", false
	}
	address, query, ok := strings.Cut(canonical, "?")
	if !ok {
		return canonical, true
	}
	parameters := strings.Split(strings.ReplaceAll(query, "%20", "+"), "&")
	slices.SortStableFunc(parameters, func(a, b string) int {
		a, _, _ = strings.Cut(a, "=")
		b, _, _ = strings.Cut(b, "=")
		return strings.Compare(a, b)
	})
	return address + "?" + strings.Join(parameters, "&"), true
}

// EncodeBlanks does with the blanks of raw what the URL standard does: those around it go, those inside become %20. Parse
// refuses them, since a person's URL ends at a blank; what a search backend returns in a field of its own does not.
func EncodeBlanks(raw string) string {
	return strings.ReplaceAll(strings.Trim(raw, " "), " ", "%20")
}

func withoutTracking(query string) string {
	if query == "" {
		return ""
	}
	kept := make([]string, 0, 8)
	for p := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(p, "=")
		name = strings.ToLower(name)
		if !tracking[name] && !strings.HasPrefix(name, "utm_") && p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, "&")
}

// FoldEscapes decodes escapes of unreserved characters and writes all others in upper case (RFC 3986
// §6.2.2).
func FoldEscapes(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c, err := url.PathUnescape(s[i:min(i+3, len(s))])
		switch {
		case s[i] != '%' || err != nil:
			b.WriteByte(s[i])
			continue
		case unreserved(c[0]) && !halfEscape(b.String()):
			b.WriteByte(c[0])
		default:
			b.WriteString(strings.ToUpper(s[i : i+3]))
		}
		i += 2
	}
	return b.String()
}

// halfEscape reports whether s ends in the beginning of an escape, which the next character would make one: "%4" before
// "%41".
func halfEscape(s string) bool {
	return strings.Contains(s[max(0, len(s)-2):], "%")
}

func unreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0
}
