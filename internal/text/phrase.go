package text

import "slices"

// PhraseKeys returns the words of a phrase in the form in which words are compared.
func PhraseKeys(phrase string) []string {
	var keys []string
	for _, w := range Words(phrase) {
		keys = append(keys, w.Key)
	}
	return keys
}

// ContainsAny reports whether any of words is in set.
func ContainsAny(words []Word, set map[string]bool) bool {
	return slices.ContainsFunc(words, func(w Word) bool { return set[w.Key] })
}
