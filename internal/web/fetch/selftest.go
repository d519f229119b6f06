package fetch

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"

	"familiar/internal/context/turn"
)

// Trial is the result of [Fetcher.Try].
type Trial struct {
	Reason turn.Code // why the page was refused; [turn.CodeConnect] if it was not
	Dialed []string  // the addresses that would have been connected to
}

// Try reads a page up to the point of connecting: it sends nothing and looks up no name. It uses f's guard, with the
// operator's denied addresses and this machine's own. Each lookup of the page's name returns the next of answers, and
// then the last one again. robots.txt is not read, and nothing is kept.
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
		return Trial{}, errors.New("try page: a page was read without a connection")
	}
	return Trial{Reason: refused.Reason, Dialed: wire.dialed()}, ctx.Err()
}

// Resolve looks up a name as for a page. The addresses are not checked.
func (f *Fetcher) Resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	return f.config.Resolver.LookupNetIP(ctx, "ip", host+".")
}

// script is a resolver with prepared answers.
type script struct {
	mu      sync.Mutex
	answers [][]netip.Addr // guarded by mu
}

func (s *script) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.answers) == 0 {
		return nil, errors.New("name not found")
	}
	answer := s.answers[0]
	if len(s.answers) > 1 {
		s.answers = s.answers[1:]
	}
	return answer, nil
}

// dry is a dialer that asks the guard, as [net.Dialer] does, but never connects.
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
	return nil, errors.New("this dialer never connects")
}

func (d *dry) dialed() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.passed
}
