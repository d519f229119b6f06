package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/lookup/claim"
	"familiar/internal/lookup/verifier"
	"familiar/internal/text"
	"familiar/internal/web/guard"
)

type verifyInput struct {
	Statement string   `json:"statement" jsonschema:"one sentence that is true or false"`
	URLs      []string `json:"urls,omitempty" jsonschema:"pages that should bear it out; without them the web is searched"`
}

type verifyOutput struct {
	Notice     string          `json:"notice" jsonschema:"what the texts below are"`
	Record     string          `json:"record" jsonschema:"the id of the record: familiar trace shows it"`
	Verdict    string          `json:"verdict" jsonschema:"supports, contradicts, not_supported, inconclusive or unverified"`
	Confidence float64         `json:"confidence,omitempty" jsonschema:"from 0 to 1; of a search alone"`
	For        []stanceOutput  `json:"for,omitempty" jsonschema:"what speaks for it"`
	Against    []stanceOutput  `json:"against,omitempty" jsonschema:"what speaks against it"`
	Pages      []checkedOutput `json:"pages,omitempty" jsonschema:"the pages of urls"`
	TookMS     int64           `json:"took_ms"`
}

type stanceOutput struct {
	Quote     string `json:"quote"`
	URL       string `json:"url"`
	Published string `json:"published,omitempty"`
}

type checkedOutput struct {
	URL     string    `json:"url"`
	Title   string    `json:"title,omitempty"`
	BearsIt bool      `json:"bears_it_out"`
	Failed  string    `json:"failed_check,omitempty" jsonschema:"what is missing or different on the page: a quotation, a date, a number, words; or it says the opposite"`
	Passage string    `json:"passage,omitempty" jsonschema:"of the page, what has most to do with the statement"`
	Code    turn.Code `json:"code,omitempty" jsonschema:"why the page could not be read"`
	Reason  string    `json:"reason,omitempty"`
}

// Verdicts beside those of a search.
const (
	pagesSupport = string(turn.VerdictSupports)
	pagesDoNot   = "not_supported"
)

func (c *call) verify(ctx context.Context, in verifyInput) (*verifyOutput, string, error) {
	m := c.asks(strings.TrimSpace(in.Statement))
	if !claim.Checkable(guard.WithoutURLs(m.Text)) {
		return nil, "", &toolError{codeInvalid, "the statement says nothing that a page could bear out"}
	}
	check := c.checkWeb
	if len(in.URLs) > 0 {
		check = func(ctx context.Context, m turn.Message) (*verifyOutput, error) { return c.checkPages(ctx, m, in.URLs) }
	}
	out, err := check(ctx, m)
	if err != nil {
		return nil, "", err
	}
	out.Notice, out.Record = notice, m.ID
	return out, out.String(), nil
}

// checkWeb counts what the web says of a statement.
func (c *call) checkWeb(ctx context.Context, m turn.Message) (*verifyOutput, error) {
	b := c.behind()
	l, err := b.Check(ctx, m)
	if err == nil {
		err = c.failed(b, l)
	}
	if err != nil {
		return nil, err
	}
	out := &verifyOutput{Verdict: string(turn.VerdictInconclusive), TookMS: l.Took.Milliseconds()}
	if v := l.Verdict; v != nil {
		out.Verdict, out.Confidence, out.For, out.Against = string(v.Label), v.Confidence, stances(v.For), stances(v.Against)
	}
	return out, nil
}

func stances(claims []turn.Claim) (all []stanceOutput) {
	for _, s := range claims {
		all = append(all, stanceOutput{line(s.Text), line(s.URL), isoDate(s.Published)})
	}
	return all
}

