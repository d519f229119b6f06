package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"familiar/internal/test/discordtest"
	"familiar/internal/test/llmtest"
)

// situation is one thing that is wrong with an installation that is otherwise well, and what the doctor must find.
type situation struct {
	spoil func(c *conversation)
	check string // the check that is asked for
	id    string // the finding
	state string
	words []string // of its text and its cure
}

// situations are what operators have met.
var situations = map[string]situation{
	"the token is refused":         {set("DISCORD_TOKEN", "MTAwMDAwMDAwMDAwMDAwMDAx.Gabcde.notthisone0123456789012345678901234"), "discord", "token", "failure", []string{"Reset Token"}},
	"the token is half copied":     {set("DISCORD_TOKEN", "MTAw.half"), "discord", "token", "failure", []string{"Reset Token"}},
	"Discord is out of reach":      {set("DISCORD_API_URL", "http://127.0.0.1:1/"), "discord", "token", "failure", []string{"127.0.0.1:1"}},
	"Message Content is off":       {func(c *conversation) { c.discord.RefuseContent() }, "discord", "intents", "warning", []string{"Message Content"}},
	"the bot may not write":        {func(c *conversation) { c.discord.Overwrite("general", "@everyone", 0, discordtest.Member) }, "discord", "permissions", "failure", []string{"in 1 it can read but not answer", "scope=bot"}},
	"commands go elsewhere":        {func(c *conversation) { c.discord.SendInteractionsTo("https://elsewhere.example.org/x") }, "discord", "commands", "failure", []string{"elsewhere.example.org"}},
	"the clock is two hours late":  {func(c *conversation) { c.discord.SkewClock(2 * time.Hour) }, "clock", "clock", "warning", []string{"2h0m0s behind"}},
	"the model's host is nobody":   {set("OPENAI_BASE_URL", "http://127.0.0.1:1/v1"), "model", "model", "failure", []string{"127.0.0.1:1", "start"}},
	"the key is wrong":             {func(c *conversation) { c.model.Require("sk-another") }, "model", "model", "failure", []string{"key"}},
	"the model's name is misspelt": {misspelt, "model", "model", "failure", []string{"main-lage", "main-large"}},
	"the model is silent":          {says(llmtest.Reply{llmtest.Say("")}), "model", "model", "failure", []string{"empty"}},
	"the model does not stream":    {says(llmtest.Reply{llmtest.Say("one two three four five six seven eight nine ten")}), "model", "model", "warning", []string{"1 piece"}},
	"the model sees another colour": {func(c *conversation) {
		c.model.Play(nil)
		c.model.Reply = func(r llmtest.Request) llmtest.Reply {
			if strings.Contains(r.Prompt(), "colour") {
				return llmtest.Reply{llmtest.Say("Green.")}
			}
			return llmtest.Reply{llmtest.Say("one two "), llmtest.Wait(time.Millisecond), llmtest.Say("three four five six seven eight nine ten")}
		}
	}, "model", "model pictures", "warning", []string{"colour"}},
	"the window is small": {func(c *conversation) {
		c.model.AnswerAlso(map[string]string{"/props": `{"default_generation_settings":{"n_ctx":4096}}`})
	}, "model", "model context", "warning", []string{"4,096", "-c "}},
	"the address lacks http":          {set("OPENAI_BASE_URL", "localhost:11434"), "model", "configuration", "failure", []string{"OPENAI_BASE_URL", "http://"}},
	"the side model writes prose":     {says(llmtest.Reply{llmtest.Say("As you "), llmtest.Wait(time.Millisecond), llmtest.Say("wish: ready.")}), "side", "side model JSON", "warning", []string{"SIDE_MODEL"}},
	"no search service answers":       {answers("when .\nothers 502\nstatus 502\n"), "search", "search", "failure", []string{"so lookups cannot work"}},
	"the metasearch refuses JSON":     {answers("when .\nstatus 403\n"), "search", "search", "warning", []string{"searxng", "json"}},
	"a search setting is misspelt":    {set("FAMILIAR_SEARCH", "searxgn"), "search", "configuration", "failure", []string{"searxgn", "searxng"}},
	"a setting does not exist":        {misnamed, "configuration", "configuration", "warning", []string{"FAMILIAR_SERACH", "FAMILIAR_SEARCH"}},
	"a duration is no duration":       {set("FAMILIAR_FIRST_WORD", "soon"), "configuration", "configuration", "failure", []string{"FAMILIAR_FIRST_WORD", "soon"}},
	"a character's file is broken":    {broken, "configuration", "configuration", "warning", []string{"moss", "character.toml"}},
	"the character does not exist":    {set("FAMILIAR_CHARACTER", "saeg"), "configuration", "configuration", "failure", []string{"saeg", "sage"}},
	"names resolve to inside":         {nil, "dns", "dns", "warning", []string{"example.com", "not a public address"}},
	"the database is cut":             {cut, "database", "database", "failure", []string{"put back a copy"}},
	"the data folder is a file":       {occupied, "database", "database", "failure", []string{"FAMILIAR_DATA"}},
	"the console is open to all":      {set("FAMILIAR_CONSOLE", "0.0.0.0:0"), "console", "configuration", "failure", []string{"FAMILIAR_CONSOLE_TOKEN"}},
	"the embedding service is nobody": {set("EMBED_BASE_URL", "http://127.0.0.1:1/v1"), "embeddings", "embeddings", "failure", []string{"recalled only by their words"}},
}

