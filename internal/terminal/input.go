package terminal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"golang.org/x/term"
)

// Input is a source of lines: a [Pipe] or an [Editor].
type Input interface {
	// Line returns the next line without its end. Pasted or edited text may have several lines. The error is io.EOF at
	// the end of the input.
	Line(ctx context.Context) (string, error)
}

// ErrLineTooLong is an error of Line.
var ErrLineTooLong = errors.New("a line is longer than 1 MiB")

// maxLine is the longest line that a pipe may have, in bytes.
const maxLine = 1 << 20

// Pipe reads lines without editing them. Make it with NewPipe.
type Pipe struct {
	scanner *bufio.Scanner
	asked   chan struct{}
	lines   chan read
}

type read struct {
	line   string
	unseen string // what an Editor has yet to show of it
	err    error
}

// NewPipe returns the lines of a reader. A goroutine reads them, because a read cannot be interrupted. It ends with the
// input.
func NewPipe(in io.Reader) *Pipe {
	p := &Pipe{scanner: bufio.NewScanner(in), asked: make(chan struct{}, 1), lines: make(chan read, 1)}
	p.scanner.Buffer(make([]byte, 0, 4096), maxLine)
	go p.read()
	return p
}

func (p *Pipe) read() {
	for range p.asked {
		if p.scanner.Scan() {
			p.lines <- read{line: p.scanner.Text()}
			continue
		}
		err := p.scanner.Err()
		switch {
		case errors.Is(err, bufio.ErrTooLong):
			err = ErrLineTooLong
		case err == nil:
			err = io.EOF
		}
		p.lines <- read{err: err}
		return
	}
}

