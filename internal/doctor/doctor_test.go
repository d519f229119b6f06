package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/discord"
	"familiar/internal/discord/rest"
	"familiar/internal/llm"
	"familiar/internal/search/backend"
	"familiar/internal/store"
)

// TestRun has checks that end in another order than theirs. One finds nothing in time, and one comes last.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		after := func(d time.Duration) func(context.Context) []Finding {
			return func(ctx context.Context) []Finding {
				select {
				case <-ctx.Done():
					return nil
				case <-time.After(d):
					return []Finding{{ID: "after " + d.String(), State: OK, Text: time.Since(began).String()}}
				}
			}
		}
		var said []string
		got := Run(t.Context(), []Check{
			{ID: "slow", Limit: time.Minute, Run: after(5 * time.Second)}, {ID: "last", Limit: time.Minute, Run: after(time.Second), Last: true},
			{ID: "quick", Limit: time.Minute, Run: after(time.Second)}, {ID: "hangs", Limit: 10 * time.Second, Run: after(time.Hour)},
			{ID: "nothing", Limit: time.Second, Run: func(context.Context) []Finding { return nil }},
		}, func(s Standing) {
			said = append(said, fmt.Sprintf("%d/%d %v %d", s.Ended, s.All, s.Running, len(s.Found)))
		})
		want := []Finding{
			{ID: "after 5s", State: OK, Text: "5s"}, {ID: "after 1s", State: OK, Text: "11s"}, {ID: "after 1s", State: OK, Text: "1s"},
			{ID: "hangs", State: Failure, Text: "There was no answer within 10s."},
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("got %v", got)
		}
		if n := len(said); n != 10 || said[n-1] != "5/5 [] 4" || !slices.Contains(said, "3/5 [hangs] 2") {
			t.Errorf("told %q", said)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if got := Run(ctx, []Check{{ID: "x", Limit: time.Hour, Run: after(time.Hour)}}, nil); got[0].State != Skipped {
			t.Errorf("of what was stopped: %v", got)
		}
	})
}

// state and words are what a finding is held against.
func holds(t *testing.T, f Finding, s State, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(f.Text+"\n"+f.Cure, w) {
			t.Errorf("%q is not in %q, %q", w, f.Text, f.Cure)
		}
	}
	if f.State != s || (s == Failure || s == Warning) && f.Cure == "" {
		t.Errorf("%+v, want %s", f, s)
	}
}

func TestModel(t *testing.T) {
	m := modelTest{Role: "model", Name: "qwen", Where: "there", Slow: 20 * time.Second, Mode: "text", Prompt: 10_000}
	m.Stream = streamTest{Err: &llm.Error{Kind: llm.Unauthorized}, Why: "there rejects the key", Cure: "check whether it is complete"}
	holds(t, m.judge()[0], Failure, "It does not answer: there rejects the key.", "complete")
	m.Stream = streamTest{Err: &llm.Error{Kind: llm.Empty, Cause: "no word."}}
	holds(t, m.judge()[0], Failure, "empty (no word).", "another model")
	m.Stream.Err = context.DeadlineExceeded
	holds(t, m.judge()[0], Failure, "in time", "run the doctor again")

	m.Stream = streamTest{First: 30 * time.Second, Took: 31 * time.Second}
	holds(t, m.judge()[0], Warning, "first word after 30,000 ms", "FAMILIAR_FIRST_WORD")
	m.Stream.First = time.Millisecond
	for _, c := range []struct {
		w     llm.Window
		state State
		words string
	}{
		{llm.Window{}, Skipped, "does not report its size"},
		{llm.Window{Most: 40_960, Source: "/api/show"}, Skipped, "40,960"},
		{llm.Window{Tokens: 4096, Most: 40_960, Source: "/api/ps"}, Warning, "OLLAMA_CONTEXT_LENGTH=11000"},
		{llm.Window{Tokens: 8192, Source: "/props"}, Warning, "-c 11000"},
		{llm.Window{Tokens: 8192, Source: "/api/v0/models"}, Warning, "LM Studio"},
		{llm.Window{Tokens: 8192, Source: "/models"}, Warning, "larger context"},
		{llm.Window{Tokens: 128_000, Source: "/models"}, OK, "128,000 tokens"},
	} {
		m.Window = c.w
		holds(t, m.judge()[1], c.state, c.words)
	}
	m.Picture, m.JSON = &pictureTest{Blind: true}, &jsonTest{}
	all := m.judge()
	holds(t, all[2], OK, "takes none")
	holds(t, all[3], Warning, "something else", "SIDE_MODEL")
	m.Picture, m.JSON = &pictureTest{Err: errors.New("x")}, &jsonTest{Err: &llm.Error{Kind: llm.Server, Status: 500}}
	all = m.judge()
	holds(t, all[2], Warning, "took too long")
	holds(t, all[3], Warning, "server, status 500")
	holds(t, noModel()[0], Warning, "only from lookups")
}

