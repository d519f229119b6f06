package read

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"familiar/internal/api"
	"familiar/internal/cache"
	"familiar/internal/context/turn"
	"familiar/internal/web/clean"
	"familiar/internal/web/page"
)

// ServicesConfig configures [Services]. Only Client is required.
type ServicesConfig struct {
	Client           func(origin string) *http.Client // returns the HTTP client for one origin
	UserAgent        string                           // honest: name, version and address of the operator
	GitHubToken      string                           // raises GitHub's limit from 60 to 5,000 requests an hour; needs no scope
	StackExchangeKey string                           // raises Stack Exchange's limit from 300 requests a day to 10,000
	Now              func() time.Time                 // clock of the cache; nil means time.Now
}

// Services reads pages of a few well-known sites through their APIs. It returns what a person would find on the page,
// without the page around it. Create it with [NewServices], and close it. It is safe for concurrent use. A nil Services
// reads no page.
type Services struct {
	config  ServicesConfig
	cache   *cache.LRU[string, cacheEntry]
	flights cache.Group[string, outcome] // by request.key

	mu        sync.Mutex
	endpoints map[string]*api.Endpoint // guarded by mu: by origin, created at first use
	cooldowns map[string]time.Time     // guarded by mu: end of the cooldown, by origin
	public    map[string]publicRepo    // guarded by mu: by lower-case name; only used with a token
}

type cacheEntry struct {
	doc     *Document
	expires time.Time
}

const (
	cacheTTL      = 5 * time.Minute
	maxCacheBytes = 8 << 20         // bytes of text, approximately
	readTimeout   = 4 * time.Second // for one request
	maxText       = 256 << 10       // bytes of Markdown
)

// NewServices returns Services for all rows of the table.
func NewServices(c ServicesConfig) *Services {
	if c.Now == nil {
		c.Now = time.Now
	}
	r := &Services{config: c, endpoints: map[string]*api.Endpoint{}, cooldowns: map[string]time.Time{}, public: map[string]publicRepo{}}
	r.flights.Timeout = readTimeout
	r.cache = cache.NewLRU(maxCacheBytes, func(key string, k cacheEntry) int64 { return int64(len(key) + len(k.doc.Page.Markdown) + 4096) })
	return r
}

// Close cancels all requests and waits for them. Later reads fail.
func (r *Services) Close() { r.flights.Close() }

// Forget drops all cached pages, and what is known about public repositories.
func (r *Services) Forget() {
	if r == nil {
		return
	}
	r.cache.Clear()
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.public)
}

// serviceOptions are the options of one page.
type serviceOptions struct {
	Domains  clean.Domains // lists that every host must pass: the page's and the service's
	Language string        // preferred language of a page in several, BCP 47; may be empty
}

// Document is a page as its service delivered it. It may be shared and must not be changed.
type Document struct {
	Reader  string    // name of the service: "wikipedia"
	URL     string    // as requested, canonical
	Final   string    // address of the page for people
	Page    page.Page // not cleaned
	Bytes   int       // of Page.Markdown
	SHA256  string    // of Page.Markdown, in hex
	Fetched time.Time // time of the request, also if the document comes from the cache
	Cached  bool      // this call made no request
}

// errNoService says that no service has a page, or that the lists do not allow one of the hosts.
var errNoService = errors.New("no service has this page")

// ServiceError says why a service did not deliver a page. It never contains text from the service.
type ServiceError struct {
	Reader string
	Code   turn.Code
	Detail string // cause and cure for the operator
}

func (e *ServiceError) Error() string { return e.Reader + ": " + string(e.Code) }

