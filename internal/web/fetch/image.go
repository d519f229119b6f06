package fetch

import (
	"context"
	"familiar/internal/context/turn"
	"net/http"
	"strings"
	"time"
)

// Image is a picture as it was sent: PNG, JPEG, WebP or GIF. It may be shared between callers: nobody may change Body.
type Image struct {
	URL         string // canonical form of what was asked for, and where it came from: redirects are not followed
	ContentType string // "image/png", "image/jpeg", "image/webp" or "image/gif", as declared and as Body begins
	Body        []byte
	Fetched     time.Time
	Took        time.Duration
	Timings     Timings
}

// FetchImage reads the image at rawURL, such as the thumbnail of a search result, by the rules and limits of [Fetcher.Fetch].
// Any redirect is a failure, since an image's address comes from a list and has no reason to lead elsewhere, and so are
// images that are programs (SVG). Nothing is cached; callers who want the same image at the same time share one
// request. The error is always an [*Error].
func (f *Fetcher) FetchImage(ctx context.Context, rawURL string, o Options) (*Image, error) {
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
	switch {
	case err != nil:
		return nil, fromCause(err)
	case got.err != nil:
		return nil, clone(got.err)
	}
	d := got.doc
	return &Image{URL: d.URL, ContentType: d.ContentType, Body: d.Body, Fetched: d.Fetched,
		Took: time.Since(began), Timings: d.Timings}, nil
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

// agreesWithImage refuses an image that does not begin like one of its declared type.
func (t mediaType) agreesWithImage(image []byte) *Error {
	if http.DetectContentType(image) != t.name {
		return fail(turn.CodeTypeMismatch)
	}
	return nil
}
