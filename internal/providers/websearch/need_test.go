package websearch

import (
	"testing"

	"familiar/internal/context/turn"
)

func TestNeed(t *testing.T) {
	for _, tt := range []struct {
		text string
		want bool
	}{
		// realtime, temporal, entities, versions, checks
		{"what's the weather in Lisbon tomorrow", true},
		{"who is the president of France?", true},
		{"explain quantum entanglement", true},
		{"can you tell me about the new iphone", true},
		{"is the moon landing fake?", true},
		{"latest stable Go version?", true},
		{"bitcoin price", true},
		{"did the Lakers win last night?", true},
		{"is it true that honey never spoils?", true},
		{"any news about the strike in Turin?", true},
		{"sage, how tall is the Eiffel Tower?", true},
		{"Hi! Could you please tell me when the next solar eclipse is?", true},
		{"i was wondering who wrote The Master and Margarita", true},
		// told so
		{"look up the opening hours of the Prado", true},
		{"google it please: tardigrades", true},
		{"can you search for good ramen in Osaka", true},
		{"who won the election? no need to search", false},
		{"don't look it up, what's the capital of Peru?", false},
		{"who was Nero? from memory", false},
		{"from memory, who was Nero", false},
		{"who was Nero (no search)", false},
		{"answer without the internet: who was Nero", false},
		{"why is there no web version of Procreate?", true},
		{"does google maps work without the internet in flight mode", true},
		{"which navigation app is offline only", true},
		{"never search the web for me, who was Nero?", false},
		{"I don't need you to look it up", false},
		{"we should look it up", false}, {"let me look that up", false}, {"she told me to look it up", false}, {"search engines that don't track you", false},
		{"who directed Don't Look Up?", true},
		{"don't just guess, look it up: the height of K2", true},
		// a first word with a comma is no name
		{"ok, what is the capital of Peru?", true},
		{"so, who won the 2022 world cup?", true},
		{"btw, how tall is mount fuji", true},
		// other languages
		{"wie wird das Wetter morgen in Hamburg?", true},
		{"qui a gagné la Coupe du monde en 1998 ?", true},
		{"¿cuánto cuesta un billete de metro en Madrid?", true},
		{"кто президент Франции?", true},
		{"東京の天気は？", true},
		{"法国总统是谁？", true},
		{"hallo, wie geht es dir?", false},
		{"merci beaucoup !", false},
		{"ты меня любишь?", false},
		{"謝謝，晚安", false},
		// small talk, the two who talk, opinions
		{"hi", false}, {"good morning everyone", false}, {"how are you?", false}, {"do you like me?", false},
		{"what do you think about jazz?", false}, {"thanks, that helped a lot!", false}, {"lol", false}, {"what's your name?", false},
		{"where are you from", false}, {"i love you", false}, {"tell me a joke", false}, {"i had such a long day at work", false},
		// roleplay, code, sums, devices, the clock
		{"*leans back and looks at the stars* what a night", false},
		{"```go\nfunc main() {}\n``` why does this not compile?", false},
		{"what is 12 * 14?", false}, {"set a timer for ten minutes", false}, {"turn off the lights", false}, {"what time is it?", false},
		{"translate good night into Spanish", false}, {"flip a coin", false}, {"remind me to call mum tomorrow", false},
		// words inside of words are no cues
		{"what?", false}, {"really?", false}, {"what's 15% of 80", false}, {"tell me about yourself", false},
		{"the train left and i missed it", false}, {"my windows are dirty", false},
		{"", false}, {"???", false}, {"👍", false},
	} {
		n := weigh(tt.text, []string{"sage"})
		got := n.order != "dont" && n.score >= threshold
		if got != tt.want {
			t.Errorf("%q: score %.2f %v, want lookup %v", tt.text, n.score, n.cues, tt.want)
		}
	}
}

func TestIntent(t *testing.T) {
	for text, want := range map[string]string{
		"will it rain in Oslo tonight?":           weather,
		"who is Ada Lovelace":                     person,
		"latest news about the strike":            news,
		"is it true that bats are blind?":         factCheck,
		"what does reddit say about the fold 7":   forum,
		"show me pictures of otters":              image,
		"the trailer of the new Dune film":        video,
		"documentation for the net/http package":  docs,
		"how do i prune an apple tree":            howTo,
		"what is the tallest building in Europe?": general,
		"the train to Windsor":                    general,
	} {
		n := weigh(text, nil)
		if got := builtIn().classify(n, text, split(text)); got[0].Name != turn.Intent(want) {
			t.Errorf("%q: %v, want %s", text, got, want)
		}
	}
}

