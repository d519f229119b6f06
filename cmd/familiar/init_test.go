package main

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"familiar/internal/llm"
	"familiar/internal/test/wait"

	"familiar/internal/test/discordtest"
	"github.com/rogpeppe/go-internal/txtar"
)

// newcomer has far ends, and a directory with nothing in it.
func newcomer(t *testing.T) *conversation {
	c := newConversation(t, txtar.Parse([]byte(installation)))
	c.dir, c.root = t.TempDir(), encryptedDisk()
	c.local = []llm.Place{{Name: "Ollama", URL: c.model.URL}, {Name: "llama.cpp", URL: "http://127.0.0.1:1/v1"}}
	for _, name := range []string{"DISCORD_TOKEN", "OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL", "SIDE_MODEL", "SEARXNG_URL"} {
		delete(c.env, name)
	}
	c.env["FAMILIAR_SEARCH"] = "searxng"
	c.model.Offer("main")
	return c
}

// sitting is an interview with somebody who answers.
type sitting struct {
	*conversation
	out     *lockedBuffer
	keys    *io.PipeWriter
	signals chan os.Signal
	done    chan int
	read    int // of the output
}

func (c *conversation) interview(args ...string) *sitting {
	in, keys := io.Pipe()
	i := &sitting{conversation: c, out: &lockedBuffer{}, keys: keys, signals: make(chan os.Signal, 2), done: make(chan int, 1)}
	c.Cleanup(func() { keys.Close() })
	go func() {
		i.done <- run(program{
			args: append([]string{"init"}, args...), dir: c.dir, in: in, out: i.out, err: i.out, signals: i.signals, interactive: true, far: c.far(),
			env: c.environment(), exit: func(int) { c.Error("left at once") },
		})
	}()
	return i
}

// answers waits for a question and answers it.
func (i *sitting) answers(question, text string) {
	i.Helper()
	if !wait.Until(func() bool { return strings.Contains(i.out.String()[i.read:], question) }) {
		i.Fatalf("%q is not asked:\n%s", question, i.out)
	}
	i.read += strings.Index(i.out.String()[i.read:], question) + len(question)
	io.WriteString(i.keys, text+"\n")
}

// ends waits for the end, and holds the exit code and the output against what is wanted.
func (i *sitting) ends(code int, words ...string) {
	i.Helper()
	if got := <-i.done; got != code {
		i.Errorf("exit code %d, want %d:\n%s", got, code, i.out)
	}
	for _, w := range words {
		if !strings.Contains(i.out.String(), w) {
			i.Errorf("%q is missing:\n%s", w, i.out)
		}
	}
}

func (c *conversation) dotenv() string {
	c.Helper()
	b, err := os.ReadFile(filepath.Join(c.dir, ".env"))
	c.must(err)
	return string(b)
}

