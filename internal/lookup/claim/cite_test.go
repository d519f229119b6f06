package claim

import (
	"testing"

	"familiar/internal/web/webtest"
)

// BenchmarkCitation prepares the five pages of 50 KB that a reply cites, and checks eight sentences of it.
func BenchmarkCitation(b *testing.B) {
	var texts []string
	for i := range 5 {
		texts = append(texts, webtest.Article(uint64(i)))
	}
	reply := "The Sample Bridge over the Lorem was opened in 1932, and its length is 812 metres"
	pages := func() (cited []*Page) {
		for _, t := range texts {
			cited = append(cited, NewPage("Sample Bridge", t))
		}
		return cited
	}
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			CheckCitation(reply, pages())
		}
	})
	ready := pages()
	b.Run("8 sentences", func(b *testing.B) {
		for b.Loop() {
			for range 8 {
				CheckCitation(reply, ready)
			}
		}
	})
}
