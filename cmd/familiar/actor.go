package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"familiar/characters"
	"familiar/internal/bot"
	"familiar/internal/character/macro"
	"familiar/internal/character/rewrite"
	"familiar/internal/context/prompt"
	"familiar/internal/context/turn"
	"familiar/internal/llm"
	"familiar/internal/lookup/verifier"
	"familiar/internal/providers/attachment"
	"familiar/internal/providers/character"
	"familiar/internal/providers/history"
	"familiar/internal/providers/memory"
	"familiar/internal/providers/server"
	"familiar/internal/providers/websearch"
	"familiar/internal/search/backends"
	"familiar/internal/web/guard"
)

// domainsOf makes the lists of sites that a character may and may not visit.
func domainsOf(c *character.Character) (guard.Domains, error) {
	d, err := guard.NewDomains(c.Web.Allow, c.Web.Deny)
	if err != nil {
		return d, fmt.Errorf("read the character's domains: %w", err)
	}
	return d, nil
}

// joinProblems makes one list of what is wrong with the configuration and with something else, such as the character.
func joinProblems(wrong, other error) error {
	switch {
	case other == nil:
		return wrong
	case wrong == nil:
		return problems{other.Error()}
	}
	return problems{wrong.Error(), other.Error()}
}

func loadCharacter(c *config, dir string) (*character.Character, error) {
	own := c.value("FAMILIAR_CHARACTERS")
	at := resolve(dir, own.text)
	if info, err := os.Stat(at); own.source != "default" && (err != nil || !info.IsDir()) {
		return nil, problems{fmt.Sprintf("FAMILIAR_CHARACTERS: there is no directory %s.\n  Make it, or leave the setting out: the characters built in are there without it.", at)}
	}
	return character.Load(shelf(c, dir), c.get("FAMILIAR_CHARACTER"))
}

// shelf is where the characters are.
func shelf(c *config, dir string) fs.FS {
	return character.Overlay(resolve(dir, c.get("FAMILIAR_CHARACTERS")), characters.FS)
}

// openFiles makes what reads the files that hang on messages.
func (a *app) openFiles(context.Context, *program) error {
	hosts, err := guard.NewDomains(a.config.list("DISCORD_FILE_HOSTS"), nil)
	if err != nil {
		return problems{"DISCORD_FILE_HOSTS: " + err.Error()}
	}
	a.files = &attachment.Files{Fetcher: a.reader.Fetcher, Hosts: hosts}
	a.servers = &server.Servers{}
	quotas, err := bot.ParseQuotas(a.config.get("FAMILIAR_QUOTAS"))
	if err != nil {
		return problems{"FAMILIAR_QUOTAS: " + err.Error()}
	}
	a.meter = &bot.Meter{Store: a.store, Quotas: quotas, Log: a.log}
	a.summaries = &history.Summaries{Store: a.store, Redact: a.redact.String, Log: a.log, Readable: a.readable, Allows: a.meter.Allows, Count: a.meter.Count}
	return nil
}

// readable returns the names of the channels of a server that somebody may read, of some.
func (a *app) readable(ctx context.Context, guildID string, who turn.Reader, audience string, channels ...string) map[string]string {
	if a.servers.Platform == nil {
		return nil
	}
	may, names := a.servers.Platform.Readable(ctx, guildID, who, audience, channels...), map[string]string{}
	for _, c := range a.servers.Platform.Channels(guildID) {
		if may[c.ID] {
			names[c.ID] = c.Name
		}
	}
	return names
}

// openActor makes what the turns of the character are made with.
func (a *app) openActor(_ context.Context, p *program) (err error) {
	if a.config.get("FAMILIAR_VERIFY") == "on" && a.modelsOf(a.character).side == nil {
		a.log.Warn("FAMILIAR_VERIFY is on, and there is no model that could check: set OPENAI_BASE_URL or OPENAI_API_KEY")
	}
	a.actor, err = a.actorOf(a.character, p.far)
	return err
}

