package guard

import "golang.org/x/net/publicsuffix"

// Registered returns the part of a canonical host that somebody registered, as [Registrable] does, and false where
// nobody did: the host is itself a public suffix, or no name.
func Registered(host string) (domain string, ok bool) {
	domain, err := publicsuffix.EffectiveTLDPlusOne(host)
	return domain, err == nil
}
