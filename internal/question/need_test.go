package question

import (
	"testing"

	"familiar/internal/context/turn"
)

func TestNeed(t *testing.T) {
	for _, tt := range []struct {
		text string
		want bool
	}{
		// current facts, names, versions, checks
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
		// explicit orders
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
		{"what can you look up?", false}, {"which things can you look up", false}, {"can you look up Docker?", true}, {"Peru's capital, can you look it up", true},
		{"we should look it up", false}, {"let me look that up", false}, {"she told me to look it up", false}, {"search engines that don't track you", false},
		{"who directed Don't Look Up?", true},
		{"don't just guess, look it up: the height of K2", true},
		// a first word with a comma is not a name
		{"ok, what is the capital of Peru?", true},
		{"so, who won the 2022 world cup?", true},
		{"btw, how tall is mount fuji", true},
		// something else before it
		{"Thanks! Different thing: what time does Kew Gardens close on Sundays?", true},
		{"cool, unrelated but when does the ferry to Mull leave", true},
		{"ah super, danke dir. ganz andere Frage: wann ist Bremer Freimarkt", true},
		{"Valeu! Mudando de assunto, que horas fecha o Museu do Amanhã?", true},
		{"搞定，谢谢！另外想问下，从昆明去大理的动车要多久？", true},
		{"haha thanks! different topic: do you like me?", false},
		{"Danke! Was anderes: wie geht es dir heute?", false},
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
		// words inside other words are not cues
		{"what?", false}, {"really?", false}, {"what's 15% of 80", false}, {"tell me about yourself", false},
		{"the train left and i missed it", false}, {"my windows are dirty", false},
		{"", false}, {"???", false}, {"👍", false},
	} {
		n := Assess(tt.text, []string{"sage"})
		got := n.Order != NoSearch && n.Score >= Threshold
		if got != tt.want {
			t.Errorf("%q: score %.2f %v, want lookup %v", tt.text, n.Score, n.Cues, tt.want)
		}
	}
}

func TestIntent(t *testing.T) {
	for s, want := range map[string]turn.Intent{
		"will it rain in Oslo tonight?":           turn.IntentWeather,
		"who is Ada Lovelace":                     turn.IntentPerson,
		"latest news about the strike":            turn.IntentNews,
		"is it true that bats are blind?":         turn.IntentFactCheck,
		"what does reddit say about the fold 7":   turn.IntentForum,
		"show me pictures of otters":              turn.IntentImage,
		"the trailer of the new Dune film":        turn.IntentVideo,
		"documentation for the net/http package":  turn.IntentDocs,
		"how do i prune an apple tree":            turn.IntentHowTo,
		"what is the tallest building in Europe?": turn.IntentGeneral,
		"the train to Windsor":                    turn.IntentGeneral,
	} {
		n := Assess(s, nil)
		if got := builtIn().Classify(n, Parse(s, nil)); got[0].Name != want {
			t.Errorf("%q: %v, want %s", s, got, want)
		}
	}
}
