package reply

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/test/bulk"

	"familiar/internal/evidence"
	"pgregory.net/rapid"
)

// readPages is a lookup that read two pages.
func readPages() *turn.Lookup {
	return &turn.Lookup{
		State: turn.Found,
		Sources: []turn.Source{
			{N: 1, URL: "https://example.org/a", Title: "Sample Bridge", Site: "example.org", Published: time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC)},
			{N: 2, URL: "https://en.wikipedia.org/wiki/Foo_(bar)", Title: "Ferries", Site: "en.wikipedia.org"},
		},
		Pages: []turn.Page{
			{N: 1, Text: "The Sample Bridge was opened on 8 May 1937. It is 1,280 metres long, and 2,961,000 cars cross it in a year. The mayor said: \"It will stand for ever.\""},
			{N: 2, Text: "Before the bridge there were ferries, which took twelve minutes. The last ferry, the Lorem Queen, went in June 1941."},
			{Text: "A page that nobody cites, about 4,711 things."},
		},
		Summary: []turn.Claim{{Text: "Ferries took 12 minutes.", Source: 2}},
	}
}

// tollPages is that lookup with a third page, which denies things.
func tollPages() *turn.Lookup {
	look := readPages()
	look.Sources = append(look.Sources, turn.Source{N: 3, URL: "https://example.net/tolls", Title: "Tolls", Site: "example.net"})
	look.Pages = append(look.Pages, turn.Page{N: 3, Text: "No tolls were paid on the bridge, at fifteen cents at first. That a ghost walks on the bridge at night is a myth. The tunnel was not opened until 1960. " +
		"The bridge, which is not painted, was opened by the mayor. The bridge won the Ipsum Prize."})
	return look
}

