package question

import (
	"strings"
	"testing"

	"familiar/internal/context/turn"
)

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
		{"cuanto cuesta un billete de metro en bilbao", "estas seguro? fuente?", "cuanto cuesta un billete de metro en bilbao"},
		{"wie wird das wetter morgen in bremen", "und in emden?", "wie wird das wetter morgen in emden"},
		{"jaka pogoda jutro w lublinie", "a w radomiu?", "jaka pogoda jutro w radomiu"},
		{"明日の札幌の天気は？", "明後日は？", "明後日の札幌の天気は？"},
		{"quanto è alto il monviso", "grazie mille", "grazie mille"},
		{"quanto è alto il monviso", "quando è la festa della repubblica in francia", "quando è la festa della repubblica in francia"},
		{"how tall is the Eiffel Tower?", "is it true that goldfish forget after 3 seconds?", "is it true that goldfish forget after 3 seconds?"},
		{"when was the Sample Archive founded? look it up", "is it true that the Example Charter was signed in 1688?", "is it true that the Example Charter was signed in 1688?"},
		{"how tall is the Eiffel Tower? look it up", "is it true that it was built in 1889?", "is it true that Eiffel Tower was built in 1889?"},
		{"which plum tree suits a small yard", "sorry, i should have said cherry", "which cherry tree suits a small yard"},
		{"Welche Tomate wächst im Topf?", "ach Mist, Gurke wollte ich schreiben", "Welche Gurke wächst im Topf"},
		{"¿Qué rosal aguanta el frío?", "perdona, no rosal, quería decir peral", "¿Qué peral aguanta el frío"},
		{"Hoeveel rijst reken ik voor vier mensen?", "9", "Hoeveel rijst reken ik voor 9 mensen"},
		{"how much flour for pancakes for six", "14 people", "how much flour for pancakes for 14"},
		{"can you get measles twice?", "on another note entirely, what do hedgehogs eat?", "what do hedgehogs eat?"},
		{"Dlaczego chleb nie rośnie?", "Dobra, jasne. Z innej beczki: jak wymienić paszport?", "jak wymienić paszport?"},
		{"how tall is the Eiffel Tower?", "why?", "why: how tall is the Eiffel Tower?"},
	} {
		if got, _ := standalone(tt.text, nil, []turn.Message{{ID: "B", Text: tt.before}}); got != tt.want {
			t.Errorf("%q after %q: %q, want %q", tt.text, tt.before, got, tt.want)
		}
	}
}

// TestBoth checks messages that lean on the question before them in a way that no rule completes. Such a message is asked with the words of
// both. One that opens another subject is not.
func TestBoth(t *testing.T) {
	for _, tt := range []struct{ chain, want string }{
		{"who plays the warden in hollow tide | which one has been in more films", "plays warden hollow tide more films"},
		{"is lake orlen frozen in january | btw did the harbour cup start today", ""},
		{"should i buy a brindle or a karro kettle | and which is easier to clean", "which is easier to clean i buy a brindle or a karro kettle"},
		{"what does a covid booster cost in the uk | flu one?", "what does a flu booster cost in the uk"},
		{"wer hat tiefsee geschrieben | gibts den film dazu auch mit untertiteln", "tiefsee geschrieben film untertiteln"},
		{"how tall is the Karrow tower | and how much is the ticket at the second one", "Karrow tower ticket"},
	} {
		messages := strings.Split(tt.chain, " | ")
		p := plan(chain(messages...))
		got := ""
		if p.FollowUp && len(p.Queries) > 0 {
			got = p.Queries[0]
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.chain, got, tt.want)
		}
	}
}
