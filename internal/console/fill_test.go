package console

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"familiar/characters"
	"familiar/internal/context/prompt"
	"familiar/internal/context/turn"
	"familiar/internal/doctor"
	"familiar/internal/forget"
	"familiar/internal/memory"
	"familiar/internal/providers/character"
	"familiar/internal/reply"
	"familiar/internal/search/backend"
	"familiar/internal/store"
	"familiar/internal/test/storetest"
	"familiar/internal/trace"
	"familiar/internal/web/clean"
)

// world is a console over a store with the data of several people.
type world struct {
	*Console
	store    *store.DB
	memories *memory.Store
	traces   *trace.Store
	feed     *Feed
	cast     *cast
	bot      *controlled
	limited  atomic.Int64 // answers 429 of Discord
	now      time.Time
}

// cast holds the active characters, as the program does.
type cast struct {
	shelf *Shelf
	mu    sync.Mutex
	all   map[string]*character.Character // guarded by mu
}

// list returns the characters in order. Sage has sites that it trusts and one that it does not visit.
func (c *cast) list() (all []*character.Character) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(c.all)) {
		one := *c.all[id]
		if id == "sage" && len(one.Web.Trusted) == 0 {
			one.Web.Trusted, one.Web.TrustedOnly = map[string][]string{"weather": {"dwd.de", "yr.no"}, "docs": {"go.dev", "developer.mozilla.org"}}, []string{"weather"}
			one.Web.Deny = []string{"content-farm.example"}
		}
		all = append(all, &one)
	}
	return all
}

func (c *cast) get(id string) *character.Character {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all[id]
}

// load reads the files again. An invalid character keeps its last valid version.
func (c *cast) load(context.Context) error {
	ids, err := character.List(c.shelf.files())
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range ids {
		one, wrong := character.Load(c.shelf.files(), id)
		if wrong == nil {
			c.all[id] = one
		}
		err = errors.Join(err, nil)
	}
	return err
}

const secret = `sk-live-0123+4567&89ab<cdefg'hij`

var channelNames = map[string]string{"901": "general", "902": "science", "903": "help-desk", "904": "the-tavern", "905": "cooking"}

// newWorld returns a console without records.
// prompted returns the prompt that a character's own files give.
func prompted(ctx context.Context, c *character.Character, r turn.Request) []turn.Rendered {
	builder := prompt.Builder{Providers: []prompt.Provider{&character.Provider{Character: c}}, BlockRole: c.Web.BlockRole, Clock: c.Location, Names: []string{c.Name}}
	return builder.Build(ctx, r).Messages
}

func newWorld(tb testing.TB, change func(*Config)) *world {
	tb.Helper()
	dir := tb.TempDir()
	storetest.Seed(tb, dir)
	db, err := store.Open(tb.Context(), dir)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { db.Close() })
	w := &world{store: db, memories: memory.New(db), traces: &trace.Store{DB: db, SearchTime: time.Minute}, feed: &Feed{}, now: time.Now().UTC()}
	shelf := &Shelf{Dir: filepath.Join(dir, "characters"), BuiltIn: characters.FS, Prompt: prompted, MostBytes: 12 << 20}
	w.cast = &cast{shelf: shelf, all: map[string]*character.Character{}}
	shelf.Reload = w.cast.load
	if err := w.cast.load(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	w.bot = &controlled{db: db, limits: "all 5 dollars"}
	c := Config{
		Controls: w.bot.controls(w.traces),
		Store:    db, Memories: w.memories, Traces: w.traces, Feed: w.feed, Version: "0.1.0", Shelf: shelf,
		Redact: clean.NewRedactor(secret).String,
		Gateway: func() turn.Gateway {
			return turn.Gateway{Shard: turn.Shard{Connected: true, Since: w.now, Latency: 43 * time.Millisecond, Guilds: 3}}
		},
		Lanes: func() []turn.Lane {
			return []turn.Lane{{ChannelID: "901", TurnID: "01RUN1", Waiting: 2}, {ChannelID: "902", TurnID: "01RUN2"}}
		},
		Limited: w.limited.Load,
		Quotas: func(context.Context) ([]Quota, error) {
			return []Quota{{Name: "All, dollars today", Used: 2.85, Most: 5}}, nil
		},
		Channel:   func(id string) string { return channelNames[id] },
		Backends:  func(context.Context) ([]backend.Status, error) { return someBackends(w.now), nil },
		Cast:      w.cast.list,
		Telemetry: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}),
		Doctor:    func(context.Context, doctor.Progress) []doctor.Finding { return someFindings() },
	}
	if change != nil {
		change(&c)
	}
	if w.Console, err = New(c); err != nil {
		tb.Fatal(err)
	}
	return w
}

