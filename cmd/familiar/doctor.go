package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"familiar/internal/bot/discord"
	"familiar/internal/context/turn"
	"familiar/internal/disk"
	"familiar/internal/doctor"
	"familiar/internal/store"
)

type doctorCommand struct {
	Checks []string `arg:"" optional:"" name:"check" help:"Carry out these alone: discord, model, side, search, guard, dns, database, console, encryption, clock."`
	JSON   bool     `name:"json" help:"Print the findings as JSON."`
	Review bool     `help:"Print the answers that Discord's yearly review of privileged intents asks for, drawn from the configuration."`
}

// Help is what familiar doctor --help adds.
func (doctorCommand) Help() string {
	return `Looks at everything that has to work, with real questions: to Discord, to the models, to each search service. It writes nothing, works beside a running bot, and shows no secret.

Exit code 0: nothing has failed (warnings may be there); 1: something has; 2: wrong usage.

  familiar doctor                    everything
  familiar doctor discord database   two checks
  familiar doctor --json             for a script
  familiar doctor --review           the answers for Discord's review`
}

// errSick ends a doctor's visit that found a failure.
var errSick = errors.New("something does not work: see the lines that begin with failure, and what they say to do")

// Run examines the installation.
func (d doctorCommand) Run(ctx context.Context, p *program, stop stopper) error {
	return p.interruptible(stop, func() error {
		if d.Review {
			return printReview(ctx, p)
		}
		e, wrong := newExamination(p, true)
		defer e.close()
		checks, err := only(e.checks(wrong), d.Checks)
		if err != nil {
			return err
		}
		found := doctor.Run(ctx, checks, p.progress())
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return d.print(p, e.redacted(found))
	})
}

// print writes findings that hold no secret, and reports whether one is a failure.
func (d doctorCommand) print(p *program, found []doctor.Finding) error {
	text := doctor.View(found)
	if d.JSON {
		b, err := json.MarshalIndent(struct {
			Findings []doctor.Finding `json:"findings"`
			Warnings int              `json:"warnings"`
			Failures int              `json:"failures"`
		}{found, doctor.Count(found, doctor.Warning), doctor.Count(found, doctor.Failure)}, "", "  ")
		if err != nil {
			return fmt.Errorf("write the findings as JSON: %w", err)
		}
		text = string(b) + "\n"
	}
	if _, err := fmt.Fprint(p.out, text); err != nil {
		return err
	}
	if doctor.Count(found, doctor.Failure) > 0 {
		return errSick
	}
	return nil
}

// examine carries out all checks. What it finds holds no secret.
func (p *program) examine(ctx context.Context, progress doctor.Progress) []doctor.Finding {
	e, wrong := newExamination(p, true)
	defer e.close()
	return e.redacted(doctor.Run(ctx, e.checks(wrong), progress))
}

// redacted takes secrets out of findings, in which a server may have repeated one.
func (e *examination) redacted(found []doctor.Finding) []doctor.Finding {
	for i := range found {
		f := &found[i]
		f.Subject, f.Text, f.Cure = e.redact(f.Subject), e.redact(f.Text), e.redact(f.Cure)
	}
	return found
}

// only returns the checks that were named, all where none was.
func only(all []doctor.Check, names []string) ([]doctor.Check, error) {
	var known []string
	for _, c := range all {
		known = append(known, c.ID)
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, problems{fmt.Sprintf("there is no check %s; there are %s", name, strings.Join(known, ", "))}
		}
	}
	if len(names) == 0 {
		return all, nil
	}
	return slices.DeleteFunc(all, func(c doctor.Check) bool { return !slices.Contains(names, c.ID) }), nil
}

// progress shows at a terminal what is being waited for; elsewhere nothing.
func (p *program) progress() doctor.Progress {
	if !p.interactive {
		return nil
	}
	return func(ended, all int, running []string) {
		if ended == all {
			fmt.Fprint(p.err, "\r\x1b[K")
			return
		}
		fmt.Fprintf(p.err, "\r\x1b[K  %d of %d, waiting for %.50s", ended, all, strings.Join(running, ", "))
	}
}

