package bot

import (
	"context"
	"strings"
	"time"

	"familiar/internal/bot/outgoing"
	"familiar/internal/context/turn"
	"familiar/internal/lookup/verifier"
)

// verify has the verifier look at the citations of a guarded body, before they are marked for good. It takes
// [verifier.Time] at most. What it says is on record; where it says nothing, the words' decision stands.
func (b *Bot) verify(ctx context.Context, v *verifier.Verifier, t *turn.Trace, m *outgoing.Marker, body string) {
	if ctx.Err() != nil {
		return
	}
	statements := m.Statements(body)
	questions := make([]verifier.Question, len(statements))
	open := false
	for i, s := range statements {
		questions[i] = verifier.Question{Words: s.Words, Pages: s.Pages, Refused: s.Refused}
		open = open || questions[i].Open()
	}
	if !open {
		return
	}
	began := time.Now()
	record := &turn.Verified{}
	for i, o := range v.AskAll(ctx, t.Request.ChannelID, questions) {
		if o.Is == "" {
			continue
		}
		m.Settle(statements[i], verifier.Decide(questions[i], o))
		record.Add(turn.Opinion{
			Sources: statements[i].Sources, Text: outgoing.CutUnits(strings.TrimSpace(statements[i].Words), 200), Words: strings.Join(questions[i].Refused, ","),
			Is: o.Is, Why: o.Why, Quote: o.Quote, Model: o.Model,
		}, turn.Usage(o.Usage))
	}
	record.Took = time.Since(began)
	t.Verified = record
}
