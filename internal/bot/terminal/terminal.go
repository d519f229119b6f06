// Package terminal is the door through which one person talks to a character at a terminal, or a script through a pipe.
//
//	terminal.go  the [Door]: a line becomes an event and is waited for; what comes back is printed as it grows
//	local.go     the commands that only a terminal has: /clear, /retry, /copy, /save, /sources, /quit
//	input.go     where lines come from: a pipe (here) or an editor (editor.go)
//	paint.go     Markdown as type, wrapped at the window's edge, while it arrives
//	busy.go      what the bot is at before its first word
package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"time"

	"familiar/internal/context/turn"

	"github.com/oklog/ulid/v2"
	"github.com/rivo/uniseg"
)

// Channel is the id of the channel that a terminal begins with.
const Channel = "terminal"

// Door is a terminal. Out and Name are required. Its exported fields are set before first use and not changed after.
type Door struct {
	Out  io.Writer
	Name string // of the character
	User string // of the person; empty: "you"
	// Parse reads a command of the bot, without its slash; nil: there are none. Its error is for the person.
	Parse  func(order string) (*turn.Command, error)
	Screen *Screen // that a person watches; nil: what is printed is plain text
	Save   func(name string, text []byte) error
	NewID  func() string

	mu      sync.Mutex
	channel string              // guarded by mu, as all below
	replies map[string]*showing // by post, those that grow
	doing   string              // what the bot is at
	waiting bool                // the line of busy.go is on the screen
	said    []utterance         // the conversation, for /save
	last    string              // that the person said, for /retry

	once   sync.Once
	events chan turn.Event
	ended  chan struct{} // an answer is complete; holds one
}

// Screen is what a person looks at.
type Screen struct {
	Width  func() int // columns; 0: unknown
	Colour bool
}

// showing is a reply that grows.
type showing struct {
	shown   string // of its text
	painter painter
}