func someBackends(now time.Time) []backend.Status {
	return []backend.Status{
		{Name: "searxng", On: true, Kind: "general", Health: "ok", Answers: 64, P50: 412 * time.Millisecond, P95: 1320 * time.Millisecond},
		{Name: "brave", On: true, Kind: "general", Health: "ok", Answers: 40, P50: 288 * time.Millisecond, P95: 640 * time.Millisecond, Left: 412, Of: 2000, Resets: now.AddDate(0, 0, 8)},
		{Name: "wikipedia", On: true, Kind: "web", Health: "ok", Answers: 51, P50: 151 * time.Millisecond, P95: 402 * time.Millisecond},
		{Name: "open-meteo", On: true, Kind: "special", Intents: []turn.Intent{"weather"}, Health: "untried"},
		{Name: "duckduckgo", On: true, Kind: "general", Health: "resting", Until: now.Add(7 * time.Minute), Answers: 12, P50: 890 * time.Millisecond, P95: 2410 * time.Millisecond, Failure: "blocked", Detail: "it takes us for a robot; it is asked again in a while", FailedAt: now.Add(-3 * time.Minute)},
		{Name: "newsapi", On: true, Kind: "special", Intents: []turn.Intent{"news"}, Health: "used_up", Left: 0, Of: 100, Resets: now.Add(5 * time.Hour), Failure: "quota", FailedAt: now.Add(-time.Hour)},
		{Name: "tavily", Kind: "web", Why: "TAVILY_API_KEY is not set"},
		{Name: "github", Kind: "special", Why: "FAMILIAR_SEARCH does not name it"},
	}
}

func someFindings() []doctor.Finding {
	rights := &doctor.Table{Columns: []string{"View Channels", "Read Message History", "Send Messages", "Send Messages in Threads", "Add Reactions", "Attach Files"}, Rows: []doctor.Row{
		{Name: "#general", Cells: []doctor.Cell{doctor.Has, doctor.Has, doctor.Has, doctor.Has, doctor.Has, doctor.Has}},
		{Name: "#science", Cells: []doctor.Cell{doctor.Has, doctor.Has, doctor.Has, doctor.Has, doctor.Without, doctor.Has}},
		{Name: "#help-desk", Cells: []doctor.Cell{doctor.Has, doctor.Has, doctor.Has, doctor.Missing, doctor.Has, doctor.Without}},
	}}
	return []doctor.Finding{
		{ID: "token", State: doctor.OK, Text: "Discord accepts it: application Sage (100000000000000002), the bot Sage."},
		{ID: "intents", State: doctor.OK, Text: "Message Content is granted: it reads what is written in its channels."},
		{ID: "permissions", Subject: "hall", State: doctor.Warning, Text: "3 channels: it may do all that it needs in 2. In 1 it sees what it may not answer, or cannot read what was said before.",
			Cure: "give its role what is missing: Server Settings → Roles, or the channel's Permissions", Table: rights},
		{ID: "model", Subject: "qwen3-32b", State: doctor.OK, Text: "It answers at http://127.0.0.1:11434/v1: first word after 412 ms, whole after 980 ms."},
		{ID: "search", Subject: "duckduckgo", State: doctor.Warning, Text: "It does not answer: blocked.", Cure: "see familiar backends; FAMILIAR_SEARCH_OFF=duckduckgo leaves it out"},
		{ID: "dns", State: doctor.Failure, Text: "The name example.com is not resolved: pages cannot be read.", Cure: "see whether this machine has a name server, and reaches it"},
		{ID: "backup", State: doctor.Warning, Text: "There is none yet.", Cure: "run familiar backup FILE, best every day"},
	}
}