// Line implements Input.
func (p *Pipe) Line(ctx context.Context) (string, error) {
	select {
	case p.asked <- struct{}{}:
	default: // the line asked for before has not come
	}
	select {
	case r := <-p.lines:
		if r.err != nil {
			p.lines <- r // later calls return the same error
		}
		return r.line, r.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// Columns returns the width of the window that a file belongs to, or 0 if it has none.
func Columns(f *os.File) int {
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// Editor reads lines that a person edits at the process's own terminal. It writes what is said above the line that is being edited. So a
// person may type while an answer grows. It keeps a history on disk. A line may go on after a \ at its end. The Tab key completes. Make it
// with NewEditor.
type Editor struct {
	prompt string
	line   *term.Terminal
	screen *screen
	lines  chan read
	state  *term.State // of the terminal before any change
	begin  sync.Once

	listening atomic.Bool // Line waits
	mu        sync.Mutex  // held while something is written above the line
}

// queued is how many lines may wait for the answers before them. Further keys wait in the terminal.
const queued = 16

// NewEditor returns an editor, which owns the terminal until Close. It keeps its history in a file that only its owner may read. complete
// returns completions for the text left of the cursor, each with a description. interrupt is called for Ctrl-C.
func NewEditor(prompt, path string, complete func(line string) [][2]string, interrupt func()) (*Editor, error) {
	h, err := openHistory(path)
	if err != nil {
		return nil, err
	}
	state, err := term.MakeRaw(int(os.Stdin.Fd()))
	if err != nil {
		return nil, fmt.Errorf("set the terminal up: %w", err)
	}
	e := &Editor{prompt: prompt, screen: &screen{to: os.Stdout}, lines: make(chan read, queued), state: state}
	e.line = term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{&keys{from: drawn{e}, interrupted: func() bool { interrupt(); return e.listening.Load() }}, e.screen}, prompt)
	e.line.History = h
	e.line.AutoCompleteCallback = func(line string, at int, key rune) (string, int, bool) {
		if key != '\t' {
			return "", 0, false
		}
		left, shown := completed(line[:at], complete(line[:at]))
		if shown != "" {
			io.WriteString(e, shown)
		}
		return left + line[at:], len(left), true
	}
	e.line.SetBracketedPasteMode(true)
	_, err = io.WriteString(e, "") // which sets the width
	return e, err
}

// drawn is the keyboard. It draws the line again before each read. The library's own changes to a line with wide characters go wrong.
type drawn struct{ *Editor }

func (d drawn) Read(p []byte) (int, error) {
	if _, err := io.WriteString(d, ""); err != nil {
		return 0, err
	}
	return os.Stdin.Read(p)
}

// Line implements Input. If ctx ends first, nothing more can be read.
func (e *Editor) Line(ctx context.Context) (string, error) {
	e.begin.Do(func() { go e.read() })
	e.listening.Store(true)
	defer e.listening.Store(false)
	select {
	case r := <-e.lines:
		e.line.SetPrompt(e.ready())
		_, err := io.WriteString(e, r.unseen)
		return r.line, errors.Join(r.err, err)
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// ready returns the prompt of a new line. It counts the lines that wait.
func (e *Editor) ready() string {
	if n := len(e.lines); n > 0 {
		return fmt.Sprintf("(+%d) %s", n, e.prompt)
	}
	return e.prompt
}

// read reads lines until the input ends. Nothing stops it before, because a read cannot be interrupted. A line that is entered during an
// answer disappears, and is shown when its turn comes.
func (e *Editor) read() {
	var r read
	for prompt := e.prompt; r.err == nil; {
		var line string
		line, r.err = e.readLine()
		now := e.listening.Load()
		if r.err == nil {
			r.unseen += prompt + line + "\n"
		}
		if utf8.RuneCountInString(line) >= longestLine {
			r.unseen += fmt.Sprintf("(cut after %d characters)\n", longestLine)
		}
		if now {
			io.WriteString(e, r.unseen) // a terminal that is gone ends the input, too
			r.unseen = ""
		}
		rest, more := strings.CutSuffix(line, `\`)
		r.line += strings.ReplaceAll(rest, lineBreak, "\n")
		if more {
			r.line += "\n"
			prompt = strings.Repeat(" ", max(0, len(e.prompt)-2)) + "… "
			e.line.SetPrompt(prompt)
			continue
		}
		if now || r.err != nil || strings.TrimSpace(r.line) != "" {
			e.lines <- r
		}
		r.line, r.unseen, prompt = "", "", e.prompt
		e.line.SetPrompt(e.ready())
	}
}

// readLine reads one line and removes it from the screen.
func (e *Editor) readLine() (string, error) {
	line, err := e.line.ReadLine()
	switch {
	case errors.Is(err, io.EOF):
		return "", io.EOF
	case err != nil && !errors.Is(err, term.ErrPasteIndicator): // which is not an error
		return "", fmt.Errorf("read a line: %w", err)
	}
	_, err = io.WriteString(e, "")
	return line, err
}

// Write writes text above the line that is being edited.
func (e *Editor) Write(text []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if width, height, err := term.GetSize(int(os.Stdout.Fd())); err == nil && width > 0 {
		if err := e.line.SetSize(width, height); err != nil {
			return 0, fmt.Errorf("set the width of the line: %w", err)
		}
	}
	e.screen.insert = string(text)
	if _, err := io.WriteString(e.line, insertion); err != nil {
		return 0, fmt.Errorf("write to the terminal: %w", err)
	}
	return len(text), nil
}

// Close removes the line that is being edited and restores the terminal's settings. The owner must call it at the end.
func (e *Editor) Close() error {
	e.line.SetBracketedPasteMode(false)
	e.screen.closing.Store(true)
	_, err := io.WriteString(e, "")
	if failed := term.Restore(int(os.Stdin.Fd()), e.state); failed != nil {
		err = errors.Join(err, fmt.Errorf("give the terminal its settings back: %w", failed))
	}
	return err
}

// screen is where the library draws the line that is being edited. It follows the cursor, because the library takes every character for
// one column. So other text can be written above the line, also in the middle of a line of that text.
type screen struct {
	to      io.Writer
	width   int
	insert  string      // to be written above the line
	closing atomic.Bool // the line is not drawn any more

	row, column int // of the cursor, from where the line begins
	end         int // the column where the text above goes on, in the row before; 0: it goes on in a new row
}

// insertion is written by the library as other text, where it has removed the line.
const insertion = "\x00"

// Write implements io.Writer.
func (s *screen) Write(p []byte) (int, error) {
	text := string(p)
	switch {
	case text == insertion:
		text = s.above()
	case s.closing.Load():
		return len(p), nil
	default:
		s.follow(text)
	}
	_, err := io.WriteString(s.to, text)
	return len(p), err
}

// above returns what writes s.insert above the line.
func (s *screen) above() string {
	s.width = max(Columns(os.Stdout), 1)
	home, text := "\r", s.insert
	if s.row > 0 {
		home = fmt.Sprintf("\x1b[%dA\r", s.row)
	}
	home += "\x1b[J"
	s.row, s.column, s.insert = 0, 0, ""
	switch {
	case text == "":
		return home
	case s.end == 0:
	case s.end == s.width && text[0] == '\n': // the full row has ended already
		text = text[1:]
	case s.end < s.width || text[0] == '\r':
		home += fmt.Sprintf("\x1b[A\x1b[%dC", s.end)
		s.column = s.end
	}
	text = strings.ReplaceAll(text, "\n", "\r\n")
	s.follow(text)
	if s.end = s.column; s.end > 0 {
		text += "\r\n"
	}
	s.row, s.column = 0, 0
	return home + text
}

// follow moves the cursor as a terminal does that is sent text.
func (s *screen) follow(text string) {
	for text != "" {
		if control := controls().FindStringSubmatch(text); control != nil {
			n, _ := strconv.Atoi(control[1]) // none: one step
			s.move(control[2]+control[4], max(n, 1))
			text = text[len(control[0]):]
			continue
		}
		var width int
		_, text, width, _ = uniseg.FirstGraphemeClusterInString(text, -1)
		if s.column+width > s.width {
			s.row, s.column = s.row+1, 0
		}
		s.column += width
	}
}

// controls matches a control at the beginning of a text, with its number and its letter. They are those of ECMA-48, and OSC of xterm.
var controls = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("^(?:\x1b\\[[?]?([0-9]*)[0-9;]*([A-Za-z])|\x1b\\][^\a]*\a|()([\r\n\a]))")
})

// move moves the cursor by a control.
func (s *screen) move(control string, n int) {
	switch control {
	case "A":
		s.row -= n
	case "B", "\n":
		s.row += n
	case "C":
		s.column = min(s.column+n, s.width-1)
	case "D":
		s.column = max(min(s.column, s.width-1)-n, 0)
	case "\r":
		s.column = 0
	case "H":
		s.row, s.column, s.end = 0, 0, 0
	}
}

// longestLine is how many characters the library keeps of a line.
const longestLine = 4096

// completed adds to a text what all its completions have in common. If it can add nothing, it returns their list.
func completed(line string, all [][2]string) (longer, shown string) {
	if len(all) == 0 {
		return line, ""
	}
	start := strings.LastIndexByte(line, ' ') + 1
	common := all[0][0]
	for _, c := range all {
		for !strings.HasPrefix(c[0], common) {
			common = common[:len(common)-1]
		}
		shown += c[0] + "  " + c[1] + "\n"
	}
	switch {
	case len(all) == 1 && !strings.HasSuffix(common, ":"):
		return line[:start] + common + " ", ""
	case len(all) == 1 || len(common) > len(line)-start:
		return line[:start] + common, ""
	}
	return line, shown
}

// lineBreak stands for the end of a line in pasted text, which is edited as one line.
const lineBreak = "⏎"

// keys reads what a person types.
type keys struct {
	from        io.Reader
	interrupted func() bool // called for Ctrl-C; it reports whether the line is cleared
	pending     []byte
	latest      string // the last bytes, which may begin or end a paste
	pasting     bool
}

const (
	pasteBegins = "\x1b[200~"
	pasteEnds   = "\x1b[201~"
	ctrlC       = '\x03'
	clearsLine  = "\x05\x15" // the keys End and Ctrl-U
)

// Read implements io.Reader. It replaces the ends of lines in pasted text, and Ctrl-C.
func (k *keys) Read(p []byte) (n int, err error) {
	if len(k.pending) == 0 {
		chunk := make([]byte, 256)
		n, err = k.from.Read(chunk)
		k.pending = chunk[:n]
	}
	for n = 0; len(k.pending) > 0 && n+len(lineBreak) <= len(p); {
		c := k.pending[0]
		k.pending = k.pending[1:]
		switch {
		case c == ctrlC && !k.pasting:
			if k.interrupted() {
				n += copy(p[n:], clearsLine)
			}
		case !k.pasting || c != '\r' && c != '\n':
			p[n] = c
			n++
		case c == '\r' || !strings.HasSuffix(k.latest, "\r"):
			n += copy(p[n:], lineBreak)
		}
		k.latest = k.latest[max(0, len(k.latest)-len(pasteBegins)+1):] + string([]byte{c})
		k.pasting = k.latest == pasteBegins || k.pasting && k.latest != pasteEnds
	}
	return n, err
}

// history is the lines that were typed, oldest first. A file keeps them, one a line.
type history struct {
	path  string
	lines []string
}

const keptLines = 1000

// openHistory reads the lines of a file, and cuts it to the last ones.
func openHistory(path string) (*history, error) {
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the history of lines: %w", err)
	}
	h := &history{path: path, lines: strings.FieldsFunc(string(b), func(r rune) bool { return r == '\n' })}
	if len(h.lines) > keptLines {
		h.lines = h.lines[len(h.lines)-keptLines:]
	}
	if err := os.WriteFile(path, []byte(strings.Join(append(h.lines, ""), "\n")), 0o600); err != nil {
		return nil, fmt.Errorf("write the history of lines: %w", err)
	}
	return h, nil
}

// Add implements term.History. A line that cannot be written is known until the process ends.
func (h *history) Add(line string) {
	if strings.TrimSpace(line) == "" || len(h.lines) > 0 && h.At(0) == line {
		return
	}
	h.lines = append(h.lines, line)
	if f, err := os.OpenFile(h.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
		fmt.Fprintln(f, line)
		f.Close()
	}
}

func (h *history) Len() int { return len(h.lines) }

// At implements term.History: 0 is the latest line.
func (h *history) At(i int) string { return h.lines[len(h.lines)-1-i] }