func (d *Door) open() {
	d.once.Do(func() {
		d.events = make(chan turn.Event)
		d.ended = make(chan struct{}, 1)
		d.replies = make(map[string]*showing)
		d.channel = Channel
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

// Channel returns the id of the conversation under way.
func (d *Door) Channel() string {
	d.open()
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.channel
}

// leaving is the time within which a second Ctrl-C leaves.
const leaving = 2 * time.Second

// Read takes lines until the input ends, a line says /quit, Ctrl-C comes twice, or ctx is done. It waits for each answer.
func (d *Door) Read(ctx context.Context, in Input) error {
	d.open()
	defer close(d.events)
	var interrupted time.Time
	for ctx.Err() == nil {
		line, err := in.Line(ctx)
		switch {
		case errors.Is(err, ErrInterrupted):
			if time.Since(interrupted) < leaving {
				return nil
			}
			interrupted = time.Now()
			d.print("(Ctrl-C once more to leave)\n")
			continue
		case errors.Is(err, io.EOF) || ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if done := d.take(ctx, line); done {
			return nil
		}
	}
	return nil
}

// take does what a line says, and reports whether it was to leave.
func (d *Door) take(ctx context.Context, line string) (leave bool) {
	order, isCommand := strings.CutPrefix(line, "/")
	if !isCommand {
		d.say(ctx, line)
		return false
	}
	name, rest, _ := strings.Cut(order, " ")
	if local, ok := locals[strings.ToLower(name)]; ok {
		return local.run(d, ctx, strings.TrimSpace(rest))
	}
	if d.Parse == nil {
		d.print("There are no commands here.\n")
		return false
	}
	c, err := d.Parse(order)
	if err != nil {
		d.print(err.Error() + "\n")
		return false
	}
	c.By, c.Admin = d.person(), true
	e := d.Message(line)
	e.Kind, e.Command = turn.Ordered, c
	d.send(ctx, e)
	if c.Name == "help" {
		d.print(help())
	}
	return false
}

// say says something to the character and waits for the answer.
func (d *Door) say(ctx context.Context, text string) {
	d.mu.Lock()
	d.last = text
	d.said = append(d.said, utterance{d.User, text})
	d.mu.Unlock()
	d.send(ctx, d.Message(text))
}

// send sends an event and waits until it is answered.
func (d *Door) send(ctx context.Context, e turn.Event) {
	select {
	case <-d.ended: // nobody waited for it
	default:
	}
	select {
	case d.events <- e:
	case <-ctx.Done():
		return
	}
	d.await(ctx)
}

func (d *Door) person() turn.Author { return turn.Author{ID: "terminal:" + d.User, Name: d.User} }

// Message returns the event of a person saying something.
func (d *Door) Message(text string) turn.Event {
	return turn.Event{Kind: turn.Created, ID: d.newID(), Direct: true, Message: turn.Message{
		ID: d.NewID(), ChannelID: d.Channel(), Author: d.person(), Text: text, At: time.Now(),
	}}
}

func (d *Door) newID() string {
	d.open()
	return d.NewID()
}

// print prints a line of the program's own.
func (d *Door) print(text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rest()
	io.WriteString(d.Out, d.wrapped(text))
}

// Deliver prints what is new in a post.
func (d *Door) Deliver(_ context.Context, p turn.Post) (string, error) {
	d.open()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rest()
	id := p.ID
	if id == "" {
		id = d.NewID()
	}
	r := d.replies[id]
	if r == nil {
		r = &showing{}
		d.replies[id] = r
		d.begin(r)
	}
	if _, err := io.WriteString(d.Out, d.grow(r, p)); err != nil {
		return id, fmt.Errorf("write to the terminal: %w", err)
	}
	if p.Final {
		delete(d.replies, id)
		d.said = append(d.said, utterance{d.Name, p.Text})
		d.wake()
	}
	return id, nil
}

// begin prints who speaks. d.mu is held.
func (d *Door) begin(r *showing) {
	name := strings.ToLower(d.Name) + "> "
	if d.Screen == nil {
		io.WriteString(d.Out, name)
		return
	}
	r.painter = painter{width: d.Screen.Width(), colour: d.Screen.Colour}
	r.painter.label(name)
}

// grow returns what is to be printed of a post beyond what is shown of it. A text that has changed is printed again. d.mu is held.
func (d *Door) grow(r *showing, p turn.Post) string {
	text := Plain(p.Text)
	if d.Screen != nil {
		text = folded(p.Text)
	}
	rest, grown := strings.CutPrefix(text, r.shown)
	if !grown {
		rest = "\n" + text
	}
	r.shown = text
	switch {
	case d.Screen != nil:
		if !grown {
			rest = r.painter.feed("\n", false) + r.painter.again(text)
			return rest + r.painter.feed("", p.Final)
		}
		return r.painter.feed(rest, p.Final)
	case p.Final:
		return rest + "\n"
	}
	return rest
}

// wake wakes send, if it waits.
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
	d.rest()
	text := a.Text
	for _, s := range a.Sections {
		text = strings.TrimLeft(text+"\n\n"+strings.TrimLeft(s.Title+"\n"+s.Text, "\n"), "\n")
	}
	_, err := fmt.Fprintln(d.Out, d.wrapped(strings.TrimRight(Plain(text), "\n")))
	d.wake()
	return err
}

// label is what stands before the text of a line of a record: a word and spaces up to a column, or spaces alone.
var label = regexp.MustCompile(`^(?:\S+ {2,}| {4,})`)

// wrapped is a text whose lines fit into the window. Those of a record go on below their text.
func (d *Door) wrapped(text string) string {
	if d.Screen == nil {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		p := painter{width: d.Screen.Width()}
		line = harmless(line)
		lines[i] = line
		if p.width == 0 || uniseg.StringWidth(line) <= p.width {
			continue
		}
		switch head := label.FindString(line); {
		case head != "" && uniseg.StringWidth(head) < p.width/2:
			p.out.WriteString(head)
			p.column, p.indent = uniseg.StringWidth(head), uniseg.StringWidth(head)
			line = line[len(head):]
		case strings.Contains(line, "  "): // columns
			continue
		}
		p.words(line, 0)
		lines[i] = p.out.String()
	}
	return strings.Join(lines, "\n")
}

// Plain takes off the marks that only Discord reads: small type is indented, addresses lose their brackets.
func Plain(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if small, isSmall := strings.CutPrefix(line, smallType); isSmall {
			lines[i] = "  " + strings.NewReplacer("<http", "http", ">", "").Replace(small)
		}
	}
	return strings.Join(lines, "\n")
}
