package console

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/providers/character"
	"familiar/internal/store"
)

type charactersPage struct{ Folders []folder }

func (k *Console) characters(w http.ResponseWriter, r *http.Request) {
	all, err := k.list()
	if err != nil {
		k.broken(w, r, err)
		return
	}
	k.render(w, r, http.StatusOK, "characters", "Characters", charactersPage{all})
}

// importCard makes a character of a card that is sent.
func (k *Console) importCard(w http.ResponseWriter, r *http.Request) {
	sent, head, err := r.FormFile("card")
	if err != nil {
		k.fail(w, r, http.StatusBadRequest, fmt.Sprintf("Choose a card: PNG, JSON or CHARX, up to %d MB.", k.Shelf.MostBytes>>20))
		return
	}
	defer sent.Close()
	data, err := io.ReadAll(sent)
	var id string
	if err == nil {
		err = k.act(r, store.ActWrite, "", "", path.Base(head.Filename))
	}
	if err == nil {
		id, err = k.Shelf.Import(r.Context(), path.Base(head.Filename), data, r.PostFormValue("replace") == "on")
	}
	if err == nil {
		err = k.Shelf.Reload(r.Context())
	}
	if err != nil {
		k.fail(w, r, http.StatusUnprocessableEntity, "It was not imported: "+k.Redact(err.Error())+".")
		return
	}
	k.redirect(w, r, withQuery("/characters/"+id, "done", "imported"))
}

type editPage struct {
	Folder  folder
	File    string
	Text    string
	Sum     string // checksum of the file when it was read
	Verdict verdict
	Problem string // not one of the file
	Secret  bool   // the file contains a secret and is not shown
	Other   string // the file as it is now, if it was changed meanwhile; saving again replaces it
	Rows    int
}

// verdict is the result of checking a character with a new text.
type verdict struct {
	Problems []problem
	Warnings []problem
	Prompt   []turn.Rendered
	Tokens   int
}

func (v verdict) OK() bool { return len(v.Problems) == 0 }

// folder returns the character of a request with the file that is edited. If there is none, it writes the response.
func (k *Console) folder(w http.ResponseWriter, r *http.Request) (f folder, file string, ok bool) {
	all, err := k.list()
	if err != nil {
		k.broken(w, r, err)
		return f, "", false
	}
	i := slices.IndexFunc(all, func(f folder) bool { return f.ID == r.PathValue("id") })
	if i < 0 || len(all[i].Files) == 0 {
		k.fail(w, r, http.StatusNotFound, "There is no such character.")
		return f, "", false
	}
	f, file = all[i], cmp.Or(r.FormValue("file"), all[i].Files[0])
	if !slices.Contains(f.Files, file) {
		k.fail(w, r, http.StatusNotFound, "This character has no such file.")
		return f, "", false
	}
	return f, file, true
}

func (k *Console) edit(w http.ResponseWriter, r *http.Request) {
	f, file, ok := k.folder(w, r)
	if !ok {
		return
	}
	text, err := k.Shelf.read(f.ID, file)
	if err != nil {
		k.broken(w, r, err)
		return
	}
	k.showEditor(w, r, http.StatusOK, editPage{Folder: f, File: file, Text: text, Sum: sumOf(text)})
}

func (k *Console) showEditor(w http.ResponseWriter, r *http.Request, status int, p editPage) {
	if p.Secret = k.Redact(p.Text) != p.Text; p.Secret { // saving what is shown would lose the secret
		p.Text = ""
	} else {
		p.Verdict = k.verdict(r.Context(), p.Folder.ID, p.File, p.Text)
	}
	p.Rows = min(40, max(12, strings.Count(p.Text, "\n")+3))
	k.render(w, r, status, "edit", p.Folder.Name, p)
}

// verdict checks a character with a new text.
func (k *Console) verdict(ctx context.Context, id, file, text string) (v verdict) {
	c, problems := k.Shelf.with(id, file, text)
	if c == nil {
		v.Problems = problems
		return v
	}
	v.Warnings, v.Prompt = problems, k.Shelf.preview(ctx, c)
	for _, m := range v.Prompt {
		v.Tokens += m.Tokens
	}
	return v
}

