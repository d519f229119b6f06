package backends

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"familiar/internal/api"
	"familiar/internal/context/turn"
)

// withKey makes s word its failures for the operator of its key, which is the first of its line in the table. meaning
// names the failure behind a status by what the service says of it, in lower case; nil, or returning "", leaves the
// status's code.
func (s *service) withKey(meaning func(status int, text string) turn.Code) *service {
	s.meaning = meaning
	s.explain = func(status int, page []byte) (code turn.Code, detail string) {
		if api.CodeOf(status) == "" || bytes.HasPrefix(bytes.TrimSpace(page), []byte("<")) {
			return "", "" // a reply, or a page of whatever stands before the service
		}
		return s.failureOf(status, page)
	}
	return s
}

// secret is the value of the backend's key.
func (s *service) secret() string { return strings.TrimSpace(s.config.Keys[s.keys[0].Name]) }

// phrase is a part of what a service says of a failure, in lower case.
type phrase struct {
	text string
	code turn.Code
}

// phrases gives a failure the code of the first phrase that stands in what the service says.
func phrases(all ...phrase) func(status int, text string) turn.Code {
	return func(_ int, text string) turn.Code {
		for _, p := range all {
			if strings.Contains(text, p.text) {
				return p.code
			}
		}
		return ""
	}
}

// failureOf is the code of a failure that the service tells in JSON, with its cure.
func (s *service) failureOf(status int, failure []byte) (code turn.Code, detail string) {
	text := complaint(failure)
	if s.meaning != nil {
		code = s.meaning(status, text)
	}
	switch {
	case code != "":
	case status == http.StatusForbidden && text != "":
		code = turn.CodeUnauthorized
	case status == http.StatusRequestTimeout:
		code = turn.CodeTimeout
	default:
		code = cmp.Or(api.CodeOf(status), turn.CodeUpstream)
	}
	return code, fmt.Sprintf("HTTP %d%s%s", status, s.keys[0].cure(code), s.hints[code])
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
// {"error":[{"msg":"…"}]}, {"message":"…"}, "…". It is there to look for words in, never to be shown. Fields that repeat
// the request are not read: a query could write a failure into them.
func complaint(failure []byte) string {
	var v any
	if json.Unmarshal(failure, &v) != nil {
		return ""
	}
	return strings.ToLower(strings.Join(texts(v), "\n"))
}

func texts(v any) (all []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, one := range v {
			all = append(all, texts(one)...)
		}
	case map[string]any:
		for _, name := range []string{"error", "errors", "detail", "details", "message", "msg", "code", "tag", "meta"} {
			all = append(all, texts(v[name])...)
		}
	}
	return all
}

// contains reports whether text has one of some phrases in it.
func contains(text string, phrases ...string) bool {
	return slices.ContainsFunc(phrases, func(p string) bool { return strings.Contains(text, p) })
}
