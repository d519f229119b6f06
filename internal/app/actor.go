package app

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"familiar/characters"
	"familiar/internal/bot"
	"familiar/internal/context/prompt"
	"familiar/internal/context/turn"
	"familiar/internal/gate"
	"familiar/internal/llm"
	"familiar/internal/providers/attachment"
	"familiar/internal/providers/character"
	"familiar/internal/providers/recall"
	"familiar/internal/providers/websearch"
	"familiar/internal/search/backend"
	"familiar/internal/terminal"
	"familiar/internal/web/clean"
)

// domainsOf returns the sites that a character may visit.
func domainsOf(c *character.Character) (clean.Domains, error) {
	d, err := clean.NewDomains(c.Web.Allow, c.Web.Deny)
	if err != nil {
		return d, fmt.Errorf("read the character's domains: %w", err)
	}
	return d, nil
}

// JoinProblems joins an error of the configuration with another one, such as that of the character. Both may be nil.
func JoinProblems(wrong, other error) error {
	switch {
	case other == nil:
		return wrong
	case wrong == nil:
		return Problems{other.Error()}
	}
	return Problems{wrong.Error(), other.Error()}
}

func LoadCharacter(c *Config, dir string) (*character.Character, error) {
	own := c.Value("FAMILIAR_CHARACTERS")
	at := Resolve(dir, own.Text)
	if info, err := os.Stat(at); own.Source != "default" && (err != nil || !info.IsDir()) {
		return nil, Problems{fmt.Sprintf("FAMILIAR_CHARACTERS: there is no directory %s.\n  Make it, or leave the setting out: the characters built in are there without it.", at)}
	}
	return character.Load(Shelf(c, dir), c.Get("FAMILIAR_CHARACTER"))
}

// Shelf returns the files of the characters: the operator's own before those built in.
func Shelf(c *Config, dir string) fs.FS {
	return character.Overlay(Resolve(dir, c.Get("FAMILIAR_CHARACTERS")), characters.FS)
}

// openFiles makes what reads attachments, counts usage and summarises channels.
func (a *App) openFiles(context.Context, *Process) error {
	hosts, err := clean.NewDomains(a.Config.list("DISCORD_FILE_HOSTS"), nil)
	if err != nil {
		return Problems{"DISCORD_FILE_HOSTS: " + err.Error()}
	}
	a.files = &attachment.Files{Fetcher: a.Reader.Fetcher, Hosts: hosts}
	a.servers = &recall.Servers{}
	quotas, err := gate.ParseQuotas(a.Config.Get("FAMILIAR_QUOTAS"))
	if err != nil {
		return Problems{"FAMILIAR_QUOTAS: " + err.Error()}
	}
	a.gate = &gate.Gate{Store: a.Store, Quotas: quotas, Log: a.Log, Now: time.Now}
	a.summaries = &recall.Summaries{Store: a.Store, Redact: a.Redact.String, Log: a.Log, Readable: a.readable, Allows: a.gate.Allows, Count: a.gate.CountAside}
	return nil
}

