package websearch

import (
	"slices"
	"strings"
	"testing"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/web/clean"
)

func TestSimilarQueries(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"what is the height of Mount Everest", "What's the height of mount everest?", true},
		{"what is the exact height of Mount Everest", "what is the height of Mount Everest", true},
		{"what is the height of Mount Everest", "what is the height of Mount Elbrus", false},
		{"flights from oslo to rome", "flights from rome to oslo", false},
		{"is a dog faster than a cat", "is a cat faster than a dog", false},
		{"the population of paris", "the population of paris texas", false},
		{"the first president of argentina", "the first female president of argentina", false},
		{"what is the height of Mount Everest", "what is the weight of Mount Everest", false},
		{"who won the world cup in 2018", "who won the world cup in 2022", false},
		{"the best restaurants for dinner with children in berlin", "the best restaurants for dinner with children in bremen", false},
		{"what is the highest paid job in all of the world", "what is the lowest paid job in all of the world", false},
		{"when was the old town hall of Prague built", "where was the old town hall of Prague built", false},
		{"is the old town hall of Prague open", "is the old town hall of Prague not open", false},
		{"the news about the strike of the pilots today", "the news about the strike of the pilots tomorrow", false},
		{"события в москве сегодня", "события в казани сегодня", false},
		{"東京の天気", "大阪の天気", false},
		{"東京の天気", "東京の天気", true},
		{"ÜBER das Wetter auf dem Brocken", "über das wetter auf dem brocken", true},
	} {
		if got := similarQueries(tt.a, tt.b); got != tt.want || similarQueries(tt.b, tt.a) != tt.want {
			t.Errorf("%q and %q: %v", tt.a, tt.b, got)
		}
	}
}

func TestReuse(t *testing.T) {
	domains, err := clean.NewDomains(nil, []string{"old-atlas.net"})
	if err != nil {
		t.Fatal(err)
	}
	in := func(guild, text string) turn.Request {
		req := ask(text)
		req.GuildID, req.ChannelID = guild, "C"
		return req
	}
	for name, tt := range map[string]struct {
		change func(w *world, at *time.Time) turn.Request
		reused bool
	}{
		"the same":         {func(*world, *time.Time) turn.Request { return in("G", heightQuestion) }, true},
		"in other words":   {func(*world, *time.Time) turn.Request { return in("G", "what's the exact height of Mount Everest?") }, true},
		"another place":    {func(*world, *time.Time) turn.Request { return in("G", "What is the height of Mount Elbrus?") }, false},
		"another server":   {func(*world, *time.Time) turn.Request { return in("H", heightQuestion) }, false},
		"a direct message": {func(*world, *time.Time) turn.Request { return in("", heightQuestion) }, false},
		"other rules": {func(w *world, _ *time.Time) turn.Request {
			w.Policy.Domains = domains
			return in("G", heightQuestion)
		}, false},
		"too late": {func(_ *world, at *time.Time) turn.Request {
			*at = at.Add(61 * time.Minute)
			return in("G", heightQuestion)
		}, false},
		"look again": {func(*world, *time.Time) turn.Request {
			req := in("G", "look again")
			req.Chain = []turn.Message{{ID: "Q", Text: heightQuestion}}
			return req
		}, false},
		"with the question": {func(*world, *time.Time) turn.Request { return in("G", heightQuestion+" Check again.") }, false},
		"once more":         {func(*world, *time.Time) turn.Request { return in("G", "search again for the height of Mount Everest") }, false},
		"another character": {func(*world, *time.Time) turn.Request {
			req := in("G", heightQuestion)
			req.Character = "other"
			return req
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, &finder{hits: hits("https://peaks.example.org/everest.html")})
			at := today
			w.Now = func() time.Time { return at }
			first := w.lookup(t, in("G", heightQuestion))
			if first.State != turn.Found || first.Reused != nil {
				t.Fatalf("first: %s, %+v", first.State, first.Reused)
			}
			at = at.Add(5 * time.Minute)
			l := w.lookup(t, tt.change(w, &at))
			if reused := l.Reused != nil; reused != tt.reused || reused && (l.Query != "" || !l.Cached || l.Reused.Age != 5*time.Minute || !l.Pages[0].Cached || l.State != turn.Found || !strings.Contains(l.Block, "These pages were read 5 min ago for a like question.")) {
				t.Errorf("%s, reused %+v, query %q, cached %v", l.State, l.Reused, l.Query, l.Cached)
			}
		})
	}
}

