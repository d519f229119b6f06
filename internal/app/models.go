package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"familiar/internal/bot"
	"familiar/internal/doctor"
	"familiar/internal/llm"
	"familiar/internal/memory"
	"familiar/internal/providers/attachment"
	"familiar/internal/providers/character"
)

// models are the model that answers and the one that reads pages. Both are nil if none is configured.
type models struct {
	main, side *llm.Client
	where      string // the main model's server, for people
	how        string // how the main model was chosen if nobody named it
}

// modelServer is the main model's server. base is empty if there is none.
type modelServer struct {
	base, key string
	preset    string // the model of a character that names none
	where     string // for people
	how       string // how preset was chosen if it was not set
	links     map[string]modelLink
	mute      bool // there is no server: only the model's name is known
}

// modelLink is what all clients of one server share.
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

// describe says which model answers, or how to get one.
func (m models) describe() string {
	switch {
	case m.main == nil:
		return "none: answers are made from lookups alone. Set OPENAI_API_KEY (and OPENAI_BASE_URL for another server), or start " + llm.LocalServers
	case m.side.Model != m.main.Model:
		return fmt.Sprintf("%s at %s%s; %s reads pages", m.main.Model, m.where, m.chosen(), m.side.Model)
	}
	return fmt.Sprintf("%s at %s%s", m.main.Model, m.where, m.chosen())
}

// Unnamed says which model answers if nobody named it or its server; else it is empty.
func (a *App) Unnamed() string {
	m := a.modelsOf(a.Character)
	if m.main == nil || m.how == "" && !a.server.local() {
		return ""
	}
	return m.describe()
}

// chosen says how the model was chosen if nobody named it, in brackets.
func (m models) chosen() string {
	if m.how == "" {
		return ""
	}
	return " (OPENAI_MODEL is not set: " + m.how + ")"
}

// places returns where servers of models are looked for on this machine.
func (p *Process) places() []llm.Place {
	if p.Far.Local != nil {
		return p.Far.Local
	}
	host, _ := p.Env("OLLAMA_HOST")
	return llm.Places(host)
}

// chooseServer takes the configured server or, without one, the first that answers on this machine.
func (a *App) chooseServer(ctx context.Context, p *Process) (modelServer, error) {
	c := a.Config
	s := modelServer{base: c.Get("OPENAI_BASE_URL"), key: c.Get("OPENAI_API_KEY"), preset: c.Get("OPENAI_MODEL"), links: map[string]modelLink{}}
	a.server = s // for its links
	if s.base == "" && s.key == "" {
		return a.localServer(ctx, s, p.places()), nil
	}
	s.base = strings.TrimRight(cmp.Or(s.base, llm.OpenAI), "/")
	s.where = s.base
	if s.preset == "" && s.base == llm.OpenAI {
		s.preset, s.how = llm.OpenAIModel, "the usual one at OpenAI"
	}
	if s.preset == "" && a.Character.Model.Name == "" && a.wanted == "" {
		first, how, err := firstModel(ctx, a.model(s.base, s.key, ""), llm.ListTime)
		if err != nil {
			return modelServer{}, Problems{fmt.Sprintf("OPENAI_MODEL: it is not set, and the list of models at %s cannot be read: %s", s.base, a.whyNoList(ctx, s, err))}
		}
		s.preset, s.how = first, how
	}
	s.preset = cmp.Or(s.preset, a.Character.Model.Name)
	return s, nil
}

// HasModel reports whether a model is set or runs on this machine.
func HasModel(ctx context.Context, p *Process) (bool, error) {
	quiet := *p
	quiet.Log, quiet.Err = "", io.Discard
	a, err := configure(&quiet)
	if err != nil {
		return false, err
	}
	server, err := a.chooseServer(ctx, &quiet)
	return server.base != "", errors.Join(err, a.Close())
}

// whyNoList explains that a server gave no list of its models.
func (a *App) whyNoList(ctx context.Context, s modelServer, err error) string {
	f := doctor.Diagnose(ctx, a.model(s.base, s.key, ""), doctor.Names{Address: "OPENAI_BASE_URL", Key: "OPENAI_API_KEY", Model: "OPENAI_MODEL"}, err)
	if f == nil {
		return err.Error()
	}
	return a.Redact.String(f.String())
}