// flake returns the id of a message of a turn, as Discord has it.
func flake(first, id string) string {
	return first + strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, id)
}

// controlled notes what the console does to the bot.
type controlled struct {
	db     *store.DB
	done   []string
	limits string
	replay func(context.Context, Again) (Replayed, error)
}

func (c *controlled) controls(traces *trace.Store) *Controls {
	note := func(what ...string) { c.done = append(c.done, strings.Join(what, " ")) }
	return &Controls{
		Stop: func(channelID, turnID string) bool { note("stop", channelID, turnID); return true },
		Delete: func(ctx context.Context, t *turn.Trace, by string) error {
			note("delete", t.Request.ID, "by", by)
			err := traces.Press(ctx, t.Request.ID, turn.Press{Kind: reply.DeleteButton, ByID: by, At: time.Now()})
			for _, id := range t.ReplyIDs {
				err = errors.Join(err, c.db.Messages.Delete(ctx, id))
			}
			return err
		},
		Pause: func(ctx context.Context, s store.Switch, ends bool) error {
			if note("pause", s.Place, fmt.Sprint(ends)); ends {
				return c.db.Settings.SwitchOn(ctx, s)
			}
			return c.db.Settings.SwitchOff(ctx, s)
		},
		Parent: func(context.Context, string) string { return "" }, Limits: func() string { return c.limits },
		SetLimits: func(_ context.Context, quotas string) error {
			if !strings.Contains(quotas, "turns") {
				return errors.New("that is no quota")
			}
			c.limits = quotas
			return nil
		},
		Replay: func(ctx context.Context, a Again) (Replayed, error) {
			note("replay", a.Turn, a.Character, a.Model, a.Ask)
			if c.replay != nil {
				return c.replay(ctx, a)
			}
			then, err := traces.Get(ctx, a.Turn)
			if err != nil {
				return Replayed{}, err
			}
			now := *then
			now.Reply, now.Model = "Saturn has a few moons, I think.", a.Model
			return Replayed{then, &now, []string{"a side model took part"}}, nil
		},
		Count: func(context.Context, string) (map[forget.Kind]int, error) {
			return map[forget.Kind]int{forget.KindMessages: 41}, nil
		},
		Log: &Journal{},
	}
}

// someone is a person who asks something.
type someone struct {
	who, channel, question, reply string
	lookup                        *turn.Lookup
	phase                         turn.Phase
	err                           string
	took                          time.Duration
}

