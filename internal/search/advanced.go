package search

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"familiar/internal/context/turn"
	"familiar/internal/text"
	"familiar/internal/web/clean"
)

// Page is the text of a page.
type Page struct {
	Title, Text string
	Published   time.Time // zero if unknown
}

// The advanced depth finds several times the hits wanted and reads them. It drops pages that are not prose, and ranks the rest by their
// text.
const (
	candidatesPerHit = 4
	reading          = 4 * time.Second        // for reading pages, on top of Engine.Timeout
	readers          = 8                      // pages read at once
	minReading       = 500 * time.Millisecond // with less time left, no page is read
	readMargin       = 50 * time.Millisecond  // reserved for ranking
	minGood          = 3                      // with fewer good pages, or fewer than wanted, the basic list is better
	minScore         = 10
)

// advanced searches in the advanced depth. With too little time, or too few pages worth reading, it returns the result
// of the basic depth.
func (e *Engine) advanced(ctx context.Context, way route, q Query, domains clean.Domains) Result {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(e.Timeout, defaultTimeout)+reading)
	defer cancel()
	end, _ := ctx.Deadline()
	soon, stop := context.WithTimeout(ctx, time.Until(end)/2)
	defer stop()
	wide := q
	wide.Limit = min(candidatesPerHit*q.Limit, maxLimit)
	r, pages := e.basic(soon, way, wide, domains)
	basic := top(pages, q.Limit)
	left := time.Until(end) - readMargin
	if r.State != turn.Found || r.Stale > 0 || left < minReading {
		r.Hits, r.complete = basic, r.complete && r.State != turn.Found
		return r
	}
	pages = pages[:min(len(pages), candidatesPerHit*q.Limit)]
	read, stop := context.WithTimeout(ctx, left)
	defer stop()
	good := e.chooseRead(q, pages, e.readAll(read, q.Caller, pages))
	if r.Hits = top(good, q.Limit); len(good) < min(minGood, q.Limit) {
		r.Hits, r.complete = basic, false
	}
	return r
}

// readAll reads the pages, best first, until ctx is done. A page that could not be read is empty.
func (e *Engine) readAll(ctx context.Context, caller string, pages []*candidate) []Page {
	type numbered struct {
		i int
		Page
	}
	in := make(chan numbered, len(pages)) // room for all, so that a late reader does not block
	next := make(chan int, len(pages))
	texts := make([]Page, len(pages))
	left := 0
	for i, p := range pages {
		switch {
		case p.Answer:
		case p.Text != "":
			texts[i] = Page{p.Title, p.Text, p.Published}
		default:
			next <- i
			left++
		}
	}
	close(next)
	for range min(readers, left) {
		e.tasks.Go(func() {
			for i := range next {
				if ctx.Err() != nil {
					return
				}
				in <- numbered{i, e.readOne(ctx, caller, pages[i].URL)}
			}
		})
	}
	for range left {
		select {
		case n := <-in:
			texts[n.i] = n.Page
		case <-ctx.Done():
			return texts
		}
	}
	return texts
}

// readOne reads one page. A panic in the reader costs only this page.
func (e *Engine) readOne(ctx context.Context, caller, address string) (p Page) {
	defer func() {
		if recover() != nil {
			p = Page{}
		}
	}()
	p, err := e.Read(ctx, caller, address)
	if err != nil {
		return Page{}
	}
	return p
}

// chooseRead ranks the pages by their text. It drops pages that are not prose or hardly about the query. A hit that
// answers the query by itself stays first.
func (e *Engine) chooseRead(q Query, pages []*candidate, texts []Page) []*candidate {
	var answers, good []*candidate
	for i, p := range pages {
		if p.Answer {
			answers = append(answers, p)
			continue
		}
		text := texts[i]
		if !isProse(text.Text) {
			continue
		}
		if p.Published.IsZero() {
			p.Published = text.Published
		}
		if p.Score = pageScore(q.Text, cmp.Or(text.Title, p.Title), text.Text, p.Published, e.now()); p.Score >= minScore {
			good = append(good, p)
		}
	}
	sortPages(good)
	return append(answers, spread(good)...)
}

// isProse reports whether a text consists of sentences. It has more than 50 words, more than 3 sentences, and 5 to 30 words per sentence on
// average. A line with fewer than three words is a label.
func isProse(s string) bool {
	words, sentences := 0, 0
	for _, sentence := range text.Sentences(s) {
		if n := wordCount(sentence); n >= 3 {
			words, sentences = words+n, sentences+1
		}
	}
	return words > 50 && sentences > 3 && words > 5*sentences && words < 30*sentences
}

// wordCount counts words. In scripts without spaces, two characters count as one word.
func wordCount(s string) int {
	words, single, inside := 0, 0, false
	for _, r := range s {
		switch {
		case text.UnspacedRune(r):
			single, inside = single+1, false
		case unicode.IsLetter(r) || unicode.IsNumber(r) || inside && (unicode.IsMark(r) || r == '\'' || r == '’' || r == '-'):
			if !inside {
				words++
			}
			inside = true
		default:
			inside = false
		}
	}
	return words + (single+1)/2
}

// mostHits is the highest count of a word. More of it does not make a page more relevant.
const mostHits = 10

// pageScore rates how much a page is about the query. It adds 30 if the text contains the whole query and 20 if the title does. Each
// occurrence of a query word in the text adds 3, and a query word in the title 10. A page of the last 30 days, 90 days or year gets 15, 10
// or 5. A text of more than 1,000 characters gets 5. It subtracts 10 for a text of fewer than 200.
func pageScore(query, title, body string, published, now time.Time) float64 {
	flat := func(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }
	query, title, body = flat(query), flat(title), flat(body)
	score := 0.0
	if query != "" && strings.Contains(body, query) {
		score += 30
	}
	if query != "" && strings.Contains(title, query) {
		score += 20
	}
	separate := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) }
	inText, inTitle := map[string]int{}, map[string]int{}
	for w := range strings.FieldsFuncSeq(body, separate) {
		inText[w]++
	}
	for w := range strings.FieldsFuncSeq(title, separate) {
		inTitle[w]++
	}
	words := slices.Collect(strings.FieldsFuncSeq(query, separate))
	slices.Sort(words)
	for _, w := range slices.Compact(words) {
		n, titled := inText[w], inTitle[w] > 0
		switch {
		case strings.ContainsFunc(w, text.UnspacedRune):
			n, titled = strings.Count(body, w), strings.Contains(title, w)
		case utf8.RuneCountInString(w) <= 2:
			continue
		}
		score += 3 * float64(min(n, mostHits))
		if titled {
			score += 10
		}
	}
	const day = 24 * time.Hour
	switch age := now.Sub(published); {
	case published.IsZero() || age < -day:
	case age < 30*day:
		score += 15
	case age < 90*day:
		score += 10
	case age < 365*day:
		score += 5
	}
	switch n := utf8.RuneCountInString(body); {
	case n < 200:
		score -= 10
	case n > 1000:
		score += 5
	}
	return score
}
