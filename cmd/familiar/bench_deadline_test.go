package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"familiar/internal/app"
	"familiar/internal/context/turn"
	"familiar/internal/llm"
	"familiar/internal/test/llmtest"
	"familiar/internal/test/webtest"
)

// badly lists the ways in which a page may waste a reader's time. Each is the head of a page of webtest's.
var badly = map[string]string{
	"hang":       "!hang",
	"drip":       "!drip 1 20ms",
	"endless":    "!endless",
	"huge":       "!size 6000000",
	"bomb":       "!gzip\n!endless",
	"flood":      "!flood 900000",
	"late":       "!delay 600ms\n!size 3000000",
	"short":      "!length 5000000",
	"broken":     "!size 3000000\n!break 2000000",
	"nested":     "!size 3000000",
	"attributes": "!size 3000000",
	"tables":     "!size 3000000",
	"styles":     "!size 3000000",
	"words":      "!size 3000000",
	"facts":      "",
	"numbers":    "",
}

// heavy are bodies that take time to read; the page's size repeats them.
var heavy = map[string]string{
	"nested":     "<div><span><p>",
	"attributes": `<p class="a b c" style="color:#fff;background:white;display:block" data-x='<p>'>Mount Example is 4,321 metres high. `,
	"tables":     "<table><tr><td><table><tr><td>Mount Example",
	"styles":     "<style>.a .b>.c:not(.d){display:none} p:nth-child(2n){opacity:0}</style><p class=a>Mount Example",
	"words":      "<p>Mount Example is 4,321 metres high, and it was first climbed in 1899 by a party of three. ",
}

// body is what a page of a kind holds.
func body(how string) string {
	var text strings.Builder
	switch how {
	case "facts": // all of it is evidence, no two sentences are alike, and pages contradict each other
		for n := range 4000 {
			fmt.Fprintf(&text, "<p>In %d the height of Mount Example was found to be %d metres by party number %d.</p>\n", 1000+n%1000, n*7919%9000, n)
		}
	case "numbers": // one sentence without end
		text.WriteString("<p>The height of Mount Example is")
		for n := range 100_000 {
			fmt.Fprintf(&text, " %d metres,", n*7919%9000)
		}
	default:
		return heavy[how]
	}
	return text.String()
}

// BenchmarkDeadline looks things up while pages, a search service and a side model behave badly. It reports the longest time by which a
// lookup passed its deadline.
func BenchmarkDeadline(b *testing.B) {
	sides := []string{"none", "hang", "drip"}
	for i, side := range sides {
		for j, how := range slices.Sorted(maps.Keys(badly)) {
			if once() && j%len(sides) != i {
				continue // each page has one side
			}
			b.Run("side="+side+"/page="+how, func(b *testing.B) {
				late := lateness(b, side, how)
				b.ReportMetric(late.Seconds()*1000, "overshoot-ms")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// lookups is how many are under way at once, in lateness.
const lookups = 4

// lateness looks up until the benchmark is done, always with five pages of one kind. It returns the longest time that a lookup took beyond
// its deadline. Below zero, all were in time. The search takes almost a third of the time, which is its share. Nobody waits for the pages
// that an earlier lookup gave up and that are still being parsed.
func lateness(b *testing.B, side, how string) time.Duration {
	const limit = 600 * time.Millisecond
	a := poorWeb(b, side, how, limit*3/10)
	late := [lookups]time.Duration{-limit, -limit, -limit, -limit}
	for i := 0; b.Loop(); i++ {
		var all sync.WaitGroup
		for j := range lookups {
			all.Go(func() {
				began := time.Now()
				l := a.Actor.Lookup.Lookup(context.Background(), turn.Request{
					ID: fmt.Sprint("T", i), Character: "sage", Web: turn.Web{Switch: turn.WebAlways}, Deadline: began.Add(limit),
					Message: turn.Message{ID: "1", Author: turn.Author{ID: "2", Name: "ana"}, Text: fmt.Sprintf("look up the height of Mount Example, edition %d of %d", j, i)},
				})
				late[j] = max(late[j], time.Since(began)-limit)
				if l.State == turn.NotNeeded || l.State == turn.Disabled {
					b.Errorf("nothing was looked up: %+v", l)
				}
			})
		}
		all.Wait()
	}
	return slices.Max(late[:])
}

// poorWeb is a program whose web has bad pages only, and a search that takes its time.
func poorWeb(b *testing.B, side, how string, slow time.Duration) *app.App {
	search, model := newMetasearch(b), llmtest.New(b)
	slowly := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(slow)
		search.ServeHTTP(w, r)
	}))
	b.Cleanup(slowly.Close)
	model.Forget = true
	env := map[string]string{"SEARXNG_URL": slowly.URL, "FAMILIAR_LOG": "error"}
	if side != "none" {
		env["OPENAI_BASE_URL"], env["OPENAI_API_KEY"], env["OPENAI_MODEL"] = model.URL, "sk-test-0123456789abcdef", "main"
	}
	model.Reply = func(llmtest.Request) llmtest.Reply {
		if side == "hang" {
			return llmtest.Reply{llmtest.Wait(time.Minute)}
		}
		return llmtest.Reply{llmtest.Gap(10 * time.Millisecond), llmtest.Say(strings.Repeat("a fact ", 10_000))}
	}
	var hits, pages strings.Builder
	hits.WriteString("when example\n")
	for i := range 8 {
		host := fmt.Sprintf("mount%d.org", i)
		fmt.Fprintf(&hits, "Mount Example | https://%s/mount | The height of Mount Example.\n", host)
		fmt.Fprintf(&pages, "-- %s/robots.txt.head --\n404\n-- %s/mount.head --\nContent-Type: text/html; charset=utf-8\n%s\n-- %s/mount --\n%s\n",
			host, host, badly[how], host, body(how))
	}
	search.read(b, []byte(hits.String()))
	web := webtest.New(b, []byte(pages.String()))
	nowhere := "http://127.0.0.1:1"
	a, err := app.Open(context.Background(), (&program{
		dir: b.TempDir(), out: b.Output(), err: b.Output(),
		env: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
		far: app.Far{
			Resolver: web, Dial: web.Dial, Roots: web.RootCAs(), Local: []llm.Place{},
			Backends: backendsAt(nowhere),
		},
	}).process(), app.ToAnswer)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { a.Close() })
	return a
}
