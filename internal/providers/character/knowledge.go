package character

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"strings"
)

const (
	notesFile     = "notes.md"
	loreFolder    = "lore"
	maxNotes      = 2 << 10 // bytes of notes in every prompt; longer notes are looked up
	maxLoreFiles  = 100
	maxLore       = 4 << 20 // bytes of all files
	loreExtension = ".md"
	outsideFolder = "is or leads to a file outside of the character's folder"
	notRegular    = "is not a regular file"
)

// KnowledgeFile is a file with things that the character knows.
type KnowledgeFile struct {
	Name   string // such as "lore/harbour.md"
	Bytes  int
	Always bool   // it is in every prompt, as [Character.Notes]
	Text   string // otherwise the text to look things up in, with its macros expanded
}

// knowledgeText is the content of such a file.
type knowledgeText struct{ name, text string }

// knowledge reads notes.md and the files of lore.
func (l *loading) knowledge(id string) (all []knowledgeText) {
	fsys, closed := l.confined(id)
	defer closed()
	if data, ok := l.knowledgeFile(fsys, id, notesFile); ok {
		all = append(all, knowledgeText{notesFile, data})
	}
	entries, err := fs.ReadDir(fsys, loreFolder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		l.knowledgeProblem(id, loreFolder, err)
	}
	files, size := 0, 0
	for _, e := range entries {
		name := path.Join(loreFolder, e.Name())
		if !strings.HasSuffix(name, loreExtension) || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		at := spot{file: where(l.fsys, path.Join(id, name))}
		if files++; files > maxLoreFiles {
			l.problem(at, "", "is one too many", fmt.Sprintf("a character may have %d files of lore", maxLoreFiles))
			break
		}
		data, ok := l.knowledgeFile(fsys, id, name)
		if size += len(data); size > maxLore {
			l.problem(at, "", fmt.Sprintf("makes the lore larger than %d MiB", maxLore>>20), "leave some out, or write less")
			break
		}
		if ok {
			all = append(all, knowledgeText{name, data})
		}
	}
	return all
}

// confined returns the character's folder, which no symbolic link can leave. Embedded folders have no links.
func (l *loading) confined(id string) (fs.FS, func()) {
	if o, ok := l.fsys.(overlay); ok && o.above(id) {
		if root, err := os.OpenRoot(filepath.Join(o.dir, id)); err == nil {
			return root.FS(), func() { root.Close() }
		}
	}
	sub, err := fs.Sub(l.fsys, id)
	if err != nil { // an id is a valid path
		sub = l.fsys
	}
	return sub, func() {}
}

// knowledgeFile reads one of the files, if it exists. It opens only regular files, because reading a pipe could block.
func (l *loading) knowledgeFile(fsys fs.FS, id, name string) (string, bool) {
	info, err := fs.Stat(fsys, name)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New(notRegular)
	}
	var data []byte
	if err == nil {
		data, err = readFile(fsys, name, maxFile)
	}
	if err != nil {
		if _, gone := fs.Lstat(fsys, name); gone == nil || !errors.Is(gone, fs.ErrNotExist) {
			l.knowledgeProblem(id, name, err)
		}
		return "", false
	}
	full := path.Join(id, name)
	l.note(full, data)
	if p, bad := notUTF8(where(l.fsys, full), data); bad {
		l.problems = append(l.problems, p)
		return "", false
	}
	text := strings.TrimPrefix(string(data), "\ufeff")
	return strings.ReplaceAll(text, "\r\n", "\n"), true
}

func (l *loading) knowledgeProblem(id, name string, err error) {
	at := spot{file: where(l.fsys, path.Join(id, name))}
	switch {
	case err.Error() == notRegular:
		l.problem(at, "", notRegular, "")
	case strings.Contains(cause(err), "escapes from parent"): // os.Root has no error to compare with
		l.problem(at, "", outsideFolder, "copy the file into the folder")
	default:
		l.problem(at, "", "cannot be read: "+cause(err), "")
	}
}

// know keeps what was read. Short notes are in every prompt, the other files are looked up.
func (c *Character) know(all []knowledgeText) {
	for _, k := range all {
		file := KnowledgeFile{Name: k.name, Bytes: len(k.text)}
		if k.name == notesFile && len(k.text) <= maxNotes {
			c.Notes, file.Always = strings.TrimSpace(k.text), true
		} else {
			file.Text = fenced(c.Fill(k.text, somebody))
		}
		c.Knowledge = append(c.Knowledge, file)
	}
}

// LookedUp yields the name and the text of each file of [Character.Knowledge] that is not in every prompt.
func (c *Character) LookedUp() iter.Seq2[string, string] {
	return func(yield func(name, text string) bool) {
		for _, f := range c.Knowledge {
			if !f.Always && !yield(f.Name, f.Text) {
				return
			}
		}
	}
}
