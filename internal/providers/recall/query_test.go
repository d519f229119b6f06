package recall

import (
	"strings"
	"testing"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/text"
)

// TestKin checks that a question finds members of the field that it names, in every language with orders to remember.
func TestKin(t *testing.T) {
	for language, c := range map[string]struct{ question, wanted, other string }{
		"en": {"which pet does he have?", "my puppy ate the rug", "the meeting was long"},
		"de": {"welches Haustier hat er denn?", "mein Hund hat den Teppich gefressen", "die Sitzung war lang"},
		"es": {"¿qué mascota tiene él en casa?", "mi perro se comió la alfombra", "la reunión fue larga"},
		"fr": {"quel instrument est-ce qu'il joue?", "je prends des cours de piano le lundi", "la réunion était longue"},
		"pt": {"qual instrumento você toca então?", "comprei um violão ontem", "a reunião foi longa"},
		"it": {"quale strumento suona lui?", "ho comprato una chitarra nuova", "la riunione è stata lunga"},
		"nl": {"welk huisdier heeft hij eigenlijk?", "mijn hond heeft het kleed opgegeten", "de vergadering was lang"},
		"pl": {"jakie zwierzę ma moja siostra?", "mój pies zjadł dywan", "spotkanie było długie"},
		"tr": {"onun hangi enstrümanı var?", "dün yeni bir gitar aldım", "toplantı uzun sürdü"},
		"ru": {"какой у него питомец?", "моя собака съела ковёр", "встреча была долгой"},
		"ja": {"彼の楽器は何ですか？", "毎週ピアノを習っています", "会議は長かった"},
		"ko": {"그의 취미는 뭐예요?", "주말마다 낚시를 가요", "회의가 길었어요"},
		"zh": {"他的宠物是什么？", "我家的小狗吃了地毯", "会议很长"},
	} {
		q := readQuery(c.question, "ada", nil, rankingNow)
		if q.lang != language && !q.unsure {
			t.Errorf("%s: read as %q", c.question, q.lang)
		}
		messages := []turn.Message{
			{ID: "other", ChannelID: "a", Text: c.other, At: rankingNow.Add(-time.Hour)}, {ID: "wanted", ChannelID: "b", Text: c.wanted, At: rankingNow.Add(-2 * time.Hour)},
		}
		weights := make([]float64, len(q.words()))
		for i := range weights {
			weights[i] = 1
		}
		if hits := q.rank(messages, weights); hits[0].ID != "wanted" || hits[0].Why[0].Feature != "session holds the field" {
			t.Errorf("%s: first is %q for %v", c.question, hits[0].Text, hits[0].Why)
		}
		if len(q.kinWords()) == 0 {
			t.Errorf("%s: no related words", c.question)
		}
	}
}

// TestKinFiles checks that each language has its fields, and that no line repeats a word.
func TestKinFiles(t *testing.T) {
	for _, code := range text.Languages() {
		if text.TablesOf(code).Memory.Keep == "" {
			continue
		}
		content, err := kinFiles.ReadFile("kin/" + code + ".txt")
		if err != nil {
			t.Error(err)
			continue
		}
		lines := strings.Split(strings.TrimSpace(string(content)), "\n")
		if len(lines) < 30 {
			t.Errorf("%s: %d fields", code, len(lines))
		}
		for _, line := range lines {
			seen := map[string]bool{}
			names, members, _ := strings.Cut(line, ":")
			for _, w := range strings.Fields(names + " " + members) {
				if seen[w] || w != strings.ToLower(w) || text.Unspaced(w) && len([]rune(w)) < 2 {
					t.Errorf("%s: %q in %q", code, w, line)
				}
				seen[w] = true
			}
			if len(seen) < 2 {
				t.Errorf("%s: %q", code, line)
			}
		}
	}
}
