package fetch

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// lifetime says for how long an answer with these headers may be used again: what the site says (RFC 9111 §4.2, as a
// cache that serves many people), usual if it says nothing, never more than most. 0 means not at all: nothing here asks
// a site whether an old answer still holds.
//
// "private" changes nothing. It keeps what is one visitor's from the next one; but every request is the same, without
// cookie or credential, so there is nobody whose page it could be.
func lifetime(h http.Header, now time.Time, usual, most time.Duration) time.Duration {
	d := directives(h)
	for _, never := range []string{"no-store", "no-cache"} {
		if _, ok := d[never]; ok {
			return 0
		}
	}
	// Every request is the same but for its address, so a Vary that names headers changes nothing.
	if strings.TrimSpace(h.Get("Vary")) == "*" {
		return 0
	}
	fresh := usual
	if value, ok := d["s-maxage"]; ok {
		fresh = seconds(value)
	} else if value, ok := d["max-age"]; ok {
		fresh = seconds(value)
	} else if h.Get("Expires") != "" {
		fresh = untilExpiry(h, now)
	}
	return min(max(0, fresh-seconds(h.Get("Age"))), most)
}

// directives reads Cache-Control, names in lower case. A directive that comes twice has its first value (RFC 9111 §4.2.1).
func directives(h http.Header) map[string]string {
	d := make(map[string]string)
	for part := range strings.SplitSeq(strings.Join(h.Values("Cache-Control"), ","), ",") {
		name, value, _ := strings.Cut(part, "=")
		name = strings.ToLower(strings.TrimSpace(name))
		if _, twice := d[name]; !twice {
			d[name] = strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	return d
}

// untilExpiry compares Expires with the site's own clock, if it tells the time. A date that cannot be read has passed.
func untilExpiry(h http.Header, now time.Time) time.Duration {
	expires, err := http.ParseTime(h.Get("Expires"))
	if err != nil {
		return 0
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	return expires.Sub(now)
}

// seconds reads a span in seconds: 0 if it is none, and 2³¹ for whatever is longer (RFC 9111 §1.2.2).
func seconds(s string) time.Duration {
	const most = 1 << 31
	s = strings.TrimSpace(s)
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return 0
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil { // too many digits
		n = most
	}
	return time.Duration(min(n, most)) * time.Second
}
