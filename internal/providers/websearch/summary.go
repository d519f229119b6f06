package websearch

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/evidence"
	"familiar/internal/factcheck"
	"familiar/internal/question"
	"familiar/internal/text"
	"familiar/internal/web/clean"
)

// finding is a checked quote for the block.
type finding struct {
	turn.Claim
	source int
	also   []backing
	same   []finding // equal findings that it replaces
	terms  []string  // for [finding.sameAs]
	score  float64
}

// summary is what the pages say, best first.
type summary struct {
	claims   []finding
	rejected []turn.Claim
	dropped  []evidence.Dropped
	// unanswered says that no page answers the question, so that the claims are what the named pages say.
	unanswered bool
	verdict    *turn.Verdict   // fact checks only
	stances    []checkedStance // of the verdict
	by         string
}

// byExtraction is the Lookup.By of a summary without a model.
const byExtraction = "extractive"

// collect takes the quotes that the side model selected, and others that it left out but are worth keeping.
func collect(sources []source, selected []selection, pl *question.Plan, limit int) summary {
	asking, lang := pl.Question, pl.Language
	out := summary{by: byExtraction}
	asked := text.Unique(text.Terms(asking, lang))
	quoted := map[int][]string{} // by page: the selected quotes
	for _, sel := range selected {
		for i, number := range sel.numbers {
			c, ok := sel.claim(number, &sources[sel.source])
			if !ok {
				out.rejected = append(out.rejected, c)
				continue
			}
			quoted[sel.source] = append(quoted[sel.source], c.Quote)
			out.by = sel.model
			out.claims = append(out.claims, finding{Claim: c, source: sel.source, score: sel.score(i, c, asked, lang, sources[sel.source].rank)})
		}
	}
	q := evidence.NewQuestion(asking, lang, pl.Day)
	chosen := q.Choose
	if pl.Outline {
		q = evidence.NewQuestion("", lang, text.Date{})
		chosen = q.Outline
	}
	for _, s := range chosen(evidencePages(sources), limit) {
		if out.by != byExtraction && (!pl.Outline && !s.HasTerm() || covered(&s, quoted)) {
			out.dropped = append(out.dropped, evidence.Dropped{Page: s.Page, Text: s.Excerpt, Score: s.Score, Why: evidence.DroppedSelected})
			continue
		}
		out.quote(&s, sources)
	}
	out.dropped = append(out.dropped, q.Dropped...)
	if len(out.claims) == 0 && !pl.Outline {
		out.tellNamed(sources, pl, limit)
	}
	sort.SliceStable(out.claims, func(i, j int) bool {
		a, b := out.claims[i], out.claims[j]
		return cmp.Compare(b.score, a.score) < 0
	})
	out.claims = mergeFindings(out.claims)
	return out
}

// quote adds a sentence of a page as a claim, if it passes the checks.
func (s *summary) quote(sentence *evidence.Sentence, sources []source) {
	c, ok := sources[sentence.Page].claim(&sentence.Quote, sentence.Excerpt)
	if !ok {
		s.dropped = append(s.dropped, evidence.Dropped{Page: sentence.Page, Text: sentence.Excerpt, Score: sentence.Score, Why: evidence.DroppedCheck + c.Refused})
		return
	}
	s.claims = append(s.claims, finding{Claim: c, source: sentence.Page, score: sentence.Score})
}

// tellNamed adds what the pages say that a person named, even if they share no word with the message. A question with a
// pronoun is about the page; any other gets an outline.
func (s *summary) tellNamed(sources []source, pl *question.Plan, limit int) {
	pages := evidencePages(sources)
	for i := range pages {
		if pages[i].Meant = sources[i].named; !sources[i].named {
			pages[i].Text = ""
		}
	}
	pointing := pl.Asks && slices.ContainsFunc(text.Words(pl.Core), func(w text.Word) bool { return text.Pronouns()[w.Key] != "" })
	chosen := evidence.NewQuestion("", pl.Language, text.Date{}).Outline
	if pointing {
		chosen = evidence.NewQuestion(pl.Question, pl.Language, pl.Day).Choose
	}
	for _, sentence := range chosen(pages, limit) {
		s.quote(&sentence, sources)
	}
	s.unanswered = pl.Asks && !pointing && len(s.claims) > 0
}

// covered reports whether a page's selected quotes make a sentence of it redundant. The page's best sentence is added
// unless a quote has it. So a page cannot hide what matters by telling the side model to leave it out.
func covered(s *evidence.Sentence, quoted map[int][]string) bool {
	quotes := quoted[s.Page]
	if len(quotes) == 0 {
		return false
	}
	quoted[s.Page] = append(quotes, "") // every later sentence of the page is redundant
	body := text.OneLine(s.Text)
	return slices.ContainsFunc(quotes, func(q string) bool { return strings.Contains(q, body) || strings.Contains(body, q) })
}

// score ranks a selected quote: answers, shared words with the question and early positions are better.
func (s *selection) score(i int, c turn.Claim, asked []string, lang string, rank int) float64 {
	score := 6 - 0.5*float64(i) - 0.2*float64(rank)
	if s.answers {
		score += 2
	}
	if !c.Framing.Plain() {
		score -= notSaid
	}
	have := text.Terms(c.Text, lang)
	for _, t := range asked {
		if slices.Contains(have, t) {
			score += 0.7
		}
	}
	return score
}

