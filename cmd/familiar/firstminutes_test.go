package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strings"
	"testing"
	"time"

	"familiar/internal/app"
	"familiar/internal/llm"

	"familiar/internal/test/discordtest"
	"github.com/rogpeppe/go-internal/txtar"
)

// atHome is the program on a machine with an Ollama, whose address is in the environment. Its name server knows every name.
func atHome() {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt)
	dir, _ := os.Getwd()
	os.Exit(run(program{
		args: os.Args[1:], env: os.LookupEnv, environ: environ(), dir: dir, signals: signals, in: os.Stdin, out: os.Stdout, err: os.Stderr,
		interactive: isTerminal(os.Stdin) && isTerminal(os.Stdout), exit: os.Exit,
		far: app.Far{
			Local: []llm.Place{{Name: "Ollama", URL: os.Getenv("OLLAMA_AT_HOME")}}, Resolver: oneHost{}, Dial: webAtHome, Root: encryptedDisk(),
			Free: func(string) (int64, error) { return 50 << 30, nil },
		},
	}))
}

// oneHost is a DNS in which every name leads to one address.
type oneHost struct{}

func (oneHost) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("93.184.215.14")}, nil
}

// webAtHome dials the one web server that there is.
func webAtHome(ctx context.Context, network, _ string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, network, os.Getenv("WEB_AT_HOME"))
}

// firstMinutes is the world in which somebody begins.
const firstMinutes = `
-- model --
when "Count from one"
gap 1ms
say one two three four five six seven eight nine ten
when "Which colour"
say Red.
when "JSON object and nothing else"
say {"ready": true}
when "this picture"
say Red.
when "high is Mount Example"
say Mount Example is 4,321 metres high. [1]
when "When was Ada"
say Ada Lovelace was born on 10 December 1815 [1].
` + mountain

// person is somebody at the window, whose keys and prompts are counted.
type person struct {
	*window
	prompts, keys, pastes int
}

// answers waits for a prompt and types an answer, or pastes it, and Enter.
func (p *person) answers(prompt, typed, pasted string) {
	p.Helper()
	p.shows(prompt)
	p.prompts++
	if pasted != "" {
		p.pastes++
		p.paste(pasted)
	}
	if typed != "" {
		p.keys += len(typed)
		p.window.keys(typed)
	}
	p.keys++
	p.window.keys("Enter")
}

// Times of a person. A key takes what an average typist needs in the keystroke-level model (Card, Moran, Newell 1980). Reading a prompt and
// copying something get generous shares.
const (
	keyTime    = 280 * time.Millisecond
	promptTime = 10 * time.Second
	pasteTime  = 10 * time.Second
)

func (p *person) time() time.Duration {
	return time.Duration(p.prompts)*promptTime + time.Duration(p.keys)*keyTime + time.Duration(p.pastes)*pasteTime
}

const firstMinutesPath = "../../doc/first-minutes.md"

