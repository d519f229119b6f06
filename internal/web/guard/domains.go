package guard

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// Domains are an operator's allow and deny lists. A name in a list stands for itself and every name below it; deny
// wins; an empty allow list allows all. The zero value allows all. Domains is immutable and safe for concurrent use.
type Domains struct {
	allow, deny map[string]bool
	version     string
}

// NewDomains canonicalises both lists. An entry that is no plain host name is an error, which names it and its list:
// a list that is silently shorter than it looks protects nobody.
func NewDomains(allow, deny []string) (Domains, error) {
	d := Domains{}
	var err error
	if d.allow, err = domainSet("allow", allow); err != nil {
		return Domains{}, err
	}
	if d.deny, err = domainSet("deny", deny); err != nil {
		return Domains{}, err
	}
	if len(d.allow)+len(d.deny) > 0 {
		d.version = listVersion(d.allow, d.deny)
	}
	return d, nil
}

func domainSet(list string, names []string) (map[string]bool, error) {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		h, err := Host(n)
		if err != nil {
			return nil, fmt.Errorf("read %s list: %q is not a domain name such as example.org", list, n)
		}
		m[h] = true
	}
	return m, nil
}

func listVersion(allow, deny map[string]bool) string {
	lists := strings.Join(slices.Sorted(maps.Keys(allow)), " ") + "\n" + strings.Join(slices.Sorted(maps.Keys(deny)), " ")
	sum := sha256.Sum256([]byte(lists))
	return hex.EncodeToString(sum[:8])
}

// Allows reports whether host may be fetched. A host that is not a canonical public name is never allowed by lists
// that are not empty.
func (d Domains) Allows(host string) bool {
	if d.version == "" {
		return true
	}
	h, err := Host(host)
	if err != nil || hasSuffix(d.deny, h) {
		return false
	}
	return len(d.allow) == 0 || hasSuffix(d.allow, h)
}

// Version names the content of the lists: equal lists have equal versions, the zero value has "". It belongs in the
// key of anything that is remembered about what the lists allowed.
func (d Domains) Version() string { return d.version }

// Registrable returns the part of a canonical host that somebody registered, its public suffix and one label
// (publicsuffix.org): www.example.co.uk → example.co.uk. A host that is itself a suffix is returned as it is.
func Registrable(host string) string {
	if d, ok := Registered(host); ok {
		return d
	}
	return host
}

// Registered is [Registrable], and false where nobody registered a part: the host is itself a public suffix, or no name.
func Registered(host string) (domain string, ok bool) {
	domain, err := publicsuffix.EffectiveTLDPlusOne(host)
	return domain, err == nil
}
