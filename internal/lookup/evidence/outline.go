package evidence

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"familiar/internal/text"
	"familiar/internal/text/lang"
)

const (
	// outlineWords is how long the outline of a page is. What people write when asked to sum up minutes of talk is
	// two thirds of that; quoted sentences hold as much in half as many words again.
	outlineWords = 100
	// repeated is what a sentence loses whose words have all been said, about as much as by not being about the
	// question.
	repeated = 0.5
)

// outline sums pages up: of each the sentences that are most about the question and say most, little twice, in their
// order.
func outline(q *Question, pages []Page, limit int) []Sentence {
	all := q.sentences(pages)
	var out []Sentence
	for from, to := 0, 0; from < len(all); from = to {
		for to = from; to < len(all) && all[to].Page == all[from].Page; to++ {
			all[to].Score = all[to].salience()
		}
		out = append(out, q.gist(all[from:to], eachOf(pages, limit))...)
	}
	for i := limit; i < len(out); i++ {
		q.drop(&out[i], DroppedNoRoom)
	}
	out = out[:min(len(out), limit)]
	for i := range out { // so that they stay in this order, behind the side model's notes
		out[i].Score = usualScore - float64(i)/100
	}
	return out
}

// salience is how much a sentence says of what is asked.
func (s *Sentence) salience() float64 {
	return s.traits[traitCover] + 0.3*s.traits[traitLine] + s.traits[traitLong] - 0.3*s.traits[traitLate]
}

// gist takes the most salient sentences of a page, each time less what those before have said (maximal marginal
// relevance, Carbonell and Goldstein, 1998).
func (q *Question) gist(page []Sentence, limit int) []Sentence {
	left := slices.Clone(page)
	slices.SortStableFunc(left, func(a, b Sentence) int { return cmp.Compare(b.Score, a.Score) })
	left = left[:min(len(left), 8*limit)]
	var out []Sentence
	said := map[string]bool{}
	for words := 0; len(left) > 0 && len(out) < limit && words < outlineWords; {
		best, most := 0, 0.0
		for i := range left {
			if worth := left[i].Score - repeated*left[i].saidShare(said); i == 0 || worth > most {
				best, most = i, worth
			}
		}
		s := left[best]
		left = slices.Delete(left, best, best+1)
		if n := len(s.words); words+n <= outlineWords*115/100 || words <= outlineWords*6/10 {
			out = append(out, s)
			words += n
			for _, w := range s.words {
				said[w.Key] = true
			}
		} else {
			q.drop(&s, DroppedNoRoom)
		}
	}
	for i := range left {
		q.drop(&left[i], DroppedBelow)
	}
	slices.SortFunc(out, func(a, b Sentence) int { return a.place - b.place })
	return out
}

// saidShare is the share of its words that have been said.
func (s *Sentence) saidShare(said map[string]bool) float64 {
	n := 0
	for _, w := range s.words {
		if said[w.Key] {
			n++
		}
	}
	return float64(n) / float64(1+len(s.words))
}

// outlineTerms ask for an outline and not for what it is of.
var outlineTerms = func() map[string]bool {
	out := map[string]bool{}
	for _, t := range text.Terms(string(lang.All().Evidence.SummaryWords), "") {
		out[t] = true
	}
	return out
}()

var (
	// noise is what a transcript notes of sounds: {laughs}.
	noise = regexp.MustCompile(`\s*\{[a-z_ ]{1,20}\}`)
	// hesitation is what people say while they think.
	hesitation = regexp.MustCompile(`(?i)(?:,\s*)?\b(?:uh|uhm|um|erm|hmm|mm|mhm)\b(?:\s*,)?`)
)

// spoken is how it is quoted in an outline: of what somebody said, the words alone.
func (s *Sentence) spoken() string {
	body := noise.ReplaceAllString(s.shown(), "")
	if text.Language(body, s.words) == "en" {
		body = hesitation.ReplaceAllString(body, "")
	}
	if body = text.OneLine(body); utf8.RuneCountInString(body) < text.MinSentence || strings.HasSuffix(body, ":") {
		return s.shown()
	}
	return body
}