// notSaid is subtracted from the score of a quote that its page denies or does not mean.
const notSaid = 4

// notShown is the check for a number that no sentence was shown with.
const notShown = "number"

// claim makes a claim of the sentence that the side model selected.
func (s *selection) claim(number int, page *source) (turn.Claim, bool) {
	q, ok := s.pick(number)
	if !ok {
		return turn.Claim{Text: fmt.Sprintf("sentence %d", number), Refused: notShown}, false
	}
	return page.claim(&q, q.Marked())
}

// claim makes a claim of a quote, with the checks that passed or the one that failed. The quote is made inert like the
// page, so that both compare.
func (s *source) claim(q *evidence.Quote, shown string) (turn.Claim, bool) {
	words := clean.Inert(q.Text, "")
	shown = clean.Inert(shown, "")
	c := turn.Claim{Text: text.OneLine(shown), Quote: text.OneLine(words), Framing: s.framing.Framing(q.Line, q.Sentence)}
	c.Checks, c.Refused = evidence.CheckQuote(s.folded, c.Quote)
	if c.Refused != "" { // for the record alone, and bounded
		c.Text, c.Quote = text.Truncate(c.Text, evidence.MaxQuote), text.Truncate(c.Quote, evidence.MaxQuote)
	}
	return c, c.Refused == ""
}

// snippets makes sources of the search services' descriptions of pages that could not be read.
func (r *run) snippets(ctx context.Context, targets []target) []source {
	var out []source
	for _, t := range targets {
		if t.hit == nil || strings.TrimSpace(t.hit.Snippet) == "" {
			continue
		}
		hit := *t.hit
		hit.Text = hit.Snippet
		t.hit, t.anchor = &hit, ""
		s := sourceOf(t, r.p.Reader.Read(ctx, r.request(t)), r.now)
		s.page.Via += turn.SnippetMark
		if s.good() {
			out = append(out, s)
		}
	}
	return out
}

// evidencePages returns the pages for the search for evidence.
func evidencePages(sources []source) []evidence.Document {
	pages := make([]evidence.Document, len(sources))
	for i := range sources {
		if s := &sources[i]; s.good() {
			pages[i] = evidence.Document{Title: s.page.Title, Text: s.page.Text, Rank: s.rank, Answer: s.answer, Framing: s.framing}
		}
	}
	return pages
}

// checkedStance is a stance whose quote passed the checks, with its claim.
type checkedStance struct {
	factcheck.Stance
	claim turn.Claim
}

// verdictWords is the length of a quote beside a verdict, if it can be cut to that.
const verdictWords = 25

// factCheck judges the statement of a question by the pages. The sentences for and against it become the first claims.
func (s *summary) factCheck(question string, sources []source) {
	said := factcheck.Statement(question)
	pages := statementPages(sources)
	var all []factcheck.Stance
	var claims []finding
	for i := range pages {
		if pages[i].Text == "" {
			continue
		}
		st, takes := factcheck.StanceOf(said, &pages[i])
		if !takes {
			continue
		}
		c, ok := sources[i].claim(&st.Quote, st.Marked())
		if !ok {
			continue
		}
		st.Page = i
		all = append(all, st)
		claims = append(claims, finding{Claim: c, source: i})
		c.Quote, c.Checks = evidence.ShortenQuote(c.Quote, verdictWords, text.Keys(text.ContentWords(said))), nonEmpty(st.Rule)
		s.stances = append(s.stances, checkedStance{st, c})
	}
	s.claims = append(claims, slices.DeleteFunc(s.claims, func(c finding) bool {
		return slices.ContainsFunc(claims, func(d finding) bool { return c.source == d.source && c.Text == d.Text })
	})...)
	s.verdict = &turn.Verdict{Statement: said}
	s.verdict.Label, s.verdict.Confidence = factcheck.Verdict(said, all, pages)
	s.numberVerdict(sources)
}

// statementPages returns the pages for a fact check.
func statementPages(sources []source) []factcheck.Page {
	pages := make([]factcheck.Page, len(sources))
	for i := range sources {
		if s := &sources[i]; s.good() {
			pages[i] = factcheck.Page{Title: s.page.Title, Text: s.page.Text, Domain: clean.Registrable(s.page.Site), Framing: s.framing}
		}
	}
	return pages
}

// numberVerdict sets the source numbers of a verdict. A source that is not shown has the number 0.
func (s *summary) numberVerdict(sources []source) {
	if s.verdict == nil {
		return
	}
	s.verdict.For, s.verdict.Against = nil, nil
	for _, st := range s.stances {
		c := st.claim
		page := &sources[st.Page].page
		c.Source, c.URL, c.Published = page.N, cmp.Or(page.Final, page.URL), page.Published
		if st.Against {
			s.verdict.Against = append(s.verdict.Against, c)
		} else {
			s.verdict.For = append(s.verdict.For, c)
		}
	}
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}
