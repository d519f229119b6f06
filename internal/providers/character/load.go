package character

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"familiar/internal/context/turn"
	"familiar/internal/text"
)

const (
	defaultsID  = "_default"
	configFile  = "character.toml"
	pictureFile = "avatar.png"
	maxFile     = 256 << 10 // bytes
)

// Load reads the character in the folder id. An error is an *[Invalid] with all problems in the character's files and in the defaults.
func Load(fsys fs.FS, id string) (*Character, error) {
	if err := exists(fsys, id); err != nil {
		return nil, err
	}
	l := &loading{fsys: fsys, reading: newReading(), sum: sha256.New()}
	c := &Character{ID: id, Instructions: make(map[turn.Mode]string)}
	l.configure(id)
	c.Persona = l.persona(path.Join(id, "persona.md"))
	for _, m := range turn.Modes() {
		if text := l.instructions(id, m); text != "" {
			c.Instructions[m] = text
		}
	}
	l.unknownModes(path.Join(id, "modes"))
	c.Picture = l.picture(path.Join(id, pictureFile))
	l.parts(id, c)
	l.greetings(id, c)
	books, scripts, knowledge := l.books(id), l.scripts(id), l.knowledge(id)
	if len(l.problems) > 0 {
		inOrder(l.problems)
		return nil, &Invalid{Problems: l.problems}
	}
	l.expressions(c)
	l.config.apply(c)
	l.compile(c, books, scripts)
	c.know(knowledge)
	inOrder(c.Warnings)
	l.sum.Sum(c.Sum[:0])
	return c, nil
}

// List returns the sorted ids of all characters.
func List(fsys fs.FS) ([]string, error) {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, fmt.Errorf("list characters: %w", err)
	}
	var ids []string
	for _, e := range entries {
		if info, err := fs.Stat(fsys, e.Name()); err == nil && info.IsDir() && isID(e.Name()) {
			ids = append(ids, e.Name())
		}
	}
	return ids, nil
}

