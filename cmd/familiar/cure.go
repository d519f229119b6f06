package main

import (
	"context"

	"familiar/internal/bot"
	"familiar/internal/llm"
	"familiar/internal/llm/cure"
	"familiar/internal/providers/character"
)

// namesOf says where the settings of a character's client come from.
func (a *app) namesOf(c *character.Character, m *llm.Client) cure.Names {
	main := a.modelsOf(c).main
	side := m.BaseURL != main.BaseURL || m.Model != main.Model
	names := cure.Names{Address: "OPENAI_BASE_URL", Key: "OPENAI_API_KEY", Model: "OPENAI_MODEL"}
	switch {
	case !side && a.wanted != "":
		names.Model = "--model"
	case !side && c.Model.Name != "":
		names.Model = "model.name in character.toml"
	case side && c.SideModel.Name != "":
		names.Model = "side_model.name in character.toml"
	case side:
		names.Model = "SIDE_MODEL"
	}
	if side && a.config.get("SIDE_BASE_URL") != "" {
		names.Address, names.Key = "SIDE_BASE_URL", "SIDE_API_KEY"
	}
	return names
}

// cure says what to check when a character's model failed.
func (a *app) cure(ctx context.Context, actor *bot.Actor, err error) string {
	if actor.Model == nil {
		return ""
	}
	if f := cure.Of(ctx, actor.Model, a.namesOf(actor.Character, actor.Model), err); f != nil {
		return f.String()
	}
	return ""
}