func TestMark(t *testing.T) {
	for _, c := range []struct{ name, in, want, reasons string }{
		{"borne out", "It is 1,280 metres long [1].", "It is 1,280 metres long [1].", ""},
		{"other number", "It is 1,380 metres long [1].", "It is 1,380 metres long [1?].", "number"},
		{"written otherwise", "It is 1280 m long [1].", "It is 1280 m long [1].", ""},
		{"rounded", "About 3 million cars use the bridge [1]; it is 1.3 thousand metres long [1].", "About 3 million cars use the bridge [1]; it is 1.3 thousand metres long [1].", ""},
		{"as a claim has it", "Ferries took 12 minutes [2].", "Ferries took 12 minutes [2].", ""},
		{"rounded too far", "About 4 million cars use the bridge [1].", "About 4 million cars use the bridge [1?].", "number"},
		{"date", "It opened on May 8, 1937 [1]. It opened on May 9, 1937 [1].", "It opened on May 8, 1937 [1]. It opened on May 9, 1937 [1?].", "date"},
		{"date of the page", "The page is of 2026-03-04 [1].", "The page is of 2026-03-04 [1].", ""},
		{"quote", `The mayor said "it will stand for ever" [1], or "it will soon fall down" [1].`, `The mayor said "it will stand for ever" [1], or "it will soon fall down" [1?].`, "quote"},
		{"name", "The Lorem Queen was the last [2].", "The Lorem Queen was the last [2].", ""},
		{"nothing of it", "Cats purr while dreaming about yellow submarines [2].", "Cats purr while dreaming about yellow submarines [2?].", "nothing of it"},
		{"wrong page", "Cars pay a toll at 4,711 gates [2].", "Cars pay a toll at 4,711 gates [2?].", "number"},
		{"according to", "According to [1], the bridge is 1,280 metres long. According to [1], it is 1,380 metres long.", "According to [1], the bridge is 1,280 metres long. According to [1?], it is 1,380 metres long.", "number"},
		{"nothing claimed", "Yes. [1] See [1] for more. Source: [2]", "Yes. [1] See [1] for more. Source: [2]", ""},
		{"over and nearly", "Over 1,200 metres, nearly 1,300 metres, more than 1,400 metres [1].", "Over 1,200 metres, nearly 1,300 metres, more than 1,400 metres [1?].", "number"},
		{"decade and century", "It opened in the 1930s, in the 20th century, on 8.5.1937 [1]. It opened in the 1950s [1].", "It opened in the 1930s, in the 20th century, on 8.5.1937 [1]. It opened in the 1950s [1?].", "number"},
		{"two pages share", "It opened in 1937, and the ferries went in 1941 [1][2].", "It opened in 1937, and the ferries went in 1941 [1][2].", ""},
		{"two pages, one does not fit", "The Lorem Queen sailed [2][1].", "The Lorem Queen sailed [2][1?].", "nothing of it"},
		{"behind the full stop", "It is 1,280 metres long. [1] Cats purr in yellow submarines. [1]", "It is 1,280 metres long. [1] Cats purr in yellow submarines. [1?]", "nothing of it"},
		{"before the words", "[1] says that it is 1,280 metres long.", "[1] says that it is 1,280 metres long.", ""},
		{"before wrong words", "[1] says that it is 1,380 metres long.", "[1?] says that it is 1,380 metres long.", "number"},
		{"list", "1. It is 1,280 metres long [1]\n2. It is 1,999 metres long [1]", "1. It is 1,280 metres long [1]\n2. It is 1,999 metres long [1?]", "number"},
		{"link", "It is 1,999 metres long [1](<https://example.org/a>).", "It is 1,999 metres long [1?](<https://example.org/a>).", "number"},
		{"at the word", "It is 1,999 metres long[1].", "It is 1,999 metres long[1?].", "number"},
		{"at the word, and on", "It is 1,999 metres long[1] and old. m[1] more.", "It is 1,999 metres long[1?] and old. m[1?] more.", "number,nothing of it"},
		{"index in code", "Then `a[1] = b` and `list[2] + 1`.", "Then `a[1] = b` and `list[2] + 1`.", ""},
		{"no code", "\\`It is 1,999 metres long [1]. \\`", "\\`It is 1,999 metres long [1?]. \\`", "number"},
		{"block that is not closed", "```\nx = 1999 [2]\n", "```\nx = 1999 [2]\n", ""},
		{"code", "`x = 1999 [1]` and\n```\nx = 1999 [2]\n```", "`x = 1999 [1]` and\n```\nx = 1999 [2]\n```", ""},
		{"interval", "It lies in [0, 1], 1,280 metres [1].", "It lies in [0, 1], 1,280 metres [1].", ""},
		{"denied", "The bridge was not opened on 8 May 1937 [1].", "The bridge was not opened on 8 May 1937 [1?].", "negation"},
		{"denied, another form", "The Lorem Queen did not go in June 1941 [2].", "The Lorem Queen did not go in June 1941 [2?].", "negation"},
		{"did not win", "The bridge did not win the Ipsum Prize [3].", "The bridge did not win the Ipsum Prize [3?].", "negation"},
		{"denied words of a person", "The mayor never said that \"it will stand for ever\" [1].", "The mayor never said that \"it will stand for ever\" [1?].", "negation"},
		{"denied in another part", "I don't know more, but it is 1,280 metres long [1].", "I don't know more, but it is 1,280 metres long [1].", ""},
		{"denied by the way", "Cars, not horses, cross it: 2,961,000 cars cross it in a year [1].", "Cars, not horses, cross it: 2,961,000 cars cross it in a year [1].", ""},
		{"asked back", "It is 1,280 metres long, isn't it? [1]", "It is 1,280 metres long, isn't it? [1]", ""},
		{"the page denies it", "Tolls were paid on the bridge [3].", "Tolls were paid on the bridge [3?].", "negation"},
		{"both deny it", "No tolls were paid on the bridge [3].", "No tolls were paid on the bridge [3].", ""},
		{"called a myth", "A ghost walks on the bridge at night [3].", "A ghost walks on the bridge at night [3?].", "negation"},
		{"not until", "The tunnel opened in 1960 [3].", "The tunnel opened in 1960 [3].", ""},
		{"denied elsewhere", "The bridge was opened by the mayor [3].", "The bridge was opened by the mayor [3].", ""},
		{"swapped sources", "Ferries took twelve minutes [1], and the bridge is 1,280 metres long [2].", "Ferries took twelve minutes [1?], and the bridge is 1,280 metres long [2?].", "number,number"},
		{"number in words", "Ferries took twenty minutes [2].", "Ferries took twenty minutes [2?].", "number"},
		{"words for a number", "Tolls were 15 cents at first [3].", "Tolls were 15 cents at first [3].", ""},
		{"another unit", "It is 1.28 km long [1].", "It is 1.28 km long [1].", ""},
		{"table", "| length | 1,280 m [1] |\n| cars | 3,000 [1] |", "| length | 1,280 m [1] |\n| cars | 3,000 [1?] |", "number"},
		{"half true", "It opened in May 1937 [1] and the last ferry went in July 1941 [2].", "It opened in May 1937 [1] and the last ferry went in July 1941 [2?].", "date"},
		{"other language, date", "El puente fue inaugurado el 9 de mayo de 1937 [1].", "El puente fue inaugurado el 9 de mayo de 1937 [1?].", "date"},
		{"other language", "Die Brücke ist schön und wird von vielen Menschen benutzt [1].", "Die Brücke ist schön und wird von vielen Menschen benutzt [1].", ""},
		{"other language, other number", "Die Brücke ist 1999 Meter lang und wird von vielen benutzt [1].", "Die Brücke ist 1999 Meter lang und wird von vielen benutzt [1?].", "number"},
	} {
		t.Run(c.name, func(t *testing.T) {
			marker := &Marker{Lookup: tollPages()}
			got, refused, _ := marker.Mark(c.in, false)
			var reasons []string
			for _, r := range refused {
				reasons = append(reasons, r.Refused)
			}
			if got != c.want || strings.Join(reasons, ",") != c.reasons {
				t.Errorf("got %q (%v)\nwant %q (%s)", got, reasons, c.want, c.reasons)
			}
		})
	}
}

