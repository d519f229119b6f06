package card

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
)

// pngMagic is the beginning of every PNG. https://www.w3.org/TR/png-3/
const pngMagic = "\x89PNG\r\n\x1a\n"

// errTooMuch says that what the card's chunks hold is too large.
var errTooMuch = fmt.Errorf("it unpacks to more than is read: %d MiB of JSON, or %d in all; make the card smaller", maxJSON>>20, MaxBytes>>20)

const (
	maxChunks   = 100_000
	assetPrefix = "chara-ext-asset_:" // before the names of chunks in which older cards keep files
)

// chunk is a chunk of a PNG.
type chunk struct {
	kind string
	body []byte
}

// chunks splits a PNG into its chunks. It drops what follows the end.
func chunks(data []byte) (all []chunk, err error) {
	rest := data[len(pngMagic):]
	for {
		switch {
		case len(rest) == 0:
			return nil, errors.New("the PNG is cut off: it has no end; get the whole file")
		case len(rest) < 12:
			return nil, errors.New("the PNG is cut off within a chunk; get the whole file")
		case len(all) == maxChunks:
			return nil, fmt.Errorf("the PNG has more than %d chunks", maxChunks)
		}
		size := binary.BigEndian.Uint32(rest)
		if uint64(size)+12 > uint64(len(rest)) {
			return nil, fmt.Errorf("the PNG is broken: a chunk says that it has %d bytes, and %d are left; get the file again", size, len(rest)-12)
		}
		c := chunk{kind: string(rest[4:8]), body: rest[8 : 8+size]}
		all, rest = append(all, c), rest[12+size:]
		if c.kind == "IEND" {
			return all, nil
		}
	}
}

// keyword returns the name of a text chunk in lower case, or "" for other chunks.
func (c chunk) keyword() string {
	switch c.kind {
	case "tEXt", "zTXt", "iTXt":
		name, _, _ := bytes.Cut(c.body[:min(len(c.body), 300)], []byte{0})
		return strings.ToLower(string(name))
	}
	return ""
}

// words returns the text of a text chunk.
func (c chunk) words(limit int64) ([]byte, error) {
	_, rest, ok := bytes.Cut(c.body, []byte{0})
	if !ok {
		return nil, errors.New("a text chunk has no text")
	}
	switch c.kind {
	case "zTXt":
		if len(rest) < 1 || rest[0] != 0 {
			return nil, errors.New("a text chunk is compressed with an unknown method")
		}
		return inflate(rest[1:], limit)
	case "iTXt":
		if len(rest) < 2 {
			return nil, errors.New("a text chunk is cut off")
		}
		packed, method := rest[0] == 1, rest[1]
		_, rest, _ = bytes.Cut(rest[2:], []byte{0}) // the language
		_, rest, ok = bytes.Cut(rest, []byte{0})    // the keyword in that language
		if !ok || packed && method != 0 {
			return nil, errors.New("a text chunk is malformed")
		}
		if packed {
			return inflate(rest, limit)
		}
	}
	if int64(len(rest)) > limit {
		return nil, errTooMuch
	}
	return rest, nil
}

func inflate(packed []byte, limit int64) ([]byte, error) {
	z, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("unpack a text chunk: %w", err)
	}
	defer z.Close()
	text, err := io.ReadAll(io.LimitReader(z, limit+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("unpack a text chunk: %w", err)
	case int64(len(text)) > limit:
		return nil, errTooMuch
	}
	return text, nil
}

// readPNG reads the card in a PNG: the one in version 3, if there is one.
func readPNG(data []byte) (*Card, *Lorebook, error) {
	all, err := chunks(data)
	if err != nil {
		return nil, nil, err
	}
	count := map[string]int{}
	for _, c := range all {
		count[c.keyword()]++
	}
	name := "ccv3"
	if count[name] == 0 {
		name = "chara"
	}
	if count[name] == 0 {
		return nil, nil, errors.New("the PNG holds no card: it has no chunk chara or ccv3; programs that save a picture again drop them, so get the original file")
	}
	var notes []string
	if n := count[name]; n > 1 {
		notes = append(notes, fmt.Sprintf("the PNG has %d chunks called %s; the first is read, and the others are left out", n, name))
	}
	var found []byte
	files := map[string][]byte{}
	left := int64(MaxBytes) // for all that is unpacked
	var image []chunk
	for _, c := range all {
		switch key := c.keyword(); {
		case key == name && found == nil:
			if found, err = c.words(min(2*maxJSON, left)); err != nil {
				return nil, nil, fmt.Errorf("read the chunk %s: %w", name, err)
			}
			left -= int64(len(found))
		case key == "chara" || key == "ccv3":
		case strings.HasPrefix(key, assetPrefix):
			if err := asset(files, c, &left); err != nil {
				return nil, nil, err
			}
		default:
			image = append(image, c)
		}
	}
	text, err := unbase64(found)
	if err != nil {
		return nil, nil, fmt.Errorf("read the chunk %s: %w", name, err)
	}
	c, book, err := readJSON(text)
	if err != nil {
		return nil, nil, err
	}
	if c != nil {
		c.Image, c.Notes, c.format = join(image), append(notes, c.Notes...), PNG
		if len(files) > 0 {
			c.Files = files
		}
	}
	return c, book, nil
}

// asset reads a file from a chunk, whose name holds the path. It takes the file's size from what is left for all.
func asset(files map[string][]byte, c chunk, left *int64) error {
	name, _, _ := bytes.Cut(c.body, []byte{0})
	path := string(name[len(assetPrefix):])
	if err := checkPath(path); err != nil {
		return err
	}
	text, err := c.words(*left)
	if err == nil {
		*left -= int64(len(text))
		files[path], err = unbase64(text)
	}
	if err != nil {
		return fmt.Errorf("read the file %q in the PNG: %w", short(path), err)
	}
	return nil
}

// unbase64 decodes the text of a chunk. Some programs write the JSON without base64.
func unbase64(text []byte) ([]byte, error) {
	text = bytes.TrimSpace(text)
	if bytes.HasPrefix(text, []byte("{")) {
		return text, nil
	}
	plain := make([]byte, 0, len(text))
	for _, c := range text {
		switch c {
		case '\n', '\r', ' ', '=':
			continue
		case '-':
			c = '+'
		case '_':
			c = '/'
		}
		plain = append(plain, c)
	}
	n, err := base64.RawStdEncoding.Decode(plain, plain) // what is decoded is never ahead of what is read
	if err != nil {
		return nil, errors.New("it is not base64, so the card is damaged; get the original file")
	}
	return plain[:n], nil
}

// join makes a PNG of chunks.
func join(all []chunk) []byte {
	out := []byte(pngMagic)
	for _, c := range all {
		out = binary.BigEndian.AppendUint32(out, uint32(len(c.body)))
		from := len(out)
		out = append(append(out, c.kind...), c.body...)
		out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[from:]))
	}
	return out
}

// embed adds texts to a PNG, in base64, before its end.
func embed(image []byte, texts ...chunkText) ([]byte, error) {
	if !bytes.HasPrefix(image, []byte(pngMagic)) {
		return nil, errors.New("the picture is not a PNG")
	}
	all, err := chunks(image)
	if err != nil {
		return nil, err
	}
	out := all[: len(all)-1 : len(all)-1]
	for _, t := range texts {
		body := append([]byte(t.keyword), 0)
		out = append(out, chunk{kind: "tEXt", body: base64.StdEncoding.AppendEncode(body, t.text)})
	}
	return join(append(out, all[len(all)-1])), nil
}

// chunkText is a text for a PNG.
type chunkText struct {
	keyword string
	text    []byte
}
