// Package picture makes a picture from a stranger fit for a model: small, and without anything but what is seen.
//
// [Shrink] reads the header first (header.go) and refuses what would take too much memory when decoded, whatever its file
// weighs. Then the picture is decoded, made smaller and written anew, so that EXIF with its places, comments, profiles and
// whatever hangs behind the picture's end are gone. Of what moves it is the first frame.
package picture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"sync"

	"golang.org/x/image/webp"

	"golang.org/x/sync/semaphore"
)

const (
	// Side is the longest side of a picture that was made smaller, in pixels.
	Side = 1024
	// maxDecoded is how much memory a decoded picture may take, in bytes: a photograph of 50 megapixels, or a screen of 25.
	maxDecoded = 100 << 20
	quality    = 85 // of JPEG
)

// What is refused.
var (
	ErrKind   = errors.New("no PNG, JPEG, WebP or GIF")
	ErrLarge  = errors.New("too large when decoded")
	ErrBroken = errors.New("cannot be decoded")
)

// Picture is a picture that was made small.
type Picture struct {
	Type          string // media type it came in, by its bytes
	FullWidth     int    // before
	FullHeight    int
	Width, Height int
	JPEG          []byte
}

// Shrinker makes pictures smaller, one at a time: so their memory is bounded, however many come. The zero value is ready.
type Shrinker struct {
	once  sync.Once
	turns *semaphore.Weighted // set by once
}

func (s *Shrinker) turn() *semaphore.Weighted {
	s.once.Do(func() { s.turns = semaphore.NewWeighted(1) })
	return s.turns
}

// Shrink returns the picture in data, at most [Side] pixels wide and high. The error is ErrKind, ErrLarge or ErrBroken, or
// the context's: decoding ends soon after ctx is done.
func (s *Shrinker) Shrink(ctx context.Context, data []byte) (p Picture, err error) {
	h, err := readHeader(data)
	if err != nil {
		return Picture{}, err
	}
	if h.memory() > maxDecoded {
		return Picture{}, ErrLarge
	}
	if err := s.turn().Acquire(ctx, 1); err != nil {
		return Picture{}, fmt.Errorf("wait for another picture: %w", err)
	}
	defer s.turn().Release(1)
	defer func() {
		if recover() != nil { // a decoder that met what it did not expect
			p, err = Picture{}, ErrBroken
		}
	}()
	full, err := h.decode(&patient{ctx, bytes.NewReader(data)})
	switch {
	case ctx.Err() != nil:
		return Picture{}, fmt.Errorf("decode picture: %w", ctx.Err())
	case err != nil || full.Bounds().Empty():
		return Picture{}, ErrBroken
	}
	small := scale(full, Side)
	var out bytes.Buffer
	if err := jpeg.Encode(&out, small, &jpeg.Options{Quality: quality}); err != nil {
		return Picture{}, fmt.Errorf("write picture: %w", err)
	}
	size := small.Bounds().Size()
	return Picture{Type: h.kind, FullWidth: h.width, FullHeight: h.height, Width: size.X, Height: size.Y, JPEG: out.Bytes()}, nil
}

// decode decodes the picture, of several frames the first.
func (h header) decode(r io.Reader) (image.Image, error) {
	switch h.kind {
	case "image/png":
		return png.Decode(r)
	case "image/jpeg":
		return jpeg.Decode(r)
	case "image/gif":
		return gif.Decode(r)
	}
	return webp.Decode(r)
}

// patient ends a decoder's work when nobody waits for it any more: a small file can ask for a lot.
type patient struct {
	ctx context.Context
	r   io.Reader
}

// patience is how many bytes are handed out between two looks at the context.
const patience = 4 << 10

func (p *patient) Read(b []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	return p.r.Read(b[:min(len(b), patience)])
}
