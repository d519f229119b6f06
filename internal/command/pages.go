package command

import (
	"fmt"
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/reply"
	"familiar/internal/view"
)

// The labels of buttons that turn pages.
const (
	labelPrevious sentence = "Previous"
	labelNext     sentence = "Next"
)

// page answers with the n-th part of some pages, and with buttons to the others. The buttons' ids begin with prefix.
func (c *call) page(prefix string, pages []view.Page, n int) turn.Answer {
	parts := paginate(pages, sectionUnits)
	n = min(max(n, 0), len(parts)-1)
	return turn.Answer{Sections: parts[n].sections, Buttons: pageButtons(c.language, prefix, parts, n)}
}

// listPage answers with the n-th part of a list. A list of one part has no buttons.
func (c *call) listPage(prefix string, title sentence, sections []turn.Section, n int) turn.Answer {
	a := c.page(prefix, []view.Page{{Name: string(title), Sections: sections}}, n)
	if len(a.Buttons) == 1 {
		a.Buttons = nil
	}
	return a
}

// shown translates the titles of pages, and takes secrets out of their texts before a cut could go through one.
func (c *call) shown(pages []view.Page) []view.Page {
	for _, p := range pages {
		for i := range p.Sections {
			s := &p.Sections[i]
			s.Title, s.Text = sentence(s.Title).In(c.language), c.Bot.Redact.String(s.Text)
		}
	}
	return pages
}

// part is as much of a page as fits into one answer.
type part struct {
	name     string
	sections []turn.Section
	n, of    int // from 1
}

const (
	sectionUnits = 3400 // UTF-16 units of a part, without what a door puts around its sections
	mostSections = 8    // in a part
	leastRest    = 300  // units; with less room a section begins in the next part
)

// paginate cuts pages into parts of at most so many units. It cuts between sections, and between the lines of a section that is too long.
func paginate(pages []view.Page, units int) []part {
	var all []part
	for _, p := range pages {
		first, room := len(all), 0
		for _, s := range p.Sections {
			rest := strings.Trim(strings.ReplaceAll(s.Text, "`", "'"), "\n")
			for rest != "" {
				if len(all) == first || len(all[len(all)-1].sections) == mostSections || room < min(leastRest, reply.Units(rest)) {
					all, room = append(all, part{name: p.Name, n: len(all) - first + 1}), units
				}
				piece := cutLines(rest, room)
				rest = strings.TrimLeft(rest[len(piece):], "\n")
				room -= reply.Units(piece) + len(s.Title)
				last := &all[len(all)-1]
				last.sections = append(last.sections, turn.Section{Title: s.Title, Text: piece})
			}
		}
		if len(all) == first {
			all = append(all, part{name: p.Name, n: 1})
		}
		for i := first; i < len(all); i++ {
			all[i].of = len(all) - first
		}
	}
	return all
}

// cutLines returns the beginning of a text that has room, up to the end of a line if that is not too early.
func cutLines(text string, room int) string {
	piece := reply.CutUnits(text, room)
	if i := strings.LastIndexByte(piece, '\n'); len(piece) < len(text) && i > len(piece)/2 {
		piece = piece[:i]
	}
	return piece
}

// pageButtons lead from the part at here to the first part of each page. A page with several parts also has buttons for one part back and
// on. No two buttons may have the same id.
func pageButtons(language, prefix string, all []part, here int) []turn.Button {
	var buttons []turn.Button
	long := false
	for i, p := range all {
		long = long || p.of > 1
		if p.n > 1 {
			continue
		}
		button := turn.Button{ID: fmt.Sprintf("%s:%d", prefix, i), Label: sentence(p.name).In(language), Disabled: i == here}
		if shown := all[here]; p.name == shown.name && shown.of > 1 {
			button.Label = fmt.Sprintf("%s %d/%d", button.Label, shown.n, shown.of)
		}
		buttons = append(buttons, button)
	}
	if long {
		buttons = append(buttons,
			turn.Button{ID: fmt.Sprintf("%s:%d:previous", prefix, here-1), Label: labelPrevious.In(language), Disabled: here == 0},
			turn.Button{ID: fmt.Sprintf("%s:%d:next", prefix, here+1), Label: labelNext.In(language), Disabled: here == len(all)-1})
	}
	return buttons
}