func (a *App) modelsOf(of *character.Character) models {
	if a.server.base == "" {
		return models{}
	}
	main := a.model(a.server.base, a.server.key, cmp.Or(a.wanted, of.Model.Name, a.server.preset))
	main.Temperature, main.MaxTokens = of.Model.Temperature, of.Model.MaxTokens
	main.Forced = a.Config.Get("OPENAI_VISION") == "on"
	if !a.server.local() {
		for name := range strings.SplitSeq(a.Config.Get("OPENAI_FALLBACKS"), ",") {
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

// sideModel returns the side model: the main one, except for what is configured.
func (a *App) sideModel(main *llm.Client, of *character.Character) *llm.Client {
	c := a.Config
	side := a.model(cmp.Or(c.Get("SIDE_BASE_URL"), main.BaseURL), "", cmp.Or(of.SideModel.Name, c.Get("SIDE_MODEL"), main.Model))
	side.Key = c.Get("SIDE_API_KEY")
	if side.Key == "" && side.BaseURL == main.BaseURL {
		side.Key = main.Key // a key is for its own server only
	}
	side.Temperature, side.MaxTokens = of.SideModel.Temperature, of.SideModel.MaxTokens
	return side
}

// filter returns the model that may leave out what was recalled, or nil. It is never the main model, which a turn would wait for twice.
func (m models) filter(of *character.Character) *llm.Client {
	if m.side == nil || !of.FilterRecall || m.side.BaseURL == m.main.BaseURL && m.side.Model == m.main.Model {
		return nil
	}
	return m.side
}

// sees reports whether a model is shown pictures, as far as is known.
func (a *App) sees(m models) bool {
	return m.main != nil && a.Config.Get("OPENAI_VISION") != "off" && (m.main.Forced || m.main.Sees())
}

// listener returns the service that transcribes voice messages, or nil if none is configured.
func (a *App) listener() *attachment.Transcriber {
	c := a.Config
	base := c.Get("TRANSCRIBE_BASE_URL")
	if base == "" {
		return nil
	}
	return &attachment.Transcriber{HTTP: a.client(base), BaseURL: base, Key: c.Get("TRANSCRIBE_API_KEY"), Model: c.Get("TRANSCRIBE_MODEL")}
}

// speaker returns the service that says a character's replies aloud, or nil if none is configured.
func (a *App) speaker(of *character.Character) (*attachment.Speaker, error) {
	c := a.Config
	base := c.Get("SPEECH_BASE_URL")
	if base == "" {
		return nil, nil
	}
	s, err := attachment.NewSpeaker(base, c.Get("SPEECH_API_KEY"), c.Get("SPEECH_MODEL"), cmp.Or(of.Voice.Name, c.Get("SPEECH_VOICE")), a.agent, a.client)
	if err != nil {
		return nil, Problems{"SPEECH_BASE_URL: " + err.Error()}
	}
	return s, nil
}

// openEmbeddings opens the embedding service, if one is configured.
func (a *App) openEmbeddings(context.Context, *Process) (err error) {
	c := a.Config
	base := c.Get("EMBED_BASE_URL")
	if base == "" {
		return nil
	}
	a.embeddings, err = memory.NewEmbedder(memory.EmbedderConfig{
		BaseURL: base, Key: c.Get("EMBED_API_KEY"), Model: c.Get("EMBED_MODEL"), Agent: a.agent, Client: a.client, Redact: a.Redact.String,
	})
	if err != nil {
		return Problems{"EMBED_BASE_URL: " + err.Error()}
	}
	return nil
}

// localServer returns the first server of models that runs on this machine, with its first model if none is named.
func (a *App) localServer(ctx context.Context, s modelServer, places []llm.Place) modelServer {
	type found struct{ model, how string }
	answers := make([]found, len(places))
	var asking sync.WaitGroup
	for i, place := range places {
		client := a.model(place.URL, "", "")
		asking.Go(func() { answers[i].model, answers[i].how, _ = firstModel(ctx, client, localPatience) })
	}
	asking.Wait()
	i := slices.IndexFunc(answers, func(f found) bool { return f.model != "" })
	if i < 0 {
		return modelServer{}
	}
	if s.preset == "" {
		s.how = answers[i].how
	}
	s.base, s.preset, s.where = strings.TrimRight(places[i].URL, "/"), cmp.Or(s.preset, answers[i].model), places[i].Name+" on this machine"
	return s
}

// model returns a client of a server. All clients of a server share its connections and its limit. Only one goroutine may call it at a time.
func (a *App) model(base, key, name string) *llm.Client {
	base = strings.TrimRight(base, "/")
	link, ok := a.server.links[base]
	if !ok {
		link = modelLink{http: a.client(base), slots: &llm.Slots{Limit: a.Config.Count("FAMILIAR_MODEL_REQUESTS")}}
		a.server.links[base] = link
	}
	return &llm.Client{HTTP: link.http, BaseURL: base, Key: key, Model: name, Redact: a.Redact.String,
		Slots: link.slots, FirstToken: a.Config.span("FAMILIAR_FIRST_WORD")}
}

// firstModel returns the first model of a server's list whose name is not of one for embeddings. It also returns how it was chosen. The
// server has patience to answer.
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

// namesOf returns the names of the settings that a character's client comes from.
func (a *App) namesOf(c *character.Character, m *llm.Client) doctor.Names {
	main := a.modelsOf(c).main
	side := m.BaseURL != main.BaseURL || m.Model != main.Model
	names := doctor.Names{Address: "OPENAI_BASE_URL", Key: "OPENAI_API_KEY", Model: "OPENAI_MODEL"}
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
	if side && a.Config.Get("SIDE_BASE_URL") != "" {
		names.Address, names.Key = "SIDE_BASE_URL", "SIDE_API_KEY"
	}
	return names
}

// diagnose says what to check after a character's model failed.
func (a *App) diagnose(ctx context.Context, actor *bot.Actor, err error) string {
	if actor.Model == nil {
		return ""
	}
	if f := doctor.Diagnose(ctx, actor.Model, a.namesOf(actor.Character, actor.Model), err); f != nil {
		return f.String()
	}
	return ""
}

// NameModel makes characters for a model that is never asked: its name decides how tokens are counted.
func (a *App) NameModel(name string) {
	a.server = modelServer{base: "http://replay.invalid", preset: name, links: map[string]modelLink{}, mute: true}
}
