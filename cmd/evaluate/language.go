package main

import (
	"context"
	"io/fs"
	"strings"

	"familiar/internal/text"
)

// languageRow is a message with addresses, code, names or quotations.
type languageRow struct {
	ID, Text string
	Lang     string // of its writer's own words; empty: they do not tell
}

// predictLanguage predicts {"language"}, and whether it is right. The rows whose ids begin with h were written after the detector.
func predictLanguage(_ context.Context, _ fs.FS, row languageRow) (prediction, error) {
	language := text.MessageLanguage(row.Text)
	got := prediction{"language": language, "found": share(language == row.Lang)}
	if strings.HasPrefix(row.ID, "h") {
		got["held_found"] = got["found"]
	}
	return got, nil
}
