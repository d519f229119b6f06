package character

import (
	"fmt"
	"hash/crc32"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"

	"familiar/internal/text"
)

// ExpressionsDir is the folder of a character's pictures of its moods.
const ExpressionsDir = "expressions"

// MaxExpression is the size of such a picture in bytes, and MostExpressions how many there may be.
const (
	MaxExpression   = maxFile
	MostExpressions = 200
)

// Expressions are a character's pictures of its moods.
type Expressions struct {
	Habit bool // every reply shows one, unless people switched that off

	dir   fs.FS               // the folder
	files map[string][]string // sorted names by mood
}

// Any reports whether there is a picture.
func (e *Expressions) Any() bool { return len(e.files) > 0 }

// Moods returns the moods that have a picture, sorted, and [text.Neutral].
func (e *Expressions) Moods() []string { return text.Unique(append(sortedKeys(e.files), text.Neutral)) }

// Choose returns the name of a picture of a mood, or else of the nearest mood that has one, or "". seed chooses one of several.
func (e *Expressions) Choose(mood, seed string) string {
	for _, near := range text.NearMoods(mood) {
		if all := e.files[near]; len(all) > 0 {
			return all[crc32.ChecksumIEEE([]byte(seed))%uint32(len(all))]
		}
	}
	return ""
}

// Read returns the bytes of a picture that [Expressions.Choose] has named. Nobody has decoded them. The error is [fs.ErrNotExist] if the
// character has no such picture any more.
func (e *Expressions) Read(name string) ([]byte, error) {
	for _, all := range e.files {
		if slices.Contains(all, name) {
			return readFile(e.dir, name, MaxExpression)
		}
	}
	return nil, fmt.Errorf("read picture of a mood: %w", fs.ErrNotExist)
}

// expressionForm matches the name of a picture of a mood. What follows the mood tells several from each other.
var expressionForm = regexp.MustCompile(`^([a-z]+)([-_. ]?[a-z0-9]{0,16})\.(png|jpe?g|webp)$`)

// ExpressionNamed returns the name under which a picture of a mood is kept, and the mood. Both are "" if its file is not named after a mood.
func ExpressionNamed(file string) (name, mood string) {
	name = strings.ToLower(file)
	parts := expressionForm.FindStringSubmatch(name)
	if parts == nil || text.MoodNamed(parts[1]) == "" {
		return "", ""
	}
	return strings.ReplaceAll(name, " ", "-"), text.MoodNamed(parts[1])
}

// expressions lists the pictures of the character's moods. Those that cannot be shown are warnings.
func (l *loading) expressions(c *Character) {
	dir := path.Join(c.ID, ExpressionsDir)
	entries, _ := fs.ReadDir(l.fsys, dir) // the directory is optional
	c.Expressions.files = map[string][]string{}
	c.Expressions.dir, _ = fs.Sub(l.fsys, dir) // the path is valid
	for _, e := range entries[:min(len(entries), MostExpressions)] {
		file := path.Join(dir, e.Name())
		_, mood := ExpressionNamed(e.Name())
		p := Problem{Text: "is not named after a mood", Cure: "the moods are " + strings.Join(text.Moods(), ", ") + "; call it joy.png or joy-2.webp"}
		if mood != "" {
			p = l.expression(file)
		}
		switch p.File = where(l.fsys, file); {
		case strings.HasPrefix(e.Name(), "."):
		case p.Text != "":
			c.Warnings = append(c.Warnings, p)
		default:
			c.Expressions.files[mood] = append(c.Expressions.files[mood], e.Name())
		}
	}
}

// expression returns what is wrong with a picture of a mood. It has no text if that is nothing. Pictures are large, so that their size and
// time stand for them in the character's checksum.
func (l *loading) expression(file string) (p Problem) {
	f, err := l.fsys.Open(file)
	if err != nil {
		return Problem{Text: "cannot be read: " + cause(err)}
	}
	defer f.Close()
	head := make([]byte, 512)
	n, _ := f.Read(head) // what cannot be read is not a picture
	info, err := f.Stat()
	if kind := http.DetectContentType(head[:n]); err != nil || kind != "image/png" && kind != "image/jpeg" && kind != "image/webp" {
		return Problem{Text: "is not a PNG, JPEG or WebP", Cure: "save the picture as one of these"}
	}
	l.note(file, fmt.Append(nil, info.Size(), info.ModTime().UnixNano()))
	if info.Size() > MaxExpression {
		return Problem{Text: fmt.Sprintf("is larger than %d KiB, and is not shown", MaxExpression>>10), Cure: "256 pixels are shown: make it smaller"}
	}
	return Problem{}
}
