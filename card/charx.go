package card

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxFiles = 2000
	maxPath  = 200 // bytes
	cardName = "card.json"
)

// ErrNoCard is the error of [Read] for an archive of files without a card. [Unpack] returns them.
var ErrNoCard = errors.New("the archive has no card.json, so it is not a CHARX")

// readCHARX reads an archive with a card and its files.
func readCHARX(data []byte) (*Card, *Lorebook, error) {
	files, err := Unpack(data)
	if err != nil {
		return nil, nil, err
	}
	card, ok := files[cardName]
	if !ok {
		return nil, nil, ErrNoCard
	}
	delete(files, cardName)
	c, book, err := readJSON(card)
	if c != nil {
		c.format = CHARX
		if len(files) > 0 {
			c.Files = files
		}
	}
	return c, book, err
}

// Unpack returns the files of a zip archive by path. They have [MaxBytes] in all. It refuses an archive with anything that no card needs.
func Unpack(data []byte) (map[string][]byte, error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("the archive cannot be read: %w; get the file again", err)
	}
	if len(z.File) > maxFiles {
		return nil, fmt.Errorf("the archive has %d files; at most %d are read", len(z.File), maxFiles)
	}
	files := map[string][]byte{}
	left := int64(MaxBytes)
	for _, f := range z.File {
		switch mode := f.Mode(); {
		case strings.HasSuffix(f.Name, "/") && mode.IsDir():
			continue
		case !mode.IsRegular():
			return nil, fmt.Errorf("the archive holds %q, which is not a plain file (%s); take it out", short(f.Name), mode.Type())
		case f.Flags&1 != 0:
			return nil, errors.New("the archive is encrypted; pack it without a password")
		}
		if err := checkPath(f.Name); err != nil {
			return nil, err
		}
		if _, twice := files[f.Name]; twice {
			return nil, fmt.Errorf("the archive holds %q twice; pack it again", short(f.Name))
		}
		body, err := unpack(f, left)
		if err != nil {
			return nil, err
		}
		left -= int64(len(body))
		files[f.Name] = body
	}
	return files, nil
}

// unpack reads a file of the archive. It does not trust the size that the archive claims.
func unpack(f *zip.File, limit int64) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("unpack %q: %w", short(f.Name), err)
	}
	defer r.Close()
	body, err := io.ReadAll(io.LimitReader(r, limit+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("unpack %q: %w", short(f.Name), err)
	case int64(len(body)) > limit:
		return nil, fmt.Errorf("with %q the card's files unpack to more than %d MiB; take some out", short(f.Name), MaxBytes>>20)
	}
	return body, nil
}

// checkPath refuses paths that lead out of a folder or that some system cannot have.
func checkPath(name string) error {
	odd := func(r rune) bool { return unicode.IsControl(r) || strings.ContainsRune(`\:*?"<>|`, r) }
	switch {
	case !fs.ValidPath(name) || name == ".":
		return fmt.Errorf("the card holds a file %q, which leads out of its folder; take it out", short(name))
	case strings.ContainsFunc(name, odd) || len(name) > maxPath || !utf8.ValidString(name):
		return fmt.Errorf("the card holds a file %q, whose name is too long or has signs that names of files cannot have; rename it", short(name))
	}
	return nil
}

// writeCHARX packs a card and its files.
func writeCHARX(card []byte, files map[string][]byte) ([]byte, error) {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	put := func(name string, body []byte) error {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write(body)
		}
		return err
	}
	err := put(cardName, card)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		err = errors.Join(err, put(name, files[name]))
	}
	if err = errors.Join(err, z.Close()); err != nil {
		return nil, fmt.Errorf("pack the card: %w", err)
	}
	return out.Bytes(), nil
}