// examination is what the doctor looks with.
type examination struct {
	p      *program
	a      *app // nil where the configuration is wrong
	redact func(string) string
	brief  bool // a model is asked for a word, and no more
	clock  clockReading
	invite string // the link, once Discord has been asked; guarded by the end of that check

	choosing sync.Once // of the models
	chosen   models
	noModels error // why there are none, where some are configured
}

// newExamination opens what can be opened without writing; without the web, what Discord and the models are asked with alone. The error is what is
// wrong with the configuration; close must be called in any case.
func newExamination(p *program, web bool) (*examination, error) {
	e := &examination{p: p, redact: func(text string) string { return text }}
	if c, _ := readConfig(p.env, p.dir); c != nil {
		e.redact = c.redactor().String
	}
	quiet := *p
	quiet.log = ""
	a, err := configure(&quiet)
	if err != nil {
		return e, err
	}
	if e.a = a; !web {
		return e, nil
	}
	a.config.clear("FAMILIAR_WEB_CACHE") // nothing is written, and every question is asked
	return e, errors.Join(a.openReader(context.Background(), p), a.openEngine(context.Background(), p))
}

func (e *examination) close() {
	if e.a != nil {
		e.a.close()
	}
}

// checks are those of the whole installation. Where its configuration is wrong that is the only finding, for nothing else can be relied on.
func (e *examination) checks(wrong error) []doctor.Check {
	configured := func(context.Context) []doctor.Finding { return e.configuration(wrong) }
	all := []doctor.Check{
		{ID: "configuration", Limit: time.Second, Run: configured},
		{ID: "discord", Limit: 30 * time.Second, Run: e.discord},
		{ID: "model", Limit: 90 * time.Second, Run: e.model},
		{ID: "side", Limit: 90 * time.Second, Run: e.sideModel},
		{ID: "search", Limit: searchPatience + 5*time.Second, Run: e.searches},
		{ID: "guard", Limit: 10 * time.Second, Run: e.guard},
		{ID: "dns", Limit: 10 * time.Second, Run: e.dns},
		{ID: "database", Limit: 30 * time.Second, Run: e.database},
		{ID: "console", Limit: time.Second, Run: e.console},
		{ID: "encryption", Limit: 5 * time.Second, Run: e.encryption},
		{ID: "clock", Limit: time.Second, Run: e.time, Last: true}, // by what the others were told
	}
	if wrong == nil {
		return all
	}
	for i := range all[1:] {
		id := all[i+1].ID
		all[i+1].Run = func(context.Context) []doctor.Finding {
			return []doctor.Finding{{ID: id, State: doctor.Skipped, Text: "The configuration has to be put right first."}}
		}
	}
	return all
}

func (e *examination) configuration(wrong error) (found []doctor.Finding) {
	if wrong == nil {
		set := 0
		for _, v := range e.a.config.values {
			if v.source != "" && v.source != "default" {
				set++
			}
		}
		return []doctor.Finding{{ID: "configuration", State: doctor.OK, Text: fmt.Sprintf("It is in order: %d settings are yours; %s answers.", set, e.a.character.Name)}}
	}
	var all problems
	if !errors.As(wrong, &all) {
		all = problems{wrong.Error()}
	}
	for _, text := range all {
		what, more, _ := strings.Cut(text, "\n")
		found = append(found, doctor.Finding{ID: "configuration", State: doctor.Failure, Text: what, Cure: cmp.Or(strings.Join(strings.Fields(more), " "), "put it right in .env or in the environment")})
	}
	return found
}

func (e *examination) discord(ctx context.Context) []doctor.Finding {
	c := e.a.config
	if c.get("DISCORD_TOKEN") == "" {
		return []doctor.Finding{{ID: "token", State: doctor.Skipped, Text: "DISCORD_TOKEN is not set: familiar chat works, familiar run does not.", Cure: "get it from " + tokenHelp}}
	}
	session, err := e.session()
	if err != nil {
		return []doctor.Finding{{ID: "token", State: doctor.Failure, Text: err.Error(), Cure: "get it from " + tokenHelp}}
	}
	found, err := session.Survey(ctx)
	app := applicationOf(found)
	if err != nil && found.ID == "" {
		return []doctor.Finding{doctor.Token(app, troubleOf(err))}
	}
	e.invite = found.Invite
	all := append([]doctor.Finding{doctor.Token(app, nil)}, doctor.Intents(app)...)
	if err != nil {
		return append(all, doctor.Finding{ID: "permissions", State: doctor.Warning, Text: "The servers that it is in could not be listed: " + err.Error() + "."})
	}
	var servers []doctor.Server
	for _, s := range found.Servers {
		servers = append(servers, serverOf(s))
	}
	return append(all, doctor.Permissions(app, servers, found.More, doctor.Rights{Needed: discord.NeededPermissions(), Useful: discord.UsefulPermissions()})...)
}

