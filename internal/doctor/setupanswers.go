package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/term"

	"familiar/internal/llm"
	"familiar/internal/search/backend"
	"familiar/internal/text"
)

// none is the answer for going without.
const none = "none"

// askToken asks for the token until Discord accepts it.
func (i *interview) askToken(ctx context.Context) error {
	i.heading(1, "Discord")
	if i.Options.NoDiscord {
		return nil
	}
	token, err := i.secret(ctx, i.Options.TokenFile, "DISCORD_TOKEN")
	if err != nil {
		return err
	}
	if token == "" && !i.Interactive {
		i.lack("--token-file FILE or DISCORD_TOKEN, or --no-discord")
		return nil
	}
	if token != "" && i.Interactive && i.Options.TokenFile == "" {
		other, err := i.ask(ctx, "Token (hidden; Enter keeps the one that is set)", "", true)
		if err != nil {
			return err
		}
		token = cmp.Or(other, token)
	}
	if at, ok := i.Env("DISCORD_API_URL"); ok && at != "" {
		i.answers["DISCORD_API_URL"] = at // the token is for that server
	}
	for {
		if token == "" {
			i.say("     The bot's token is at\n     %s\n", TokenHelp)
			if token, err = i.ask(ctx, "Token (hidden; Enter for none)", "", true); err != nil {
				return err
			}
			if token == "" {
				if i.Get("DISCORD_TOKEN") != "" {
					i.answers["DISCORD_TOKEN"] = none // in place of the one that is set
				}
				return nil
			}
		}
		i.answers["DISCORD_TOKEN"] = strings.TrimSpace(strings.TrimPrefix(token, "Bot "))
		found, err := i.lookAtDiscord(ctx)
		if err != nil {
			return err
		}
		if good, err := i.settle(ctx, works(found), "DISCORD_TOKEN"); good || err != nil {
			return err
		}
		token = ""
	}
}

// lookAtDiscord tries the token, and waits for the operator to switch the intent on.
func (i *interview) lookAtDiscord(ctx context.Context) ([]Finding, error) {
	for {
		found, err := i.look(ctx, "discord", "token", "intents", "commands")
		off := slices.ContainsFunc(found, func(f Finding) bool { return f.ID == "intents" && f.State != OK })
		if err != nil || !off || !i.Interactive {
			return found, err
		}
		text, err := i.ask(ctx, "Enter, once it is switched on; s to go on without", "", false)
		if err != nil || text != "" {
			return found, err
		}
	}
}

// settle decides about an answer that was tried. If it does not work, the operator may give another one. It reports whether to go on.
func (i *interview) settle(ctx context.Context, good bool, name string) (bool, error) {
	if good {
		return true, nil
	}
	if !i.Interactive {
		i.fails = true
		return true, nil
	}
	text, err := i.ask(ctx, "Enter to answer again, k to keep it", "", false)
	if strings.HasPrefix(strings.ToLower(text), "k") {
		return true, err
	}
	delete(i.answers, name)
	return false, err
}

// secret returns the contents of a file, or the value that a setting has.
func (i *interview) secret(ctx context.Context, file, name string) (string, error) {
	switch file {
	case "":
		return i.Get(name), nil
	case "-":
		text, err := i.keys.line(ctx, false)
		if err != nil && err != io.EOF {
			return "", fmt.Errorf("read %s from the input: %w", name, err)
		}
		return text, nil
	}
	b, err := os.ReadFile(i.inDir(file))
	if err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	return strings.TrimSpace(string(b)), nil
}

// localModels is a server of models on this machine.
type localModels struct {
	name, url string
	models    []string
}

// localServers looks for model servers on this machine.
func (i *interview) localServers(ctx context.Context) []localModels {
	found := make([]localModels, len(i.Local))
	var looking sync.WaitGroup
	for n, place := range i.Local {
		looking.Go(func() {
			list, _ := i.list(ctx, place.URL, "")
			found[n] = localModels{place.Name, place.URL, list}
		})
	}
	looking.Wait()
	return slices.DeleteFunc(found, func(l localModels) bool { return len(l.models) == 0 })
}

// list asks a server for its models.
func (i *interview) list(ctx context.Context, address, key string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, llm.ListTime)
	defer cancel()
	return i.Client(address, key).Models(ctx)
}

