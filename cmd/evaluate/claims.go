package main

import (
	"cmp"
	"context"
	"io/fs"
	"math"
	"slices"
	"strings"

	"familiar/cmd/evaluate/train"
	"familiar/internal/context/turn"
	"familiar/internal/linear"
	"familiar/internal/llm"
	"familiar/internal/lookup/claim"
	"familiar/internal/lookup/verifier"
)

type conflictRow struct {
	ID, Question string
	Pages        []string
	Of           string // "number" or "date": what the pages contradict each other in; empty: they don't
}

// predictConflict predicts {"of"}: what a lookup says that its pages contradict each other in.
func predictConflict(ctx context.Context, _ fs.FS, row conflictRow) (prediction, error) {
	look := lookUp(ctx, row.ID, row.Question, row.Pages)
	did := slices.ContainsFunc(look.Conflicts, func(c turn.Conflict) bool { return row.Of == "" || c.Of == row.Of })
	got := detection(row.Of != "", did)
	if len(look.Conflicts) > 0 {
		got["of"] = look.Conflicts[0].Of
	}
	return got, nil
}

type livingRow struct {
	ID, Question string
	Pages        []string
	Living       bool // it is about a person who lives
}

// predictLiving predicts {"verdict"}: what a lookup says of a claim for which there is one page. Of a person who lives it
// must say nothing.
func predictLiving(ctx context.Context, _ fs.FS, row livingRow) (prediction, error) {
	var verdict turn.VerdictLabel
	if v := lookUp(ctx, row.ID, row.Question, row.Pages).Verdict; v != nil {
		verdict = v.Label
	}
	got := detection(row.Living, verdict == turn.VerdictUnverified)
	got["verdict"] = verdict
	return got, nil
}

// lookUp does a lookup whose search finds pages: a text, or a title, a line feed and a text.
func lookUp(ctx context.Context, id, question string, pages []string) turn.Lookup {
	var hits shelf
	for _, p := range pages {
		title, text, titled := strings.Cut(p, "\n")
		if !titled {
			title, text = "", p
		}
		hits.add(title, text)
	}
	req := request(id, question)
	req.Web.Switch = turn.WebAlways
	return hits.lookUp(ctx, req)
}

type citationRow struct {
	Reply  string
	Pages  []string // that its last sentence cites
	Refuse bool     // they do not bear it out
}

// predictCitation predicts {"refused"}: by which check each page is refused as one that bears the end of a reply out.
func predictCitation(_ context.Context, _ fs.FS, row citationRow) (prediction, error) {
	refused := checkCitation(row.Reply, row.Pages...)
	got := detection(row.Refuse, slices.ContainsFunc(refused, func(check string) bool { return check != "" }))
	got["refused"] = refused
	return got, nil
}

type citeRow struct {
	Claim     string
	Sentences []string // of the page that it cites
}

// predictCite predicts {"supported"}: whether a page is let pass as one that bears a sentence out, {"score"}: how
// probably it does, and {"rank"}: the page's sentences, best evidence first.
func predictCite(_ context.Context, _ fs.FS, row citeRow) (prediction, error) {
	return row.predict(claim.CiteModel()), nil
}

// predict predicts by a model.
func (r citeRow) predict(m *linear.Model) prediction {
	page := []*claim.Page{claim.NewPage(train.CitedPage(r.Sentences))}
	refused := claim.CheckCitationBy(m, r.Claim, page)[0]
	score := m.Classify(claim.SupportFeatures(r.Claim, page))[1]
	return prediction{"supported": refused == "", "refused": refused, "score": math.Round(1000*score) / 1000, "rank": claim.Rank(r.Claim, r.Sentences)}
}

// verifiedCite predicts as predictCite does, with a verifier that has its say, and adds {"verifier"}: what it says, or why
// it says nothing.
func verifiedCite(model *llm.Client) predictor {
	v := verifier.Verifier{Model: model}
	return stateless(func(ctx context.Context, _ fs.FS, row citeRow) (prediction, error) {
		got := row.predict(claim.CiteModel())
		q := verifier.Question{Words: row.Claim, Pages: []*claim.Page{claim.NewPage(train.CitedPage(row.Sentences))}, Refused: []string{got["refused"].(string)}}
		o := v.AskAll(ctx, "", []verifier.Question{q})[0]
		got["refused"] = verifier.Decide(q, o)[0]
		got["supported"], got["verifier"], got["quote"] = got["refused"] == "", cmp.Or(o.Why, o.Is), o.Quote
		return got, nil
	})()
}

// checkCitation says of each page by which check it is refused for the end of a reply, or "".
func checkCitation(reply string, pages ...string) []string {
	var cited []*claim.Page
	for _, text := range pages {
		cited = append(cited, claim.NewPage(text))
	}
	return claim.CheckCitation(reply, cited)
}
