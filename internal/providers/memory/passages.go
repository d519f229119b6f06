package memory

import (
	"fmt"
	"strings"

	"familiar/internal/character/lore"
	"familiar/internal/context/turn"
	"familiar/internal/memory/ranking"
)

const (
	// lorePriority of what stands written of the character's world: behind what people told of themselves, before what was written before.
	lorePriority  = 40
	mostPassages  = 4
	mostLoreBytes = 3 << 10
)

// passages are those of the lore that bear on a message: that hold enough of it, or whose heading it names.
func (p *Provider) passages(r turn.Request, q *ranking.Question) (found []lore.Hit) {
	if p.Lore.Len() == 0 || len(q.Words()) == 0 || r.Budget.Layers != nil && r.Budget.Layers[turn.Content] == 0 {
		return nil
	}
	for _, h := range p.Lore.Find(q) {
		if len(found) == 2*mostPassages || len(found) > 0 && h.Score < found[0].Score-farBehind {
			break
		}
		if h.Titled || h.Holds >= needed(r) {
			found = append(found, h)
		}
	}
	return found
}

// tellLore is the best passages as a contribution; nil: there are none.
func (p *Provider) tellLore(found []lore.Hit) *turn.Contribution {
	c := &turn.Contribution{Layer: turn.Content, Priority: lorePriority, Source: p.Name() + ":lore"}
	var w strings.Builder
	w.WriteString("What stands written of your world and may bear on the last message. Speak from it in your own words, as one who knows it, and not of its being written; " +
		"what does not bear on the message, leave out.")
	for _, h := range found[:min(len(found), mostPassages)] {
		if w.Len()+len(h.Text) > mostLoreBytes && len(c.Recalled) > 0 {
			break
		}
		of := h.File
		if h.Heading != "" {
			of += ", " + h.Heading
		}
		fmt.Fprintf(&w, "\n\n[%s]\n%s", of, h.Text)
		c.Recalled = append(c.Recalled, turn.Recalled{Text: h.Text, File: h.File, Line: h.Line, Heading: h.Heading, Score: h.Score, Why: gains(h.Why)})
	}
	if len(c.Recalled) == 0 {
		return nil
	}
	c.Text = w.String()
	return c
}
