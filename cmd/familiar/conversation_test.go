package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/rogpeppe/go-internal/txtar"

	"familiar/characters"
	"familiar/internal/app"
	"familiar/internal/context/turn"
	"familiar/internal/llm"
	"familiar/internal/memory"
	"familiar/internal/search/backend"
	"familiar/internal/store"
	"familiar/internal/test/discordtest"
	"familiar/internal/test/llmtest"
	"familiar/internal/test/postgres"
	"familiar/internal/test/storetest"
	"familiar/internal/test/wait"
	"familiar/internal/test/webtest"
	"familiar/internal/trace"
)

// A conversation is a txtar archive. Its comment is the script, a command a line; its files are the far ends:
//
//	env                 further variables of the environment, NAME=value; FAMILIAR_SEARCH= switches every backend on
//	web/HOST/PATH       pages, in webtest's format; web/dns is the DNS
//	search              what the metasearch server answers, see metasearch
//	wikipedia           what Wikipedia's search answers; without it nothing
//	idle                after how long a silence memory is written
//	model               the models' script, in llmtest's format; without it no model is configured
//	characters/…        files of the operator's characters; pictures as in files/
//
// The commands are
//
//	start                    run the program and wait until it is on Discord
//	say CHANNEL WHO TEXT     somebody writes; @familiar is the bot, @WHO as a channel is WHO's direct messages
//	answer CHANNEL WHO TEXT  somebody replies to the bot's last message, without a ping
//	reply CHANNEL WHO TEXT   somebody replies to the last thing that somebody said here
//	attach CHANNEL WHO FILES TEXT  somebody writes, with files of the archive's files/, commas between and + for spaces; file=name
//	                         calls one otherwise, file:alt describes it. A .png, .jpg or .gif holds its size, see drawing
//	stale CHANNEL WHO FILES TEXT  the same, with links that have expired
//	voice CHANNEL WHO SECONDS WORDS  somebody sends a voice message, in which these words are heard; to answer the bot's last one:
//	voiceanswer
//	forward CHANNEL WHO TEXT somebody forwards a message
//	embed CHANNEL WHO TEXT   a bot posts an embed
//	deletefirst CHANNEL      the first message there is deleted
//	edit TEXT                the author of the last message changes it; unsay: deletes it
//	proxy NAME TEXT          PluralKit posts the last message again, with that text, and deletes it
//	hook CHANNEL NAME TEXT   PluralKit's webhook posts a text; stranger: another application's
//	purge CHANNEL WHO        a moderator deletes all that somebody wrote, at once; without WHO, what all people wrote
//	heard CHANNEL            wait for the bot's next message and its record; "has" and "lacks" look at it
//	notice CHANNEL           the same for a message that has no record, since it answers nothing
//	reminder CHANNEL WHO     the same for one that pings somebody, and nobody else
//	later SPAN               Discord's clock, by which the bot goes, is so much later from now on
//	morning                  Discord's clock shows 09:05 UTC of a day to come from now on. What people say has that day for TODAY
//	aloud CHANNEL WORDS      the bot's next message is a voice message with these words
//	voiceless CHANNEL        the bot may not send voice messages there
//	face CHANNEL NAME        below the bot's last message is one picture, which is small; - for none
//	fileless CHANNEL         the bot may not attach files there
//	silent CHANNEL           for half a second, no message comes
//	shows CHANNEL TEXT       one of the bot's messages holds a text; bare CHANNEL: none of them is left
//	command WHO NAME K=V …   a slash command in general, + for spaces; its answer is looked at; #CHANNEL in front: in that channel
//	try WHO NAME K=V …       the same by somebody who may not manage the server
//	react CHANNEL WHO EMOJI  somebody puts an emoji under the bot's last message; unreact: takes it away; modreact: a moderator
//	reacted CHANNEL EMOJI    the bot has put it under the last message of a person; - for none of its emojis anywhere
//	feedback TEXT            what familiar feedback prints holds a text; memory and learned: familiar memory, and familiar memory counts; changed: familiar changes
//	menu CHANNEL WHO NAME    an entry of the menu of the channel's last message; its answer is looked at. baremenu: Discord names only its id
//	personmenu CHANNEL WHO WHOM NAME  an entry of the menu of a person; modpersonmenu: by somebody who may manage the server
//	typing CHANNEL WHO NAME K=V …  a slash command whose last option is being typed; the suggestions are looked at, on a line each
//	bring WHO NAME K=V …     a slash command in the channel elsewhere of a server that has not installed the bot
//	reads WHO LOCALE         the language of somebody's client
//	away                     there is such a server
//	offered CHANNEL WHO NAMES  the commands that somebody who may not manage the server is offered there, with commas between them
//	offers NAME              after a while everybody in general is offered the command; offersnot NAME
//	open CHANNEL WHO NAME    a command that opens a form, by somebody who may manage the server; its title and text are looked at
//	fill CHANNEL WHO TEXT    that form is sent with a text; the answer is looked at; slip is by somebody who may not manage the server
//	press LABEL              a button under the answer
//	push CHANNEL WHO LABEL   somebody presses a button under the bot's last message that has it; the answer is looked at
//	moderate CHANNEL WHO LABEL  the same by somebody who may manage messages
//	forge WHO ID             somebody presses a button in general that the bot never made
//	buttons CHANNEL LABELS   those under the bot's last message, in order; - for none
//	has TEXT, lacks TEXT     the reply holds, or does not hold, a text; \n is a new line
//	attached TEXT            the answer to the command has a file that holds a text; unattached TEXT
//	posts N                  the bot has posted so many messages in general; after stop, no other can come
//	models N                 the models were asked so many times; release ends their "hold"
//	asked N                  the metasearch server was asked so many times
//	query TEXT               its last query, exactly
//	fetched URL N            a page was asked for so many times
//	dialled N                so many connections were made for pages
//	pictures N               the last prompt of the main model had so many pictures; pictured W×H  the last of them is so large
//	loaded NAME N            a file of this name was loaded so many times
//	recordings N             so many voice messages were written down
//	prompted TEXT            the last prompt of the main model holds a text; unprompted TEXT
//	trace STATE              the last turn's record has this lookup state ("-" for none)
//	recorded TEXT            the last turn's record, as JSON, holds a text; unrecorded TEXT
//	embedded MODEL N         so many messages have a vector of that model
//	summary CHANNEL TEXT     the summary of what was said before in a channel holds a text; - for none
//	drop CODE, reconnect     the gateway closes; op 7
//	guild NAME CHANNEL       the bot is in a further server with one channel
//	shards N                 Discord recommends N shards, which may all begin at once; sharded N: they are there
//	crowded N                from now on a shard may have N servers, and those with more are closed
//	dropshard N              the connection of a shard is cut
//	forget                   the gateway loses the session: what follows cannot be resumed
//	repeat                   the gateway sends its last message event again
//	fault METHOD ROUTE STATUS N  the next N such requests fail; with status 0 they take effect and the answer is lost, with 400
//	                         Discord calls them malformed
//	refused TEXT             Discord refuses a request of the bot, and what it says of it holds a text; what no script says it refuses is a fault
//	deny CHANNEL             the bot may not write there any more
//	thread CHANNEL NAME      a thread is made; ~ as a channel is the newest thread
//	opened TEXT              the name of the newest thread holds a text
//	nothreads CHANNEL        the bot may not make threads there
//	archive CHANNEL          a thread is archived; lock: and locked
//	publish FOLLOWER         the last message of an announcement channel is published to a channel that follows it
//	threadsfull              there may be no further thread in the server
//	forum NAME               a forum is made; media, voicechannel and announcements: a channel of that kind; post FORUM WHO TITLE | TEXT: somebody makes a post there
//	hide CHANNEL             only those who are let in may read it; show: everybody may again
//	role WHO NAME            somebody is given a role and no other, which is made if there is none; - for none
//	let CHANNEL NAME         who has the role may read the channel, @WHO a person; bar: may not
//	topic CHANNEL TEXT, pin  what the channel is for; the last message is pinned
//	link CHANNEL WHO TEXT    somebody writes a text with LINK in place of a link to the last message
//	lookuplink CHANNEL WHO   somebody has a link to the last message looked up
//	searching STATE          Discord's own search is refused, indexing or ready
//	presents TEXT            the bot's status, and what stands beside its name
//	contentless              the bot may not read what is not for it
//	ownrole                  the bot gets the role that Discord makes for it, "familiar role"
//	gone CHANNEL, kick       the channel is deleted; the bot is removed from the server
//	spoke CHANNEL NAMES      under which names the bot posted there, in order, with commas between them
//	nowebhooks CHANNEL       the bot may not make webhooks there; unhook CHANNEL: its webhooks are deleted
//	webhooks CHANNEL N       it has made so many there
//	profile NAME             the bot goes by that name in the server; - for its own
//	nonickname               the bot may not change its nickname there
//	channel NAME             a channel is made; operator NAME: it is also the operator's
//	write FILE TEXT          the operator writes a file, \n is a new line; remove FILE
//	stop, restart            SIGTERM, and wait for the end; and a new start
//	signal                   SIGTERM, and wait until the bot has left Discord
//	exits CODE               what the stopped program returned
//	printed TEXT             its output, or error output, holds a text
//
// What counts or looks for something waits for it, with patience.
type conversation struct {
	*testing.T
	dir      string
	env      map[string]string
	discord  *discordtest.Server
	web      *webtest.Web
	search   *metasearch
	model    *llmtest.Server
	program  *running
	output   string // what "has" looks at
	lastSaid string
	answer   discordtest.Message // to the last command
	form     discordtest.Form    // that was opened last
	traces   *trace.Store        // see records
	morning  time.Time           // to which the clock is set
	roles    map[string]bool     // that were made
	files    map[string][]byte   // that people attach
	idle     time.Duration       // after which memory is written; 0: the usual time
	alerts   time.Duration       // after which figures are compared with their limits; 0: the usual time
	root     fs.FS               // of the machine, as the doctor sees it; nil: the real one
	local    []llm.Place         // where servers of models are looked for on this machine
}