// session is a door to Discord that asks and does not listen.
func (e *examination) session() (*discord.Session, error) {
	base := e.a.config.get("DISCORD_API_URL")
	client := e.a.client(base)
	client.Transport = &dated{next: client.Transport, who: discordsClock, reading: &e.clock}
	return discord.New(discord.Config{Token: e.a.config.get("DISCORD_TOKEN"), HTTP: client, BaseURL: base, Redact: e.redact, PerSecond: e.p.far.perSecond})
}

func applicationOf(s discord.Survey) doctor.Application {
	return doctor.Application{Name: s.Application, ID: s.ID, Bot: s.Bot, Content: s.Content, InteractionsTo: s.InteractionsTo, Invite: s.Invite}
}

func troubleOf(err error) *doctor.Trouble {
	if err == nil {
		return nil
	}
	var e *discord.SendError
	return &doctor.Trouble{Refused: errors.As(err, &e) && e.Kind == discord.Unauthorized, Text: err.Error()}
}

func serverOf(s discord.SurveyedServer) doctor.Server {
	server := doctor.Server{Name: s.Name, Silenced: s.Silenced, Trouble: troubleOf(s.Err)}
	for _, c := range s.Channels {
		server.Channels = append(server.Channels, doctor.Channel{Name: c.Name, Forum: c.Forum, Missing: c.Missing, Without: c.Without})
	}
	return server
}

func (e *examination) searches(ctx context.Context) []doctor.Finding {
	if e.a.config.get("FAMILIAR_WEB") == "off" {
		return doctor.Searches(true, nil)
	}
	var list []backend
	for _, b := range e.a.backends.On {
		list = append(list, backend{Name: b.Name(), On: true, Intents: intentsOf(b.Name())})
	}
	e.a.probe(ctx, list)
	var all []doctor.Search
	for _, b := range list {
		s := doctor.Search{Name: b.Name, Status: turn.CodeDeadline}
		if b.Probe != nil {
			s = doctor.Search{Name: b.Name, Status: b.Probe.Status, Detail: b.Probe.Detail, Hits: b.Probe.Hits, Took: b.Probe.Took}
		}
		all = append(all, s)
	}
	return doctor.Searches(false, all)
}

// attempts are where no page may be read, and what a name there would be resolved to, look-up by look-up.
func attempts() []struct {
	what, url string
	public    bool
	answers   [][]netip.Addr
} {
	type answers = [][]netip.Addr
	at := func(all ...string) (list []netip.Addr) {
		for _, a := range all {
			list = append(list, netip.MustParseAddr(a))
		}
		return list
	}
	const page, public = "http://page.example.org/", "93.184.215.14"
	return []struct {
		what, url string
		public    bool
		answers   [][]netip.Addr
	}{
		{"loopback", "http://127.0.0.1/", false, nil}, {"", page, false, answers{at("127.0.0.1")}}, {"", page, false, answers{at("::1")}},
		{"link-local metadata", "http://169.254.169.254/latest/meta-data/", false, nil}, {"", page, false, answers{at("169.254.169.254")}}, {"", page, false, answers{at("fd00:ec2::254")}},
		{"private ranges", page, false, answers{at("10.0.0.1")}}, {"", page, false, answers{at("172.16.0.1")}}, {"", page, false, answers{at("192.168.1.1")}},
		{"", page, false, answers{at("100.64.0.1")}}, {"", page, false, answers{at("fd12::1")}},
		{"IPv4 dressed as IPv6", page, false, answers{at("::ffff:127.0.0.1")}}, {"", page, false, answers{at("64:ff9b::7f00:1")}}, {"", "http://[::ffff:10.0.0.1]/", false, nil},
		{"names with one private answer", page, false, answers{at(public, "10.0.0.1")}},
		{"names that change to a private answer (rebinding)", page, true, answers{at(public), at("127.0.0.1")}},
	}
}