func TestTurn(t *testing.T) {
	lookup := func(l turn.Lookup) *turn.Trace {
		return &turn.Trace{Took: time.Second, Outcomes: []turn.Outcome{{Contributions: []turn.Contribution{{Lookup: &l}}}}}
	}
	found := turn.Lookup{Sources: make([]turn.Source, 2)}
	holds(t, judgeTurn(lookup(found), nil, false), OK, "after 1,000 ms, from 2 sources")
	holds(t, judgeTurn(&turn.Trace{Took: time.Second}, nil, true), OK, "Lookups are off")
	holds(t, judgeTurn(nil, errors.New("make a directory for a turn: no space"), false), Failure, "no space")
	holds(t, judgeTurn(&turn.Trace{Phase: turn.Broken, Err: "ask model x: empty"}, nil, false), Failure, "empty", "--trace")
	holds(t, judgeTurn(lookup(turn.Lookup{State: turn.LookupFailed, Failure: turn.CodeDeadline}), nil, false), Failure, "deadline")
	holds(t, judgeTurn(lookup(turn.Lookup{}), nil, false), Warning, "nothing was found")
	uncited := lookup(found)
	uncited.Uncited = true
	holds(t, judgeTurn(uncited, nil, false), Warning, "named none")
	slow := lookup(found)
	slow.Took = 2 * time.Minute
	holds(t, judgeTurn(slow, nil, false), Warning, "longer than 1m0s")
	e := Examination{silent: true}
	holds(t, e.turn(t.Context())[0], Skipped, "model must answer")
	e = Examination{lost: true}
	holds(t, e.turn(t.Context())[0], Skipped, "search service must answer")
}

func TestForeignKey(t *testing.T) {
	for key, want := range map[string]string{"sk-ant-x": "https://api.anthropic.com/v1", "sk-or-v1-x": "https://openrouter.ai/api/v1", "sk-x": "", "": ""} {
		if got := foreign(key, llm.OpenAI); got != want {
			t.Errorf("%q: %q", key, got)
		}
	}
	if got := foreign("gsk_x", "https://api.groq.com/openai/v1"); got != "" {
		t.Error(got)
	}
}

// A bot with one shard hears nothing of shards.
func TestShards(t *testing.T) {
	survey := func(shards, left int) discord.Survey {
		return discord.Survey{Shards: shards, Starts: left, StartsADay: 1000}
	}
	for _, quiet := range []discord.Survey{{}, survey(1, 900)} {
		if found := judgeShards(quiet, 0); len(found) > 0 {
			t.Errorf("%+v", found)
		}
	}
	one := func(s discord.Survey, chosen int) Finding {
		found := judgeShards(s, chosen)
		if len(found) != 1 {
			t.Fatalf("%+v", found)
		}
		return found[0]
	}
	holds(t, one(survey(12, 900), 0), OK, "12 shards")
	holds(t, one(survey(12, 900), 16), OK, "FAMILIAR_SHARDS is 16", "12 shards")
	holds(t, one(survey(12, 900), 4), Warning, "FAMILIAR_SHARDS is 4", "2,500 servers", "remove FAMILIAR_SHARDS")
	holds(t, one(survey(1, 20), 0), Warning, "Only 20 of the day's 1000 sessions", "the log")
}

