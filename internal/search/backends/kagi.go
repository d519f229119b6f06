package backends

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/search"
)

// kagi is a search without advertisements: https://help.kagi.com/kagi/api/search.html. Its results are ranked by
// the settings of the account.
type kagi struct {
	*service
	old atomic.Bool // the key is one of the API before v1, which v1 refuses
}

func newKagi(s *service) search.Backend {
	return &kagi{service: s.withKey(phrases(
		phrase{"unauthorized", turn.CodeUnauthorized},
		phrase{"insufficient credit", turn.CodeQuota}, phrase{"balance", turn.CodeQuota}, phrase{"billing", turn.CodeQuota},
	))}
}

type kagiResult struct {
	T                   int // v0: 0 is a page, 1 a list of related searches
	URL, Title, Snippet string
	Time, Published     string
	Image, Thumbnail    struct{ URL string }
}

// Well below what a request may hold: a longer question finds nothing.
const (
	maxKagiQuery = 400
	maxKagiWords = 60
)

func (k *kagi) Search(ctx context.Context, q search.Query) (search.Reply, error) {
	if q.Text = withoutBangs(q.Text); q.Text == "" {
		return search.Reply{}, nil
	}
	if k.old.Load() {
		return k.legacy(ctx, q)
	}
	reply, err := k.current(ctx, q)
	if codeOf(err) != turn.CodeUnauthorized {
		return reply, err
	}
	older, olderErr := k.legacy(ctx, q)
	if codeOf(olderErr) == turn.CodeUnauthorized {
		return reply, err
	}
	k.old.Store(true)
	return older, olderErr
}

// withoutBangs takes out operators, and what Kagi would take for the order to use another search engine.
func withoutBangs(text string) string {
	return eachWord(withoutCommands(withoutOperators(text)), func(word string) string { return strings.TrimRight(word, "!") })
}

func (k *kagi) current(ctx context.Context, q search.Query) (search.Reply, error) {
	_, region := locale(q.Language)
	filters := map[string]any{"region": strings.ToLower(region)}
	if oldest := k.since(q); !oldest.IsZero() {
		filters["after"] = oldest.UTC().Format(time.DateOnly)
	}
	body := map[string]any{
		"query": cutWords(q.Text, maxKagiQuery), "limit": q.Limit, "safe_search": q.Safe != "off",
		"workflow": cmp.Or(map[turn.Intent]string{turn.IntentNews: "news", turn.IntentImage: "images", turn.IntentVideo: "videos"}[q.Intent], "search"),
		"filters":  fields(filters), "lens": fields(map[string]any{"sites_included": q.Include, "sites_excluded": q.Exclude}),
	}
	var reply struct {
		Error json.RawMessage
		Data  *struct{ News, Image, Video, Search []kagiResult }
	}
	left, err := k.ask(ctx, request{path: "/v1/search", body: fields(body), language: q.Language, header: bearer(k.secret())}, &reply)
	var hits []turn.Hit
	if d := reply.Data; d != nil {
		hits = slices.Concat(k.hits(d.News, false), k.hits(d.Image, true), k.hits(d.Video, false), k.hits(d.Search, false))
	}
	return outcome(hits, left, k.expect(reply.Data != nil, noFields, k.orFailure(err, reply.Error)))
}

// legacy asks v0, which has web pages only, and no filters except operators in the query.
func (k *kagi) legacy(ctx context.Context, q search.Query) (search.Reply, error) {
	var reply struct {
		Error json.RawMessage
		Data  []kagiResult
	}
	left, err := k.ask(ctx, request{
		path: "/v0/search", params: url.Values{"q": {withSites(q, maxKagiQuery, maxKagiWords)}, "limit": {strconv.Itoa(q.Limit)}},
		language: q.Language, header: http.Header{"Authorization": {"Bot " + k.secret()}},
	}, &reply)
	return outcome(k.hits(reply.Data, false), left, k.expect(reply.Data != nil, noFields, k.orFailure(err, reply.Error)))
}

// orFailure is err, or the failure that a reply with a good status tells.
func (k *kagi) orFailure(err error, failure json.RawMessage) error {
	if err == nil && complaint(failure) != "" {
		return k.fail(k.failureOf(http.StatusOK, failure))
	}
	return err
}

func (k *kagi) hits(results []kagiResult, images bool) []turn.Hit {
	var hits []turn.Hit
	for _, p := range results {
		if p.T != 0 {
			continue
		}
		h := k.hit(p.Title, p.URL, p.Snippet, p.Time, p.Published)
		if h.Thumbnail = picture(p.Thumbnail.URL, p.Image.URL); images {
			h.Media = picture(p.Image.URL, p.URL)
		}
		hits = append(hits, h)
	}
	return hits
}