// TestInit answers wrongly first and rightly then, and changes its mind on the next day.
func TestInit(t *testing.T) {
	t.Parallel()
	c := newcomer(t)
	c.discord.RefuseContent()
	c.discord.Accept("401")
	i := c.interview()
	i.answers("Token (hidden; Enter for none):", "MTAwMDAwMDAwMDAwMDAwMDAx.GdTest.another")
	i.answers("Discord does not accept it.", "")
	i.answers("Token", discordtest.Token)
	i.answers("Enter, once it is switched on; s to go on without:", "s")
	i.answers("Its number or address, or none [1]:", "7")
	i.answers("neither a number of the list nor an address", "1")
	i.answers("Address of a SearXNG instance, or none [none]:", "http://127.0.0.1:1/nothing")
	i.answers("Enter to answer again, k to keep it:", "")
	i.answers("Address of a SearXNG instance", c.search.server.URL)
	i.answers("Make one? y/n [n]:", "y")
	i.answers("client_id=100000000000000002&permissions=274877975552", "")
	i.ends(exitOK, "1 hit after", "Written: .env, which only you can read: DISCORD_TOKEN, DISCORD_API_URL, OPENAI_BASE_URL, OPENAI_MODEL, SEARXNG_URL", "To begin: familiar run", "permissions: hall")
	want := "# Written by familiar init:\nDISCORD_TOKEN=" + discordtest.Token + "\nDISCORD_API_URL=" + c.discord.URL + "\nOPENAI_BASE_URL=" + c.model.URL + "\nOPENAI_MODEL=main\nSEARXNG_URL=" + c.search.server.URL + "\n"
	if got := c.dotenv(); got != want {
		t.Errorf(".env:\n%s", got)
	}
	if info, err := os.Stat(filepath.Join(c.dir, ".env")); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if strings.Contains(i.out.String(), discordtest.Token) {
		t.Error("the token is shown")
	}
	persona := filepath.Join(c.dir, "characters/sage/persona.md")
	c.must(os.WriteFile(persona, []byte("Sage is mine."), 0o644))

	// Settings that are right already are tried and not asked for. Another model server gets no key of the one before.
	c.must(os.WriteFile(filepath.Join(c.dir, ".env"), []byte("# mine\n"+want+"OPENAI_API_KEY='of the other server'\n"), 0o644))
	c.model.Offer("main", "other")
	i = c.interview("--model-url", c.model.URL+"/", "--no-doctor")
	i.answers("Token (hidden; Enter keeps the one that is set):", "")
	i.answers("s to go on without:", "s")
	i.answers("Its key (hidden; Enter for none):", "")
	i.answers("Model, by number or name [main]:", "othr")
	i.answers("Model, by number or name [other]:", "99")
	i.answers("The list has numbers from 1 to 2.", "2")
	i.answers("Address of a SearXNG instance, or none ["+c.search.server.URL+"]:", "")
	i.answers("+ OPENAI_API_KEY=(hidden)\n", "yes")
	i.ends(exitOK, "characters/sage is there already")
	if got := c.dotenv(); got != "# mine\n"+strings.NewReplacer("=main\n", "=other\n", "/v1\n", "/v1/\n").Replace(want)+"OPENAI_API_KEY=none\n" {
		t.Errorf(".env:\n%s", got)
	}
	if b, err := os.ReadFile(filepath.Join(c.dir, ".env.before")); err != nil || !strings.HasPrefix(string(b), "# mine\n"+want) {
		t.Errorf("the copy of .env: %q, %v", b, err)
	}
	if b, err := os.ReadFile(persona); err != nil || string(b) != "Sage is mine." {
		t.Errorf("%q, %v", b, err)
	}
}

// TestInitWithoutToken has a .env with a broken token, and goes on without one. A server that lists nothing has no numbers.
func TestInitWithoutToken(t *testing.T) {
	t.Parallel()
	c := newcomer(t)
	delete(c.env, "DISCORD_API_URL")
	c.local = nil
	c.must(os.WriteFile(filepath.Join(c.dir, ".env"), []byte("export DISCORD_TOKEN=abc # old\n"), 0o600))
	c.model.AnswerAlso(map[string]string{"/v1/models": "<html>"})
	i := c.interview("--no-doctor")
	i.answers("Token (hidden; Enter keeps the one that is set):", "")
	i.answers("three parts", "")
	i.answers("Token (hidden; Enter for none):", "")
	i.answers("Its address, or none [none]:", "none of them")
	i.answers("That is not an address", c.model.URL)
	i.answers("Its key", "")
	i.answers("Model, by name:", "99")
	i.answers("The server did not list its models", "main")
	i.answers("Address of a SearXNG instance", "none")
	i.answers("Make one?", "n")
	i.answers("- DISCORD_TOKEN=(hidden)\n", "yes")
	i.ends(exitOK, "To begin: familiar chat")
	if got, want := c.dotenv(), "export DISCORD_TOKEN=none # old\n# Written by familiar init:\nOPENAI_BASE_URL="+c.model.URL+"\nOPENAI_MODEL=main\n"; got != want {
		t.Errorf(".env:\n%s\nwant\n%s", got, want)
	}
}

// TestInitLeft leaves at each question, by Ctrl-C or at the end of the input. Nothing is there then that was not there before.
func TestInitLeft(t *testing.T) {
	t.Parallel()
	c := newcomer(t)
	steps := [][2]string{
		{"Token", discordtest.Token}, {"Its number or address", "1"}, {"Address of a SearXNG instance", "none"}, {"Make one?", "y"},
	}
	for n := range steps {
		i := c.interview()
		for _, s := range steps[:n] {
			i.answers(s[0], s[1])
		}
		if !wait.Until(func() bool { return strings.Contains(i.out.String()[i.read:], steps[n][0]) }) {
			t.Fatalf("%q is not asked:\n%s", steps[n][0], i.out)
		}
		if n%2 == 0 {
			i.signals <- os.Interrupt
		} else {
			i.keys.Close()
		}
		i.ends(exitFailed, "nothing was written")
		c.must(filepath.WalkDir(c.dir, func(path string, _ fs.DirEntry, err error) error {
			if path != c.dir {
				t.Errorf("question %d leaves %s", n+1, path)
			}
			return err
		}))
	}
}

