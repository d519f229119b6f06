package clean

import (
	"fmt"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"familiar/internal/context/turn"
	"familiar/internal/text"
)

// Refusal says why a URL or an address is refused. It never contains an address, a host or any other part of the target. So it may be shown to anybody. A Refusal is
// comparable by its fields.
type Refusal struct {
	Code   turn.Code // [turn.CodeBlockedURL] or [turn.CodeUnsupportedScheme]
	Reason turn.Code // finer code
}

func (e *Refusal) Error() string {
	if e.Reason == turn.CodeFakeIP {
		return string(e.Code) + ": DNS is answered by a proxy tool in fake-IP mode: exempt this program from it"
	}
	return string(e.Code) + ": " + strings.ReplaceAll(string(e.Reason), "_", " ")
}

func Refuse(reason turn.Code) *Refusal { return &Refusal{Code: turn.CodeBlockedURL, Reason: reason} }

// maxURL is the greatest length of a URL before and after normalisation, in bytes.
const maxURL = 2048

// hosts is the lookup profile of IDNA (UTS #46): mapped, non-transitional, with STD3, bidi and length rules. Like
// browsers, it allows hyphens in the third and fourth place, because real hosts have them.
var hosts = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.BidiRule(),
	idna.VerifyDNSLength(true), idna.CheckHyphens(false))

// localSuffixes are names outside the public internet. They are special-use names (RFC 6761, RFC 8375, RFC 7686, RFC 9476) and suffixes of
// local networks. Names of cloud metadata services are among them.
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

