package command

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"familiar/internal/context/turn"
	"familiar/internal/factcheck"
	"familiar/internal/text"
	"familiar/internal/view"
	"familiar/internal/web/clean"
	"familiar/internal/web/read"
)

type fetchInput struct {
	URL   string `json:"url" jsonschema:"address of the page"`
	Start int    `json:"start,omitempty" jsonschema:"from which character on; 0 unless said"`
	Most  int    `json:"max_characters,omitempty" jsonschema:"how much of the text is returned; 20000 unless said"`
}

type FetchOutput struct {
	Notice     string `json:"notice" jsonschema:"what the text below is"`
	Record     string `json:"record" jsonschema:"the id of the record: familiar trace shows it"`
	URL        string `json:"url" jsonschema:"where redirects led"`
	Title      string `json:"title,omitempty"`
	Author     string `json:"author,omitempty"`
	Site       string `json:"site,omitempty"`
	Published  string `json:"published,omitempty"`
	Language   string `json:"language,omitempty"`
	Type       string `json:"type" jsonschema:"article, forum, product, list, text, …"`
	Markdown   string `json:"markdown" jsonschema:"the text, quoted from the page"`
	Start      int    `json:"start"`
	Characters int    `json:"characters" jsonschema:"of the whole text"`
	Next       int    `json:"next,omitempty" jsonschema:"where the rest begins; missing: this is the end"`
	Fetched    string `json:"fetched"`
}

func (c *toolCall) fetch(ctx context.Context, in fetchInput) (*FetchOutput, string, error) {
	m := c.asks(in.URL)
	var r *view.WebPage
	if err := c.onWeb(ctx, m, "fetch", func(ctx context.Context, _ turn.OffReason) (*turn.Lookup, *turn.Verified, error) {
		began := time.Now()
		r = c.readPage(ctx, in.URL)
		l := &turn.Lookup{State: turn.Found, Question: in.URL, Pages: []turn.Page{r.Record()}, Began: began}
		if r.Err != nil {
			l.State, l.Failure, l.Reason = turn.LookupFailed, r.Err.Code, r.Err.Message
		}
		return l, nil, nil
	}); err != nil {
		return nil, "", err
	}
	if r.Err != nil {
		return nil, "", notFetched(r)
	}
	g := r.Shown
	out := &FetchOutput{Notice: toolNotice, Record: m.ID, URL: shortLine(r.Visited().Final), Title: g.Title, Author: g.Author, Site: g.Site, Published: isoDate(g.Published),
		Language: g.Language, Type: g.Type, Fetched: isoDate(r.Visited().Fetched), Characters: utf8.RuneCountInString(g.Markdown)}
	if in.Start > 0 && in.Start >= out.Characters {
		return nil, "", &toolError{codeInvalid, "start is behind the end of the text"}
	}
	most := cmp.Or(in.Most, usualText)
	shown := []rune(g.Markdown)[in.Start:]
	if len(shown) > most {
		shown, out.Next = shown[:most], in.Start+most
	}
	out.Start, out.Markdown = in.Start, string(shown)
	return out, out.String(), nil
}

// readPage reads a page by the rules for an address that a person named.
func (c *toolCall) readPage(ctx context.Context, address string) *view.WebPage {
	address = strings.TrimSpace(address)
	return view.NewWebPage(address, c.Reader.Read(ctx, read.Request{URL: address, Domains: c.Domains, Human: true, Short: true}), nil)
}

// notFetched returns a page's failure for the client.
func notFetched(r *view.WebPage) error {
	why := r.Err.Message
	if r.Err.Reason != "" {
		why += " (" + string(r.Err.Reason) + ")"
	}
	return &toolError{r.Err.Code, why}
}

func (o *FetchOutput) String() string {
	var s strings.Builder
	for _, fact := range [][2]string{{"title", o.Title}, {"author", o.Author}, {"site", o.Site}, {"published", o.Published}, {"language", o.Language}} {
		if fact[1] != "" {
			fmt.Fprintf(&s, "%s: %s\n", fact[0], fact[1])
		}
	}
	s.WriteString("\n" + o.Markdown)
	text := fmt.Sprintf("Read %s, fetched %s: characters %d to %d of %d.\n", o.URL, o.Fetched, o.Start, o.Start+len([]rune(o.Markdown)), o.Characters) + quoted("page", s.String())
	if o.Next > 0 {
		text += fmt.Sprintf("\nThere is more: ask again with start = %d.", o.Next)
	}
	return text
}

