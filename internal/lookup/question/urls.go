package question

import (
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/text"
	"familiar/internal/web/guard"
)

// typedURLs returns the URLs that people typed in the message, or in the message that it replies to if it speaks of a
// page, as one does that asks for an outline. They are in order and canonical, but keep their fragments. refused has what looks like a URL and may not be read.
func typedURLs(req turn.Request, outline bool) (urls, refused []string) {
	var typed []string
	if req.Message.ByPerson() {
		typed = guard.TypedURLs(req.Message.Text)
	}
	if parent := req.Parent; parent != nil && parent.ByPerson() && (outline || text.ContainsAny(text.Words(req.Message.Text), pageWords)) {
		typed = append(typed, guard.TypedURLs(parent.Text)...)
	}
	for _, raw := range typed {
		if strings.HasPrefix(strings.ToLower(raw), "www.") {
			raw = "https://" + raw
		}
		canonical, ok := guard.Canonical(raw)
		switch {
		case !ok:
			refused = text.AddOnce(refused, raw)
		case !guard.Unreadable(canonical):
			urls = text.AddOnce(urls, canonical+guard.Fragment(raw))
		}
	}
	return urls, refused
}
