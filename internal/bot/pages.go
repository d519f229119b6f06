package bot

import (
	"encoding/json"
	"fmt"
	"strings"

	"familiar/internal/bot/outgoing"
	"familiar/internal/bot/view"
	"familiar/internal/context/turn"
)

// part is as much of a page as one message takes.
type part struct {
	name, text string
	n, of      int // from 1
}

// paginate cuts pages into parts of at most room UTF-16 units, between lines where a line isn't too long for that. They can
// stand in a code block.
func paginate(pages []view.Page, room int) []part {
	var all []part
	for _, p := range pages {
		rest, first := strings.TrimSpace(strings.ReplaceAll(p.Text, "`", "'")), len(all)
		for len(all) == first || rest != "" {
			piece := outgoing.CutUnits(rest, room)
			if i := strings.LastIndexByte(piece, '\n'); len(piece) < len(rest) && i > len(piece)/2 {
				piece = piece[:i]
			}
			rest = strings.TrimLeft(rest[len(piece):], "\n")
			all = append(all, part{name: p.Name, text: piece, n: len(all) - first + 1})
		}
		for i := first; i < len(all); i++ {
			all[i].of = len(all) - first
		}
	}
	return all
}

// show is the i-th part of a record as a code block, in which nothing of it is formatted, linked or pinged, with buttons to
// the others and the whole record attached. A door without a limit gets the whole record.
func (b *Bot) show(t *turn.Trace, i int) turn.Answer {
	if b.Pace.Units == 0 {
		return turn.Answer{Text: view.Whole(t)}
	}
	pages := view.Pages(t)
	for i := range pages {
		pages[i].Text = b.Redact.String(pages[i].Text) // before a cut goes through a secret
	}
	all := paginate(pages, answerUnits-len(fenceOpen+fenceClose))
	i = min(max(i, 0), len(all)-1)
	a := turn.Answer{Text: fenceOpen + all[i].text + fenceClose, Buttons: pageButtons("context:"+t.Request.ID, all, i)}
	// With every part: an answer that is edited keeps nothing of what it was.
	if record, err := json.MarshalIndent(t, "", "  "); err == nil && len(record) <= maxFile {
		a.File, a.Name = []byte(b.Redact.String(string(record))), "turn-"+t.Request.ID+".json"
	}
	return a
}

const fenceOpen, fenceClose = "```\n", "\n```"

// pageButtons lead from the part at here to each page's first part and, where a page has several, one part back and on. No
// two may have the same id.
func pageButtons(prefix string, all []part, here int) []turn.Button {
	var buttons []turn.Button
	long := false
	for i, p := range all {
		long = long || p.of > 1
		if p.n > 1 {
			continue
		}
		button := turn.Button{ID: fmt.Sprintf("%s:%d", prefix, i), Label: p.name, Disabled: i == here}
		if shown := all[here]; p.name == shown.name && shown.of > 1 {
			button.Label = fmt.Sprintf("%s %d/%d", shown.name, shown.n, shown.of)
		}
		buttons = append(buttons, button)
	}
	if long {
		buttons = append(buttons,
			turn.Button{ID: fmt.Sprintf("%s:%d:previous", prefix, here-1), Label: "Previous", Disabled: here == 0},
			turn.Button{ID: fmt.Sprintf("%s:%d:next", prefix, here+1), Label: "Next", Disabled: here == len(all)-1})
	}
	return buttons
}