type verifyInput struct {
	Statement string   `json:"statement" jsonschema:"one sentence that is true or false"`
	URLs      []string `json:"urls,omitempty" jsonschema:"pages that should bear it out; without them the web is searched"`
}

type VerifyOutput struct {
	Notice     string    `json:"notice" jsonschema:"what the texts below are"`
	Record     string    `json:"record" jsonschema:"the id of the record: familiar trace shows it"`
	Verdict    string    `json:"verdict" jsonschema:"supports, contradicts, not_supported, inconclusive or unverified"`
	Confidence float64   `json:"confidence,omitempty" jsonschema:"from 0 to 1; of a search alone"`
	For        []Stance  `json:"for,omitempty" jsonschema:"what speaks for it"`
	Against    []Stance  `json:"against,omitempty" jsonschema:"what speaks against it"`
	Pages      []Checked `json:"pages,omitempty" jsonschema:"the pages of urls"`
	TookMS     int64     `json:"took_ms"`
}

type Stance struct {
	Quote     string `json:"quote"`
	URL       string `json:"url"`
	Published string `json:"published,omitempty"`
}

type Checked struct {
	URL     string    `json:"url"`
	Title   string    `json:"title,omitempty"`
	BearsIt bool      `json:"bears_it_out"`
	Failed  string    `json:"failed_check,omitempty" jsonschema:"what is missing or different on the page: a quotation, a date, a number, words; or it says the opposite"`
	Passage string    `json:"passage,omitempty" jsonschema:"of the page, what has most to do with the statement"`
	Code    turn.Code `json:"code,omitempty" jsonschema:"why the page could not be read"`
	Reason  string    `json:"reason,omitempty"`
}

// Verdicts on given pages.
const (
	pagesSupport = string(turn.VerdictSupports)
	pagesDoNot   = "not_supported"
)

func (c *toolCall) verify(ctx context.Context, in verifyInput) (*VerifyOutput, string, error) {
	m := c.asks(strings.TrimSpace(in.Statement))
	if !(factcheck.Citation{Words: clean.WithoutURLs(m.Text)}).Claims() {
		return nil, "", &toolError{codeInvalid, "the statement says nothing that a page could support"}
	}
	check := c.checkWeb
	if len(in.URLs) > 0 {
		check = func(ctx context.Context, m turn.Message) (*VerifyOutput, error) { return c.checkPages(ctx, m, in.URLs) }
	}
	out, err := check(ctx, m)
	if err != nil {
		return nil, "", err
	}
	out.Notice, out.Record = toolNotice, m.ID
	return out, out.String(), nil
}

// checkWeb checks a statement against what the web says.
func (c *toolCall) checkWeb(ctx context.Context, m turn.Message) (*VerifyOutput, error) {
	b := c.Bot()
	l, err := checkStatement(ctx, b, m)
	if err == nil {
		err = c.failed(b, l)
	}
	if err != nil {
		return nil, err
	}
	out := &VerifyOutput{Verdict: string(turn.VerdictInconclusive), TookMS: l.Took.Milliseconds()}
	if v := l.Verdict; v != nil {
		out.Verdict, out.Confidence, out.For, out.Against = string(v.Label), v.Confidence, stances(v.For), stances(v.Against)
	}
	return out, nil
}

func stances(claims []turn.Claim) (all []Stance) {
	for _, s := range claims {
		all = append(all, Stance{shortLine(s.Text), shortLine(s.URL), isoDate(s.Published)})
	}
	return all
}

// checkPages reads pages and checks a statement against each of them, as a citation is checked. It goes by words and, if FAMILIAR_VERIFY is
// on, by the side model.
func (c *toolCall) checkPages(ctx context.Context, m turn.Message, addresses []string) (out *VerifyOutput, err error) {
	err = c.onWeb(ctx, m, "verify", func(ctx context.Context, _ turn.OffReason) (l *turn.Lookup, asked *turn.Verified, err error) {
		out, l, asked = c.onPages(ctx, m, addresses)
		return l, asked, nil
	})
	if err == nil && !slices.ContainsFunc(out.Pages, func(p Checked) bool { return p.Code == "" }) {
		err = &toolError{turn.CodeUnreadable, "none of the pages could be read: " + whyUnread(out.Pages)}
	}
	return out, err
}