func TestDiscord(t *testing.T) {
	bot := discord.Survey{Application: "fam", ID: "1", Bot: "fam", Invite: "https://invite"}
	r := rights{needed: []string{"View Channels", "Send Messages"}, useful: []string{"Attach Files"}}
	holds(t, judgeToken(bot, nil), OK, "fam (1)")
	holds(t, judgeToken(bot, &rest.Error{Kind: rest.Unauthorized}), Failure, "Reset Token")
	holds(t, judgeToken(bot, errors.New("no way")), Failure, "no way")
	holds(t, judgeIntents(bot)[0], Warning, "Message Content Intent")
	bot.InteractionsTo = "https://x"
	holds(t, judgeIntents(bot)[1], Failure, "https://x", "Interactions Endpoint URL")
	judge := func(s discord.SurveyedServer) Finding {
		bot.Servers = []discord.SurveyedServer{s}
		return judgePermissions(bot, r)[0]
	}
	holds(t, judgePermissions(bot, r)[0], Warning, "https://invite")
	type server = discord.SurveyedServer
	channels := func(all ...discord.SurveyedChannel) server { return server{Channels: all} }
	hidden, mute, fine := discord.SurveyedChannel{Name: "a", Missing: r.needed}, discord.SurveyedChannel{Name: "b", Missing: r.needed[1:]}, discord.SurveyedChannel{Name: "c", Without: r.useful}
	holds(t, judge(channels(hidden, fine)), OK, "in 1.", "1 are hidden")
	holds(t, judge(channels(hidden, mute, fine)), Warning, "In 1 it can read but not answer", "https://invite")
	holds(t, judge(channels(hidden)), Failure, "in 0")
	holds(t, judge(server{Channels: []discord.SurveyedChannel{fine}, Silenced: time.Unix(0, 0)}), Failure, "until 1970-01-01 00:00 UTC")
	if f := judge(server{Err: errors.New("gone")}); f.State != Warning || !strings.Contains(f.Text, "gone") {
		t.Errorf("%+v", f)
	}
	bot.Servers, bot.More = make([]server, 1), 7
	if got := judgePermissions(bot, r); len(got) != 2 || got[1].State != Skipped {
		t.Errorf("%+v", got)
	}
	all := judge(channels(hidden, mute, fine))
	if got := View([]Finding{all}); !strings.Contains(got, "#b  ✓ ✗ ✓") || strings.Contains(got, "#c") {
		t.Errorf("the matrix:\n%s", got)
	}
}

