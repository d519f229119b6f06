package outgoing

import (
	"slices"
	"strconv"

	"familiar/internal/lookup/claim"
)

// Statement is words of a reply with the sources that they cite.
type Statement struct {
	Words   string
	Sources []int
	Pages   []*claim.Page
	Refused []string // by source, as [claim.CheckCitation] says

	of statement
}

// Statements returns what a text that has passed the guard cites pages for, each once, in its order.
func (m *Marker) Statements(text string) (all []Statement) {
	if m == nil || m.Lookup == nil || len(m.Lookup.Sources) == 0 {
		return nil
	}
	w := m.mark(text, false)
	for _, of := range w.statements {
		if slices.ContainsFunc(all, func(s Statement) bool { return s.of == of }) {
			continue
		}
		s := Statement{Words: of.words, of: of}
		refused := map[int]string{}
		for _, c := range m.result(of).refused {
			refused[c.Source] = c.Refused
		}
		for _, at := range oneCitation.FindAllStringSubmatchIndex(of.group, -1) {
			source, _ := strconv.Atoi(of.group[at[2]:at[3]])
			s.Sources, s.Pages, s.Refused = append(s.Sources, source), append(s.Pages, m.page(source)), append(s.Refused, refused[source])
		}
		if !slices.Contains(s.Pages, nil) && !slices.Contains(s.Refused, unchecked) {
			all = append(all, s)
		}
	}
	return all
}

// Settle has [Marker.Mark] refuse of a statement, from now on, what refused says.
func (m *Marker) Settle(s Statement, refused []string) {
	r := s.of.refuse(oneCitation.FindAllStringSubmatchIndex(s.of.group, -1), refused)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.results[s.of] = r
}
