package search

import "slices"

const (
	// shingle is how many words in a row are compared.
	shingle = 3
	// fewShingles is the shortest text that can be told to be a copy: anybody may write a sentence twice.
	fewShingles = 10
	// sameText and sameTitle are how much of the shorter of two must stand in the other for them to be copies.
	sameText, sameTitle = 0.85, 0.6
)

// shingles are the hashes of all runs of a few words, sorted, each once.
func shingles(words []uint32) []uint32 {
	if len(words) < shingle+fewShingles-1 {
		return nil
	}
	all := make([]uint32, 0, len(words)-shingle+1)
	for i := range len(words) - shingle + 1 {
		h := uint32(0)
		for _, w := range words[i : i+shingle] {
			h = h*31 + w
		}
		all = append(all, h)
	}
	return set(all)
}

// set sorts all and drops what stands in it twice.
func set(all []uint32) []uint32 {
	slices.Sort(all)
	return slices.Compact(all)
}

// common is how much of the smaller of two sorted sets is in the other, 0 to 1.
func common(a, b []uint32) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	n := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			n, i, j = n+1, i+1, j+1
		case a[i] < b[j]:
			i++
		default:
			j++
		}
	}
	return float64(n) / float64(min(len(a), len(b)))
}

// copies is whether two hits show the same text: their snippets are the same but for where they were cut, their
// titles nearly so, and no number in the titles differs, as it does in the parts of a series.
func copies(a, b *candidate) bool {
	return len(a.shingles) >= fewShingles && len(b.shingles) >= fewShingles && slices.Equal(a.numbers, b.numbers) &&
		common(a.titleSet, b.titleSet) >= sameTitle && common(a.shingles, b.shingles) >= sameText
}

// mergeNearDuplicates makes one page of those that show the same text: the better one, which gains what the others had. The
// pages come, and stay, best first.
func mergeNearDuplicates(pages []*candidate) []*candidate {
	var kept []*candidate
	for _, p := range pages {
		i := slices.IndexFunc(kept, func(k *candidate) bool { return copies(k, p) })
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