// running is one run of the program.
type running struct {
	out     *lockedBuffer
	signals chan os.Signal
	stop    sync.Once // sends the first signal
	done    chan struct{}
	code    int // valid once done is closed
}

type lockedBuffer struct {
	mu sync.Mutex
	b  strings.Builder // guarded by mu
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// patience is how long a test waits for what must happen. Only a test that fails waits so long.
const patience = time.Minute

func TestConversations(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no conversations: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			c := newConversation(t, archive)
			if place := postgres.Place(t, c.data()); place != c.data() {
				c.env["FAMILIAR_DATABASE"] = place
			}
			c.play(file, archive)
			c.stop()
		})
	}
}

// play does what an archive says.
func (c *conversation) play(file string, archive *txtar.Archive) {
	for n, line := range strings.Split(string(archive.Comment), "\n") {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			c.do(fmt.Sprintf("%s:%d", file, n+1), line)
		}
	}
}

// newConversation makes the far ends of an archive.
func newConversation(t *testing.T, archive *txtar.Archive) *conversation {
	c := &conversation{T: t, dir: t.TempDir(), morning: time.Now().UTC().Truncate(24 * time.Hour).Add(33*time.Hour + 5*time.Minute), discord: discordtest.New(t), search: newMetasearch(t), roles: map[string]bool{}, files: map[string][]byte{}}
	c.env = map[string]string{
		"DISCORD_TOKEN": discordtest.Token, "DISCORD_API_URL": c.discord.URL, "SEARXNG_URL": c.search.server.URL, "FAMILIAR_LOG": "debug", "FAMILIAR_CONSOLE": "off",
		"FAMILIAR_SEARCH": strings.Join(fewBackends, ","),
	}
	c.discord.Accept("messages/search: 403") // Discord grants its own search to few bots; the script says when it does
	c.unhurried()
	pages := &txtar.Archive{}
	for _, f := range archive.Files {
		switch name, rest, _ := strings.Cut(f.Name, "/"); name {
		case "env":
			for line := range strings.Lines(string(f.Data)) {
				name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
				c.env[name] = value
			}
		case "web":
			pages.Files = append(pages.Files, txtar.File{Name: rest, Data: f.Data})
		case "search":
			c.search.read(t, f.Data)
		case "wikipedia":
			c.search.wikipedia = string(f.Data)
		case "model":
			c.startModel(f.Data)
		case "idle":
			var err error
			c.idle, err = time.ParseDuration(strings.TrimSpace(string(f.Data)))
			c.must(err)
		case "files":
			c.files[rest] = drawing(t, rest, f.Data)
		case "characters":
			path := filepath.Join(c.dir, f.Name)
			c.must(os.MkdirAll(filepath.Dir(path), 0o755))
			c.must(os.WriteFile(path, drawing(t, f.Name, f.Data), 0o644))
		default:
			t.Fatalf("what is %s?", f.Name)
		}
	}
	c.web = webtest.New(t, txtar.Format(pages))
	c.web.Handle(discordtest.CDN+"/", c.discord.ServeFile)
	storetest.Seed(c.T, c.data()) // testdata/script and the tests of package store begin without one
	return c
}

