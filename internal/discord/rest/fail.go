package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"
)

// Kind says what a failed request means for the bot. The set is closed.
type Kind string

const (
	Gone         Kind = "gone"          // the channel, message or interaction no longer exists
	Forbidden    Kind = "forbidden"     // the bot may not do that here
	RateLimited  Kind = "rate_limited"  // too many requests; RetryAfter says how long to wait, if Discord said so
	TooLong      Kind = "too_long"      // the text or the file is too long
	ClosedThread Kind = "closed_thread" // the thread is locked, or archived and cannot be reopened
	Full         Kind = "full"          // a limit of Discord is reached, for example on threads
	Rejected     Kind = "rejected"      // Discord calls the request malformed, for example an empty message; also an edit or a reference that is incomplete
	Unauthorized Kind = "unauthorized"  // the token is not valid (any more)
	Elsewhere    Kind = "elsewhere"     // another process acts for the server now, so nothing was sent
	Unavailable  Kind = "unavailable"   // Discord could not be reached or failed; also a context that ended
)

// Error is the error of every request to Discord's REST API.
type Error struct {
	Kind       Kind
	Status     int           // HTTP status, 0 if there was no answer
	Code       int           // Discord's error code, 0 if it gave none
	Page       bool          // the answer was a page: of a proxy, or of a server that is starting or is not Discord
	RetryAfter time.Duration // for RateLimited, 0 if unknown
	Message    string        // Discord's words or the cause, redacted
	Cause      error         // what Unwrap returns; may be nil
}

func (e *Error) Error() string {
	text := "discord: " + string(e.Kind)
	if e.Status != 0 {
		text += fmt.Sprintf(": HTTP %d", e.Status)
	}
	if e.Code != 0 {
		text += fmt.Sprintf(", code %d", e.Code)
	}
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text
}

// Unwrap returns the error of a context that ended the request, or [turn.ErrIncomplete] if it was never sent, or nil.
func (e *Error) Unwrap() error { return e.Cause }

// NotMine returns the error of a request that another process has to send.
func NotMine() *Error {
	return &Error{Kind: Elsewhere, Message: "another process acts for this server now"}
}

// failure turns an error of a request into a Error. It never repeats the URL, which may hold an interaction's token.
func (c *Client) failure(err error) *Error {
	if known, ok := errors.AsType[*Error](err); ok {
		return known
	}
	var transport *url.Error
	for errors.As(err, &transport) {
		err = transport.Err
	}
	e := &Error{Kind: Unavailable, Message: c.Redact(err.Error())}
	for _, end := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, end) {
			e.Cause = end
		}
	}
	return e
}

// Error codes about threads that discordgo does not know.
const (
	codeThreadMembers       = 30033
	CodeThreadExists        = 160004
	codeThreadLocked        = 160005
	codeActiveThreads       = 160006
	codeAnnouncementThreads = 160007
)

// codeCannotMessage is a newer form of discordgo.ErrCodeCannotSendMessagesToThisUser.
const codeCannotMessage = 50278

// classify returns the kind of a response with a status of 400 or more.
// https://discord.com/developers/docs/topics/opcodes-and-status-codes#json-json-error-codes
func classify(status, code int, page bool, body []byte) Kind {
	switch code {
	case discordgo.ErrCodeUnknownChannel, discordgo.ErrCodeUnknownGuild, discordgo.ErrCodeUnknownMessage,
		discordgo.ErrCodeUnknownWebhook, discordgo.ErrCodeUnknownInteraction, discordgo.ErrCodeInvalidWebhookTokenProvided:
		return Gone
	case discordgo.ErrCodeUnauthorized:
		return Unauthorized
	case discordgo.ErrCodeMissingAccess, discordgo.ErrCodeMissingPermissions, discordgo.ErrCodeCannotSendMessagesToThisUser,
		codeCannotMessage, discordgo.ErrCodeCannotReplyWithoutPermissionToReadMessageHistory:
		return Forbidden
	case discordgo.ErrCodePerformedOperationOnArchivedThread, codeThreadLocked:
		return ClosedThread
	case codeThreadMembers, codeActiveThreads, codeAnnouncementThreads:
		return Full
	case discordgo.ErrCodeThisActionCannotBePerformedDueToSlowmodeRateLimit, discordgo.ErrCodeChannelHasHitWriteRateLimit,
		discordgo.ErrCodeMaximumNumberOfEditsToMessagesOlderThanOneHourReached:
		return RateLimited
	case discordgo.ErrCodeRequestEntityTooLarge:
		return TooLong
	case discordgo.ErrCodeAPIResourceIsCurrentlyOverloaded:
		return Unavailable
	case discordgo.ErrCodeInvalidFormBody:
		if bytes.Contains(body, []byte("BASE_TYPE_MAX_LENGTH")) {
			return TooLong
		}
		return Rejected
	}
	switch {
	case page && status == http.StatusUnauthorized:
		return Unavailable // a proxy, or a server that is starting, says so in HTML
	case status == http.StatusUnauthorized:
		return Unauthorized
	case status == http.StatusForbidden:
		return Forbidden
	case status == http.StatusRequestEntityTooLarge:
		return TooLong
	case status == http.StatusTooManyRequests:
		return RateLimited
	case status >= 500 || status < 400 || status == http.StatusNotFound: // without a code of Discord's, a proxy or a server that is starting says so
		return Unavailable
	}
	return Rejected
}