func TestLookups(t *testing.T) {
	bad := backend.Status{Name: "searxng", Probe: &turn.Asked{Status: turn.CodeRateLimited, Detail: "slow down."}}
	good := backend.Status{Name: "wikipedia", Probe: &turn.Asked{Status: turn.CodeOK, Hits: 3, Took: time.Second}}
	all := judgeSearches(false, []backend.Status{bad, good})
	holds(t, all[0], Warning, "rate limited (slow down).", "SEARXNG_URL")
	holds(t, all[1], OK, "3 hits after 1,000 ms.")
	holds(t, judgeSearches(false, []backend.Status{bad})[0], Failure, "SEARXNG_URL")
	if all = judgeSearches(false, []backend.Status{bad, bad}); len(all) != 1 {
		t.Errorf("%+v", all)
	}
	holds(t, all[0], Failure, "None of 2 search services answers", "searxng (rate limited), searxng (rate limited)", "internet connection")
	if all = judgeSearches(true, nil); all[0].State != Skipped {
		t.Errorf("%+v", all)
	}
	refused, reached := attempt{What: "loopback"}, attempt{What: "metadata", Dialed: []string{"169.254.169.254:80"}}
	public := attempt{What: "rebinding", Public: true, Dialed: []string{"93.184.215.14:80"}}
	holds(t, judgeGuard([]attempt{refused, public}), OK, "Refused: loopback, rebinding.")
	holds(t, judgeGuard([]attempt{refused, reached, public}), Failure, "network: metadata.")
	holds(t, judgeGuard([]attempt{{What: "rebinding", Public: true, Dialed: []string{"93.184.215.14:80", "127.0.0.1:80"}}}), Failure, "rebinding")
	holds(t, judgeGuard([]attempt{{What: "rebinding", Public: true, Reason: turn.CodeDeniedAddress}}), Failure, "no page can be read")
	at := func(a string) []netip.Addr { return []netip.Addr{netip.MustParseAddr(a)} }
	holds(t, judgeDNS("x.org", at("93.184.215.14"), nil), OK)
	holds(t, judgeDNS("x.org", at("198.18.3.4"), nil), Failure, "198.18.3.4", "fake-ip-filter")
	holds(t, judgeDNS("x.org", at("::ffff:198.19.0.1"), nil), Failure, "fake-IP")
	holds(t, judgeDNS("x.org", at("10.0.0.1"), nil), Warning, "10.0.0.1")
	holds(t, judgeDNS("x.org", nil, errors.New("no")), Warning, "cannot be resolved")
}

func TestMachine(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	whole := database{Bytes: 5 << 20, Unused: 1000, Schema: 9, Free: 20 << 30, FreeKnown: true, Backup: now.Add(-30 * time.Hour), Now: now}
	judge := func(change func(*database)) []Finding {
		d := whole
		change(&d)
		return d.judge()
	}
	all := judge(func(*database) {})
	holds(t, all[0], OK, "5.2 MB, 1.0 kB of them unused, schema 9")
	holds(t, all[1], OK, "21 GB")
	holds(t, all[2], OK, "30 hours old")
	holds(t, judge(func(d *database) { d.Backup = now.Add(-20 * 24 * time.Hour) })[2], Warning, "20 days", "familiar backup")
	holds(t, judge(func(d *database) { d.Backup = time.Time{} })[2], Warning, "None is known")
	holds(t, judge(func(d *database) { d.Backup, d.Bytes = time.Time{}, 1000 })[2], Skipped)
	holds(t, judge(func(d *database) { d.Free = 900 << 20 })[1], Warning, "944 MB")
	holds(t, judge(func(d *database) { d.Free = 1 << 20 })[1], Failure)
	holds(t, judge(func(d *database) { d.Wrong = []string{"page 3 is odd"} })[0], Failure, "page 3 is odd", "backup")
	holds(t, judge(func(d *database) { d.Hurried = true })[0], Warning, "quick_check")
	holds(t, judge(func(d *database) { d.Trouble = "no, do this" })[0], Failure, "do this")
	holds(t, judge(func(d *database) { d.Older, d.Trouble = true, "x" })[0], Warning, "start the bot")
	holds(t, judge(func(d *database) { d.Missing, d.Path = true, "/x" })[0], OK, "/x")
	holds(t, judge(func(d *database) { d.Dir = errors.New("read-only") })[0], Failure, "read-only", "FAMILIAR_DATA")

	holds(t, judgeClock("", 0), Skipped)
	holds(t, judgeClock("Discord", 400*time.Millisecond), OK, "within 1s")
	holds(t, judgeClock("Discord", 29*time.Second), OK, "29s")
	holds(t, judgeClock("Discord", -31*time.Second), Warning, "31s behind the clock of Discord", "ids", "timedatectl")
	holds(t, judgeClock("Discord", time.Hour), Warning, "1h0m0s ahead of the clock")

	holds(t, judgeConsole("off", false), OK, "off")
	holds(t, judgeConsole("127.0.0.1:8807", false), OK, "http://127.0.0.1:8807")
	holds(t, judgeConsole("localhost:1", false), OK)
	holds(t, judgeConsole("[::1]:1", false), OK)
	holds(t, judgeConsole(":8807", false), Failure, "FAMILIAR_CONSOLE_TOKEN")
	holds(t, judgeConsole("0.0.0.0:8807", true), Warning, "TLS")
	holds(t, judgeConsole("8807", true), Failure, "not an address")
}

