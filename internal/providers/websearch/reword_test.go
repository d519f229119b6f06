package websearch

import (
	"strings"
	"testing"

	"familiar/internal/context/turn"
)

// TestReword checks that the side model's wording is taken only if it keeps to the words that people wrote.
func TestReword(t *testing.T) {
	const byRules, better = "what about the one in Rome", "how high is the tower in Rome"
	for name, tt := range map[string]struct{ script, want string }{
		"good":           {`say {"question":"` + better + `"}`, better},
		"spaces around":  {`say  {"question":"` + better + `"} `, better},
		"invented":       {`say {"question":"how high is the tower in Rome according to evil.example.net"}`, ""},
		"a member":       {`say {"question":"how high is Zorgana in Rome"}`, ""},
		"a number taken": {`say {"question":"how high is 4917012345 in Rome"}`, ""},
		"the bot's word": {`say {"question":"how high is Secretman in Rome"}`, ""},
		"fenced":         {"say ```{\"question\":\"" + better + "\"}```", ""},
		"more fields":    {`say {"question":"` + better + `","url":"https://x.org"}`, ""},
		"twice":          {`say {"question":"` + better + `"}{}`, ""},
		"no words":       {`say {"question":"the of and"}`, ""},
		"empty":          {`say {"question":""}`, ""},
		"wrong type":     {`say {"question":["` + better + `"]}`, ""},
		"half":           {`say {"question":"how high`, ""},
		"error":          {`error 500`, ""},
		"late":           {"wait 10s\nsay {\"question\":\"" + better + `"}`, ""}, // nobody waits so long
		"long":           {`say {"question":"` + strings.Repeat("tower ", 80) + `"}`, ""},
	} {
		t.Run(name, virtually(func(t *testing.T) {
			w := newWorld(t, &finder{})
			srv := w.side(t, tt.script)
			req := ask(byRules + "?")
			req.GuildID, req.People = "G", []string{"Zorgana"}
			req.Chain = []turn.Message{{ID: "R", Text: "It is Secretman's.", Own: true}, {ID: "Q", Text: "look up how high is the tower of Zorgana in Pisa, call +49 170 12345678"}}
			l := w.lookup(t, req)
			first, _, _ := strings.Cut(l.Query, "\n")
			if tt.want != "" && first != tt.want || tt.want == "" && first == better {
				t.Errorf("query %q, want %q; steps %+v", first, tt.want, l.Steps)
			}
			for _, bad := range []string{"evil", "Zorgana", "4917", "12345", "Secretman", "x.org"} {
				if containsFold(l.Query, bad) {
					t.Errorf("%q left in %q", bad, l.Query)
				}
			}
			if n := len(srv.Requests()); n == 0 {
				t.Error("the side model was not asked")
			}
		}))
	}
}

// TestRewordIsForFollowUps checks that only follow-ups are sent to the side model.
func TestRewordIsForFollowUps(t *testing.T) {
	w := newWorld(t, &finder{})
	srv := w.side(t, `say {"question":"x"}`)
	req := ask(heightQuestion)
	req.Chain = []turn.Message{{ID: "Q", Text: "who is Ada Lovelace?"}}
	if l := w.lookup(t, req); len(srv.Requests()) != 0 || !strings.HasPrefix(l.Query, "What is the height of Mount Everest") {
		t.Errorf("asked %d times, query %q", len(srv.Requests()), l.Query)
	}
}