// refusal returns the error that a response means, or nil for a success. It reads and closes the body of a failed
// response. A 429 is JSON from Discord and HTML from Cloudflare in front of it. Only the header is in both.
func (c *Client) refusal(resp *http.Response) *Error {
	if resp.StatusCode >= 200 && resp.StatusCode < 300 && resp.StatusCode != http.StatusAccepted { // 202 means "not yet", for example while Discord builds a search index
		return nil
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	var answer struct {
		Code       int             `json:"code"`
		Message    string          `json:"message"`
		RetryAfter float64         `json:"retry_after"`
		Errors     json.RawMessage `json:"errors"`
	}
	e := &Error{Status: resp.StatusCode, Message: http.StatusText(resp.StatusCode), Page: bytes.HasPrefix(bytes.TrimSpace(body), []byte("<"))}
	if json.Unmarshal(body, &answer) == nil {
		e.Code = answer.Code
		if answer.Message != "" {
			e.Message = c.Redact(answer.Message) + complaints(answer.Errors, c.Redact)
		}
	}
	e.Kind = classify(e.Status, e.Code, e.Page, body)
	if e.Kind == RateLimited {
		seconds, _ := strconv.ParseFloat(resp.Header.Get("Retry-After"), 64)
		e.RetryAfter = time.Duration(max(seconds, answer.RetryAfter, 0) * float64(time.Second))
	}
	return e
}

// Limits on what is told of the fields that Discord calls malformed.
const (
	MaxComplaints = 5   // fields
	MaxComplaint  = 160 // characters of each
)

// complaints returns what Discord says about the fields of a request. An example is ": content: Must be 2000 or fewer in length."
// https://discord.com/developers/docs/reference#error-messages
func complaints(errors json.RawMessage, redact func(string) string) string {
	var tree any
	if json.Unmarshal(errors, &tree) != nil {
		return ""
	}
	var found []string
	collect(&found, "", tree, redact)
	if len(found) == 0 {
		return ""
	}
	more := ""
	if len(found) > MaxComplaints {
		found, more = found[:MaxComplaints], "; …"
	}
	return ": " + strings.Join(found, "; ") + more
}

// collect adds each message below a path in the tree of errors.
func collect(found *[]string, path string, tree any, redact func(string) string) {
	node, _ := tree.(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(node)) {
		if key != "_errors" {
			collect(found, strings.TrimPrefix(path+"."+key, "."), node[key], redact)
			continue
		}
		list, _ := node[key].([]any)
		for _, one := range list {
			fields, _ := one.(map[string]any)
			text, _ := fields["message"].(string)
			if text == "" {
				continue
			}
			line := []rune(strings.TrimPrefix(path+": "+redact(strings.Join(strings.Fields(text), " ")), ": "))
			*found = append(*found, string(line[:min(len(line), MaxComplaint)]))
		}
	}
}

// KindOf returns why Discord refused a request, or "" if the error is not Discord's.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return ""
}

// Code returns Discord's error code, or 0.
func Code(err error) int {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return 0
}