func talk() []someone {
	return []someone{
		{who: "Ada", channel: "902", question: "How many moons does Saturn have now, and when were the last ones confirmed?", took: 6120 * time.Millisecond,
			reply: "Saturn has 274 confirmed moons [1]. The last large batch, 128 of them, was recognised on 11 March 2025 [1][2].", lookup: saturn()},
		{who: "Ben", channel: "901", question: "good morning Sage, did you sleep well?", reply: "Like an owl in a library: lightly, and with one eye on the door.", took: 1840 * time.Millisecond},
		{who: "Chiyo", channel: "905", question: "¿qué tiempo hará mañana en Osaka?", reply: "Mañana en Osaka hará sol, con una máxima de 17 grados [1].", took: 3900 * time.Millisecond, lookup: simple("weather Osaka tomorrow", "Osaka: forecast", "https://www.yr.no/en/forecast/osaka", "Sunny, high of 17 °C.")},
		{who: "Dmitri", channel: "903", question: "what does SQLITE_BUSY mean when nobody else writes?", reply: "Another connection of your own process holds the lock [1]; set a busy timeout, or use one writer [2].", took: 7400 * time.Millisecond, lookup: simple("SQLITE_BUSY single process cause", "Result codes", "https://www.sqlite.org/rescode.html", "The SQLITE_BUSY result code indicates that the database file could not be written because of concurrent activity by some other database connection, usually in a separate process.")},
		{who: "Eve", channel: "901", question: "is it true that the Great Wall can be seen from the Moon", reply: "No. Astronauts say so themselves [1].", took: 8120 * time.Millisecond, lookup: checked()},
		{who: "Ben", channel: "904", question: "*pushes the tavern's door open and shakes the rain from his cloak*", reply: "Sage looks up from a map held flat by four mismatched mugs. “You found the bridge, then.”", took: 4310 * time.Millisecond},
		{who: "Farid", channel: "903", question: "who won the local election yesterday?", reply: "I could not look that up just now: no search service answered.", took: 12010 * time.Millisecond, lookup: &turn.Lookup{State: turn.LookupFailed, Failure: turn.CodeUnreachable, Reason: "no search service answered", Query: "local election result", Score: .92, Need: "it asks for what happened lately",
			Asked: []turn.Asked{{Backend: "searxng", Status: turn.CodeTimeout, Took: 4 * time.Second, Detail: "no answer within 4s"}, {Backend: "duckduckgo", Status: turn.CodeBlocked, Took: 900 * time.Millisecond}}, Stages: []turn.Stage{{Name: "need", Took: 20 * time.Millisecond}, {Name: "search", Took: 4 * time.Second}}, Took: 4020 * time.Millisecond}},
		{who: "Ada", channel: "901", question: "write me a haiku about the build being red", phase: turn.Broken, err: "the model's server answered 500: upstream overloaded", took: 20300 * time.Millisecond},
		{who: "Gwen", channel: "902", question: "tell me everything about tardigrades", phase: turn.Interrupted, reply: "Tardigrades are eight-legged animals of half a millimetre", took: 2900 * time.Millisecond},
	}
}

func simple(query, title, url, quote string) *turn.Lookup {
	return &turn.Lookup{State: turn.Found, Reason: "asked for facts", Need: "it asks for facts that change", Score: .88, Intent: turn.IntentGeneral, Query: query, By: "extractive",
		Asked:   []turn.Asked{{Backend: "searxng", Status: turn.CodeOK, Hits: 10, Took: 512 * time.Millisecond}, {Backend: "wikipedia", Status: turn.CodeOK, Hits: 5, Took: 170 * time.Millisecond}},
		Pages:   []turn.Page{{N: 1, URL: url, Title: title, Site: hostOf(url), Bytes: 48211, Took: 810 * time.Millisecond, Text: quote}},
		Sources: []turn.Source{{N: 1, URL: url, Title: title, Site: hostOf(url)}},
		Summary: []turn.Claim{{Text: quote, Quote: quote, Source: 1, Checks: []string{"quote", "number"}}},
		Stages:  []turn.Stage{{Name: "need", Took: 12 * time.Millisecond}, {Name: "search", Took: 520 * time.Millisecond}, {Name: "read", Took: 830 * time.Millisecond}, {Name: "summarise", Took: 340 * time.Millisecond}}, Took: 1702 * time.Millisecond}
}

