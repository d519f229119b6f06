package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bwmarrin/discordgo"

	"familiar/internal/context/turn"
	"familiar/internal/discord/rest"
)

// starts keeps the IDENTIFYs of all shards within Discord's limits. There may be 1,000 a day, after which Discord resets the token, and one
// in each bucket in five seconds. A shard's bucket is its number modulo max_concurrency.
// https://discord.com/developers/docs/events/gateway#sharding-max-concurrency
type starts struct {
	turn    chan struct{} // holds one token; who has it owns the fields up to buckets
	told    discordgo.GatewayBotResponse
	err     error            // why it did not answer; nil: it did
	left    int              // IDENTIFYs of the day that are not reserved
	buckets []chan time.Time // each holds when the latest IDENTIFY in it was sent, unless a shard is about to send one

	asked atomic.Int64 // how often Discord was asked

	mu       sync.Mutex
	reserved int       // IDENTIFYs that are not sent yet; guarded by mu, as is all that follows
	latest   time.Time // when the latest IDENTIFY was sent, in any bucket
	chosen   int       // number of shards that the operator chose; 0: Discord's
	least    int       // number of shards; Discord has refused fewer
}

func newStarts(chosen int) *starts {
	s := &starts{turn: make(chan struct{}, 1), chosen: chosen}
	s.turn <- struct{}{}
	return s
}

// slot is a reserved IDENTIFY. A shard that begins no session has nil.
type slot struct {
	starts *starts
	bucket chan time.Time
	number int // of the bucket
	left   int // IDENTIFYs that Discord still allows
	reset  time.Duration
	ready  bool      // no other shard may send one in this bucket
	last   time.Time // when the latest one in the bucket was sent; set if ready
}

// wait waits until the IDENTIFY may be sent.
func (p *slot) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case p.last = <-p.bucket:
		p.ready = true
		return rest.Sleep(ctx, time.Until(p.last.Add(identifyGap)))
	}
}

// sent notes that the IDENTIFY is sent.
func (p *slot) sent() {
	if p == nil {
		return
	}
	p.last = time.Now()
	p.starts.sent(p.last)
	p.free()
}

// free gives the slot back, unless that has been done.
func (p *slot) free() {
	if p == nil || p.bucket == nil {
		return
	}
	p.starts.mu.Lock()
	p.starts.reserved--
	p.starts.mu.Unlock()
	if p.ready {
		p.bucket <- p.last
	}
	p.bucket = nil
}

// permission asks for the gateway's address. For a new session it also waits until an IDENTIFY is allowed, and sets slot.
func (s *Shard) permission(ctx context.Context) (address string, err error) {
	for {
		wait, err := s.reserve(ctx)
		switch {
		case err != nil:
			return "", err
		case wait == 0 && s.slot == nil:
			return s.gateway, nil
		case wait == 0:
			if err = s.slot.wait(ctx); err == nil {
				err = s.Holder.Identify(ctx, s.slot.number, s.slot.left, s.slot.reset)
			}
			return s.gateway, err
		}
		s.Log.Error("no session may be begun until the daily limit is reset", "wait", wait)
		s.note(func(h *turn.Shard) { h.Trouble = "the daily limit of sessions is used up" })
		if err := rest.Sleep(ctx, wait); err != nil {
			return "", err
		}
	}
}

// reserve asks Discord for the gateway's address, unless another shard gets an answer while this one waits for its turn.
// For a new session it reserves one of the day's IDENTIFYs. If none is left, it returns how long to wait.
func (s *Shard) reserve(ctx context.Context) (wait time.Duration, err error) {
	a := s.starts
	before := a.asked.Load()
	if !s.began { // it takes what another shard of its set was told, even before this one came to ask
		before, s.began = s.set.asked, true
	}
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-a.turn:
		defer func() { a.turn <- struct{}{} }()
	}
	if a.asked.Load() == before {
		a.told, a.err = s.Ask(ctx)
		a.learn()
		a.asked.Add(1)
	}
	if a.err != nil {
		return 0, a.err
	}
	if s.gateway = a.told.URL; s.id != "" {
		return 0, nil
	}
	if err := s.checkNumber(a.number()); err != nil {
		return 0, err
	}
	limit := a.told.SessionStartLimit
	if limit.Total > 0 && a.left <= 0 {
		return max(time.Duration(limit.ResetAfter)*time.Millisecond, firstRetry), nil
	}
	a.left--
	a.mu.Lock()
	a.reserved++
	a.mu.Unlock()
	n := s.number % len(a.buckets)
	s.slot = &slot{starts: a, bucket: a.buckets[n], number: n, left: limit.Remaining, reset: time.Duration(limit.ResetAfter) * time.Millisecond}
	return 0, nil
}

// Ask asks Discord where the gateway is, and what it allows.
// https://discord.com/developers/docs/events/gateway#get-gateway-bot
func (g *Gateway) Ask(ctx context.Context) (told discordgo.GatewayBotResponse, err error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	body, err := g.REST.Call(ctx, rest.Request{Method: http.MethodGet, URL: discordgo.EndpointGatewayBot})
	if err != nil {
		return told, fmt.Errorf("ask for the gateway: %w", err)
	}
	if err := json.Unmarshal(body, &told); err != nil || told.URL == "" {
		return told, errors.New("ask for the gateway: the response has no address")
	}
	return told, nil
}

// learn computes what follows from Discord's answer. The caller has the turn.
func (a *starts) learn() {
	if a.err != nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.left = a.told.SessionStartLimit.Remaining - a.reserved
	if n := max(1, a.told.SessionStartLimit.MaxConcurrency); n != len(a.buckets) {
		a.buckets = make([]chan time.Time, n)
		for i := range a.buckets {
			a.buckets[i] = make(chan time.Time, 1)
			a.buckets[i] <- a.latest
		}
	}
}

// sent notes that an IDENTIFY was sent at a time, by this process or an earlier one.
func (a *starts) sent(at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.latest = later(a.latest, at)
}

// chosenNumber returns how many shards the operator chose, or 0.
func (a *starts) chosenNumber() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.chosen
}

// number returns how many shards the bot needs by what Discord says and the operator chose. The caller has the turn.
func (a *starts) number() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.chosen > 0 {
		return a.chosen
	}
	return max(1, a.told.Shards, a.least)
}

// checkNumber returns an error if a set that has no session yet has the wrong number of shards. A set that has sessions
// grows while they go on.
func (s *Shard) checkNumber(want int) error {
	switch {
	case s.shared():
		if want > s.set.of {
			s.Log.Warn("Discord recommends more shards: stop all processes and start them again", "shards", s.set.of, "recommended", want)
		}
	case want != s.set.of && !s.set.begun.Load():
		return wrongNumber{want}
	case want > s.set.of:
		select {
		case s.grow <- want:
		default:
		}
	}
	return nil
}

// refused notes that Discord has refused the number of shards with a close code. It returns the number that is needed, or 0 if none is
// known.
func (a *starts) refused(code, of int) (want int) {
	<-a.turn
	defer func() { a.turn <- struct{}{} }()
	a.mu.Lock()
	if a.chosen == of {
		a.chosen = 0
	}
	if code == tooFewShards {
		a.least = 2 * of
	}
	a.mu.Unlock()
	if want = a.number(); want == of {
		return 0
	}
	return want
}