func (e *examination) guard(ctx context.Context) []doctor.Finding {
	var all []doctor.Attempt
	for _, t := range attempts() {
		got, err := e.a.reader.Fetcher.Try(ctx, t.url, t.answers...)
		if err != nil {
			return []doctor.Finding{{ID: "guard", State: doctor.Failure, Text: fmt.Sprintf("It could not be tried: %v.", err)}}
		}
		all = append(all, doctor.Attempt{What: t.what, Public: t.public, Reason: got.Reason, Dialed: got.Dialed})
	}
	return []doctor.Finding{doctor.Guard(all)}
}

func (e *examination) dns(ctx context.Context) []doctor.Finding {
	const name = "example.com"
	answers, err := e.a.reader.Fetcher.Resolve(ctx, name)
	return []doctor.Finding{doctor.DNS(name, answers, err)}
}

func (e *examination) database(ctx context.Context) []doctor.Finding {
	dir := resolve(e.p.dir, e.a.config.get("FAMILIAR_DATA"))
	d := doctor.Database{Path: filepath.Join(dir, "familiar.db"), Dir: checkDir("FAMILIAR_DATA", dir), Now: time.Now()}
	space := disk.Free
	if e.p.far.free != nil {
		space = e.p.far.free
	}
	if free, err := space(nearestDir(dir)); err == nil {
		d.Free, d.FreeKnown = free, true
	}
	db, err := store.Look(ctx, dir)
	var trouble *store.Error
	switch {
	case errors.As(err, &trouble) && trouble.Kind == store.Missing:
		d.Missing = true
		return d.Judge()
	case errors.As(err, &trouble) && trouble.Kind == store.Older:
		d.Older, d.Trouble = true, err.Error()
		return d.Judge()
	case err != nil:
		d.Trouble = err.Error()
		return d.Judge()
	}
	defer db.Close()
	if at, err := db.LastBackup(ctx); err == nil {
		d.Backup = at
	}
	found, err := db.Inspect(ctx)
	d.Bytes, d.Unused, d.Schema, d.Wrong = found.Bytes, found.Unused, found.Schema, found.Wrong
	switch {
	case err != nil && ctx.Err() != nil:
		d.Hurried = true
	case err != nil:
		d.Trouble = err.Error()
	}
	return d.Judge()
}

// nearestDir is a directory, or the nearest one above that there is.
func nearestDir(dir string) string {
	for {
		_, err := os.Stat(dir)
		if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

func (e *examination) console(context.Context) []doctor.Finding {
	address, known := e.a.config.find("FAMILIAR_CONSOLE")
	if !known {
		return nil // this version has none
	}
	token, _ := e.a.config.find("FAMILIAR_CONSOLE_TOKEN")
	return []doctor.Finding{doctor.Console(address.text, token.text != "")}
}

// clear forgets what a setting is set to.
func (c *config) clear(name string) {
	for i := range c.values {
		if c.values[i].name == name {
			c.values[i].text, c.values[i].source = "", ""
		}
	}
}

// find returns a setting, if this version has it.
func (c *config) find(name string) (value, bool) {
	i := slices.IndexFunc(c.values, func(v value) bool { return v.name == name })
	if i < 0 {
		return value{}, false
	}
	return c.values[i], true
}

func (e *examination) encryption(context.Context) []doctor.Finding {
	dir := nearestDir(resolve(e.p.dir, e.a.config.get("FAMILIAR_DATA")))
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	root := e.p.far.root
	if root == nil {
		root = os.DirFS("/")
	}
	return []doctor.Finding{doctor.Encryption(root, dir)}
}

// clockReading is what the quickest answer said of the time.
type clockReading struct {
	mu    sync.Mutex
	who   string        // empty: nobody has said anything; guarded by mu, as is what follows
	took  time.Duration // of the request
	ahead time.Duration // of this machine's clock
}

func (e *examination) time(context.Context) []doctor.Finding {
	e.clock.mu.Lock()
	defer e.clock.mu.Unlock()
	return []doctor.Finding{doctor.Clock(e.clock.who, e.clock.ahead)}
}
