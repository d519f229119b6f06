package llm

import (
	"familiar/internal/text"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Kind is the kind of a failure. The set is closed.
type Kind string

const (
	Unauthorized   Kind = "unauthorized"     // the key is missing, wrong or not allowed to do this
	NoModel        Kind = "no_model"         // the server lacks the model
	Quota          Kind = "quota"            // paid or daily allowance used up; waiting does not help
	RateLimited    Kind = "rate_limited"     // too many requests; waiting helps
	ContextTooLong Kind = "context_too_long" // the prompt does not fit the model
	Refused        Kind = "refused"          // a content filter intervened
	Rejected       Kind = "rejected"         // the server does not accept the request as it is
	Truncated      Kind = "truncated"        // the stream ended before the answer did
	Empty          Kind = "empty"            // the answer ended without a visible word
	NotOpenAI      Kind = "not_openai"       // the server does not speak this protocol: HTML, other JSON, a redirect
	Unreachable    Kind = "unreachable"      // no connection
	Timeout        Kind = "timeout"          // connected, then silent for too long
	Server         Kind = "server"           // a failure of the server, possibly in the middle of an answer
)

// Error is a model's failure. The text of Error holds no words of the server or the caller, except the model's name.
// Cause may hold them, for the operator.
type Error struct {
	Kind       Kind
	Model      string
	Status     int           // HTTP status, or the code of an error inside a stream; 0 if there was none
	RetryAfter time.Duration // how long the server asked to wait; 0 if it did not
	Cause      string        // one line of at most 300 bytes, redacted. It may quote the server, so do not show it to users or models
	Partial    bool          // the answer had begun: Answer.Text holds its beginning

	problem problem // the body of the error; compat.adapt reads it
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("ask model")
	if e.Model != "" {
		b.WriteString(" " + e.Model)
	}
	b.WriteString(": " + string(e.Kind))
	if e.Status != 0 {
		fmt.Fprintf(&b, " (status %d)", e.Status)
	}
	return b.String()
}

// maxCause is enough for one sentence.
const maxCause = 300

// cause makes a server's message fit for a log: one line, printable, short and without secrets.
func (c *Client) cause(s string) string {
	if c.Redact != nil {
		s = c.Redact(s)
	}
	if c.Key != "" {
		s = strings.ReplaceAll(s, c.Key, "***")
	}
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f }), " ")
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) > maxCause {
		s = strings.ToValidUTF8(s[:maxCause-len("…")], "") + "…"
	}
	return s
}

// wrongAddress matches the 404 of a wrong path, as opposed to a missing model.
var wrongAddress = text.NewLazyRegexp(`invalid url|file not found|unknown request|page not found|no route|^not found$`)

var (
	tooLong    = text.NewLazyRegexp(`context_length_exceeded|exceed_context_size|request_too_large|context (length|window|size)|maximum context|prompt is too long|input is too long|too many (input )?tokens|reduce the length`)
	filtered   = text.NewLazyRegexp(`content_policy|content_filter|content management policy|moderation|flagged|safety (system|filter|polic)`)
	noSuch     = text.NewLazyRegexp(`model_not_found|not a valid model|model\b.{0,80}\b(not found|does not exist|not exist)|(no such|unknown|invalid) model`)
	allowance  = text.NewLazyRegexp(`insufficient_(quota|balance|credits)|billing_(error|hard_limit_reached)|insufficient balance`)
	inTimeType = text.NewLazyRegexp(`timeout_error|request_timeout`)
	rateType   = text.NewLazyRegexp(`rate_limit|resource_exhausted|too_many_requests`)
	authType   = text.NewLazyRegexp(`authentication_error|invalid_api_key|permission_error|permission_denied`)
)

// kindOf classifies a failure by its status and its message. The message decides if servers use one status for several
// things. Status 0 is an error inside a stream without a code.
func kindOf(status int, p problem) Kind {
	words := strings.ToLower(p.Code + "\n" + p.Type + "\n" + p.Message)
	client := status >= 400 && status < 500
	switch {
	case status == http.StatusRequestEntityTooLarge, status != 429 && tooLong.MatchString(words):
		return ContextTooLong
	case status == http.StatusPaymentRequired, allowance.MatchString(words):
		return Quota
	case status == http.StatusTooManyRequests:
		return RateLimited
	case status != 401 && status < 500 && filtered.MatchString(words):
		return Refused
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return Unauthorized
	case status == http.StatusNotFound:
		if wrongAddress.MatchString(strings.ToLower(p.Message)) {
			return NotOpenAI
		}
		return NoModel
	case client && noSuch.MatchString(words):
		return NoModel
	case status == 408, status == 504, status == 524:
		return Timeout
	case client && status != 498: // 498 is Groq's "capacity exceeded"
		return Rejected
	}
	return kindOfStream(words)
}

// kindOfStream classifies an error inside a stream without a known code.
func kindOfStream(words string) Kind {
	switch {
	case rateType.MatchString(words):
		return RateLimited
	case authType.MatchString(words):
		return Unauthorized
	case inTimeType.MatchString(words):
		return Timeout
	}
	return Server
}
