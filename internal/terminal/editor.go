package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// Editor reads lines that a person edits at the process's own terminal. It keeps a history on disk. A line may go on after
// a \ at its end. The Tab key completes. Make it with NewEditor.
type Editor struct {
	prompt   string
	complete func(line string) [][2]string
	history  *history
	keys     *keys
	lines    chan read
	state    *term.State // of the terminal before any change
}

// NewEditor returns an editor. It keeps its history in a file that only its owner may read. complete returns completions
// for the text left of the cursor, each with a description.
func NewEditor(prompt, path string, complete func(line string) [][2]string) (*Editor, error) {
	state, err := term.GetState(int(os.Stdin.Fd()))
	if err != nil {
		return nil, fmt.Errorf("read the terminal's settings: %w", err)
	}
	h, err := openHistory(path)
	if err != nil {
		return nil, err
	}
	return &Editor{prompt: prompt, complete: complete, history: h, keys: &keys{from: os.Stdin}, lines: make(chan read, 1), state: state}, nil
}

// Line implements Input. If ctx ends first, Line restores the terminal, and nothing more can be read.
func (e *Editor) Line(ctx context.Context) (string, error) {
	go func() {
		line, err := e.read()
		e.lines <- read{line, err}
	}()
	select {
	case r := <-e.lines:
		r.err = errors.Join(r.err, e.Close())
		if r.err == nil { // what is typed during an answer would land in it
			r.err = hold(int(os.Stdin.Fd()))
		}
		return r.line, r.err
	case <-ctx.Done():
		return "", errors.Join(ctx.Err(), e.Close())
	}
}

func (e *Editor) read() (string, error) {
	if _, err := term.MakeRaw(int(os.Stdin.Fd())); err != nil {
		return "", fmt.Errorf("set the terminal up: %w", err)
	}
	var lines []string
	for prompt := e.prompt; ; prompt = strings.Repeat(" ", max(0, len(e.prompt)-2)) + "… " {
		line, err := e.readLine(prompt)
		if err != nil {
			return "", err
		}
		rest, more := strings.CutSuffix(line, `\`)
		lines = append(lines, strings.ReplaceAll(rest, lineBreak, "\n"))
		if !more {
			return strings.Join(lines, "\n"), nil
		}
	}
}

// readLine reads one line with a new editor of the library, which draws its prompt where the cursor is.
func (e *Editor) readLine(prompt string) (string, error) {
	t := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{e.keys, os.Stdout}, prompt)
	if width, height, err := term.GetSize(int(os.Stdout.Fd())); err == nil && width > 0 {
		if err := t.SetSize(width, height); err != nil {
			return "", fmt.Errorf("set the width of the line: %w", err)
		}
	}
	t.History = e.history
	t.AutoCompleteCallback = func(line string, at int, key rune) (string, int, bool) {
		if key != '\t' {
			return "", 0, false
		}
		left, shown := completed(line[:at], e.complete(line[:at]))
		if shown != "" {
			fmt.Fprint(t, shown)
		}
		return left + line[at:], len(left), true
	}
	t.SetBracketedPasteMode(true)
	defer t.SetBracketedPasteMode(false)
	line, err := t.ReadLine()
	switch {
	case e.keys.interrupted:
		e.keys.interrupted = false
		fmt.Print("\r\n")
		return "", ErrInterrupted
	case errors.Is(err, io.EOF):
		return "", io.EOF
	case err != nil && !errors.Is(err, term.ErrPasteIndicator): // which is no error
		return "", fmt.Errorf("read a line: %w", err)
	case utf8.RuneCountInString(line) >= longestLine:
		fmt.Printf("(cut after %d characters)\r\n", longestLine)
	}
	return line, nil
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

// Close restores the terminal's settings, which the owner must do at the end.
func (e *Editor) Close() error {
	if err := term.Restore(int(os.Stdin.Fd()), e.state); err != nil {
		return fmt.Errorf("give the terminal its settings back: %w", err)
	}
	return nil
}

// lineBreak stands for the end of a line in pasted text, which is edited as one line.
const lineBreak = "⏎"

// keys reads what a person types, up to the end of a line at a time. An editor keeps nothing for the next one.
type keys struct {
	from        io.Reader
	pending     []byte
	latest      string // the last bytes, which may begin or end a paste
	pasting     bool
	interrupted bool // by Ctrl-C
}

const (
	pasteBegins = "\x1b[200~"
	pasteEnds   = "\x1b[201~"
	ctrlC       = '\x03'
)

// Read implements io.Reader. It replaces the ends of lines in pasted text.
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
		case !k.pasting || c != '\r' && c != '\n':
			p[n] = c
			n++
		case c == '\r' || !strings.HasSuffix(k.latest, "\r"):
			n += copy(p[n:], lineBreak)
		}
		k.latest = k.latest[max(0, len(k.latest)-len(pasteBegins)+1):] + string([]byte{c})
		k.pasting = k.latest == pasteBegins || k.pasting && k.latest != pasteEnds
		k.interrupted = c == ctrlC && !k.pasting
		if k.interrupted || c == '\r' && !k.pasting {
			break
		}
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