func set(name, value string) func(c *conversation) {
	return func(c *conversation) { c.env[name] = value }
}

func says(reply llmtest.Reply) func(c *conversation) {
	return func(c *conversation) {
		c.model.Play(nil)
		c.model.Reply = func(llmtest.Request) llmtest.Reply { return reply }
	}
}

func answers(rules string) func(c *conversation) {
	return func(c *conversation) {
		c.search.rules = nil
		c.search.read(c.T, []byte(rules))
	}
}

func occupied(c *conversation) {
	c.env["FAMILIAR_DATA"] = "taken"
	c.must(os.WriteFile(filepath.Join(c.dir, "taken"), []byte("a letter\n"), 0o600))
}

func misspelt(c *conversation) {
	c.env["OPENAI_MODEL"] = "main-lage"
	c.model.Offer("main-large", "other")
	says(llmtest.Reply{llmtest.Error(http.StatusNotFound, llmtest.OpenAIError("The model does not exist", "invalid_request_error", "model_not_found"))})(c)
}

func misnamed(c *conversation) {
	c.must(os.WriteFile(filepath.Join(c.dir, ".env"), []byte("FAMILIAR_SERACH=searxng\n"), 0o600))
}

func broken(c *conversation) {
	dir := filepath.Join(c.dir, "characters", "moss")
	c.must(os.MkdirAll(dir, 0o755))
	c.must(os.WriteFile(filepath.Join(dir, "persona.md"), []byte("You are Moss.\n"), 0o644))
	c.must(os.WriteFile(filepath.Join(dir, "character.toml"), []byte("name = \"Moss\nmode = 3\n"), 0o644))
}

func cut(c *conversation) {
	file := filepath.Join(c.data(), "familiar.db")
	whole, err := os.ReadFile(file)
	c.must(err)
	c.must(os.WriteFile(file, whole[:len(whole)/2/4096*4096], 0o600))
}

// TestDoctorSituations spoils a healthy installation in one way at a time.
func TestDoctorSituations(t *testing.T) {
	t.Parallel()
	for name, s := range situations {
		t.Run(name, func(t *testing.T) {
			text := installation
			if s.spoil == nil {
				text = strings.Replace(text, "93.184.215.14", "192.168.0.7", 1)
			}
			c := newConversation(t, txtar.Parse([]byte(text)))
			c.root = encryptedDisk()
			c.discord.Accept("applications/@me: 401") // of the situations with a token that is wrong
			if s.spoil != nil {
				s.spoil(c)
			}
			code, out, complaint := c.command(nil, "doctor", "--json", s.check)
			var report struct {
				Findings []struct{ ID, Subject, State, Text, Cure string }
			}
			if err := json.Unmarshal([]byte(out), &report); err != nil {
				t.Fatalf("%v: %s%s", err, out, complaint)
			}
			for _, f := range report.Findings {
				said := f.Subject + " " + f.Text + " → " + f.Cure
				lacks := ""
				for _, w := range s.words {
					if !strings.Contains(strings.ToLower(said), strings.ToLower(w)) {
						lacks = w
					}
				}
				if f.ID == s.id && f.State == s.state && lacks == "" && f.Cure != "" {
					if s.state == "failure" && code != exitFailed {
						t.Errorf("exit code %d", code)
					}
					return
				}
			}
			t.Errorf("exit code %d, %s%s", code, out, complaint)
		})
	}
}
