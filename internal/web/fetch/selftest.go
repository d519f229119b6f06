package fetch

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"

	"familiar/internal/context/turn"
)

// Trial is what became of a page that was only tried.
type Trial struct {
	Reason turn.Code // why it was refused; [turn.CodeConnect] where it was not
	Dialed []string  // the addresses that would have been connected to
}

// Try goes the whole way to a page but for the connection itself: nothing is sent, and no name is asked for. The guard is f's own, with what
// the operator denies and what this machine's addresses are. Each look-up of the page's name gets the next of answers, and the last one ever
// after. robots.txt is not asked for, and nothing is kept.
func (f *Fetcher) Try(ctx context.Context, rawURL string, answers ...[]netip.Addr) (Trial, error) {
	names := &script{answers: answers}
	wire := &dry{fetcher: f}
	c := Config{UserAgent: f.config.UserAgent, Resolver: names, Dial: wire.dial, HumanSkipsRobots: true, CacheBytes: -1, Now: f.config.Now}
	trial, err := newFetcher(c, f.limits)
	if err != nil {
		return Trial{}, err
	}
	defer trial.Close()
	trial.guard = f.guard
	_, err = trial.Fetch(ctx, rawURL, Options{Human: true})
	var refused *Error
	if !errors.As(err, &refused) {
		return Trial{}, errors.New("try a page: no connection was made, and yet there is a page")
	}
	return Trial{Reason: refused.Reason, Dialed: wire.dialed()}, ctx.Err()
}

// Resolve asks for the addresses of a name as a page's is asked for. None of them has been checked.
func (f *Fetcher) Resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	return f.config.Resolver.LookupNetIP(ctx, "ip", host+".")
}

// script is a DNS with prepared answers.
type script struct {
	mu      sync.Mutex
	answers [][]netip.Addr // guarded by mu
}

func (s *script) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.answers) == 0 {
		return nil, errors.New("no such name")
	}
	answer := s.answers[0]
	if len(s.answers) > 1 {
		s.answers = s.answers[1:]
	}
	return answer, nil
}

// dry is a dialer that asks the guard as [net.Dialer] does and connects to nothing.
type dry struct {
	fetcher *Fetcher
	mu      sync.Mutex
	passed  []string // guarded by mu
}

func (d *dry) dial(_ context.Context, _, address string) (net.Conn, error) {
	network := "tcp4"
	if ap, err := netip.ParseAddrPort(address); err == nil && ap.Addr().Is6() {
		network = "tcp6"
	}
	if err := d.fetcher.guard.Control(network, address, nil); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.passed = append(d.passed, address)
	return nil, errors.New("nothing is connected to")
}

func (d *dry) dialed() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.passed
}