// actorOf makes what the turns of a character are made with: the models, the lookup and the prompt builder.
func (a *app) actorOf(c *character.Character, far far) (*bot.Actor, error) {
	if err := backends.CheckNames(c.Web.Backends); err != nil { // they must exist, and need not be on
		return nil, problems{"web.backends of the character: " + err.Error()}
	}
	web := c.Web
	trusted, err := trust(web)
	if err != nil {
		return nil, err
	}
	domains, err := domainsOf(c)
	if err != nil {
		return nil, err
	}
	models := a.modelsOf(c)
	pages := web.Pages
	if pages == 0 { // which is the default in a policy, and none to the operator
		pages = -1
	}
	counter := &llm.Counter{Model: models.name()}
	lookup := &websearch.Provider{
		Search: a.engine, Reader: a.reader, Side: models.side, Eager: models.main == nil, Count: counter.Count,
		Zone: c.Location, Store: a.store, Server: c.Server.Enabled,
		Policy: websearch.Policy{
			Off: a.config.get("FAMILIAR_WEB") == "off", Domains: domains, DeniedTopics: web.DeniedTopics,
			BlockBytes: web.BlockBytes, Pages: pages, PerDomain: web.PerDomain, Deadline: web.Deadline, Queries: web.Queries,
			PerMinute: web.PerMinute, PerSession: web.PerSession, PerDay: web.PerDay, Depth: web.Depth, Backends: web.Backends, Trusted: trusted,
		},
	}
	for _, d := range c.Docs {
		lookup.Policy.Docs = append(lookup.Policy.Docs, websearch.Docs(d))
	}
	past := &server.Provider{Store: a.store, Servers: a.servers, Off: !c.Server.Enabled, Own: !c.Server.DiscordSearch, Zone: c.Location, Count: counter.Count}
	builder := &prompt.Builder{
		Providers: []prompt.Provider{
			&history.Provider{
				Store: a.store, Window: c.Window, Summaries: a.summaries, Side: models.side, Zone: c.Location, Count: counter.Count,
			},
			&character.Provider{Character: c, Store: a.store, Count: counter.Count},
			&memory.Provider{
				Store: a.store, Rooms: a.servers, Lore: c.Library, Side: models.filter(c), Off: !c.Server.Enabled, Window: c.Window, Zone: c.Location, Count: counter.Count,
				Embeddings: a.embeddings,
			},
			past, // before the web: the first that looked has the say
			lookup,
		},
		Count: counter.Count, BlockRole: web.BlockRole, Clock: c.Location, Names: append([]string{c.Name, c.Called}, c.Aliases...), Redact: a.redact.String,
		Deadlines: map[string]time.Duration{"character": 250*time.Millisecond + far.patience, "history": 2*time.Second + far.patience, "memory": 3*time.Second + far.patience},
	}
	if c.Rewrites.Runs(rewrite.OnHistory) {
		builder.Own = func(text string, depth int) string { return c.Rewritten(rewrite.OnHistory, text, depth, macro.Env{}) }
	}
	if a.files != nil {
		builder.Providers = append(builder.Providers, &attachment.Provider{Files: a.files, Sees: func() bool { return a.sees(models) }})
	}
	actor := &bot.Actor{Character: c, Builder: builder, Lookup: lookup, Past: past, Model: models.main, Side: models.side, Tokens: counter}
	if models.side != nil && a.config.get("FAMILIAR_VERIFY") == "on" {
		actor.Verifier = &verifier.Verifier{Model: models.side}
	}
	return actor, nil
}

// trust makes the character's lists of trusted sites comparable.
func trust(web character.Web) (map[turn.Intent]websearch.Trust, error) {
	all := map[turn.Intent]websearch.Trust{}
	for intent, sites := range web.Trusted {
		hosts, err := guard.NewDomains(sites, nil)
		if err != nil {
			return nil, fmt.Errorf("read the sites trusted for %s: %w", intent, err)
		}
		all[turn.Intent(intent)] = websearch.Trust{Sites: sites, Hosts: hosts, Only: slices.Contains(web.TrustedOnly, intent)}
	}
	return all, nil
}