// readable returns those of some channels that a person may read, with their names.
func (a *App) readable(ctx context.Context, guildID string, who turn.Reader, audience string, channels ...string) map[string]string {
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

// openActor makes the character that the program answers as.
func (a *App) openActor(_ context.Context, p *Process) (err error) {
	if a.Config.Get("FAMILIAR_VERIFY") == "on" && a.modelsOf(a.Character).side == nil {
		a.Log.Warn("FAMILIAR_VERIFY is on, and there is no model to check with: set OPENAI_BASE_URL or OPENAI_API_KEY")
	}
	a.Actor, err = a.ActorOf(a.Character, p.Far)
	return err
}

// ActorOf makes a character's models, lookup and prompt builder.
func (a *App) ActorOf(c *character.Character, far Far) (*bot.Actor, error) {
	if err := backend.CheckNames(c.Web.Backends); err != nil { // they must exist, and need not be on
		return nil, Problems{"web.backends of the character: " + err.Error()}
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
	if pages == 0 { // a policy takes 0 for its default, the operator means none
		pages = -1
	}
	counter := &llm.Counter{Model: models.name()}
	lookup := &websearch.Provider{
		Search: a.Engine, Reader: a.Reader, Side: models.side, Eager: models.main == nil, Count: counter.Count,
		Zone: c.Location, Store: a.Store,
		Policy: websearch.Policy{
			Off: a.Config.Get("FAMILIAR_WEB") == "off", Domains: domains, DeniedTopics: web.DeniedTopics,
			BlockBytes: web.BlockBytes, Pages: pages, PerDomain: web.PerDomain, Deadline: web.Deadline, Queries: web.Queries,
			PerMinute: web.PerMinute, PerSession: web.PerSession, PerDay: web.PerDay, Depth: web.Depth, Backends: web.Backends, Trusted: trusted,
		},
	}
	for _, d := range c.Docs {
		lookup.Policy.Docs = append(lookup.Policy.Docs, websearch.Docs(d))
	}
	past := &recall.Past{Store: a.Store, Memories: a.Memories, Servers: a.servers, Off: !c.Server.Enabled, Zone: c.Location, Count: counter.Count}
	lookup.Asked = &past.Asked
	server := &recall.ServerProvider{Past: past, Own: !c.Server.DiscordSearch}
	// The conversation shows at least half of its window.
	memories := &recall.MemoryProvider{Past: past, Lore: recall.NewLibrary(c.LookedUp()), Side: models.filter(c), Window: (c.Window + 1) / 2, Unread: models.main == nil, Embeddings: a.embeddings, Vectors: a.Vectors}
	if models.main == nil {
		memories.Answers = programAnswers()
	}
	server.Told, lookup.Known = memories.Knows, server.Knows
	builder := &prompt.Builder{
		Providers: []prompt.Provider{
			&recall.HistoryProvider{
				Store: a.Store, Window: c.Window, Summaries: a.summaries, Side: models.side, Zone: c.Location, Count: counter.Count,
			},
			&character.Provider{Character: c, Store: a.Store, Count: counter.Count, Model: models.name()},
			memories,
			server, // before the web: the first that looked decides
			lookup,
		},
		Count: counter.Count, BlockRole: web.BlockRole, Clock: c.Location, Names: append([]string{c.Name, c.Called}, c.Aliases...), Redact: a.Redact.String, Own: c.Earlier(),
		Deadlines: map[string]time.Duration{"character": 250*time.Millisecond + far.Patience, "history": 2*time.Second + far.Patience, "memory": 3*time.Second + far.Patience},
	}
	if models.main != nil && !a.server.mute {
		builder.Window = models.main.Size
	}
	actor := &bot.Actor{Character: c, Builder: builder, Lookup: lookup, Past: server, Model: models.main, Side: models.side, Tokens: counter}
	if actor.Speech, err = a.speaker(c); err != nil {
		return nil, err
	}
	if a.files != nil {
		actor.Pictures = &attachment.Provider{Files: a.files, Sees: func() bool { return a.sees(models) }}
		builder.Providers = append(builder.Providers, actor.Pictures)
	}
	if models.side != nil && a.Config.Get("FAMILIAR_VERIFY") == "on" {
		actor.Verify()
	}
	return actor, nil
}

// trust returns the sites that a character trusts, by intent.
func trust(web character.Web) (map[turn.Intent]websearch.Trust, error) {
	all := map[turn.Intent]websearch.Trust{}
	for intent, sites := range web.Trusted {
		hosts, err := clean.NewDomains(sites, nil)
		if err != nil {
			return nil, fmt.Errorf("read the sites trusted for %s: %w", intent, err)
		}
		all[turn.Intent(intent)] = websearch.Trust{Sites: sites, Hosts: hosts, Only: slices.Contains(web.TrustedOnly, intent)}
	}
	return all, nil
}

// programAnswers are the bundled answers to questions about the program itself.
var programAnswers = sync.OnceValue(func() *recall.Library {
	questions, _ := characters.FS.ReadFile("_default/questions.md") // it is embedded
	return recall.NewAnswers(string(questions))
})

// Answer answers one question through the same lanes, providers and guard as a channel's. The channel is the question's own and has no
// history. If ctx ends first, the answer is cut short.
func (a *App) Answer(ctx context.Context, user, question string) (answer string, t *turn.Trace, err error) {
	door := &terminal.Once{}
	b := a.Uncapped().Bot(door, bot.Pace{Close: true, First: time.Hour}) // one post, when the answer is complete
	b.OperatorOnly = true
	asked := (&terminal.Door{User: user}).Message(question)
	asked.Message.ChannelID = "ask-" + asked.Message.ID
	defer context.AfterFunc(ctx, func() { b.Stop(asked.Message.ChannelID, "") })()
	events := make(chan []turn.Event, 1)
	events <- []turn.Event{asked}
	close(events)
	b.Run(ctx, events)

	if t, err = a.Traces.ByMessage(context.WithoutCancel(ctx), asked.Message.ID); err != nil {
		return "", nil, fmt.Errorf("find the record of the turn: %w", err)
	}
	return door.Text, t, nil
}
