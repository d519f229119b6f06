package read

import (
	"context"
	"errors"

	"familiar/internal/web/fetch"
	"familiar/internal/web/page"
)

// messages say for people what a [page.Error] says.
var messages = map[string]string{
	"bad_charset":         "the page is in an encoding that can hide text",
	"challenge":           "the site wants proof that a person is reading, or their consent",
	"empty":               "the page is empty",
	fetch.CodeExtraction:  "no text was found on the page",
	fetch.CodeNeedsScript: "the page shows its text to browsers that run scripts alone",
	"unparsable":          "the page cannot be read",
}

// failure is any failure to read a page in the words of the one closed set. status is that of the page, 0 if there was
// none.
func failure(err error, status int) *fetch.Error {
	if e, ok := errors.AsType[*fetch.Error](err); ok {
		return e
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return &fetch.Error{Code: fetch.CodeTimeout, Reason: "deadline", Message: "no time was left", Status: status}
	}
	e, ok := errors.AsType[*page.Error](err)
	if !ok {
		return &fetch.Error{Code: fetch.CodeHTTP, Reason: "malformed", Message: "the page's address cannot be read", Status: status}
	}
	f := &fetch.Error{Code: fetch.CodeExtraction, Reason: e.Code, Message: messages[e.Code], Status: status}
	if e.Code == fetch.CodeExtraction || e.Code == fetch.CodeNeedsScript {
		f.Code, f.Reason = e.Code, ""
	}
	return f
}

func empty() *fetch.Error {
	return &fetch.Error{Code: fetch.CodeExtraction, Reason: "empty", Message: messages["empty"]}
}
