package picture

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"

	"golang.org/x/image/draw"
)

// avatarSides are the sizes in which an avatar is tried, largest first, in pixels.
var avatarSides = []int{512, 384, 256, 192, 128, 64}

// Avatar returns a picture as a PNG of at most so many bytes, small enough for an avatar. The checks and the errors are those of Shrink.
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
		width, height := fitted(p.Width, p.Height, side)
		small := image.NewRGBA(image.Rect(0, 0, width, height))
		draw.Draw(small, small.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
		draw.ApproxBiLinear.Scale(small, small.Bounds(), full, full.Bounds(), draw.Over, nil)
		var out bytes.Buffer
		if err := png.Encode(&out, small); err != nil {
			return nil, fmt.Errorf("write picture: %w", err)
		}
		if out.Len() <= most {
			return out.Bytes(), nil
		}
	}
	return nil, ErrLarge
}
