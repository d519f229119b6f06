// Package terminal is the door through which one person talks to a character at a terminal, or a script through a
// pipe. Read turns lines into events and waits for each answer before it takes the next line; the [Door] prints
// what comes back as it grows. Lines that begin with a slash are commands, like Discord's.
package terminal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"familiar/internal/context/turn"

	"github.com/oklog/ulid/v2"
)

// Channel is the id of the one channel that a terminal has.
const Channel = "terminal"

// maxLine is the longest line that is read, in bytes.
const maxLine = 1 << 20

// ErrLineTooLong is returned by Read for a line of more than a mebibyte.
var ErrLineTooLong = errors.New("a line is longer than 1 MiB")

// Door is a terminal. Out and Name are required.
type Door struct {
	Out         io.Writer
	Name        string // of the character
	User        string // of the person; empty: "you"
	Interactive bool   // a person is watching: show prompts, and colours
	NewID       func() string

	mu    sync.Mutex
	shown map[string]string // what has been printed of each post; guarded by mu

	once   sync.Once
	events chan turn.Event
	ended  chan struct{} // an answer is complete; holds one
}

func (d *Door) open() {
	d.once.Do(func() {
		d.events = make(chan turn.Event)
		d.ended = make(chan struct{}, 1)
		d.shown = make(map[string]string)
		if d.User == "" {
			d.User = "you"
		}
		if d.NewID == nil {
			d.NewID = func() string { return ulid.Make().String() }
		}
	})
}

// Events returns what the person says. The channel is closed when Read returns.
func (d *Door) Events() <-chan turn.Event {
	d.open()
	return d.events
}

// Read takes lines until the input ends, a line says /quit, or ctx is done. It waits for each answer.
func (d *Door) Read(ctx context.Context, in io.Reader) error {
	d.open()
	defer close(d.events)
	lines, failed := d.lines(ctx, in)
	for {
		d.prompt()
		select {
		case <-ctx.Done():
			return nil
		case line, more := <-lines:
			if !more {
				return <-failed
			}
			line = strings.TrimSpace(line)
			if line == "/quit" || line == "/exit" {
				return nil
			}
			if line != "" {
				d.say(ctx, line)
			}
		}
	}
}

// lines reads in a goroutine of its own, because a read from a terminal cannot be interrupted. The goroutine ends
// with the input, or at its next line.
func (d *Door) lines(ctx context.Context, in io.Reader) (<-chan string, <-chan error) {
	lines, failed := make(chan string), make(chan error, 1)
	go func() {
		defer close(lines)
		scanner := bufio.NewScanner(in)
		scanner.Buffer(make([]byte, 0, 4096), maxLine)
		for scanner.Scan() {
			select {
			case lines <- scanner.Text():
			case <-ctx.Done():
				failed <- nil
				return
			}
		}
		err := scanner.Err()
		if errors.Is(err, bufio.ErrTooLong) {
			err = ErrLineTooLong
		}
		failed <- err
	}()
	return lines, failed
}

// say sends one line as an event and waits until it is answered.
func (d *Door) say(ctx context.Context, line string) {
	e := d.Message(line)
	if name, isCommand := strings.CutPrefix(line, "/"); isCommand {
		e.Kind, e.Command = turn.Ordered, d.command(name)
	}
	select {
	case <-d.ended: // nobody waited for it
	default:
	}
	select {
	case d.events <- e:
	case <-ctx.Done():
		return
	}
	select {
	case <-d.ended:
	case <-ctx.Done():
	}
}

// Message returns the event of a person saying a line.
func (d *Door) Message(line string) turn.Event {
	d.open()
	return turn.Event{Kind: turn.Created, ID: d.NewID(), Direct: true, Message: turn.Message{
		ID: d.NewID(), ChannelID: Channel, Author: turn.Author{ID: "terminal:" + d.User, Name: d.User}, Text: line, At: time.Now(),
	}}
}

// command reads "name arguments". An argument that a command does not take leads to its help.
func (d *Door) command(line string) *turn.Command {
	name, rest, _ := strings.Cut(line, " ")
	c := &turn.Command{Name: name, Options: make(map[string]string), By: turn.Author{ID: "terminal:" + d.User, Name: d.User}, Admin: true}
	rest = strings.TrimSpace(rest)
	switch name {
	case "context":
		c.Options["turn"] = rest
	case "lookup":
		if rest == "on" || rest == "off" {
			c.Options["web"] = rest
		} else {
			c.Options["query"] = rest
		}
	case "docs":
		c.Options["question"] = rest
	case "mode":
		c.Options["mode"] = rest
	}
	return c
}

func (d *Door) prompt() {
	if d.Interactive {
		d.mu.Lock()
		defer d.mu.Unlock()
		fmt.Fprintf(d.Out, "%s> ", d.User)
	}
}

// Deliver prints what is new in a post.
func (d *Door) Deliver(_ context.Context, p turn.Post) (string, error) {
	d.open()
	d.mu.Lock()
	defer d.mu.Unlock()
	id, text := p.ID, d.plain(p.Text)
	if id == "" {
		id = d.NewID()
		fmt.Fprintf(d.Out, "%s> ", strings.ToLower(d.Name))
	}
	old := d.shown[id]
	if rest, grown := strings.CutPrefix(text, old); grown {
		text, old = rest, text
	} else {
		text, old = "\n"+text, text
	}
	d.shown[id] = old
	if p.Final {
		delete(d.shown, id)
		text += "\n"
	}
	if _, err := io.WriteString(d.Out, text); err != nil {
		return id, fmt.Errorf("write to the terminal: %w", err)
	}
	if p.Final {
		d.wake()
	}
	return id, nil
}

// wake wakes Read, if it waits.
func (d *Door) wake() {
	select {
	case d.ended <- struct{}{}:
	default:
	}
}

// Typing does nothing: a terminal shows the words as they come.
func (d *Door) Typing(context.Context, string) error { return nil }

// Respond prints the answer to a command: the whole text, without files and buttons.
func (d *Door) Respond(_ context.Context, _ turn.Command, a turn.Answer) error {
	d.open()
	d.mu.Lock()
	defer d.mu.Unlock()
	text := a.Text
	for _, s := range a.Sections {
		text = strings.TrimLeft(text+"\n\n"+strings.TrimLeft(s.Title+"\n"+s.Text, "\n"), "\n")
	}
	_, err := fmt.Fprintln(d.Out, strings.TrimRight(d.plain(text), "\n"))
	d.wake()
	return err
}

const (
	faint = "\x1b[2m"
	reset = "\x1b[0m"
)

func (d *Door) plain(text string) string {
	if d.Interactive {
		return unmark(text, faint, reset)
	}
	return Plain(text)
}

// Plain takes off the marks that Discord would read: small type is indented, addresses lose their brackets.
func Plain(text string) string { return unmark(text, "", "") }

func unmark(text, before, after string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if small, isSmall := strings.CutPrefix(line, "-# "); isSmall {
			lines[i] = "  " + before + strings.NewReplacer("<http", "http", ">", "").Replace(small) + after
		}
	}
	return strings.Join(lines, "\n")
}
