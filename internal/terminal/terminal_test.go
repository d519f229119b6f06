package terminal_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/terminal"
)

func door(out *strings.Builder) *terminal.Door {
	return &terminal.Door{Out: out, Name: "Sage", User: "ana"}
}

func edit(id, text string, final bool) turn.Edit {
	return turn.Edit{Ref: turn.Ref{ChannelID: terminal.Channel, ID: id}, Text: text, Final: final}
}

func TestEditPrintsWhatIsNew(t *testing.T) {
	var out strings.Builder
	d := door(&out)
	id, err := d.Post(t.Context(), turn.Post{Text: "The first"})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []turn.Edit{
		edit(id, "The first words", false),
		edit(id, "The first words", false),
		edit(id, "The first words.\n\n-# Sources\n-# [1] A page <https://example.org/>", true),
	} {
		if err := d.Edit(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	want := "sage> The first words.\n\n  Sources\n  [1] A page https://example.org/\n"
	if out.String() != want {
		t.Errorf("got  %q\nwant %q", out.String(), want)
	}
}

func TestEditStartsOverWhenTheTextChanged(t *testing.T) {
	var out strings.Builder
	d := door(&out)
	id, _ := d.Post(t.Context(), turn.Post{Text: "A secret"})
	d.Edit(t.Context(), edit(id, "Withheld.", true))
	if got := out.String(); got != "sage> A secret\nWithheld.\n" {
		t.Errorf("got %q", got)
	}
}

func TestAnIncompleteCallIsAnError(t *testing.T) {
	var out strings.Builder
	d := door(&out)
	id, _ := d.Post(t.Context(), turn.Post{Text: "An answer"})
	for name, err := range map[string]error{
		"edit without a text":    d.Edit(t.Context(), edit(id, "", true)),
		"edit without an id":     d.Edit(t.Context(), edit("", "x", true)),
		"deletion without an id": d.Delete(t.Context(), turn.Ref{ChannelID: terminal.Channel}),
	} {
		if !errors.Is(err, turn.ErrIncomplete) {
			t.Errorf("%s: %v", name, err)
		}
	}
	d.Edit(t.Context(), edit(id, "An answer.", true))
	if got := out.String(); got != "sage> An answer.\n" {
		t.Errorf("got %q", got)
	}
}

// TestRead holds that Read takes a line only when the line before is answered.
func TestRead(t *testing.T) {
	var out strings.Builder
	d := door(&out)
	d.Parse = func(order string) (*turn.Command, error) {
		if order == "nonsense" {
			return nil, errors.New("there is no /nonsense")
		}
		name, rest, _ := strings.Cut(order, " ")
		return &turn.Command{Name: name, Options: map[string]string{"rest": rest}}, nil
	}
	saved := map[string]string{}
	d.Save = func(name string, text []byte) error {
		saved[name] = string(text)
		return nil
	}
	failed := make(chan error, 1)
	go func() {
		failed <- d.Read(t.Context(), terminal.NewPipe(strings.NewReader("hello\n\n/mode full_rp\n/nonsense\n/lookup the tides\n/retry\n/save talk.md\n/quit\nnever\n")))
	}()
	var got []string
	for batch := range d.Events() {
		e := batch[0]
		if e.Kind == turn.Ordered {
			got = append(got, e.Command.Name+" "+e.Command.Options["rest"])
			d.Respond(t.Context(), *e.Command, turn.Answer{Text: "done"})
			continue
		}
		got = append(got, e.Message.Text)
		if !e.Direct || e.Message.Author.Name != "ana" || e.Message.ID == "" {
			t.Errorf("event %+v", e)
		}
		d.Post(t.Context(), turn.Post{Text: "hi", Final: true})
	}
	if err := <-failed; err != nil {
		t.Error(err)
	}
	if want := "hello|mode full_rp|lookup the tides|hello"; strings.Join(got, "|") != want {
		t.Errorf("got  %q\nwant %q", strings.Join(got, "|"), want)
	}
	if !strings.Contains(out.String(), "there is no /nonsense\n") || !strings.Contains(out.String(), "Saved in talk.md.\n") {
		t.Errorf("printed:\n%s", out.String())
	}
	if want := "**ana:** hello\n\n**Sage:** hi\n\n**ana:** hello\n\n**Sage:** hi\n\n"; saved["talk.md"] != want {
		t.Errorf("saved %q, want %q", saved["talk.md"], want)
	}
}

func TestReadRefusesAnEndlessLine(t *testing.T) {
	var out strings.Builder
	d := door(&out)
	failed := make(chan error, 1)
	go func() { failed <- d.Read(t.Context(), terminal.NewPipe(strings.NewReader(strings.Repeat("x", 2<<20)))) }()
	for range d.Events() {
		t.Error("a line of two mebibytes became a message")
	}
	if err := <-failed; !errors.Is(err, terminal.ErrLineTooLong) {
		t.Errorf("error %v", err)
	}
}

func TestSourcesAreFolded(t *testing.T) {
	var out strings.Builder
	d := door(&out)
	d.Screen = &terminal.Screen{Width: func() int { return 30 }}
	text := "The tide comes twice a day [1].\n\n-# Sources\n-# [1] Tides <https://www.example.org/tides>\n-# [2] Moon <https://example.net/>"
	if _, err := d.Post(t.Context(), turn.Post{Text: text, Final: true}); err != nil {
		t.Fatal(err)
	}
	want := "sage> The tide comes twice a\nday [1].\n\n  [1] example.org · [2]\n  example.net · /sources\n"
	if out.String() != want {
		t.Errorf("got  %q\nwant %q", out.String(), want)
	}
}

// TestNoSignBelowAnAnswer posts each answer in the moment in which the sign turns.
func TestNoSignBelowAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		d := door(&out)
		d.Screen = &terminal.Screen{Width: func() int { return 30 }}
		failed := make(chan error, 1)
		go func() {
			failed <- d.Read(t.Context(), terminal.NewPipe(strings.NewReader(strings.Repeat("hello\n", 50))))
		}()
		for range d.Events() {
			time.Sleep(120 * time.Millisecond)
			d.Post(t.Context(), turn.Post{Text: "hi", Final: true})
		}
		if err := <-failed; err != nil {
			t.Error(err)
		}
		for line := range strings.Lines(out.String()) {
			const clearLine = "\r\x1b[K"
			if shown := line[strings.LastIndex(line, clearLine)+1:]; strings.Contains(shown, "thinking") {
				t.Fatalf("a sign stays: %q", line)
			}
		}
	})
}
