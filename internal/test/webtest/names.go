package webtest

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/txtar"
)

// names is the web's DNS.
type names struct {
	mu    sync.Mutex
	next  netip.Addr          // the next name's own address
	m     map[string][]string // answers to lookups in order, by lower-case name without a final dot
	asked map[string]int
}

func readNames(ar *txtar.Archive) (*names, error) {
	n := &names{next: netip.MustParseAddr("93.184.215.1"), m: make(map[string][]string), asked: make(map[string]int)}
	for _, f := range ar.Files {
		if f.Name != "dns" {
			continue
		}
		for line := range strings.Lines(string(f.Data)) {
			words := strings.Fields(line)
			if len(words) == 0 {
				continue
			}
			if len(words) == 1 {
				return nil, fmt.Errorf("dns: %s has no answer", words[0])
			}
			for _, a := range words[1:] {
				if _, err := parseAnswer(a); err != nil {
					return nil, fmt.Errorf("dns: %s: %w", words[0], err)
				}
			}
			n.m[words[0]] = words[1:]
		}
	}
	return n, nil
}

// parseAnswer returns the addresses of an answer, or none if it is a word.
func parseAnswer(s string) ([]netip.Addr, error) {
	switch s {
	case "nxdomain", "empty", "fail", "hang":
		return nil, nil
	}
	var addrs []netip.Addr
	for part := range strings.SplitSeq(s, ",") {
		a, err := netip.ParseAddr(part)
		if err != nil {
			return nil, err
		}
		addrs = append(addrs, a)
	}
	return addrs, nil
}

// add gives host an address if it has none.
func (n *names) add(host string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, ok := n.m[host]; !ok {
		n.m[host] = []string{n.next.String()}
		n.next = n.next.Next()
	}
}

func (n *names) count(host string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.asked[host]
}

func (n *names) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	answer := n.take(host)
	switch answer {
	case "nxdomain":
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	case "fail":
		return nil, &net.DNSError{Err: "server misbehaving", Name: host, IsTemporary: true}
	case "hang":
		<-ctx.Done()
		return nil, &net.DNSError{Err: "i/o timeout", Name: host, IsTimeout: true}
	}
	return parseAnswer(answer)
}

// take returns the next answer for host.
func (n *names) take(host string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked[host]++
	answers := n.m[host]
	if len(answers) == 0 {
		return "nxdomain"
	}
	if len(answers) > 1 {
		n.m[host] = answers[1:]
	}
	return answers[0]
}
