package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"familiar/internal/llm"
	"familiar/internal/transcribe"
)

const (
	openAIBase  = "https://api.openai.com/v1"
	openAIModel = "gpt-5-mini"
)

// models are the model that answers and the one that reads pages. Both are nil where none is configured.
type models struct {
	main, side *llm.Client
	where      string // the main model's server, for people
}

func (m models) name() string {
	if m.main == nil {
		return ""
	}
	return m.main.Model
}

// describe says which model answers, and how to get one where there is none.
func (m models) describe() string {
	switch {
	case m.main == nil:
		return "none: answers are made from lookups alone. Set OPENAI_API_KEY (and OPENAI_BASE_URL for another server), or start Ollama"
	case m.side.Model != m.main.Model:
		return fmt.Sprintf("%s at %s; %s reads pages", m.main.Model, m.where, m.side.Model)
	}
	return fmt.Sprintf("%s at %s", m.main.Model, m.where)
}

// chooseModels takes the configured server or, without one, an Ollama on this machine.
func (a *app) chooseModels(ctx context.Context, far far) (models, error) {
	c := a.config
	base, key := c.get("OPENAI_BASE_URL"), c.get("OPENAI_API_KEY")
	if base == "" && key == "" {
		return a.localModels(ctx, cmp.Or(far.ollama, defaultOllama)), nil
	}
	base = cmp.Or(base, openAIBase)
	main := a.model(base, key, cmp.Or(a.character.Model.Name, c.get("OPENAI_MODEL")))
	if main.Model == "" && base == openAIBase {
		main.Model = openAIModel
	}
	if main.Model == "" {
		first, err := firstModel(ctx, main, listPatience)
		if err != nil {
			return models{}, problems{fmt.Sprintf("OPENAI_MODEL: it is not set, and the list of models at %s cannot be read: %v\n"+
				"  Set OPENAI_MODEL, or see whether OPENAI_BASE_URL is right (with its version: …/v1) and the server is up.", base, err)}
		}
		main.Model = first
	}
	main.Forced = c.get("OPENAI_VISION") == "on"
	main.Temperature, main.MaxTokens = a.character.Model.Temperature, a.character.Model.MaxTokens
	for name := range strings.SplitSeq(c.get("OPENAI_FALLBACKS"), ",") {
		if name = strings.TrimSpace(name); name != "" {
			main.Fallbacks = append(main.Fallbacks, name)
		}
	}
	return models{main: main, side: a.sideModel(main), where: base}, nil
}

// sideModel is the main one, but for what is configured.
func (a *app) sideModel(main *llm.Client) *llm.Client {
	c := a.config
	side := a.model(cmp.Or(c.get("SIDE_BASE_URL"), main.BaseURL), "", cmp.Or(a.character.SideModel.Name, c.get("SIDE_MODEL"), main.Model))
	side.Key = c.get("SIDE_API_KEY")
	if side.Key == "" && side.BaseURL == main.BaseURL {
		side.Key = main.Key // a key is for its own server only
	}
	if side.BaseURL == main.BaseURL {
		side.Slots = main.Slots
	}
	side.Temperature, side.MaxTokens = a.character.SideModel.Temperature, a.character.SideModel.MaxTokens
	return side
}

// sees reports whether the model that answers is shown pictures, as far as is known.
func (a *app) sees() bool {
	return a.models.main != nil && a.config.get("OPENAI_VISION") != "off" && (a.models.main.Forced || a.models.main.Sees())
}

// listener is the service that writes voice messages down, or nil where none is configured.
func (a *app) listener() *transcribe.Service {
	c := a.config
	base := c.get("TRANSCRIBE_BASE_URL")
	if base == "" {
		return nil
	}
	return &transcribe.Service{HTTP: a.client(base), BaseURL: base, Key: c.get("TRANSCRIBE_API_KEY"), Model: c.get("TRANSCRIBE_MODEL")}
}

// localModels uses an Ollama that happens to run here, with its first model.
func (a *app) localModels(ctx context.Context, base string) models {
	main := a.model(base, "", cmp.Or(a.character.Model.Name, a.config.get("OPENAI_MODEL")))
	first, err := firstModel(ctx, main, ollamaPatience)
	if err != nil {
		return models{}
	}
	main.Model = cmp.Or(main.Model, first)
	main.Forced = a.config.get("OPENAI_VISION") == "on"
	return models{main: main, side: a.sideModel(main), where: "Ollama on this machine"}
}

func (a *app) model(base, key, name string) *llm.Client {
	base = strings.TrimRight(base, "/")
	return &llm.Client{HTTP: a.client(base), BaseURL: base, Key: key, Model: name, Redact: a.redact.String,
		Slots: &llm.Slots{Limit: a.config.count("FAMILIAR_MODEL_REQUESTS")}, FirstToken: a.config.span("FAMILIAR_FIRST_WORD")}
}

// firstModel is the first of a server's list, which must come within patience.
func firstModel(ctx context.Context, c *llm.Client, patience time.Duration) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	list, err := c.Models(ctx)
	if err != nil {
		return "", err
	}
	if len(list) == 0 {
		return "", errors.New("it lists none")
	}
	return list[0], nil
}
