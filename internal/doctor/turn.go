package doctor

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"familiar/internal/context/turn"
)

// turnQuestion is about what every encyclopedia has.
const turnQuestion = "When was Ada Lovelace born?"

// turn has the bot answer a question. It runs after the checks of what a turn needs.
func (e *Examination) turn(ctx context.Context) []Finding {
	switch {
	case e.silent:
		return []Finding{{ID: "turn", State: Skipped, Text: "The model must answer first."}}
	case e.lost:
		return []Finding{{ID: "turn", State: Skipped, Text: "A search service must answer first."}}
	}
	t, err := e.Turn(ctx, turnQuestion)
	return []Finding{judgeTurn(t, err, e.Setting("FAMILIAR_WEB") == "off")}
}

// judgeTurn judges a whole turn by its record.
func judgeTurn(t *turn.Trace, err error, webOff bool) Finding {
	f := Finding{ID: "turn", State: OK}
	if err != nil {
		f.State, f.Text, f.Cure = Failure, "No question could be asked: "+err.Error()+".", "see what the other checks say; the bot's log has more"
		return f
	}
	l := t.Lookup()
	if l == nil {
		l = &turn.Lookup{}
	}
	const look = `familiar ask --trace "` + turnQuestion + `" shows each step`
	f.Text = fmt.Sprintf("A question was answered after %s, from %s.", ms(t.Took), number(len(l.Sources), "source"))
	switch {
	case t.Phase == turn.Broken:
		f.State, f.Text, f.Cure = Failure, "A question was not answered: "+strings.TrimRight(t.Err, ".")+".", cmp.Or(t.Cure, look)
	case webOff:
		f.Text = fmt.Sprintf("A question was answered after %s. Lookups are off.", ms(t.Took))
	case l.State == turn.LookupFailed:
		f.State, f.Text, f.Cure = Failure, "The lookup for a question failed: "+reason(l.Failure, l.Reason)+".", look
	case len(l.Sources) == 0:
		f.State, f.Text, f.Cure = Warning, fmt.Sprintf("A question was answered after %s, but nothing was found for it.", ms(t.Took)), look
	case t.Uncited:
		f.State, f.Text, f.Cure = Warning, f.Text+" The model named none of them.", "take a model that follows instructions better; "+look
	case t.Took > longestAnswer:
		f.State, f.Cure = Warning, "take a faster model or server; "+look
		f.Text += fmt.Sprintf(" People would wait longer than %v.", longestAnswer)
	}
	return f
}
