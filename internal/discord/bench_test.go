package discord

import (
	"fmt"
	"runtime"
	"sync"
	"testing"

	"familiar/internal/api"
	"familiar/internal/context/turn"
	"familiar/internal/discord/gateway"
	"familiar/internal/discord/rest"
	"familiar/internal/test/discordtest"
)

// BenchmarkTurn receives and sends one message over real sockets. It includes the work of the test server.
func BenchmarkTurn(b *testing.B) {
	far := discordtest.New(b)
	far.Quiet()
	client := api.Client(api.Service{Origin: far.URL})
	defer client.CloseIdleConnections()
	s, err := New(Config{Token: discordtest.Token, HTTP: client, BaseURL: far.URL, PerSecond: 1 << 20})
	if err != nil {
		b.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() { _ = s.Run(b.Context()) })
	b.Cleanup(running.Wait)
	await(b, "connection", func() bool { return s.Health().Connected })
	general := far.ID("general")
	var workers sync.WaitGroup
	slots := make(chan struct{}, 16) // questions in flight
	b.ReportAllocs()
	b.ResetTimer()
	for range 16 {
		workers.Go(func() {
			for batch := range s.Events() {
				for _, e := range batch {
					if _, err := s.Post(b.Context(), turn.Post{ChannelID: general, ReplyTo: e.Message.ID, Text: "an answer"}); err != nil {
						return
					}
					<-slots
				}
			}
		})
	}
	for range b.N {
		slots <- struct{}{}
		far.Say("general", "ada", "a question")
	}
	for range cap(slots) {
		slots <- struct{}{}
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "turns/s")
	if lost := s.Health().Dropped; lost > 0 {
		b.Errorf("%d events were dropped", lost)
	}
	b.Cleanup(workers.Wait)
}

// BenchmarkServers measures 2,400 servers of 100 channels each: as they arrive at a start, and again, as after an
// outage. It measures the directory alone, and the gateway's payloads.
func BenchmarkServers(b *testing.B) {
	const servers, channels = 2400, 100
	var announced, all []guildInfo
	var payloads [][]byte
	for n := range servers {
		g := guildInfo{ID: fmt.Sprint(n + 1), Name: "a server"}
		announced = append(announced, guildInfo{ID: g.ID})
		for m := range channels {
			g.Channels = append(g.Channels, channel{ID: fmt.Sprint(1_000_000 + n*channels + m), Name: "general", ParentID: "7"})
		}
		all, payloads = append(all, g), append(payloads, rest.JSON(g))
	}
	b.Run("directory", func(b *testing.B) {
		for b.Loop() {
			var d directory
			d.begin(announced, every, none)
			for range 2 {
				for _, g := range all {
					d.addGuild(g)
				}
			}
		}
	})
	b.Run("payloads", func(b *testing.B) {
		s := &Session{guildCame: make(chan struct{})}
		s.handle = handlers()
		one := &shard{Session: s}
		for b.Loop() {
			s.names.begin(announced, every, none)
			for _, p := range payloads {
				if err := one.dispatch(b.Context(), "GUILD_CREATE", p); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

// bigGuild returns a server with 20 channels and 10 roles, as Discord announces it.
func bigGuild(n int) guildInfo {
	const view = permissions(1 << 10)
	id := func(k int) string { return fmt.Sprint(uint64(n*64+k+1)<<22 + 900_000_000_000_000_000) }
	g := guildInfo{ID: id(0), Name: fmt.Sprint("server number ", n), OwnerID: id(63), Locale: "en-US"}
	g.Members = []member{{User: user{ID: "100000000000000001", Username: "familiar"}, Roles: []string{id(1)}}}
	g.Roles = append(g.Roles, role{ID: g.ID, Name: "@everyone", Permissions: 1071698660929})
	for k := 1; k < 10; k++ {
		g.Roles = append(g.Roles, role{ID: id(k), Name: fmt.Sprint("the role ", k), Permissions: 1071698660929})
	}
	for k := 10; k < 30; k++ {
		c := channel{ID: id(k), Name: fmt.Sprint("a-channel-", k), ParentID: id(10), Last: gateway.FlakeOf(id(62)), Topic: "what is talked about here"}
		c.Overwrites = []overwrite{{g.ID, ofRole, 0, view}, {id(1 + k%9), ofRole, view, 0}}
		g.Channels = append(g.Channels, c)
	}
	return g
}

// BenchmarkDirectory measures what 10,000 servers of 20 channels and 10 roles take in memory, as ten shards announce
// them.
func BenchmarkDirectory(b *testing.B) {
	const servers, of = 10_000, 10
	var payloads [][]byte
	ids := make([][]guildInfo, of)
	for n := range servers {
		g := bigGuild(n)
		payloads = append(payloads, rest.JSON(g))
		ids[gateway.ShardOf(g.ID, of)] = append(ids[gateway.ShardOf(g.ID, of)], guildInfo{ID: g.ID})
	}
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for b.Loop() {
		before := heap()
		s := &Session{guildCame: make(chan struct{})}
		s.handle = handlers()
		s.self.Store(newIdentity(user{ID: "100000000000000001"}, ""))
		for n := range of {
			s.names.begin(ids[n], func(guildID string) bool { return gateway.ShardOf(guildID, of) == n }, none)
		}
		one := &shard{Session: s}
		for _, p := range payloads {
			if err := one.dispatch(b.Context(), "GUILD_CREATE", p); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(heap()-before)/servers, "B/server")
		b.ReportMetric(float64(len(payloads[0])), "B/payload")
		runtime.KeepAlive(s)
	}
}
