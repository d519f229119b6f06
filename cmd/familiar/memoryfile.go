package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"

	"familiar/internal/memory"
)

// An archive is a directory with a Markdown file for each memory. An operator can keep, change and import them. A file begins with TOML
// between two "+++" lines: the scope, the subject and the sources. The text follows. Reading a file that was written returns an equal
// memory.

const (
	// maxArchiveFile is the largest size of a file in bytes.
	maxArchiveFile = 256 << 10

	fence = "+++\n"
)

// front is the TOML at the head of a file.
type front struct {
	ID         int64     `toml:"id,omitempty" comment:"leave it out for a new statement"`
	Kind       string    `toml:"kind"`
	Scope      string    `toml:"scope"`
	Channel    string    `toml:"channel,omitempty"`
	Server     string    `toml:"server,omitempty"`
	Subject    string    `toml:"subject,omitempty"`
	Author     string    `toml:"author,omitempty" comment:"whose words these are; without it a model worded them"`
	Sources    []string  `toml:"sources,omitempty"`
	Turn       string    `toml:"turn,omitempty"`
	By         string    `toml:"by,omitempty"`
	Said       time.Time `toml:"said"`
	Learned    time.Time `toml:"learned"`
	Supersedes int64     `toml:"supersedes,omitempty"`
	Superseded bool      `toml:"superseded,omitempty"`
	Pinned     bool      `toml:"pinned,omitempty"`
}

// marshal returns a memory as the content of a file.
func marshal(m memory.Statement) ([]byte, error) {
	f := front{
		ID: m.ID, Kind: string(m.Kind), Scope: string(m.Scope.Kind), Server: m.Scope.GuildID, Subject: m.Subject, Author: m.Author, Sources: m.Sources, Turn: m.TraceID, By: m.By,
		Said: m.SaidAt.UTC(), Learned: m.LearnedAt.UTC(), Supersedes: m.Supersedes, Superseded: m.Superseded, Pinned: m.Pinned,
	}
	if m.Scope.Kind == memory.ScopeDM || m.Scope.Kind == memory.ScopeChannel {
		f.Channel = m.Scope.ID
	}
	head, err := toml.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("write memory %d: %w", m.ID, err)
	}
	file := slices.Concat([]byte(fence), head, []byte(fence), []byte(m.Text), []byte("\n"))
	if len(file) > maxArchiveFile {
		return nil, fmt.Errorf("write memory %d: its file has %d bytes, the limit is %d", m.ID, len(file), maxArchiveFile)
	}
	return file, nil
}

// unmarshal reads the content of a file. An error begins with the file's name and a line.
func unmarshal(name string, file []byte) (memory.Statement, error) {
	fail := func(line int, format string, values ...any) (memory.Statement, error) {
		return memory.Statement{}, fmt.Errorf("%s:%d: %w", name, line, fmt.Errorf(format, values...))
	}
	switch {
	case len(file) > maxArchiveFile:
		return fail(1, "the file has %d bytes, the limit is %d", len(file), maxArchiveFile)
	case !utf8.Valid(file):
		valid := file[:len(file)-len(bytes.TrimLeftFunc(file, func(r rune) bool { return r != utf8.RuneError }))]
		return fail(1+bytes.Count(valid, []byte("\n")), "the file is not UTF-8")
	}
	rest, begins := bytes.CutPrefix(file, []byte(fence))
	if !begins {
		return fail(1, `the first line must be "+++"`)
	}
	head, text, ends := cutFence(rest)
	if !ends {
		return fail(1, `there is no second line "+++"`)
	}
	var f front
	err := toml.NewDecoder(bytes.NewReader(head)).DisallowUnknownFields().Decode(&f)
	if unknown, is := errors.AsType[*toml.StrictMissingError](err); is {
		line, _ := unknown.Errors[0].Position()
		return fail(line+1, "unknown setting %s", strings.Join(unknown.Errors[0].Key(), "."))
	}
	if wrong, is := errors.AsType[*toml.DecodeError](err); is {
		line, _ := wrong.Position()
		return fail(line+1, "%w", wrong)
	}
	if err != nil {
		return fail(1, "%w", err)
	}
	m := f.memory()
	m.Text = strings.TrimSuffix(string(text), "\n")
	if err := m.Check(); err != nil {
		return fail(1, "%w", err)
	}
	return m, nil
}

