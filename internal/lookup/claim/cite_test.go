package claim

import (
	"fmt"
	"testing"

	"familiar/internal/web/webtest"
)

const everest = `Mount Everest is the highest mountain on Earth. The height of Mount Everest is 8,849 metres,
as China and Nepal announced on 8 December 2020. Edmund Hillary and Tenzing Norgay reached the top on May 29, 1953.
The permit costs 11,000 dollars. It is not the tallest mountain from base to peak. About 1.5 million people visit Nepal.`

func TestCheckCitation(t *testing.T) {
	cited := []*Page{NewPage("Mount Everest", everest), NewPage("Ferries", "The ferry took 1,280 metres in the 1980s. It opened at 17:00, and the old ferry boat never sank.")}
	for _, tt := range []struct{ sentence, want string }{
		{"Everest is 8,849 m high.", "[ nothing of it]"},
		{"It is about 8,800 metres high.", "[ nothing of it]"},
		{"It is 8,700 metres high.", "[number number]"},
		{"About 1,500,000 people visit Nepal.", "[ nothing of it]"},
		{"The ferry took 1.28 km.", "[nothing of it ]"},
		{"The ferry of the 1980s opened at 5 pm.", "[nothing of it ]"},
		{"Norgay was there in 1953.", "[ nothing of it]"},
		{"It was announced on 9 December 2020.", "[date date]"},
		{`He said: "the permit costs 11,000 dollars".`, "[ nothing of it]"},
		{`He said: "the permit costs a great deal".`, "[quote quote]"},
		{"It is the tallest mountain from base to peak.", "[negation nothing of it]"},
		{"The old ferry boat sank.", "[nothing of it negation]"},
		{"Der Berg ist hoch und die Fähre ist weg.", "[ ]"},
		{"See the source:", "[ ]"},
	} {
		if got := fmt.Sprint(CheckCitation("Before. "+tt.sentence, cited)); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.sentence, got, tt.want)
		}
	}
}

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
