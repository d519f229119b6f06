package terminal_test

import (
	"errors"
	"strings"
	"testing"

	"familiar/internal/bot/terminal"
	"familiar/internal/context/turn"
)

func door(out *strings.Builder) *terminal.Door {
	return &terminal.Door{Out: out, Name: "Sage", User: "ana"}
}

func TestDeliverPrintsWhatIsNew(t *testing.T) {
	var out strings.Builder
	d := door(&out)
	id, err := d.Deliver(t.Context(), turn.Post{Text: "The first"})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []turn.Post{
		{ID: id, Text: "The first words"},
		{ID: id, Text: "The first words"},
		{ID: id, Text: "The first words.\n\n-# Sources\n-# [1] A page <https://example.org/>", Final: true},
	} {
		if _, err := d.Deliver(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	want := "sage> The first words.\n\n  Sources\n  [1] A page https://example.org/\n"
	if out.String() != want {
		t.Errorf("got  %q\nwant %q", out.String(), want)
	}
}

func TestDeliverStartsOverWhenTheTextChanged(t *testing.T) {
	var out strings.Builder
	d := door(&out)
	id, _ := d.Deliver(t.Context(), turn.Post{Text: "A secret"})
	d.Deliver(t.Context(), turn.Post{ID: id, Text: "Withheld.", Final: true})
	if got := out.String(); got != "sage> A secret\nWithheld.\n" {
		t.Errorf("got %q", got)
	}
}

// TestRead holds one line after the other until the one before is answered.
func TestRead(t *testing.T) {
	var out strings.Builder
	d := door(&out)
	failed := make(chan error, 1)
	go func() {
		failed <- d.Read(t.Context(), strings.NewReader("hello\n\n/mode full_rp\n/lookup off\n/lookup the tides\n/quit\nnever\n"))
	}()
	var got []string
	for e := range d.Events() {
		if e.Kind == turn.Ordered {
			got = append(got, e.Command.Name+" "+e.Command.Options["mode"]+e.Command.Options["web"]+e.Command.Options["query"])
			d.Respond(t.Context(), *e.Command, turn.Answer{Text: "done"})
			continue
		}
		got = append(got, e.Message.Text)
		if !e.Direct || e.Message.Author.Name != "ana" || e.Message.ID == "" {
			t.Errorf("event %+v", e)
		}
		d.Deliver(t.Context(), turn.Post{Text: "hi", Final: true})
	}
	if err := <-failed; err != nil {
		t.Error(err)
	}
	if want := "hello|mode full_rp|lookup off|lookup the tides"; strings.Join(got, "|") != want {
		t.Errorf("got  %q\nwant %q", strings.Join(got, "|"), want)
	}
}

func TestReadRefusesAnEndlessLine(t *testing.T) {
	var out strings.Builder
	d := door(&out)
	failed := make(chan error, 1)
	go func() { failed <- d.Read(t.Context(), strings.NewReader(strings.Repeat("x", 2<<20))) }()
	for range d.Events() {
		t.Error("a line of two mebibytes became a message")
	}
	if err := <-failed; !errors.Is(err, terminal.ErrLineTooLong) {
		t.Errorf("error %v", err)
	}
}
