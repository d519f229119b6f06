package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"familiar/characters"
	"familiar/internal/providers/character"
	"familiar/internal/reply"
	"familiar/internal/test/llmtest"
	"familiar/internal/text"
)

// A panel shows a character to somebody who judges it: thirty exchanges with what the person saw. It is an archive of testdata/panel. Its
// file "panel" is played and compared. Its other files are the far ends of a [conversation]. A line "# PLACE" begins a part, and a line
// "## TITLE" an exchange. The other lines are speeches, each with its speaker:
//
//	ana> words      a person; the last one before an answer is the one that is answered
//	model> words    what the scripted model writes; left out where that is seen, perhaps with the program's notes in small type below
//	model! status   its server answers with this HTTP status; with 200 it says nothing
//	NAME> words     what the person saw of the character, a speech for each post
//
// The places are below. Where no model is configured, `familiar chat` is played, and elsewhere Discord.
type panel struct {
	*conversation
	name  string // of the character, in small letters
	next  atomic.Pointer[llmtest.Reply]
	heard map[string]int // posts of the character, by channel
}

// The places of a panel.
const (
	atTheTerminal = "# At the terminal, without a model"
	inTheServer   = "# In the server"
	inPrivate     = "# In private"
	webAway       = ", while the web is away" // behind one of the last two
)

// speech is what one speaker says.
type speech struct{ who, words string }

// exchange is a part of a panel: a title and the speeches below it.
type exchange struct {
	place, title string
	speeches     []speech
}

var speaks = regexp.MustCompile(`^([a-z]+[>!]) ?(.*)$`)

func readPanel(t *testing.T, text string) (all []*exchange) {
	place := ""
	for n, line := range strings.Split(strings.TrimSpace(text), "\n") {
		said := speaks.FindStringSubmatch(line)
		switch {
		case strings.HasPrefix(line, "## "):
			all = append(all, &exchange{place: place, title: line})
		case strings.HasPrefix(line, "# In ") || strings.HasPrefix(line, "# At "):
			place = line
		case len(all) == 0:
			if line != "" {
				t.Fatalf("line %d is in no exchange: %q", n+1, line)
			}
		case said != nil:
			all[len(all)-1].speeches = append(all[len(all)-1].speeches, speech{said[1], said[2]})
		case len(all[len(all)-1].speeches) == 0:
			t.Fatalf("line %d has no speaker: %q", n+1, line)
		default:
			last := &all[len(all)-1].speeches[len(all[len(all)-1].speeches)-1]
			last.words += "\n" + line
		}
	}
	for _, e := range all {
		for i := range e.speeches {
			e.speeches[i].words = strings.TrimSpace(e.speeches[i].words)
		}
	}
	return all
}

// of returns what one speaker says in an exchange.
func (e *exchange) of(who string) (all []string) {
	for _, s := range e.speeches {
		if s.who == who {
			all = append(all, s.words)
		}
	}
	return all
}

// people returns what persons say in an exchange.
func (e *exchange) people(name string) (all []speech) {
	for _, s := range e.speeches {
		if s.who != name+">" && !strings.HasPrefix(s.who, "model") {
			all = append(all, speech{strings.TrimSuffix(s.who, ">"), s.words})
		}
	}
	return all
}

// scripted returns the words of the model in an exchange, and its reply.
func (e *exchange) scripted(t *testing.T, name string) (string, llmtest.Reply) {
	switch failed := strings.Join(e.of("model!"), ""); failed {
	case "":
	case "200":
		return "", llmtest.Reply{llmtest.Say(" ")}
	default:
		status, err := strconv.Atoi(failed)
		if err != nil {
			t.Fatal(err)
		}
		return "", llmtest.Reply{llmtest.Error(status, "")}
	}
	words := strings.Join(e.of("model>"), "\n")
	if words == "" {
		words = withoutNotes(e.of(name + ">"))
	}
	return words, llmtest.Reply{llmtest.Say(words)}
}

// withoutNotes returns posts as one text without the program's notes.
func withoutNotes(posts []string) string {
	return strings.TrimSpace(note.ReplaceAllString(strings.Join(posts, "\n\n"), ""))
}

