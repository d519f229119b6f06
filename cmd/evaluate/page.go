package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"slices"
	"unicode/utf8"

	"familiar/internal/web/clean"
	"familiar/internal/web/page"
	"familiar/internal/web/page/charset"
	"familiar/internal/web/read"
)

// utf8HTML is the type of stored pages: they were converted, whatever their own declarations say.
const utf8HTML = "text/html; charset=utf-8"

type extractRow struct{ ID, URL string }

// predictExtract predicts {"text"}: what a lookup reads on the page html/ID.html, or ID.html.gz.
func predictExtract(_ context.Context, files fs.FS, row extractRow) (prediction, error) {
	body, err := readStored(files, "html/"+row.ID+".html")
	if err != nil {
		return nil, err
	}
	base, err := url.Parse(row.URL)
	if err != nil {
		return nil, fmt.Errorf("read address: %w", err)
	}
	got, err := page.Read(body, storedType(body), base)
	if err != nil {
		return nil, err
	}
	text, _ := read.Text(got.Markdown)
	return prediction{"text": text}, nil
}

// storedType is the type of a stored page: most were converted to UTF-8, whatever their own declarations say, and some are as their servers
// sent them, of which nobody says what their encoding is.
func storedType(body []byte) string {
	isASCII := !slices.ContainsFunc(body, func(c byte) bool { return c >= utf8.RuneSelf })
	if isASCII || !utf8.Valid(body) {
		return "text/html"
	}
	return utf8HTML
}

type cleanRow struct{ Kind, Input, File string }

// predictClean predicts {"text"}: what is seen of a whole page, of a piece of HTML, or of plain text, inert. A lookup
// then takes addresses out, too, which is no matter of cleaning.
func predictClean(_ context.Context, files fs.FS, row cleanRow) (prediction, error) {
	body, contentType := []byte(row.Input), utf8HTML
	switch row.Kind {
	case "html":
	case "text":
		contentType = "text/plain; charset=utf-8"
	case "page":
		var err error
		if body, err = readStored(files, row.File); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("there is no kind %q", row.Kind)
	}
	got, err := page.Read(body, contentType, nil)
	if err != nil {
		return nil, err
	}
	text := clean.Inert(got.Markdown, "")
	return prediction{"text": text}, nil
}

// maxStored bounds a stored page once it is unpacked, in bytes.
const maxStored = 64 << 20

// readStored reads a file, packed with gzip or not; name need not say that it is.
func readStored(files fs.FS, name string) ([]byte, error) {
	body, err := fs.ReadFile(files, name)
	if errors.Is(err, fs.ErrNotExist) {
		body, err = fs.ReadFile(files, name+".gz")
	}
	if err != nil {
		return nil, fmt.Errorf("read stored page: %w", err)
	}
	if !bytes.HasPrefix(body, []byte{0x1f, 0x8b}) {
		return body, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("unpack stored page: %w", err)
	}
	if body, err = io.ReadAll(io.LimitReader(z, maxStored)); err != nil {
		return nil, fmt.Errorf("unpack stored page: %w", err)
	}
	return body, nil
}

type charsetRow struct {
	Data []byte `json:"data_b64"`
}

// predictCharset predicts {"encoding"}: what a document that came without a charset in its header is read in.
func predictCharset(_ context.Context, _ fs.FS, row charsetRow) (prediction, error) {
	name := charset.Detect(row.Data, "text/html", true)
	if name == "replacement" {
		return nil, errors.New("the encoding is refused")
	}
	return prediction{"encoding": name}, nil
}