func (c *toolCall) onPages(ctx context.Context, m turn.Message, addresses []string) (out *VerifyOutput, l *turn.Lookup, asked *turn.Verified) {
	l = &turn.Lookup{State: turn.Found, Intent: turn.IntentFactCheck, Question: m.Text, Began: time.Now()}
	out = &VerifyOutput{Verdict: pagesDoNot}
	questions := make([]factcheck.Citation, 0, len(addresses))
	var checked []int // by question, its place in out.Pages
	for i, r := range c.readPages(ctx, addresses) {
		record := r.Record()
		row := Checked{URL: shortLine(r.Asked), Title: r.Shown.Title}
		if r.Err != nil {
			row.Code, row.Reason = r.Err.Code, r.Err.Message
		} else {
			record.N = i + 1
			l.Sources = append(l.Sources, turn.Source{N: i + 1, URL: record.Final, Title: record.Title, Site: record.Site, Published: record.Published, Fetched: record.Fetched})
			cited := factcheck.NewCitation(m.Text, record.Title, r.Text)
			row.Passage = shortLine(cited.Pages[0].Passages(m.Text, longestClaim))
			questions = append(questions, cited)
			checked = append(checked, i)
		}
		l.Pages = append(l.Pages, record)
		out.Pages = append(out.Pages, row)
	}
	asked = c.decide(ctx, m, questions, checked, l)
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
	out.TookMS = time.Since(l.Began).Milliseconds()
	return out, l, asked
}

func whyUnread(pages []Checked) string {
	var reasons []string
	for _, p := range pages {
		if !slices.Contains(reasons, p.Reason) {
			reasons = append(reasons, p.Reason)
		}
	}
	return strings.Join(reasons, "; ")
}

// readPages reads pages concurrently.
func (c *toolCall) readPages(ctx context.Context, addresses []string) []*view.WebPage {
	read := make([]*view.WebPage, len(addresses))
	done := make(chan struct{}, len(addresses))
	for i, address := range addresses {
		go func() {
			read[i] = c.readPage(ctx, address) // ends with ctx
			done <- struct{}{}
		}()
	}
	for range addresses {
		<-done
	}
	return read
}

// decide asks the side model about what words cannot decide, and lets its opinions count.
func (c *toolCall) decide(ctx context.Context, m turn.Message, questions []factcheck.Citation, checked []int, l *turn.Lookup) *turn.Verified {
	v := c.Verifier
	if v == nil || !slices.ContainsFunc(questions, factcheck.Citation.Open) {
		return nil
	}
	began := time.Now()
	record := &turn.Verified{}
	for n, o := range v.AskAll(ctx, m.ChannelID, questions) {
		if o.Is == "" {
			continue
		}
		record.Opinions = append(record.Opinions, turn.Opinion{Sources: []int{checked[n] + 1}, Text: text.Truncate(m.Text, 200), Words: questions[n].Refused[0], Is: o.Is, Why: o.Why, Quote: o.Quote, Model: o.Model})
		questions[n].Refused = factcheck.Decide(questions[n], o)
	}
	record.Took = time.Since(began)
	return record
}

// verdictWords explain the verdicts.
var verdictWords = map[string]string{
	"supports": "It is supported.", "contradicts": "It is contradicted.", "not_supported": "The pages do not bear it out.",
	"inconclusive": "It is inconclusive: too few independent sites take a stance, or they disagree.",
	"unverified":   "It is unverified: it is about a living person, and the evidence is thin.",
}

func (o *VerifyOutput) String() string {
	var s strings.Builder
	for _, side := range []struct {
		title   string
		stances []Stance
	}{{"For it:", o.For}, {"Against it:", o.Against}} {
		for i, q := range side.stances {
			if i == 0 {
				s.WriteString(side.title + "\n")
			}
			fmt.Fprintf(&s, "- %s\n  %s\n", q.Quote, q.URL)
		}
	}
	for _, p := range o.Pages {
		switch {
		case p.Code != "":
			fmt.Fprintf(&s, "- not read: %s (%s)\n", p.URL, p.Reason)
		case p.BearsIt:
			fmt.Fprintf(&s, "- bears it out: %s\n  %s\n", p.URL, p.Passage)
		default:
			fmt.Fprintf(&s, "- does not (%s): %s\n  %s\n", p.Failed, p.URL, p.Passage)
		}
	}
	if s.Len() == 0 {
		return verdictWords[o.Verdict]
	}
	return verdictWords[o.Verdict] + "\n" + quoted("evidence", s.String())
}