var note = regexp.MustCompile(`(?m)^-# .*$`)

// write returns the exchange with what was seen.
func (e *exchange) write(name, words string, seen []string) string {
	var out strings.Builder
	out.WriteString("\n" + e.title + "\n")
	for _, s := range e.speeches {
		if s.who != name+">" && s.who != "model>" {
			fmt.Fprintln(&out, s.who, s.words)
		}
	}
	if words != "" && withoutNotes(seen) != words {
		fmt.Fprintln(&out, "model>", words)
	}
	for _, words := range seen {
		fmt.Fprintln(&out, name+">", words)
	}
	return out.String()
}

func panels(t *testing.T) map[string]*txtar.Archive {
	files, err := filepath.Glob("testdata/panel/*.txtar")
	if err != nil || len(files) != 6 {
		t.Fatalf("%d panels, %v", len(files), err)
	}
	all := map[string]*txtar.Archive{}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all[file] = archive
	}
	return all
}

func panelOf(archive *txtar.Archive) string {
	for _, f := range archive.Files {
		if f.Name == "panel" {
			return string(f.Data)
		}
	}
	return ""
}

// asksNothing has a side model that notes and orders nothing.
const asksNothing = "\n-- model --\nwhen model \"side\"\nsay {}\n"

// TestPanels plays the panels of the six characters.
func TestPanels(t *testing.T) {
	for file, archive := range panels(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			exchanges := readPanel(t, panelOf(archive))
			if len(exchanges) != 30 {
				t.Errorf("%d exchanges", len(exchanges))
			}
			world := txtar.Parse([]byte(asksNothing))
			for _, f := range archive.Files {
				if f.Name != "panel" {
					world.Files = append(world.Files, f)
				}
			}
			p := &panel{conversation: newConversation(t, world), name: strings.TrimSuffix(filepath.Base(file), ".txtar"), heard: map[string]int{}}
			p.env["FAMILIAR_CHARACTER"], p.env["USER"], p.env["FAMILIAR_TURNS_PER_MINUTE"] = p.name, "ana", "100"
			p.model.Reply = func(llmtest.Request) llmtest.Reply { return *p.next.Load() }
			golden(t, file, archive, "panel", steadyPanel(p.play(exchanges)))
		})
	}
}

var moment = regexp.MustCompile(`(20\d\d-\d\d-\d\d )?\d\d:\d\d UTC|channels/\d+/\d+/\d+`)

func steadyPanel(seen string) string { return moment.ReplaceAllString(seen, "…") }

// play plays the exchanges place by place and returns the panel as it was seen.
func (p *panel) play(exchanges []*exchange) string {
	var out strings.Builder
	for len(exchanges) > 0 {
		place, n := exchanges[0].place, 0
		for n < len(exchanges) && exchanges[n].place == place {
			n++
		}
		out.WriteString("\n" + place + "\n")
		if place == atTheTerminal {
			out.WriteString(p.alone(exchanges[:n]))
		} else {
			out.WriteString(p.together(place, exchanges[:n]))
		}
		exchanges = exchanges[n:]
	}
	p.stop()
	return strings.TrimPrefix(out.String(), "\n")
}

// alone plays exchanges at the terminal, without a model.
func (p *panel) alone(exchanges []*exchange) string {
	kept := maps.Clone(p.env)
	for _, name := range []string{"OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL", "SIDE_MODEL"} {
		delete(p.env, name)
	}
	lines := ""
	for _, e := range exchanges {
		lines += e.people(p.name)[0].words + "\n"
	}
	code, out, complaint := p.command(strings.NewReader(lines), "chat", "--character", p.name)
	p.env = kept
	answers := strings.Split(strings.TrimPrefix(out, p.name+"> "), "\n"+p.name+"> ")
	if code != exitOK || complaint != "" || len(answers) != len(exchanges) {
		p.Fatalf("exit code %d, %d answers to %d lines, errors %q:\n%s", code, len(answers), len(exchanges), complaint, out)
	}
	var seen strings.Builder
	for i, e := range exchanges {
		seen.WriteString(e.write(p.name, "", []string{strings.TrimSpace(answers[i])}))
	}
	return seen.String()
}

