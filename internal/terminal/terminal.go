// Package terminal is the door to a character at a terminal. A person talks through it, or a script through a pipe.
//
//	terminal.go  the [Door]: it turns a line into an event, waits for the answer and prints it as it grows
//	local.go     the commands that only a terminal has: /clear, /retry, /copy, /save, /sources, /quit
//	input.go     the sources of lines: a pipe or an editor
//	paint.go     Markdown as type, wrapped at the window's edge, while it arrives
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

	"github.com/oklog/ulid/v2"
	"github.com/rivo/uniseg"

	"familiar/internal/context/turn"
)

// Channel is the id of the first conversation's channel.
const Channel = "terminal"

// Door is a terminal. Out and Name are required. Its exported fields must not be changed after first use.
type Door struct {
	Out  io.Writer
	Name string // of the character
	User string // of the person; empty: "you"
	// Parse reads a command of the bot without its slash. nil: there are no commands. Its error is shown to the person.
	Parse  func(order string) (*turn.Command, error)
	Screen *Screen // nil: plain text is printed
	Save   func(name string, text []byte) error
	NewID  func() string
	lacks

	mu      sync.Mutex
	channel string              // guarded by mu, as are the fields below
	replies map[string]*showing // growing replies by post id
	doing   string              // what the bot is doing
	waiting bool                // the line of showBusy is on the screen
	said    []utterance         // the conversation, for /save
	last    string              // the person's last words, for /retry
	asked   string              // the id of the only button under the last answer, which a yes presses

	once   sync.Once
	events chan []turn.Event
	ended  chan struct{} // an answer is complete; holds one token
}

// Screen is a window that a person looks at.
type Screen struct {
	Width  func() int // columns; 0: unknown
	Colour bool
}

// showing is a growing reply.
type showing struct {
	shown   string // the text shown so far
	painter painter
}

