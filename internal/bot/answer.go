package bot

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"familiar/internal/context/prompt"
	"familiar/internal/context/turn"
	"familiar/internal/llm"
	"familiar/internal/reply"
)

// NoModel is the recorded model of a turn that was answered from the lookup alone.
const NoModel = "none"

// answer asks the model and returns the final text of the reply. It cannot fail: if there is no model or none answers,
// it makes the reply from the lookup and says so.
func (b *Bot) answer(ctx context.Context, t *turn.Trace, p prompt.Prompt, d *delivery) (text string) {
	defer func() {
		if b.recovered("answer", recover()) {
			t.Err = joinText(t.Err, "panic while answering")
			text = turnBroken.In(t.Request.Language)
		}
	}()
	r := draft{bot: b, actor: d.actor, trace: t, lookup: p.Lookup, rules: d.rules, marker: d.marker, away: d.away}
	if excuse := unheard(t); excuse != "" && strings.TrimSpace(t.Request.Message.Text) == "" {
		return r.say(excuse)
	}
	actor := d.actor
	if actor.Model == nil {
		t.Model = NoModel
		return r.withoutModel("")
	}
	if actor.Verifier != nil {
		whole := ctx // not the context of the model's answer
		r.verify = func(body string) { b.verify(whole, actor.Verifier, t, d.marker, body) }
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	length, whole := 0, actor.rewords(t.Request.Mode) || d.spoken
	t.Request.At(turn.Thinking, 0)
	a, err := actor.Model.Stream(ctx, llm.Request{Messages: modelMessages(p.Messages), Lane: t.Request.ChannelID}, func(words string) {
		if t.Timings.FirstToken == 0 {
			t.Timings.FirstToken = time.Since(t.Began)
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
	record(t, a)
	if len(a.Text) > longestAnswer {
		a.Text, a.Finish, err = a.Text[:reply.LastBoundary(a.Text[:longestAnswer])], "length", nil
		t.Finish, t.Err = a.Finish, joinText(t.Err, errEndless.Error())
	}
	if err != nil && errors.Is(context.Cause(ctx), errStopping) {
		err = errStopping
	}
	if err != nil {
		t.Err = joinText(t.Err, b.Redact.String(cause(err)))
	}
	body, _ := actor.unlabelled(a.Text)
	body = strings.TrimSpace(body)
	halted := errors.Is(context.Cause(ctx), errStopped)
	t.Cut = body != "" && (halted || err != nil || a.Finish == "length")
	switch {
	case body == "" && halted:
		r.marker = nil
		return r.finish(r.say(answerStopped), nil)
	case body == "":
		r.hint = b.hint(ctx, t, actor, err)
		return r.withoutModel(r.say(excuseFor(err)))
	case halted:
		return r.compose(r.rewritten(body), r.say(answerStopped))
	case err != nil:
		return r.compose(r.rewritten(body), r.say(cutOff))
	case a.Finish == "length":
		return r.compose(r.rewritten(body), r.say(tooLong))
	}
	return r.compose(r.rewritten(b.postprocess(ctx, actor, t, p, body)))
}

// longestAnswer limits an answer, in bytes. Nobody reads more than sixteen posts, and a model that repeats itself may
// never stop.
const longestAnswer = 32 << 10

var errEndless = fmt.Errorf("the model had not ended after %d bytes and was cut off", longestAnswer)

func modelMessages(prompt []turn.Rendered) []llm.Message {
	ms := make([]llm.Message, len(prompt))
	for i, m := range prompt {
		ms[i] = llm.Message{Role: m.Role, Name: m.Name, Content: m.Text}
		for _, image := range m.Images {
			ms[i].Images = append(ms[i].Images, llm.Image{Label: image.Label, Type: image.Type, Data: image.Data})
		}
	}
	return ms
}

func record(t *turn.Trace, a llm.Answer) {
	t.Model, t.Finish, t.Blind = a.Model, a.Finish, t.Blind || a.Blind
	t.Usage = turn.Usage(a.Usage)
	for _, f := range a.Failed {
		t.Tried = append(t.Tried, turn.ModelFailure{Model: f.Model, Kind: string(f.Kind)})
	}
}

// cause returns an error's text with the server's own message, for the operator.
func cause(err error) string {
	var e *llm.Error
	if errors.As(err, &e) && e.Cause != "" {
		return e.Error() + ": " + e.Cause
	}
	return err.Error()
}

// excuseFor returns the sentence that replaces a missing answer.
func excuseFor(err error) sentence {
	var e *llm.Error
	switch {
	case errors.As(err, &e) && (e.Kind == llm.RateLimited || e.Kind == llm.Quota):
		return rateLimited
	case errors.As(err, &e) && e.Kind == llm.Timeout, errors.Is(err, context.DeadlineExceeded):
		return tooSlow
	case err == nil, errors.As(err, &e) && (e.Kind == llm.Empty || e.Kind == llm.Refused):
		return emptyAnswer
	}
	return modelDown
}
