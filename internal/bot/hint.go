package bot

import (
	"context"
	"errors"

	"familiar/internal/context/turn"
	"familiar/internal/llm"
	"familiar/internal/web/clean"
)

// What people are told, beneath the character's own words, of a model that fails for a reason that lasts. What to check stands in the log
// and in the record.
const (
	hintKey     sentence = "My model's server does not accept my key. Whoever runs me finds in my log what to check."
	hintModel   sentence = "My model's server does not have the model that I am set to use. Whoever runs me finds in my log what to check."
	hintContext sentence = "This conversation is longer than my model can read. Whoever runs me finds in my log what to change."
	hintAddress sentence = "Something else answers where my model should be. Whoever runs me finds in my log what to check."
	hintAway    sentence = "There is no connection to my model's server. Whoever runs me finds in my log what to check."
	hintQuota   sentence = "My model may not be used any more for now: what is paid for is used up. Whoever runs me finds in my log what to check."
)

var hints = map[llm.Kind]sentence{
	llm.Unauthorized: hintKey, llm.NoModel: hintModel, llm.ContextTooLong: hintContext, llm.NotOpenAI: hintAddress,
	llm.Unreachable: hintAway, llm.Quota: hintQuota,
}

// longestCure is how much is kept of what to check, in characters.
const longestCure = 600

// hint puts on record what to check after a model's failure, and returns what is said of it: all of it to the operator, a sentence without
// names and addresses to anybody else.
func (b *Bot) hint(ctx context.Context, t *turn.Trace, actor *Actor, err error) string {
	var failed *llm.Error
	if !errors.As(err, &failed) {
		return ""
	}
	if b.Cure != nil {
		t.Cure = clean.Line(b.Redact.String(b.Cure(context.WithoutCancel(ctx), actor, err)), longestCure)
	}
	if b.Candid && t.Cure != "" {
		return t.Cure
	}
	if s, lasting := hints[failed.Kind]; lasting {
		return s.in(t.Request.Language)
	}
	return ""
}