func (d *Door) open() {
	d.once.Do(func() {
		d.events = make(chan []turn.Event)
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

// Events returns what the person says. Read closes the channel when it returns.
func (d *Door) Events() <-chan []turn.Event {
	d.open()
	return d.events
}

// Channel returns the id of the current conversation's channel.
func (d *Door) Channel() string {
	d.open()
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.channel
}

// Read takes lines until the input ends, a line says /quit, or ctx is done. It waits for each answer.
func (d *Door) Read(ctx context.Context, in Input) error {
	d.open()
	defer close(d.events)
	for ctx.Err() == nil {
		line, err := in.Line(ctx)
		switch {
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

// take carries out a line. It reports whether the line was a command to leave.
func (d *Door) take(ctx context.Context, line string) (leave bool) {
	d.mu.Lock()
	asked := d.asked
	d.asked = ""
	d.mu.Unlock()
	if asked != "" && strings.EqualFold(line, yes) {
		e := d.Message(line)
		e.Kind, e.Command = turn.Ordered, &turn.Command{Button: asked, By: d.person(), Admin: true}
		d.send(ctx, e)
		return false
	}
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

// say sends the person's words to the character and waits for the answer.
func (d *Door) say(ctx context.Context, text string) {
	d.mu.Lock()
	d.last = text
	d.said = append(d.said, utterance{d.User, text})
	d.mu.Unlock()
	d.send(ctx, d.Message(text))
}

func (d *Door) send(ctx context.Context, e turn.Event) {
	select {
	case <-d.ended: // nobody waited for this answer
	default:
	}
	select {
	case d.events <- []turn.Event{e}:
	case <-ctx.Done():
		return
	}
	d.await(ctx)
}

// person returns the author of what is typed. A model is "you" in its prompt, so a person without a name is called "User" there.
func (d *Door) person() turn.Author {
	if d.User == "you" {
		return turn.Author{ID: turn.TerminalPrefix + d.User, Name: "User"}
	}
	return turn.Author{ID: turn.TerminalPrefix + d.User, Name: d.User}
}

// Message returns the event for a person's words.
func (d *Door) Message(text string) turn.Event {
	return turn.Event{Kind: turn.Created, ID: d.newID(), Direct: true, Message: turn.Message{
		ID: d.NewID(), ChannelID: d.Channel(), Author: d.person(), Text: text, At: time.Now(),
	}}
}

func (d *Door) newID() string {
	d.open()
	return d.NewID()
}

// print prints text of the program itself.
func (d *Door) print(text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rest()
	io.WriteString(d.Out, d.wrapped(text))
}

// Post prints a new message.
func (d *Door) Post(_ context.Context, p turn.Post) (id string, err error) {
	id = d.newID()
	d.mu.Lock()
	defer d.mu.Unlock()
	if p.Mention != "" { // a reminder, which is not an answer
		d.rest()
		_, err := io.WriteString(d.Out, d.wrapped(strings.ToLower(d.Name)+"> "+p.Text+"\n"))
		return id, err
	}
	return id, d.show(id, p.Text, p.Final)
}

// Edit prints what is new in a message. If the text has changed and not only grown, Edit prints all of it again.
func (d *Door) Edit(_ context.Context, e turn.Edit) error {
	if err := e.Validate(); err != nil {
		return fmt.Errorf("edit a message: %w", err)
	}
	d.open()
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.show(e.ID, e.Text, e.Final)
}

// Delete forgets a message. What is printed stays on the screen.
func (d *Door) Delete(_ context.Context, r turn.Ref) error {
	if err := r.Validate(); err != nil {
		return fmt.Errorf("delete a message: %w", err)
	}
	d.open()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rest()
	delete(d.replies, r.ID)
	return nil
}

// lacks are the methods of a door for what no terminal has.
type lacks struct{}

// React returns [errors.ErrUnsupported].
func (lacks) React(context.Context, turn.Ref, string) error { return errors.ErrUnsupported }

// OpenThread returns [errors.ErrUnsupported].
func (lacks) OpenThread(context.Context, turn.Ref, string) (string, error) {
	return "", errors.ErrUnsupported
}

// MayPost reports true: the bot may always write.
func (lacks) MayPost(string) bool { return true }

// Typing does nothing: a terminal shows the words as they arrive.
func (lacks) Typing(context.Context, string) error { return nil }

// show prints what is new in the text of a message. The caller holds d.mu.
func (d *Door) show(id, text string, final bool) error {
	d.rest()
	r := d.replies[id]
	if r == nil {
		r = &showing{}
		d.replies[id] = r
		d.begin(r)
	}
	if _, err := io.WriteString(d.Out, d.grow(r, text, final)); err != nil {
		return fmt.Errorf("write to the terminal: %w", err)
	}
	if final {
		delete(d.replies, id)
		d.said = append(d.said, utterance{d.Name, text})
		d.wake()
	}
	return nil
}

// begin prints the speaker's name. The caller holds d.mu.
func (d *Door) begin(r *showing) {
	name := strings.ToLower(d.Name) + "> "
	if d.Screen == nil {
		io.WriteString(d.Out, name)
		return
	}
	r.painter = painter{width: d.Screen.Width(), colour: d.Screen.Colour}
	r.painter.label(name)
}

// grow returns the part of a text that is not shown yet. It returns all of it if the shown part has changed. The caller holds d.mu.
func (d *Door) grow(r *showing, whole string, final bool) string {
	text := Plain(whole)
	if d.Screen != nil {
		text = folded(whole)
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
			return rest + r.painter.feed("", final)
		}
		return r.painter.feed(rest, final)
	case final:
		return rest + "\n"
	}
	return rest
}

// wake ends the wait of send, if it waits.
func (d *Door) wake() {
	select {
	case d.ended <- struct{}{}:
	default:
	}
}

// yes presses the only button under an answer.
const yes = "yes"

// Respond prints the answer to a command, without files. A single button is a question that the next line may answer with yes.
func (d *Door) Respond(_ context.Context, _ turn.Command, a turn.Answer) error {
	d.open()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rest()
	text := a.Text
	for _, s := range a.Sections {
		text = strings.TrimLeft(text+"\n\n"+strings.TrimLeft(s.Title+"\n"+s.Text, "\n"), "\n")
	}
	if len(a.Buttons) == 1 && len(a.Sections) == 0 {
		d.asked = a.Buttons[0].ID
		text += fmt.Sprintf("\n(%s: %s)", yes, a.Buttons[0].Label)
	}
	_, err := fmt.Fprintln(d.Out, d.wrapped(strings.TrimRight(Plain(text), "\n")))
	d.wake()
	return err
}

// label matches the beginning of a line of a record. It is a word with spaces up to a column, or spaces alone.
var label = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:\S+ {2,}| {4,})`) })

// wrapped returns a text whose lines fit into the window. A long line of a record continues below its own text.
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
		switch head := label().FindString(line); {
		case head != "" && uniseg.StringWidth(head) < p.width/2:
			p.out.WriteString(head)
			p.column, p.indent = uniseg.StringWidth(head), uniseg.StringWidth(head)
			line = line[len(head):]
		case strings.Contains(line, "  "): // a table, which is not wrapped
			continue
		}
		p.words(line, 0)
		lines[i] = p.out.String()
	}
	return strings.Join(lines, "\n")
}

// Plain removes the marks that only Discord reads. Small type is indented, and addresses lose their brackets.
func Plain(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if small, isSmall := strings.CutPrefix(line, smallType); isSmall {
			lines[i] = "  " + strings.NewReplacer("<http", "http", ">", "").Replace(small)
		}
	}
	return strings.Join(lines, "\n")
}

const (
	// turning is how long each of signs is shown.
	turning = 120 * time.Millisecond
	signs   = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
	// clearLine moves the cursor to the beginning of the line and clears the line (ECMA-48, EL).
	clearLine = "\r\x1b[K"
)

// Watch is called with what the bot is doing in a turn.
func (d *Door) Watch(a turn.Activity, n int) {
	d.open()
	d.mu.Lock()
	defer d.mu.Unlock()
	switch a {
	case turn.Searching:
		d.doing = "searching the web"
	case turn.Reading:
		d.doing = "reading a page"
		if n > 1 {
			d.doing = fmt.Sprintf("reading %d pages", n)
		}
	case turn.Checking:
		d.doing = "checking what they say"
	case turn.Thinking:
		d.doing = "thinking"
	}
}

// await waits for an answer. On a screen it shows what the bot is doing until the first word.
func (d *Door) await(ctx context.Context) {
	var tick <-chan time.Time
	if d.Screen != nil {
		ticker := time.NewTicker(turning)
		defer ticker.Stop()
		tick = ticker.C
	}
	d.Watch(turn.Thinking, 0)
	defer func() { // a tick may come after the last word and before the end
		d.mu.Lock()
		d.rest()
		d.mu.Unlock()
	}()
	for n := 0; ; n++ {
		select {
		case <-d.ended:
			return
		case <-ctx.Done():
			return
		case <-tick:
			d.showBusy(n)
		}
	}
}

// showBusy shows the next sign unless a reply has begun.
func (d *Door) showBusy(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.replies) > 0 {
		return
	}
	all := []rune(signs)
	fmt.Fprintf(d.Out, "%s%c %s", clearLine, all[n%len(all)], d.doing)
	d.waiting = true
}

// rest removes the sign from the screen. The caller holds d.mu.
func (d *Door) rest() {
	if d.waiting {
		io.WriteString(d.Out, clearLine)
		d.waiting = false
	}
}

// Once is the door of one question: it keeps the reply.
type Once struct {
	lacks
	Text string
}

// Post keeps a reply.
func (o *Once) Post(_ context.Context, p turn.Post) (string, error) {
	o.Text = Plain(p.Text)
	return "answer-" + p.Nonce, nil
}

// Edit replaces the reply.
func (o *Once) Edit(_ context.Context, e turn.Edit) error {
	if err := e.Validate(); err != nil {
		return fmt.Errorf("edit the answer: %w", err)
	}
	o.Text = Plain(e.Text)
	return nil
}

// Delete forgets the reply.
func (o *Once) Delete(context.Context, turn.Ref) error {
	o.Text = ""
	return nil
}

// Respond does nothing: no command is asked.
func (o *Once) Respond(context.Context, turn.Command, turn.Answer) error { return nil }
