package fetch

import (
	"context"
	"net/http"
	"strings"
	"time"

	"familiar/internal/context/turn"
)

// FetchImage reads the image at rawURL, such as the thumbnail of a search result, by the rules and limits of [Fetcher.Fetch].
// Any redirect is a failure, since an image's address comes from a list and has no reason to lead elsewhere, and so are
// images that are programs (SVG): it is a PNG, JPEG, WebP or GIF, as declared and as its Body begins. Nothing is cached;
// callers who want the same image at the same time share one request. The error is always an [*Error].
func (f *Fetcher) FetchImage(ctx context.Context, rawURL string, o Options) (*Document, error) {
	began := time.Now()
	u, e := admit(ctx, rawURL, o)
	if e != nil {
		return nil, e
	}
	until, _ := ctx.Deadline()
	got, err := f.flights.Do(ctx, "image "+pageKey(u, o), func(ctx context.Context) outcome {
		v := visit{f: f, options: o, kind: kindImage, callerDeadline: until}
		return v.page(ctx, u)
	})
	if err != nil {
		return nil, fromCause(err)
	}
	return got.document(began)
}

// imageType reads the declared type of an image and refuses what is not shown.
func imageType(h http.Header) (mediaType, *Error) {
	name, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	switch name = strings.ToLower(strings.TrimSpace(name)); name {
	case "":
		return mediaType{}, fail(turn.CodeMissingType)
	case "image/png", "image/jpeg", "image/webp", "image/gif":
		return mediaType{name: name}, nil
	case "image/jpg": // a name that JPEG never had and often gets
		return mediaType{name: "image/jpeg"}, nil
	}
	return mediaType{}, fail(turn.CodeBadImage)
}