// TestInitWithoutTerminal gives the answers as options, as files and in the environment.
func TestInitWithoutTerminal(t *testing.T) {
	t.Parallel()
	c := newcomer(t)
	code, _, complaint := c.command(nil, "init")
	if code != exitUsage || !strings.Contains(complaint, "--token-file FILE or DISCORD_TOKEN, or --no-discord") || !strings.Contains(complaint, "--model-url URL or OPENAI_BASE_URL") {
		t.Errorf("exit code %d, errors %q", code, complaint)
	}
	c.model.Key = "sk-0123456789abcdef"
	c.model.Offer("main", "other")
	c.must(os.WriteFile(filepath.Join(c.dir, "key"), []byte(c.model.Key+"\n"), 0o600))
	args := []string{"init", "--token-file", "-", "--model-url", c.model.URL, "--key-file", "key"}
	code, _, complaint = c.command(strings.NewReader(discordtest.Token+"\n"), args...)
	if code != exitUsage || !strings.Contains(complaint, "--model NAME or OPENAI_MODEL, since "+c.model.URL+" has main, other") {
		t.Errorf("exit code %d, errors %q", code, complaint)
	}
	code, _, complaint = c.command(strings.NewReader(discordtest.Token+"\n"), append(args, "--model", "nothing", "--searxng", "http://127.0.0.1:1")...)
	if code != exitFailed || !strings.Contains(complaint, "nothing was written, for an answer does not work") {
		t.Errorf("exit code %d, errors %q", code, complaint)
	}
	if _, err := os.Stat(filepath.Join(c.dir, ".env")); err == nil {
		t.Error("something was written")
	}
	good := append(args, "--model", "main", "--searxng", c.search.server.URL, "--copy")
	code, out, complaint := c.command(strings.NewReader(discordtest.Token+"\n"), good...)
	if code != exitOK || !strings.Contains(out, "permissions: hall") {
		t.Errorf("exit code %d, errors %q:\n%s", code, complaint, out)
	}
	if _, err := os.Stat(filepath.Join(c.dir, "characters/sage/persona.md")); err != nil {
		t.Error(err)
	}
	for _, secret := range []string{discordtest.Token, c.model.Key} {
		if strings.Contains(out+complaint, secret) || !strings.Contains(c.dotenv(), secret) {
			t.Errorf("%s is shown, or not written", secret)
		}
	}
	c.env["OPENAI_MODEL"] = "other"
	if code, _, complaint := c.command(nil, "init", "--no-discord"); code != exitUsage || !strings.Contains(complaint, "--yes, since there is a .env already; these lines of it would be changed: OPENAI_MODEL") {
		t.Errorf("exit code %d, errors %q", code, complaint)
	}
	if code, _, complaint := c.command(nil, "init", "--no-discord", "--yes", "--no-doctor"); code != exitOK || !strings.Contains(c.dotenv(), "OPENAI_MODEL=other\n") {
		t.Errorf("exit code %d, errors %q", code, complaint)
	}
}

// TestSet writes one setting at a time; what is around it stays.
func TestSet(t *testing.T) {
	t.Parallel()
	c := newcomer(t)
	path := filepath.Join(c.dir, ".env")
	c.must(os.WriteFile(path, []byte("export OPENAI_MODEL='a' # mine\n"), 0o640))
	if code, out, complaint := c.command(nil, "set", "OPENAI_MODEL", "b"); code != exitOK || !strings.HasPrefix(out, "Written: .env: OPENAI_MODEL.") {
		t.Errorf("exit code %d: %s%s", code, out, complaint)
	}
	if code, _, complaint := c.command(strings.NewReader("sk-0123456789abcdef\n"), "set", "OPENAI_API_KEY"); code != exitOK {
		t.Errorf("exit code %d: %s", code, complaint)
	}
	if got := c.dotenv(); got != "export OPENAI_MODEL=b # mine\n# Written by familiar init:\nOPENAI_API_KEY=sk-0123456789abcdef\n" {
		t.Errorf(".env:\n%s", got)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", info, err)
	}
	for args, want := range map[string]string{
		"OPENAI_MODLE b": "the nearest is OPENAI_MODEL", "openai_model b": "the nearest is OPENAI_MODEL", "OPENAI_API_KEY sk-1": "familiar set OPENAI_API_KEY < FILE", "FAMILIAR_CONSOLE nonsense": "FAMILIAR_CONSOLE",
	} {
		if code, _, complaint := c.command(nil, append([]string{"set"}, strings.Fields(args)...)...); code != exitUsage || !strings.Contains(complaint, want) {
			t.Errorf("%s: exit code %d: %s", args, code, complaint)
		}
	}
}