func saturn() *turn.Lookup {
	l := simple("Saturn number of confirmed moons", "Saturn moons: facts", "https://science.nasa.gov/saturn/moons/", "Saturn has 274 confirmed moons in its orbit.")
	l.Pages = append(l.Pages,
		turn.Page{N: 2, URL: "https://en.wikipedia.org/wiki/Moons_of_Saturn", Title: "Moons of Saturn", Site: "en.wikipedia.org", Bytes: 612400, Took: 420 * time.Millisecond, Cached: true, Text: "wiki"},
		turn.Page{URL: "https://old-astronomy.example/saturn", Title: "All about Saturn", Site: "old-astronomy.example", Bytes: 9120, Took: 640 * time.Millisecond, Text: "146"},
		turn.Page{URL: "https://paywalled.example/moons", Failure: turn.CodeHTTPError, Reason: turn.CodeHTTP4xx, Site: "paywalled.example", Took: 210 * time.Millisecond})
	l.Sources = append(l.Sources, turn.Source{N: 2, URL: l.Pages[1].URL, Title: "Moons of Saturn", Site: "en.wikipedia.org"})
	l.Summary = append(l.Summary, turn.Claim{Text: "On 11 March 2025, the IAU announced the discovery of 128 new moons.", Quote: "On 11 March 2025, the IAU announced the discovery of 128 new moons.", Source: 2, Also: []turn.Backing{{Source: 1, Quote: "In March 2025, 128 moons were recognised."}}})
	l.Rejected = []turn.Claim{{Text: "Saturn has 83 moons with confirmed orbits.", Source: 1, Refused: "number"}}
	l.Conflicts = []turn.Conflict{{Of: "number", Values: [2]turn.Given{{Value: "274 moons", Sources: []int{1, 2}}, {Value: "146 moons", Sources: []int{2}}}}}
	l.Removed = []turn.Removal{{Rule: "H", Count: 214}, {Rule: "T2", Count: 3}}
	l.Scrubbed = []string{"mention"}
	return l
}

func checked() *turn.Lookup {
	l := simple("Great Wall of China visible from the Moon", "Great walls of fire", "https://www.nasa.gov/image-article/great-wall/", "It is generally not visible, at least to the unaided eye, in low Earth orbit. It certainly is not visible from the Moon.")
	l.Intent, l.Verdict = turn.IntentFactCheck, &turn.Verdict{Statement: "the Great Wall can be seen from the Moon", Label: turn.VerdictContradicts, Confidence: .93}
	return l
}

