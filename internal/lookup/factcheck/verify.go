package factcheck

import (
	"math"
	"regexp"
	"strings"

	"familiar/internal/lookup/claim"
	"familiar/internal/text"
	"familiar/internal/text/lang"
	"familiar/internal/web/guard"
)

// The verdicts of a fact check.
const (
	Supports     = "supports"
	Contradicts  = "contradicts"
	inconclusive = "inconclusive" // too few independent sites speak to it, or they disagree
	Unverified   = "unverified"   // as inconclusive, of a living person: nothing is said of them on thin evidence
)

const (
	independent = 3    // sites that a verdict needs
	sure        = 0.55 // probability from which a page is taken to bear a claim out
	mostOfIt    = 0.7  // of the claim's words that its best sentences must then hold
	QuoteWords  = 25   // of a quotation, at most
	sureEnough  = 0.7  // confidence below which nothing is said of a living person
)

// Page is a page that may speak to a statement. One without Text was not read.
type Page struct {
	Title, Text string
	Site        string // host
}

// Stance is what one page says to the claim: for it or against it.
type Stance struct {
	Page    int // index of its page
	Against bool
	Text    string // the sentence
	Rule    string // by which it is against
	site    string // registrable domain
	near    map[uint64]bool
}

// Rule makes a verdict on a statement of what the pages say to it. Pages of one site, and those that repeat others, count
// once.
func Rule(said string, all []Stance, pages []Page) (label string, confidence float64) {
	count := map[bool]int{}
	for i, st := range all {
		if !repeats(st, all[:i]) {
			count[st.Against]++
		}
	}
	label, confidence = ruling(count[false], count[true])
	if confidence < sureEnough && living(said, pages) {
		return Unverified, 0
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
		return Supports, confidence
	case contra >= independent && contra > 2*pro:
		return Contradicts, confidence
	}
	return inconclusive, math.Round(100*(0.3+0.2*float64(min(n, 5))/5)) / 100
}

// TakeStance weighs a page. It is for the claim where the model thinks so and nearly all of the claim is there, and
// against it where a rule says so; else it says nothing.
func TakeStance(said string, page *Page) (Stance, bool) {
	var sentences []string
	for _, s := range text.Sentences(page.Text) {
		if len(s) >= text.MinSentence || text.Unspaced(s) {
			sentences = append(sentences, text.Truncate(s, claim.MaxLength))
		}
	}
	w := Weigh(said, page.Title, sentences)
	st := Stance{site: guard.Registrable(page.Site)}
	if st.site == "" {
		st.site = page.Site
	}
	switch {
	case w.Conflict != "":
		st.Against, st.Rule, st.Text = true, w.Conflict, w.passages[w.against].text
	case w.Supports >= sure && w.held >= mostOfIt && claim.Negates(said) == claim.Negates(w.passages[0].text):
		st.Text = w.passages[0].text
	default:
		return st, false
	}
	st.near = text.Shingles(page.Text)
	return st, true
}

// repeats says whether a stance is another's over again: of the same site, in the same words, or of a page that is
// the same for the most part.
func repeats(st Stance, before []Stance) bool {
	for _, b := range before {
		if b.site == st.site || sameWords(b.Text, st.Text) || text.Similar(b.near, st.near) {
			return true
		}
	}
	return false
}

// sameWords says whether two sentences are one, but for a word or two; short ones may agree by chance.
func sameWords(a, b string) bool {
	x, y := text.Terms(a, ""), text.Terms(b, "")
	return min(len(x), len(y)) >= 8 && text.Jaccard(x, y) >= 0.8
}

// asking to check something, which is no part of what is to be checked.
var (
	checkLead = regexp.MustCompile(`(?i)^.*?(?:^|[^\pL])(?:` + lang.All().FactCheck.Lead.String() + `)(?:$|[^\pL])[\s:,–-]*`)
	checkTail = regexp.MustCompile(`(?i)(?:[\s,–-]*\b(?:` + lang.All().FactCheck.Tail.String() + `)|[,–-]\s*(?:` + lang.All().FactCheck.Tag.String() + `))?[\s?!.]*$`)
	helper    = regexp.MustCompile(`(?i)^(?:` + lang.All().FactCheck.Auxiliaries.String() + `)\s+|\b(?:` + lang.All().FactCheck.Adverbs.String() + `)\s+`)
	hearsaid  = regexp.MustCompile(`(?i)^(?:` + lang.All().FactCheck.Hearsay.String() + `)\s+`)
)

// Statement is the statement that a question asks about: "is it true that X?" asks about X.
func Statement(question string) string {
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

// Excerpt is the part of a sentence with the most of the claim's words in it, short enough to be quoted.
func Excerpt(said, sentence string) string {
	words := text.Words(sentence)
	if len(words) <= QuoteWords {
		return sentence
	}
	wanted := map[string]bool{}
	for _, w := range text.ContentWords(said) {
		wanted[w.Key] = true
	}
	from, most := 0, -1
	for i := 0; i+QuoteWords <= len(words); i++ {
		hits := 0
		for _, w := range words[i : i+QuoteWords] {
			if wanted[w.Key] {
				hits++
			}
		}
		if hits > most {
			from, most = i, hits
		}
	}
	return sentence[words[from].Start:words[from+QuoteWords-1].End]
}