// checkFile answers the editor after each key.
func (k *Console) checkFile(w http.ResponseWriter, r *http.Request) {
	f, file, ok := k.folder(w, r)
	if !ok {
		return
	}
	text := formText(r)
	if r.Header.Get("X-Fragment") == "" { // a browser without JavaScript
		k.showEditor(w, r, http.StatusOK, editPage{Folder: f, File: file, Text: text, Sum: r.PostFormValue("sum")})
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write([]byte(k.fragment("verdict", k.verdict(r.Context(), f.ID, file, text))))
}

func (k *Console) saveFile(w http.ResponseWriter, r *http.Request) {
	f, file, ok := k.folder(w, r)
	if !ok {
		return
	}
	p := editPage{Folder: f, File: file, Text: formText(r), Sum: r.PostFormValue("sum")}
	done, status := "", 0
	if done, status, p.Problem = k.keep(r, f.ID, file, p.Sum, p.Text); done == "" {
		if status == http.StatusConflict {
			p.Other, _ = k.Shelf.read(f.ID, file) // it was read a moment ago
			p.Sum = sumOf(p.Other)
		}
		k.showEditor(w, r, status, p)
		return
	}
	k.redirect(w, r, withQuery("/characters/"+f.ID, "file", file, "done", done))
}

// keep saves a file if its checksum is still sum and the character is valid with the new text. Then it reloads the
// characters. It returns the key of a notice or, if nothing was saved, a status and the problem.
func (k *Console) keep(r *http.Request, id, file, sum, text string) (done string, status int, problem string) {
	now, err := k.Shelf.read(id, file)
	switch {
	case err != nil:
		return "", http.StatusInternalServerError, "It could not be read: " + err.Error()
	case sumOf(now) != sum:
		return "", http.StatusConflict, "The file was changed meanwhile, here or in another editor, so nothing was saved. Yours is below. Saving again puts it in place of the other."
	case now == text:
		return "unchanged", 0, ""
	}
	if c, _ := k.Shelf.with(id, file, text); c == nil {
		return "", http.StatusUnprocessableEntity, "It was not saved: the character could not be loaded. What is in force stays."
	}
	err = k.act(r, store.ActWrite, "", "", path.Join(id, file))
	if err == nil {
		err = k.Shelf.save(r.Context(), id, file, text)
	}
	if err != nil {
		return "", http.StatusInternalServerError, "It could not be saved, or not be put in force: " + err.Error()
	}
	return "saved", 0, ""
}

// formText returns the text of a form. Browsers send CRLF at the ends of lines and drop a leading newline.
func formText(r *http.Request) string {
	return strings.ReplaceAll(r.PostFormValue("text"), "\r\n", "\n")
}

func sumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// Shelf describes where the files of characters are. All fields are required.
type Shelf struct {
	Dir     string // directory of the operator's characters
	BuiltIn fs.FS
	// Reload reads the files again. It returns when the valid ones are active.
	Reload func(ctx context.Context) error
	// Import makes a character of a card, and returns its id. The error is for the operator.
	Import    func(ctx context.Context, file string, card []byte, replace bool) (id string, err error)
	MostBytes int64 // of the file of a card
	// Prompt returns the prompt that a character's own files give for a request. Nothing else is asked.
	Prompt func(ctx context.Context, c *character.Character, r turn.Request) []turn.Rendered
}

// folder is a character with the files that can be edited.
type folder struct {
	ID, Name string
	Files    []string
	BuiltIn  bool // saving copies the folder to the operator's characters
	Speaks   bool // a version of it is active
	Faults   []problem
}

// problem is an error or a warning about a file.
type problem struct {
	character.Problem
	Warning bool
}

const (
	configName   = "character.toml"
	previewLimit = 2 * time.Second
	// sample is the message for the preview.
	sample       = "Hello! Who are you, and what are you good at?"
	sampleAuthor = "Ada"
)

func (s *Shelf) files() fs.FS { return character.Overlay(s.Dir, s.BuiltIn) }

// list returns the characters in order.
func (k *Console) list() ([]folder, error) {
	s := k.Shelf
	files := s.files()
	ids, err := character.List(files)
	if err != nil {
		return nil, err
	}
	cast := k.Cast()
	var all []folder
	for _, id := range ids {
		f := folder{ID: id, Name: id, Files: editable(files, id)}
		_, err := os.Stat(path.Join(s.Dir, id))
		f.BuiltIn = errors.Is(err, fs.ErrNotExist)
		if i := slices.IndexFunc(cast, func(c *character.Character) bool { return c.ID == id }); i >= 0 {
			f.Name, f.Speaks = cast[i].Name, true
		}
		if _, err := character.Load(files, id); err != nil {
			f.Faults = problemsOf(err)
		}
		all = append(all, f)
	}
	return all, nil
}

// editable returns the text files of a character, its configuration first.
func editable(files fs.FS, id string) (all []string) {
	_ = fs.WalkDir(files, id, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.HasPrefix(d.Name(), ".") {
			return nil // the loader reports unreadable files
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
		return "", fmt.Errorf("read character file: %w", err)
	}
	return string(text), nil
}

// with returns the character as it would be if a file had this text, and the problems of that version.
func (s *Shelf) with(id, file, text string) (*character.Character, []problem) {
	c, err := character.Load(replaced{s.files(), path.Join(id, file), []byte(text)}, id)
	if err != nil {
		return nil, problemsOf(err)
	}
	var warnings []problem
	for _, w := range c.Warnings {
		warnings = append(warnings, problem{w, true})
	}
	return c, warnings
}

func problemsOf(err error) (all []problem) {
	for _, p := range character.Problems(err) {
		all = append(all, problem{Problem: p})
	}
	return all
}

// preview returns the prompt of a character for a first message, in its preferred mode. Nothing is looked up.
func (s *Shelf) preview(ctx context.Context, c *character.Character) []turn.Rendered {
	limits := c.Modes[c.Mode]
	now := time.Now()
	return s.Prompt(ctx, c, turn.Request{
		ID: "preview", Character: c.ID, ChannelID: "preview", Mode: c.Mode, Web: turn.Web{Switch: turn.WebOff},
		Message: turn.Message{ID: "preview", Author: turn.Author{ID: "preview", Name: sampleAuthor}, Text: sample, At: now},
		Budget:  turn.Budget{Total: limits.Total, Layers: limits.Layers}, Deadline: now.Add(previewLimit),
	})
}

// save writes a file whose character is valid and reloads. It copies a built-in folder first.
func (s *Shelf) save(ctx context.Context, id, file, text string) error {
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return fmt.Errorf("make characters directory: %w", err)
	}
	root, err := os.OpenRoot(s.Dir) // no symbolic link can lead out of it
	if err != nil {
		return fmt.Errorf("open characters directory: %w", err)
	}
	defer root.Close()
	if _, err := root.Stat(id); errors.Is(err, fs.ErrNotExist) {
		if err := copyFolder(root, s.BuiltIn, id); err != nil {
			return fmt.Errorf("copy built-in character: %w", err)
		}
	}
	name := path.Join(id, file)
	fresh := path.Join(path.Dir(name), "."+path.Base(name)+".new")
	if err := root.WriteFile(fresh, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write character file: %w", err)
	}
	if err := root.Rename(fresh, name); err != nil {
		return errors.Join(fmt.Errorf("write character file: %w", err), root.Remove(fresh))
	}
	return s.Reload(ctx)
}

// copyFolder copies a folder atomically: its name appears only when the copy is complete.
func copyFolder(root *os.Root, from fs.FS, id string) error {
	fresh := "." + id + ".new"
	one, err := fs.Sub(from, id)
	if err := errors.Join(err, root.RemoveAll(fresh)); err != nil {
		return err
	}
	if err := os.CopyFS(path.Join(root.Name(), fresh), one); err != nil {
		return err
	}
	return root.Rename(fresh, id)
}

// replaced is a file system in which one file has another text.
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
