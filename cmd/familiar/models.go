package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"familiar/internal/embedding"
	"familiar/internal/llm"
	"familiar/internal/llm/cure"
	"familiar/internal/providers/character"
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
	how        string // the main model was chosen, where nobody named it
}

// modelServer is where the main model is asked. base is empty where there is none.
type modelServer struct {
	base, key string
	preset    string // the model of a character that names none
	where     string // for people
	how       string // preset was chosen, where it was not set
	links     map[string]modelLink
}

// modelLink is what the clients of one server share, whichever character they are for.
type modelLink struct {
	http  *http.Client
	slots *llm.Slots
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
		return fmt.Sprintf("%s at %s%s; %s reads pages", m.main.Model, m.where, m.chosen(), m.side.Model)
	}
	return fmt.Sprintf("%s at %s%s", m.main.Model, m.where, m.chosen())
}

// chosen says how the model was chosen where nobody named it.
func (m models) chosen() string {
	if m.how == "" {
		return ""
	}
	return " (OPENAI_MODEL is not set: " + m.how + ")"
}

// chooseServer takes the configured server or, without one, an Ollama on this machine.
func (a *app) chooseServer(ctx context.Context, far far) (modelServer, error) {
	c := a.config
	s := modelServer{base: c.get("OPENAI_BASE_URL"), key: c.get("OPENAI_API_KEY"), preset: c.get("OPENAI_MODEL"), links: map[string]modelLink{}}
	a.server = s // for its links
	if s.base == "" && s.key == "" {
		return a.localServer(ctx, s, cmp.Or(far.ollama, defaultOllama)), nil
	}
	s.base = strings.TrimRight(cmp.Or(s.base, openAIBase), "/")
	s.where = s.base
	if s.preset == "" && s.base == openAIBase {
		s.preset, s.how = openAIModel, "the usual one at OpenAI"
	}
	if s.preset == "" && a.character.Model.Name == "" && a.wanted == "" {
		first, how, err := firstModel(ctx, a.model(s.base, s.key, ""), listPatience)
		if err != nil {
			return modelServer{}, problems{fmt.Sprintf("OPENAI_MODEL: it is not set, and the list of models at %s cannot be read: %s", s.base, a.whyNoList(ctx, s, err))}
		}
		s.preset, s.how = first, how
	}
	s.preset = cmp.Or(s.preset, a.character.Model.Name)
	return s, nil
}

// whyNoList explains that a server gave no list of its models.
func (a *app) whyNoList(ctx context.Context, s modelServer, err error) string {
	f := cure.Of(ctx, a.model(s.base, s.key, ""), cure.Names{Address: "OPENAI_BASE_URL", Key: "OPENAI_API_KEY", Model: "OPENAI_MODEL"}, err)
	if f == nil {
		return err.Error()
	}
	return a.redact.String(f.String())
}

// modelsOf are a character's.
func (a *app) modelsOf(of *character.Character) models {
	if a.server.base == "" {
		return models{}
	}
	main := a.model(a.server.base, a.server.key, cmp.Or(a.wanted, of.Model.Name, a.server.preset))
	main.Temperature, main.MaxTokens = of.Model.Temperature, of.Model.MaxTokens
	main.Forced = a.config.get("OPENAI_VISION") == "on"
	if !a.server.local() {
		for name := range strings.SplitSeq(a.config.get("OPENAI_FALLBACKS"), ",") {
			if name = strings.TrimSpace(name); name != "" {
				main.Fallbacks = append(main.Fallbacks, name)
			}
		}
	}
	m := models{main: main, side: a.sideModel(main, of), where: a.server.where}
	if a.wanted == "" && of.Model.Name == "" {
		m.how = a.server.how
	}
	return m
}

func (s modelServer) local() bool { return s.where != s.base }

// sideModel is the main one, but for what is configured.
func (a *app) sideModel(main *llm.Client, of *character.Character) *llm.Client {
	c := a.config
	side := a.model(cmp.Or(c.get("SIDE_BASE_URL"), main.BaseURL), "", cmp.Or(of.SideModel.Name, c.get("SIDE_MODEL"), main.Model))
	side.Key = c.get("SIDE_API_KEY")
	if side.Key == "" && side.BaseURL == main.BaseURL {
		side.Key = main.Key // a key is for its own server only
	}
	side.Temperature, side.MaxTokens = of.SideModel.Temperature, of.SideModel.MaxTokens
	return side
}

// filter is the model that may leave out what was recalled: a side model of its own, lest the main one be waited for twice.
func (m models) filter(of *character.Character) *llm.Client {
	if m.side == nil || !of.FilterRecall || m.side.BaseURL == m.main.BaseURL && m.side.Model == m.main.Model {
		return nil
	}
	return m.side
}

// sees reports whether a model is shown pictures, as far as is known.
func (a *app) sees(m models) bool {
	return m.main != nil && a.config.get("OPENAI_VISION") != "off" && (m.main.Forced || m.main.Sees())
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

// openEmbeddings makes the service that makes vectors, if one is configured.
func (a *app) openEmbeddings(context.Context, *program) (err error) {
	c := a.config
	base := c.get("EMBED_BASE_URL")
	if base == "" {
		return nil
	}
	a.embeddings, err = embedding.New(embedding.Config{
		BaseURL: base, Key: c.get("EMBED_API_KEY"), Model: c.get("EMBED_MODEL"), Agent: a.agent, Client: a.client, Redact: a.redact.String,
	})
	if err != nil {
		return problems{"EMBED_BASE_URL: " + err.Error()}
	}
	return nil
}

// localServer uses an Ollama that happens to run here, with its first model where none is named.
func (a *app) localServer(ctx context.Context, s modelServer, base string) modelServer {
	first, how, err := firstModel(ctx, a.model(base, "", ""), ollamaPatience)
	if err != nil {
		return modelServer{}
	}
	if s.preset == "" {
		s.how = how
	}
	s.base, s.preset, s.where = strings.TrimRight(base, "/"), cmp.Or(s.preset, first), "Ollama on this machine"
	return s
}

// model is a client of a server. All that are made for it share its connections and its limit. It is called by one goroutine at a
// time.
func (a *app) model(base, key, name string) *llm.Client {
	base = strings.TrimRight(base, "/")
	link, ok := a.server.links[base]
	if !ok {
		link = modelLink{http: a.client(base), slots: &llm.Slots{Limit: a.config.count("FAMILIAR_MODEL_REQUESTS")}}
		a.server.links[base] = link
	}
	return &llm.Client{HTTP: link.http, BaseURL: base, Key: key, Model: name, Redact: a.redact.String,
		Slots: link.slots, FirstToken: a.config.span("FAMILIAR_FIRST_WORD")}
}

// firstModel is the first of a server's list that talks, as far as its name tells, and how it was chosen. The list must come within
// patience.
func firstModel(ctx context.Context, c *llm.Client, patience time.Duration) (name, how string, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	list, err := c.Models(ctx)
	if err != nil {
		return "", "", err
	}
	if len(list) == 0 {
		return "", "", errors.New("it lists none")
	}
	talks := slices.IndexFunc(list, func(name string) bool { return !strings.Contains(strings.ToLower(name), "embed") })
	if len(list) == 1 || talks < 0 {
		return list[0], "the only one there", nil
	}
	return list[talks], fmt.Sprintf("the first of %d there", len(list)), nil
}