// flicker reports where the marks of a growing text differ from the marks of the complete text. A mark that was shown
// stays, and no mark is added to text that was shown.
func flicker(text string) error {
	marker := &Marker{Lookup: readPages()}
	whole, _, _ := marker.Mark(text, false)
	for i := range len(text) + 1 {
		visible := sample().Visible(text[:i])
		if part, _, _ := marker.Mark(visible, true); !strings.HasPrefix(whole, part) {
			return fmt.Errorf("of %q\nat first %q\nat last  %q", visible, part, whole)
		}
	}
	return nil
}

func TestMarksDoNotFlicker(t *testing.T) {
	pieces := []string{"It is 1,280 metres long", "It is 1,999 long", " [1]", "[2]", ", [1]", ". ", ".\n", " ", "\n", "- ", "`x [1]`", "```\n", "[1] says", " 1941", " a[1]", "! ",
		"[1](<https://example.org/a>)", " word", "`", "``", "``` ", "`x`", "~~~\n", "\\`", "語"}
	rapid.Check(t, func(t *rapid.T) {
		if err := flicker(strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 12).Draw(t, "pieces"), "")); err != nil {
			t.Fatal(err)
		}
	})
}

// What looks like code while a text grows may turn out to be none. Then its citations count.
func TestMarksOfCodeDoNotFlicker(t *testing.T) {
	for name, text := range map[string]string{
		"a fence that inline code ends": "```\nIt is 1,999 long [1]`x [1]````\n",
		"a fence of the other kind":     "```\nIt is 1,999 long [1]\n~~~\n",
		"code that is cut apart":        "It is ``` so\n`1,999 long [1]` and ``` so. ",
		"long inline code":              "`It is 1,999 long [1]" + strings.Repeat(" word", 115) + " and ` so",
		"a sentence before code":        "[1] It is long.`x y` It is 1,999 long. ",
	} {
		if err := flicker(text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A check that breaks costs its own citation alone.
func TestACheckThatBreaks(t *testing.T) {
	marker := &Marker{Lookup: readPages(), pages: map[int]*evidence.Page{1: {}}} // a page that nobody made ready
	got, refused, _ := marker.Mark("It is 1,280 metres long [1]. The Lorem Queen was the last [2].", false)
	if got != "It is 1,280 metres long [1?]. The Lorem Queen was the last [2]." {
		t.Errorf("got %q", got)
	}
	if len(refused) != 1 || refused[0].Refused != unchecked || refused[0].Source != 1 {
		t.Errorf("refused %+v", refused)
	}
}

// The units are what a careless marking stumbles over: it looks at the whole text for each citation.
func TestMarkIsLinearOnHostileText(t *testing.T) {
	units := []string{"a\n[1]", "[1](<", "``x`", "said \"so it was and is\" [1]. ", "[1] a b\n", "[1]. ", "[1](", "word [1] ", "[1]", "`", "``` [1] ", "語[1]", "a.[1]"}
	for _, unit := range units[:bulk.Of(4, len(units))] {
		linear(t, unit, func(text string) func() {
			marker := &Marker{Lookup: readPages()}
			marker.page(1)
			return func() {
				marker.Mark(text, false)
				marker.Mark(text, true)
			}
		})
	}
}

// BenchmarkMarkHostile has 100 kB of each unit. The times of the units are alike, and a quarter of the text takes a quarter.
func BenchmarkMarkHostile(b *testing.B) {
	for _, unit := range []string{"a\n[1]", "[1] a b\n", "[1]. ", "[1](<", "``x`"} {
		b.Run(unit, func(b *testing.B) {
			text := strings.Repeat(unit, 100_000/len(unit))
			for b.Loop() {
				(&Marker{Lookup: readPages()}).Mark(text, false)
			}
		})
	}
}

func BenchmarkCitations(b *testing.B) {
	look := readPages()
	look.Sources, look.Pages = nil, nil
	for n := 1; n <= 5; n++ {
		look.Sources = append(look.Sources, turn.Source{N: n})
		look.Pages = append(look.Pages, turn.Page{N: n, Text: strings.Repeat(readPages().Pages[0].Text+" ", 350)})
	}
	text := strings.Repeat("It opened on 8 May 1937 and is 1,280 metres long [1][2][3][4][5]. ", 8)
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			(&Marker{Lookup: look}).Mark(text, false)
		}
	})
	again := &Marker{Lookup: look}
	b.Run("again", func(b *testing.B) {
		for b.Loop() {
			again.Mark(text, false)
		}
	})
}
