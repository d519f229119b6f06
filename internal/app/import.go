package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"familiar/card"
	"familiar/internal/command"
	"familiar/internal/context/turn"
	"familiar/internal/llm"
	"familiar/internal/providers/attachment"
	"familiar/internal/providers/character"
	"familiar/internal/reply"
)

const avatarBytes = 256 << 10

// Import is a card, or a lorebook, that is brought into the characters' folder.
type Import struct {
	File    string // its name
	Data    []byte // as in [card.Read]
	ID      string // the character's folder; empty: named after the card. A lorebook needs one, which is "_default" for all characters
	Replace bool   // what is there is overwritten, and a character's folder is replaced as a whole
	Sent    bool   // by a person on Discord, who may add pictures of moods only to characters that were imported
}

// Imported is what was made of an import.
type Imported struct {
	ID     string
	Place  string               // the character's folder, or the lorebook's file
	Loaded *character.Character // nil: the lorebook is for all characters
	Book   *card.Lorebook       // nil: it was not a lorebook
	Faces  int                  // pictures of moods; with them alone, a pack
	Pack   bool                 // it was a pack of pictures of moods
	Report card.Report
}

// ImportError is the reason for which nothing was imported. Errors of the file system come as they are.
type ImportError struct {
	Refusal Refusal
	ID      string // of Taken, BadID and NoCharacter
	Place   string // of Taken and NoCharacter
	Text    string // of Unread and Faulty: what is wrong
}

// Refusal is a kind of [ImportError].
type Refusal string

// These are all of them.
const (
	Unread      Refusal = "the file is not read"
	Unnamed     Refusal = "no name of a folder can be made of the character's name"
	BadID       Refusal = "this is no name of a folder"
	Taken       Refusal = "it is there already"
	Faulty      Refusal = "the character that this would make is not in order"
	WhoseBook   Refusal = "it is a lorebook, and no character is named for it"
	NoCharacter Refusal = "there is no such character"
)

// Error implements error.
func (e *ImportError) Error() string { return cmp.Or(e.Text, string(e.Refusal)) }

// Import makes a character's folder from a card, or adds a lorebook to one. dir is where relative paths begin.
func (i Import) Import(ctx context.Context, settings *Config, dir string) (Imported, error) {
	c, book, err := card.Read(i.Data)
	if errors.Is(err, card.ErrNoCard) {
		return i.addPack(ctx, settings, dir)
	}
	if err != nil {
		return Imported{}, unread(err)
	}
	root := Resolve(dir, settings.Get("FAMILIAR_CHARACTERS"))
	if book != nil {
		return i.addBook(settings, dir, root, book)
	}
	return i.addCard(ctx, settings, dir, root, c)
}

func unread(err error) *ImportError {
	return &ImportError{Refusal: Unread, Text: err.Error()}
}

// mostCharacters is how many there may be if people who manage a server import them.
const mostCharacters = 100

// refusals are what people are told.
var refusals = map[Refusal]reply.Sentence{
	Unread: command.Unread, Unnamed: command.Unnamed, Taken: command.Taken, Faulty: command.Faulty, WhoseBook: command.Book,
	NoCharacter: command.WhosePack, // a lorebook has no name on Discord
}

// importer returns how cards that people send become characters, or nil if that is off.
func (a *App) importer(p *Process) func(context.Context, turn.Attachment) (command.Imported, error) {
	if a.Config.Get("FAMILIAR_IMPORT") == "off" {
		return nil
	}
	return func(ctx context.Context, f turn.Attachment) (command.Imported, error) {
		if len(a.cast.get().All()) >= mostCharacters {
			return command.Imported{Refused: command.ImportsFull}, nil
		}
		data, err := a.files.Download(ctx, "", f, card.MaxBytes)
		if err != nil {
			return command.Imported{}, err
		}
		got, err := Import{File: f.Name, Data: data, Sent: true}.Import(ctx, a.Config, p.Dir)
		if e := (*ImportError)(nil); errors.As(err, &e) {
			a.Log.Warn("a card that was sent is not imported", "file", f.Name, "why", a.Redact.String(e.Error()))
			return command.Imported{Refused: refusals[e.Refusal], Fault: e.Text}, nil
		}
		if err != nil {
			return command.Imported{}, err
		}
		done := command.Imported{ID: got.ID, Name: got.Loaded.Name}
		if got.Pack {
			done.Pictures = got.Faces
		}
		return done, nil
	}
}

