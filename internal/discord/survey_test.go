package discord

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"familiar/internal/discord/rest"
	"familiar/internal/test/discordtest"
)

// TestSurvey surveys a server whose channels differ in every relevant way.
func TestSurvey(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		const (
			view    = discordtest.Rights(1 << 10)
			history = discordtest.Rights(1 << 16)
			react   = discordtest.Rights(1 << 6)
			all     = discordtest.Reader | discordtest.Member | discordtest.InThreads
		)
		far.Allow("hall", "@everyone", all|react)
		far.AddRole("hall", "bots")
		far.Join("hall", "familiar", "bots")
		far.AddChannel("hall", "staff")
		far.Overwrite("staff", "@everyone", 0, view)
		far.AddChannel("hall", "rescued")
		far.Overwrite("rescued", "@everyone", 0, all)
		far.Overwrite("rescued", "bots", 0, discordtest.Member)
		far.Overwrite("rescued", "@familiar", all, 0)
		far.AddChannel("hall", "readonly")
		far.Overwrite("readonly", "bots", 0, discordtest.Member|history)
		far.AddChannelOf(discordtest.Forum, "hall", "help")
		far.Overwrite("help", "@everyone", 0, discordtest.Member)
		far.AddChannelOf(4, "hall", "a category")
		far.AddGuild("another")

		got, err := prepare(t, far, nil).Survey(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		use := []string{"Attach Files", "Create Public Threads", "Manage Webhooks", "Send Voice Messages"}
		nothing := append([]string{"Add Reactions"}, use...)
		want := Survey{
			Application: "familiar", ID: "100000000000000002", Bot: "familiar", Content: true, Public: true, Shards: 1, Starts: 1000, StartsADay: 1000, Invite: Invite("100000000000000002"),
			Servers: []SurveyedServer{{Name: "another"}, {Name: "hall", Channels: []SurveyedChannel{
				{Name: "general", Without: use}, {Name: "help", Forum: true, Without: use},
				{Name: "readonly", Missing: []string{"Read Message History", "Send Messages"}, Without: use}, {Name: "rescued", Without: use},
				{Name: "staff", Missing: NeededPermissions(), Without: nothing},
			}}},
		}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Survey{}), cmpopts.IgnoreFields(SurveyedServer{}, "ID"), cmpopts.IgnoreFields(SurveyedChannel{}, "ID")); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		if got.Invite != "https://discord.com/oauth2/authorize?client_id=100000000000000002&permissions=274877975552&scope=bot+applications.commands" {
			t.Errorf("invite %s", got.Invite)
		}
	})
}

// TestSurveyOfTrouble surveys an application without the intent, a limit, an unreadable server and a refused token.
func TestSurveyOfTrouble(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		far.Accept("401")
		far.RefuseContent()
		far.SendInteractionsTo("https://elsewhere.example.org/interactions")
		far.Fail(discordtest.TooMany("GET users/@me/guilds", 1, 2*time.Second))
		far.Fail(discordtest.Fault{Route: "GET guilds/*/channels", Status: http.StatusForbidden, Body: `{"code":50001,"message":"Missing Access"}`})
		s := prepare(t, far, nil)
		began := time.Now()
		got, err := s.Survey(t.Context())
		if err != nil || time.Since(began) < 2*time.Second || got.Content || got.InteractionsTo == "" || len(got.Servers) != 1 || got.Servers[0].Err == nil {
			t.Errorf("%v after %v: %+v", err, time.Since(began), got)
		}
		if _, err := prepare(t, far, func(c *Config) { c.Token = "MTAwMDAwMDAwMDAwMDAwMDAx.GdTest.another" }).Survey(t.Context()); err == nil || err.(*rest.Error).Kind != rest.Unauthorized {
			t.Errorf("a wrong token: %v", err)
		}
	})
}

// TestSurveyOfMany surveys a bot in more servers than Discord lists at a time. It counts all and looks at some.
func TestSurveyOfMany(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		for range 200 {
			far.AddGuild("another")
		}
		got, err := prepare(t, far, nil).Survey(t.Context())
		if err != nil || len(got.Servers) != mostSurveyed || got.More != 201-mostSurveyed {
			t.Errorf("%d looked at, %d more, %v", len(got.Servers), got.More, err)
		}
	})
}

// TestSurveyWithoutRoles surveys servers whose answers leave roles out, as those of servers do that are not Discord. The roles are asked
// for, and where they are not available, what the bot may do is unknown.
func TestSurveyWithoutRoles(t *testing.T) {
	virtual(t, func(t *testing.T, far *discordtest.Server) {
		without := func(payload map[string]any) { delete(payload, "roles") }
		survey := func() SurveyedServer {
			got, err := prepare(t, far, nil).Survey(t.Context())
			if err != nil || len(got.Servers) != 1 {
				t.Fatalf("%+v, %v", got, err)
			}
			return got.Servers[0]
		}
		want := survey()
		far.Distort("GET guilds/*", without)
		if diff := cmp.Diff(want, survey()); diff != "" {
			t.Errorf("roles that are asked for: -want +got:\n%s", diff)
		}
		far.Distort("GET guilds/*/members/*", without)
		if got := survey(); got.Err != errNoRoles || got.Channels != nil {
			t.Errorf("the bot's own roles are unknown: %+v", got)
		}
	})
}