func (c *conversation) data() string { return filepath.Join(c.dir, "data") }

// unhurried gives characters more time than usual, since a machine that tests may be busy. A character of the archive
// that says how much time it has keeps to that.
func (c *conversation) unhurried() {
	const file = "_default/character.toml"
	usual, err := fs.ReadFile(characters.FS, file)
	c.must(err)
	path := filepath.Join(c.dir, "characters", file)
	c.must(os.MkdirAll(filepath.Dir(path), 0o755))
	c.must(os.WriteFile(path, regexp.MustCompile(`(?m)^deadline = .*`).ReplaceAll(usual, []byte(`deadline = "1m"`)), 0o644))
}

func (c *conversation) startModel(script []byte) {
	c.model = llmtest.New(c.T)
	parsed, err := llmtest.ParseScript(script)
	c.must(err)
	c.model.Play(parsed)
	for name, value := range map[string]string{
		"OPENAI_BASE_URL": c.model.URL, "OPENAI_API_KEY": "sk-test-0123456789abcdef", "OPENAI_MODEL": "main", "SIDE_MODEL": "side",
	} {
		if _, set := c.env[name]; !set {
			c.env[name] = value
		}
	}
	if _, wanted := c.env["TRANSCRIBE_API_KEY"]; wanted {
		c.env["TRANSCRIBE_BASE_URL"] = c.model.URL
	}
	if _, wanted := c.env["SPEECH_API_KEY"]; wanted {
		c.env["SPEECH_BASE_URL"] = c.model.URL
	}
	if _, wanted := c.env["EMBED_MODEL"]; wanted {
		c.env["EMBED_BASE_URL"] = c.model.URL
	}
}

func (c *conversation) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

// start runs the program's own run, with the far ends in the world's place.
func (c *conversation) start(args ...string) *running {
	r := &running{out: &lockedBuffer{}, signals: make(chan os.Signal, 2), done: make(chan struct{})}
	p := program{
		args: args, dir: c.dir, signals: r.signals, in: strings.NewReader(""), out: r.out, err: r.out,
		env:  c.environment(),
		exit: func(int) { c.Error("the program left at once") },
		far:  c.far(),
	}
	go func() {
		defer close(r.done)
		r.code = run(p)
	}()
	return r
}

// interrupt asks the program to stop; the second of two signals would be another request.
func (r *running) interrupt() { r.stop.Do(func() { r.signals <- os.Interrupt }) }

// far puts the archive's web in the world's place. Backends that no script names are nowhere.
func (c *conversation) far() app.Far {
	return app.Far{
		Resolver: c.web, Dial: c.web.Dial, Roots: c.web.RootCAs(), Services: c.service,
		Backends: c.backends(), Patience: patience, Root: c.root, Local: append([]llm.Place{}, c.local...), Free: func(string) (int64, error) { return 50 << 30, nil }, Idle: c.idle, Alerts: c.alerts, Embed: 20 * time.Millisecond,
	}
}

// fewBackends are those that a conversation searches with, in the table's order. A conversation about others names them in FAMILIAR_SEARCH.
// So a backend that is new in the table joins none of them.
var fewBackends = []string{"searxng", "openmeteo", "wikipedia", "duckduckgo"}

// backends are the addresses of the search backends. Those that are not searched are nowhere, should a test switch them on.
func (c *conversation) backends() map[string]string {
	all := backendsAt("http://127.0.0.1:1")
	for _, name := range fewBackends[1:] { // the first one's address is a setting
		all[name] = c.search.server.URL + "/" + name
	}
	return all
}

// backendsAt is one address for every search backend that there is.
func backendsAt(base string) map[string]string {
	all := map[string]string{}
	for _, b := range backend.Table() {
		all[b.Name] = base
	}
	return all
}

// service is the client of a special reader's service, which is a site of the archive's web.
func (c *conversation) service(string) *http.Client {
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: c.web.RootCAs()},
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			host, port, err := net.SplitHostPort(address)
			if err != nil {
				return nil, err
			}
			found, err := c.web.LookupNetIP(ctx, "ip4", host)
			if err != nil {
				return nil, err
			}
			return c.web.Dial(ctx, network, net.JoinHostPort(found[0].String(), port))
		},
	}
	c.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// stop ends the program as an operator does.
func (c *conversation) stop() {
	if c.program == nil {
		return
	}
	c.program.interrupt()
	select {
	case <-c.program.done:
	case <-time.After(patience):
		c.Errorf("the program does not stop:\n%s", c.program.out)
	}
	if c.Failed() {
		c.Logf("the program said:\n%s", c.program.out)
	}
}

