package lorebook

import (
	"cmp"
	"slices"
)

// choose leaves one entry of each inclusion group: those that go on from an earlier turn, or else the one with the most keys, where
// that counts, the first by order of those that go first, or one by chance and weight. Where a group has its entry already, no other
// comes in.
func (sc *scan) choose(found []*active) []*active {
	var names []string
	members := map[string][]*active{}
	for _, a := range found {
		for _, g := range a.Groups {
			if members[g] == nil {
				names = append(names, g)
			}
			members[g] = append(members[g], a)
		}
	}
	gone := map[*active]bool{}
	for _, name := range names {
		group := slices.DeleteFunc(slices.Clone(members[name]), func(a *active) bool { return gone[a] })
		winner := func(a *active) bool { return a.sticky }
		switch {
		case slices.ContainsFunc(group, winner):
		case sc.groups[name]:
			winner = func(*active) bool { return false }
		default:
			won := sc.wins(name, sc.scored(group))
			winner = func(a *active) bool { return a == won }
		}
		for _, a := range group {
			if !winner(a) {
				gone[a] = true
				sc.lose(a.entry, "another entry of the group "+name, 0)
			}
		}
	}
	return slices.DeleteFunc(found, func(a *active) bool { return gone[a] })
}

// scored leaves those of a group that count keys and have the most, and those that do not count.
func (sc *scan) scored(group []*active) []*active {
	if len(group) < 2 || !slices.ContainsFunc(group, func(a *active) bool { return a.scoring }) {
		return group
	}
	scores, best := map[*active]int{}, 0
	for _, a := range group {
		scores[a] = sc.score(a.entry)
		best = max(best, scores[a])
	}
	return slices.DeleteFunc(slices.Clone(group), func(a *active) bool { return a.scoring && scores[a] < best })
}

func (sc *scan) wins(name string, group []*active) *active {
	first := slices.DeleteFunc(slices.Clone(group), func(a *active) bool { return !a.GroupFirst })
	switch {
	case len(group) == 0:
		return nil
	case len(first) > 0:
		return slices.MaxFunc(first, func(a, b *active) int { return cmp.Compare(a.Order, b.Order) })
	}
	whole := 0
	for _, a := range group {
		whole += a.weight
	}
	thrown := 0.0
	if sc.chat.Chance != nil {
		thrown = sc.chat.Chance("group "+name) * float64(whole)
	}
	for _, a := range group {
		if thrown -= float64(a.weight); thrown < 0 {
			return a
		}
	}
	return group[len(group)-1]
}
