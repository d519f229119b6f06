package question

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"familiar/internal/context/turn"
)

// TestQueriesKeepNames checks that no member's name leaves, in any case, at any position, alone or beside others.
func TestQueriesKeepNames(t *testing.T) {
	word := rapid.StringMatching(`[B-DF-HJ-NP-TV-Z][aeiou]{2}[b-df-hj-np-tv-z]{3,5}[xyz]`) // no word of any language
	rapid.Check(t, func(t *rapid.T) {
		var names []string
		for _, parts := range rapid.SliceOfN(rapid.SliceOfN(word, 1, 3), 1, 5).Draw(t, "names") {
			names = append(names, strings.Join(parts, " "))
		}
		message := func(label string) string {
			words := []string{rapid.SampledFrom([]string{"who is", "when did", "what about", "and since 2020", "and", "look up the record of", "how old is"}).Draw(t, label)}
			for _, name := range rapid.SliceOfN(rapid.SampledFrom(names), 1, 3).Draw(t, label+" names") {
				switch rapid.IntRange(0, 4).Draw(t, label+" form") {
				case 0:
					name = strings.ToLower(name)
				case 1:
					name = strings.ToUpper(name)
				case 2:
					name += "'s"
				case 3:
					name = "@" + name
				}
				words = append(words, name, rapid.SampledFrom([]string{"and", "win", "brother", ",", "?", ""}).Draw(t, label+" between"))
			}
			return strings.Join(words, " ")
		}
		req := ask(message("text"))
		req.GuildID = "G"
		req.People = names
		req.Chain = []turn.Message{{ID: "B", Text: message("before")}}
		for _, q := range plan(req).Queries {
			for _, name := range names {
				if containsFold(q, name) {
					t.Fatalf("%q left in %q of %q after %q", name, q, req.Message.Text, req.Chain[0].Text)
				}
			}
		}
	})
}

// TestQueriesKeepParts checks that no part of a participant's name leaves if it is written like a name.
func TestQueriesKeepParts(t *testing.T) {
	word := rapid.StringMatching(`[B-DF-HJ-NP-TV-Z][aeiou]{2}[b-df-hj-np-tv-z]{3,5}[xyz]`) // no word of any language
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(word, 2, 4).Draw(t, "name")
		name := strings.Join(parts, rapid.SampledFrom([]string{" ", " | ", "  "}).Draw(t, "between"))
		part := rapid.SampledFrom(parts).Draw(t, "part")
		frame := rapid.SampledFrom([]string{"is % from Spain?", "how old is %?", "what did % win in 2020?", "look up %'s age", "who is interested in % and Rome?", "% is from where?", "is % German?"}).Draw(t, "frame")
		req := ask(strings.Replace(frame, "%", part, 1))
		req.GuildID = "G"
		switch rapid.IntRange(0, 3).Draw(t, "as") {
		case 0:
			req.Message.Author.Name = name
		case 1:
			req.Parent = &turn.Message{ID: "P", Text: "hello", Author: turn.Author{Name: name}}
		case 2:
			req.Chain = []turn.Message{{ID: "C", Text: "hello", Author: turn.Author{Name: name}}}
		case 3:
			req.Message.Mentions = []string{"@" + name}
		}
		for _, q := range plan(req).Queries {
			if containsFold(q, part) {
				t.Fatalf("%q left in %q of %q", part, q, req.Message.Text)
			}
		}
	})
}