func (c *conversation) menu(rest string, unresolved bool) {
	channel, who, name := words3(rest)
	messages := c.discord.Messages(channel)
	c.hearAnswer(c.discord.Order(discordtest.Order{Channel: channel, Author: who, Command: name, Target: messages[len(messages)-1].ID, Unresolved: unresolved, May: discordtest.Member}), 1)
}

func (c *conversation) personMenu(rest string, may discordtest.Rights) {
	channel, who, rest := words3(rest)
	whom, name, _ := strings.Cut(rest, " ")
	c.hearAnswer(c.discord.Order(discordtest.Order{Channel: channel, Author: who, Command: name, Person: whom, May: may}), 1)
}

func (c *conversation) do(where, line string) {
	c.Helper()
	verb, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	defer func() {
		if c.Failed() {
			c.stop()
			c.Fatalf("%s: %s", where, line)
		}
	}()
	for _, table := range []map[string]func(string){c.deeds(), c.attaching(), c.looks(), c.troubles()} {
		if f, ok := table[verb]; ok {
			f(rest)
			return
		}
	}
	c.Errorf("what is %q?", verb)
}

// deeds are what people and the operator do.
func (c *conversation) deeds() map[string]func(string) {
	return map[string]func(string){
		"start": func(string) {
			c.program = c.start("run")
			if !c.discord.WaitSession(patience) {
				c.Errorf("the program does not come:\n%s", c.program.out)
			}
			// The session that is connected may still be that of the program before.
			if !wait.Until(func() bool { return strings.Contains(c.program.out.String(), " is here, as ") }) {
				c.Errorf("the program does not greet:\n%s", c.program.out)
			}
		},
		"stop": func(string) { c.stop() },
		"signal": func(string) {
			c.program.interrupt()
			c.left()
		},
		"release": func(string) { c.model.Release() },
		"restart": func(string) {
			c.stop()
			c.deeds()["start"]("")
		},
		"say": func(rest string) {
			channel, who, text := words3(rest)
			text = strings.ReplaceAll(text, "TODAY", c.morning.Format("2 January"))
			c.lastSaid = c.discord.Say(channel, who, unescape(text))
		},
		"answer": func(rest string) {
			channel, who, text := words3(rest)
			messages := c.discord.Messages(channel)
			last := slices.IndexFunc(reversed(messages), func(m discordtest.Message) bool { return m.Own })
			if last < 0 {
				c.Error("the bot has said nothing yet")
				return
			}
			c.lastSaid = c.discord.Reply(channel, who, reversed(messages)[last].ID, unescape(text), false)
		},
		"open": func(rest string) {
			order := orderOf(rest)
			order.May = discordtest.ManageServer
			form, ok := c.discord.Order(order).WaitForm(patience)
			if c.form, c.output = form, form.Title+"\n"+form.Text; !ok {
				c.Error("no form is opened")
			}
		},
		"fill":    func(rest string) { c.fill(rest, discordtest.ManageServer) },
		"slip":    func(rest string) { c.fill(rest, discordtest.Member) },
		"channel": func(name string) { c.discord.AddChannel("hall", name) },
		"operator": func(name string) {
			c.env["DISCORD_OPERATOR_CHANNEL"] = c.discord.AddChannel("hall", name)
		},
		"write": func(rest string) {
			file, text, _ := strings.Cut(rest, " ")
			file = filepath.Join(c.dir, file)
			c.must(os.MkdirAll(filepath.Dir(file), 0o755))
			c.must(os.WriteFile(file, []byte(unescape(text)), 0o644))
		},
		"remove": func(file string) { c.must(os.RemoveAll(filepath.Join(c.dir, file))) },
		"edit":   func(text string) { c.discord.Edit(c.lastSaid, unescape(text)) },
		"unsay":  func(string) { c.discord.Delete(c.lastSaid) },
		"proxy": func(rest string) {
			name, text, _ := strings.Cut(rest, " ")
			original := c.lastSaid
			c.lastSaid = c.discord.Rewrite(original, name, unescape(text), pluralKit)
			c.discord.Delete(original)
		},
		"hook":     func(rest string) { c.hook(rest, pluralKit) },
		"stranger": func(rest string) { c.hook(rest, "100000000000000777") },
		"purge": func(rest string) {
			channel, who, _ := strings.Cut(rest, " ")
			c.discord.Purge(channel, who)
		},
		"react":    func(rest string) { c.react(rest, c.discord.React, false) },
		"modreact": func(rest string) { c.react(rest, c.discord.React, true) },
		"unreact": func(rest string) {
			c.react(rest, func(id, who, emoji string, _ bool) { c.discord.Unreact(id, who, emoji) }, false)
		},
		"command":       func(rest string) { c.order(rest, true) },
		"try":           func(rest string) { c.order(rest, false) },
		"bring":         func(rest string) { c.hearAnswer(c.discord.Order(orderOf("elsewhere "+rest)), 1) },
		"menu":          func(rest string) { c.menu(rest, false) },
		"baremenu":      func(rest string) { c.menu(rest, true) },
		"personmenu":    func(rest string) { c.personMenu(rest, discordtest.Member) },
		"modpersonmenu": func(rest string) { c.personMenu(rest, discordtest.ManageServer) },
		"typing": func(rest string) {
			order := orderOf(rest)
			fields := strings.Fields(rest)
			order.Focused, _, _ = strings.Cut(fields[len(fields)-1], "=")
			all, ok := c.discord.Order(order).WaitChoices(patience)
			if !ok {
				c.Error("nothing is suggested")
			}
			c.output = ""
			for _, choice := range all {
				c.output += choice.Name + "\n"
			}
		},
		"reads": func(rest string) {
			who, locale, _ := strings.Cut(rest, " ")
			c.discord.Reads(who, locale)
		},
		"away": func(string) { c.discord.AddAway("another", "elsewhere") },
		"press": func(label string) {
			for _, b := range c.answer.Buttons {
				if b.Label == label {
					c.hearAnswer(c.discord.Press("ana", c.answer, b.ID, discordtest.ManageServer), 1)
					return
				}
			}
			c.Errorf("buttons %+v", c.answer.Buttons)
		},
		"push":     func(rest string) { c.push(rest, discordtest.Member) },
		"moderate": func(rest string) { c.push(rest, discordtest.ManageMessages) },
		"forge": func(rest string) {
			who, id, _ := strings.Cut(rest, " ")
			c.hearAnswer(c.discord.Press(who, c.own("general"), id, discordtest.ManageServer), 1)
		},
	}
}

