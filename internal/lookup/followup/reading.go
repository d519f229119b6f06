package followup

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"familiar/internal/linear"
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
	ruled            // a rule completes it
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
	language     string
}

func newPair(u utterance.Utterance, p prior) *pair {
	r := &pair{u: u, p: p, unspaced: text.Unspaced(u.Text) || text.Unspaced(p.raw)}
	r.before, r.language = cells(p.Text, u.Text)
	languages := []string{r.language}
	if l := text.Language(u.Text+" "+p.raw, slices.Concat(u.Words, p.Words)); l != "" && !r.unspaced {
		r.language, languages = l, []string{l, r.language}
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
	longest := longestSwap
	if r.unspaced {
		longest = longestUnspacedSwap
	}
	space := " "
	if s, ok := rewrite(r.u, r.p); ok {
		all = append(all, reading{s, ruled, 0, 0, false, r})
	}
	all = append(all, reading{raw + space + r.insert, swaps, n, n, false, r})
	inserts := []string{r.insert}
	if articles[r.said[0].key] && len(r.said) > 1 {
		inserts = append(inserts, r.insert[r.said[1].start:])
	}
	for i := 0; i < n && (r.opened || r.ended || r.said[0].role != inquires); i++ {
		for j := i + 1; j <= min(n, i+longest) && !r.inName(i); j++ {
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

type readingTrait = linear.Trait[reading]

func is(b bool) float64 {
	if b {
		return 1
	}
	return 0
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

var roleNames = [roles]string{"fresh", "name", "number", "moment", "asks", "known", "small"}

// traits are what a reading is chosen by.
var traits = func() []readingTrait {
	var all []readingTrait
	add := func(name string, of how, value func(r *reading) float64) {
		all = append(all, readingTrait{Name: name, Value: func(r *reading) float64 {
			if r.how != of {
				return 0
			}
			return value(r)
		}})
	}
	for _, h := range []how{swaps, adds} {
		at := map[how]string{swaps: "swap ", adds: "add "}[h]
		add(at, h, func(*reading) float64 { return 1 })
		for of := range roles {
			add(at+"said has "+roleNames[of], h, func(r *reading) float64 { return is(count(r.pair.said, of) > 0) })
			add(at+"said all "+roleNames[of], h, func(r *reading) float64 { return is(count(r.pair.said, of) == len(r.pair.said)) })
		}
		for of := range roles {
			add(at+"said first "+roleNames[of], h, func(r *reading) float64 { return is(r.pair.said[0].role == of) })
			add(at+"said last "+roleNames[of], h, func(r *reading) float64 { return is(r.pair.said[len(r.pair.said)-1].role == of) })
		}
		add(at+"said article", h, func(r *reading) float64 { return is(articles[r.pair.said[0].key]) })
		add(at+"question", h, func(r *reading) float64 { return is(r.pair.u.HasQuestionMark()) })
		add(at+"opened", h, func(r *reading) float64 { return is(r.pair.opened) })
		add(at+"ended", h, func(r *reading) float64 { return is(r.pair.ended) })
		add(at+"opened and asks", h, func(r *reading) float64 {
			return is((r.pair.opened || r.pair.ended) && count(r.pair.said, inquires) > 0)
		})
		add(at+"says much", h, func(r *reading) float64 { return float64(min(r.pair.words(), 6)) / 3 })
		add(at+"one", h, func(r *reading) float64 { return is(len(r.pair.said) == 1) })
		add(at+"pronoun", h, func(r *reading) float64 { return is(hasPronoun(r.pair.u)) })
		add(at+"preposition", h, func(r *reading) float64 { return is(text.Prepositions[r.pair.said[0].key]) })
		add(at+"of two words known", h, func(r *reading) float64 { return is(len(r.pair.said) == 2 && count(r.pair.said, known) > 0) })
	}
	for of := range roles {
		add("rule said has "+roleNames[of], ruled, func(r *reading) float64 { return is(count(r.pair.said, of) > 0) })
	}
	for _, code := range []string{"en", "de", "es", "fr"} {
		add("rule "+code, ruled, func(r *reading) float64 { return is(r.pair.language == code) })
	}
	add("rule", ruled, func(*reading) float64 { return 1 })
	add("rule fragment", ruled, func(r *reading) float64 { return is(isFragment(r.pair.u)) })
	add("rule pronoun", ruled, func(r *reading) float64 { return is(hasPronoun(r.pair.u)) })
	add("rule subject", ruled, func(r *reading) float64 { return is(lacksSubject(r.pair.u) || lacksOwner(r.pair.u)) })
	add("rule bare", ruled, func(r *reading) float64 { return is(isBareQuestion(r.pair.u)) })
	add("rule again", ruled, func(r *reading) float64 { return is(isRepetition(r.pair.u)) })
	add("rule unspaced", ruled, func(r *reading) float64 { return is(r.pair.unspaced) })
	// what is replaced
	span := func(r *reading) []cell { return r.pair.before[r.from:r.to] }
	add("swap nothing", swaps, func(r *reading) float64 { return is(r.from == r.to) })
	for of := range roles {
		add("swap nothing for "+roleNames[of], swaps, func(r *reading) float64 { return is(r.from == r.to && count(r.pair.said, of) > 0) })
		add("swap has "+roleNames[of], swaps, func(r *reading) float64 { return is(count(span(r), of) > 0) })
		add("swap first "+roleNames[of], swaps, func(r *reading) float64 { return is(r.from < r.to && span(r)[0].role == of) })
		add("swap last "+roleNames[of], swaps, func(r *reading) float64 { return is(r.from < r.to && span(r)[len(span(r))-1].role == of) })
		for with := range roles {
			add("swap "+roleNames[with]+" for "+roleNames[of], swaps, func(r *reading) float64 {
				return is(r.from < r.to && count(span(r), of) > 0 && count(r.pair.said, with) > 0)
			})
		}
		add("swap behind "+roleNames[of], swaps, func(r *reading) float64 { return is(r.from < r.to && r.from > 0 && r.pair.before[r.from-1].role == of) })
		add("swap before "+roleNames[of], swaps, func(r *reading) float64 {
			return is(r.from < r.to && r.to < len(r.pair.before) && r.pair.before[r.to].role == of)
		})
		add("swap leaves "+roleNames[of], swaps, func(r *reading) float64 {
			return is(r.from < r.to && count(r.pair.before, of) > count(span(r), of))
		})
	}
	for left := role(-1); left < roles; left++ {
		for right := role(-1); right < roles; right++ {
			at := edgeName(left) + "|" + edgeName(right)
			add("swap from "+at, swaps, func(r *reading) float64 { return is(r.from < r.to && r.edge(r.from, left, right)) })
			add("swap to "+at, swaps, func(r *reading) float64 { return is(r.from < r.to && r.edge(r.to, left, right)) })
			add("add from "+at, adds, func(r *reading) float64 { return is(r.edge(r.from, left, right)) })
			add("add to "+at, adds, func(r *reading) float64 { return is(r.edge(r.to, left, right)) })
		}
	}
	for _, kind := range kindNames {
		add("swap kind "+kind, swaps, func(r *reading) float64 { return is(hasKind(span(r), kind)) })
		add("swap said kind "+kind, swaps, func(r *reading) float64 { return is(hasKind(r.pair.said, kind)) })
		add("add said kind "+kind, adds, func(r *reading) float64 { return is(hasKind(r.pair.said, kind)) })
		add("add leaves out kind "+kind, adds, func(r *reading) float64 {
			return is(hasKind(r.pair.before[:r.from], kind) || hasKind(r.pair.before[r.to:], kind))
		})
		add("add keeps kind "+kind, adds, func(r *reading) float64 { return is(hasKind(span(r), kind)) })
	}
	for _, of := range []role{moment, number, named} {
		add("swap misses "+roleNames[of], swaps, func(r *reading) float64 {
			return is(count(r.pair.said, of) > 0 && count(r.pair.before, of) > 0 && count(span(r), of) == 0)
		})
	}
	add("swap misses kind", swaps, func(r *reading) float64 {
		all := reading{from: 0, to: len(r.pair.before), pair: r.pair}
		return is(all.sharedKinds() > 0 && r.sharedKinds() == 0)
	})
	add("swap misses preposition", swaps, func(r *reading) float64 {
		if !text.Prepositions[r.pair.said[0].key] || r.from < r.to && plainPreposition(span(r)[0].key) == plainPreposition(r.pair.said[0].key) {
			return 0
		}
		return is(slices.ContainsFunc(r.pair.before, func(c cell) bool { return plainPreposition(c.key) == plainPreposition(r.pair.said[0].key) }))
	})
	add("swap same roles", swaps, func(r *reading) float64 {
		if r.from == r.to {
			return 0
		}
		for of := range filler {
			if (count(span(r), of) > 0) != (count(r.pair.said, of) > 0) {
				return 0
			}
		}
		return 1
	})
	add("swap same last letter", swaps, func(r *reading) float64 {
		return is(r.from < r.to && lastRune(span(r)[len(span(r))-1].key) == lastRune(r.pair.said[len(r.pair.said)-1].key))
	})
	add("swap one for one", swaps, func(r *reading) float64 { return is(r.to-r.from == 1 && len(r.pair.said) == 1) })
	add("swap all", swaps, func(r *reading) float64 { return is(r.from == 0 && r.to == len(r.pair.before)) })
	add("swap at end", swaps, func(r *reading) float64 { return is(r.from < r.to && r.to == len(r.pair.before)) })
	add("swap at start", swaps, func(r *reading) float64 { return is(r.from == 0) })
	add("swap length", swaps, func(r *reading) float64 {
		if r.from == r.to {
			return 0
		}
		d := r.to - r.from - len(r.pair.said)
		if r.pair.unspaced {
			d = len([]rune(r.pair.p.Text[span(r)[0].start:span(r)[len(span(r))-1].end])) - len([]rune(r.pair.insert))
		}
		return float64(min(max(d, -d), 4))
	})
	add("swap longer", swaps, func(r *reading) float64 { return float64(max(0, r.to-r.from-len(r.pair.said))) })
	add("swap cuts", swaps, func(r *reading) float64 { return r.cuts() })
	add("swap cuts unspaced", swaps, func(r *reading) float64 {
		if !r.pair.unspaced {
			return 0
		}
		return r.cuts()
	})
	add("swap same preposition", swaps, func(r *reading) float64 {
		return is(r.from < r.to && r.to-r.from > 1 && text.Prepositions[span(r)[0].key] && plainPreposition(span(r)[0].key) == plainPreposition(r.pair.said[0].key))
	})
	add("swap preposition for none", swaps, func(r *reading) float64 {
		return is(r.from < r.to && text.Prepositions[span(r)[0].key] && !text.Prepositions[r.pair.said[0].key])
	})
	add("swap doubles preposition", swaps, func(r *reading) float64 {
		return is(r.from > 0 && r.from < r.to && text.Prepositions[r.pair.said[0].key] && text.Prepositions[r.pair.before[r.from-1].key])
	})
	add("swap behind preposition", swaps, func(r *reading) float64 {
		return is(r.from > 0 && r.from < r.to && !text.Prepositions[r.pair.said[0].key] && text.Prepositions[r.pair.before[r.from-1].key])
	})
	add("swap none for preposition", swaps, func(r *reading) float64 {
		return is(r.from < r.to && !text.Prepositions[span(r)[0].key] && text.Prepositions[r.pair.said[0].key])
	})
	add("swap article for article", swaps, func(r *reading) float64 {
		return is(r.from < r.to && articles[r.pair.said[0].key] && articles[span(r)[0].key])
	})
	add("swap without article", swaps, func(r *reading) float64 { return is(r.short) })
	add("swap number without article", swaps, func(r *reading) float64 { return is(r.short && count(r.pair.said, number) > 0) })
	add("swap without article behind article", swaps, func(r *reading) float64 { return is(r.short && r.from > 0 && articles[r.pair.before[r.from-1].key]) })
	add("swap none for article", swaps, func(r *reading) float64 {
		return is(r.from < r.to && articles[r.pair.said[0].key] && !articles[span(r)[0].key])
	})
	add("swap article for none", swaps, func(r *reading) float64 {
		return is(r.from < r.to && !articles[r.pair.said[0].key] && articles[span(r)[0].key])
	})
	add("swap doubles article", swaps, func(r *reading) float64 {
		return is(r.from > 0 && r.from < r.to && articles[r.pair.said[0].key] && articles[r.pair.before[r.from-1].key])
	})
	add("swap same kind", swaps, func(r *reading) float64 { return r.sharedKinds() })
	add("swap same ending", swaps, func(r *reading) float64 {
		return is(r.from < r.to && sameEnding(span(r)[len(span(r))-1].key, r.pair.said[len(r.pair.said)-1].key))
	})
	add("swap same last", swaps, func(r *reading) float64 {
		return is(r.from < r.to && span(r)[len(span(r))-1].key == r.pair.said[len(r.pair.said)-1].key)
	})
	add("swap same first", swaps, func(r *reading) float64 { return is(r.from < r.to && span(r)[0].key == r.pair.said[0].key) })
	add("swap says twice", swaps, func(r *reading) float64 { return r.twice() })
	add("swap last fresh", swaps, func(r *reading) float64 { return is(r.isFreshRun(true)) })
	add("swap first fresh", swaps, func(r *reading) float64 { return is(r.isFreshRun(false)) })
	// what is kept, and what is not
	for of := range roles {
		add("add leaves out "+roleNames[of], adds, func(r *reading) float64 {
			return is(count(r.pair.before, of) > count(span(r), of))
		})
		add("add leaves out right "+roleNames[of], adds, func(r *reading) float64 { return is(count(r.pair.before[r.to:], of) > 0) })
		add("add leaves out all "+roleNames[of], adds, func(r *reading) float64 {
			return is(count(r.pair.before, of) > 0 && count(span(r), of) == 0)
		})
		add("add first "+roleNames[of], adds, func(r *reading) float64 { return is(span(r)[0].role == of) })
		add("add last "+roleNames[of], adds, func(r *reading) float64 { return is(span(r)[len(span(r))-1].role == of) })
		add("add behind "+roleNames[of], adds, func(r *reading) float64 { return is(r.from > 0 && r.pair.before[r.from-1].role == of) })
		add("add before "+roleNames[of], adds, func(r *reading) float64 { return is(r.to < len(r.pair.before) && r.pair.before[r.to].role == of) })
	}
	add("add first article", adds, func(r *reading) float64 { return is(articles[span(r)[0].key]) })
	add("add first preposition", adds, func(r *reading) float64 { return is(text.Prepositions[span(r)[0].key]) })
	add("add behind article", adds, func(r *reading) float64 { return is(r.from > 0 && articles[r.pair.before[r.from-1].key]) })
	add("add behind preposition", adds, func(r *reading) float64 { return is(r.from > 0 && text.Prepositions[r.pair.before[r.from-1].key]) })
	for n := range 3 {
		add(fmt.Sprint("add leaves out first ", n), adds, func(r *reading) float64 { return is(r.from == n) })
		add(fmt.Sprint("add leaves out last ", n), adds, func(r *reading) float64 { return is(len(r.pair.before)-r.to == n) })
	}
	add("add whole", adds, func(r *reading) float64 { return is(r.from == 0 && r.to == len(r.pair.before)) })
	add("add whole of who", adds, func(r *reading) float64 {
		return is(r.from == 0 && r.to == len(r.pair.before) && r.pair.before[0].kinds["who"])
	})
	add("add whole and pronoun", adds, func(r *reading) float64 {
		return is(r.from == 0 && r.to == len(r.pair.before) && hasPronoun(r.pair.u))
	})
	add("add cuts", adds, func(r *reading) float64 { return r.cuts() })
	add("add length", adds, func(r *reading) float64 { return float64(min(r.to-r.from, 8)) / 4 })
	return all
}()

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
			return a == b && len(all[i].kinds) == 0
		}
		return a == named && b == named || a == fresh && b == fresh || a == moment && b == moment
	}
	if r.from == r.to {
		return 0
	}
	return is(together(r.from)) + is(together(r.to))
}

// sharedKinds is how many of the kinds of what is said what is replaced has.
func (r *reading) sharedKinds() (n float64) {
	seen := map[string]bool{}
	for _, c := range r.pair.before[r.from:r.to] {
		for k := range c.kinds {
			seen[k] = true
		}
	}
	if len(seen) == 0 {
		return 0
	}
	for _, c := range r.pair.said {
		for k := range c.kinds {
			if seen[k] {
				return 1
			}
		}
	}
	return 0
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

// kindNames are the kinds of words that package need knows.
var kindNames = strings.Fields("who what when where which why how many you all i we one aux order fetch weather news media person life work make trouble price hours travel place sport release define safe compare stat talk feel opinion device text sum room tech home time bot")

func hasKind(cells []cell, kind string) bool {
	return slices.ContainsFunc(cells, func(c cell) bool { return c.kinds[kind] })
}

// edgeName is the name of a role, or of none, where a text ends.
func edgeName(of role) string {
	if of < 0 {
		return "end"
	}
	return roleNames[of]
}

// edge reports whether the cells of the question on both sides of a place have roles.
func (r *reading) edge(at int, left, right role) bool {
	all := r.pair.before
	if at == 0 {
		if left >= 0 {
			return false
		}
	} else if left < 0 || all[at-1].role != left {
		return false
	}
	if at == len(all) {
		return right < 0
	}
	return right >= 0 && all[at].role == right
}

func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}