// TestReuseInDirectMessages checks that one person's results are not reused for another's direct messages.
func TestReuseInDirectMessages(t *testing.T) {
	for channel, reused := range map[string]bool{"D1": true, "D2": false} {
		w := newWorld(t, &finder{hits: hits("https://peaks.example.org/everest.html")})
		req := ask(heightQuestion)
		req.GuildID, req.ChannelID = "", "D1"
		w.lookup(t, req)
		req.ChannelID = channel
		if l := w.lookup(t, req); (l.Reused != nil) != reused {
			t.Errorf("%s after D1: %+v", channel, l.Reused)
		}
	}
}

// TestNothingIsNotReused checks that failures and empty results are not reused.
func TestNothingIsNotReused(t *testing.T) {
	f := &finder{}
	w := newWorld(t, f)
	w.lookup(t, ask(heightQuestion))
	f.hits = hits("https://gone.org/everest")
	w.Search.Backends[0] = f
	if l := w.lookup(t, ask(heightQuestion)); l.Reused != nil {
		t.Errorf("%+v", l.Reused)
	}
	if n := len(w.reuse.entries); n != 0 {
		t.Errorf("%d kept", n)
	}
}

// TestMemoryIsBounded checks that the cache is bounded and drops the oldest entries.
func TestMemoryIsBounded(t *testing.T) {
	var m reuseCache
	for i := range 200 {
		m.add(&reuseEntry{query: "q", at: today.Add(time.Duration(i) * time.Second), bytes: 100_000})
	}
	m.add(&reuseEntry{query: "huge", bytes: maxReuseBytes})
	if m.bytes > maxReuseBytes || len(m.entries) > maxReuseEntries || m.bytes != 100_000*len(m.entries) || !m.entries[len(m.entries)-1].at.Equal(today.Add(199*time.Second)) {
		t.Errorf("%d bytes in %d", m.bytes, len(m.entries))
	}
}

func TestRank(t *testing.T) {
	trusted, err := clean.NewDomains([]string{"trusted.org"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	found := hits("https://a.org/1", "https://b.org/1", "https://c.org/1", "https://www.trusted.org/1", "https://d.org/1", "https://e.org/1")
	fb := feedback{"a.org": {wrong: 25}, "b.org": {outdated: 1}} // many votes lower it no more than the limit
	pol := Policy{Trusted: map[turn.Intent]Trust{turn.IntentNews: {Sites: []string{"trusted.org"}, Hosts: trusted}}}.withDefaults()
	order := func(intent turn.Intent, hs []turn.Hit) (sites []string) {
		for _, h := range rank(hs, intent, pol, fb) {
			sites = append(sites, siteOf(h.URL)+map[bool]string{true: "", false: "!"}[h.Why == ""])
		}
		return sites
	}
	for intent, want := range map[turn.Intent][]string{
		turn.IntentNews:    {"www.trusted.org!", "c.org", "b.org!", "a.org!", "d.org", "e.org"},
		turn.IntentGeneral: {"c.org", "b.org!", "www.trusted.org", "a.org!", "d.org", "e.org"},
	} {
		if got := order(intent, found); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", intent, got, want)
		}
	}
	pol.Trusted = map[turn.Intent]Trust{turn.IntentNews: {Sites: []string{"trusted.org"}, Hosts: trusted, Only: true}}
	targets, _ := choose(slices.Clone(found), turn.IntentNews, pol)
	if len(targets) != 1 || targets[0].site != "www.trusted.org" {
		t.Errorf("only trusted sites: %+v", targets)
	}
}

// TestOwnMessagesAreNotLookedUp checks that only a person's message causes a lookup.
func TestOwnMessagesAreNotLookedUp(t *testing.T) {
	w := newWorld(t, &finder{})
	req := ask(heightQuestion)
	req.Message.Own = true
	if l := w.lookup(t, req); l.State != turn.Disabled || len(w.finder.queries()) != 0 {
		t.Errorf("%s: %s", l.State, l.Reason)
	}
}
