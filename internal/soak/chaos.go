package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"familiar/internal/discordtest"
	"familiar/internal/llm/llmtest"
)

// chaos is everything that goes wrong at random.
type chaos struct {
	stage *stage

	mu     sync.Mutex
	random *rand.Rand     // guarded by mu
	struck map[string]int // by kind; guarded by mu
	cuts   []gap          // in which the gateway was disturbed; guarded by mu
}

func newChaos(s *stage) *chaos {
	return &chaos{stage: s, random: rand.New(rand.NewPCG(s.opt.seed, 2)), struck: map[string]int{}}
}

// below returns a random number below n.
func (c *chaos) below(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.random.IntN(n)
}

func (c *chaos) between(least, most time.Duration) time.Duration {
	return least + time.Duration(c.below(int(most-least)))
}

func (c *chaos) strike(kind string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.struck[kind]++
	fmt.Fprintf(c.stage.log, "%s the driver: %s\n", time.Now().Format(time.StampMilli), kind)
}

// run lets something go wrong between Discord and the program every few seconds.
func (c *chaos) run(ctx context.Context) {
	for wait(ctx, c.between(time.Second, 10*time.Second)) == nil {
		if c.below(10) < 8 {
			c.rest()
		} else {
			c.gateway(ctx)
		}
	}
	c.stage.discord.ClearFaults()
}

const cloudflare = "429 of Cloudflare"

// rest has some requests fail. Answers to interactions are spared: they have three seconds, and nobody sends them twice.
func (c *chaos) rest() {
	route := []string{"POST channels/*/messages", "PATCH channels/*/messages/*", "POST channels/*/typing", "GET channels/*/messages"}[c.below(4)]
	times, short := 1+c.below(3), c.between(300*time.Millisecond, 3*time.Second)
	failures := map[string]discordtest.Fault{
		"429 of a route":                   discordtest.TooMany(route, times, short),
		"429 of a limit that is shared":    discordtest.Shared(route, times, short),
		"429 over all routes":              discordtest.Global(route, 1, short),
		cloudflare:                         discordtest.Cloudflare(route, 1, 1+c.below(3)),
		"500":                              {Route: route, Times: times, Status: http.StatusInternalServerError},
		"502 of a request that had effect": {Route: route, Times: times, Status: http.StatusBadGateway, After: true},
		"503":                              {Route: route, Times: times, Status: http.StatusServiceUnavailable, Body: "upstream connect error"},
		"a request cut":                    {Route: route, Times: times, Cut: true},
		"a request cut that had effect":    {Route: route, Times: times, Cut: true, After: true},
		"a slow request":                   {Route: route, Times: times, Delay: c.between(500*time.Millisecond, 13*time.Second)},
	}
	kind := slices.Sorted(maps.Keys(failures))[c.below(len(failures))]
	c.strike(kind)
	c.stage.discord.Fail(failures[kind])
	if kind == cloudflare { // which stands before everything
		c.disturbed(time.Now(), time.Now())
	}
}

// gateway disturbs the connection to the gateway, or all of the network to Discord.
func (c *chaos) gateway(ctx context.Context) {
	discord := c.stage.discord
	faults := []struct {
		kind string
		do   func()
	}{
		{"gateway cut", func() { discord.Drop(0) }},
		{"gateway closed with 4000", func() { discord.Drop(4000) }},
		{"gateway closed with 4009: a new session", func() { discord.Forget(); discord.Drop(4009) }},
		{"op 7", discord.Reconnect},
		{"op 9, to be resumed", func() { discord.Invalidate(true); discord.Drop(0) }},
		{"op 9, not to be resumed", func() { discord.Forget(); discord.Invalidate(false) }},
		{"RESUME refused: a new session", func() { discord.Forget(); discord.Drop(0) }},
		{"heartbeats unanswered", func() {
			discord.MuteAcks(true)
			_ = wait(ctx, 3*heartbeat)
			discord.MuteAcks(false)
		}},
		{"no network to Discord, short", func() { c.away(ctx, c.between(300*time.Millisecond, 3*time.Second)) }},
		{"no network to Discord, long", func() { c.away(ctx, c.between(10*time.Second, 30*time.Second)) }},
	}
	fault := faults[c.below(len(faults))]
	c.strike(fault.kind)
	began := time.Now()
	fault.do()
	c.disturbed(began, time.Now())
}

func (c *chaos) disturbed(from, to time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cuts = append(c.cuts, gap{from, to})
}

func (c *chaos) away(ctx context.Context, span time.Duration) {
	c.stage.discord.CutOff()
	_ = wait(ctx, span)
	if err := c.stage.discord.Reopen(); err != nil {
		c.stage.complain("the driver works", "%v", err)
	}
}

// model returns what goes wrong with one of twenty answers, or nil.
func (c *chaos) model(answer string) llmtest.Reply {
	if c.below(20) > 0 {
		return nil
	}
	half := []llmtest.Step{llmtest.Gap(45 * time.Millisecond), llmtest.Say(answer[:len(answer)/2])}
	faults := []struct {
		kind  string
		reply llmtest.Reply
	}{
		{"model: connection cut before a word", llmtest.Reply{llmtest.Cut()}},
		{"model: refused", llmtest.Reply{llmtest.Error(http.StatusServiceUnavailable, "")}},
		{"model: refused for good", llmtest.Reply{llmtest.Error(http.StatusForbidden, "")}},
		{"model: 429", llmtest.RateLimit("1")},
		{"model: hangs", llmtest.Reply{llmtest.Hold()}},
		{"model: hangs in the middle", append(half[:2:2], llmtest.Hold())},
		{"model: cut in the middle", append(half[:2:2], llmtest.Cut())},
		{"model: ends in the middle", append(half[:2:2], llmtest.End())},
		{"model: a web page", llmtest.Reply{llmtest.HTML()}},
		{"model: garbage", llmtest.Reply{llmtest.Raw(`data: {"choices":[{"delta":`), llmtest.End()}},
		{"model: an empty answer", llmtest.Empty()},
	}
	fault := faults[c.below(len(faults))]
	c.strike(fault.kind)
	return fault.reply
}

// calm reports whether the gateway was not disturbed around a moment, nor the program ended.
func (c *chaos) calm(at time.Time) bool {
	const margin = 6 * time.Second // also for a new session
	c.mu.Lock()
	defer c.mu.Unlock()
	return !slices.ContainsFunc(slices.Concat(c.cuts, c.stage.gaps), func(g gap) bool {
		return at.After(g.from.Add(-margin)) && (g.to.IsZero() || at.Before(g.to.Add(margin)))
	})
}

// note notes what went wrong how often.
func (c *chaos) note() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, kind := range slices.Sorted(maps.Keys(c.struck)) {
		c.stage.note("fault: "+kind, "%d", c.struck[kind])
	}
}