func TestEncryption(t *testing.T) {
	const info = "21 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw\n" +
		"22 21 253:1 / /srv/my\\040data rw - ext4 /dev/mapper/vg-data rw\n" +
		"23 21 0:30 / /home rw - btrfs /dev/mapper/home rw\n" +
		"24 21 0:40 / /net rw - nfs4 server:/x rw\n" +
		"25 21 0:41 / /vault rw - fuse.gocryptfs /home/x rw\n" +
		"26 21 253:2 / /half rw - ext4 /dev/mapper/half rw\n"
	root := fstest.MapFS{
		"proc/self/mountinfo":                     {Data: []byte(info)},
		"sys/dev/block/8:1/size":                  {},
		"sys/dev/block/253:1/dm/uuid":             {Data: []byte("LVM-abc\n")},
		"sys/dev/block/253:1/slaves/dm-0/dm/uuid": {Data: []byte("CRYPT-LUKS2-abc\n")},
		"sys/class/block/dm-7/dm/name":            {Data: []byte("home\n")},
		"sys/class/block/dm-7/dm/uuid":            {Data: []byte("CRYPT-LUKS2-def\n")},
		"sys/dev/block/253:2/slaves/dm-0/dm/uuid": {Data: []byte("CRYPT-LUKS2-abc\n")},
		"sys/dev/block/253:2/slaves/sdb1/size":    {},
	}
	for dir, want := range map[string]State{
		"/var/lib": Warning, "/srv/my data/familiar": OK, "/srv/my": Warning, "/home/x": OK, "/net/x": Skipped, "/vault": OK, "/half": Warning,
	} {
		if f := judgeEncryption(root, dir); f.State != want {
			t.Errorf("%s: %+v", dir, f)
		}
	}
	if f := judgeEncryption(fstest.MapFS{}, "/"); f.State != Skipped {
		t.Errorf("without /proc: %+v", f)
	}
}

func TestProcesses(t *testing.T) {
	now := time.Date(2026, 11, 27, 9, 0, 0, 0, time.UTC)
	process := func(id, version string) store.Process {
		return store.Process{ID: id, Host: "one", Version: version, Began: now.Add(-time.Hour), Until: now.Add(time.Second)}
	}
	fleet := store.Fleet{Now: now, Processes: []store.Process{process("ABCDEFGH", "1.2"), process("X", "1.2"), {ID: "gone", Until: now}}, Shards: []store.Holding{
		{Number: 0, Holder: "ABCDEFGH", Until: now.Add(time.Second)}, {Number: 1, Holder: "X", Until: now.Add(time.Second)}, {Number: 2, Holder: "ABCDEFGH", Until: now.Add(time.Second)}}}
	judge := func() Finding { return judgeFleet(fleet, now.Add(-time.Hour)) }
	holds(t, judge(), OK, "2 processes share 3 shards: one/ABCDEF has 2 shards, runs 1.2 for 1h0m0s; one/X has 1 shard", "1h0m0s off")
	fleet.Processes[1].Version = "1.1"
	holds(t, judge(), Warning, "one version")
	fleet.Shards[1].Until = now
	holds(t, judge(), Warning, "Nobody has shard 1.", "20 seconds")
}
