package attachment

import (
	"fmt"
	"math"
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/web/clean"
)

const (
	maxName  = 80  // characters of a file's name that are shown
	maxAlt   = 300 // of a description
	maxNotes = 6   // things that a note names
)

// Note names what hangs on a message: "[image: cat.png] [forwarded message]". by is the service that wrote down a voice message,
// if one did.
func Note(m turn.Message, by string) string {
	var all []string
	files := func(files []turn.Attachment) {
		for _, f := range files {
			all = append(all, noteOf(f, by))
		}
	}
	files(m.Files)
	for _, q := range m.Quotes {
		if q.Kind == turn.Forwarded {
			all = append(all, "[forwarded message]")
		} else {
			all = append(all, "[embed"+after(": ", displayName(q.From))+"]")
		}
		files(q.Files)
	}
	if len(all) > maxNotes {
		all = append(all[:maxNotes], fmt.Sprintf("[and %d more]", len(all)-maxNotes))
	}
	return strings.Join(all, " ")
}

func noteOf(f turn.Attachment, by string) string {
	switch {
	case f.Voice && by != "":
		return fmt.Sprintf("[voice message, %.0f s, written down by %s]", math.Ceil(f.Seconds), displayName(by))
	case f.Voice:
		return fmt.Sprintf("[voice message, %.0f s]", math.Ceil(f.Seconds))
	case isPicture(f):
		return "[image: " + displayName(f.Name) + "]"
	}
	return "[file: " + displayName(f.Name) + "]"
}

func after(sign, name string) string {
	if name == "" {
		return ""
	}
	return sign + name
}

// displayName is a name on one line that closes no bracket and no quotation.
func displayName(name string) string {
	return strings.NewReplacer(`"`, "'", "`", "'", `\`, "/").Replace(clean.Name(clean.Line(name, maxName), maxName))
}
