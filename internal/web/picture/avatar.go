package picture

import (
	"bytes"
	"context"
	"fmt"
	"image/jpeg"
	"image/png"
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
		var out bytes.Buffer
		if err := png.Encode(&out, scale(full, side)); err != nil {
			return nil, fmt.Errorf("write picture: %w", err)
		}
		if out.Len() <= most {
			return out.Bytes(), nil
		}
	}
	return nil, ErrLarge
}
