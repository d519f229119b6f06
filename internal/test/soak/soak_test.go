package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"familiar/internal/test/discordtest"
	"familiar/internal/test/postgres"
)

// TestScenarios runs short scenarios, so that the driver keeps working. The fleet needs PostgreSQL.
func TestScenarios(t *testing.T) {
	if underRace {
		t.Skip("the program that it starts is built without the race detector")
	}
	binary := filepath.Join(t.TempDir(), "familiar")
	if err := build(t.Context(), binary); err != nil {
		t.Fatal(err)
	}
	scenarios := map[string]string{"kill": "-n 2 -rate 3 -channels 4", "shards": "-n 2 -rate 3 -channels 8", "power": "-n 2 -rate 3 -channels 4", "burst": "-n 30 -channels 10 -people 6", "single": "-n 1 -tls"}
	if postgres.Used() {
		scenarios["fleet"] = "-n 60 -channels 16 -fault term -database " + postgres.Place(t, t.TempDir())
	}
	for name, flags := range scenarios {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			var out bytes.Buffer
			args := append([]string{name, "-seed", "1", "-program", binary}, strings.Fields(flags)...)
			code := run(ctx, args, &out)
			if strings.Contains(out.String(), takesRoot) {
				t.Skip(out.String())
			}
			if code != exitOK {
				t.Errorf("exit code %d", code)
			}
			t.Log(out.String())
		})
	}
}

// TestInterrupted checks that a run that is ended early still accounts for what it did.
func TestInterrupted(t *testing.T) {
	if underRace {
		t.Skip("the program that it starts is built without the race detector")
	}
	binary := filepath.Join(t.TempDir(), "familiar")
	if err := build(t.Context(), binary); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second)
	defer cancel()
	var out bytes.Buffer
	run(ctx, []string{"steady", "-for", "1h", "-channels", "4", "-program", binary}, &out)
	if !strings.Contains(out.String(), "| mentions |") {
		t.Errorf("no table:\n%s", out.String())
	}
}

// BenchmarkWeigh weighs what an hour leaves behind, as is done once for each of its minutes. It took thirty times as long when each mention
// was compared with all posts.
func BenchmarkWeigh(b *testing.B) {
	var mentions []mention
	own := map[string][]discordtest.Message{}
	for i := range 18_000 {
		m := mention{tag: fmt.Sprintf("q%d", i), id: strconv.Itoa(i), channel: strconv.Itoa(i % 20), author: personName(i % 61), at: time.UnixMilli(int64(200 * i))}
		mentions = append(mentions, m)
		own[m.channel] = append(own[m.channel], discordtest.Message{ReplyTo: m.id, At: m.at.Add(time.Second), Text: answerTo([]string{m.tag}, int64(i))})
	}
	for b.Loop() {
		for _, o := range weigh(mentions, own) {
			if !o.whole() || o.told != "" {
				b.Fatalf("%s: %+v", o.tag, o)
			}
		}
	}
}

// TestJudge checks that the accounting notices broken promises.
func TestJudge(t *testing.T) {
	at := time.Now()
	post := func(id, replyTo, text string) discordtest.Message {
		return discordtest.Message{ID: id, ReplyTo: replyTo, Text: text, Own: true, At: at.Add(5 * time.Second)}
	}
	full := answerTo([]string{"q0"}, 7)
	for _, c := range []struct {
		name  string
		posts []discordtest.Message
		want  string
	}{
		{"answered", []discordtest.Message{post("2", "1", full)}, ""},
		{"answered with another", []discordtest.Message{post("2", "9", answerTo([]string{"q0", "q1"}, 7))}, ""},
		{"nothing", nil, everyone},
		{"answer to another", []discordtest.Message{post("2", "1", answerTo([]string{"q1"}, 7))}, everyone},
		{"twice", []discordtest.Message{post("2", "1", full), post("3", "1", full)}, once},
		{"half", []discordtest.Message{post("2", "1", full[:40])}, whole},
		{"half and marked", []discordtest.Message{post("2", "1", full[:40]+"\n\n-# interrupted: I was restarted here")}, ""},
		{"told", []discordtest.Message{post("2", "1", "Too much at once.")}, ""},
		{"told by name", []discordtest.Message{post("2", "", "Too much for person001 and person002.")}, ""},
		{"another told", []discordtest.Message{post("2", "9", "Too much."), post("3", "", "Too much for person002.")}, everyone},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &stage{opt: options{gap: true}}
			m := mention{tag: "q0", id: "1", channel: "7", author: "person001", at: at}
			for _, o := range weigh([]mention{m}, map[string][]discordtest.Message{"7": c.posts}) {
				s.judge(o)
			}
			got := ""
			if len(s.findings) > 0 {
				got = s.findings[0].promise
			}
			if got != c.want || len(s.findings) > 1 {
				t.Errorf("%q: %v", got, s.findings)
			}
		})
	}
}

// TestServed checks that to be told is not a success. Each scenario has a longest wait, except load, which judges by itself.
func TestServed(t *testing.T) {
	for _, sc := range scenarios() {
		if sc.options.first == 0 && sc.name != "load" {
			t.Errorf("%s has no longest wait", sc.name)
		}
	}
	at := time.Now()
	outcomes := func(answered, told int, after time.Duration) (all []outcome) {
		for range answered {
			all = append(all, outcome{mention: mention{at: at}, answers: []discordtest.Message{{At: at.Add(after), Text: answerTo([]string{"q0"}, 7)}}})
		}
		for range told {
			all = append(all, outcome{mention: mention{at: at}, told: "Too much.", toldAt: at.Add(after)})
		}
		return all
	}
	for _, c := range []struct {
		all  []outcome
		want string
	}{
		{outcomes(90, 10, time.Second), ""},
		{outcomes(89, 11, time.Second), share},
		{outcomes(100, 0, 11*time.Second), waits},
		{append(outcomes(99, 0, time.Second), outcomes(0, 1, 11*time.Second)...), toldNow},
	} {
		s := &stage{opt: options{first: 10 * time.Second}}
		s.served(c.all)
		got := ""
		if len(s.findings) > 0 {
			got = s.findings[0].promise
		}
		if got != c.want || len(s.findings) > 1 {
			t.Errorf("want %q: %v", c.want, s.findings)
		}
	}
}

// TestReport prints a Markdown table and a list of broken promises.
func TestReport(t *testing.T) {
	s := &stage{opt: options{name: "long", channels: 500, rate: 2, span: time.Hour, seed: 7, tls: true}}
	s.note("mentions", "%d", 7200)
	s.note("first word, p50 and p99", "%v, %v", 208*time.Millisecond, 2*time.Second)
	m := mention{tag: "q1", id: "12", channel: "7", author: "person001", at: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	s.findings = []finding{{promise: once, mention: m, what: "2 posts\nanswer it"}}
	s.complain(flat, "goroutines: %+.1f %%", 7.5)
	var out bytes.Buffer
	s.print(&out)
	want, err := os.ReadFile("testdata/report.md")
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != string(want) {
		t.Errorf("printed\n%s\nwant\n%s", out.String(), want)
	}
}