// addCard makes the folder beside the others, and moves it to its place once it is complete and valid.
func (i Import) addCard(ctx context.Context, settings *Config, dir, root string, c *card.Card) (got Imported, err error) {
	folder, err := c.Folder(card.FolderOptions{Budgets: budgets(settings, dir), Tokens: new(llm.Counter).Count, Source: i.File})
	if err != nil {
		return got, unread(err)
	}
	if got.ID, err = i.folderID(c.Name()); err != nil {
		return got, err
	}
	got.Place = filepath.Join(root, got.ID)
	if !i.Replace && (Exists(got.Place) || IsCharacter(settings, dir, got.ID)) { // one that is built in has no folder
		return got, &ImportError{Refusal: Taken, ID: got.ID, Place: got.Place}
	}
	if folder.Icon != nil {
		avatar, err := new(attachment.Shrinker).Avatar(ctx, folder.Icon, avatarBytes)
		if err != nil {
			folder.Report.Notes = append(folder.Report.Notes, fmt.Sprintf("the picture is not shown as avatar: %v", err))
		} else {
			folder.Files["avatar.png"] = avatar
		}
	}
	faces, strange, wrong := decodeFaces(ctx, folder.Moods)
	maps.Copy(folder.Files, faces)
	folder.Report.Notes = slices.Concat(folder.Report.Notes, wrong, strange)
	if got.Faces = len(faces); got.Faces > 0 {
		folder.Report.Used = append(folder.Report.Used, fmt.Sprintf("assets: %d pictures of moods → %s/", got.Faces, character.ExpressionsDir))
	}
	got.Report = folder.Report
	made, err := stage(root, folder.Files)
	defer os.RemoveAll(made)
	if err != nil {
		return got, err
	}
	if got.Loaded, err = loadMade(settings, dir, made, got.ID); err != nil {
		return got, &ImportError{Refusal: Faulty, Text: string(Faulty) + ":\n" + err.Error()}
	}
	return got, replaceFolder(made, got.Place)
}

// stage writes files into a new folder beside the characters. The caller must move or remove the folder, also after an error.
func stage(root string, files map[string][]byte) (made string, err error) {
	if err = os.MkdirAll(root, 0o755); err == nil {
		made, err = os.MkdirTemp(root, ".import-")
	}
	if err != nil {
		return "", fmt.Errorf("make folder: %w", err)
	}
	return made, errors.Join(os.Chmod(made, 0o755), WriteFiles(made, files))
}

// budgets returns the budgets of the modes of a character that sets none itself.
func budgets(settings *Config, dir string) (all []card.Budget) {
	one, err := character.Load(Shelf(settings, dir), settings.Get("FAMILIAR_CHARACTER"))
	if err != nil {
		return nil
	}
	for _, mode := range turn.Modes() {
		l := one.Modes[mode]
		all = append(all, card.Budget{Mode: string(mode), Total: l.Total, Character: l.Layers[turn.Character], DepthInject: l.Layers[turn.DepthInject], Lorebook: l.Layers[turn.Lorebook]})
	}
	return all
}

// folderID returns the folder's name: the given one, or one made from the character's name.
func (i Import) folderID(name string) (string, error) {
	id := cmp.Or(i.ID, FolderID(name))
	switch {
	case id == "":
		return "", &ImportError{Refusal: Unnamed}
	case FolderID(id) != id:
		return "", &ImportError{Refusal: BadID, ID: id}
	}
	return id, nil
}

