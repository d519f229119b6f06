package discord

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"
)

// Codes about threads that discordgo does not know.
const (
	codeThreadMembers       = 30033
	codeThreadExists        = 160004
	codeThreadLocked        = 160005
	codeActiveThreads       = 160006
	codeAnnouncementThreads = 160007
)

// codeCannotMessage is a newer form of discordgo.ErrCodeCannotSendMessagesToThisUser.
const codeCannotMessage = 50278

// classify returns the kind of an answer with a status of 400 or more.
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
	case status == http.StatusNotFound:
		return Gone
	case status == http.StatusRequestEntityTooLarge:
		return TooLong
	case status == http.StatusTooManyRequests:
		return RateLimited
	case status >= 500 || status < 400:
		return Unavailable
	}
	return Rejected
}

// sendError returns the error that an answer is, or nil if it is a success. It reads the body of a failed answer and closes it.
// A 429 comes as JSON from Discord and as HTML from Cloudflare in front of it; only the header is in both.
func (s *Session) sendError(resp *http.Response) *SendError {
	if resp.StatusCode >= 200 && resp.StatusCode < 300 && resp.StatusCode != http.StatusAccepted { // "not yet", as while it builds the index of a search
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

// The most that is told of what Discord calls malformed.
const (
	maxComplaints = 5   // fields
	maxComplaint  = 160 // characters of each
)

// complaints returns what Discord says about the fields of a request: ": content: Must be 2000 or fewer in length."
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

// collect adds each message below a path of the tree of errors.
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
