package card

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// judged reads a table of testdata/judged: inputs of our own, and what SillyTavern 1.19 made of them.
func judged[T any](t *testing.T, name string) (cases []T) {
	t.Helper()
	data, err := os.ReadFile("testdata/judged/" + name + ".json")
	if err == nil {
		err = json.Unmarshal(data, &cases)
	}
	if err != nil {
		t.Fatal(err)
	}
	return cases
}

// share fails the test if other cases are answered otherwise than those we mean to answer otherwise.
func share(t *testing.T, wrong []string, all int, meant ...string) {
	t.Helper()
	t.Logf("%d of %d", all-len(wrong), all)
	if !slices.Equal(wrong, meant) {
		t.Errorf("answered otherwise: %q, not %q", wrong, meant)
	}
}

func judgedMacros() *Macros {
	fields := map[string]string{
		"system": "Keep {{char}} dry.", "post_history": "Stay short.", "description": "{{char}} grows on stones.", "personality": "patient", "scenario": "A garden wall.",
		"examples": "<START>\nMoss: Hm.", "version": "1.4", "depth": "Mind the rain.", "creator_notes": "Try the wall.",
	}
	return &Macros{
		Char: "Moss", User: "Ada", Persona: "Ada paints.", Now: time.Date(2026, 11, 22, 15, 4, 5, 0, time.UTC), Idle: 3 * time.Hour,
		LastMessage: "Where is the dragon?", LastUserMessage: "Where is the dragon?", LastCharMessage: "All night.", Tokens: 6000, Context: 8000, Response: 2000, Model: "tiny",
		Greetings: []string{"Hello, {{user}}.", "You again, {{user}}."},
		Field:     func(name string) string { return fields[name] },
	}
}

func TestJudgedMacros(t *testing.T) {
	cases := judged[struct{ Text, Want string }](t, "macros")
	var wrong []string
	for _, c := range cases {
		if got := judgedMacros().Expand(c.Text); got != c.Want {
			wrong = append(wrong, c.Text)
			t.Logf("%q: %q, not %q", c.Text, got, c.Want)
		}
	}
	share(t, wrong, len(cases), "{{lastMessageId}} {{allChatRange}}") // a channel has no such numbers
}

func TestJudgedScripts(t *testing.T) {
	cases := judged[struct {
		Name, Text, Want string
		Script           object
		Place, Depth     int
		Prompt           bool
	}](t, "scripts")
	var wrong []string
	for _, c := range cases {
		if c.Script["placement"] == nil {
			c.Script["placement"] = raw([]int{2})
		}
		s, _ := scriptOf(c.Script)
		r, _ := NewRewriter([]Script{s})
		on := OnReply
		switch {
		case c.Place == 5:
			on = OnLore
		case c.Prompt:
			on = OnHistory
		}
		if got := r.Apply(on, c.Text, c.Depth, judgedMacros().Expand, Clock{new(atomic.Int64), time.Minute}); got != c.Want {
			wrong = append(wrong, c.Name)
			t.Logf("%s: %q, not %q", c.Name, got, c.Want)
		}
	}
	share(t, wrong, len(cases), "a macro around what was found") // it is somebody's words, which no macro may read
}

type judgedLore struct {
	Name     string
	Book     object
	Settings *struct {
		Depth                           *int
		Min, MinDepth, Steps, Budget    int
		Recursive, Case, Whole, Scoring bool
	}
	Messages []string
	Turns    [][]string
	Fields   map[string]string
	Trigger  string
	Fired    []string // entries that fired earlier
	Want     [][]string
}

func (c *judgedLore) book() (Book, error) {
	form := inCard
	if c.Book.isObject("entries") {
		form = inWorld
	}
	b, _, err := bookOf(c.Book, form)
	s := c.Settings
	if s == nil {
		return b, err
	}
	b.ScanDepth, b.Recursive, b.CaseSensitive, b.WholeWords, b.GroupScoring = s.Depth, s.Recursive, s.Case, s.Whole, s.Scoring
	b.MinActivations, b.MinActivationsDepth, b.MaxSteps = s.Min, s.MinDepth, s.Steps
	return b, err
}

// run returns what each turn puts where.
func (c *judgedLore) run(t *testing.T) (all [][]string) {
	b, err := c.book()
	if err != nil {
		t.Fatal(err)
	}
	s, _ := NewScanner([]Book{b}, "Moss")
	turns := c.Turns
	if turns == nil {
		turns = [][]string{c.Messages}
	}
	last := map[string]int{}
	for _, id := range c.Fired {
		last["/"+id] = 1
	}
	for _, messages := range turns {
		chat := Chat{Messages: messages, Fields: map[string]string{"scenario": c.Fields["scenario"]}, Length: len(messages), Trigger: c.Trigger, Own: 2, Greeting: 1, Budget: 100_000, Fired: map[string]Firing{}}
		if c.Settings != nil && c.Settings.Budget > 0 {
			chat.Budget = c.Settings.Budget
		}
		chat.Expand = func(text string) (string, string) { text = judgedMacros().Expand(text); return text, text }
		for id, at := range last {
			chat.Fired[id] = Firing{Ago: len(messages) - at, Before: true}
		}
		byPlace := map[string][]string{}
		for _, f := range s.Scan(t.Context(), chat).Fired {
			place := string(f.Position)
			switch f.Position {
			case AtDepth:
				place += fmt.Sprintf(" %d %s", f.Depth, f.Role)
			case InOutlet:
				place += " " + f.Outlet
			}
			byPlace[place] = append(byPlace[place], place+": "+f.Text)
			if f.New && f.Lasting {
				last[f.ID] = len(messages)
			}
		}
		out := []string{}
		for _, p := range []string{"before_char", "after_char", "note_top", "note_bottom", "before_examples", "after_examples"} {
			out = append(out, byPlace[p]...)
			delete(byPlace, p)
		}
		var rest []string
		for p := range byPlace {
			rest = append(rest, p)
		}
		slices.Sort(rest)
		for _, p := range rest {
			out = append(out, byPlace[p]...)
		}
		all = append(all, out)
	}
	return all
}

func TestJudgedLorebooks(t *testing.T) {
	testLorebooks(t, "lore", "a whole word with an accent") // é is a letter here
}

// The table of version 3 follows its specification, and RisuAI where a decorator is repeated.
func TestJudgedVersion3(t *testing.T) { testLorebooks(t, "v3") }

func testLorebooks(t *testing.T, name string, meant ...string) {
	cases := judged[judgedLore](t, name)
	var wrong []string
	for _, c := range cases {
		if got := c.run(t); fmt.Sprint(got) != fmt.Sprint(c.Want) {
			wrong = append(wrong, c.Name)
			t.Logf("%s: %q, not %q", c.Name, got, c.Want)
		}
	}
	share(t, wrong, len(cases), meant...)
}
