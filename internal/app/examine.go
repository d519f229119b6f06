package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"

	"familiar/characters"
	"familiar/internal/api"
	"familiar/internal/cache"
	"familiar/internal/context/turn"
	"familiar/internal/discord"
	"familiar/internal/doctor"
	"familiar/internal/llm"
	"familiar/internal/memory"
	"familiar/internal/providers/attachment"
	"familiar/internal/providers/character"
	"familiar/internal/search/backend"
	"familiar/internal/web/clean"
)

// Examination opens what the doctor looks at, as far as that works without writing. Without web it opens only what asks Discord and the
// models. The caller must close it.
func Examination(p *Process, web bool) *doctor.Examination {
	e := &doctor.Examination{Installation: doctor.Installation{Redact: func(text string) string { return text }}}
	if c, _ := ReadConfig(p.Env, p.Dir); c != nil {
		e.Redact = c.Redactor().String
	}
	quiet := *p
	quiet.Log = ""
	a, wrong := configure(&quiet)
	if wrong == nil && web {
		a.Config.put("FAMILIAR_WEB_CACHE", "") // nothing is written, and every question is asked
	}
	if wrong == nil {
		e.Installation = a.installation(p)
	}
	if wrong == nil && web {
		wrong = errors.Join(a.openReader(context.Background(), p), a.openEngine(context.Background(), p))
		e.Backends = a.Backends
		e.Probe = func(ctx context.Context, all []backend.Status) { backend.Probe(ctx, a.Engine, all) }
		if a.Reader != nil {
			e.Resolve = a.Reader.Fetcher.Resolve
			e.Visit = func(ctx context.Context, url string, answers ...[]netip.Addr) (turn.Code, []string, error) {
				t, err := a.Reader.Fetcher.Try(ctx, url, answers...)
				return t.Reason, t.Dialed, err
			}
		}
	}
	e.Misspelt = UnknownVariables(p.Environ, DotenvDir(p.Env, p.Dir))
	if problems, ok := errors.AsType[Problems](wrong); ok {
		e.Wrong = problems
	} else if wrong != nil {
		e.Wrong = []string{wrong.Error()}
	}
	return e
}

// examine returns what examines the installation for the console.
func (a *App) examine(p *Process) func(context.Context, doctor.Progress) []doctor.Finding {
	return func(ctx context.Context, progress doctor.Progress) []doctor.Finding {
		e := Examination(p, true)
		defer e.Close()
		return e.ExamineAll(ctx, progress)
	}
}

// installation is what the doctor looks at, without the web.
func (a *App) installation(p *Process) doctor.Installation {
	c, of := a.Config, a.Character
	set := 0
	for _, v := range c.Values {
		if v.Source != "" && v.Source != "default" {
			set++
		}
	}
	others, broken, pictured := otherNames(Shelf(c, p.Dir), of.ID)
	base := c.Get("DISCORD_API_URL")
	speech, _ := a.speaker(of) // a wrong address is among the findings of the configuration
	data := Resolve(p.Dir, c.Get("FAMILIAR_DATA"))
	i := doctor.Installation{
		Setting: c.Get, Set: set, Redact: a.Redact.String,
		Character: of.Name, Others: others, Broken: broken, Mode: string(of.Mode), Prompt: of.Modes[of.Mode].Total, Reactions: of.Reactions.Follow, Pictured: pictured,
		Discord: discord.Config{Shards: c.Count("FAMILIAR_SHARDS"), Token: c.Get("DISCORD_TOKEN"), HTTP: a.client(base), BaseURL: base, Redact: a.Redact.String, PerSecond: p.Far.PerSecond, Alike: clean.Alike},
		Turn:    func(ctx context.Context, question string) (*turn.Trace, error) { return answerOnce(ctx, p, question) },
		Models:  func(ctx context.Context) (doctor.Models, error) { return a.examinedModels(ctx, p) },
		Embeddings: func() (*doctor.Service, error) {
			err := a.openEmbeddings(context.Background(), p)
			return examinedEmbedder(a.embeddings), err
		},
		Transcription: examinedListener(a.listener()), Speech: examinedSpeaker(speech),
		Data: data, Disk: cache.Nearest(data), Writable: func() error { return cache.CheckWritable(data) }, Place: c.Place(p.Dir), Root: p.Far.Root, Free: p.Far.Free,
		Close: a.Close,
	}
	if i.Root == nil {
		i.Root = os.DirFS("/")
	}
	if i.Free == nil {
		i.Free = cache.FreeSpace
	}
	return i
}

// examinedModels chooses the models of the character. Their servers' addresses hold no secret.
func (a *App) examinedModels(ctx context.Context, p *Process) (doctor.Models, error) {
	server, err := a.chooseServer(ctx, p)
	if err != nil {
		return doctor.Models{}, err
	}
	if !server.local() {
		server.where = displayAddress(server.where)
	}
	a.server = server
	m := a.modelsOf(a.Character)
	if m.main == nil {
		return doctor.Models{}, nil
	}
	found := doctor.Models{Main: m.main, Side: m.side, MainNames: a.namesOf(a.Character, m.main), SideNames: a.namesOf(a.Character, m.side), Where: m.where, SideWhere: m.where, How: m.chosen()}
	if m.side.BaseURL != m.main.BaseURL {
		found.SideWhere = displayAddress(m.side.BaseURL)
	}
	return found, nil
}

