package main

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"familiar/internal/app"
	"familiar/internal/store"

	"familiar/internal/test/discordtest"
	"familiar/internal/test/llmtest"
	"github.com/rogpeppe/go-internal/txtar"
)

// adaPage is what the doctor's whole turn reads.
const adaPage = `<html><head><title>Ada Lovelace</title></head><body><article><h1>Ada Lovelace</h1><p>Ada Lovelace was born on 10 December 1815 in London, and was an English mathematician. She wrote the first algorithm that was meant for a machine.</p><p>She was the only child of Lord Byron and Lady Byron, and was taught mathematics from early on.</p></article></body></html>`

// installation is what every visit of the doctor below begins with.
const installation = `
-- web/dns --
example.com 93.184.215.14
-- search --
when lovelace
Ada Lovelace | https://history.example.org/ada | A mathematician.
-- web/history.example.org/ada.head --
Content-Type: text/html; charset=utf-8
-- web/history.example.org/ada --
` + adaPage + `
-- model --
when model "main" "When was Ada"
say Ada Lovelace was born on 10 December 1815 [1].
when model "main" "JSON"
say {"ready": true}
when model "main" "colour"
say Red.
when model "main"
gap 1ms
say one two three four five six seven eight nine ten
when model "side" "JSON"
say {"ready": true}
when model "side"
gap 1ms
say one two three four five six seven eight nine ten
`

// encryptedDisk is a machine whose disk is encrypted; plainDisk one whose disk is not.
func encryptedDisk() fstest.MapFS {
	return fstest.MapFS{
		"proc/self/mountinfo":         {Data: []byte("21 1 253:0 / / rw - ext4 /dev/mapper/root rw\n")},
		"sys/dev/block/253:0/dm/uuid": {Data: []byte("CRYPT-LUKS2-0123\n")},
	}
}

func plainDisk() fstest.MapFS {
	return fstest.MapFS{"proc/self/mountinfo": {Data: []byte("21 1 8:1 / / rw - ext4 /dev/sda1 rw\n")}, "sys/dev/block/8:1/size": {}}
}

// TestDoctor compares what the doctor says of three installations. One is healthy, one is sick, and one has a wrong configuration.
func TestDoctor(t *testing.T) {
	t.Parallel()
	const path = "testdata/doctor/visits.txtar"
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	visit := func(c *conversation, name string, wantCode int, args ...string) {
		t.Helper()
		code, out, complaint := c.command(nil, append([]string{"doctor"}, args...)...)
		if code != wantCode || strings.Contains(complaint, "failure") != (wantCode == exitFailed) {
			t.Errorf("%s: exit code %d, errors %q", name, code, complaint)
		}
		golden(t, path, archive, name, steadyVisit(c, out))
	}

	healthy := newConversation(t, txtar.Parse([]byte(installation)))
	healthy.root = encryptedDisk()
	healthy.model.AnswerAlso(map[string]string{"/props": `{"default_generation_settings":{"n_ctx":32768}}`})
	db, err := store.Open(t.Context(), filepath.Join(healthy.dir, "data"))
	healthy.must(err)
	healthy.must(db.Notes.Set(t.Context(), "backup.at", time.Now().Add(-26*time.Hour).Format(time.RFC3339)))
	healthy.must(db.Close())
	cache := filepath.Join(healthy.dir, "cache")
	healthy.env["FAMILIAR_WEB_CACHE"] = cache
	healthy.env["EMBED_BASE_URL"], healthy.env["TRANSCRIBE_BASE_URL"] = healthy.model.URL, healthy.model.URL
	visit(healthy, "healthy", exitOK)
	if _, err := os.Stat(cache); err == nil {
		t.Error("the doctor has written something")
	}
	visit(healthy, "healthy.json", exitOK, "--json", "discord", "clock", "guard")
	visit(healthy, "review", exitOK, "--review")

	sick := newConversation(t, txtar.Parse([]byte(strings.NewReplacer("93.184.215.14", "198.18.0.7", "when lovelace\n", "when .\nstatus 502\n").Replace(installation)+"-- characters/moss/persona.md --\nYou are Moss.\n")))
	sick.discord.Say("general", "moss", "hello")
	sick.root = plainDisk()
	sick.model.Offer("main-large", "other")
	sick.env["OPENAI_MODEL"], sick.env["SIDE_MODEL"] = "main-lage", "side"
	sick.model.Play(nil)
	sick.model.Reply = func(r llmtest.Request) llmtest.Reply {
		if r.Model == "side" {
			return llmtest.Reply{llmtest.Say("As you wish: ready.")}
		}
		return llmtest.Reply{llmtest.Error(http.StatusNotFound, llmtest.OpenAIError("The model `"+r.Model+"` does not exist", "invalid_request_error", "model_not_found"))}
	}
	sick.discord.RefuseContent()
	sick.discord.SendInteractionsTo("https://elsewhere.example.org/interactions")
	sick.discord.SkewClock(-2 * time.Hour)
	sick.discord.AddChannelOf(discordtest.Forum, "hall", "help")
	sick.discord.AddChannel("hall", "staff")
	sick.discord.Overwrite("staff", "@everyone", 0, discordtest.Reader)
	sick.discord.Overwrite("general", "@everyone", 0, discordtest.Member)
	file := filepath.Join(sick.dir, "data", "familiar.db")
	b, err := os.ReadFile(file)
	sick.must(err)
	sick.must(os.WriteFile(file, b[:len(b)/2/4096*4096], 0o600))
	visit(sick, "sick", exitFailed)

	wrong := newConversation(t, txtar.Parse([]byte(installation)))
	wrong.env["OPENAI_BASE_URL"], wrong.env["FAMILIAR_FIRST_WORD"] = "localhost:11434", "soon"
	visit(wrong, "wrong configuration", exitFailed, "configuration", "database")

	if code, out, _ := wrong.command(nil, "doctor", "discord"); code != exitFailed || !strings.Contains(out, "failure  configuration  OPENAI_BASE_URL") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	if code, _, complaint := wrong.command(nil, "doctor", "everything"); code != exitUsage || !strings.Contains(complaint, "there is no check everything; there are configuration, discord, model,") {
		t.Errorf("exit code %d, errors %q", code, complaint)
	}

	bare := newConversation(t, txtar.Parse([]byte(installation)))
	bare.env["DISCORD_TOKEN"], bare.env["SIDE_MODEL"] = "", ""
	for _, check := range []string{"discord", "side"} {
		if code, out, complaint := bare.command(nil, "doctor", check); code != exitFailed || !strings.Contains(complaint, "nothing was examined") {
			t.Errorf("%s alone: exit code %d, errors %q: %s", check, code, complaint, out)
		}
	}
}

