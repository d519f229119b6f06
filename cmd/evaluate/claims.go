package main

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"

	"familiar/cmd/evaluate/train"
	"familiar/internal/context/turn"
	"familiar/internal/evidence"
	"familiar/internal/factcheck"
	"familiar/internal/llm"
	"familiar/internal/text"
)

type conflictRow struct {
	ID, Question string
	Pages        []string
	Of           string // "number" or "date": what the pages disagree about; empty: they agree
}

// predictConflict predicts {"of"}: what a lookup reports that its pages disagree about.
func predictConflict(ctx context.Context, _ fs.FS, row conflictRow) (prediction, error) {
	look := lookUp(ctx, row.ID, row.Question, row.Pages)
	did := slices.ContainsFunc(look.Conflicts, func(c turn.Conflict) bool { return row.Of == "" || c.Of == row.Of })
	got := detection(row.Of != "", did)
	if len(look.Conflicts) > 0 {
		got["of"] = look.Conflicts[0].Of
	}
	return got, nil
}

type statedRow struct {
	ID, Claim string
	Pages     []struct{ Host, Title, Text string }
	Verdict   string // "supported", "refuted" or "unclear"; empty: unknown
	Lang      string // of a row whose pages say it plainly; empty: they paraphrase it
	Unseen    bool   // the rules were made without the rows of this language
}

// verdicts are the verdicts in the words of the set claims.
var verdicts = map[turn.VerdictLabel]string{turn.VerdictSupports: "supported", turn.VerdictContradicts: "refuted"}

// predictClaim predicts {"verdict"} of a lookup on a claim whose search finds the row's pages: "supported", "refuted" or "unclear". "wrong"
// tells whether a verdict is not the row's, "misled" whether it wrongly supports. "two" is "found" with the first two pages.
func predictClaim(ctx context.Context, _ fs.FS, row statedRow) (prediction, error) {
	label, err := row.label(ctx)
	if err != nil {
		return nil, err
	}
	verdict := cmp.Or(verdicts[label], "unclear")
	got := prediction{"verdict": verdict, "label": label}
	if row.Verdict == "" {
		return got, nil
	}
	if row.Verdict != "unclear" {
		measure := "found"
		if row.Lang != "" {
			row.Pages = row.Pages[:2]
			if label, err = row.label(ctx); err != nil {
				return nil, err
			}
			measure, got["two"] = "plain", share(verdicts[label] == row.Verdict)
			if row.Unseen {
				got["unseen"] = share(verdict == row.Verdict)
			}
		}
		got[measure] = share(verdict == row.Verdict)
	}
	got["wrong"] = share(verdict != "unclear" && verdict != row.Verdict)
	got["misled"] = share(verdict == "supported" && verdict != row.Verdict)
	return got, nil
}

// label returns the verdict of a lookup whose search finds the row's pages.
func (row statedRow) label(ctx context.Context) (turn.VerdictLabel, error) {
	var hits shelf
	for _, p := range row.Pages {
		hits = append(hits, turn.Hit{Title: p.Title, Text: p.Text, URL: "https://" + strings.TrimSuffix(p.Host, ".example") + ".org/"}) // .example is never looked up
	}
	req := request(row.ID, row.Claim)
	req.Web.Switch, req.Web.Intent = turn.WebAlways, turn.IntentFactCheck
	look := hits.lookUp(ctx, req)
	if look.Verdict == nil {
		return "", fmt.Errorf("check claim: the lookup is %s", look.State)
	}
	return look.Verdict.Label, nil
}

type livingRow struct {
	ID, Question string
	Pages        []string
	Living       bool // the claim is about a living person
}

// predictLiving predicts {"verdict"}: the verdict of a lookup on a claim for which there is one page. On a living person there must be none.
func predictLiving(ctx context.Context, _ fs.FS, row livingRow) (prediction, error) {
	var verdict turn.VerdictLabel
	if v := lookUp(ctx, row.ID, row.Question, row.Pages).Verdict; v != nil {
		verdict = v.Label
	}
	got := detection(row.Living, verdict == turn.VerdictUnverified)
	got["verdict"] = verdict
	return got, nil
}

