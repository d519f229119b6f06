package websearch

import (
	"hash/fnv"
	"math"
	"regexp"
	"slices"
	"strings"

	"familiar/internal/web/guard"
)

// The verdicts of a fact check.
const (
	supports     = "supports"
	contradicts  = "contradicts"
	inconclusive = "inconclusive" // too few independent sites speak to it, or they disagree
	unverified   = "unverified"   // as inconclusive, of a living person: nothing is said of them on thin evidence
)

const (
	independent = 3    // sites that a verdict needs
	sure        = 0.55 // probability from which a page is taken to bear a claim out
	mostOfIt    = 0.7  // of the claim's words that its best sentences must then hold
	quoteWords  = 25   // of a quotation, at most
	sureEnough  = 0.7  // confidence below which nothing is said of a living person
)

// statementPage is a page that may speak to a statement. One without Text was not read.
type statementPage struct {
	Title, Text string
	Site        string // host
}

// stance is what one page says to the claim: for it or against it.
type stance struct {
	page    int // index of its page
	against bool
	text    string // the sentence
	rule    string // by which it is against
	site    string // registrable domain
	near    map[uint64]bool
}

// rule makes a verdict on a statement of what the pages say to it. Pages of one site, and those that repeat others, count
// once.
func rule(said string, all []stance, pages []statementPage) (label string, confidence float64) {
	count := map[bool]int{}
	for i, st := range all {
		if !repeats(st, all[:i]) {
			count[st.against]++
		}
	}
	label, confidence = ruling(count[false], count[true])
	if confidence < sureEnough && living(said, pages) {
		return unverified, 0
	}
	return label, confidence
}

// ruling makes a verdict of how many independent sites speak for and against. Its confidence grows with their
// agreement and their number.
func ruling(pro, contra int) (label string, confidence float64) {
	n := pro + contra
	agree := float64(max(pro, contra)) / math.Max(1, float64(n))
	confidence = math.Round(100*min(0.95, max(0.5, 0.7*agree+0.3*float64(min(n, 10))/10))) / 100
	switch {
	case pro >= independent && pro > 2*contra:
		return supports, confidence
	case contra >= independent && contra > 2*pro:
		return contradicts, confidence
	}
	return inconclusive, math.Round(100*(0.3+0.2*float64(min(n, 5))/5)) / 100
}

// takeStance weighs a page. It is for the claim where the model thinks so and nearly all of the claim is there, and
// against it where a rule says so; else it says nothing.
func takeStance(said string, page *statementPage) (stance, bool) {
	var sentences []string
	for _, text := range splitSentences(page.Text) {
		if len(text) >= minSentence || unspaced(text) {
			sentences = append(sentences, cut(text, maxFact))
		}
	}
	w := Weigh(said, page.Title, sentences)
	st := stance{site: guard.Registrable(page.Site)}
	if st.site == "" {
		st.site = page.Site
	}
	switch {
	case w.Conflict != "":
		st.against, st.rule, st.text = true, w.Conflict, w.passages[w.against].text
	case w.Supports >= sure && w.held >= mostOfIt && negates(said) == negates(w.passages[0].text):
		st.text = w.passages[0].text
	default:
		return st, false
	}
	st.near = shingles(page.Text)
	return st, true
}

// repeats says whether a stance is another's over again: of the same site, in the same words, or of a page that is
// the same for the most part.
func repeats(st stance, before []stance) bool {
	for _, b := range before {
		if b.site == st.site || sameWords(b.text, st.text) || alikePages(b.near, st.near) {
			return true
		}
	}
	return false
}

// sameWords says whether two sentences are one, but for a word or two; short ones may agree by chance.
func sameWords(a, b string) bool {
	x, y := terms(a, ""), terms(b, "")
	return min(len(x), len(y)) >= 8 && jaccard(x, y) >= 0.8
}

// sketch is how many shingles stand for a page.
const sketch = 64

// shingles are the smallest hashes of a page's runs of four words (Broder, 1997): the share that two pages have in
// common is about that of their runs.
func shingles(text string) map[uint64]bool {
	words := split(text)
	var all []uint64
	for i := 0; i+4 <= len(words); i++ {
		h := fnv.New64a()
		for _, w := range words[i : i+4] {
			h.Write([]byte(w.key))
			h.Write([]byte{0})
		}
		all = append(all, h.Sum64())
	}
	slices.Sort(all)
	all = slices.Compact(all)
	near := make(map[uint64]bool, sketch)
	for _, h := range all[:min(sketch, len(all))] {
		near[h] = true
	}
	return near
}

func alikePages(a, b map[uint64]bool) bool {
	least := min(len(a), len(b))
	both := 0
	for h := range a {
		if b[h] {
			both++
		}
	}
	return least >= 16 && both*2 >= least
}

// asking to check something, which is no part of what is to be checked.
var (
	checkLead = regexp.MustCompile(`(?i)^.*?(?:^|[^\pL])(?:(?:is|was) (?:it|that|this) (?:really |actually |even )?(?:true|real|correct|right|confirmed|a fact|a myth|false)(?: that| when)?|true or false|real or fake|fact[- ]?check|(?:can you |please )*(?:verify|confirm|check)(?: that| whether| if)?|is there (?:any )?evidence (?:that|for)|stimmt (?:es|das)(?:,? dass|:)|ist es wahr,? dass|est-ce (?:vrai )?qu[e’']|est-il vrai qu[e’']|c[’']est vrai qu[e’']|es (?:cierto|verdad) que|é verdade que|è vero che|is het waar dat|правда ли,? что|debunk)(?:$|[^\pL])[\s:,–-]*`)
	checkTail = regexp.MustCompile(`(?i)(?:[\s,–-]*\b(?:is (?:it|that|this) (?:really |actually )?(?:true|real|correct|right)|true or false|stimmt das|is that a fact)|[,–-]\s*(?:right|really|oder|no|n'est-ce pas|verdad|vero))?[\s?!.]*$`)
	helper    = regexp.MustCompile(`(?i)^(?:did|does|do|is|are|was|were|has|have|had|can|could|will|would|hat|ist|sind|war)\s+|\b(?:really|actually|wirklich|tatsächlich|vraiment|realmente|davvero)\s+`)
	hearsaid  = regexp.MustCompile(`(?i)^(?:so )?(?:i(?: have|'ve)? (?:heard|read|was told|think)|they say|people say|someone (?:said|told me))(?: somewhere)?(?: that)?\s+`)
)

// stated is the statement that a question asks about: "is it true that X?" asks about X.
func stated(question string) string {
	s := checkTail.ReplaceAllString(question, "")
	if rest := checkLead.ReplaceAllString(s, ""); rest != "" {
		s = rest
	}
	s = helper.ReplaceAllString(hearsaid.ReplaceAllString(s, ""), "")
	if s = strings.TrimSpace(s); s == "" {
		return question
	}
	return s
}

// excerpt is the part of a sentence with the most of the claim's words in it, short enough to be quoted.
func excerpt(said, sentence string) string {
	words := split(sentence)
	if len(words) <= quoteWords {
		return sentence
	}
	wanted := map[string]bool{}
	for _, w := range content(said) {
		wanted[w.key] = true
	}
	from, most := 0, -1
	for i := 0; i+quoteWords <= len(words); i++ {
		hits := 0
		for _, w := range words[i : i+quoteWords] {
			if wanted[w.key] {
				hits++
			}
		}
		if hits > most {
			from, most = i, hits
		}
	}
	return sentence[words[from].start:words[from+quoteWords-1].end]
}
