package discord

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// Kind is what a failed request means for the bot. The set is closed.
type Kind string

const (
	Gone         Kind = "gone"          // the channel, message or interaction does not exist any more
	Forbidden    Kind = "forbidden"     // the bot may not do that here
	RateLimited  Kind = "rate_limited"  // too often; RetryAfter says how long, where Discord said so
	TooLong      Kind = "too_long"      // the text or the file is too long
	ClosedThread Kind = "closed_thread" // the thread is locked, or archived and cannot be reopened
	Full         Kind = "full"          // there are as many as Discord allows, of threads for instance
	Rejected     Kind = "rejected"      // Discord calls the request malformed: an empty message, a bad button
	Unauthorized Kind = "unauthorized"  // the token is not valid (any more)
	Unavailable  Kind = "unavailable"   // Discord could not be reached, or failed; also a context that ended
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

// Unwrap returns the error of the context, if that is what ended the request.
func (e *SendError) Unwrap() error { return e.err }

// Fatal is the error of Run when trying again cannot help.
type Fatal struct {
	Code int    // close code of the gateway, or an HTTP status
	Cure string // what the operator should do
}

func (f *Fatal) Error() string { return fmt.Sprintf("discord: %s (code %d)", f.Cure, f.Code) }

// noContent is the close code for an intent that is not granted, of which the bot asks for one: to read messages.
const noContent = 4014

const contentCure = "switch on \"Message Content Intent\" at " + portal + " → Privileged Gateway Intents"

const portal = "https://discord.com/developers/applications → your application → Bot"

// fatal returns the error that a gateway close code means, or nil if another connection may work.
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

// failure names what went wrong with a request. It never repeats the URL, which may hold an interaction's token.
func (s *Session) failure(err error) *SendError {
	var known *SendError
	if errors.As(err, &known) {
		return known
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
