package bot

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"familiar/internal/context/prompt"
	"familiar/internal/context/turn"
	"familiar/internal/factcheck"
	"familiar/internal/llm"
	"familiar/internal/reply"
	"familiar/internal/web/clean"
)

// NoModel is the recorded model of a turn that was answered from the lookup alone.
const NoModel = "none"

// answer asks the model and returns the final text of the reply. It cannot fail. If there is no model or none answers, it makes the reply
// from the lookup and says so. It calls settle before it writes what became of orders.
func (b *Bot) answer(ctx context.Context, t *turn.Trace, p prompt.Prompt, d *delivery, settle func()) (text string) {
	defer func() {
		if b.recovered("answer", recover()) {
			t.Err = joinText(t.Err, "panic while answering")
			text = reply.TurnBroken.In(t.Request.Language)
		}
	}()
	r := reply.Draft{Character: d.actor.Character, Trace: t, Lookup: p.Lookup, Rules: d.rules, Marker: d.marker, Away: d.away, Speeches: &b.speeches}
	if b.OperatorOnly && p.Lookup != nil && p.Lookup.State == turn.LookupFailed && p.Lookup.Failure == turn.CodeUnreachable {
		r.Hint = reply.AskDoctor.In(t.Request.Language)
	}
	if excuse := reply.Unheard(t); excuse != "" && strings.TrimSpace(t.Request.Message.Text) == "" {
		return r.Say(excuse)
	}
	actor := d.actor
	if actor.Model == nil {
		settle()
		t.Model = NoModel
		return r.WithoutModel("")
	}
	if actor.Verifier != nil {
		whole := ctx // not the context of the model's answer
		r.Verify = func(all []factcheck.Citation) []factcheck.Opinion {
			if whole.Err() != nil {
				return nil
			}
			return actor.Verifier.AskAll(whole, t.Request.ChannelID, all)
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	length, whole := 0, actor.recaster(t.Request.Mode) != nil || d.spoken
	t.Request.At(turn.Thinking, 0)
	a, err := actor.Model.Stream(ctx, llm.Request{For: turn.ForAnswer, Messages: p.Messages, Lane: t.Request.ChannelID}, func(words string) {
		if t.Timings.FirstToken == 0 {
			t.Timings.FirstToken = b.now().Sub(t.Began)
			t.Request.At(turn.Writing, 0)
		}
		if length += len(words); length > longestAnswer {
			cancel(errEndless)
			return
		}
		if !whole {
			d.add(words)
		}
	})
	settle()
	record(t, a)
	if len(a.Text) > longestAnswer {
		a.Text, a.Finish, err = a.Text[:reply.LastBoundary(a.Text[:longestAnswer])], "length", nil
		t.Finish, t.Err = a.Finish, joinText(t.Err, errEndless.Error())
	}
	if err != nil && errors.Is(context.Cause(ctx), errStopping) {
		err = errStopping
	}
	if err != nil {
		t.Err = joinText(t.Err, b.Redact.String(llm.Cause(err)))
	}
	body, _ := actor.unlabelled(a.Text)
	body = strings.TrimSpace(body)
	halted := errors.Is(context.Cause(ctx), errStopped)
	t.Cut = body != "" && (halted || err != nil || a.Finish == "length")
	switch {
	case body == "" && halted:
		r.Marker = nil
		return r.Finish(r.Say(reply.Stopped), nil)
	case body == "":
		r.Hint = b.hint(ctx, t, actor, err)
		return r.WithoutModel(r.Say(reply.Excuse(err)))
	case halted:
		return r.Compose(r.Rewritten(body), r.Say(reply.Stopped))
	case err != nil:
		return r.Compose(r.Rewritten(body), r.Say(reply.CutOff))
	case a.Finish == "length":
		return r.Compose(r.Rewritten(body), r.Say(reply.TooLong))
	}
	return r.Compose(r.Rewritten(b.recast(ctx, actor, t, p, body)))
}

// longestAnswer limits an answer, in bytes. Nobody reads more than sixteen posts, and a model that repeats itself may
// never stop.
const longestAnswer = 32 << 10

var errEndless = fmt.Errorf("the model had not ended after %d bytes and was cut off", longestAnswer)

func record(t *turn.Trace, a llm.Answer) {
	t.Model, t.Finish, t.Blind = a.Model, a.Finish, t.Blind || a.Blind
	t.Usage = a.Usage
	for _, f := range a.Failed {
		t.Tried = append(t.Tried, turn.ModelFailure{Model: f.Model, Kind: string(f.Kind)})
	}
}

// longestCure is how much is kept of what to check, in characters.
const longestCure = 600

// hint records what to check after a model's failure, and returns what is said about it. The operator is told all of it, and everybody else
// a sentence without names and addresses.
func (b *Bot) hint(ctx context.Context, t *turn.Trace, actor *Actor, err error) string {
	var failed *llm.Error
	if !errors.As(err, &failed) {
		return ""
	}
	if b.Cure != nil {
		t.Cure = clean.Line(b.Redact.String(b.Cure(context.WithoutCancel(ctx), actor, err)), longestCure)
	}
	if b.OperatorOnly && t.Cure != "" {
		return t.Cure
	}
	return reply.Hint(t.Request.Language, failed.Kind)
}
