package read

import (
	"context"
	"errors"

	"familiar/internal/context/turn"
	"familiar/internal/web/fetch"
	"familiar/internal/web/page"
)

// messages say for people what a [page.Error] says.
var messages = map[turn.Code]string{
	turn.CodeBadCharset:         "the page is in an encoding that can hide text",
	turn.CodeChallenge:          "the site wants proof that a person is reading, or their consent",
	turn.CodeEmpty:              "the page is empty",
	turn.CodeExtractionFailed:   "no text was found on the page",
	turn.CodeJavaScriptRequired: "the page shows its text to browsers that run scripts alone",
	turn.CodeUnparsable:         "the page cannot be read",
}

// failure is any failure to read a page in the words of the one closed set. status is that of the page, 0 if there was
// none.
func failure(err error, status int) *fetch.Error {
	if e, ok := errors.AsType[*fetch.Error](err); ok {
		return e
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return &fetch.Error{Code: turn.CodeTimeout, Reason: turn.CodeDeadline, Message: "no time was left", Status: status}
	}
	e, ok := errors.AsType[*page.Error](err)
	if !ok {
		return &fetch.Error{Code: turn.CodeHTTPError, Reason: turn.CodeMalformed, Message: "the page's address cannot be read", Status: status}
	}
	f := &fetch.Error{Code: turn.CodeExtractionFailed, Reason: e.Code, Message: messages[e.Code], Status: status}
	if e.Code == turn.CodeExtractionFailed || e.Code == turn.CodeJavaScriptRequired {
		f.Code, f.Reason = e.Code, ""
	}
	return f
}
