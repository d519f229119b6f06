package search

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/context/turn"
)

const bridgeText = "The old bridge over the river was built of stone a long time ago. It has carried carts and cars and people ever since. " +
	"Last winter the frost opened cracks in two of its arches. The town will close it for repairs until the autumn of next year. " +
	"Drivers are asked to use the northern road until then."

func TestIsProse(t *testing.T) {
	for text, want := range map[string]bool{
		bridgeText:                       true,
		"":                               false,
		bridgeText[:120]:                 false, // two sentences
		strings.Repeat("Buy now! ", 100): false,
		strings.Repeat("word ", 400):     false, // one endless sentence
		strings.ReplaceAll(bridgeText, ". ", ".\n\n"):                                                         true,
		"# Bridges\n\n- Home\n- About us\n- News\n\n" + bridgeText:                                            true,
		strings.Repeat("市議会は月曜日に古い橋を修理のため閉鎖することを決めた。", 5):                                                     true,
		strings.Repeat("Version 3.14 of the program came out with 2.5 times the speed of 3.13 and more. ", 6): true,
	} {
		if got := isProse(text); got != want {
			t.Errorf("%.60q: %t", text, got)
		}
	}
}

func TestPageScore(t *testing.T) {
	now := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	filler := strings.Repeat("x ", 150) // more than 200 characters, fewer than 1,000
	const day = 24 * time.Hour
	for _, test := range []struct {
		name, query, title, text string
		age                      time.Duration // 0: no date
		want                     float64
	}{
		{"nothing", "old bridge", "Cats", filler, 0, 0},
		{"the words in the text", "old bridge", "", filler + "bridge old bridge. An old one", 0, 30 + 4*3},
		{"scattered", "old bridge", "", filler + "bridge, old. bridges", 0, 2 * 3},
		{"in the title", "old bridge", "The OLD  bridge", filler, 0, 20 + 2*10},
		{"short words", "is it up", "is it up", filler, 0, 20},
		{"one word too often", "bridge", "", filler + strings.Repeat("bridge ", 50), 0, 30 + 10*3},
		{"of this month", "q", "", filler, 29 * day, 15},
		{"of this quarter", "q", "", filler, 89 * day, 10},
		{"of this year", "q", "", filler, 364 * day, 5},
		{"old", "q", "", filler, 366 * day, 0},
		{"not written yet", "q", "", filler, -9 * day, 0},
		{"short", "q", "", "short", 0, -10},
		{"long", "q", "", strings.Repeat(filler, 4), 0, 5},
		{"without spaces", "東京の天気", "", filler + "東京の天気は晴れ", 0, 30 + 3},
		{"another alphabet", "погода в Москве", "Погода", filler + "В Москве погода ясная", 0, 2*3 + 10},
	} {
		published := time.Time{}
		if test.age != 0 {
			published = now.Add(-test.age)
		}
		if got := pageScore(test.query, test.title, test.text, published, now); got != test.want {
			t.Errorf("%s: %g, want %g", test.name, got, test.want)
		}
	}
}

// library returns an engine over twelve pages, some of them readable.
func library(t *testing.T, read func(ctx context.Context, n int) (Page, error)) *Engine {
	var hits []turn.Hit
	for i := range 12 {
		hits = append(hits, hit(fmt.Sprintf("https://site%d.org/", i), fmt.Sprint("Page ", string(rune('A'+i)))))
	}
	return &Engine{
		Profiles: profiles(nil),
		Backends: []Backend{fake{name: "x", after: time.Second, hits: hits}},
		Read: func(ctx context.Context, _, address string) (Page, error) {
			var n int
			if _, err := fmt.Sscanf(address, "https://site%d.org/", &n); err != nil {
				t.Error(err)
			}
			return read(ctx, n)
		},
	}
}

func sitesOf(r Result) string { return strings.ReplaceAll(addresses(r.Hits), ".org/", "") }

func TestAdvanced(t *testing.T) {
	about := func(n int) Page { return Page{Text: bridgeText + strings.Repeat(" The old bridge is old.", n)} }
	const basic = "site0 site1 site2"
	for _, test := range []struct {
		name  string
		limit time.Duration
		read  func(ctx context.Context, n int) (Page, error)
		took  time.Duration
		want  string
	}{
		{"the best of all that were read", time.Minute, func(_ context.Context, n int) (Page, error) { return about(min(n, 9)), nil }, time.Second, "site9 site10 site11"},
		{"without those that are no prose, and those that cannot be read", time.Minute, func(_ context.Context, n int) (Page, error) {
			switch {
			case n > 9:
				return Page{Text: strings.Repeat("old bridge ", 50)}, nil
			case n == 9:
				panic("page")
			case n == 8:
				return about(8), errors.New("half a page")
			}
			return about(n), nil
		}, time.Second, "site7 site6 site5"},
		{"what came in time", 4 * time.Second, func(ctx context.Context, n int) (Page, error) {
			time.Sleep(time.Duration(n) * time.Second / 2)
			return about(n), ctx.Err()
		}, 3950 * time.Millisecond, "site5 site4 site3"},
		{"the basic list where too little is worth reading", time.Minute, func(_ context.Context, n int) (Page, error) { return Page{Text: "no"}, nil }, time.Second, basic},
		{"the basic list where there is too little time", 1500 * time.Millisecond, func(_ context.Context, n int) (Page, error) { return about(n), nil }, 750 * time.Millisecond, ""},
		{"the basic list where nothing can be read in time", 2200 * time.Millisecond, func(ctx context.Context, n int) (Page, error) { <-ctx.Done(); return about(n), nil }, 2150 * time.Millisecond, basic},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := library(t, test.read)
				ctx, cancel := context.WithTimeout(t.Context(), test.limit)
				defer cancel()
				began := time.Now()
				got := e.Search(ctx, Query{Text: "old bridge", Depth: "advanced", Limit: 3})
				if took := time.Since(began); sitesOf(got) != test.want || took != test.took {
					t.Errorf("after %s: %s; want after %s: %s", took, sitesOf(got), test.took, test.want)
				}
				e.Wait()
			})
		})
	}
}

// A forecast is not prose, and is ranked first nevertheless.
func TestAdvancedKeepsAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := library(t, func(_ context.Context, n int) (Page, error) {
			return Page{Text: bridgeText + strings.Repeat(" The old bridge is old.", min(n, 9))}, nil
		})
		e.Grace = 2 * time.Second
		pages := e.Backends[0].(fake)
		pages.after = 500 * time.Millisecond // it is late after a second
		e.Backends = append([]Backend{pages}, fake{name: "openmeteo", hits: []turn.Hit{{URL: "https://forecast.org/", Text: "Rain.", Answer: true}}})
		got := e.Search(t.Context(), Query{Text: "old bridge", Intent: "weather", Depth: "advanced", Limit: 3})
		if want := "forecast site9 site10"; sitesOf(got) != want {
			t.Errorf("got %s, want %s", sitesOf(got), want)
		}
		e.Wait()
	})
}
