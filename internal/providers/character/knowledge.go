package character

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"familiar/internal/character/lore"
)

const (
	notesFile     = "notes.md"
	loreFolder    = "lore"
	longestNotes  = 2 << 10 // bytes that stand in every prompt; longer notes are looked up
	mostLoreFiles = 100
	mostLore      = 4 << 20 // bytes of all files
	loreExtension = ".md"
	outsideOfLore = "is or leads to a file outside of the character's folder"
	copyInto      = "copy the file into the folder"
	noPlainFile   = "is no plain file"
	leaveSomeOut  = "leave some out, or write less"
)

// KnowledgeFile is a file that the character knows things from.
type KnowledgeFile struct {
	Name     string // as in "lore/harbour.md"
	Bytes    int
	Always   bool // it stands in every prompt
	Passages int  // else, into which it is cut
}

// knowledgeText is such a file as it was read.
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
		if files++; files > mostLoreFiles {
			l.problem(at, "", "is one too many", fmt.Sprintf("a character may have %d files of lore", mostLoreFiles))
			break
		}
		data, ok := l.knowledgeFile(fsys, id, name)
		if size += len(data); size > mostLore {
			l.problem(at, "", fmt.Sprintf("makes the lore larger than %d MiB", mostLore>>20), leaveSomeOut)
			break
		}
		if ok {
			all = append(all, knowledgeText{name, data})
		}
	}
	return all
}

// confined is the character's folder, from which no link leads out. What is no directory of the operator's has no links.
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

// knowledgeFile reads one of the files, if it is there. Something else than a file is not opened: a pipe would be waited for.
func (l *loading) knowledgeFile(fsys fs.FS, id, name string) (string, bool) {
	info, err := fs.Stat(fsys, name)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New(noPlainFile)
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
	case err.Error() == noPlainFile:
		l.problem(at, "", noPlainFile, "")
	case strings.Contains(cause(err), "escapes from parent"): // os.Root has no error to compare with
		l.problem(at, "", outsideOfLore, copyInto)
	default:
		l.problem(at, "", "cannot be read: "+cause(err), "")
	}
}

// know keeps what was read: short notes as they are, the rest in passages.
func (c *Character) know(all []knowledgeText) {
	var passages []lore.Passage
	for _, k := range all {
		file := KnowledgeFile{Name: k.name, Bytes: len(k.text)}
		if k.name == notesFile && len(k.text) <= longestNotes {
			c.Notes, file.Always = strings.TrimSpace(k.text), true
		} else {
			cut := lore.Cut(k.name, fenced(c.Fill(k.text, somebody)))
			passages, file.Passages = append(passages, cut...), len(cut)
		}
		c.Knowledge = append(c.Knowledge, file)
	}
	if len(passages) > 0 {
		c.Library = lore.New(passages)
	}
}
