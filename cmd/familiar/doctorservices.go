package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"familiar/internal/api"
	"familiar/internal/bot/discord"
	"familiar/internal/context/turn"
	"familiar/internal/doctor"
	"familiar/internal/transcribe"
)

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

// embeddings asks for a vector, where a service makes them.
func (e *examination) embeddings(ctx context.Context) []doctor.Finding {
	if err := e.a.openEmbeddings(ctx, e.p); err != nil {
		return []doctor.Finding{{ID: "embeddings", State: doctor.Failure, Text: err.Error()}}
	}
	s := e.a.embeddings
	if s == nil {
		return nil
	}
	look := doctor.Service{ID: "embeddings", Model: s.Model, Host: s.Host(), Setting: "EMBED", Does: "makes vectors", Without: "Until it does, messages are recalled by their words alone.", Status: turn.CodeOK}
	began := time.Now()
	vectors, err := s.Batch(ctx, []string{"yes"})
	look.Took = time.Since(began)
	if failed, ok := errors.AsType[*api.Failure](err); ok {
		look.Status, look.Detail = failed.Code, failed.Detail
	} else if len(vectors[0]) == 0 {
		look.Status, look.Detail = turn.CodeMalformed, "the vector says nothing"
	}
	return []doctor.Finding{look.Judge()}
}

// transcription has a recording written down, where a service does that.
func (e *examination) transcription(ctx context.Context) []doctor.Finding {
	s := e.a.listener()
	if s == nil {
		return nil
	}
	look := doctor.Service{ID: "transcription", Model: s.Model, Host: s.Host(), Setting: "TRANSCRIBE", Does: "writes recordings down", Without: "Until it does, voice messages are not understood.", Status: turn.CodeOK}
	began := time.Now()
	err := s.Try(ctx)
	look.Took = time.Since(began)
	if failed, ok := errors.AsType[*transcribe.Error](err); ok {
		look.Status = failed.Code
		if failed.Status != 0 {
			look.Detail = fmt.Sprintf("HTTP %d", failed.Status)
		}
	}
	return []doctor.Finding{look.Judge()}
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
