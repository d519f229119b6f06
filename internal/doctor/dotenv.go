package doctor

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/joho/godotenv"
)

const maxDotenv = 1 << 20 // bytes

// ReadDotenv returns the settings in a .env, nil if there is no such file.
func ReadDotenv(path string) (map[string]string, error) {
	text, err := dotenvText(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	values, err := godotenv.UnmarshalBytes(text)
	if err != nil {
		// The parser quotes the line that it cannot read, which may hold a secret.
		return nil, fmt.Errorf("read %s: line %d is not NAME=value, or a quotation mark in it is not closed", path, badLine(text))
	}
	return values, nil
}

// dotenvText returns the text of a .env.
func dotenvText(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read .env: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxDotenv+1))
	if err != nil {
		return nil, fmt.Errorf("read .env: %w", err)
	}
	if len(text) > maxDotenv {
		return nil, fmt.Errorf("read %s: it has more than %d KB, so it is not a list of settings", path, maxDotenv>>10)
	}
	if !utf8.Valid(text) { // an editor or a shell on Windows may write UTF-16
		return nil, fmt.Errorf("read %s: it is not UTF-8; save it as that", path)
	}
	return bytes.TrimPrefix(text, []byte(byteOrder)), nil
}

// badLine returns the number of the first line that is wrong in a .env. It is the one after the longest beginning that can be read. A
// quoted value may go over several lines.
func badLine(text []byte) int {
	lines := bytes.SplitAfter(text, []byte("\n"))
	for n := len(lines) - 1; n > 0; n-- {
		if _, err := godotenv.UnmarshalBytes(bytes.Join(lines[:n], nil)); err == nil {
			return n + 1
		}
	}
	return 1
}

// Assignment is a line of a .env.
type Assignment struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// byteOrder is what editors on Windows write before a text.
const byteOrder = "\ufeff"

// amendDotenv returns a .env with assignments: each replaces one of the same name or is added at the end. Other lines do not change. The error
// says that a value cannot be written in a .env.
func amendDotenv(old string, set []Assignment) (string, error) {
	text := strings.TrimPrefix(old, byteOrder)
	var further []Assignment
	for _, a := range set {
		if alone, err := godotenv.Unmarshal(a.line()); err != nil || alone[a.Name] != a.Value {
			return "", fmt.Errorf("the value of %[1]s cannot be written into .env: put it into a file, and name that in %[1]s_FILE", a.Name)
		}
		var found bool
		if text, found = replaceLine(text, a); !found {
			further = append(further, a)
		}
	}
	if further != nil {
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		text += "# Written by familiar init:\n"
		for _, a := range further {
			text += a.line()
		}
	}
	values, err := godotenv.Unmarshal(text)
	if err != nil {
		return "", errors.New("a value cannot be written into .env") // the parser quotes it
	}
	for _, a := range set {
		if values[a.Name] != a.Value {
			return "", fmt.Errorf("the value of %s cannot be written into .env: put it into a file, and name that in %s_FILE", a.Name, a.Name)
		}
	}
	return text, nil
}

// replaceLine replaces the first line that assigns to a name, and removes the others, because the last one would count.
func replaceLine(text string, a Assignment) (string, bool) {
	var b strings.Builder
	found := false
	for len(text) > 0 {
		line := statement(text)
		text = text[len(line):]
		name, _, isAssignment := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "export "), "=")
		if !isAssignment || strings.TrimSpace(name) != a.Name {
			b.WriteString(line)
			continue
		}
		if !found {
			b.WriteString(a.inPlaceOf(line))
		}
		found = true
	}
	return b.String(), found
}

// statement returns the first line of a text, with the lines that its quoted value goes over.
func statement(text string) string {
	end := strings.IndexByte(text, '\n') + 1
	if end == 0 {
		return text
	}
	trimmed := strings.TrimSpace(text[:end])
	_, value, isAssignment := strings.Cut(trimmed, "=")
	value = strings.TrimSpace(value)
	if !isAssignment || trimmed[0] == '#' || value == "" || value[0] != '"' && value[0] != '\'' {
		return text[:end]
	}
	open := strings.IndexByte(text, value[0])
	if end := quoteEnd(text[open:]); end > 0 {
		if rest := strings.IndexByte(text[open+end:], '\n'); rest >= 0 {
			return text[:open+end+rest+1]
		}
		return text
	}
	return text[:end]
}

// quoteEnd returns where a text that begins with a quotation mark has the one that closes it, or 0.
func quoteEnd(text string) int {
	for i := 1; i < len(text); i++ {
		if text[i] == text[0] && text[i-1] != '\\' {
			return i
		}
	}
	return 0
}

func (a Assignment) line() string {
	value := a.Value
	if strings.ContainsAny(value, " \t#$\"'\\`\n") {
		value = "'" + value + "'"
	}
	return a.Name + "=" + value + "\n"
}

// inPlaceOf returns the assignment with what the old line has around its own: export, and a comment.
func (a Assignment) inPlaceOf(old string) string {
	old = strings.TrimSpace(old)
	before := ""
	if strings.HasPrefix(old, "export ") {
		before = "export "
	}
	return before + strings.TrimSuffix(a.line(), "\n") + commentOf(old) + "\n"
}

// commentOf returns the comment of an assignment, with a blank before it.
func commentOf(line string) string {
	_, value, _ := strings.Cut(line, "=")
	value = strings.TrimSpace(value)
	if value != "" && (value[0] == '"' || value[0] == '\'') {
		if end := quoteEnd(value); end > 0 {
			value = " " + strings.TrimSpace(value[end+1:])
		}
	}
	if at := strings.Index(value, " #"); at >= 0 {
		return value[at:]
	}
	return ""
}

// ownerOnly are the rights of a new .env.
const ownerOnly = 0o600

// writeBeside replaces a file and keeps its rights; a new one is readable for its owner only. At every moment the whole old or the whole new one is there.
func writeBeside(path string, text []byte) (err error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	mode := fs.FileMode(ownerOnly)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+"-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	_, err = f.Write(text)
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return os.Rename(f.Name(), path)
}

// copyDir copies a directory to a new path, completely or not at all.
func copyDir(from fs.FS, to string) (err error) {
	if _, err := os.Lstat(to); err == nil {
		return fmt.Errorf("%s is there already, and stays as it is", to)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	beside, err := os.MkdirTemp(filepath.Dir(to), "."+filepath.Base(to)+"-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(beside)
	if err := os.CopyFS(beside, from); err != nil {
		return err
	}
	if err := os.Chmod(beside, 0o755); err != nil {
		return err
	}
	return os.Rename(beside, to)
}
