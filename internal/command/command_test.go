package command

import (
	"log/slog"
	"testing"

	"familiar/internal/bot"
	"familiar/internal/context/turn"
	"familiar/internal/gate"
	"familiar/internal/memory"
	"familiar/internal/providers/character"
	"familiar/internal/test/storetest"
	"familiar/internal/trace"
	"familiar/internal/web/clean"
)

// resting returns the commands of a bot that takes no turn: it has neither a model nor a prompt builder.
func resting(t *testing.T) *Commands {
	t.Helper()
	db := storetest.Open(t)
	sage := &bot.Actor{Character: &character.Character{ID: "sage", Name: "Sage"}}
	return &Commands{Bot: &bot.Bot{
		Store: db, Gate: &gate.Gate{Store: db, Log: slog.New(slog.DiscardHandler)}, Memories: memory.New(db), Traces: &trace.Store{DB: db}, Redact: clean.NewRedactor(), Log: slog.New(slog.DiscardHandler), Cast: &bot.Cast{Default: sage}, Pace: bot.Pace{Units: 2000},
	}}
}

// answered returns the answer to a command.
func answered(t *testing.T, cs *Commands, e turn.Event) turn.Answer {
	t.Helper()
	return cs.call(e).answer(t.Context())
}

// keys returns the ids of buttons under a turn's reply, by kind.
func keys(cs *Commands, turnID string, kinds ...string) map[string]string {
	keys := map[string]string{}
	for _, kind := range kinds {
		keys[kind] = cs.Bot.Traces.ButtonKey(trace.Button{TurnID: turnID, Kind: kind})
	}
	return keys
}
