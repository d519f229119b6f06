package search

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/context/turn"
)

// merged runs lists of addresses, one per backend, through the engine.
func merged(t *testing.T, q Query, lists ...[]turn.Hit) []turn.Hit {
	t.Helper()
	e := &Engine{}
	for i, l := range lists {
		e.Backends = append(e.Backends, fake{name: string(rune('a' + i)), hits: l})
	}
	defer e.Wait()
	return e.Search(t.Context(), q).Hits
}

func addresses(hits []turn.Hit) string {
	var all []string
	for _, h := range hits {
		all = append(all, strings.TrimPrefix(h.URL, "https://"))
	}
	return strings.Join(all, " ")
}

func list(urls ...string) []turn.Hit {
	var hits []turn.Hit
	for _, u := range urls {
		hits = append(hits, turn.Hit{URL: u})
	}
	return hits
}

func TestMerge(t *testing.T) {
	tests := []struct {
		name  string
		query Query
		lists [][]turn.Hit
		want  string
	}{
		{"one page, many spellings", Query{}, [][]turn.Hit{
			list("https://www.example.org/a/", "http://example.org/a?utm_source=x", "HTTPS://EXAMPLE.org:443/a#top", "https://example.org/b")},
			"www.example.org/a/ example.org/b"},
		{"what the query string tells apart", Query{}, [][]turn.Hit{
			list("https://www.youtube.com/watch?v=1", "https://www.youtube.com/watch?v=2", "https://youtube.com/watch?v=1&fbclid=z")},
			"www.youtube.com/watch?v=1 www.youtube.com/watch?v=2"},
		{"found by two is above found by one", Query{}, [][]turn.Hit{
			list("https://a.org", "https://b.org", "https://c.org"), list("https://d.org", "https://e.org", "https://c.org")},
			"c.org a.org d.org b.org e.org"},
		{"a list that repeats itself gains nothing", Query{}, [][]turn.Hit{
			list("https://a.org", "https://b.org", "https://b.org", "https://b.org")}, "a.org b.org"},
		{"the third of a domain waits", Query{}, [][]turn.Hit{
			list("https://x.example.co.uk/1", "https://y.example.co.uk/2", "https://z.example.co.uk/3", "https://other.co.uk")},
			"x.example.co.uk/1 y.example.co.uk/2 other.co.uk z.example.co.uk/3"},
		{"only sites asked for", Query{Include: []string{"example.org"}}, [][]turn.Hit{
			list("https://notexample.org", "https://docs.example.org", "https://example.org.evil.com", "https://example.org")},
			"docs.example.org example.org"},
		{"no sites not wanted", Query{Exclude: []string{"example.org"}}, [][]turn.Hit{
			list("https://notexample.org", "https://docs.example.org", "https://example.org.evil.com", "https://example.org")},
			"notexample.org example.org.evil.com"},
		{"words of the query count", Query{Text: "Ada Lovelace"}, [][]turn.Hit{
			{hit("https://a.org", "Something else"), hit("https://b.org", "Lovelace"), hit("https://c.org", "ADA LOVELACE")}},
			"c.org b.org a.org"},
		{"an answer comes first", Query{Text: "Ada Lovelace"}, [][]turn.Hit{
			{hit("https://a.org", "Ada Lovelace")}, {{URL: "https://b.org", Title: "?", Answer: true}}}, "b.org a.org"},
		{"a rare word counts more than a common one", Query{Text: "Lovelace engine"}, [][]turn.Hit{
			{hit("https://a.org", "Lovelace"), hit("https://b.org", "Lovelace"), hit("https://c.org", "Engine"), hit("https://d.org", "Lovelace")}}, "c.org a.org b.org d.org"},
		{"words without spaces between them", Query{Text: "東京の天気"}, [][]turn.Hit{
			{hit("https://a.org", "大阪の写真"), hit("https://b.org", "今日の東京"), hit("https://c.org", "東京の天気予報")}}, "c.org b.org a.org"},
		{"words of another alphabet", Query{Text: "погода в Москве"}, [][]turn.Hit{
			{hit("https://a.org", "Погода"), hit("https://b.org", "ПОГОДА В МОСКВЕ"), hit("https://c.org", "Рецепты")}}, "b.org a.org c.org"},
		{"an inflected word", Query{Text: "mathematician"}, [][]turn.Hit{
			{hit("https://a.org", "Math"), hit("https://b.org", "Mathematicians")}}, "b.org a.org"},
		{"as many as wanted", Query{Limit: 2}, [][]turn.Hit{list("https://a.org", "https://b.org", "https://c.org")}, "a.org b.org"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := addresses(merged(t, test.query, test.lists...)); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestNearDuplicates(t *testing.T) {
	const text = "The town council decided on Monday to close the old bridge for repairs that will take until the autumn of next year, officials said, and asked drivers to use the northern road."
	page := func(address, title, snippet string) turn.Hit {
		return turn.Hit{URL: address, Title: title, Snippet: snippet}
	}
	tests := []struct {
		name  string
		lists [][]turn.Hit
		want  string
	}{
		{"the same text on two sites", [][]turn.Hit{
			{page("https://a.org/1", "Old bridge to close for repairs", text)}, {page("https://b.org/2", "Old bridge to close for repairs | Gazette", text)}},
			"a.org/1 +b [b.org/2]"},
		{"cut elsewhere", [][]turn.Hit{
			{page("https://a.org/1", "Old bridge to close", text), page("https://c.org", "Something", "")}, {page("https://b.org/2", "Old bridge to close", text[:120])}},
			"a.org/1 +b [b.org/2], c.org"},
		{"of one backend", [][]turn.Hit{
			{page("https://a.org/1", "Old bridge to close", text), page("https://b.org/2", "Old bridge to close", text)}}, "a.org/1 [b.org/2]"},
		{"parts of a series", [][]turn.Hit{
			{page("https://a.org/1", "Old bridge, part 1", text), page("https://a.org/2", "Old bridge, part 2", text)}}, "a.org/1, a.org/2"},
		{"what a site says everywhere", [][]turn.Hit{
			{page("https://a.org/1", "Cats", text), page("https://a.org/2", "Dogs", text)}}, "a.org/1, a.org/2"},
		{"another text", [][]turn.Hit{
			{page("https://a.org/1", "Old bridge to close", text), page("https://b.org/2", "Old bridge to close", "Nobody knows when, but the bridge over the river will be closed to cars for many months, a spokesman told us on the phone yesterday")}},
			"a.org/1, b.org/2"},
		{"short ones", [][]turn.Hit{{page("https://a.org/1", "Go", "The Go language"), page("https://b.org/2", "Go", "The Go language")}}, "a.org/1, b.org/2"},
		{"without spaces", [][]turn.Hit{
			{page("https://a.jp/1", "橋の閉鎖", "市議会は月曜日に古い橋を修理のため閉鎖することを決めた"), page("https://b.jp/2", "橋の閉鎖", "市議会は月曜日に古い橋を修理のため閉鎖することを決めた")}}, "a.jp/1 [b.jp/2]"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, h := range merged(t, Query{}, test.lists...) {
				one := strings.TrimPrefix(h.URL, "https://")
				if len(h.Also) > 0 {
					one += " +" + strings.Join(h.Also, "+")
				}
				if len(h.Twins) > 0 {
					one += " [" + addresses(list(h.Twins...)) + "]"
				}
				got = append(got, one)
			}
			if strings.Join(got, ", ") != test.want {
				t.Errorf("got %s, want %s", strings.Join(got, ", "), test.want)
			}
		})
	}
}

// If a query prefers new pages, a new page passes others a few ranks above it. An impossible date gains nothing.
func TestRecency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		dated := func(site string, age time.Duration) turn.Hit {
			return turn.Hit{URL: "https://" + site, Title: site, Published: now.Add(-age)}
		}
		const day = 24 * time.Hour
		hits := []turn.Hit{hit("https://undated.org", "undated"), dated("old.org", 300*day), dated("new.org", 2*time.Hour), dated("future.org", -30*day), dated("week.org", 6*day)}
		for _, test := range []struct {
			query Query
			want  string
		}{
			{Query{}, "undated.org old.org new.org future.org week.org"},
			{Query{Intent: "news"}, "new.org undated.org week.org old.org future.org"},
			{Query{Fresh: "week"}, "new.org week.org undated.org old.org future.org"},
			{Query{Intent: "weather"}, "undated.org old.org new.org future.org week.org"},
		} {
			if got := addresses(merged(t, test.query, hits)); got != test.want {
				t.Errorf("%+v: %s, want %s", test.query, got, test.want)
			}
		}
	})
}

func TestHitsAreBounded(t *testing.T) {
	var many []string
	for i := range 300 {
		many = append(many, "https://example.org/"+strings.Repeat("x", i+1))
	}
	if got := merged(t, Query{Limit: 1000}, list(many...)); len(got) != maxLimit {
		t.Errorf("%d hits, want %d", len(got), maxLimit)
	}
}