const pluralKit = "466378653216014359" // the application's id

// hook has an application's webhook post a text.
func (c *conversation) hook(rest, application string) {
	channel, name, text := words3(rest)
	c.lastSaid = c.discord.Post(discordtest.Post{Channel: channel, Author: name, Text: unescape(text), Webhook: true, Application: application})
}

// fill sends the form that was opened last.
func (c *conversation) fill(rest string, may discordtest.Rights) {
	c.Helper()
	channel, who, text := words3(rest)
	c.hearAnswer(c.discord.Fill(channel, who, c.form, unescape(text), may), 1)
}

// push waits for a button under the bot's last message with one in a channel, and presses it.
func (c *conversation) push(rest string, may discordtest.Rights) {
	c.Helper()
	channel, who, label := words3(rest)
	var under discordtest.Message
	var id string
	if !wait.Until(func() bool {
		for _, m := range c.discord.Messages(channel) {
			for _, b := range m.Buttons {
				if m.Own && b.Label == label {
					under, id = m, b.ID
				}
			}
		}
		return id != ""
	}) {
		c.Error("there is no such button")
		return
	}
	c.hearAnswer(c.discord.Press(who, under, id, may), 1)
}

// voiceMessage is Discord's flag of a message that is a recording (IS_VOICE_MESSAGE).
const voiceMessage = 1 << 13

// own is the bot's last message in a channel. A recording of it may have followed.
func (c *conversation) own(channel string) (last discordtest.Message) {
	for _, m := range c.discord.Messages(channel) {
		if m.Own && m.Flags&voiceMessage == 0 {
			last = m
		}
	}
	return last
}

// react waits for the bot's message and does something with an emoji under it.
func (c *conversation) react(rest string, do func(id, who, emoji string, moderates bool), moderates bool) {
	c.Helper()
	channel, who, emoji := words3(rest)
	if !wait.Until(func() bool { return c.own(channel).ID != "" }) {
		c.Fatal("the bot has said nothing")
	}
	do(c.own(channel).ID, who, emoji, moderates)
}

// reactions are the bot's under all messages of a channel.
func (c *conversation) reactions(channel string) (all string) {
	for _, m := range c.discord.Messages(channel) {
		all += strings.Join(m.Reactions, "")
	}
	return all
}

// ownTexts are the bot's messages in a channel, joined.
func (c *conversation) ownTexts(channel string) string {
	var all []string
	for _, m := range c.discord.Messages(channel) {
		if m.Own {
			all = append(all, m.Text)
		}
	}
	return strings.Join(all, "\n")
}

// spoke lists the names under which the bot posted in a channel.
func (c *conversation) spoke(channel string) string {
	var names []string
	for _, m := range c.discord.Messages(channel) {
		if m.Own {
			names = append(names, m.Author)
		}
	}
	return strings.Join(names, ",")
}

// offered lists the commands that ana is offered in general.
func (c *conversation) offered() string {
	return strings.Join(c.discord.Offered("general", "ana", discordtest.Member), "\n")
}

// labels are those of the buttons under the bot's last message in a channel.
func (c *conversation) labels(channel string) string {
	var all []string
	for _, b := range c.own(channel).Buttons {
		all = append(all, b.Label)
	}
	return cmp.Or(strings.Join(all, " "), "-")
}

// answerFiles are those of the last answer.
func (c *conversation) answerFiles() string {
	return strings.Join(slices.Collect(maps.Values(c.answer.Files)), "\n")
}

// left waits until the bot has left Discord: it has got the signal to stop.
func (c *conversation) left() {
	c.Helper()
	if !wait.Until(func() bool { return c.discord.Connections() == 0 }) {
		c.Fatal("the bot stays on Discord")
	}
}

func (c *conversation) hearAnswer(order *discordtest.Interaction, n int) {
	answer, ok := order.WaitAnswer(n, patience)
	if _, hidden, _ := order.WaitAck(patience); !ok || !hidden {
		c.Errorf("answered %v, for its giver alone %v", ok, hidden)
	}
	c.answer, c.output = answer, answer.Text
}

// hear waits for the bot's next message, and for its last words.
func (c *conversation) hear(channel string) { c.next(channel, true) }

// next waits for the bot's next message. A reply has a record, which is complete after its last words. A notice has none.
func (c *conversation) next(channel string, reply bool, pings ...string) {
	m, ok := c.discord.WaitReply(channel, patience)
	if !ok {
		c.Error("nothing was said")
		return
	}
	if reply {
		c.finished(m.ID)
	}
	for _, now := range c.discord.Messages(channel) {
		if now.ID == m.ID {
			m = now
		}
	}
	c.output = m.Text
	if !slices.Equal(m.Pinged, pings) || m.Flags&4 == 0 {
		c.Errorf("pinged %v, flags %d", m.Pinged, m.Flags)
	}
}

// finished waits for the complete record of a reply.
func (c *conversation) finished(reply string) {
	c.Helper()
	traces := c.records()
	if !wait.Until(func() bool {
		t, err := traces.ByMessage(context.Background(), reply)
		return err == nil && t.Phase.Over()
	}) {
		c.Error("the reply has no record")
	}
}

// records are those of the program, read beside it.
func (c *conversation) records() *trace.Store {
	c.Helper()
	if c.traces == nil {
		db, err := store.Look(context.Background(), cmp.Or(c.env["FAMILIAR_DATABASE"], c.data()))
		c.must(err)
		c.Cleanup(func() { db.Close() })
		c.traces = &trace.Store{DB: db}
	}
	return c.traces
}

