package bot

import (
	"slices"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/providers/websearch"
)

// How a search service failed, and the limits of lookups.
const (
	codeUnreachable   sentence = "unreachable"
	codeTimeout       sentence = "timeout"
	codeRateLimited   sentence = "rate limited"
	codeQuota         sentence = "quota"
	codeUnauthorized  sentence = "unauthorized"
	codeBlocked       sentence = "blocked"
	codeMalformed     sentence = "malformed"
	codeTooLarge      sentence = "too large"
	codeRejected      sentence = "rejected"
	codeUpstream      sentence = "upstream"
	codeMissing       sentence = "missing"
	codeNotConfigured sentence = "not configured"
	codeForbiddenJSON sentence = "forbidden json"
	codeNothingToAsk  sentence = "nothing to ask"
	codeInternal      sentence = "internal"
	codeRoom          sentence = "room"
	codeCap           sentence = "cap"

	pageStatus sentence = "status %s" // of a page, as HTTP has it

	capChannel sentence = "the %d lookups that this channel has in half an hour are used up; the next is free in %s, at %s UTC"
	capPerson  sentence = "the %d lookups that a person has in a day are used up; the next is free in %s, at %s UTC"
	capMinute  sentence = "the %d searches that I have in a minute, in all channels together, are used up; the next is free in a few seconds"
)

var codeSentences = map[turn.Code]sentence{
	turn.CodeUnreachable: codeUnreachable, turn.CodeTimeout: codeTimeout, turn.CodeRateLimited: codeRateLimited, turn.CodeQuota: codeQuota,
	turn.CodeUnauthorized: codeUnauthorized, turn.CodeBlocked: codeBlocked, turn.CodeMalformed: codeMalformed, turn.CodeTooLarge: codeTooLarge,
	turn.CodeRejected: codeRejected, turn.CodeUpstream: codeUpstream, turn.CodeMissing: codeMissing, turn.CodeNotConfigured: codeNotConfigured,
	turn.CodeForbiddenJSON: codeForbiddenJSON, turn.CodeNothingToAsk: codeNothingToAsk, turn.CodeInternal: codeInternal, turn.CodeRoom: codeRoom, turn.CodeCap: codeCap,
}

// failureWords says what failed, without the operator's details.
func failureWords(language string, l *turn.Lookup) string {
	if l.Failure == turn.CodeCap {
		return usedUp(language, l)
	}
	var each []string
	for _, a := range l.Asked {
		if a.Status != turn.CodeOK && a.Status != turn.CodeEmpty {
			if words := a.Backend + ": " + plainCode(language, a.Status); !slices.Contains(each, words) {
				each = append(each, words)
			}
		}
	}
	if len(each) > 0 {
		return strings.Join(each, ", ")
	}
	return plainCode(language, l.Failure)
}

// usedUp says which limit a lookup met, and when the next is free.
func usedUp(language string, l *turn.Lookup) string {
	const up = time.Minute - 1
	for _, c := range slices.Backward(l.Caps) {
		wait, at := minutes(c.Free.Sub(l.Began)+up), c.Free.Add(up).UTC().Format("15:04")
		switch {
		case c.Used < c.Limit:
		case c.Of == "minute":
			return capMinute.in(language, c.Limit)
		case c.Of == "channel" && !c.Free.IsZero():
			return capChannel.in(language, c.Limit, wait, at)
		case c.Of == "person" && !c.Free.IsZero():
			return capPerson.in(language, c.Limit, wait, at)
		}
	}
	return plainCode(language, l.Failure)
}

// pageFailure says why a page was not read.
func pageFailure(language string, p turn.Page) string {
	words := websearch.Why(p)
	if status, ok := strings.CutPrefix(words, "status "); ok {
		return pageStatus.in(language, status)
	}
	return sentence(words).in(language)
}

// plainCode returns a code as words.
func plainCode(language string, code turn.Code) string {
	if words, ok := codeSentences[code]; ok {
		return words.in(language)
	}
	return pageFailure(language, turn.Page{Failure: code})
}
