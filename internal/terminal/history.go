package terminal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

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