func (i *interview) askModel(ctx context.Context) error {
	i.heading(2, "The model")
	key, err := i.secret(ctx, i.Options.KeyFile, "OPENAI_API_KEY")
	if err != nil {
		return err
	}
	before := i.Get("OPENAI_BASE_URL")
	address := cmp.Or(i.Options.ModelURL, before)
	if address != before && i.Options.KeyFile == "" && i.InDotenv("OPENAI_API_KEY") {
		key = "" // it belongs to another server
	}
	if address == "" && key != "" {
		address = llm.OpenAI
	}
	if address == "" && !i.Interactive {
		i.lack("--model-url URL or OPENAI_BASE_URL; --model-url none for no model")
		return nil
	}
	ask := i.Interactive && i.Options.ModelURL == ""
	for {
		chosen, known := address, []string(nil)
		if ask {
			if chosen, known, err = i.askServer(ctx, address); err != nil {
				return err
			}
			if chosen != address {
				key = ""
			}
		}
		ask = true
		if chosen == none {
			i.answers["OPENAI_BASE_URL"], i.answers["OPENAI_API_KEY"] = "", ""
			return nil
		}
		if again, err := i.tryModel(ctx, chosen, key, known); !again || err != nil {
			return err
		}
		address, key = "", ""
	}
}

// askServer asks for the model server, and lists those on this machine. set is the one that is set.
func (i *interview) askServer(ctx context.Context, set string) (address string, models []string, err error) {
	found := i.localServers(ctx)
	preset, question, wrong := cmp.Or(set, none), "Its address, or none", "That is not an address such as "
	if len(found) > 0 {
		i.say("     Running on this machine:\n")
		preset, question, wrong = cmp.Or(set, "1"), "Its number or address, or none", "That is neither a number of the list nor an address such as "
	}
	for n, l := range found {
		i.say("       %d  %s, %s: %s\n", n+1, l.name, l.url, few(l.models))
	}
	i.say("     Any server that speaks OpenAI's chat completions will do, such as\n     %s. Without a model, answers are quotations alone.\n", llm.OpenAI)
	for {
		text, err := i.ask(ctx, question, preset, false)
		if err != nil || text == none {
			return none, nil, err
		}
		if n, bad := strconv.Atoi(text); bad == nil && n >= 1 && n <= len(found) {
			return found[n-1].url, found[n-1].models, nil
		}
		text = withScheme(text)
		if i.Check("OPENAI_BASE_URL", text) != nil {
			i.say("     %s%s\n", wrong, llm.OpenAI)
			continue
		}
		return strings.TrimRight(text, "/"), nil, nil
	}
}

// withScheme completes an address that was typed without its scheme. Another machine gets https, and a bare host gets the version that most
// servers have.
func withScheme(address string) string {
	if strings.Contains(address, "://") || !strings.ContainsAny(address, ".:") && address != "localhost" {
		return address
	}
	host, path, _ := strings.Cut(address, "/")
	name, _, _ := strings.Cut(host, ":")
	scheme := "https://"
	if name == "localhost" || net.ParseIP(name) != nil {
		scheme = "http://"
	}
	return scheme + host + "/" + cmp.Or(path, "v1")
}

