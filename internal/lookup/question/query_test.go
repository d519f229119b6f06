package question

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"familiar/internal/context/turn"
)

func containsFold(s, sub string) bool {
	return strings.Contains(strings.ToLower(s), strings.ToLower(sub))
}

func TestQuery(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"sage, can you look up the opening hours of the Prado please?", "the opening hours of the Prado"},
		{"hey sage! could you please search for good ramen in Osaka, thanks", "good ramen in Osaka"},
		{"what is the latest version of Go?", "what is the latest version of Go 2026"},
		{"best films of last year", "best films of 2025"},
		{"who won the cup in 1998?", "who won the cup in 1998"},
		{"such nach dem Wetter in Bonn bitte", "dem Wetter in Bonn"},
		{"who won the match yesterday?", "who won the match 19 November 2026"},
		{"what is the weather in Rome tomorrow?", "what is the weather in Rome tomorrow"},
		{"who said “I think, therefore I am”?", `who said "I think, therefore I am"`},
		{"who wrote the novel The Left Hand of Darkness", `who wrote the novel "The Left Hand of Darkness"`},
		{"wer schrieb den Roman Der Name der Rose?", `wer schrieb den Roman "Der Name der Rose"`},
		{"is the film called Blade Runner any good", `is the film called "Blade Runner" any good`},
		{"what does the \"dangling quote mean", "what does the dangling quote mean"},
		{"las vegas shows this weekend", "las vegas shows November 2026"},
		{"what is the height of K2, check again please", "what is the height of K2"},
		{"any update on the Artemis launch?", "any update on the Artemis launch"},
		{"search !g :de cats <30 !!secret", "g de cats secret"},
	} {
		req := ask(tt.text)
		p := Decide(req, []string{"sage"}, nil)
		p.Compose([]string{"sage"}, today)
		if len(p.Queries) == 0 || p.Queries[0] != tt.want {
			t.Errorf("%q: %q, want %q", tt.text, p.Queries, tt.want)
		}
	}
}

// Whatever people write, and wherever it stands: no query is too long, none tells a secret, and there are two at most.
func TestQueriesKeepSecrets(t *testing.T) {
	digit, letter := rapid.StringMatching(`[0-9]{3}`), rapid.StringMatching(`[a-zA-Z0-9_-]{12}`)
	plain := rapid.StringMatching(`[a-z]{4,9}`)
	secret := rapid.OneOf(
		rapid.Custom(func(t *rapid.T) string { return "sk-" + letter.Draw(t, "a") + letter.Draw(t, "b") }),
		rapid.StringMatching(`[1-9][0-9]{16,19}`),
		rapid.StringMatching(`<@!?[1-9][0-9]{16,19}>`),
		rapid.Custom(func(t *rapid.T) string { return plain.Draw(t, "user") + "@" + plain.Draw(t, "host") + ".org" }),
		rapid.Custom(func(t *rapid.T) string { return "+49 170 " + digit.Draw(t, "a") + digit.Draw(t, "b") }),
		rapid.Custom(func(t *rapid.T) string { return "https://discord.gg/" + plain.Draw(t, "code") }),
	)
	filler := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"who is", "what about", "and in", "look up", "he", "Rome", "yesterday", `"`, "“", "search for", "?", "«", "latest", "the film", ", ", "\n"}))
	rapid.Check(t, func(t *rapid.T) {
		kept := secret.Draw(t, "secret")
		text := func(label string) string {
			parts := rapid.SliceOfN(filler, 0, 6).Draw(t, label)
			parts = slices.Insert(parts, rapid.IntRange(0, len(parts)).Draw(t, label+" at"), kept)
			return strings.Join(parts, " ")
		}
		req := ask(text("text"))
		req.Chain = []turn.Message{{ID: "B", Text: text("before")}}
		queries := planned(req).Queries
		if len(queries) > 2 {
			t.Fatalf("%d queries", len(queries))
		}
		for _, q := range queries {
			if n := utf8.RuneCountInString(q); n > maxQuery {
				t.Fatalf("%d characters", n)
			}
			if strings.Contains(q, kept) || strings.ContainsAny(q, "@<>\n") || strings.Count(q, `"`)%2 == 1 {
				t.Fatalf("%q of %q", q, kept)
			}
		}
	})
}

