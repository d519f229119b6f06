package search

import (
	"slices"

	"familiar/internal/text"
)

const (
	// shingleWords is how many words in a row are compared.
	shingleWords = 3
	// sameText and sameTitle are how much of the shorter of two must be in the other for them to be copies.
	sameText, sameTitle = 0.85, 0.6
)

// nearDuplicates reports whether two hits show the same text: their snippets are the same but for where they were cut,
// their titles nearly so, and no number in the titles differs, as it does in the parts of a series.
func nearDuplicates(a, b *candidate) bool {
	return slices.Equal(a.numbers, b.numbers) && text.NearDuplicates(a.shingles, b.shingles, sameText) &&
		text.Containment(a.titleSet, b.titleSet) >= sameTitle
}

// mergeNearDuplicates makes one page of those that show the same text: the better one, which gains what the others had. The
// pages come, and stay, best first.
func mergeNearDuplicates(pages []*candidate) []*candidate {
	var kept []*candidate
	for _, p := range pages {
		i := slices.IndexFunc(kept, func(k *candidate) bool { return nearDuplicates(k, p) })
		if i < 0 {
			kept = append(kept, p)
			continue
		}
		kept[i].Twins = append(kept[i].Twins, p.URL)
		join(kept[i], p, p.Score)
	}
	sortPages(kept)
	return kept
}
