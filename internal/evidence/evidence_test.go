package evidence

import (
	"slices"
	"strings"
	"testing"

	"familiar/internal/text"
)

// bestOf returns the best sentence of a page for a question.
func bestOf(question, title, s string) string {
	q := NewQuestion(question, text.Language(question, text.Words(question)), text.Date{})
	chosen := q.Choose([]Document{{Title: title, Text: s}}, Extended)
	if len(chosen) == 0 {
		return ""
	}
	return chosen[0].Excerpt
}

const bridge = "The Sample Bridge crosses the Lorem between two hills, and it is painted green. " +
	"It was designed by Ada Quill, who also built the town hall. Construction lasted four years and the bridge opened in 1932. " +
	"The bridge is 812 metres long. It was closed to lorries because its northern pier had sunk."

func TestEvidence(t *testing.T) {
	for _, tt := range []struct{ question, title, text, want string }{
		{"who designed the sample bridge?", "Sample Bridge", bridge, "Ada Quill"},
		{"when did the sample bridge open?", "Sample Bridge", bridge, "1932"},
		{"how long is the sample bridge?", "Sample Bridge", bridge, "812 metres"},
		{"why was the bridge closed to lorries?", "Sample Bridge", bridge, "northern pier"},
		{"what is the sample bridge?", "Sample Bridge", bridge, "crosses the Lorem"},
		{"What starts on 2031/06/11?", "", "The fair starts on June 10th, 2031.\nThe regatta starts on June 11th, 2031.\nThe market starts on June 12th, 2031.", "regatta"},
		{"wann wurde die Brücke eröffnet?", "Musterbrücke", "Die Musterbrücke überquert den Fluss zwischen zwei Hügeln. Die Brücke wurde im Mai 1932 eröffnet. Sie ist grün.", "1932"},
	} {
		if got := bestOf(tt.question, tt.title, tt.text); !strings.Contains(got, tt.want) {
			t.Errorf("%s\n got %q\nwant %q", tt.question, got, tt.want)
		}
	}
}

// TestShortAnswers asks for what a page says in a few characters.
func TestShortAnswers(t *testing.T) {
	const page = "The program reads its settings from a file.\nretry_ceiling\nIt limits the attempts at a request. Its default is 17.\n" +
		"log_depth = 4\ncache_room: 512 MB\nshelf_width | 17 cm\nContact: us\nHome\nA drail is a hook."
	for question, want := range map[string]string{
		"what is the default of retry_ceiling?": "Its default is 17.",
		"what is log_depth set to?":             "log_depth = 4",
		"how much is cache_room?":               "cache_room: 512 MB",
		"what is the shelf_width?":              "shelf_width | 17 cm",
		"what is a drail?":                      "A drail is a hook.",
	} {
		q := NewQuestion(question, "en", text.Date{})
		chosen := q.Choose([]Document{{Title: "Settings", Text: page, Framing: ParseLayout(Source{Text: page})}}, Brief)
		if !slices.ContainsFunc(chosen, func(s Sentence) bool { return s.Text == want }) {
			t.Errorf("%s: %q is not among %v", question, want, chosen)
		}
		for _, s := range chosen {
			if _, failed := CheckQuote(page, s.Text); failed != "" || s.Text == "Home" || s.Text == "Contact: us" {
				t.Errorf("%s: %q is quoted (%s)", question, s.Text, failed)
			}
		}
	}
}

// TestTitleAlone asks about something that only the title of a page names: all of its text is about it.
func TestTitleAlone(t *testing.T) {
	const body = "It crosses the Lorem between two hills. Ferries had carried everybody until then. Ada Quill, who lived nearby, drew the plans."
	for title, want := range map[string]int{"Sample Bridge": 3, "Lorem Ferries": 0} {
		chosen := NewQuestion("who designed the Sample Bridge?", "en", text.Date{}).Choose([]Document{{Title: title, Text: body}}, Extended)
		if len(chosen) != want {
			t.Errorf("%s: %d sentences, want %d", title, len(chosen), want)
		}
	}
}

const minutes = `Chair: {disfmarker} Um so the buttons are the next thing on the agenda for all of us today .
Ann: Yeah .
Ben: The buttons should , uh , be made of rubber so that people can find them in the dark {vocalsound} .
Ann: Rubber buttons cost twice as much as buttons of plastic , and the budget is fixed for this year .
Chair: OK .
Ben: Lunch will be served at noon in the big room downstairs , they said .
Chair: Then we decide that only the large buttons are made of rubber , and the small ones are plastic .`

func TestOutline(t *testing.T) {
	var got []string
	q := NewQuestion("Summarize the discussion of rubber buttons", "en", text.Date{})
	for _, s := range q.Choose([]Document{{Text: minutes}}, Brief) {
		got = append(got, s.Excerpt)
	}
	want := []string{
		"Ben: The buttons should be made of rubber so that people can find them in the dark .",
		"Ann: Rubber buttons cost twice as much as buttons of plastic , and the budget is fixed for this year .",
		"Chair: Then we decide that only the large buttons are made of rubber , and the small ones are plastic .",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got:\n%s", strings.Join(got, "\n"))
	}
}
