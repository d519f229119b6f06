package console

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"

	"familiar/internal/context/turn"
)

type charactersPage struct{ Folders []Folder }

func (k *Console) characters(w http.ResponseWriter, r *http.Request) {
	all, err := k.Shelf.list()
	if err != nil {
		k.broken(w, r, err)
		return
	}
	k.render(w, r, http.StatusOK, "characters", "Characters", charactersPage{all})
}

type editPage struct {
	Folder  Folder
	File    string
	Text    string
	Sum     string // of the file as it was read
	Verdict verdict
	Problem string // beside those of the file
	Secret  bool   // there is one in it: it is not shown
	Rows    int
}

// verdict is what a text would make of the character.
type verdict struct {
	Problems []Problem
	Warnings []Problem
	Prompt   []turn.Rendered
	Tokens   int
}

func (v verdict) OK() bool { return len(v.Problems) == 0 }

// folder returns the character of a request with the file that is edited. Where there is none it has answered.
func (k *Console) folder(w http.ResponseWriter, r *http.Request) (f Folder, file string, ok bool) {
	all, err := k.Shelf.list()
	if err != nil {
		k.broken(w, r, err)
		return f, "", false
	}
	i := slices.IndexFunc(all, func(f Folder) bool { return f.ID == r.PathValue("id") })
	if i < 0 || len(all[i].Files) == 0 {
		k.fail(w, r, http.StatusNotFound, "There is no such character.")
		return f, "", false
	}
	f, file = all[i], r.FormValue("file")
	if file == "" {
		file = f.Files[0]
	}
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
	if p.Secret = k.Redact(p.Text) != p.Text; p.Secret { // what is shown would be saved without it
		p.Text = ""
	} else {
		p.Verdict = k.verdict(r.Context(), p.Folder.ID, p.File, p.Text)
	}
	p.Rows = min(40, max(12, strings.Count(p.Text, "\n")+3))
	k.render(w, r, status, "edit", p.Folder.Name, p)
}

// verdict says what a text would make of a character.
func (k *Console) verdict(ctx context.Context, id, file, text string) (v verdict) {
	c, problems := k.Shelf.with(id, file, text)
	if c == nil {
		v.Problems = problems
		return v
	}
	v.Warnings, v.Prompt = problems, preview(ctx, c)
	for _, m := range v.Prompt {
		v.Tokens += m.Tokens
	}
	return v
}

// checkFile answers the editor at every key.
func (k *Console) checkFile(w http.ResponseWriter, r *http.Request) {
	f, file, ok := k.folder(w, r)
	if !ok {
		return
	}
	text := formText(r)
	if r.Header.Get("X-Fragment") == "" { // a browser without scripts
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
	if done, status, p.Problem = k.keep(r.Context(), f.ID, file, p.Sum, p.Text); done == "" {
		k.showEditor(w, r, status, p)
		return
	}
	http.Redirect(w, r, withQuery("/characters/"+f.ID, "file", file, "done", done), http.StatusSeeOther)
}

// keep saves a file that was read with a sum, if the character is in order with its text, and puts it in force. It returns what is done, for
// a notice; where nothing is, a status and the problem.
func (k *Console) keep(ctx context.Context, id, file, sum, text string) (done string, status int, problem string) {
	now, err := k.Shelf.read(id, file)
	switch {
	case err != nil:
		return "", http.StatusInternalServerError, "It could not be read: " + err.Error()
	case sumOf(now) != sum:
		return "", http.StatusConflict, "The file was changed meanwhile, here or in another editor. What you wrote is below and was not saved: open the page anew to see the other one."
	case now == text:
		return "unchanged", 0, ""
	}
	if c, _ := k.Shelf.with(id, file, text); c == nil {
		return "", http.StatusUnprocessableEntity, "It was not saved: the character could not be loaded. What is in force stays."
	}
	if err := k.Shelf.save(ctx, id, file, text); err != nil {
		return "", http.StatusInternalServerError, "It could not be saved, or not be put in force: " + err.Error()
	}
	return "saved", 0, ""
}

// formText is the text of a form. Browsers send CRLF at the ends of lines, and leave out a newline at the beginning.
func formText(r *http.Request) string {
	return strings.ReplaceAll(r.PostFormValue("text"), "\r\n", "\n")
}

func sumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}