// isID reports whether a folder with this name is a character. Names that begin with a dot or an underscore are reserved.
func isID(name string) bool {
	return fs.ValidPath(name) && !strings.ContainsAny(name, `/\`) && name[0] != '.' && name[0] != '_'
}

// exists returns an error if the character is missing or its folder cannot be read. The error suggests other characters.
func exists(fsys fs.FS, id string) error {
	if isID(id) {
		info, err := fs.Stat(fsys, id)
		if err == nil && info.IsDir() {
			return nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return &Invalid{Problems: []Problem{{File: where(fsys, id), Text: "cannot be read: " + cause(err)}}}
		}
	}
	p := Problem{File: where(fsys, id), Text: fmt.Sprintf("no character %q", id)}
	if !isID(id) {
		p.File = where(fsys, ".")
	}
	ids, _ := List(fsys)
	if n := text.Nearest(id, ids); n != "" {
		p.Cure = fmt.Sprintf("did you mean %q?", n)
	} else if len(ids) > 0 {
		p.Cure = "there are: " + strings.Join(ids, ", ")
	}
	return &Invalid{Problems: []Problem{p}}
}

// loading reads the files of a character and collects their problems.
type loading struct {
	fsys fs.FS
	*reading
	sum hash.Hash // of the names and contents of the files
}

// configure reads the defaults and then the character's own file, if it has one.
func (l *loading) configure(id string) {
	defaults := path.Join(defaultsID, configFile)
	if data, ok := l.read(defaults, true); ok {
		l.file(where(l.fsys, defaults), data)
		if len(l.problems) == 0 {
			l.complete(where(l.fsys, defaults))
		}
	}
	own := path.Join(id, configFile)
	if data, ok := l.read(own, false); ok {
		l.file(where(l.fsys, own), data)
	}
	l.check()
}

func (l *loading) persona(name string) string {
	text, ok := l.text(name, true)
	if ok && text == "" {
		l.problem(spot{file: where(l.fsys, name)}, "", "is empty", "describe who the character is")
	}
	return text
}

// instructions returns the character's instructions for a mode, or else the default ones, or else "".
func (l *loading) instructions(id string, m turn.Mode) string {
	for _, owner := range []string{id, defaultsID} {
		if text, _ := l.text(path.Join(owner, "modes", string(m)+".md"), false); text != "" {
			return text
		}
	}
	return ""
}

func (l *loading) picture(name string) []byte {
	data, ok := l.read(name, false)
	if ok && !bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")) {
		l.problem(spot{file: where(l.fsys, name)}, "", "is not a PNG", "save the picture as PNG")
	}
	return data
}

// unknownModes reports instructions for modes that do not exist. They would never be used.
func (l *loading) unknownModes(dir string) {
	entries, _ := fs.ReadDir(l.fsys, dir) // the directory is optional
	for _, e := range entries {
		name, isText := strings.CutSuffix(e.Name(), ".md")
		if !isText || slices.Contains(modeNames(), name) {
			continue
		}
		cure := "the modes are " + strings.Join(modeNames(), ", ")
		if n := text.Nearest(name, modeNames()); n != "" {
			cure = fmt.Sprintf("did you mean %s.md?", n)
		}
		l.problem(spot{file: where(l.fsys, path.Join(dir, e.Name()))}, "", "unknown mode", cure)
	}
}

// text reads a Markdown file and trims white space around its text.
func (l *loading) text(name string, required bool) (string, bool) {
	data, ok := l.read(name, required)
	if !ok {
		return "", false
	}
	if p, bad := notUTF8(where(l.fsys, name), data); bad {
		l.problems = append(l.problems, p)
		return "", false
	}
	text := strings.TrimPrefix(string(data), "\ufeff")
	return strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")), true
}

// read returns the content of a file. It reports a file that cannot be read, and a missing file if it is required.
func (l *loading) read(name string, required bool) ([]byte, bool) {
	return l.readMost(name, required, maxFile)
}

func (l *loading) readMost(name string, required bool, most int64) ([]byte, bool) {
	data, err := readFile(l.fsys, name, most)
	if err == nil {
		l.note(name, data)
		return data, true
	}
	if required || !errors.Is(err, fs.ErrNotExist) {
		p := Problem{File: where(l.fsys, name), Text: "cannot be read: " + cause(err)}
		if errors.Is(err, fs.ErrNotExist) {
			p.Text, p.Cure = "is missing", "every character needs one"
		}
		l.problems = append(l.problems, p)
	}
	return nil, false
}

// note adds a file to the character's checksum.
func (l *loading) note(name string, data []byte) {
	fmt.Fprintf(l.sum, "%s %d\n", name, len(data))
	l.sum.Write(data)
}

func readFile(fsys fs.FS, name string, most int64) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > most {
		return nil, fmt.Errorf("larger than %d KiB", most>>10)
	}
	return data, nil
}

// cause returns the text of an error without the path, because the problem has it.
func cause(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return err.Error()
}

// apply copies a checked configuration into a character.
func (c *config) apply(to *Character) {
	to.Name = strings.TrimSpace(c.Name)
	if to.Name == "" {
		first, size := utf8.DecodeRuneInString(to.ID)
		to.Name = string(unicode.ToUpper(first)) + to.ID[size:]
	}
	to.Called = cmp.Or(strings.TrimSpace(c.Nickname), to.Name)
	to.Version = c.Version
	to.Greetings.First, to.Greetings.Threads = c.Greetings.First, c.Greetings.Threads
	to.Parts.Depth, to.Parts.Role = c.Depth.Depth, c.Depth.Role
	to.Aliases, to.calledByName = c.Aliases, c.Triggers.Names
	to.Mode = turn.Mode(c.Mode)
	to.Window = c.History.Window
	to.Buttons, to.Retract = c.Reply.Buttons, c.Reply.QuestionDeleted
	to.ChatterPerDay = c.Chatter.PerDay
	to.Reactions = Reactions(c.Reactions)
	to.FilterRecall = c.Recall.Filter
	to.Server = Server{Enabled: c.Server.Enabled, DiscordSearch: c.Server.DiscordSearch}
	to.Avatar, to.ServerProfile = c.Persona.Avatar, c.Persona.ServerProfile
	to.Location, _ = time.LoadLocation(c.DisplayTZ) // checked
	to.Model, to.SideModel, to.Texts, to.Voice = c.Model, c.SideModel, c.Texts, c.Voice
	to.Expressions.Habit = c.Faces.Habit
	for _, p := range c.Triggers.Patterns {
		to.patterns = append(to.patterns, regexp.MustCompile(p)) // checked
	}
	to.Web = Web{
		Enabled: c.Web.Enabled, Allow: c.Web.Allow, Deny: c.Web.Deny, DeniedTopics: c.Web.DeniedTopics,
		BlockRole: c.Web.BlockRole, BlockBytes: c.Web.BlockBytes,
		Queries: c.Web.Queries, Pages: c.Web.Pages, PerDomain: c.Web.PerDomain,
		PerMinute: c.Web.PerMinute, PerSession: c.Web.PerSession, PerDay: c.Web.PerDay, Deadline: time.Duration(c.Web.Deadline), Depth: c.Web.Depth, Backends: c.Web.Backends,
		Trusted: c.Web.Trusted.byIntent(), TrustedOnly: c.Web.Trusted.Only,
	}
	for _, d := range c.Docs {
		to.Docs = append(to.Docs, d.into())
	}
	maps.DeleteFunc(to.Web.Trusted, func(_ string, sites []string) bool { return len(sites) == 0 })
	to.Modes = map[turn.Mode]Limits{
		turn.FullRP:       c.Modes.FullRP.limits(),
		turn.Text:         c.Modes.Text.limits(),
		turn.ImitateVoice: c.Modes.ImitateVoice.limits(),
	}
}

func (m modeConfig) limits() Limits {
	return Limits{Total: m.Total, Deadline: time.Duration(m.Deadline), Web: m.Web, Think: modelRole(m.Think), Recast: modelRole(m.Recast), Layers: m.Layers.byLayer()}
}

func modelRole(name string) ModelRole {
	if name == "off" {
		return ""
	}
	return ModelRole(name)
}

func (l layersConfig) byLayer() map[turn.Layer]int {
	return map[turn.Layer]int{
		turn.Core:           l.Core,
		turn.Character:      l.Character,
		turn.Content:        l.Content,
		turn.HistorySummary: l.HistorySummary,
		turn.RecentHistory:  l.RecentHistory,
		turn.AuthorNote:     l.AuthorNote,
		turn.DepthInject:    l.DepthInject,
		turn.Attachments:    l.Attached,
		turn.Lorebook:       l.Lorebook,
	}
}

// Overlay puts the operator's directory over the embedded characters. A character's folder in dir replaces the embedded folder completely.
// The files of _default are replaced one by one, so that dir needs only those that it changes. dir need not exist.
func Overlay(dir string, embedded fs.FS) fs.FS {
	return overlay{dir: dir, upper: os.DirFS(dir), lower: embedded}
}

type overlay struct {
	dir          string
	upper, lower fs.FS
}

// Open implements fs.FS.
func (o overlay) Open(name string) (fs.File, error) { return o.layer(name).Open(name) }

// ReadDir implements fs.ReadDirFS. The top directory has the folders of both layers.
func (o overlay) ReadDir(name string) ([]fs.DirEntry, error) {
	if name != "." {
		return fs.ReadDir(o.layer(name), name)
	}
	upper, err := fs.ReadDir(o.upper, ".")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	lower, err := fs.ReadDir(o.lower, ".")
	if err != nil {
		return nil, err
	}
	all := append(upper, lower...)
	byName := func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) }
	slices.SortStableFunc(all, byName)
	return slices.CompactFunc(all, func(a, b fs.DirEntry) bool { return byName(a, b) == 0 }), nil
}

// layer returns the layer of a file. A file of the upper layer that cannot be read is not replaced, so that the problem is reported.
func (o overlay) layer(name string) fs.FS {
	if o.above(name) {
		return o.upper
	}
	return o.lower
}

func (o overlay) above(name string) bool {
	owner, _, _ := strings.Cut(name, "/")
	if owner == defaultsID {
		owner = name
	}
	_, err := fs.Stat(o.upper, owner)
	return !errors.Is(err, fs.ErrNotExist)
}

// where returns the path of a file as the operator knows it.
func where(fsys fs.FS, name string) string {
	o, ok := fsys.(overlay)
	switch {
	case !ok:
		return name
	case o.above(name):
		return filepath.Join(o.dir, filepath.FromSlash(name))
	case isID(name): // report a missing character in the operator's directory
		if _, err := fs.Stat(o.lower, name); err != nil {
			return filepath.Join(o.dir, name)
		}
	}
	return "built-in " + name
}