// read reads the page at rawURL. A fragment may name a part of the page that should come first. read takes at most half
// of the time left in ctx, so that the page itself can still be fetched. The error is errNoService or a *[ServiceError].
func (r *Services) read(ctx context.Context, rawURL string, o serviceOptions) (*Document, error) {
	req := recognise(rawURL, o.Language)
	if r == nil || req == nil || !req.allowed(o.Domains) {
		return nil, errNoService
	}
	if k, ok := r.cache.Get(req.key); ok && r.config.Now().Before(k.expires) {
		doc := *k.doc
		doc.URL, doc.Cached = req.url, true
		return &doc, nil
	}
	wait := readTimeout
	if until, ok := ctx.Deadline(); ok {
		wait = min(wait, time.Until(until)/2)
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	got, err := r.flights.Do(ctx, req.key, func(ctx context.Context) outcome { return r.run(ctx, req) })
	switch {
	case err != nil:
		return nil, &ServiceError{req.reader, turn.CodeTimeout, "no answer in time"}
	case got.err != nil:
		return nil, got.err
	}
	doc := *got.doc
	doc.URL = req.url
	return &doc, nil
}

// outcome is the result of a request: a document, or the reason why there is none.
type outcome struct {
	doc *Document
	err error
}

// run makes a request and caches the document. If parsing panics on hostile bytes, only this request fails.
func (r *Services) run(ctx context.Context, req *request) (o outcome) {
	defer func() {
		if recover() != nil {
			o = outcome{err: &ServiceError{req.reader, turn.CodeMalformed, "the reply could not be read"}}
		}
	}()
	doc, err := r.document(ctx, req)
	if err == nil {
		r.cache.Set(req.key, cacheEntry{doc, r.config.Now().Add(cacheTTL)})
	}
	return outcome{doc, err}
}

func (r *Services) document(ctx context.Context, req *request) (*Document, error) {
	s, err := r.newSession(req)
	if err != nil {
		return nil, err
	}
	doc := &Document{Reader: req.reader, Fetched: r.config.Now()}
	if doc.Page, err = req.read(ctx, s); err != nil {
		return nil, req.asError(err)
	}
	doc.Final = cmp.Or(s.final, req.final)
	text := truncate(strings.TrimSpace(doc.Page.Markdown), maxText)
	if text == "" {
		return nil, &ServiceError{req.reader, turn.CodeEmpty, "there is nothing to read"}
	}
	sum := sha256.Sum256([]byte(text))
	doc.Page.Markdown, doc.Bytes, doc.SHA256 = text, len(text), hex.EncodeToString(sum[:])
	return doc, nil
}

// asError converts any failure of a request into a *ServiceError.
func (req *request) asError(err error) error {
	if f, ok := errors.AsType[*api.Failure](err); ok {
		return &ServiceError{req.reader, f.Code, f.Detail}
	}
	if f, ok := errors.AsType[*page.Error](err); ok {
		if f.Code == turn.CodeEmpty {
			return &ServiceError{req.reader, turn.CodeEmpty, "there is nothing to read"}
		}
		return &ServiceError{req.reader, turn.CodeMalformed, fmt.Sprintf("its text could not be read: %s", f.Code)}
	}
	return &ServiceError{req.reader, turn.CodeMalformed, "the reply could not be read"}
}

// truncate cuts Markdown to most bytes, if possible at the end of a paragraph or a line.
func truncate(text string, most int) string {
	if len(text) <= most {
		return text
	}
	text = text[:most]
	for _, end := range []string{"\n\n", "\n", " "} {
		if i := strings.LastIndex(text, end); i > most/2 {
			return text[:i]
		}
	}
	return strings.ToValidUTF8(text, "")
}

// Cooldown of a service that asked for fewer requests: if it gives no time, and at most.
const (
	defaultCooldown = time.Minute
	maxCooldown     = time.Hour
)

// maxReply is the size limit of a service's reply, in bytes. A long article or thread has a quarter of it.
const maxReply = 8 << 20

// session is the use of a service's endpoint for one request. Its calls may run concurrently.
type session struct {
	services *Services
	request  *request
	endpoint *api.Endpoint
	final    string // address of the page if the service says that it moved; same host
}

// newSession returns a session. It fails during the service's cooldown.
func (r *Services) newSession(req *request) (*session, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.config.Now().Before(r.cooldowns[req.origin]) {
		return nil, &ServiceError{req.reader, turn.CodeRateLimited, "the service asked for fewer requests and is in its cooldown"}
	}
	endpoint := r.endpoints[req.origin]
	if endpoint == nil {
		var err error
		if endpoint, err = api.NewEndpoint(req.origin, r.config.Client); err != nil {
			return nil, &ServiceError{req.reader, turn.CodeRejected, err.Error()}
		}
		endpoint.UserAgent, endpoint.MaxBody, endpoint.Explain = r.config.UserAgent, maxReply, req.explain
		r.endpoints[req.origin] = endpoint
	}
	return &session{services: r, request: req, endpoint: endpoint}, nil
}

// explainMissing recognises the statuses of pages that do not exist.
func explainMissing(r api.Reply) api.Failure {
	if r.Status == 404 || r.Status == 410 {
		return *missing()
	}
	return api.Failure{}
}

// extrasTimeout limits the wait for optional parts: comments, answers, transcripts. A caller with little time gets the
// page without them.
const extrasTimeout = 1200 * time.Millisecond

// json sends a request and decodes the reply. Fields of unexpected types are ignored if the rest is valid.
func (s *session) json(ctx context.Context, r api.Request, v any) error {
	_, err := s.endpoint.JSON(ctx, r, v)
	return s.noteLimit(err)
}

// text sends a request whose reply is not JSON.
func (s *session) text(ctx context.Context, r api.Request) (string, error) {
	body, err := s.endpoint.Text(ctx, r)
	return string(body), s.noteLimit(err)
}

// noteLimit starts a cooldown if err says that the service wants fewer requests. It returns err.
func (s *session) noteLimit(err error) error {
	f, ok := errors.AsType[*api.Failure](err)
	if !ok {
		return err
	}
	switch {
	case f.RetryAfter > 0:
		s.coolDown(f.RetryAfter)
	case f.Code == turn.CodeRateLimited || f.Code == turn.CodeQuota || f.Code == turn.CodeBlocked:
		s.coolDown(defaultCooldown)
	}
	return err
}

// coolDown stops requests to the service for the time wait.
func (s *session) coolDown(wait time.Duration) {
	until := s.services.config.Now().Add(min(wait, maxCooldown))
	s.services.mu.Lock()
	defer s.services.mu.Unlock()
	if until.After(s.services.cooldowns[s.request.origin]) {
		s.services.cooldowns[s.request.origin] = until
	}
}

// malformed returns the failure for a reply that differs from its documentation.
func malformed(detail string) error { return &api.Failure{Code: turn.CodeMalformed, Detail: detail} }

func missing() *api.Failure {
	return &api.Failure{Code: turn.CodeMissing, Detail: "the service does not know this page"}
}
