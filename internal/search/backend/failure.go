package backend

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"familiar/internal/api"
	"familiar/internal/context/turn"
	"familiar/internal/search"
)

// withKey makes the errors of s name its key, the first of its line in the table. meaning returns the code for a status
// and the service's lower-case message. If it is nil or returns "", the code of the status is used.
func (s *service) withKey(meaning func(status int, text string) turn.Code) *service {
	s.meaning = meaning
	s.explain = func(status int, page []byte) (code turn.Code, detail string) {
		if api.CodeOf(status) == "" || bytes.HasPrefix(bytes.TrimSpace(page), []byte("<")) {
			return "", "" // a good reply, or an HTML page of a proxy in between
		}
		return s.failureOf(status, page)
	}
	return s
}

// secret returns the value of the backend's key.
func (s *service) secret() string { return strings.TrimSpace(s.config.Keys[s.keys[0].Name]) }

// phrase is a part of a service's error message, in lower case.
type phrase struct {
	text string
	code turn.Code
}

// phrases returns a function that gives a message the code of the first phrase it contains.
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

// failureOf returns the code of a failure reported in JSON, and the cure.
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

// cure returns what the operator can do about a failure.
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

// complaint returns the error messages in a service's JSON, in lower case: {"detail":{"error":"…"}},
// {"error":[{"msg":"…"}]}, {"message":"…"}, "…". They are searched for words and never shown. It skips fields that
// repeat the request, or else a query could imitate a failure.
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

// contains reports whether text contains one of the phrases.
func contains(text string, phrases ...string) bool {
	return slices.ContainsFunc(phrases, func(p string) bool { return strings.Contains(text, p) })
}

// Status is the configuration and health of one backend of the table.
type Status struct {
	Name    string        `json:"name"`
	On      bool          `json:"on"`
	Why     string        `json:"why,omitempty"` // why it is off, and what would switch it on
	Kind    string        `json:"kind"`          // "general": a wide index of its own; "web": other web search; "special": for a few intents
	Intents []turn.Intent `json:"intents"`       // the ones it serves; empty: all
	Best    []turn.Intent `json:"best,omitempty"`
	Last    []turn.Intent `json:"last,omitempty"` // for these it is asked last

	Health   search.HealthState `json:"health,omitempty"`
	Until    time.Time          `json:"until,omitzero"`
	Answers  int                `json:"answers"` // the number behind P50 and P95
	P50      time.Duration      `json:"p50,omitempty"`
	P95      time.Duration      `json:"p95,omitempty"`
	Left     int                `json:"left,omitempty"`
	Of       int                `json:"of,omitempty"` // 0 if no limit is known
	Resets   time.Time          `json:"resets,omitzero"`
	Failure  turn.Code          `json:"failure,omitempty"` // of the last failure
	Detail   string             `json:"detail,omitempty"`
	FailedAt time.Time          `json:"failed_at,omitzero"`
	Probe    *turn.Asked        `json:"probe,omitempty"`
}

// Used returns the used share of the backend's limit, 0 to 1.
func (s Status) Used() float64 {
	if s.Of <= 0 {
		return 0
	}
	return float64(s.Of-s.Left) / float64(s.Of)
}

// List returns every backend of the table with its configuration. [Learn] adds its health.
func (s *Set) List() (list []Status) {
	for _, l := range Table() {
		b := Status{Name: l.Name, Kind: "web", Intents: l.Only, Best: l.Best, Last: l.Last}
		switch {
		case l.Only != nil:
			b.Kind = "special"
		case l.General:
			b.Kind = "general"
		}
		if i := slices.IndexFunc(s.Off, func(d Disabled) bool { return d.Name == l.Name }); i >= 0 {
			b.Why = s.Off[i].Why
		} else {
			b.On = true
		}
		list = append(list, b)
	}
	return list
}

// Learn adds the health known from earlier lookups and from the engine to a list.
func Learn(list []Status, past Past, engine []search.Health) {
	for _, now := range engine {
		if i := slices.IndexFunc(list, func(s Status) bool { return s.Name == now.Backend }); i >= 0 {
			list[i].learn(past[now.Backend], now)
		}
	}
}

func (s *Status) learn(past history, now search.Health) {
	s.Health, s.Until, s.Left, s.Of, s.Resets = now.State, now.Until, now.Left, now.Of, now.Resets
	if s.Health == search.Untried && past.state != "" {
		s.Health = past.state
	}
	s.Failure, s.Detail, s.FailedAt = past.failure.Status, past.failure.Detail, past.failedAt
	if now.Failure != "" {
		s.Failure, s.Detail, s.FailedAt = now.Failure, now.Detail, now.FailedAt
	}
	took := past.took
	if p := s.Probe; p != nil && answered(*p) {
		took = append(took, p.Took)
	}
	slices.Sort(took)
	if s.Answers = len(took); s.Answers > 0 {
		s.P50, s.P95 = took[(len(took)-1)/2], took[(len(took)*95+99)/100-1]
	}
}

// Past is what earlier lookups recorded of each backend, by name.
type Past map[string]history

type history struct {
	state    search.HealthState // after the newest lookup
	took     []time.Duration
	failure  turn.Asked // the newest one
	failedAt time.Time
}

// Add adds the record of a lookup. Newer lookups must be added before older ones. Cached answers and backends that were
// not asked say nothing and are skipped.
func (p Past) Add(asked turn.Asked, at time.Time) {
	if search.FromCache(asked) || asked.Took == 0 {
		return
	}
	h, state := p[asked.Backend], search.Failing
	switch {
	case answered(asked):
		state = search.Healthy
		h.took = append(h.took, asked.Took)
	case h.failure.Status == "":
		h.failure, h.failedAt = asked, at
	}
	if h.state == "" {
		h.state = state
	}
	p[asked.Backend] = h
}

func answered(a turn.Asked) bool { return a.Status == turn.CodeOK || a.Status == turn.CodeEmpty }

// probe returns a question that a backend for these intents can answer.
func probe(intents []turn.Intent) search.Query {
	if len(intents) == 0 {
		return search.Query{Text: "Ada Lovelace", Intent: turn.IntentGeneral}
	}
	return map[turn.Intent]search.Query{
		turn.IntentWeather: {Text: "weather in Berlin", Intent: turn.IntentWeather, Place: "Berlin"},
		turn.IntentNews:    {Text: "technology", Intent: turn.IntentNews},
		turn.IntentForum:   {Text: "linux", Intent: turn.IntentForum},
		turn.IntentDocs:    {Text: "json parser", Intent: turn.IntentDocs},
	}[intents[0]]
}

// ProbeTime is the time limit of [Probe].
const ProbeTime = 15 * time.Second

// Probe asks every backend of a list that is on a question, all at once, and sets its Probe. Probe stays nil if a
// backend does not answer in time.
func Probe(ctx context.Context, engine *search.Engine, list []Status) {
	ctx, cancel := context.WithTimeout(ctx, ProbeTime)
	defer cancel()
	var asking sync.WaitGroup
	for i := range list {
		s := &list[i]
		if !s.On {
			continue
		}
		q := probe(s.Intents)
		q.Backends, q.Limit = []string{s.Name}, 3
		asking.Go(func() {
			if r := engine.Search(ctx, q); len(r.Asked) > 0 {
				s.Probe = &r.Asked[0]
			}
		})
	}
	asking.Wait()
}