// Setup returns what sets an installation up. What is wrong with the configuration may be what is asked for.
func Setup(p *Process, in io.Reader, o doctor.Options, progress doctor.Progress) (*doctor.Setup, error) {
	c, err := ReadConfig(p.Env, p.Dir)
	if c == nil {
		return nil, err
	}
	home := DotenvDir(p.Env, p.Dir)
	redactor, agent := c.Redactor(), Agent(p.Version, "")
	before := doctor.Before{
		Get: c.Get, Dotenv: filepath.Join(home, ".env"), Characters: Resolve(p.Dir, c.Get("FAMILIAR_CHARACTERS")), BuiltIn: characters.FS,
		InDotenv: func(name string) bool { return c.Value(name).Source == dotenvName(home, p.Dir) },
		Secret:   func(name string) bool { return c.Value(name).Secret },
		Check: func(name, value string) error {
			if check := c.Value(name).check; check != nil {
				return check(value)
			}
			return nil
		},
	}
	for _, s := range Settings() {
		before.Names = append(before.Names, s.Name)
	}
	a := &App{Config: c, agent: agent, Redact: redactor}
	return &doctor.Setup{
		Options: o, Before: before, In: in, Out: p.Out, Interactive: p.Interactive, Dir: p.Dir, Env: p.Env, Local: p.places(), Progress: progress,
		Client: func(address, key string) *llm.Client {
			return &llm.Client{HTTP: a.client(address), BaseURL: address, Key: key, Redact: redactor.String}
		},
		Examine: func(env func(string) (string, bool), part doctor.Part) *doctor.Examination {
			changed := *p
			if changed.Env = env; part != doctor.Whole {
				changed.Err = io.Discard // the examination at the end reports what is wrong with the configuration
			}
			return Examination(&changed, part != doctor.WithoutWeb)
		},
	}, nil
}

// examinedEmbedder is the embedding service as the doctor sees it; nil: none is configured.
func examinedEmbedder(s *memory.Embedder) *doctor.Service {
	if s == nil {
		return nil
	}
	return &doctor.Service{Model: s.Model, Host: s.Host(), Try: func(ctx context.Context) (turn.Code, string) {
		vectors, err := s.Batch(ctx, []string{"yes"})
		if failed, ok := errors.AsType[*api.Failure](err); ok {
			return failed.Code, failed.Detail
		} else if len(vectors[0]) == 0 {
			return turn.CodeMalformed, "the vector says nothing"
		}
		return turn.CodeOK, ""
	}}
}

// examinedListener is the transcription service as the doctor sees it; nil: none is configured.
func examinedListener(s *attachment.Transcriber) *doctor.Service {
	if s == nil {
		return nil
	}
	return &doctor.Service{Model: s.Model, Host: s.Host(), Try: func(ctx context.Context) (turn.Code, string) {
		failed, ok := errors.AsType[*attachment.TranscribeError](s.Try(ctx))
		switch {
		case !ok:
			return turn.CodeOK, ""
		case failed.Status != 0:
			return failed.Code, fmt.Sprintf("HTTP %d", failed.Status)
		}
		return failed.Code, ""
	}}
}

func examinedSpeaker(s *attachment.Speaker) *doctor.Service {
	if s == nil {
		return nil
	}
	return &doctor.Service{Model: s.Model, Host: s.Host(), Try: func(ctx context.Context) (turn.Code, string) {
		_, _, err := s.Say(ctx, "Yes.")
		if failed, ok := errors.AsType[*api.Failure](err); ok {
			return failed.Code, failed.Detail
		}
		return turn.CodeOK, ""
	}}
}

// otherNames returns the names of the characters but one, and what is wrong with those that cannot be loaded.
func otherNames(files fs.FS, id string) (names, broken []string, pictured bool) {
	ids, _ := character.List(files)
	for _, other := range ids {
		loaded, err := character.Load(files, other)
		if err != nil {
			broken = append(broken, err.Error())
			continue
		}
		pictured = pictured || loaded.Expressions.Any()
		if other != id {
			names = append(names, loaded.Name)
		}
	}
	return names, broken, pictured
}

// answerOnce answers a question for the doctor. Its store is a new one that is deleted with all that the turn wrote.
func answerOnce(ctx context.Context, p *Process, question string) (t *turn.Trace, err error) {
	dir, err := os.MkdirTemp("", "familiar-doctor-")
	if err != nil {
		return nil, fmt.Errorf("make a directory for a turn: %w", err)
	}
	defer os.RemoveAll(dir)
	quiet := *p
	quiet.Log, quiet.Err = "", io.Discard
	a, err := configure(&quiet)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	a.Config.put("FAMILIAR_WEB_CACHE", "")
	a.Config.put("FAMILIAR_DATA", dir)
	for _, open := range []func(context.Context, *Process) error{a.openModels, a.openStore, a.openReader, a.openEngine, a.openActor} {
		if err := open(ctx, &quiet); err != nil {
			return nil, err
		}
	}
	_, t, err = a.Answer(ctx, "doctor", question)
	return t, err
}
