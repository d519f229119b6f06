package bot

import (
	"context"
	"fmt"
	"strings"

	"familiar/internal/context/turn"
)

// askDocs answers /docs: a lookup that is kept to a site of documentation.
func (b *Bot) askDocs(ctx context.Context, e turn.Event) turn.Answer {
	site, question, why := b.DocsFor(e.Command.Options["site"], e.Command.Options["question"])
	if why != "" {
		return turn.Answer{Text: why}
	}
	l, err := b.lookUpFor(ctx, e, question, site)
	if err != nil {
		return b.storeTrouble(err)
	}
	return turn.Answer{Text: b.LookupAnswer(l)}
}

// DocsFor chooses the site of documentation that a question is for: the one called name, or else the one that the
// question begins with, links to or names, or the only one. It returns the question without the name that it begins
// with. Where there is no telling, why says so to whoever asked.
func (b *Bot) DocsFor(name, text string) (site, question, why string) {
	text = strings.TrimSpace(text)
	var known []string
	for _, d := range b.Character.Docs {
		known = append(known, d.Name)
	}
	site, question, ok := b.Lookup.DocsFor(strings.TrimSpace(name), text)
	switch {
	case len(known) == 0:
		return "", "", fmt.Sprintf("%s knows no documentation. Whoever runs this place can name sites of it: [[docs]] in character.toml.", b.Character.Name)
	case text == "":
		return "", "", "What shall I look up in the documentation? A question, the name of a page, or its address."
	case !ok && name != "":
		return "", "", fmt.Sprintf("I know no documentation called %q. I know %s.", name, strings.Join(known, ", "))
	case !ok:
		return "", "", fmt.Sprintf("In which documentation? I know %s.", strings.Join(known, ", "))
	}
	return site, question, ""
}