// FolderID makes a character's id from its name: ASCII small letters and digits, with - in between. It is the name of its folder.
func FolderID(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(norm.NFKD.String(name)) {
		switch {
		case unicode.Is(unicode.M, r):
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	return strings.Trim(b.String()[:min(b.Len(), 40)], "-")
}

// WriteFiles writes files into a folder. Their names cannot lead outside it.
func WriteFiles(dir string, files map[string][]byte) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("open %s: %w", dir, err)
	}
	defer root.Close()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
			return fmt.Errorf("make folder %s: %w", path.Dir(name), err)
		}
		if err := root.WriteFile(name, files[name], 0o644); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}

// made shows a new folder under its final name.
type made struct {
	fs.FS
	dir fs.FS
	id  string
}

// Open implements fs.FS.
func (m made) Open(name string) (fs.File, error) {
	if rest, ok := strings.CutPrefix(name+"/", m.id+"/"); ok {
		return m.dir.Open(path.Clean(rest))
	}
	return m.FS.Open(name)
}

// loadMade loads a character from the folder that is being made.
func loadMade(settings *Config, dir, at, id string) (*character.Character, error) {
	return character.Load(made{FS: Shelf(settings, dir), dir: os.DirFS(at), id: id}, id)
}

// replaceFolder moves a folder to its place, and then deletes the previous one.
func replaceFolder(made, place string) error {
	old := ""
	if _, err := os.Lstat(place); err == nil {
		old = filepath.Join(filepath.Dir(place), fmt.Sprintf(".replaced-%s-%d", filepath.Base(place), time.Now().UnixNano()))
		if err := os.Rename(place, old); err != nil {
			return fmt.Errorf("move old folder: %w", err)
		}
	}
	if err := os.Rename(made, place); err != nil {
		if old != "" {
			err = errors.Join(err, os.Rename(old, place))
		}
		return fmt.Errorf("move new folder: %w", err)
	}
	if old != "" {
		return os.RemoveAll(old)
	}
	return nil
}

// facesLimit is how long pictures of moods may take to decode.
const facesLimit = 30 * time.Second

// decodeFaces returns those pictures of moods that can be shown, by their paths in a character's folder. It decodes each, and believes no name
// about its type. It makes those small that are too large for the folder. strange are those that are not named after a mood, and wrong those
// that cannot be shown, a line each.
func decodeFaces(ctx context.Context, all []card.Picture) (files map[string][]byte, strange, wrong []string) {
	ctx, cancel := context.WithTimeout(ctx, facesLimit)
	defer cancel()
	var shrinker attachment.Shrinker
	files = map[string][]byte{}
	for _, p := range all {
		stem := p.Name
		if ext := path.Ext(stem); slices.Contains([]string{".png", ".jpg", ".jpeg", ".webp"}, strings.ToLower(ext)) {
			stem = strings.TrimSuffix(stem, ext)
		}
		kind := strings.TrimPrefix(http.DetectContentType(p.Data), "image/")
		name, mood := character.ExpressionNamed(stem + ".png")
		at := path.Join(character.ExpressionsDir, strings.TrimSuffix(name, "png")+kind)
		switch {
		case mood == "":
			strange = append(strange, fmt.Sprintf("%q is left out: it is not named after a mood, as joy.png is", p.Name))
			continue
		case files[at] != nil:
			strange = append(strange, fmt.Sprintf("%q is left out: it is there twice", p.Name))
			continue
		case len(files) == character.MostExpressions:
			return files, strange, append(wrong, fmt.Sprintf("%q is one too many: at most %d pictures of moods are taken", p.Name, len(files)))
		}
		small, err := shrinker.Face(ctx, p.Data)
		switch {
		case err != nil:
			wrong = append(wrong, fmt.Sprintf("%q cannot be shown: %v; save it as PNG", p.Name, err))
		case len(p.Data) <= character.MaxExpression:
			files[at] = p.Data
		case len(small) <= character.MaxExpression:
			files[path.Join(character.ExpressionsDir, name)] = small
		default:
			wrong = append(wrong, fmt.Sprintf("%q is larger than %d KiB, even with 256 pixels", p.Name, character.MaxExpression>>10))
		}
	}
	return files, strange, wrong
}

