package discord

import (
	"bytes"
	"cmp"
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
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"familiar/internal/discord/pace"
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
	Unavailable  Kind = "unavailable"   // Discord could not be reached or failed; also a context that ended
)

// SendError is the error of every request to Discord's REST API.
type SendError struct {
	Kind       Kind
	Status     int           // HTTP status, 0 if there was no answer
	Code       int           // Discord's error code, 0 if it gave none
	RetryAfter time.Duration // for RateLimited, 0 if unknown
	Message    string        // Discord's words or the cause, redacted
	err        error
}

func (e *SendError) Error() string {
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
func (e *SendError) Unwrap() error { return e.err }

// Fatal is the error of Run if trying again cannot help.
type Fatal struct {
	Code int    // close code of the gateway, or an HTTP status
	Cure string // what the operator should do
}

func (f *Fatal) Error() string { return fmt.Sprintf("discord: %s (code %d)", f.Cure, f.Code) }

// noContent is the close code for an intent that is not granted. The only intent that needs a grant is reading messages.
const noContent = 4014

const contentCure = "switch on \"Message Content Intent\" at " + portal + " → Privileged Gateway Intents"

const portal = "https://discord.com/developers/applications → your application → Bot"

// fatal returns the error for a gateway close code, or nil if another connection may work.
// https://discord.com/developers/docs/topics/opcodes-and-status-codes#gateway-gateway-close-event-codes
func fatal(code int) *Fatal {
	cures := map[int]string{
		4004:                    "Discord refuses the bot token: reset it at " + portal + " → Reset Token, and set DISCORD_TOKEN",
		4010:                    "Discord refuses the shard number",
		4011:                    "the bot is in too many servers for one connection: sharding is required from 2,500 on",
		4012:                    "Discord does not speak this version of the gateway any more: update the program",
		4013:                    "Discord does not know the intents that were asked for: update the program",
		noContent:               "the bot may not read messages: " + contentCure,
		http.StatusUnauthorized: "Discord refuses the bot token: reset it at " + portal + " → Reset Token, and set DISCORD_TOKEN",
	}
	if cure, ok := cures[code]; ok {
		return &Fatal{Code: code, Cure: cure}
	}
	return nil
}

// newSession reports whether a close code means that the session cannot be resumed.
func newSession(code int) bool {
	return code == 4003 || code == 4007 || code == 4009
}

// failure turns an error of a request into a SendError. It never repeats the URL, which may hold an interaction's token.
func (s *Session) failure(err error) *SendError {
	var known *SendError
	if errors.As(err, &known) {
		return known
	}
	if late := (*pace.Error)(nil); errors.As(err, &late) {
		return &SendError{Kind: RateLimited, RetryAfter: late.RetryAfter, Message: late.Message, err: late.Unwrap()}
	}
	var transport *url.Error
	for errors.As(err, &transport) {
		err = transport.Err
	}
	e := &SendError{Kind: Unavailable, Message: s.redact(err.Error())}
	for _, end := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, end) {
			e.err = end
		}
	}
	return e
}

// Error codes about threads that discordgo does not know.
const (
	codeThreadMembers       = 30033
	codeThreadExists        = 160004
	codeThreadLocked        = 160005
	codeActiveThreads       = 160006
	codeAnnouncementThreads = 160007
)

// codeCannotMessage is a newer form of discordgo.ErrCodeCannotSendMessagesToThisUser.
const codeCannotMessage = 50278

// classify returns the kind of a response with a status of 400 or more.
// https://discord.com/developers/docs/topics/opcodes-and-status-codes#json-json-error-codes
func classify(status, code int, body []byte) Kind {
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

// sendError returns the error that a response means, or nil for a success. It reads and closes the body of a failed
// response. A 429 is JSON from Discord and HTML from Cloudflare in front of it. Only the header is in both.
func (s *Session) sendError(resp *http.Response) *SendError {
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
	e := &SendError{Status: resp.StatusCode, Message: http.StatusText(resp.StatusCode)}
	if json.Unmarshal(body, &answer) == nil {
		e.Code = answer.Code
		if answer.Message != "" {
			e.Message = s.redact(answer.Message) + complaints(answer.Errors, s.redact)
		}
	}
	e.Kind = classify(e.Status, e.Code, body)
	if e.Kind == RateLimited {
		seconds, _ := strconv.ParseFloat(resp.Header.Get("Retry-After"), 64)
		e.RetryAfter = time.Duration(max(seconds, answer.RetryAfter, 0) * float64(time.Second))
	}
	return e
}

// Limits on what is told of the fields that Discord calls malformed.
const (
	maxComplaints = 5   // fields
	maxComplaint  = 160 // characters of each
)

// complaints returns what Discord says about the fields of a request, as in ": content: Must be 2000 or fewer in
// length."
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
	if len(found) > maxComplaints {
		found, more = found[:maxComplaints], "; …"
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
			*found = append(*found, string(line[:min(len(line), maxComplaint)]))
		}
	}
}

// code returns Discord's error code, or 0.
func code(err error) int {
	var e *SendError
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

// refusals remembers channels where the bot may not write. Asking again counts towards the 10,000 invalid requests in
// ten minutes after which Discord bans the address.
type refusals struct {
	mu    sync.Mutex
	until map[string]time.Time // guarded by mu
}

func (c *refusals) check(channelID string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	until, ok := c.until[channelID]
	if !ok {
		return nil
	}
	if !until.After(time.Now()) {
		delete(c.until, channelID)
		return nil
	}
	return &SendError{Kind: Forbidden, Status: http.StatusForbidden, Code: discordgo.ErrCodeMissingPermissions,
		Message: "the bot may not write in this channel (remembered)"}
}

// learn records an error that means that the bot may not write in a channel. It reports whether that is news.
func (c *refusals) learn(channelID string, err error) (news bool) {
	if n := code(err); n != discordgo.ErrCodeMissingAccess && n != discordgo.ErrCodeMissingPermissions {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.until == nil || len(c.until) > 10_000 {
		c.until = map[string]time.Time{}
	}
	_, again := c.until[channelID]
	c.until[channelID] = time.Now().Add(refusalMemory)
	return !again
}

// learnRefusal records that the bot may not write in a channel, and logs what would help.
func (s *Session) learnRefusal(channelID string, err error) {
	if !s.refusals.learn(channelID, err) {
		return
	}
	c, _ := s.names.channel(channelID)
	needs, where := "Send Messages", cmp.Or(c.Name, channelID)
	if c.thread() {
		above, _ := s.names.channel(c.ParentID)
		needs, where = "Send Messages in Threads", cmp.Or(above.Name, c.ParentID)
	}
	s.log.Warn("the bot may not write there; in the settings of #"+where+" → Permissions, allow its role View Channel and "+needs, "channel", channelID, "err", err)
}

// forget forgets every refusal, because permissions have changed somewhere.
func (c *refusals) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.until = nil
}
