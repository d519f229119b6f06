package main

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"

	"familiar/internal/web/fetch"
	"familiar/internal/web/guard"

	"golang.org/x/net/idna"
)

type guardRow struct {
	Kind, Value string
	DNS         map[string][]string
}

// predictGuard predicts {"blocked"}: whether no connection is opened. A URL is given to a fetcher whose names are the
// row's and whose first connection is the end of it; an address is given to the guard of every connection.
func predictGuard(ctx context.Context, _ fs.FS, row guardRow) (prediction, error) {
	if row.Kind == "ip" {
		addr, err := netip.ParseAddr(row.Value)
		return prediction{"blocked": err != nil || new(guard.Guard).Check(addr) != nil}, nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var dialled atomic.Bool
	f, err := fetch.New(fetch.Config{Resolver: rowNames(row.DNS), Dial: func(context.Context, string, string) (net.Conn, error) {
		dialled.Store(true)
		cancel()
		return nil, errors.New("nothing is connected in an evaluation")
	}})
	if err != nil {
		return nil, err
	}
	_, err = f.Fetch(ctx, row.Value, fetch.Options{Human: true})
	f.Close()
	got := prediction{"blocked": !dialled.Load()}
	if e, ok := errors.AsType[*fetch.Error](err); ok && !dialled.Load() {
		got["reason"] = e.Reason
	}
	return got, nil
}

// rowNames is a DNS: names and their addresses. Other names do not exist.
type rowNames map[string][]string

func (n rowNames) LookupNetIP(_ context.Context, network, host string) ([]netip.Addr, error) {
	var found []netip.Addr
	for _, text := range n[strings.TrimSuffix(host, ".")] {
		addr, err := netip.ParseAddr(text)
		if err == nil && (network == "ip" || network == "ip4" && addr.Is4() || network == "ip6" && addr.Is6()) {
			found = append(found, addr)
		}
	}
	if found == nil {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return found, nil
}

type urlRow struct{ Input string }

// predictURL predicts {"ok", "host"}: whether it is the URL of a public page, and whose.
func predictURL(_ context.Context, _ fs.FS, row urlRow) (prediction, error) {
	u, err := guard.Parse(row.Input)
	if err != nil {
		return prediction{"ok": false}, nil
	}
	return prediction{"ok": true, "host": u.Hostname()}, nil
}

type canonRow struct{ Input, Output string }

// predictCanon predicts {"output"}: the form in which doubles are found, null for what is no URL by the rules. Where the
// row has another writing of the same page, "collides" says whether both have one form, or none.
func predictCanon(_ context.Context, _ fs.FS, row canonRow) (prediction, error) {
	got := prediction{"output": nil}
	key, ok := guard.DedupeKey(row.Input)
	if ok {
		got["output"] = key
	}
	if row.Output != "" {
		other, too := guard.DedupeKey(row.Output)
		got["collides"] = ok == too && other == key
	}
	return got, nil
}

type hostRow struct{ Host string }

// predictRegistrable predicts {"registrable"}: the domain that somebody registered, written as the host was; null
// where there is none.
func predictRegistrable(_ context.Context, _ fs.FS, row hostRow) (prediction, error) {
	host, err := guard.Host(row.Host)
	if err != nil { // not public, as example names are, or no name at all
		host = strings.ToLower(row.Host)
	}
	domain, ok := guard.Registered(host)
	if !ok {
		return prediction{"registrable": nil}, nil
	}
	if strings.ContainsFunc(row.Host, func(r rune) bool { return r > 0x7f }) {
		if domain, err = idna.ToUnicode(domain); err != nil {
			return nil, err
		}
	}
	return prediction{"registrable": domain}, nil
}

type robotsRow struct{ Robots, Agent, URL string }

// predictRobots predicts {"allowed"}: whether the rules let the agent ask for the address, as it is written.
func predictRobots(_ context.Context, _ fs.FS, row robotsRow) (prediction, error) {
	_, rest, ok := strings.Cut(row.URL, "://")
	if !ok {
		return nil, errors.New("the address is not absolute")
	}
	target, _, _ := strings.Cut(strings.TrimLeftFunc(rest, inHost), "#")
	if !strings.HasPrefix(target, "/") {
		target = "/" + target
	}
	return prediction{"allowed": fetch.ParseRobots([]byte(row.Robots), row.Agent).Allows(target)}, nil
}

func inHost(r rune) bool { return r != '/' && r != '?' && r != '#' }
