package attachment

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"sync"
	"time"

	"golang.org/x/image/webp"
	"golang.org/x/sync/semaphore"

	"familiar/internal/context/turn"
	"familiar/internal/web/clean"
)

const (
	maxSide    = 1024      // pixels of a small picture
	maxDecoded = 100 << 20 // bytes of a decoded picture: a photograph of 50 megapixels, or a screenshot of 25
	quality    = 85        // of JPEG
)

// Errors of pictures that are refused.
var (
	ErrKind   = errors.New("not a PNG, JPEG, WebP or GIF")
	ErrLarge  = errors.New("too large when decoded")
	ErrBroken = errors.New("cannot be decoded")
)

// Picture is a picture that was made small.
type Picture struct {
	Type          string // media type of the original, by its bytes
	FullWidth     int    // of the original
	FullHeight    int
	Width, Height int
	JPEG          []byte
}

// Shrinker makes pictures small, one at a time, which bounds their memory. The zero value is ready to use.
type Shrinker struct {
	once  sync.Once
	turns *semaphore.Weighted // set by once
}

func (s *Shrinker) turn() *semaphore.Weighted {
	s.once.Do(func() { s.turns = semaphore.NewWeighted(1) })
	return s.turns
}

// Shrink returns the picture in data, at most 1024 pixels wide and high. It first reads the header and refuses pictures that need too much
// memory. Then it decodes the picture, shrinks it and encodes it again. This removes metadata, such as EXIF with its places, and data after
// the end of the picture. Only the first frame of an animation is kept.
//
// The error is [ErrKind], [ErrLarge], [ErrBroken] or the context's. Decoding ends soon after ctx is done.
func (s *Shrinker) Shrink(ctx context.Context, data []byte) (Picture, error) {
	small, h, err := s.small(ctx, data, maxSide, image.White)
	if err != nil {
		return Picture{}, err
	}
	var out bytes.Buffer
	if err := jpeg.Encode(&out, small, &jpeg.Options{Quality: quality}); err != nil {
		return Picture{}, fmt.Errorf("write picture: %w", err)
	}
	size := small.Bounds().Size()
	return Picture{Type: h.kind, FullWidth: h.width, FullHeight: h.height, Width: size.X, Height: size.Y, JPEG: out.Bytes()}, nil
}

// faceSide is the width and height of a face in pixels, at most.
const faceSide = 256

// Face returns a PNG, JPEG or WebP as a small PNG, which keeps its transparency. See [Shrinker.Shrink] for the checks and errors.
func (s *Shrinker) Face(ctx context.Context, data []byte) ([]byte, error) {
	small, h, err := s.small(ctx, data, faceSide, image.Transparent)
	switch {
	case err != nil:
		return nil, err
	case h.kind == "image/gif":
		return nil, ErrKind
	}
	var out bytes.Buffer
	if err := png.Encode(&out, small); err != nil {
		return nil, fmt.Errorf("write picture: %w", err)
	}
	return out.Bytes(), nil
}

// small decodes a picture and scales it down, on a ground.
func (s *Shrinker) small(ctx context.Context, data []byte, side int, ground image.Image) (small *image.RGBA, h header, err error) {
	if h, err = readHeader(data); err != nil {
		return nil, h, err
	}
	if h.memory() > maxDecoded {
		return nil, h, ErrLarge
	}
	if err := s.turn().Acquire(ctx, 1); err != nil {
		return nil, h, fmt.Errorf("wait for another picture: %w", err)
	}
	defer s.turn().Release(1)
	defer func() {
		if recover() != nil { // a decoder panicked
			small, err = nil, ErrBroken
		}
	}()
	full, err := h.decode(&contextReader{ctx, bytes.NewReader(data)})
	switch {
	case ctx.Err() != nil:
		return nil, h, fmt.Errorf("decode picture: %w", ctx.Err())
	case err != nil || full.Bounds().Empty():
		return nil, h, ErrBroken
	}
	return scale(full, side, ground), h, nil
}

// decode decodes the first frame of a picture.
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

// contextReader returns an error when ctx is done, to stop a decoder: decoding a small file can take long.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

// maxChunk is the largest number of bytes of a Read.
const maxChunk = 4 << 10

func (p *contextReader) Read(b []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	return p.r.Read(b[:min(len(b), maxChunk)])
}

// decodeLimit is the time for decoding a picture, including the wait for others.
const decodeLimit = 8 * time.Second

