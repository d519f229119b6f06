package console

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"familiar/internal/context/prompt"
	"familiar/internal/context/turn"
	"familiar/internal/providers/character"
)

// Shelf is where the characters' files are. All of its fields are required.
type Shelf struct {
	Dir     string // the operator's characters
	BuiltIn fs.FS
	// InForce returns the character with an id as turns are taken with it now, or nil.
	InForce func(id string) *character.Character
	// Reload has the files read again, and returns once what is in order there is in force.
	Reload func(ctx context.Context) error
}

// Folder is a character, with the files that can be edited.
type Folder struct {
	ID, Name string
	Files    []string
	BuiltIn  bool // saving a file makes a copy of the folder among the operator's
	Speaks   bool // a version of it is in force
	Faults   []Problem
}

// Problem is one thing that is wrong with a file, or a warning.
type Problem struct {
	character.Problem
	Warning bool
}

const (
	configName   = "character.toml"
	previewLimit = 2 * time.Second
	// sample is the message of a preview.
	sample       = "Hello! Who are you, and what are you good at?"
	sampleAuthor = "Ada"
)

func (s *Shelf) files() fs.FS { return character.Overlay(s.Dir, s.BuiltIn) }

// list returns the characters, in order.
func (s *Shelf) list() ([]Folder, error) {
	files := s.files()
	ids, err := character.List(files)
	if err != nil {
		return nil, err
	}
	var all []Folder
	for _, id := range ids {
		f := Folder{ID: id, Name: id, Files: editable(files, id)}
		_, err := os.Stat(path.Join(s.Dir, id))
		f.BuiltIn = errors.Is(err, fs.ErrNotExist)
		if now := s.InForce(id); now != nil {
			f.Name, f.Speaks = now.Name, true
		}
		if _, err := character.Load(files, id); err != nil {
			f.Faults = problemsOf(err)
		}
		all = append(all, f)
	}
	return all, nil
}

// editable are the files of a character that are text, its configuration first.
func editable(files fs.FS, id string) (all []string) {
	_ = fs.WalkDir(files, id, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.HasPrefix(d.Name(), ".") {
			return nil // of what cannot be read the loader speaks
		}
		if ext := path.Ext(name); ext == ".md" || ext == ".toml" || ext == ".json" {
			all = append(all, strings.TrimPrefix(name, id+"/"))
		}
		return nil
	})
	rank := func(name string) int {
		switch {
		case name == configName:
			return 0
		case !strings.Contains(name, "/"):
			return 1
		}
		return 2
	}
	slices.SortStableFunc(all, func(a, b string) int { return cmp.Or(rank(a)-rank(b), cmp.Compare(a, b)) })
	return all
}

func (s *Shelf) read(id, file string) (string, error) {
	text, err := fs.ReadFile(s.files(), path.Join(id, file))
	if err != nil {
		return "", fmt.Errorf("read a character's file: %w", err)
	}
	return string(text), nil
}

// with returns the character as it would be if a file had this text, and what is wrong with it or worth knowing.
func (s *Shelf) with(id, file, text string) (*character.Character, []Problem) {
	c, err := character.Load(replaced{s.files(), path.Join(id, file), []byte(text)}, id)
	if err != nil {
		return nil, problemsOf(err)
	}
	var warnings []Problem
	for _, w := range c.Warnings {
		warnings = append(warnings, Problem{w, true})
	}
	return c, warnings
}

func problemsOf(err error) (all []Problem) {
	var invalid *character.Invalid
	if !errors.As(err, &invalid) {
		return []Problem{{Problem: character.Problem{Text: err.Error()}}}
	}
	for _, p := range invalid.Problems {
		all = append(all, Problem{Problem: p})
	}
	return all
}

// preview is the prompt that a character makes of a first message, in the mode that it prefers. Nothing is looked up for it.
func preview(ctx context.Context, c *character.Character) []turn.Rendered {
	limits := c.Modes[c.Mode]
	now := time.Now()
	builder := prompt.Builder{
		Providers: []prompt.Provider{&character.Provider{Character: c}}, BlockRole: c.Web.BlockRole, Clock: c.Location, Names: []string{c.Name},
	}
	return builder.Build(ctx, turn.Request{
		ID: "preview", Character: c.ID, ChannelID: "preview", Mode: c.Mode, Web: turn.Web{Switch: turn.WebOff},
		Message: turn.Message{ID: "preview", Author: turn.Author{ID: "preview", Name: sampleAuthor}, Text: sample, At: now},
		Budget:  turn.Budget{Total: limits.Total, Layers: limits.Layers}, Deadline: now.Add(previewLimit),
	}).Messages
}

// save writes a file, of which the character is in order, and has it read. A folder that is built in is copied first.
func (s *Shelf) save(ctx context.Context, id, file, text string) error {
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return fmt.Errorf("make the characters' directory: %w", err)
	}
	root, err := os.OpenRoot(s.Dir) // no link leads out of it
	if err != nil {
		return fmt.Errorf("open the characters' directory: %w", err)
	}
	defer root.Close()
	if _, err := root.Stat(id); errors.Is(err, fs.ErrNotExist) {
		if err := copyFolder(root, s.BuiltIn, id); err != nil {
			return fmt.Errorf("copy the character that is built in: %w", err)
		}
	}
	name := path.Join(id, file)
	fresh := path.Join(path.Dir(name), "."+path.Base(name)+".new")
	if err := root.WriteFile(fresh, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write a character's file: %w", err)
	}
	if err := root.Rename(fresh, name); err != nil {
		return errors.Join(fmt.Errorf("write a character's file: %w", err), root.Remove(fresh))
	}
	return s.Reload(ctx)
}

// copyFolder copies a folder as a whole: it appears under its name when all of it is there.
func copyFolder(root *os.Root, from fs.FS, id string) error {
	fresh := "." + id + ".new"
	if err := root.RemoveAll(fresh); err != nil {
		return err
	}
	err := fs.WalkDir(from, id, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := path.Join(fresh, strings.TrimPrefix(name, id))
		if d.IsDir() {
			return root.MkdirAll(to, 0o755)
		}
		text, err := fs.ReadFile(from, name)
		if err != nil {
			return err
		}
		return root.WriteFile(to, text, 0o644)
	})
	if err != nil {
		return err
	}
	return root.Rename(fresh, id)
}

// replaced is files of which one has another text.
type replaced struct {
	fs.FS
	name string
	text []byte
}

// Open implements fs.FS.
func (r replaced) Open(name string) (fs.File, error) {
	f, err := r.FS.Open(name)
	if err != nil || name != r.name {
		return f, err
	}
	info, err := f.Stat()
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	return &replacement{bytes.NewReader(r.text), resized{info, int64(len(r.text))}}, nil
}

// ReadDir implements fs.ReadDirFS.
func (r replaced) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(r.FS, name) }

type replacement struct {
	*bytes.Reader
	info fs.FileInfo
}

func (f *replacement) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *replacement) Close() error               { return nil }

type resized struct {
	fs.FileInfo
	size int64
}

func (r resized) Size() int64 { return r.size }