func TestStandalone(t *testing.T) {
	for _, tt := range []struct{ before, text, want string }{
		{"what's the weather in Paris today?", "and in Berlin?", "what's the weather in Berlin today"},
		{"what's the weather in Paris today?", "what about tomorrow?", "what's the weather in Paris tomorrow"},
		{"who is the president of France?", "how old is he", "how old is the president of France"},
		{"who is Ada Lovelace?", "when was she born?", "when was Ada Lovelace born?"},
		{"who is ada lovelace", "what was her mother's name?", "what was ada lovelace's mother's name?"},
		{"what is the population of france", "what about germany?", "what is the population of germany"},
		{"who won the Nobel Prize in Literature in 2024?", "what did she win it for?", "what did she win it for: who won the Nobel Prize in Literature in 2024?"},
		{"who won the world cup in 2018?", "and in 2022?", "who won the world cup in 2022"},
		{"how tall is the Eiffel Tower?", "when was it built?", "when was Eiffel Tower built?"},
		{"wie wird das Wetter in Hamburg?", "und in Kiel?", "wie wird das Wetter in Kiel"},
		{"how tall is the Eiffel Tower?", "who is the mayor of Rome?", "who is the mayor of Rome?"},
		{"how tall is the Eiffel Tower?", "thanks a lot", "thanks a lot"},
		{"how tall is the Eiffel Tower?", "and i said no", "and i said no"},
		{"how tall is the Eiffel Tower?", "why?", "why: how tall is the Eiffel Tower?"},
	} {
		if got, _ := standalone(tt.text, nil, []turn.Message{{ID: "B", Text: tt.before}}); got != tt.want {
			t.Errorf("%q after %q: %q, want %q", tt.text, tt.before, got, tt.want)
		}
	}
}

// What the bot said never becomes part of a question (P7).
func TestOwnWordsAreNotUsed(t *testing.T) {
	req := ask("how old is he?")
	req.Parent = &turn.Message{ID: "R", Text: "It was written by Ernest Secretman.", Own: true}
	req.Chain = []turn.Message{*req.Parent, {ID: "Q", Text: "who was the first man on the Moon?"}}
	p := decide(req, []string{"sage"}, Policy{})
	p.compose(nil, today)
	for _, s := range append(p.queries, p.question) {
		if containsFold(s, "Secretman") {
			t.Errorf("the bot's own words left: %q", s)
		}
	}
	if len(p.queries) == 0 || !containsFold(p.queries[0], "Moon") {
		t.Errorf("queries %q", p.queries)
	}
}

func BenchmarkDecide(b *testing.B) {
	alone := ask("hey sage, could you please tell me what the current exchange rate between the euro and the yen is? we are flying to Osaka next week")
	alone.Chain = []turn.Message{{ID: "1", Text: "who is the president of France?"}}
	for name, req := range map[string]turn.Request{"alone": alone, "chain": chained("what is the weather in Oslo today?", "and in Bergen?", "and tomorrow?", "and the day after?")} {
		b.Run(name, func(b *testing.B) {
			defer processor(b)()
			for b.Loop() {
				p := decide(req, []string{"sage"}, Policy{})
				p.compose([]string{"sage"}, today)
			}
		})
	}
}

// Where a story is played, a name or a price in it asks for nothing; a question still does.
func TestNeedInPlay(t *testing.T) {
	for _, tt := range []struct {
		said           string
		looked, inPlay bool
	}{
		{"latest rust version", true, false},
		{"who is the president of France?", true, true},
		{"look up the height of K2", true, true},
	} {
		for mode, want := range map[turn.Mode]bool{turn.Text: tt.looked, turn.FullRP: tt.inPlay} {
			req := ask(tt.said)
			req.Mode = mode
			p := decide(req, []string{"sage"}, Policy{})
			if got := p.score >= threshold; got != want {
				t.Errorf("%q in %s: %.2f %q", tt.said, mode, p.score, p.cues)
			}
		}
	}
}
