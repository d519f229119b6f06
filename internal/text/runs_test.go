package text

import "testing"

// TestIndexedWords checks under which words a text is found: its words, pairs of characters, and the stems after them.
func TestIndexedWords(t *testing.T) {
	for s, want := range map[string]string{
		"":        "",
		"Hi, 42!": "hi 42",
		"東京都":     "東京 京都 都",
		"字":       "字",
	} {
		if got := IndexedWords(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
	if got := Runs("Ok東京"); len(got) != 2 || got[0].Unspaced || !got[1].Unspaced {
		t.Errorf("%+v", got)
	}
}