// show offers a picture, small enough for a model.
func (p *Provider) show(ctx context.Context, t item, data []byte) turn.Contribution {
	ctx, cancel := context.WithTimeout(ctx, decodeLimit)
	defer cancel()
	small, err := p.pictures.Shrink(ctx, data)
	switch {
	case errors.Is(err, ErrLarge):
		return t.missing(turn.CodeTooLarge)
	case ctx.Err() != nil:
		return t.missing(turn.CodeTimeout)
	case err != nil:
		return t.missing(turn.CodeBadImage)
	}
	label := fmt.Sprintf("Picture %d: %q, %s.", t.number, displayName(t.Name), t.where)
	if alt := clean.InertLine(clean.Line(t.Alt, maxAlt), ""); alt != "" {
		label += fmt.Sprintf(" Its sender describes it: %q.", alt)
	}
	return turn.Contribution{
		Layer: turn.Attachments, Priority: t.priority, Source: "attachment:" + displayName(t.Name),
		Attached: &turn.Attached{
			MessageID: t.MessageID, Name: displayName(t.Name), Type: small.Type, Size: int64(len(data)), SHA256: hash(data), Width: small.FullWidth, Height: small.FullHeight,
			Image: &turn.Image{
				Label: label, Type: "image/jpeg", Width: small.Width, Height: small.Height, Tokens: tokens(small.Width, small.Height), Data: small.JPEG,
			},
		},
	}
}

// tokens estimates the tokens of a picture with OpenAI's formula for high detail, by squares of 512 pixels
// (https://platform.openai.com/docs/guides/images-vision#calculating-costs). Other models need fewer or not many more.
func tokens(width, height int) int {
	const square = 512
	return 85 + 170*((width+square-1)/square)*((height+square-1)/square)
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// avatarSides are the sizes to try for an avatar in pixels, largest first.
var avatarSides = []int{512, 384, 256, 192, 128, 64}

// Avatar returns a picture as a PNG of a limited size in bytes. See [Shrinker.Shrink] for the checks and errors.
func (s *Shrinker) Avatar(ctx context.Context, data []byte, most int) ([]byte, error) {
	p, err := s.Shrink(ctx, data)
	if err != nil {
		return nil, err
	}
	full, err := jpeg.Decode(bytes.NewReader(p.JPEG))
	if err != nil {
		return nil, ErrBroken
	}
	for _, side := range avatarSides {
		var out bytes.Buffer
		if err := png.Encode(&out, scale(full, side, image.White)); err != nil {
			return nil, fmt.Errorf("write picture: %w", err)
		}
		if out.Len() <= most {
			return out.Bytes(), nil
		}
	}
	return nil, ErrLarge
}

// scale draws a picture on a ground, at most side pixels wide and high. Each pixel is the mean of the area that it covers. The picture is read row by
// row, so that only the result needs memory.
func scale(full image.Image, side int, ground image.Image) *image.RGBA {
	from := full.Bounds()
	width, height := fitted(from.Dx(), from.Dy(), side)
	small := image.NewRGBA(image.Rect(0, 0, width, height))
	row := image.NewRGBA(image.Rect(0, 0, from.Dx(), 1))
	line, sums := make([]float32, 4*width), make([]float32, 4*width)
	share := float32(height) / float32(from.Dy()) // of a row of the result that a row of the picture covers
	room := float32(1)                            // left in the current row of the result
	y := 0
	finish := func() {
		for i, v := range sums {
			small.Pix[y*small.Stride+i] = byte(v + 0.5)
		}
		clear(sums)
		y, room = y+1, 1
	}
	for n := range from.Dy() {
		draw.Draw(row, row.Rect, ground, image.Point{}, draw.Src)
		draw.Draw(row, row.Rect, full, image.Pt(from.Min.X, from.Min.Y+n), draw.Over)
		narrow(line, row.Pix)
		left := share
		if left >= room && y < height-1 {
			add(sums, line, room)
			left -= room
			finish()
		}
		add(sums, line, left)
		room -= left
	}
	if y < height {
		finish()
	}
	return small
}

// narrow scales a row. Both have four values for each pixel.
func narrow(to []float32, from []byte) {
	clear(to)
	width, all := len(to)/4, len(from)/4
	share := float32(width) / float32(all)
	x, room := 0, float32(1)
	for n := range all {
		p := from[4*n : 4*n+4 : 4*n+4]
		v := [4]float32{float32(p[0]), float32(p[1]), float32(p[2]), float32(p[3])}
		left := share
		if left >= room && x < width-1 {
			at := to[4*x : 4*x+4 : 4*x+4]
			at[0], at[1], at[2], at[3] = at[0]+v[0]*room, at[1]+v[1]*room, at[2]+v[2]*room, at[3]+v[3]*room
			left -= room
			x, room = x+1, 1
		}
		at := to[4*x : 4*x+4 : 4*x+4]
		at[0], at[1], at[2], at[3] = at[0]+v[0]*left, at[1]+v[1]*left, at[2]+v[2]*left, at[3]+v[3]*left
		room -= left
	}
}

// add adds a part of a row to sums.
func add(to, from []float32, part float32) {
	for i, v := range from {
		to[i] += v * part
	}
}

// fitted returns a size with the same proportions whose longer side is at most side.
func fitted(width, height, side int) (int, int) {
	longer := max(width, height)
	if longer <= side {
		return width, height
	}
	return max(1, width*side/longer), max(1, height*side/longer)
}
