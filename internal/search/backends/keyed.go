package backends

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"familiar/internal/api"
	"familiar/internal/context/turn"
	"familiar/internal/search"
)

// keyed is the service of a backend that a key lets in, with what such backends have in common.
type keyed struct {
	*service
	key    Key
	secret string // its value
	now    func() time.Time
	// judge names the failure behind a status by what the service says of it, in lower case. Nil, or returning "",
	// leaves the status's word.
	judge func(status int, says string) turn.Code
	hints map[turn.Code]string // what else the operator should know of a failure, by its code; may be nil
}

// newKeyed makes the service of the backend name, whose first key in the table it is.
func newKeyed(c Config, name, base string, judge func(status int, says string) turn.Code) (*keyed, error) {
	s, err := newService(c, name, base)
	if err != nil {
		return nil, err
	}
	line, _ := entryOf(name)
	k := &keyed{service: s, key: line.Keys[0], now: c.now(), judge: judge}
	k.secret = strings.TrimSpace(c.Keys[k.key.Name])
	s.explain = func(status int, page []byte) (code turn.Code, detail string) {
		if api.CodeOf(status) == "" || bytes.HasPrefix(bytes.TrimSpace(page), []byte("<")) {
			return "", "" // a reply, or a page of whatever stands before the service
		}
		return k.verdict(status, page)
	}
	return k, nil
}

func (k *keyed) Name() string { return k.backend }

// verdict is what a failure told as JSON comes to, with the cure.
func (k *keyed) verdict(status int, failure []byte) (code turn.Code, detail string) {
	says := complaint(failure)
	if k.judge != nil {
		code = k.judge(status, says)
	}
	switch {
	case code != "":
	case status == http.StatusForbidden && says != "":
		code = turn.CodeUnauthorized
	case status == http.StatusRequestTimeout:
		code = turn.CodeTimeout
	default:
		code = cmp.Or(api.CodeOf(status), turn.CodeUpstream)
	}
	return code, fmt.Sprintf("HTTP %d%s%s", status, k.key.cure(code), k.hints[code])
}

// cure is what the operator can do about a failure.
func (k Key) cure(code turn.Code) string {
	switch code {
	case turn.CodeUnauthorized:
		return fmt.Sprintf(": %s is refused: it is wrong, has ended or is for something else; see %s", k.Name, k.Where)
	case turn.CodeQuota:
		return fmt.Sprintf(": what %s pays for is used up; see %s", k.Name, k.Where)
	case turn.CodeRateLimited:
		return fmt.Sprintf(": more requests at a time than %s allows; see %s", k.Name, k.Where)
	case turn.CodeRejected:
		return ": it understood the request and refuses it"
	}
	return ""
}

// complaint is what a service says of a failure in its JSON, in lower case: {"detail":{"error":"…"}},
// {"error":[{"msg":"…"}]}, {"message":"…"}, "…". It is to look for words in, never for an error. Fields that repeat
// the request are not read: who asks could write a failure into them.
func complaint(failure []byte) string {
	var said any
	if json.Unmarshal(failure, &said) != nil {
		return ""
	}
	return strings.ToLower(strings.Join(told(said), "\n"))
}

func told(v any) (all []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, one := range v {
			all = append(all, told(one)...)
		}
	case map[string]any:
		for _, name := range []string{"error", "errors", "detail", "details", "message", "msg", "code", "tag", "meta"} {
			all = append(all, told(v[name])...)
		}
	}
	return all
}

// contains is whether text has one of some phrases in it.
func contains(text string, phrases ...string) bool {
	return slices.ContainsFunc(phrases, func(p string) bool { return strings.Contains(text, p) })
}

// hit is a result in plain text, with the first of dates that says the most; see [dated].
func (k *keyed) hit(title, address, snippet string, dates ...string) turn.Hit {
	h := turn.Hit{Title: line(unmark(title), maxTitle), URL: strings.TrimSpace(address), Snippet: line(unmark(snippet), maxSnippet)}
	h.Published, h.DayOnly = dated(k.now(), dates...)
	return h
}

// outcome is what came of a reply: hits, if any could be made, whatever else was odd about it; else err; else a
// failure, unless it is a reply of this service at all.
func (k *keyed) outcome(hits []turn.Hit, left search.Allowance, ours bool, err error) (search.Reply, error) {
	reply := search.Reply{Allowance: left}
	for _, h := range hits {
		if h.URL != "" {
			reply.Hits = append(reply.Hits, h)
		}
	}
	switch {
	case len(reply.Hits) > 0:
		return reply, nil
	case err == nil && !ours:
		return reply, k.fail(turn.CodeMalformed, "the reply has none of the fields agreed on")
	}
	return reply, err
}

// maxAddress is how long the address of a picture may be: what is longer is mostly the picture itself.
const maxAddress = 2048

// picture is an address that a picture can be fetched from, or nothing.
func picture(addresses ...string) string {
	for _, a := range addresses {
		if a = strings.TrimSpace(a); len(a) <= maxAddress && (strings.HasPrefix(a, "https://") || strings.HasPrefix(a, "http://")) {
			return a
		}
	}
	return ""
}