// TestFirstMinutes goes from an empty directory to an answer with its source in a server. It acts as a person at a terminal. It compares
// the transcript in doc/first-minutes.md.
func TestFirstMinutes(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux, which is the terminal, is not installed")
	}
	t.Parallel()
	c := newConversation(t, txtar.Parse([]byte(firstMinutes)))
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/ada" {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			io.WriteString(w, adaPage)
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(web.Close)
	c.env["WEB_AT_HOME"] = web.Listener.Addr().String()
	c.search.read(t, []byte("when lovelace\nAda Lovelace | http://history.example.org/ada | A mathematician.\n")) // whom the doctor asks about
	c.dir = t.TempDir()
	c.model.Offer("qwen3:8b")
	c.model.AnswerAlso(map[string]string{"/api/show": `{"model_info":{"qwen3.context_length":40960}}`, "/api/ps": `{"models":[{"name":"qwen3:8b","context_length":16384}]}`})
	for _, name := range []string{"OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL", "SIDE_MODEL", "SEARXNG_URL", "DISCORD_TOKEN"} {
		delete(c.env, name)
	}
	c.env["OLLAMA_AT_HOME"], c.env["FAMILIAR_LOG"], c.env["FAMILIAR_SEARCH"] = c.model.URL, "warn", "searxng"

	p := &person{window: openWindowOf(c, "familiar-at-home", "init", "100", "90")}
	p.answers("Token (hidden; Enter for none):", "", discordtest.Token)
	p.answers("Its number or address, or none [1]:", "", "")
	p.answers("Address of a SearXNG instance, or none [none]:", "", c.search.server.URL)
	p.answers("Make one? y/n [n]:", "", "")
	p.answers("Enter, once it is there:", "", "")
	p.shows("To begin: familiar run\nleft with 0")
	screen := p.tmux("capture-pane", "-p", "-J", "-S", "-")
	if strings.Contains(screen, discordtest.Token) {
		t.Error("the token is on the screen")
	}
	set, _, _ := strings.Cut(screen, "\nleft with 0")
	set = strings.Replace(set, ", DISCORD_API_URL", "", 1) // which only the test has

	c.deeds()["start"]("")
	const question = "how high is Mount Example?"
	c.deeds()["say"]("general ana @familiar " + question)
	c.hear("general")
	c.looks()["has"]("4,321 metres high. [[1]](<https://fast.example.org/mount>)")
	c.looks()["has"]("[1] fast.example.org")
	c.stop()
	p.keys += len("familiar init\nfamiliar run\n") + len("@familiar "+question+"\n")
	if p.time() > 3*time.Minute {
		t.Errorf("it takes a person %v", p.time())
	}
	counted := fmt.Sprintf("%d prompts, %d keys and %d pastes: about %d seconds of a person's time", p.prompts, p.keys, p.pastes, int(p.time().Seconds()))

	doc, err := os.ReadFile(firstMinutesPath)
	c.must(err)
	want := transcript(t, string(doc), "init", "$ familiar init\n"+c.athome(set))
	greeting, _, _ := strings.Cut(c.program.out.String(), "\n  off  ")
	want = transcript(t, want, "run", "$ familiar run\n"+c.athome(greeting))
	want = transcript(t, want, "discord", "ana> @familiar "+question+"\nfamiliar> "+c.athome(c.output))
	want = transcript(t, want, "count", counted)
	if comparable(want) == comparable(string(doc)) {
		return
	}
	if !*update {
		t.Fatalf("%s shows another transcript than the program gives; go test ./cmd/familiar -run FirstMinutes -update writes it:\n%s", firstMinutesPath, comparable(want))
	}
	c.must(os.WriteFile(firstMinutesPath, []byte(want), 0o644))
}

// athome writes a screen with the addresses that there would be at home.
func (c *conversation) athome(screen string) string {
	screen = strings.NewReplacer(c.model.URL, "http://127.0.0.1:11434/v1", c.search.server.URL, "http://127.0.0.1:8888", c.dir, "/home/ana/familiar").Replace(screen)
	var lines []string
	for line := range strings.Lines(screen) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// comparable is a page without what differs from one run to the next. The breaks in the lines of findings are left out, too.
func comparable(page string) string {
	page = regexp.MustCompile(`\n {15,}([^ →│┌✓✗·])`).ReplaceAllString(page, " $1")
	return steady(regexp.MustCompile(`\d[\d,.]* (ms|[kMGT]?B)\b|schema \d+|Discord within \d+s|\d\d:\d\d UTC`).ReplaceAllString(page, "…"))
}

// TestInitAtATerminalLeft presses Ctrl-C where what is typed is hidden. The terminal then shows again what is typed.
func TestInitAtATerminalLeft(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux, which is the terminal, is not installed")
	}
	t.Parallel()
	c := newConversation(t, txtar.Parse(nil))
	c.dir = t.TempDir()
	w := openWindowOf(c, "familiar-at-home", "init; stty -a", "100", "40")
	w.shows("Token (hidden; Enter for none):")
	w.keys("half-a-token")
	w.keys("C-c")
	w.shows("familiar: init was stopped, and nothing was written", " echo ", "left with 0")
	if screen := w.tmux("capture-pane", "-p"); strings.Contains(screen, "half-a") {
		t.Errorf("it is shown:\n%s", screen)
	}
	if left, err := os.ReadDir(c.dir); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}

// TestAlone starts the program without a command at a terminal. Without a model it offers to set one up, and then it talks.
func TestAlone(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux, which is the terminal, is not installed")
	}
	t.Parallel()
	c := newConversation(t, txtar.Parse([]byte("-- model --\nsay Hello.\n")))
	c.dir = t.TempDir()
	for _, name := range []string{"OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL", "SIDE_MODEL"} {
		delete(c.env, name)
	}
	c.env["OLLAMA_AT_HOME"] = "http://127.0.0.1:1/v1"
	w := openWindowOf(c, "familiar-at-home", "", "100", "40")
	w.shows("No model is set, and none runs on this machine.", "Set one up now? y/n [n]:")
	w.keys("Enter")
	w.shows("you>")
	w.keys("/quit", "Enter")
	w.shows("left with 0")

	c.model.Offer("qwen3:8b")
	c.env["OLLAMA_AT_HOME"] = c.model.URL
	w = openWindowOf(c, "familiar-at-home", "", "100", "40")
	w.shows("qwen3:8b at Ollama on this machine", "you>")
}