// lookUp runs a lookup whose search finds pages. A page is a text, or a title, a line feed and a text.
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
	Pages  []string // that the reply's last sentence cites
	Refuse bool     // they do not support it
}

// predictCitation predicts {"refused"}: the check that refuses each page as support for the end of a reply.
func predictCitation(_ context.Context, _ fs.FS, row citationRow) (prediction, error) {
	refused := checkCitation(row.Reply, row.Pages...)
	got := detection(row.Refuse, slices.ContainsFunc(refused, func(check string) bool { return check != "" }))
	got["refused"] = refused
	return got, nil
}

type citeRow struct {
	Claim     string
	Sentences []string // sentences of the cited page
}

// predictCite predicts {"supported"}: whether a page counts as support for a sentence. {"score"} is the probability, and {"rank"} has the
// page's sentences, best evidence first.
func predictCite(_ context.Context, _ fs.FS, row citeRow) (prediction, error) {
	return row.predict(evidence.CitationModel()), nil
}

// predict predicts with a model.
func (r citeRow) predict(m *text.Model) prediction {
	page := []*evidence.Page{evidence.NewPage(train.CitedPage(r.Sentences))}
	refused := evidence.CheckCitationBy(m, r.Claim, page)[0]
	score := m.Classify(evidence.CitationFeatures(r.Claim, page))[1]
	return prediction{"supported": refused == "", "refused": refused, "score": math.Round(1000*score) / 1000, "rank": evidence.Rank(r.Claim, r.Sentences)}
}

// verifiedCite predicts as predictCite does and also asks a verifier. It adds {"verifier"}: the verifier's answer, or why there is none.
func verifiedCite(model *llm.Client) predictor {
	v := factcheck.Verifier{Model: model}
	return stateless(func(ctx context.Context, _ fs.FS, row citeRow) (prediction, error) {
		got := row.predict(evidence.CitationModel())
		q := factcheck.Citation{Words: row.Claim, Pages: []*evidence.Page{evidence.NewPage(train.CitedPage(row.Sentences))}, Refused: []string{got["refused"].(string)}}
		o := v.AskAll(ctx, "", []factcheck.Citation{q})[0]
		got["refused"] = factcheck.Decide(q, o)[0]
		got["supported"], got["verifier"], got["quote"] = got["refused"] == "", cmp.Or(o.Why, o.Is), o.Quote
		return got, nil
	})()
}

// checkCitation returns, for each page, the check that refuses it as support for the end of a reply, or "".
func checkCitation(reply string, pages ...string) []string {
	var cited []*evidence.Page
	for _, text := range pages {
		cited = append(cited, evidence.NewPage(text))
	}
	return evidence.CheckCitation(reply, cited)
}

type claimRow struct {
	Claim, Page string
	Candidates  []string
}

// predictVerify predicts {"label"}: SUPPORTS or REFUTES, whichever is nearer, and {"rank"}: the sentences, best evidence first. A lookup
// asks several sites and gives neither label in doubt.
func predictVerify(_ context.Context, _ fs.FS, row claimRow) (prediction, error) {
	w := factcheck.Compare(row.Claim, row.Page, row.Candidates)
	return prediction{"label": label(w), "rank": w.Order, "conflict": w.Conflict}, nil
}

func label(w factcheck.Comparison) string {
	if w.Conflict != "" || !w.Held {
		return "REFUTES"
	}
	return "SUPPORTS"
}

// predictInject predicts {"injection"}: whether the record reports that the text looks like orders to a machine.
func predictInject(_ context.Context, _ fs.FS, row messageRow) (prediction, error) {
	return prediction{"injection": text.Orders(row.Text)}, nil
}