// checkPages reads pages and checks a statement against each as a citation of it is checked, by words and, where FAMILIAR_VERIFY is on, by
// the side model.
func (c *call) checkPages(ctx context.Context, m turn.Message, addresses []string) (*verifyOutput, error) {
	l := &turn.Lookup{State: turn.Found, Intent: turn.IntentFactCheck, Question: m.Text, Began: time.Now()}
	out := &verifyOutput{Verdict: pagesDoNot}
	questions := make([]verifier.Question, 0, len(addresses))
	var checked []int // by question, its place in out.Pages
	for i, r := range c.readPages(ctx, addresses) {
		record := r.Record()
		row := checkedOutput{URL: line(r.asked), Title: r.shown.Title}
		if r.Err != nil {
			row.Code, row.Reason = r.Err.Code, r.Err.Message
		} else {
			record.N = i + 1
			l.Sources = append(l.Sources, turn.Source{N: i + 1, URL: record.Final, Title: record.Title, Site: record.Site, Published: record.Published, Fetched: record.Fetched})
			page := claim.NewPage(record.Title, r.Text)
			row.Passage = line(page.Passages(m.Text, longestClaim))
			pages := []*claim.Page{page}
			questions = append(questions, verifier.Question{Words: m.Text, Pages: pages, Refused: claim.CheckCitation(m.Text, pages)})
			checked = append(checked, i)
		}
		l.Pages = append(l.Pages, record)
		out.Pages = append(out.Pages, row)
	}
	asked := c.decide(ctx, m, questions, checked, l)
	for n, i := range checked {
		row := &out.Pages[i]
		row.Failed = questions[n].Refused[0]
		row.BearsIt = row.Failed == ""
		quote := turn.Claim{Text: row.Passage, Quote: row.Passage, Source: i + 1, Refused: row.Failed}
		if row.BearsIt {
			out.Verdict = pagesSupport
			l.Summary = append(l.Summary, quote)
		} else {
			l.Rejected = append(l.Rejected, quote)
		}
	}
	if len(checked) == 0 {
		l.State, l.Failure, l.Reason = turn.LookupFailed, turn.CodeUnreadable, "none of the pages could be read"
	}
	if err := c.behind().Record(ctx, m, "verify", l, asked); err != nil {
		return nil, err
	}
	out.TookMS = l.Took.Milliseconds()
	if len(checked) == 0 {
		return nil, &toolError{turn.CodeUnreadable, "none of the pages could be read: " + whyUnread(out.Pages)}
	}
	return out, nil
}

func whyUnread(pages []checkedOutput) string {
	var reasons []string
	for _, p := range pages {
		if !slices.Contains(reasons, p.Reason) {
			reasons = append(reasons, p.Reason)
		}
	}
	return strings.Join(reasons, "; ")
}

// readPages reads pages at the same time.
func (c *call) readPages(ctx context.Context, addresses []string) []*reading {
	read := make([]*reading, len(addresses))
	done := make(chan struct{}, len(addresses))
	for i, address := range addresses {
		go func() {
			read[i] = c.readPage(ctx, strings.TrimSpace(address), false) // ends with ctx
			done <- struct{}{}
		}()
	}
	for range addresses {
		<-done
	}
	return read
}

// decide asks the side model about what words have judged, where it may be asked, and puts its opinions in their place.
func (c *call) decide(ctx context.Context, m turn.Message, questions []verifier.Question, checked []int, l *turn.Lookup) *turn.Verified {
	v := c.actor.Verifier
	if v == nil || !slices.ContainsFunc(questions, verifier.Question.Open) {
		return nil
	}
	began := time.Now()
	record := &turn.Verified{}
	for n, o := range v.AskAll(ctx, m.ChannelID, questions) {
		if o.Is == "" {
			continue
		}
		record.Add(turn.Opinion{Sources: []int{checked[n] + 1}, Text: text.Truncate(m.Text, 200), Words: questions[n].Refused[0], Is: o.Is, Why: o.Why, Quote: o.Quote, Model: o.Model},
			turn.Usage(o.Usage))
		questions[n].Refused = verifier.Decide(questions[n], o)
	}
	record.Took = time.Since(began)
	l.Usage = record.Usage // so that it counts
	return record
}