// summary is that of a channel, in lines.
func (c *conversation) summary(channel string) string {
	s, err := c.records().DB.Summaries.Get(context.Background(), c.discord.ID(channel))
	if err != nil {
		return "-"
	}
	var lines []string
	for _, sentence := range s.Sentences {
		lines = append(lines, sentence.Text)
	}
	return strings.Join(lines, "\n")
}

// printed is what a command prints beside the running program.
func (c *conversation) printed(args ...string) string {
	r := c.start(args...)
	<-r.done
	return r.out.String()
}

// looks are what a test expects to see.
func (c *conversation) looks() map[string]func(string) {
	holds := func(what func() string, want bool) func(string) {
		return func(text string) {
			wait.Until(func() bool { return strings.Contains(what(), unescape(text)) == want })
			c.look(what(), text, want)
		}
	}
	count := func(what func() int) func(string) {
		return func(text string) {
			want, err := strconv.Atoi(text)
			c.must(err)
			wait.Until(func() bool { return what() == want })
			if got := what(); got != want {
				c.Errorf("%d", got)
			}
		}
	}
	return map[string]func(string){
		"heard":  c.hear,
		"notice": func(channel string) { c.next(channel, false) },
		"reminder": func(rest string) {
			channel, who, _ := strings.Cut(rest, " ")
			c.next(channel, false, who)
		},
		"later": func(span string) {
			by, err := time.ParseDuration(span)
			c.must(err)
			c.discord.SkewClock(by)
		},
		"morning": func(string) { c.discord.SkewClock(time.Until(c.morning)) },
		"aloud": func(rest string) {
			channel, words, _ := strings.Cut(rest, " ")
			m, ok := c.discord.WaitReply(channel, patience)
			said := strings.Join(slices.Collect(maps.Values(m.Files)), "")
			if !ok || m.Flags != voiceMessage || len(m.Pinged) > 0 || !strings.Contains(said, "speech:"+words+"OggS") {
				c.Errorf("%q is said aloud, flags %d, pinged %v: %q", m.Text, m.Flags, m.Pinged, said[:min(len(said), 200)])
			}
		},
		"voiceless": c.discord.DenyVoice,
		"silent": func(channel string) {
			if m, ok := c.discord.WaitReply(channel, 500*time.Millisecond); ok {
				c.Errorf("somebody said %q", m.Text)
			}
		},
		"shows": func(rest string) {
			channel, text, _ := strings.Cut(rest, " ")
			holds(func() string { return c.ownTexts(channel) }, true)(text)
		},
		"bare": func(channel string) {
			if !wait.Until(func() bool { return c.ownTexts(channel) == "" }) {
				c.Errorf("there is %q", c.ownTexts(channel))
			}
		},
		"reacted": func(rest string) {
			channel, emoji, _ := strings.Cut(rest, " ")
			if !wait.Until(func() bool { return c.reactions(channel) == strings.TrimPrefix(emoji, "-") }) {
				c.Errorf("reactions %q", c.reactions(channel))
			}
		},
		"feedback": holds(func() string { return c.printed("feedback") }, true),
		"memory":   holds(func() string { return c.printed("memory") }, true),
		"changed":  holds(func() string { return c.printed("changes") }, true),
		"learned":  holds(func() string { return c.printed("memory", "counts") }, true),
		"opened":   holds(c.discord.ThreadName, true),
		"kept": func(rest string) { // CHANNEL TEXT: the program has kept it as one of the channel's last messages
			channel, text, _ := strings.Cut(rest, " ")
			if !wait.Until(func() bool {
				last, err := c.records().DB.Messages.Recent(context.Background(), c.discord.ID(channel), 9)
				return err == nil && slices.ContainsFunc(last, func(m store.Message) bool { return m.Text == text })
			}) {
				c.Errorf("it has not kept %q", text)
			}
		},
		"busy": func(channel string) {
			if !wait.Until(func() bool { return c.discord.Types(channel) }) {
				c.Error("nobody is typing")
			}
		},
		"idle": func(channel string) {
			if wait.Within(500*time.Millisecond, func() bool { return c.discord.Types(channel) }) { // a sign may be on its way
				c.Error("somebody is typing")
			}
		},
		"has":        func(text string) { c.look(c.output, text, true) },
		"lacks":      func(text string) { c.look(c.output, text, false) },
		"prompted":   holds(c.prompt, true),
		"unprompted": holds(c.prompt, false),
		"recorded":   holds(c.record, true),
		"unrecorded": holds(c.record, false),
		"printed":    holds(func() string { return c.program.out.String() }, true),
		"unprinted":  holds(func() string { return c.program.out.String() }, false),
		"attached":   holds(c.answerFiles, true),
		"unattached": holds(c.answerFiles, false),
		"offered": func(rest string) {
			channel, who, want := words3(rest)
			c.discord.WaitCommands(1, patience)
			if got := strings.Join(c.discord.Offered(channel, who, discordtest.Member), ", "); got != want {
				c.Errorf("offered %s", got)
			}
		},
		"offers":    func(name string) { holds(c.offered, true)(name) },
		"offersnot": func(name string) { holds(c.offered, false)(name) },
		"embedded": func(rest string) { // MODEL N: so many messages have a vector
			model, n, _ := strings.Cut(rest, " ")
			got := -1
			if !wait.Until(func() bool {
				got, _ = memory.NewVectors(c.records().DB).Count(context.Background(), model)
				return fmt.Sprint(got) == n
			}) {
				c.Errorf("%d have one", got)
			}
		},
		"summary": func(rest string) {
			channel, want, _ := strings.Cut(rest, " ")
			if !wait.Until(func() bool {
				got := c.summary(channel)
				return got == want || want != "-" && strings.Contains(got, want)
			}) {
				c.Errorf("summary %q", c.summary(channel))
			}
		},
		"spoke": func(rest string) {
			channel, want, _ := strings.Cut(rest, " ")
			if !wait.Until(func() bool { return c.spoke(channel) == want }) {
				c.Errorf("spoke %s", c.spoke(channel))
			}
		},
		"profile": func(want string) {
			nick := func() string { nick, _ := c.discord.Profile("hall"); return cmp.Or(nick, "-") }
			if !wait.Until(func() bool { return nick() == want }) {
				c.Errorf("goes by %s", nick())
			}
		},
		"webhooks": func(rest string) {
			channel, n, _ := strings.Cut(rest, " ")
			count(func() int { return c.discord.Webhooks(channel) })(n)
		},
		"posts":      count(c.posts),
		"models":     count(func() int { return len(c.model.Requests()) }),
		"pictures":   count(func() int { return len(c.pictures()) }),
		"recordings": count(func() int { return len(c.model.Recordings()) }),
		"asked":      count(func() int { return len(c.search.asked()) }),
		"dialled":    count(func() int { return len(c.web.Dials()) }),
		"exits":      count(func() int { return c.program.code }),
		"buttons": func(rest string) {
			channel, want, _ := strings.Cut(rest, " ")
			if !wait.Until(func() bool { return c.labels(channel) == want }) {
				c.Errorf("buttons %s", c.labels(channel))
			}
		},
		"query": func(want string) {
			asked := c.search.asked()
			if len(asked) == 0 || asked[len(asked)-1] != want {
				c.Errorf("queries %q", asked)
			}
		},
		"fetched": func(rest string) {
			url, n, _ := strings.Cut(rest, " ")
			count(func() int { return c.web.Hits(url) })(n)
		},
		"trace": func(want string) {
			l, got := c.lastTrace().Lookup(), "-"
			if l != nil {
				got = string(l.State)
			}
			if got != want {
				c.Errorf("lookup state %s: %+v", got, l)
			}
		},
	}
}