// together plays exchanges on Discord, with the scripted model.
func (p *panel) together(place string, exchanges []*exchange) string {
	if p.program == nil {
		p.deeds()["start"]("")
	}
	place, away := strings.CutSuffix(place, webAway)
	if away {
		p.search.server.CloseClientConnections()
		p.search.server.Close()
	}
	channel, address := "general", "@familiar "
	switch place {
	case inTheServer:
	case inPrivate:
		channel, address = "@ana", ""
	default:
		p.Fatalf("where is %q?", place)
	}
	var seen strings.Builder
	for _, e := range exchanges {
		words, reply := e.scripted(p.T, p.name)
		p.next.Store(&reply)
		people := e.people(p.name)
		last := people[len(people)-1]
		for _, s := range people[:len(people)-1] {
			p.discord.Say("general", s.who, s.words)
		}
		p.discord.Say(channel, last.who, address+last.words)
		seen.WriteString(e.write(p.name, words, p.hearPosts(channel)))
		if p.Failed() {
			p.Fatalf("%s\n%s", e.title, p.program.out)
		}
	}
	return seen.String()
}

// hearPosts waits for an answer and returns its posts.
func (p *panel) hearPosts(channel string) (posts []string) {
	p.hear(channel)
	for _, m := range p.discord.Messages(channel) {
		if m.Own {
			posts = append(posts, m.Text)
		}
	}
	posts = posts[p.heard[channel]:]
	p.heard[channel] += len(posts)
	for range posts[1:] {
		p.discord.WaitReply(channel, patience)
	}
	return posts
}

// TestNoSharedSentence holds that each character has its own words. They are its fixed texts, its greetings, and its model's words in the panel.
func TestNoSharedSentence(t *testing.T) {
	whose := map[string]string{}
	claim := func(id, said string) {
		for _, s := range text.Sentences(said) {
			key := strings.ToLower(s)
			if len(strings.Fields(s)) < 3 {
				continue
			}
			if by := whose[key]; by != "" && by != id {
				t.Errorf("%s and %s say %q", by, id, s)
			}
			whose[key] = id
		}
	}
	for _, s := range reply.Translated("de") {
		claim("the house", s)
	}
	for file, archive := range panels(t) {
		id := strings.TrimSuffix(filepath.Base(file), ".txtar")
		c, err := character.Load(characters.FS, id)
		if err != nil {
			t.Fatal(err)
		}
		x := c.Texts
		said := append([]string{x.NoModel, x.RateLimited, x.ModelDown, x.TooSlow, x.Quota, x.Placeholder, x.Hello, x.Thanks, x.Bye, x.Mood, x.Sad, x.Who, x.Can, x.Morning, x.Birthday, x.Mute, x.Empty, x.NoWeb}, c.Greetings.Texts...)
		for _, e := range readPanel(t, panelOf(archive)) {
			if e.place != atTheTerminal {
				words, _ := e.scripted(t, id)
				said = append(said, words)
			}
		}
		for _, words := range said {
			claim(id, words)
		}
	}
}

// TestSadWithoutAModel tells each character of a bad day, as the first that it hears. Its words are short and its own, without set-up.
func TestSadWithoutAModel(t *testing.T) {
	ids, err := character.List(characters.FS)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			own, err := character.Load(characters.FS, id)
			if err != nil {
				t.Fatal(err)
			}
			c := newConversation(t, txtar.Parse([]byte("")))
			code, out, complaint := c.command(strings.NewReader("I feel sad today\nIch bin heute so traurig\n"), "chat", "--character", id)
			english, german, both := strings.Cut(out, "\n"+id+"> ")
			english = strings.TrimSpace(strings.TrimPrefix(english, id+"> "))
			if n := len(strings.Fields(english)); code != exitOK || complaint != "" || !both || n > 25 || english != own.Texts.Sad {
				t.Errorf("exit code %d, errors %q, %d words:\n%s", code, complaint, n, out)
			}
			if text.MessageLanguage(german) != "de" || strings.Contains(german, "OPENAI") {
				t.Errorf("to a German:\n%s", german)
			}
		})
	}
}