// cutFence cuts at the first line that is a fence.
func cutFence(rest []byte) (head, text []byte, found bool) {
	if text, at := bytes.CutPrefix(rest, []byte(fence)); at {
		return nil, text, true
	}
	head, text, found = bytes.Cut(rest, []byte("\n"+fence))
	return append(head, '\n'), text, found
}

func (f front) memory() memory.Statement {
	m := memory.Statement{
		ID: f.ID, Kind: memory.Kind(f.Kind), Scope: memory.Scope{Kind: memory.ScopeKind(f.Scope), ID: f.Channel, GuildID: f.Server}, Subject: f.Subject,
		Author: cmp.Or(f.Author, f.By), Sources: f.Sources, TraceID: f.Turn, By: f.By, SaidAt: f.Said.UTC(), LearnedAt: f.Learned.UTC(), Supersedes: f.Supersedes, Superseded: f.Superseded, Pinned: f.Pinned,
	}
	if m.Scope.Kind == memory.ScopeGuild {
		m.Scope.ID = f.Server
	}
	return m
}

// writeArchive writes memories into a new or empty directory. It writes all of them or none.
func writeArchive(dir string, all []memory.Statement) (err error) {
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return fmt.Errorf("write memory: directory %s is not empty", dir)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("write memory: %w", err)
	}
	dir = filepath.Clean(dir)
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return fmt.Errorf("write memory: %w", err)
	}
	made, err := os.MkdirTemp(filepath.Dir(dir), "."+filepath.Base(dir)+"-")
	if err != nil {
		return fmt.Errorf("write memory: %w", err)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("write memory: %w", errors.Join(err, os.RemoveAll(made)))
		}
	}()
	for _, m := range all {
		if err := writeFile(made, m); err != nil {
			return err
		}
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) { // it is empty
		return err
	}
	return os.Rename(made, dir)
}

// writeFile writes a memory into the directory of its kind. The id is the file's name, so no name contains text that people wrote.
func writeFile(dir string, m memory.Statement) error {
	if !slices.Contains(memory.Kinds(), m.Kind) {
		return fmt.Errorf("write memory %d: unknown kind %q", m.ID, m.Kind)
	}
	file, err := marshal(m)
	if err != nil {
		return err
	}
	at := filepath.Join(dir, string(m.Kind))
	if err := os.MkdirAll(at, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(at, fmt.Sprintf("%06d.md", m.ID)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(file)
	return errors.Join(err, f.Sync(), f.Close())
}

// readArchive reads all .md files of a directory and its subdirectories and returns their memories, ordered by id. It follows no
// symbolic links. The error joins all problems, each with its file and line.
func readArchive(dir string) (all []memory.Statement, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("read memory: %w", err)
	}
	defer root.Close()
	var wrong []error
	named := map[int64]string{}
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".md") {
			return err
		}
		m, err := readFile(root, name, d)
		if err == nil && m.ID != 0 && named[m.ID] != "" {
			err = fmt.Errorf("%s:1: %s has the same id, %d", name, named[m.ID], m.ID)
		}
		if err != nil {
			wrong = append(wrong, err)
			return nil
		}
		named[m.ID] = name
		all = append(all, m)
		return nil
	})
	if err = errors.Join(append(wrong, err)...); err != nil {
		return nil, fmt.Errorf("read memory: %w", err)
	}
	sort.SliceStable(all, func(i, j int) bool {
		a, b := all[i], all[j]
		return cmp.Compare(a.ID, b.ID) < 0
	})
	return all, nil
}

func readFile(root *os.Root, name string, d fs.DirEntry) (memory.Statement, error) {
	if !d.Type().IsRegular() {
		return memory.Statement{}, fmt.Errorf("%s:1: not a regular file", name)
	}
	f, err := root.Open(name)
	if err != nil {
		return memory.Statement{}, fmt.Errorf("%s:1: %w", name, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxArchiveFile+1))
	if err != nil {
		return memory.Statement{}, fmt.Errorf("%s:1: %w", name, err)
	}
	return unmarshal(name, data)
}