func TestNames(t *testing.T) {
	people := []string{"Ada", "Berlin", "Will", "rust", "José", "Grace Hopper", "Kim | away", "田中", "xX_Zorg_Xx", "Max", "Zofia - away", "山田 太郎"}
	for _, tt := range []struct{ text, want string }{
		{"who is Ada Lovelace?", "who is Ada Lovelace"},
		{"what did Ada win in 2020?", "what did win in 2020"},
		{"what did ada win in 2020?", "what did win in 2020"},
		{"is Ada German?", "is German"},
		{"what did @ada.lovelace win?", ""},
		{"how did Zofia win the Oslo cup?", "how did win the Oslo cup"},
		{"山田太郎の住所は？", "の住所は"},
		{"what did @Ada_Lovelace99 win?", ""},
		{"what did Ada Max win?", ""},
		{"who was Grace Hopper?", ""},
		{"what is the weather in Berlin tomorrow?", "what is the weather in Berlin tomorrow"},
		{"will it rain in Rome tomorrow?", "will it rain in Rome tomorrow"},
		{"what is the newest rust compiler?", "what is the newest compiler 2026"},
		{"how old is jose?", ""},
		{"how old is José's car?", "how old is car"},
		{"where does Kim work?", ""},
		{"田中の年齢は？", "の年齢は"},
		{"when was xX_Zorg_Xx born?", ""},
		{"what is the Max Planck Institute?", "what is the Max Planck Institute"},
		{"how tall is @Grace of the North really?", "how tall is really"},
		{"what happened in #plans-of-ours today?", "what happened in 20 November 2026"},
	} {
		req := ask(tt.text)
		req.GuildID, req.People = "G", people
		req.Message.Mentions = []string{"@Grace of the North", "#plans-of-ours"}
		p := plan(req)
		got := ""
		if len(p.Queries) > 0 {
			got = p.Queries[0]
		}
		if got != tt.want {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
	}
	for _, tt := range []struct{ text, want string }{ // for participants, a part of the name is enough
		{"is Maria from Spain?", "is from Spain"},
		{"is Maria Spanish?", "is Spanish"},
		{"how old is Lopez?", ""},
		{"Maria is from which country?", ""},
		{"Maria's favourite film?", "favourite film"},
		{"who was Maria Callas?", "who was Maria Callas"},
		{"who was Maria Lopez?", ""},
		{"who is the king of the Dark Lands?", "who is the king of the Dark Lands"},
		{"what is dark matter?", "what is dark matter"},
		{"Dark matter is made of what?", "Dark matter is made of what"},
		{"when did Dark Star die?", ""},
		{"what did Nadia Comaneci win?", "what did Nadia Comaneci win"},
		{"what did Nadia win?", "what did Nadia win"}, // a member who does not take part
		{"how old is Jean Reno?", "how old is Jean Reno"},
		{"how old is Jean?", ""},
		{"how old is Bo?", ""},
		{"how old is DJ?", "how old is DJ"},
		{"weather in Maria?", "weather in Maria"},
		{"what grows in Maria's garden?", "what grows in garden"},
		{"who is interested in Maria?", ""},
		{"what is new in Berlin?", "what is new in Berlin"},
		{"what is in Berlin's car?", ""},
		{"Will is how old?", ""},
		{"Will's age?", ""},
		{"Will it rain in Rome tomorrow?", "Will it rain in Rome tomorrow"},
		{"Will, is it cold in Rome?", "is it cold in Rome"},
		{"May was born when?", ""},
		{"May I know the capital of Peru?", "the capital of Peru"},
		{"What did Will win?", ""},
	} {
		req := ask(tt.text)
		req.GuildID, req.People = "G", []string{"Maria Lopez", "Dark Star", "Nadia Petrova", "Berlin", "Will", "May"}
		req.Message.Author.Name = "Dark Star"
		req.Message.Mentions = []string{"@DJ Bo"}
		req.Parent = &turn.Message{ID: "P", Text: "hello", Author: turn.Author{Name: "Maria Lopez"}}
		req.Chain = []turn.Message{{ID: "C", Text: "hello", Author: turn.Author{Name: "Jean | afk"}}, {ID: "D", Text: "hello", Author: turn.Author{Name: "Jean Of Arc"}}}
		got := ""
		if p := plan(req); len(p.Queries) > 0 {
			got = p.Queries[0]
		}
		if got != tt.want {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
	}
	req := ask("what did Ada win in 2020?")
	if p := plan(req); p.Queries[0] != "what did Ada win in 2020" {
		t.Errorf("in a direct message: %q", p.Queries)
	}
	req.People = people // of servers that the author shares with the bot
	if p := plan(req); p.Queries[0] != "what did win in 2020" {
		t.Errorf("in a direct message of a member: %q", p.Queries)
	}
}