// record is a turn as the bot stores it.
func (s someone) record(id string, began time.Time) *turn.Trace {
	phase := s.phase
	if phase == "" {
		phase = turn.Answered
	}
	system := "You are Sage, a companion in this chat. Stay Sage, and answer in the language of the message.\n\nSage is an owl of few words and many books. " + strings.Repeat("She likes maps, rain and being asked what she does not know. ", 6)
	t := &turn.Trace{
		Request: turn.Request{ID: id, Character: "sage", GuildID: "900", ChannelID: s.channel, Mode: turn.Text, Addressed: turn.ByMention,
			Message: turn.Message{ID: flake("5", id), ChannelID: s.channel, Author: turn.Author{ID: "7" + s.who, Name: s.who}, Text: s.question, At: began},
			Budget:  turn.Budget{Total: 6000, Layers: map[turn.Layer]int{turn.Core: 400, turn.Character: 1200, turn.Content: 2000, turn.RecentHistory: 1400}}},
		Phase: phase, Reply: s.reply, Err: s.err, Began: began, Took: s.took, Model: "qwen3-32b", ModelHost: "127.0.0.1:11434",
		Outcomes: []turn.Outcome{
			{Provider: "character", Status: turn.OK, Took: 2 * time.Millisecond, Contributions: []turn.Contribution{{Layer: turn.Core, Priority: 100, Text: system, Tokens: 96, Source: "character:core"}}},
			{Provider: "history", Status: turn.OK, Took: 9 * time.Millisecond, Contributions: []turn.Contribution{{Layer: turn.RecentHistory, Source: "history:recent", Tokens: 220, Message: &turn.Message{ID: "h" + id, Author: turn.Author{Name: "Ben"}, Text: "anyone up?"}}}},
			{Provider: "memory", Status: turn.OK, Took: 31 * time.Millisecond},
		},
		Layers:  []turn.LayerTokens{{Layer: turn.Core, Used: 310, Budget: 400}, {Layer: turn.Character, Used: 702, Budget: 1200}, {Layer: turn.Content, Used: 411, Budget: 2000}, {Layer: turn.RecentHistory, Used: 1388, Budget: 1400}},
		Dropped: []turn.Dropped{{Layer: turn.RecentHistory, Source: "history:recent", Reason: "truncated", Tokens: 118}},
		Prompt: []turn.Rendered{{Role: "system", Text: system, Tokens: 1012},
			{Role: "user", Name: "Ben", Text: "Ben: anyone up?", Tokens: 6}, {Role: "user", Name: s.who, Text: s.who + ": " + s.question, Tokens: 24}},
		Usage: turn.Usage{Prompt: 1811, Completion: 96, Calls: 1, Cost: 0.0021}, Finish: "stop",
		Timings: turn.Timings{Prompt: 45 * time.Millisecond, FirstToken: 45*time.Millisecond + (s.took-45*time.Millisecond)/3, FirstSeen: 45*time.Millisecond + (s.took-45*time.Millisecond)/2},
	}
	if s.reply != "" {
		t.ReplyIDs = []string{flake("6", id)}
	}
	if s.lookup != nil {
		l := *s.lookup
		l.Began = began.Add(3 * time.Millisecond)
		web := turn.Outcome{Provider: "websearch", Status: turn.OK, Took: l.Took + 5*time.Millisecond, Contributions: []turn.Contribution{{Layer: turn.Content, Web: true, Source: "websearch", Tokens: 411, Lookup: &l}}}
		if l.State == turn.LookupFailed {
			web.Status, web.Err = turn.Timeout, "no search service answered"
		}
		t.Outcomes = append(t.Outcomes, web)
		t.Timings.Prompt += l.Took
		t.Timings.FirstToken = t.Timings.Prompt + (s.took-t.Timings.Prompt)/4
		t.Timings.FirstSeen = t.Timings.FirstToken + 250*time.Millisecond
		t.Prompt = append(t.Prompt, turn.Rendered{Role: "user", Web: true, Text: "<web-search-results>\n[1] " + l.Query + "\n</web-search-results>", Tokens: 411})
		if len(l.Summary) > 1 {
			t.Guarded = []turn.Guarded{{Rule: "O6", Count: 1, What: "a link that no source has"}}
			t.Unsupported = []turn.Citation{{Source: 2, Text: "when the rings were formed", Refused: "quote"}}
			t.Calls = []turn.Call{
				{For: "reword", Model: "qwen3-4b", Prompt: []turn.Rendered{{Role: "system", Text: "Write the message as one question."}, {Role: "user", Text: "\uf085" + s.question}},
					Answer: `{"question":"How many moons has Saturn?"}`, Usage: turn.Usage{Prompt: 140, Completion: 12, Calls: 1}, Began: began.Add(4 * time.Millisecond), Took: 90 * time.Millisecond},
				{For: turn.ForAnswer, Model: t.Model, Answer: s.reply, Usage: t.Usage, Began: began.Add(t.Timings.Prompt), Took: s.took - t.Timings.Prompt - 640*time.Millisecond},
				{For: "verify", Model: "qwen3-4b", Usage: turn.Usage{Prompt: 150, Completion: 10, Calls: 1}, Began: began.Add(s.took - 640*time.Millisecond), Took: 640 * time.Millisecond},
			}
			t.Verified = &turn.Verified{Took: 640 * time.Millisecond, Opinions: []turn.Opinion{{Sources: []int{1}, Text: "274 moons", Is: "yes"}}}
		}
	}
	return t
}

