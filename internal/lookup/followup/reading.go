package followup

import (
	"slices"
	"strings"
	"unicode/utf8"

	"familiar/internal/lookup/utterance"
	"familiar/internal/text"
)

// reading is one way to complete a message from the question before it.
type reading struct {
	query    string
	how      how
	from, to int  // cells of the question: what is replaced, or what is kept
	short    bool // the message without its article
	pair     *pair
}

type how int

const (
	swaps how = iota // the message takes the place of something in the question; of nothing, behind it
	adds             // the message asks something else of what the question is about
)

// pair is a message and the question before it.
type pair struct {
	u            utterance.Utterance
	p            prior
	before, said []cell // said without what opens and ends it
	opened       bool
	ended        bool
	insert       string // the text of said
	unspaced     bool
	hasPronoun   bool
	language     string
}

// newPair reads a message and the question before it, which are in a language, or "" if it is not clear.
func newPair(u utterance.Utterance, p prior, language string) *pair {
	r := &pair{u: u, p: p, unspaced: text.Unspaced(u.Text) || text.Unspaced(p.raw)}
	r.before, r.language = cells(p.Text, u.Text)
	languages := []string{r.language}
	if language != "" && !r.unspaced {
		r.language, languages = language, []string{language, r.language}
	}
	s := u.Text
	if len(u.Words) > 0 {
		s = s[u.Words[0].Start:u.Words[len(u.Words)-1].End]
	}
	if r.unspaced {
		r.insert, r.opened, r.ended = cutUnspaced(strings.TrimSpace(s), leanings[r.language])
	} else {
		r.insert, r.opened = cutOpening(s, languages)
	}
	r.said, _ = cells(r.insert, p.Text)
	r.hasPronoun = hasPronoun(u)
	return r
}

// cutUnspaced cuts off what opens a fragment, and what ends it.
func cutUnspaced(s string, l leaning) (rest string, opened, ended bool) {
	rest = strings.TrimRight(s, "?？!！~ㅋㅎwｗ。.、 ")
	for _, o := range l.openings.Inside {
		if after, cut := strings.CutPrefix(rest, o.Words[0]); cut && after != "" {
			rest, opened = strings.TrimLeft(after, " 、,，"), true
			break
		}
	}
	for _, e := range l.endings {
		if before, cut := strings.CutSuffix(rest, e); cut && before != "" {
			return before, opened, true
		}
	}
	return rest, opened, false
}

// cutOpening cuts off what opens a fragment in one of the languages that it may be in. In Turkish that may stand at its end.
func cutOpening(s string, languages []string) (rest string, opened bool) {
	words := text.Words(s)
	for _, code := range languages {
		l := leanings[code]
		if n, _ := l.openings.Prefix(words); n > 0 && n < len(words) {
			return s[words[n].Start:], true
		}
		if last := len(words) - 1; last > 0 {
			if n, _ := l.openings.Prefix(words[last:]); n == 1 {
				return strings.TrimRight(s[:words[last].Start], " ,"), true
			}
		}
	}
	if n, _ := anyOpenings.Prefix(words); n > 0 && n < len(words) { // in a language that was not told
		if n == 1 && text.Prepositions[words[0].Key] {
			return s, true
		}
		return s[words[n].Start:], true
	}
	return s, false
}

// The most cells that are replaced, and the most that are left out at either end.
const (
	longestSwap         = 5
	longestUnspacedSwap = 8
	longestCut          = 7
)

// readings are all ways to complete a message.
func (r *pair) readings() (all []reading) {
	n := len(r.before)
	if n == 0 || len(r.said) == 0 {
		return nil
	}
	raw := r.p.Text
	most := longestSwap
	if r.unspaced {
		most = longestUnspacedSwap
	}
	space := " "
	all = append(all, reading{raw + space + r.insert, swaps, n, n, false, r})
	inserts := []string{r.insert}
	if articles[r.said[0].key] && len(r.said) > 1 {
		inserts = append(inserts, r.insert[r.said[1].start:])
	}
	for i := 0; i < n && (r.opened || r.ended || r.said[0].role != inquires); i++ {
		for j := i + 1; j <= min(n, i+most) && !r.inName(i); j++ {
			for _, insert := range inserts {
				if !r.inName(j) {
					all = append(all, reading{raw[:r.before[i].start] + insert + raw[r.before[j-1].end:], swaps, i, j, len(insert) < len(r.insert), r})
				}
			}
		}
	}
	for i := 0; i < min(n, longestCut); i++ {
		for j := n; j > i && j >= n-longestCut; j-- {
			all = append(all, reading{r.insert + space + raw[r.before[i].start:r.before[j-1].end], adds, i, j, false, r})
		}
	}
	return all
}

// count counts the cells of a role.
func count(cells []cell, of role) (n int) {
	for _, c := range cells {
		if c.role == of {
			n++
		}
	}
	return n
}

func is(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// words is how many words a fragment has, or what comes near it.
func (r *pair) words() int {
	if r.unspaced && !strings.Contains(r.insert, " ") {
		return (len([]rune(r.insert)) + 1) / 2
	}
	return len(r.said)
}

// inName reports whether a place in the question is within a name, of which all is replaced, or nothing.
func (r *pair) inName(at int) bool {
	return 0 < at && at < len(r.before) && r.before[at-1].role == named && r.before[at].role == named
}

// cuts is how many runs of what belongs together, such as the words of a name, are cut in two at the ends of the cells of a reading.
func (r *reading) cuts() (n float64) {
	all := r.pair.before
	together := func(i int) bool {
		if i <= 0 || i >= len(all) {
			return false
		}
		a, b := all[i-1].role, all[i].role
		if all[i].glued {
			return a == b && all[i].kinds == 0
		}
		return a == named && b == named || a == fresh && b == fresh || a == moment && b == moment
	}
	if r.from == r.to {
		return 0
	}
	return is(together(r.from)) + is(together(r.to))
}

// sameEnding reports whether two words end alike.
func sameEnding(a, b string) bool {
	x, y := []rune(a), []rune(b)
	return len(x) > 3 && len(y) > 3 && x[len(x)-1] == y[len(y)-1] && x[len(x)-2] == y[len(y)-2]
}

// twice is how many words of what is said stay in the question, too.
func (r *reading) twice() (n float64) {
	for _, c := range r.pair.said {
		if c.role == filler {
			continue
		}
		for i, b := range r.pair.before {
			if (i < r.from || i >= r.to) && b.key == c.key {
				n++
				break
			}
		}
	}
	return min(n, 2)
}

// isFreshRun reports whether what is replaced is the last, or the first, run of words that no table knows.
func (r *reading) isFreshRun(last bool) bool {
	if r.from == r.to {
		return false
	}
	all := r.pair.before
	about := func(c cell) bool { return c.role == fresh || c.role == named }
	for _, c := range all[r.from:r.to] {
		if !about(c) {
			return false
		}
	}
	rest := all[r.to:]
	if !last {
		rest = all[:r.from]
	}
	return !slices.ContainsFunc(rest, about)
}

func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}
