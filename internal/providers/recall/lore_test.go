package recall

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"familiar/characters"
	"familiar/internal/context/turn"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestCut(t *testing.T) {
	file := "Before all.\n\n# The town\n\n## The harbour ##\nIt opens at six.\n\nShips wait.\n```\n# no heading\n\n#hash\n```\n## Empty\n# Far away\n#nothing\nHills.\n"
	want := []Passage{
		{File: "f", Line: 1, Text: "Before all."},
		{File: "f", Line: 6, Heading: "The town › The harbour", Text: "It opens at six.\n\nShips wait.\n```\n# no heading\n#hash\n```"},
		{File: "f", Line: 16, Heading: "Far away", Text: "#nothing\nHills."},
	}
	if d := cmp.Diff(want, CutPassages("f", file), cmpopts.IgnoreUnexported(Passage{})); d != "" {
		t.Error(d)
	}
	long := strings.Repeat("One sentence of some length stands here. ", 100) + "\n\n" + strings.Repeat("é", 5000) + "\n" + strings.Repeat("word ", 400)
	joined := ""
	for _, p := range CutPassages("f", long) {
		if n := utf8.RuneCountInString(p.Text); n > maxPassageLength || !utf8.ValidString(p.Text) {
			t.Errorf("%d characters: %.40q", n, p.Text)
		}
		joined += p.Text
	}
	bare := strings.NewReplacer(" ", "", "\n", "")
	if bare.Replace(joined) != bare.Replace(long) {
		t.Error("the passages lack some text")
	}
}

func TestFind(t *testing.T) {
	passages := CutPassages("lore/town.md", "# The harbour\nIt opens at six in the morning.\n# The mill\nThe miller keeps a dog.\n# Ratsstube\nDer Wirt verkauft Äpfel.\n# 港\n港町の灯台は赤い。")
	for i := range 2000 {
		passages = append(passages, Passage{File: "lore/more.md", Line: i + 1, Heading: fmt.Sprint("House ", i), Text: "Nobody lives in this house."})
	}
	l := newLibrary(passages)
	for question, want := range map[string]string{
		"when does the harbour open?":     "It opens at six in the morning.",
		"which pet is at the mill?":       "The miller keeps a dog.",
		"Was verkauft der Wirt?":          "Der Wirt verkauft Äpfel.",
		"灯台は何色？":                          "港町の灯台は赤い。",
		"what is the capital of Peru?":    "",
		"?":                               "",
		"let us walk down to the harbour": "It opens at six in the morning.",
	} {
		q := readQuery(question, "ada", nil, time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
		got, all := "", l.find(q)
		if len(all) > 0 {
			got = all[0].Text
		}
		if got != want || len(all) > 3*maxSeeds {
			t.Errorf("%s: %d, the best %q", question, len(all), got)
		}
		if strings.HasPrefix(question, "let us") && !all[0].titled {
			t.Error("the named heading was not found")
		}
	}
	var none *Library
	if none.len() != 0 || none.find(readQuery("harbour?", "", nil, time.Now())) != nil {
		t.Error("a nil library is not empty")
	}
}

// FuzzCut checks that no passage is empty or too long.
func FuzzCut(f *testing.F) {
	f.Add("# a\n\ntext\n```\n# b\n```\n")
	f.Fuzz(func(t *testing.T, s string) {
		for _, p := range CutPassages("f", s) {
			if p.Text == "" || utf8.RuneCountInString(p.Text) > maxPassageLength+len(p.Text)/2 || p.Line < 1 {
				t.Errorf("%+v", p)
			}
		}
	})
}

func BenchmarkFind(b *testing.B) {
	var passages []Passage
	for i := range 6000 {
		passages = append(passages, Passage{File: "lore/more.md", Line: i + 1, Heading: fmt.Sprint("House ", i), Text: strings.Repeat("The miller keeps a dog and the harbour opens at six. ", 8)})
	}
	l := newLibrary(passages)
	for b.Loop() {
		l.find(readQuery("when does the harbour open for the miller's dog?", "ada", nil, time.Now()))
	}
}

// TestAnswersAboutTheProgram asks what newcomers ask, and what is not about the program.
func TestAnswersAboutTheProgram(t *testing.T) {
	questions, err := characters.FS.ReadFile("_default/questions.md")
	if err != nil {
		t.Fatal(err)
	}
	p := &MemoryProvider{Past: &Past{}, Answers: NewAnswers(string(questions))}
	for _, answer := range p.Answers.passages {
		if _, err := os.Stat("../../../" + answer.File); err != nil || answer.Text == "" {
			t.Errorf("%q: %v", answer.Heading, err)
		}
	}
	for question, page := range map[string]string{
		"what can you look up?": "doc/web.md", "how do I bring you to my server?": "doc/discord.md", "how do I invite you?": "doc/discord.md",
		"how do I give you a model?": "doc/voice.md", "do you work offline?": "doc/web.md", "can you see pictures?": "doc/discord.md",
		"which search engines do you use?": "doc/web.md", "what do you remember about people?": "doc/memory.md", "is my data safe with you?": "doc/privacy.md",
		"how do I uninstall you?": "doc/install.md", "can you write a poem?": "doc/voice.md", "do you need an API key?": "doc/web.md", "how do I update you?": "doc/install.md",
		"how do I add a model?": "doc/voice.md", "what is familiar?": "README.md", "what is SearXNG?": "doc/web.md", "how do I set up SearXNG?": "doc/web.md", "how do I make a backup?": "doc/operate.md", "my backup is a database": "",
		"how do I change your personality?": "doc/characters.md", "can I use you in Docker?": "doc/install.md", "what does it cost to use you?": "doc/install.md",
		"how do I add you to my server?": "doc/discord.md", "what is a bot token?": "doc/discord.md", "how do I make a Discord bot?": "doc/discord.md", "is it free?": "doc/install.md",
		"how much does it cost?": "doc/install.md", "what is Ollama?": "doc/voice.md", "how do I install Ollama?": "doc/voice.md", "what is a language model?": "doc/voice.md",
		"why can't you look things up?": "doc/web.md", "can you search the web?": "doc/web.md", "do you need internet?": "doc/web.md", "who made you?": "doc/characters.md", "how do I get started?": "doc/first-minutes.md", "what is Discord?": "", "what is Docker?": "", "what is a program?": "", "what is free will?": "",
		"can you tell me how high Mount Everest is?": "", "do you know a good restaurant in Rome?": "", "what is a server?": "", "what do you know about Docker?": "",
		"what do you think of Germany?": "", "have you read Moby Dick?": "", "hello": "", "you": "",
	} {
		got := ""
		for _, c := range p.aboutProgram(p.ask(turn.Request{Message: turn.Message{Text: question}})) {
			got = c.Recalled[0].File
		}
		if got != page {
			t.Errorf("%q: %q, want %q", question, got, page)
		}
	}
}
