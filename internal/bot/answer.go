package bot

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"familiar/internal/context/prompt"
	"familiar/internal/context/turn"
	"familiar/internal/llm"
)

// NoModel is the model's name in the record of a turn that was answered from the lookup alone.
const NoModel = "none"

// answer asks the model and returns the final text of the reply. It cannot fail: where there is no model, or
// none that answers, the reply is made from the lookup, and says so.
func (b *Bot) answer(ctx context.Context, t *turn.Trace, p prompt.Prompt, s *speech) (text string) {
	defer func() {
		if r := recover(); r != nil {
			b.Log.Error("answer", "panic", b.Redact.String(fmt.Sprint(r)), "stack", b.Redact.String(string(debug.Stack())))
			t.Err = joinText(t.Err, "panic while answering")
			text = b.say(broken)
		}
	}()
	r := reply{bot: b, trace: t, lookup: p.Lookup, out: s.out}
	if b.Model == nil {
		t.Model = NoModel
		return r.withoutModel("")
	}
	a, err := b.Model.Stream(ctx, llm.Request{Messages: asked(p.Messages)}, func(words string) {
		if t.Timings.FirstToken == 0 {
			t.Timings.FirstToken = time.Since(t.Began)
		}
		s.add(words)
	})
	record(t, a)
	if err != nil {
		t.Err = joinText(t.Err, b.Redact.String(cause(err)))
	}
	body := b.tidy(a.Text)
	switch halted := errors.Is(context.Cause(ctx), errStopped); {
	case body == "" && halted:
		return b.say(stopped)
	case body == "":
		return r.withoutModel(b.say(excuseFor(err)))
	case halted:
		return r.compose(body, b.say(stopped))
	case err != nil:
		return r.compose(body, b.say(cutOff))
	case a.Finish == "length":
		return r.compose(body, b.say(tooLong))
	}
	return r.compose(body)
}

func asked(prompt []turn.Rendered) []llm.Message {
	ms := make([]llm.Message, len(prompt))
	for i, m := range prompt {
		ms[i] = llm.Message{Role: m.Role, Name: m.Name, Content: m.Text}
	}
	return ms
}

func record(t *turn.Trace, a llm.Answer) {
	t.Model, t.Finish = a.Model, a.Finish
	t.Usage = turn.Usage{
		Prompt: a.Usage.Prompt, Completion: a.Usage.Completion, Reasoning: a.Usage.Reasoning,
		Calls: a.Usage.Calls, Cost: a.Usage.Cost,
	}
	for _, f := range a.Failed {
		t.Tried = append(t.Tried, turn.ModelFailure{Model: f.Model, Kind: string(f.Kind)})
	}
}

// cause is an error with what the server said, for the operator.
func cause(err error) string {
	var e *llm.Error
	if errors.As(err, &e) && e.Cause != "" {
		return e.Error() + ": " + e.Cause
	}
	return err.Error()
}

// excuseFor names the sentence for a model that said nothing.
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

// tidy takes off the name that a model puts before its words when it mimics the other speakers.
func (b *Bot) tidy(text string) string {
	text = strings.TrimSpace(text)
	for _, label := range []string{b.Character.Name + ":", "**" + b.Character.Name + ":**"} {
		if len(text) >= len(label) && strings.EqualFold(text[:len(label)], label) {
			return strings.TrimSpace(text[len(label):])
		}
	}
	return text
}
