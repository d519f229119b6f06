package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"familiar/internal/bot"
	"familiar/internal/context/turn"
	"familiar/internal/llm"
	"familiar/internal/llm/cure"
	"familiar/internal/providers/character"
)

// connectPatience is how long all services together are asked.
const connectPatience = 90 * time.Second

// connections asks every service that is configured, all at once, and returns what came of it in a fixed order: Discord, the models, the
// search backends, embeddings. The app must be open to search with. Nothing in a finding is secret.
func (a *app) connections(ctx context.Context, far far) []cure.Finding {
	ctx, cancel := context.WithTimeout(ctx, connectPatience)
	defer cancel()
	parts := []func() []cure.Finding{
		func() []cure.Finding { return a.tryDiscord(ctx) },
		func() []cure.Finding { return a.tryModels(ctx, far) },
		func() []cure.Finding { return a.tryBackends(ctx) },
		func() []cure.Finding { return a.tryEmbeddings(ctx) },
	}
	results := make([][]cure.Finding, len(parts))
	var asking sync.WaitGroup
	for i, part := range parts {
		asking.Go(func() { results[i] = part() })
	}
	asking.Wait()
	var all []cure.Finding
	for _, findings := range results {
		for _, f := range findings {
			f.Text, f.Cure = a.redact.String(f.Text), a.redact.String(f.Cure)
			all = append(all, f)
		}
	}
	return all
}

// tryDiscord asks who the bot is. Without a token it finds nothing.
func (a *app) tryDiscord(ctx context.Context) []cure.Finding {
	token, base := a.config.get("DISCORD_TOKEN"), strings.TrimRight(a.config.get("DISCORD_API_URL"), "/")
	if token == "" {
		return nil
	}
	f := cure.Finding{Service: "Discord"}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/v10/users/@me", nil)
	if err != nil {
		f.Text = err.Error()
		return []cure.Finding{f}
	}
	request.Header.Set("Authorization", "Bot "+strings.TrimPrefix(token, "Bot "))
	response, err := a.client(base).Do(request)
	if err != nil {
		f.Text, f.Cure = base+" cannot be reached: "+err.Error(), "see whether this machine has a network, and whether DISCORD_API_URL is right"
		return []cure.Finding{f}
	}
	defer response.Body.Close()
	var user struct {
		Username, ID string
		Bot          bool
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	switch {
	case response.StatusCode == http.StatusUnauthorized:
		f.Text, f.Cure = "Discord refuses the bot token", "DISCORD_TOKEN: take a new one from "+tokenHelp
	case err != nil || response.StatusCode != http.StatusOK || json.Unmarshal(body, &user) != nil || user.ID == "":
		f.Text, f.Cure = fmt.Sprintf("what answers at %s is not Discord's API (status %d)", base, response.StatusCode), "see whether DISCORD_API_URL is right, without its version: https://discord.com/api"
	default:
		f.OK, f.Text = true, fmt.Sprintf("the token is that of %s (%s)", user.Username, user.ID)
	}
	return []cure.Finding{f}
}

// tryModels asks the model that answers and, where it is another one, the side model for a word.
func (a *app) tryModels(ctx context.Context, far far) []cure.Finding {
	server, err := a.chooseServer(ctx, far)
	if err != nil {
		return []cure.Finding{{Service: "model", Text: err.Error()}}
	}
	a.server = server
	m := a.modelsOf(a.character)
	if m.main == nil {
		return []cure.Finding{{Service: "model", OK: true, Text: m.describe()}}
	}
	all := []cure.Finding{cure.Try(ctx, m.main, a.namesOf(a.character, m.main))}
	if all[0].OK {
		all[0].Text += m.chosen()
	}
	if m.side.BaseURL != m.main.BaseURL || m.side.Model != m.main.Model {
		f := cure.Try(ctx, m.side, a.namesOf(a.character, m.side))
		f.Service = "side model"
		all = append(all, f)
	}
	return all
}

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

// tryBackends asks each search backend that is on a question, which counts as any other.
func (a *app) tryBackends(ctx context.Context) (all []cure.Finding) {
	if a.config.get("FAMILIAR_WEB") == "off" {
		return nil
	}
	list, err := a.listBackends(ctx, true)
	if err != nil {
		return []cure.Finding{{Service: "search", Text: err.Error()}}
	}
	for _, b := range list {
		if !b.On || b.Probe == nil {
			continue
		}
		f := cure.Finding{Service: b.Name, OK: answered(*b.Probe), Text: fmt.Sprintf("%d hits in %s", b.Probe.Hits, ms(b.Probe.Took))}
		if !f.OK {
			f.Text = strings.ReplaceAll(string(b.Probe.Status), "_", " ")
			if b.Probe.Detail != "" {
				f.Text += ": " + b.Probe.Detail
			}
			if b.Probe.Status == turn.CodeUnreachable {
				f.Cure = "see whether this machine has a network"
			}
		}
		all = append(all, f)
	}
	return all
}

// tryEmbeddings asks for one vector, where a service makes them.
func (a *app) tryEmbeddings(ctx context.Context) []cure.Finding {
	if err := a.openEmbeddings(ctx, nil); err != nil {
		return []cure.Finding{{Service: "embeddings", Text: err.Error()}}
	}
	if a.embeddings == nil {
		return nil
	}
	f := cure.Finding{Service: "embeddings"}
	vectors, err := a.embeddings.Batch(ctx, []string{"yes"})
	switch {
	case err != nil:
		f.Text, f.Cure = err.Error(), "see whether EMBED_BASE_URL (with its version: …/v1), EMBED_API_KEY and EMBED_MODEL are right"
	case len(vectors) == 0 || len(vectors[0]) == 0:
		f.Text, f.Cure = "the vector says nothing", "see whether EMBED_MODEL makes vectors"
	default:
		f.OK, f.Text = true, fmt.Sprintf("%s at %s makes vectors of %d numbers", a.embeddings.Model, a.embeddings.Host(), len(vectors[0]))
	}
	return []cure.Finding{f}
}

// errConnect says that not every service that is configured answers.
var errConnect = errors.New("not every service answers")

// writeFindings prints what came of asking the services, and reports whether all is well.
func writeFindings(out io.Writer, all []cure.Finding) (well bool) {
	well = true
	for _, f := range all {
		mark := "ok  "
		if !f.OK {
			mark, well = "fail", false
		}
		fmt.Fprintf(out, "%s  %-14s %s\n", mark, f.Service, f.Text)
		if f.Cure != "" {
			fmt.Fprintf(out, "      %-14s → %s\n", "", f.Cure)
		}
	}
	return well
}