// few joins some of many names.
func few(names []string) string {
	const most = 5
	text := strings.Join(names[:min(len(names), most)], ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// tryModel asks for the key and the model of a server, and tries it. again says that the operator wants another server.
func (i *interview) tryModel(ctx context.Context, address, key string, models []string) (again bool, err error) {
	if models == nil && i.Interactive && i.Options.KeyFile == "" {
		without := "Enter for none"
		if key != "" {
			without = "Enter keeps the one that is set"
		}
		other, err := i.ask(ctx, "Its key (hidden; "+without+")", "", true)
		if err != nil {
			return false, err
		}
		key = cmp.Or(other, key)
	}
	if models == nil {
		models, _ = i.list(ctx, address, key) // the doctor says what is wrong
	}
	name, err := i.chooseModel(ctx, address, models)
	if err != nil || name == "" {
		return false, err
	}
	if key == "" && i.Get("OPENAI_API_KEY") != "" {
		key = none // replaces one that belongs to another server
	}
	i.answers["OPENAI_BASE_URL"], i.answers["OPENAI_API_KEY"], i.answers["OPENAI_MODEL"] = address, key, name
	found, err := i.look(ctx, "model", "model", "model context")
	if err != nil {
		return false, err
	}
	good, err := i.settle(ctx, works(found), "OPENAI_MODEL")
	if !good {
		delete(i.answers, "OPENAI_BASE_URL")
		delete(i.answers, "OPENAI_API_KEY")
	}
	return !good, err
}

// chooseModel returns the model that was named or the only one, or asks for one.
func (i *interview) chooseModel(ctx context.Context, address string, models []string) (string, error) {
	preset := i.Get("OPENAI_MODEL")
	switch {
	case i.Options.Model != "":
		return i.Options.Model, nil
	case len(models) == 1:
		return models[0], nil
	case address == llm.OpenAI:
		preset = cmp.Or(preset, llm.OpenAIModel)
	}
	if !i.Interactive {
		if preset == "" {
			why := address + " did not list its models: check whether the address is right and the server is running"
			if len(models) > 0 {
				why = address + " has " + few(models)
			}
			i.lack("--model NAME or OPENAI_MODEL, since " + why)
		}
		return preset, nil
	}
	for n, m := range models[:min(len(models), mostModels)] {
		i.say("       %2d  %s\n", n+1, m)
	}
	question := "Model, by name"
	if len(models) > 0 {
		preset, question = cmp.Or(preset, models[0]), "Model, by number or name"
	}
	for {
		name, err := i.ask(ctx, question, preset, false)
		if err != nil {
			return "", err
		}
		if n, bad := strconv.Atoi(name); bad == nil && !slices.Contains(models, name) {
			switch {
			case n >= 1 && n <= len(models):
				return models[n-1], nil
			case len(models) == 0:
				i.say("     The server did not list its models, so a number means none of them.\n")
			default:
				i.say("     The list has numbers from 1 to %d.\n", len(models))
			}
			continue
		}
		if near := text.Nearest(name, models); len(models) > 0 && !slices.Contains(models, name) && near != "" {
			preset = near
			i.say("     The server has no %s.\n", name)
			continue
		}
		if name != "" {
			return name, nil
		}
	}
}

// mostModels is how many of a server's models are listed. Hosted ones have hundreds.
const mostModels = 20

func (i *interview) askSearch(ctx context.Context) error {
	i.heading(3, "Search")
	address := i.Get("SEARXNG_URL")
	if i.Options.SearXNG != nil {
		address = *i.Options.SearXNG
	}
	if address == none || address == "" && !i.Interactive {
		return nil
	}
	ask := i.Interactive && i.Options.SearXNG == nil
	for {
		if ask {
			i.say("     On without a key: %s.\n     A SearXNG instance finds more. Keys for others go into .env; familiar backends names them.\n", freeSearches())
			text, err := i.ask(ctx, "Address of a SearXNG instance, or none", cmp.Or(address, none), false)
			if err != nil || text == none {
				i.answers["SEARXNG_URL"] = ""
				return err
			}
			address = text
		}
		ask = true
		i.answers["SEARXNG_URL"] = address
		found, err := i.look(ctx, "search", "search")
		if err != nil {
			return err
		}
		if good, err := i.settle(ctx, works(found), "SEARXNG_URL"); good || err != nil {
			return err
		}
		address = ""
	}
}

// freeSearches names some of the search services that need no key.
func freeSearches() string {
	var names []string
	for _, b := range backend.Table() {
		if b.Name != "searxng" && !slices.ContainsFunc(b.Keys, func(k backend.Key) bool { return !k.Optional }) {
			names = append(names, b.Name)
		}
	}
	return strings.Join(names, ", ")
}

// keyboard reads answers, one line each. It never reads past the line: another reader may follow.
type keyboard struct {
	in  io.Reader
	tty *os.File // nil: the input is not a terminal
}

func newKeyboard(in io.Reader) *keyboard {
	k := &keyboard{in: in}
	if f, ok := in.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		k.tty = f
	}
	return k
}

// line returns the next line, or the cause of ctx's end. hidden does not show it while it is typed. A read cannot be interrupted: its goroutine
// ends with the input. The terminal's state is restored.
func (k *keyboard) line(ctx context.Context, hidden bool) (string, error) {
	hidden = hidden && k.tty != nil
	var before *term.State
	if hidden {
		before, _ = term.GetState(int(k.tty.Fd()))
	}
	type typed struct {
		text string
		err  error
	}
	got := make(chan typed, 1)
	go func() {
		text, err := k.read(hidden)
		got <- typed{text, err}
	}()
	select {
	case t := <-got:
		return strings.TrimSpace(t.text), t.err
	case <-ctx.Done():
		if before != nil {
			_ = term.Restore(int(k.tty.Fd()), before)
		}
		return "", context.Cause(ctx)
	}
}

func (k *keyboard) read(hidden bool) (string, error) {
	if hidden {
		b, err := term.ReadPassword(int(k.tty.Fd()))
		return string(b), err
	}
	var line []byte
	for one := make([]byte, 1); ; {
		n, err := k.in.Read(one)
		switch {
		case n == 1 && one[0] == '\n':
			return string(line), nil
		case n == 1:
			line = append(line, one[0])
		case errors.Is(err, io.EOF) && len(line) > 0:
			return string(line), nil
		case err != nil:
			return "", err
		}
	}
}