// fill stores conversations, memories and complaints.
func (w *world) fill(tb testing.TB) *world {
	tb.Helper()
	ctx := tb.Context()
	check := func(err error) {
		if err != nil {
			tb.Helper()
			tb.Fatal(err)
		}
	}
	all := talk()
	for i, s := range all {
		began := w.now.Add(-time.Duration(i*i*4+2) * time.Minute)
		id := fmt.Sprintf("01KB%022d", 1000-i)
		m := store.Message{ID: flake("5", id), ChannelID: s.channel, GuildID: "900", AuthorID: "7" + s.who, AuthorName: s.who, Text: s.question, At: began}
		_, err := w.store.Messages.SaveIncoming(ctx, store.Incoming{Message: m, Claim: m.ID})
		check(err)
		check(w.traces.Save(ctx, s.record(id, began)))
		if s.reply != "" {
			check(w.store.Messages.Save(ctx, store.Message{ID: flake("6", id), ChannelID: s.channel, GuildID: "900", AuthorID: "sage", AuthorName: "Sage", Text: s.reply, ReplyTo: m.ID, TurnID: id, Own: true, At: began.Add(s.took)}))
			check(w.store.Ratings.SaveOpinion(ctx, store.Opinion{TurnID: id, By: "7Gwen", GuildID: "900", Verdict: "good", At: w.now}))
		}
	}
	_, err := w.memories.SetCard(ctx, "7Ada", turn.CardPronouns, "she/her", w.now)
	check(err)
	check(w.store.Settings.SwitchOff(ctx, store.Switch{Kind: store.Answers, Place: "904", GuildID: "900", By: "7Ben", ByName: "Ben", At: w.now}))
	r := rand.New(rand.NewPCG(1, 2))
	for day := range 30 {
		at := w.now.AddDate(0, 0, -day)
		for _, s := range all {
			turns := 1 + r.IntN(12)
			check(w.store.Quotas.AddUsage(ctx, at, store.Party{Person: "7" + s.who, Channel: s.channel, Guild: "900"}, store.Used{Turns: turns, Lookups: turns / 3, Tokens: turns * (1400 + r.IntN(1200)), Cost: float64(turns) * .0019}))
		}
	}
	for _, f := range []store.Feedback{
		{Domain: "old-astronomy.example", Verdict: "outdated", By: "7Ada", URL: "https://old-astronomy.example/saturn"},
		{Domain: "old-astronomy.example", Verdict: "outdated", By: "7Ben", URL: "https://old-astronomy.example/saturn"},
		{Domain: "content-farm.example", Verdict: "wrong", By: "7Eve", URL: "https://content-farm.example/ten-facts"},
	} {
		f.Character, f.GuildID, f.At = "sage", "900", w.now.Add(-time.Hour)
		check(w.store.Ratings.SaveFeedback(ctx, f))
	}
	for i, m := range []memory.Statement{
		{Kind: memory.Person, Subject: "7Ada", Text: "Ada is allergic to hazelnuts.", By: "7Ada", Pinned: true},
		{Kind: memory.Note, Text: "The weekly game begins at 19:30 on Thursdays.", By: "7Ben"},
		{Kind: memory.Topic, Subject: "the deploy", Text: "The deploy of the website moved to Tuesday mornings."},
		{Kind: memory.Session, Text: "Ben and Chiyo compared recipes for okonomiyaki and settled on cabbage over leek."},
		{Kind: memory.Person, Subject: "7Dmitri", Text: "Dmitri keeps his servers in the cellar.", By: "7Dmitri"},
	} {
		m.Scope = memory.Scope{Kind: memory.ScopeChannel, ID: []string{"905", "904", "903"}[i%3], GuildID: "900"}
		m.Sources, m.SaidAt, m.LearnedAt = []string{memory.CommandSource(fmt.Sprint("c", i))}, w.now.Add(-time.Duration(i)*26*time.Hour), w.now
		_, err := w.memories.Save(ctx, m)
		check(err)
	}
	return w
}

// begin publishes a running turn.
func (w *world) begin(tb testing.TB, id, who, channel, question string, ago time.Duration) turn.Progress {
	tb.Helper()
	t := someone{who: who, channel: channel, question: question, phase: turn.Begun}.record(id, w.now.Add(-ago))
	t.Outcomes, t.Prompt, t.Took, t.Usage = nil, nil, 0, turn.Usage{}
	if err := w.traces.Save(tb.Context(), t); err != nil {
		tb.Fatal(err)
	}
	return turn.Progress{ID: id, Character: "sage", GuildID: "900", ChannelID: channel, Began: t.Began, Phase: turn.Begun}
}
