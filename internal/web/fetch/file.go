package fetch

import (
	"context"
	"net/http"
	"strings"
	"time"
)

// FetchFile reads the file at rawURL, of at most so many bytes, by the rules and limits of [Fetcher.Fetch]. It is for hosts that
// keep what people gave them for this program, such as Discord's: o.Domains must hold no other. So any type will do, no
// robots.txt is asked for, and a redirect is a failure. Nothing is cached; callers who want the same file at the same time share
// one request. The error is always an [*Error].
func (f *Fetcher) FetchFile(ctx context.Context, rawURL string, most int64, o Options) (*Document, error) {
	began := time.Now()
	u, e := admit(ctx, rawURL, o)
	if e != nil {
		return nil, e
	}
	until, _ := ctx.Deadline()
	got, err := f.flights.Do(ctx, "file "+pageKey(u, o), func(ctx context.Context) outcome {
		v := visit{f: f, options: o, kind: kindFile, most: most, callerDeadline: until}
		return v.page(ctx, u)
	})
	if err != nil {
		return nil, fromCause(err)
	}
	return got.document(began)
}

// fileType is the declared type of a file, which is no more than a hint.
func fileType(h http.Header) mediaType {
	name, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	return mediaType{name: strings.ToLower(strings.TrimSpace(name))}
}