// ParseURL returns the canonical URL for raw, or a *[Refusal]. The result is absolute, uses http or https, and has at most
// 2,048 bytes. It has no user, fragment or default port. Its host is a public name in lower-case ASCII and never an
// address. Its path begins with a slash and has no dot segments. ParseURL is idempotent: ParseURL(u.String()) is u, so the URL
// that was checked is the one that is dialled and recorded.
//
// What two parsers could read differently is refused, not repaired.
func ParseURL(raw string) (*url.URL, error) {
	if !readable(raw) {
		return nil, Refuse(turn.CodeInvalidTarget)
	}
	u, err := url.Parse(raw)
	if err != nil || u.Scheme == "" {
		return nil, Refuse(turn.CodeInvalidTarget)
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return nil, &Refusal{Code: turn.CodeUnsupportedScheme, Reason: turn.CodeBadScheme}
	}
	if u.Opaque != "" || u.Host == "" || u.User != nil || encodedAuthority(raw) {
		return nil, Refuse(turn.CodeInvalidTarget)
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
	// Encoding at most triples a byte, and a host has at most 253. So only long URLs must be written out to be measured.
	if 3*len(raw)+300 > maxURL && len(out.String()) > maxURL {
		return nil, Refuse(turn.CodeInvalidTarget)
	}
	return out, nil
}

// ResolveURL is [ParseURL] for a reference found at base, such as a Location header. base must be a result of ParseURL.
func ResolveURL(base *url.URL, ref string) (*url.URL, error) {
	if !readable(ref) {
		return nil, Refuse(turn.CodeInvalidTarget)
	}
	u, err := base.Parse(ref)
	if err != nil {
		return nil, Refuse(turn.CodeInvalidTarget)
	}
	return ParseURL(u.String())
}

// Host returns the canonical form of a host name, as in allow and deny lists. It is lower-case ASCII with at least two labels and no port.
// The error is a *[Refusal].
func Host(raw string) (string, error) {
	if !readable(raw) {
		return "", Refuse(turn.CodeInvalidTarget)
	}
	// IDNA would also refuse a colon, but its rules are made for letters, not for addresses.
	if _, err := netip.ParseAddr(raw); err == nil {
		return "", Refuse(turn.CodeInvalidTarget)
	}
	host := strings.TrimSuffix(raw, ".")
	if isPlain(host) {
		return host, checkName(host)
	}
	host, err := hosts.ToASCII(host)
	if err != nil {
		return "", Refuse(turn.CodeInvalidTarget)
	}
	// Some names map to a name that maps to yet another, so it is unclear which one was checked.
	if again, err := hosts.ToASCII(host); err != nil || again != host {
		return "", Refuse(turn.CodeInvalidTarget)
	}
	return host, checkName(host)
}

// isPlain reports whether host is so simple that IDNA would return it unchanged. IDNA is slow.
func isPlain(host string) bool {
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

// checkName applies the rules for canonical names. If the last label begins with a digit, the name is an IPv4 address in some notation or
// invalid. No top-level domain begins with a digit.
func checkName(host string) error {
	last := host[strings.LastIndexByte(host, '.')+1:]
	if last == "" || '0' <= last[0] && last[0] <= '9' {
		return Refuse(turn.CodeInvalidTarget)
	}
	if len(last) == len(host) || hasSuffix(localSuffixes, host) {
		return Refuse(turn.CodeDeniedHost)
	}
	return nil
}

// hasSuffix reports whether names contains host or one of its parent domains.
func hasSuffix(names map[string]bool, host string) bool {
	for ; host != ""; _, host, _ = strings.Cut(host, ".") {
		if names[host] {
			return true
		}
	}
	return false
}

// hostPort normalises the authority of a URL and drops the scheme's default port.
func hostPort(scheme, authority string) (string, error) {
	name, port, hasPort := strings.Cut(authority, ":")
	host, err := Host(name)
	if err != nil {
		// "[::1]" is cut at its first colon, and a name contains no brackets.
		return "", err
	}
	switch {
	case !hasPort, scheme == "http" && port == "80", scheme == "https" && port == "443":
		return host, nil
	case port == "80" || port == "443":
		return host + ":" + port, nil
	case port == "":
		return "", Refuse(turn.CodeInvalidTarget)
	}
	return "", Refuse(turn.CodeDeniedPort)
}

// readable reports whether s is at most maxURL bytes of valid UTF-8 without control characters, spaces or backslashes.
// Parsers treat these differently: they drop them, encode them, or read them as slashes.
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

// encodedAuthority reports whether the authority of raw contains percent-encoding, which some parsers decode.
func encodedAuthority(raw string) bool {
	_, rest, _ := strings.Cut(raw, "//")
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	return strings.Contains(rest, "%")
}

// escapeQuery encodes what the URL standard encodes in the query of an http URL, because net/url does not.
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

// tracking are query parameters that say where a visitor came from and never select a page. Names that begin with utm_
// are also tracking.
var tracking = set("fbclid", "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "msclkid", "yclid", "twclid", "ttclid",
	"igshid", "igsh", "mc_cid", "mc_eid", "_hsenc", "_hsmi", "srsltid")

// Canonical returns the form in which URLs are compared. ok says whether raw is a URL by the rules of [ParseURL]. Two URLs with the same form
// are the same request to any server. So the form may identify where a URL came from. Compared with ParseURL, it removes tracking parameters
// and an empty query, and normalises percent-encoding (RFC 3986 §6.2.2). It keeps the order of parameters, because it may matter to
// servers. Canonical is idempotent.
func Canonical(raw string) (string, bool) {
	u, err := ParseURL(raw)
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
	// After FoldEscapes, a path may contain dot segments.
	u, err = ParseURL(s)
	if err != nil {
		return "", false
	}
	return u.String(), true
}

// DedupeKey returns a form in which URLs of the same page are most likely equal. It also returns whether raw is a URL. Compared with
// [Canonical], it sorts parameters by name. It treats an escaped space in the query as a plus sign, as forms do. A few servers distinguish
// such URLs. Use the key only to drop duplicates, never to allow anything. DedupeKey is idempotent.
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

// EncodeBlanks handles spaces in raw as the URL standard does: it trims outer ones and encodes inner ones as %20. ParseURL
// refuses them, because a URL in a person's text ends at a space. A search backend's URL has a field of its own.
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

// FoldEscapes decodes the escapes of unreserved characters and writes all others in upper case (RFC 3986 §6.2.2).
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

// halfEscape reports whether s ends with the beginning of an escape that the next character would complete: "%4" before
// "%41".
func halfEscape(s string) bool {
	return strings.Contains(s[max(0, len(s)-2):], "%")
}

func unreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0
}

// typed matches URLs as people type them, with or without a scheme.
var typed = text.NewLazyRegexp(`(?i)(?:\bhttps?://|\bwww\.)[^\s<>"“”„«»]+`)

// maxTyped is how many URLs of a text are returned.
const maxTyped = 20

// TypedURLs returns the URLs in a text as typed, without the punctuation of the sentence around them.
func TypedURLs(s string) []string {
	s = strings.ReplaceAll(s, "](", "] (") // a Markdown link that shows its own address
	all := typed.FindAllString(s, maxTyped)
	for i := range all {
		all[i] = trimPunctuation(all[i])
	}
	return all
}

// WithoutURLs returns a text with a space in place of each URL.
func WithoutURLs(s string) string { return typed.ReplaceAllString(s, " ") }

// trimPunctuation removes punctuation from the end of a URL, and brackets that it did not open.
func trimPunctuation(s string) string {
	for s != "" {
		r, size := utf8.DecodeLastRuneInString(s)
		last := string(r)
		opening := map[string]string{")": "(", "]": "[", "}": "{"}[last]
		unopened := opening != "" && strings.Count(s, last) > strings.Count(s, opening)
		if !unopened && !strings.Contains(`.,;:!?'*_~|…。、，；：！？）】」』؟،؛`, last) {
			break
		}
		s = s[:len(s)-size]
	}
	return s
}

// Fragment returns a URL's fragment with its "#", or "" if it has none or it is empty.
func Fragment(raw string) string {
	if _, fragment, _ := strings.Cut(raw, "#"); fragment != "" {
		return "#" + fragment
	}
	return ""
}

// unreadable are the extensions of files without text.
var unreadable = set(".gif", ".png", ".jpg", ".jpeg", ".webp", ".mp4", ".webm", ".mov", ".mp3", ".ogg", ".zip", ".exe")

// Unreadable reports whether a canonical URL has the extension of a file without text.
func Unreadable(canonical string) bool {
	u, err := url.Parse(canonical)
	return err == nil && unreadable[strings.ToLower(path.Ext(u.Path))]
}

// MessageLink is a link to a Discord message.
type MessageLink struct {
	Guild, Channel, Message string // ids; of a direct message there is no guild
	URL                     string // as typed
}

// messageLink matches the links of all Discord clients. A link into a direct message has "@me" in place of a server.
var messageLink = text.NewLazyRegexp(`https?://(?:(?:www|ptb|canary)\.)?discord(?:app)?\.com/channels/(\d{1,20}|@me)/(\d{1,20})/(\d{1,20})\b`)

// maxLinks is how many links of one message are followed.
const maxLinks = 5

// MessageLinks returns the messages that a text links to, each once.
func MessageLinks(s string) (all []MessageLink) {
	seen := map[string]bool{}
	for _, m := range messageLink.FindAllStringSubmatch(s, -1) {
		if !seen[m[3]] && len(all) < maxLinks {
			seen[m[3]] = true
			all = append(all, MessageLink{Guild: strings.TrimPrefix(m[1], "@me"), Channel: m[2], Message: m[3], URL: m[0]})
		}
	}
	return all
}

// MessageURL returns the address of a message.
func MessageURL(guildID, channelID, messageID string) string {
	return "https://discord.com/channels/" + guildID + "/" + channelID + "/" + messageID
}

// ChannelOf returns the channel id in the address of a message or channel, or "".
func ChannelOf(url string) string {
	if m := channelLink.FindStringSubmatch(url); m != nil {
		return m[1]
	}
	return ""
}

var channelLink = text.NewLazyRegexp(`^https://discord\.com/channels/\d{1,20}/(\d{1,20})(?:/\d{1,20})?$`)

// ShownHost returns the host and port of an address for display, or the address itself if it has none.
func ShownHost(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Host
	}
	return address
}