// planned is what is decided of a request.
func planned(req turn.Request) Plan {
	p := Decide(req, []string{"sage"}, nil)
	p.Compose([]string{"sage"}, today)
	return p
}

// No name of a member leaves, in whatever case it is written and wherever it stands, alone or in a row with others.
func TestQueriesKeepNames(t *testing.T) {
	word := rapid.StringMatching(`[B-DF-HJ-NP-TV-Z][aeiou]{2}[b-df-hj-np-tv-z]{3,5}[xyz]`) // no word of any language
	rapid.Check(t, func(t *rapid.T) {
		var names []string
		for _, parts := range rapid.SliceOfN(rapid.SliceOfN(word, 1, 3), 1, 5).Draw(t, "names") {
			names = append(names, strings.Join(parts, " "))
		}
		spoken := func(label string) string {
			said := []string{rapid.SampledFrom([]string{"who is", "when did", "what about", "and since 2020", "and", "look up the record of", "how old is"}).Draw(t, label)}
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
				said = append(said, name, rapid.SampledFrom([]string{"and", "win", "brother", ",", "?", ""}).Draw(t, label+" between"))
			}
			return strings.Join(said, " ")
		}
		req := ask(spoken("text"))
		req.GuildID = "G"
		req.People = names
		req.Chain = []turn.Message{{ID: "B", Text: spoken("before")}}
		for _, q := range planned(req).Queries {
			for _, name := range names {
				if containsFold(q, name) {
					t.Fatalf("%q left in %q of %q after %q", name, q, req.Message.Text, req.Chain[0].Text)
				}
			}
		}
	})
}

// No part of the name of somebody who takes part leaves where it is written as a name, whatever the person's part is.
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
		for _, q := range planned(req).Queries {
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
		p := planned(req)
		got := ""
		if len(p.Queries) > 0 {
			got = p.Queries[0]
		}
		if got != tt.want {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
	}
	for _, tt := range []struct{ text, want string }{ // of those who take part, a part of the name will do
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
		{"what did Nadia win?", "what did Nadia win"}, // who is only of the server
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
		if p := planned(req); len(p.Queries) > 0 {
			got = p.Queries[0]
		}
		if got != tt.want {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
	}
	req := ask("what did Ada win in 2020?")
	req.People = people // of no server: nobody is a member
	if p := planned(req); p.Queries[0] != "what did Ada win in 2020" {
		t.Errorf("in a direct message: %q", p.Queries)
	}
}

func FuzzDecide(f *testing.F) {
	for _, s := range []string{"and in Berlin?", "how old is he's", "don't", "what's", "<@1>", "*a* ```", "。？", "'s 't", "see www.x"} {
		f.Add(s, "who is Ada Lovelace?", "weather in Oslo on Friday")
	}
	f.Add("and the day after?", "and Bergen tomorrow?", "+49 170 1234567 in 2020 2021")
	f.Add("check again", "und seine Frau?", "wer ist der Präsident von Polen?")
	f.Fuzz(func(t *testing.T, text, before, first string) {
		req := chained(first, before, text)
		req.Message.Author.Name = first
		req.GuildID, req.People, req.Message.Mentions = "G", []string{before, "Ada"}, []string{before}
		p := Decide(req, []string{"sage", before}, []string{before})
		p.Compose([]string{"sage"}, today)
		if p.Score < 0 || p.Score > 1 {
			t.Fatal(p.Score)
		}
		for _, q := range p.Queries {
			if utf8.RuneCountInString(q) > maxQuery || strings.ContainsAny(q, "<>\n") || strings.HasPrefix(q, "!") {
				t.Fatalf("query %q", q)
			}
		}
	})
}