func (c *conversation) number(text string) int {
	n, err := strconv.Atoi(text)
	c.must(err)
	return n
}

// troubles are what goes wrong.
func (c *conversation) troubles() map[string]func(string) {
	return map[string]func(string){
		"drop": func(rest string) {
			code, err := strconv.Atoi(rest)
			c.must(err)
			c.discord.Drop(code)
		},
		"guild": func(rest string) {
			name, channel, _ := strings.Cut(rest, " ")
			c.discord.AddChannel(c.discord.AddGuild(name), channel)
		},
		"shards": func(rest string) {
			c.discord.RecommendShards(c.number(rest))
			c.discord.Concurrency(c.number(rest))
		},
		"sharded": func(rest string) {
			if n := c.number(rest); !c.discord.WaitShards(n, patience) {
				c.Errorf("%d of %d shards are there", c.discord.Shards(n), n)
			}
		},
		"crowded":   func(rest string) { c.discord.Crowd(c.number(rest)) },
		"dropshard": func(rest string) { c.discord.DropShard(c.number(rest), 0) },
		"reconnect": func(string) { c.discord.Reconnect() },
		"forget":    func(string) { c.discord.Forget() },
		"repeat":    func(string) { c.discord.Repeat(c.lastSaid) },
		"fault": func(rest string) {
			f := strings.Fields(rest)
			status, err := strconv.Atoi(f[2])
			c.must(err)
			n, err := strconv.Atoi(f[3])
			c.must(err)
			route := f[0] + " " + f[1]
			switch {
			case status == 0:
				c.discord.Fail(discordtest.Fault{Route: route, Times: n, Cut: true, After: true})
			case status == 400:
				c.discord.Fail(discordtest.Fault{Route: route, Times: n, Status: status, Header: map[string]string{"Content-Type": "application/json"},
					Body: `{"code":50035,"message":"Invalid Form Body"}`})
			case status == 429:
				c.discord.Fail(discordtest.TooMany(route, n, 300*time.Millisecond))
			default:
				c.discord.Fail(discordtest.Fault{Route: route, Times: n, Status: status, Body: "<html>no</html>"})
			}
		},
		"refused": func(what string) {
			c.discord.Accept(what)
			holds := func(said string) bool { return strings.Contains(said, what) }
			if !wait.Until(func() bool { return slices.ContainsFunc(slices.Collect(maps.Keys(c.discord.Refusals())), holds) }) {
				c.Errorf("refused: %v", c.discord.Refusals())
			}
		},
		"deny": func(channel string) { c.discord.Deny(channel, true) },
		"presents": func(want string) {
			if !wait.Until(func() bool { return c.discord.Presence() == want }) {
				c.Errorf("shows %q", c.discord.Presence())
			}
		},
		"contentless": func(string) { c.discord.RefuseContent() },
		"ownrole":     func(string) { c.discord.AddOwnRole("hall") },
		"thread": func(rest string) {
			channel, name, _ := strings.Cut(rest, " ")
			c.discord.AddThread(channel, name, false)
		},
		"archive":       func(channel string) { c.discord.Archive(channel, false) },
		"lock":          func(channel string) { c.discord.Archive(channel, true) },
		"threadsfull":   func(string) { c.discord.FillThreads("hall") },
		"nothreads":     func(channel string) { c.discord.DenyThreads(channel) },
		"forum":         func(name string) { c.discord.AddChannelOf(discordtest.Forum, "hall", name) },
		"media":         func(name string) { c.discord.AddChannelOf(discordtest.Media, "hall", name) },
		"voicechannel":  func(name string) { c.discord.AddChannelOf(discordtest.VoiceChannel, "hall", name) },
		"announcements": func(name string) { c.discord.AddChannelOf(discordtest.Announcement, "hall", name) },
		"publish":       func(follower string) { c.discord.Publish(c.lastSaid, follower) },
		"post": func(rest string) {
			forum, who, post := words3(rest)
			title, text, _ := strings.Cut(post, " | ")
			c.lastSaid = c.discord.PostIn(forum, who, title, text)
		},
		"hide": func(channel string) { c.discord.Overwrite(channel, "@everyone", 0, discordtest.Reader) },
		"show": func(channel string) { c.discord.Overwrite(channel, "@everyone", 0, 0) },
		"role": c.giveRole,
		"let":  func(rest string) { c.overwrite(rest, discordtest.Reader, 0) },
		"bar":  func(rest string) { c.overwrite(rest, 0, discordtest.Reader) },
		"topic": func(rest string) {
			channel, topic, _ := strings.Cut(rest, " ")
			c.discord.Topic(channel, topic)
		},
		"pin": func(string) { c.discord.Pin(c.lastSaid) },
		"link": func(rest string) {
			channel, who, text := words3(rest)
			c.discord.Say(channel, who, strings.ReplaceAll(text, "LINK", c.discord.Link(c.lastSaid)))
		},
		"lookuplink": func(rest string) {
			channel, who, _ := strings.Cut(rest, " ")
			c.hearAnswer(c.discord.Order(discordtest.Order{Channel: channel, Author: who, Command: "lookup", May: discordtest.Member,
				Options: map[string]string{"query": c.discord.Link(c.lastSaid)}}), 1)
		},
		"searching": func(state string) {
			c.discord.Searching(map[string]discordtest.SearchState{"indexing": discordtest.SearchIndexing, "ready": discordtest.SearchReady}[state])
		},
		"nonickname": func(string) { c.discord.DenyNickname("hall", true) },
		"nowebhooks": func(channel string) { c.discord.DenyWebhooks(channel, true) },
		"unhook":     func(channel string) { c.discord.DeleteWebhooks(channel) },
		"gone":       func(channel string) { c.discord.DeleteChannel(channel) },
		"kick":       func(string) { c.discord.Kick("hall") },
	}
}

