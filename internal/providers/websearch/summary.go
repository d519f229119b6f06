package websearch

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/lookup/evidence"
	"familiar/internal/lookup/question"
	"familiar/internal/lookup/quote"
	"familiar/internal/text"
	"familiar/internal/web/clean"
)

// finding is a checked quote on its way into the block.
type finding struct {
	turn.Claim
	source int
	also   []backing
	same   []finding // those that it stands for: they say no more
	terms  []string  // for [merged]
	score  float64
}

// summary is what the pages say, checked, best first.
type summary struct {
	claims   []finding
	rejected []turn.Claim
	dropped  []evidence.Dropped
	// unanswered says that nothing on the pages answers the question: the claims are what the pages that were named say.
	unanswered bool
	verdict    *turn.Verdict   // fact checks only
	stances    []checkedStance // those of the verdict: For, then Against
	by         string
	usage      turn.Usage
}

// byExtraction says in Lookup.By that no model had a part in a summary.
const byExtraction = "extractive"

// collect takes the quotes that the side model selected, and others where it selected none that are worth keeping.
func collect(sources []source, selected []selection, pl *question.Plan, limit int) summary {
	asking, lang := pl.Question, pl.Language
	out := summary{by: byExtraction}
	asked := text.Unique(text.Terms(asking, lang))
	quoted := map[int][]string{} // page → what is selected of it
	for _, sel := range selected {
		out.usage = out.usage.Plus(sel.usage)
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
	slices.SortStableFunc(out.claims, func(a, b finding) int { return cmp.Compare(b.score, a.score) })
	out.claims = mergeFindings(out.claims)
	return out
}

// quote makes a claim of a sentence of a page, if it stands the checks.
func (s *summary) quote(sentence *evidence.Sentence, sources []source) {
	c, ok := sources[sentence.Page].claim(&sentence.Quote, sentence.Excerpt)
	if !ok {
		s.dropped = append(s.dropped, evidence.Dropped{Page: sentence.Page, Text: sentence.Excerpt, Score: sentence.Score, Why: evidence.DroppedCheck + c.Refused})
		return
	}
	s.claims = append(s.claims, finding{Claim: c, source: sentence.Page, score: sentence.Score})
}

// tellNamed tells what the pages say that a person named: who names a page wants to hear of it, also if the words of the
// message are not on it. A question with a pronoun is about the page, and of any other there is its outline.
func (s *summary) tellNamed(sources []source, pl *question.Plan, limit int) {
	pages := evidencePages(sources)
	for i := range pages {
		if pages[i].Meant = sources[i].named; !sources[i].named {
			pages[i].Text = ""
		}
	}
	pointing := pl.Asks && slices.ContainsFunc(text.Words(pl.Core), func(w text.Word) bool { return text.Pronouns[w.Key] != "" })
	chosen := evidence.NewQuestion("", pl.Language, text.Date{}).Outline
	if pointing {
		chosen = evidence.NewQuestion(pl.Question, pl.Language, pl.Day).Choose
	}
	for _, sentence := range chosen(pages, limit) {
		s.quote(&sentence, sources)
	}
	s.unanswered = pl.Asks && !pointing && len(s.claims) > 0
}

// covered reports whether what the side model selected of a page makes a sentence of it needless. Its best sentence stands
// beside the selection unless that has it: a selection that leaves out what matters, as a page may have told the model to,
// then hides nothing.
func covered(s *evidence.Sentence, quoted map[int][]string) bool {
	quotes := quoted[s.Page]
	if len(quotes) == 0 {
		return false
	}
	quoted[s.Page] = append(quotes, "") // which every later sentence holds
	body := text.OneLine(s.Text)
	return slices.ContainsFunc(quotes, func(q string) bool { return strings.Contains(q, body) || strings.Contains(body, q) })
}

// score ranks a selected quote among the others: what answers, what shares words with the question, what came first.
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

// notSaid is what a selected quote loses if its page denies it, or does not say it in earnest.
const notSaid = 4

// notShown is the check that a number fails if no sentence was shown with it.
const notShown = "number"

// claim makes a claim of the sentence that the side model selected by a number.
func (s *selection) claim(number int, page *source) (turn.Claim, bool) {
	q, ok := s.pick(number)
	if !ok {
		return turn.Claim{Text: fmt.Sprintf("sentence %d", number), Refused: notShown}, false
	}
	return page.claim(&q, q.Marked())
}

// claim makes a claim of a quote and how it is shown, with the checks that it passed or the one that refused it. The quote is
// made inert as the page was, so that like is compared with like.
func (s *source) claim(q *quote.Quote, shown string) (turn.Claim, bool) {
	words := clean.Inert(q.Text, "")
	shown = clean.Inert(shown, "")
	c := turn.Claim{Text: text.OneLine(shown), Quote: text.OneLine(words), Framing: s.framing.At(q.Line, q.Sentence)}
	c.Checks, c.Refused = quote.Check(s.folded, c.Quote)
	if c.Refused != "" { // kept for the record alone, and not at any length
		c.Text, c.Quote = text.Truncate(c.Text, quote.MaxLength), text.Truncate(c.Quote, quote.MaxLength)
	}
	return c, c.Refused == ""
}

// snippets makes pages of what the search services said about pages of which none could be read.
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

// evidencePages are the pages as evidence is looked for on them.
func evidencePages(sources []source) []evidence.Page {
	pages := make([]evidence.Page, len(sources))
	for i := range sources {
		if s := &sources[i]; s.good() {
			pages[i] = evidence.Page{Title: s.page.Title, Text: s.page.Text, Rank: s.rank, Answer: s.answer, Framing: s.framing}
		}
	}
	return pages
}
