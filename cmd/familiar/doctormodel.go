package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/doctor"
	"familiar/internal/llm"
	"familiar/internal/llm/cure"
	"familiar/internal/search/backends"
)

// model asks the main model, and those that stand in for it.
func (e *examination) model(ctx context.Context) []doctor.Finding {
	m, err := e.models(ctx)
	switch {
	case err != nil:
		text, cure, _ := strings.Cut(err.Error(), "\n")
		return []doctor.Finding{{ID: "model", State: doctor.Failure, Text: text, Cure: strings.TrimSpace(cure)}}
	case m.main == nil:
		return doctor.NoModel()
	}
	ch, slow := e.a.character, e.a.config.span("FAMILIAR_FIRST_WORD")
	look := doctor.Model{Role: "model", Where: m.where, How: m.chosen(), Slow: slow, Mode: string(ch.Mode), Prompt: ch.Modes[ch.Mode].Total}
	fallbacks := m.main.Fallbacks
	if e.brief {
		fallbacks = nil
	} else {
		look.Picture, look.JSON = &doctor.Sight{Off: e.a.config.get("OPENAI_VISION") == "off"}, &doctor.Reply{}
	}
	main := e.alone(m.main, m.main.Model)
	names := e.a.namesOf(ch, m.main)
	found := ask(ctx, main, names, look)
	for _, name := range fallbacks {
		found = append(found, ask(ctx, e.alone(m.main, name), names, doctor.Model{Role: "fallback", Where: m.where, Slow: slow})...)
	}
	return found
}

// sideModel asks the side model where it is another one.
func (e *examination) sideModel(ctx context.Context) []doctor.Finding {
	m, err := e.models(ctx)
	if err != nil || m.main == nil || m.side.Model == m.main.Model && m.side.BaseURL == m.main.BaseURL {
		return nil
	}
	where := m.where
	if m.side.BaseURL != m.main.BaseURL {
		where = shownAddress(m.side.BaseURL)
	}
	return ask(ctx, e.alone(m.side, m.side.Model), e.a.namesOf(e.a.character, m.side), doctor.Model{Role: "side model", Where: where, Slow: e.a.config.span("FAMILIAR_FIRST_WORD"), JSON: &doctor.Reply{}})
}

// models are those of the character. Two checks ask for them, and the first one finds them.
func (e *examination) models(ctx context.Context) (models, error) {
	e.choosing.Do(func() { e.chosen, e.noModels = e.chooseModels(ctx) })
	return e.chosen, e.noModels
}

func (e *examination) chooseModels(ctx context.Context) (models, error) {
	server, err := e.a.chooseServer(ctx, e.p.far)
	if err != nil {
		return models{}, err
	}
	if !server.local() {
		server.where = shownAddress(server.where)
	}
	e.a.server = server
	m := e.a.modelsOf(e.a.character)
	for _, link := range server.links {
		link.http.Transport = &dated{next: link.http.Transport, who: "the model's server", reading: &e.clock}
	}
	return m, nil
}

// alone is a client of one model that nothing stands in for.
func (e *examination) alone(c *llm.Client, name string) *llm.Client {
	return &llm.Client{HTTP: c.HTTP, BaseURL: c.BaseURL, Key: c.Key, Model: name, Redact: c.Redact, FirstToken: time.Minute}
}

// ask puts the questions to a model that a look wants answered, one after the other: a machine of one's own has room for one.
func ask(ctx context.Context, c *llm.Client, names cure.Names, look doctor.Model) []doctor.Finding {
	look.Name = c.Model
	look.Stream = stream(ctx, c)
	if err := look.Stream.Err; err != nil {
		if f := cure.Of(ctx, c, names, err); f != nil {
			look.Stream.Why, look.Stream.Cure = f.Text, f.Cure
		}
		return look.Judge()
	}
	if look.Prompt > 0 {
		look.Window = c.Window(ctx)
	}
	if look.JSON != nil {
		look.JSON.OK, look.JSON.Err = givesJSON(ctx, c)
	}
	if look.Picture != nil && !look.Picture.Off {
		answer, err := c.Complete(ctx, llm.Request{Messages: []llm.Message{{Role: "user", Content: "Which colour has this picture? Answer with one word.",
			Images: []llm.Image{{Label: "a square", Type: "image/png", Data: square()}}}}})
		look.Picture.Blind, look.Picture.Err = answer.Blind, err
	}
	return look.Judge()
}

// stream has a model say a word.
func stream(ctx context.Context, c *llm.Client) (s doctor.Stream) {
	began := time.Now()
	_, s.Err = c.Stream(ctx, llm.Request{Messages: []llm.Message{{Role: "user", Content: "This is a test. Answer with the one word: ready."}}}, func(string) {
		if s.Pieces++; s.Pieces == 1 {
			s.First = time.Since(began)
		}
	})
	s.Took = time.Since(began)
	return s
}

// givesJSON asks for an object.
func givesJSON(ctx context.Context, c *llm.Client) (bool, error) {
	var got map[string]any
	_, err := c.Ask(ctx, llm.Question{Order: "This is a test.", Text: `Answer with this JSON object and nothing else: {"ready": true}`}, &got)
	if errors.Is(err, llm.ErrNoObject) {
		return false, nil
	}
	return err == nil, err
}

// square is a red picture.
func square() []byte {
	m := image.NewRGBA(image.Rect(0, 0, 32, 32))
	draw.Draw(m, m.Bounds(), image.NewUniform(color.RGBA{200, 0, 0, 255}), image.Point{}, draw.Src)
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		panic(fmt.Sprintf("write a picture: %v", err)) // to memory
	}
	return b.Bytes()
}

// intentsOf are what a search backend is for; none: everything.
func intentsOf(name string) []turn.Intent {
	for _, l := range backends.Table() {
		if l.Name == name {
			return l.Only
		}
	}
	return nil
}
