package attachment

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/web/clean"
	"familiar/internal/web/picture"
	"familiar/internal/web/seal"
)

// decodeTime is how long decoding one picture may take, with the wait for others.
const decodeTime = 8 * time.Second

// show makes a picture small enough for a model.
func (p *Provider) show(ctx context.Context, t thing, data []byte) turn.Contribution {
	ctx, cancel := context.WithTimeout(ctx, decodeTime)
	defer cancel()
	small, err := p.pictures.Shrink(ctx, data)
	switch {
	case errors.Is(err, picture.ErrLarge):
		return t.missing(turn.CodeTooLarge)
	case ctx.Err() != nil:
		return t.missing(turn.CodeTimeout)
	case err != nil:
		return t.missing(turn.CodeBadImage)
	}
	label := fmt.Sprintf("Picture %d: %q, %s.", t.number, displayName(t.Name), t.where)
	if alt := seal.Line(clean.Line(t.Alt, maxAlt), ""); alt != "" {
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

// tokens estimates what a picture costs: OpenAI's formula for high detail, by squares of 512 pixels
// (https://platform.openai.com/docs/guides/images-vision#calculating-costs). Other models take less or not much more.
func tokens(width, height int) int {
	const square = 512
	return 85 + 170*((width+square-1)/square)*((height+square-1)/square)
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