// addPack puts the pictures of a pack into a character's folder. The pack is named after that, if i does not say which it is for.
func (i Import) addPack(ctx context.Context, settings *Config, dir string) (got Imported, err error) {
	unpacked, err := card.Unpack(i.Data)
	if err != nil {
		return got, unread(err)
	}
	var all []card.Picture
	for _, name := range slices.Sorted(maps.Keys(unpacked)) {
		if base := path.Base(name); !strings.HasPrefix(base, ".") {
			all = append(all, card.Picture{Name: base, Data: unpacked[name]})
		}
	}
	files, strange, wrong := decodeFaces(ctx, all)
	switch {
	case len(wrong) > 0:
		return got, unread(errors.New(wrong[0]))
	case len(files) == 0:
		return got, unread(errors.New("the archive has no card.json, so it is not a CHARX, and has no pictures that are named after moods, such as joy.png"))
	}
	if !IsCharacter(settings, dir, i.ID) {
		if i.ID, err = i.folderID(strings.TrimSuffix(i.File, filepath.Ext(i.File))); err != nil {
			return got, err
		}
	}
	root := Resolve(dir, settings.Get("FAMILIAR_CHARACTERS"))
	home := filepath.Join(root, i.ID)
	got = Imported{ID: i.ID, Place: filepath.Join(home, character.ExpressionsDir), Faces: len(files), Pack: true, Report: card.Report{Notes: strange}}
	if !IsCharacter(settings, dir, got.ID) || !Exists(home) || i.Sent && !Exists(filepath.Join(home, card.KeptDir)) { // one that is built in has no folder
		return got, &ImportError{Refusal: NoCharacter, ID: got.ID, Place: home}
	}
	return i.add(settings, dir, got, func() error {
		made, err := stage(root, files)
		defer os.RemoveAll(made)
		if err != nil {
			return err
		}
		return replaceFolder(filepath.Join(made, character.ExpressionsDir), got.Place)
	})
}

// add adds something to a character's folder. got.Place is what must not be there before, unless it is replaced.
func (i Import) add(settings *Config, dir string, got Imported, write func() error) (Imported, error) {
	if !i.Replace && Exists(got.Place) {
		return got, &ImportError{Refusal: Taken, ID: got.ID, Place: got.Place}
	}
	if err := write(); err != nil || got.ID == "_default" {
		return got, err
	}
	var err error
	if got.Loaded, err = character.Load(Shelf(settings, dir), got.ID); err != nil {
		return got, Problems{err.Error()}
	}
	return got, nil
}

// addBook writes a lorebook into a character's folder.
func (i Import) addBook(settings *Config, dir, root string, book *card.Lorebook) (got Imported, err error) {
	if i.ID == "" {
		return got, &ImportError{Refusal: WhoseBook}
	}
	place := filepath.Join(root, i.ID)
	if info, err := os.Stat(place); i.ID != "_default" && (FolderID(i.ID) != i.ID && !IsCharacter(settings, dir, i.ID) || err != nil || !info.IsDir()) {
		return got, &ImportError{Refusal: NoCharacter, ID: i.ID, Place: place}
	}
	stem := cmp.Or(FolderID(strings.TrimSuffix(i.File, filepath.Ext(i.File))), "lorebook")
	folder, err := book.Folder(stem)
	if err != nil {
		return got, unread(err)
	}
	got = Imported{ID: i.ID, Place: filepath.Join(place, "lorebooks", stem+".toml"), Book: book, Report: folder.Report}
	return i.add(settings, dir, got, func() error { return errors.Join(os.MkdirAll(place, 0o755), WriteFiles(place, folder.Files)) })
}

// IsCharacter reports whether there is a character with an id.
func IsCharacter(settings *Config, dir, id string) bool {
	ids, err := character.List(Shelf(settings, dir))
	return err == nil && slices.Contains(ids, id)
}
