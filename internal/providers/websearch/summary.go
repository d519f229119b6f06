package websearch

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/lookup/claim"
	"familiar/internal/lookup/evidence"
	"familiar/internal/lookup/question"
	"familiar/internal/text"
	"familiar/internal/web/clean"
)

// finding is a checked fact on its way into the block.
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

// collect keeps of the side model's notes what stands on the pages, and puts the pages' own sentences where there
// are no notes worth keeping.
func collect(sources []source, taken []notes, pl *question.Plan, limit int) summary {
	asking, lang := pl.Question, pl.Language
	out := summary{by: byExtraction}
	asked := text.Unique(text.Terms(asking, lang))
	quoted := map[int][]string{} // page → what its notes quote
	for _, n := range taken {
		out.usage = addUsage(out.usage, n.usage)
		for i, f := range n.facts {
			c, ok := checkFact(&sources[n.source], f)
			c.Source = 0
			if !ok {
				out.rejected = append(out.rejected, c)
				continue
			}
			quoted[n.source] = append(quoted[n.source], c.Quote)
			out.by = n.model
			out.claims = append(out.claims, finding{Claim: c, source: n.source, score: n.score(i, c, asked, lang, sources[n.source].rank)})
		}
	}
	q := evidence.NewQuestion(asking, lang, pl.Day)
	chosen := q.Choose
	if pl.Outline {
		q = evidence.NewQuestion("", lang, text.Date{})
		chosen = q.Outline
	}
	for _, s := range chosen(evidencePages(sources), limit) {
		if out.by != byExtraction && (!pl.Outline && !s.HasTerm() || coveredByNotes(&s, quoted)) {
			out.dropped = append(out.dropped, evidence.Dropped{Page: s.Page, Text: s.Excerpt, Score: s.Score, Why: evidence.DroppedNoted})
			continue
		}
		out.quote(&s, sources)
	}
	out.dropped = append(out.dropped, q.Dropped...)
	if len(out.claims) == 0 && !pl.Outline {
		out.tellNamed(sources, pl, limit)
	}
	slices.SortStableFunc(out.claims, func(a, b finding) int { return cmp.Compare(b.score, a.score) })
	out.claims = mergeFindings(out.claims, sources)
	return out
}

// quote makes a claim of a sentence of a page, if it stands the checks.
func (s *summary) quote(sentence *evidence.Sentence, sources []source) {
	c, ok := checkFact(&sources[sentence.Page], fact{Text: sentence.Excerpt, Quote: sentence.Text})
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

// coveredByNotes reports whether the side model's notes on a page make a sentence of it needless. Its best sentence stands beside
// them unless they quote it: notes that leave out what matters, as a page may have told the model to, then hide nothing.
func coveredByNotes(s *evidence.Sentence, quoted map[int][]string) bool {
	quotes := quoted[s.Page]
	if len(quotes) == 0 {
		return false
	}
	quoted[s.Page] = append(quotes, "") // which every later sentence holds
	body := text.OneLine(s.Text)
	return slices.ContainsFunc(quotes, func(q string) bool { return strings.Contains(q, body) || strings.Contains(body, q) })
}

// score ranks a note among the sentences: what answers, what shares words with the question, what came first.
func (n notes) score(i int, c turn.Claim, asked []string, lang string, rank int) float64 {
	score := 6 - 0.5*float64(i) - 0.2*float64(rank)
	if n.answers {
		score += 2
	}
	have := text.Terms(c.Text, lang)
	for _, t := range asked {
		if slices.Contains(have, t) {
			score += 0.7
		}
	}
	return score
}

// checkFact makes a claim of a fact, with the checks that it passed or the one that refused it. Both strings are
// made inert as the page was, so that like is compared with like.
func checkFact(s *source, f fact) (turn.Claim, bool) {
	body, _ := clean.Inert(f.Text, "")
	quote, _ := clean.Inert(f.Quote, "")
	c := turn.Claim{Text: text.OneLine(body), Quote: text.OneLine(quote)}
	if clean.Orders(c.Text) {
		c.Refused = "order"
	} else {
		c.Checks, c.Refused = s.index.Check(c.Text, c.Quote)
	}
	if c.Refused != "" { // kept for the record alone, and not at any length
		c.Text, c.Quote = text.Truncate(c.Text, claim.MaxLength), text.Truncate(c.Quote, claim.MaxLength)
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
			pages[i] = evidence.Page{Title: s.page.Title, Text: s.page.Text, Rank: s.rank, Answer: s.answer}
		}
	}
	return pages
}