// TestDoctorFixes has settings whose fault has one cure: a misspelt model's name, and an address that lacks its version.
func TestDoctorFixes(t *testing.T) {
	t.Parallel()
	c := newConversation(t, txtar.Parse([]byte(installation)))
	c.root = plainDisk()
	c.model.Offer("main-large", "other")
	c.model.Play(nil)
	c.model.Reply = func(r llmtest.Request) llmtest.Reply {
		if r.Model != "main-large" {
			return llmtest.Reply{llmtest.Error(http.StatusNotFound, llmtest.OpenAIError("The model `"+r.Model+"` does not exist", "invalid_request_error", "model_not_found"))}
		}
		return llmtest.Reply{llmtest.Say("red "), llmtest.Say("two "), llmtest.Say("three "), llmtest.Say("four "), llmtest.Say("five "), llmtest.Say("six")}
	}
	delete(c.env, "OPENAI_MODEL")
	c.must(os.WriteFile(filepath.Join(c.dir, ".env"), []byte("# mine\nOPENAI_MODEL=main-lage # the large one\n"), 0o600))
	code, out, complaint := c.command(nil, "doctor", "model")
	if code != exitFailed || !strings.Contains(out, "did you mean OPENAI_MODEL=main-large?") {
		t.Fatalf("exit code %d, %s%s", code, out, complaint)
	}
	code, out, complaint = c.command(nil, "doctor", "model", "--fix")
	if code != exitOK || !strings.Contains(out, "model: main-large ") || !strings.Contains(complaint, "OPENAI_MODEL") {
		t.Errorf("exit code %d, %s%s", code, out, complaint)
	}
	if got := c.dotenv(); got != "# mine\nOPENAI_MODEL=main-large # the large one\n" {
		t.Errorf(".env is\n%s", got)
	}
	if code, _, complaint = c.command(nil, "doctor", "model", "--fix"); code != exitOK || !strings.Contains(complaint, "nothing was found that --fix can mend") {
		t.Errorf("exit code %d, %s", code, complaint)
	}
}

// steadyVisit is a visit without what differs from one to the next. Addresses, times, sizes and the breaks of lines between words are left
// out.
func steadyVisit(c *conversation, out string) string {
	out = regexp.MustCompile(`\n {20,}([^ →│┌✓✗·])`).ReplaceAllString(out, " $1")
	out = strings.ReplaceAll(out, c.dir, "DIR")
	out = regexp.MustCompile(`127\.0\.0\.1:\d+`).ReplaceAllString(out, "HOST")
	out = regexp.MustCompile(`\d[\d,.]* (ms|[kMGT]?B)\b`).ReplaceAllString(out, "N $1")
	out = regexp.MustCompile(`\b2h0m\ds`).ReplaceAllString(out, "2h0m0s") // Discord's clock counts whole seconds
	return regexp.MustCompile(`(schema|Discord within) \d+`).ReplaceAllString(out, "$1 N")
}

// TestDoctorTellsNoSecret has every secret set, and far ends that repeat what they are sent.
func TestDoctorTellsNoSecret(t *testing.T) {
	t.Parallel()
	c := newConversation(t, txtar.Parse([]byte(installation)))
	c.root = plainDisk()
	var secrets []string
	for i, s := range app.Settings() {
		if s.Secret && s.Name != "DISCORD_TOKEN" {
			secret := "secret-of-" + strings.ToLower(s.Name) + strings.Repeat("x", i)
			secrets, c.env[s.Name] = append(secrets, secret), secret
			if s.Name == "OTEL_EXPORTER_OTLP_HEADERS" {
				c.env[s.Name] = "authorization=" + secret
			}
		}
	}
	secrets = append(secrets, discordtest.Token, "the-password-0123456789")
	c.env["FAMILIAR_SEARCH"] = ""
	c.env["SEARXNG_URL"] = strings.Replace(c.search.server.URL, "://", "://user:the-password-0123456789@", 1)
	c.env["SIDE_BASE_URL"], c.env["EMBED_BASE_URL"], c.env["TRANSCRIBE_BASE_URL"] = c.model.URL, c.model.URL, c.model.URL
	c.model.Require("another") // it says which key it was given, which the doctor has no need of
	for _, args := range [][]string{{}, {"--json"}, {"--review"}} {
		_, out, complaint := c.command(nil, append([]string{"doctor"}, args...)...)
		for _, secret := range secrets {
			if strings.Contains(out+complaint, secret) {
				t.Errorf("%v tells %s", args, secret)
			}
		}
		if len(args) == 0 && !strings.Contains(out, "rejects the key") {
			t.Errorf("the model's server took the key:\n%s", out)
		}
	}
}