// giveRole gives somebody a role.
func (c *conversation) giveRole(rest string) {
	who, role, _ := strings.Cut(rest, " ")
	if role == "-" {
		c.discord.Join("hall", who)
		return
	}
	c.haveRole(role)
	c.discord.Join("hall", who, role)
}

// overwrite lets a role or a person read a channel, or keeps them from it.
func (c *conversation) overwrite(rest string, allow, deny discordtest.Rights) {
	channel, whom, _ := strings.Cut(rest, " ")
	if !strings.HasPrefix(whom, "@") {
		c.haveRole(whom)
	}
	c.discord.Overwrite(channel, whom, allow, deny)
}

// haveRole makes a role that is not there yet.
func (c *conversation) haveRole(role string) {
	if !c.roles[role] {
		c.discord.AddRole("hall", role)
		c.roles[role] = true
	}
}

// order gives a slash command and waits for its answer. "#CHANNEL" before it names the channel. The person may manage the server or not.
func (c *conversation) order(rest string, manages bool) {
	c.Helper()
	in, named := strings.CutPrefix(rest, "#")
	if !named {
		in = "general " + rest
	}
	order := orderOf(in)
	if manages {
		order.May = discordtest.ManageServer
	}
	c.hearAnswer(c.discord.Order(order), 1)
}

// orderOf reads "CHANNEL WHO NAME K=V …".
func orderOf(text string) discordtest.Order {
	fields := strings.Fields(text)
	o := discordtest.Order{Channel: fields[0], Author: fields[1], Command: fields[2], Options: map[string]string{}, May: discordtest.Member}
	for _, f := range fields[3:] {
		k, v, _ := strings.Cut(f, "=")
		o.Options[k] = strings.ReplaceAll(v, "+", " ")
	}
	return o
}

func (c *conversation) look(got, text string, want bool) {
	c.Helper()
	if strings.Contains(got, unescape(text)) != want {
		c.Errorf("holds it: %v; the text:\n%s", !want, got)
	}
}

func (c *conversation) posts() int {
	n := 0
	for _, m := range c.discord.Messages("general") {
		if m.Own {
			n++
		}
	}
	return n
}

// prompt is the last one of the main model, with ¦ for the marks of strangers' words.
func (c *conversation) prompt() string {
	requests := c.model.Requests()
	for i := len(requests) - 1; i >= 0; i-- {
		if requests[i].Model == "main" {
			return strings.Map(func(r rune) rune {
				if unicode.Is(unicode.Co, r) {
					return '¦'
				}
				return r
			}, requests[i].Prompt())
		}
	}
	return ""
}

// lastTrace waits until the last turn is over.
func (c *conversation) lastTrace() *turn.Trace {
	traces := c.records()
	var last *turn.Trace
	if !wait.Until(func() bool {
		list, err := traces.Recent(context.Background(), "", 1)
		c.must(err)
		if len(list) == 0 || list[0].Phase != turn.Answered && list[0].Phase != turn.Broken && list[0].Phase != turn.Interrupted {
			return false
		}
		last, err = traces.Get(context.Background(), list[0].ID)
		c.must(err)
		return true
	}) {
		c.Fatal("the last turn does not end")
	}
	return last
}

func (c *conversation) record() string {
	b, err := json.Marshal(c.lastTrace())
	c.must(err)
	return string(b)
}

func words3(rest string) (string, string, string) {
	first, rest, _ := strings.Cut(rest, " ")
	second, third, _ := strings.Cut(rest, " ")
	return first, second, third
}

func unescape(s string) string {
	s = strings.ReplaceAll(s, `\n`, "\n")
	return repeats.ReplaceAllStringFunc(s, func(m string) string {
		parts := repeats.FindStringSubmatch(m)
		n, _ := strconv.Atoi(parts[2])
		return strings.Repeat(parts[1], n)
	})
}

// repeats is {TEXT×N}: TEXT, N times.
var repeats = regexp.MustCompile(`\{([^{}×]+)×(\d+)\}`)

func reversed[T any](s []T) []T {
	s = slices.Clone(s)
	slices.Reverse(s)
	return s
}

// TestComplaints finds the conversations that the list of complaints names.
func TestComplaints(t *testing.T) {
	doc, err := os.ReadFile("../../doc/complaints.md")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(doc)) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			continue
		}
		for _, name := range regexp.MustCompile("`([a-z]+)`").FindAllStringSubmatch(cells[2], -1) {
			n++
			if _, err := os.Stat(filepath.Join("testdata", name[1]+".txtar")); err != nil {
				t.Errorf("there is no conversation %s", name[1])
			}
		}
	}
	if n < 40 {
		t.Errorf("%d conversations named", n)
	}
}
