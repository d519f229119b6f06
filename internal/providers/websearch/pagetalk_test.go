package websearch

import (
	"slices"
	"strings"
	"testing"

	"familiar/internal/context/turn"
	"familiar/internal/question"
	"familiar/internal/test/bulk"
)

const namedPage = "https://peaks.example.org/everest.html"

// pageWordings are messages that name a page, URL, and only ask what it says.
var pageWordings = []string{
	// English
	"URL", "<URL>", "URL.", "(URL)", "tl;dr URL", "URL tl;dr", "tldr? URL", "tl;dr: URL", "TL;DR please <URL>", "thoughts on URL?", "thoughts? URL", "URL thoughts?",
	"any thoughts on URL ?", "what does URL say?", "what does this say URL", "What's in URL?", "what is URL about?", "what's this about? URL",
	"key points of URL", "URL - key points please", "give me the main points of URL.", "the gist of URL?", "summarise URL", "summarize this article: URL",
	"Can you summarize <URL> for me?", "could you sum up URL", "is URL worth reading?", "worth a read? URL", "is this worth my time? <URL>",
	"what do you think of URL?", "what do you make of URL", "URL what do you think?", "your take on URL?", "opinions on [this](URL)?", "read URL",
	"please read URL and tell me what it says", "have a look at URL", "check this out: URL", "check out URL", "explain URL", "explain this to me URL",
	"tell me about URL", "hey, can you open URL?", "what am I looking at? URL", "tl;dr of [Mount Everest](URL)", "summary of URL in 3 sentences", "break URL down for me",
	"anything interesting in URL?", "recap URL pls!", "look up URL", "look it up: URL", "look this page up please <URL>", "is this true? URL", "what are the takeaways from URL?", "give me a quick overview of URL",
	// German
	"was steht in URL?", "Was sagt URL?", "fass URL zusammen", "Fasse das bitte zusammen: URL", "Zusammenfassung von URL bitte", "worum geht es in URL?",
	"worum geht's da? URL", "was hältst du von URL?", "Lohnt sich URL?", "lohnt es sich, das zu lesen? URL", "URL – deine Meinung?", "die wichtigsten Punkte von URL",
	"lies mal URL", "kurz zusammengefasst: <URL>", "was denkst du über URL",
	// French
	"que dit URL ?", "qu'est-ce que ça dit ? URL", "résume URL", "Peux-tu résumer URL s'il te plaît ?", "un résumé de URL", "de quoi parle URL ?",
	"que penses-tu de URL ?", "ton avis sur URL ?", "les points clés de URL", "URL vaut le coup d'être lu ?",
	// Spanish
	"¿qué dice URL?", "resume URL", "resúmeme URL por favor", "¿de qué trata URL?", "¿de qué va URL?", "¿qué opinas de URL?", "puntos clave de URL",
	"un resumen de URL", "¿vale la pena leer URL?", "¿qué te parece URL?",
	// Portuguese
	"o que diz URL?", "resume URL", "resuma URL por favor", "um resumo de URL", "do que se trata URL?", "o que você acha de URL?", "vale a pena ler URL?",
	"principais pontos de URL", "sobre o que é URL?",
	// Italian
	"cosa dice URL?", "riassumi URL", "un riassunto di URL per favore", "di cosa parla URL?", "cosa ne pensi di URL?", "i punti chiave di URL", "vale la pena leggere URL?",
	// Dutch, Polish, Swedish, Turkish
	"wat staat er in URL?", "vat URL samen", "wat vind je van URL?", "URL waard om te lezen?", "streszcz URL", "o czym jest URL?", "co sądzisz o URL?",
	"sammanfatta URL", "vad handlar URL om?", "vad tycker du om URL?", "URL özetle", "URL ne diyor?", "URL hakkında ne düşünüyorsun?",
	// Russian, Ukrainian
	"что пишут в URL?", "о чём URL?", "о чем эта статья? URL", "кратко: URL", "перескажи URL", "что думаешь о URL?", "стоит читать URL?", "стисло URL", "про що URL?",
	// Japanese, Chinese, Korean, Thai
	"URL を要約して", "URL について教えて", "この記事を要約してください URL", "URL には何が書いてありますか？", "URL どう思う？", "要点は？ URL", "URL まとめて。",
	"总结一下 URL", "URL 讲了什么？", "这篇文章说了什么？ URL", "你怎么看 URL ？", "帮我看看 URL", "摘要 URL", "URL 요약해줘", "URL 무슨 내용이야?", "이 기사 어떻게 생각해? URL", "สรุป URL", "URL พูดถึงอะไร",
	// Arabic, Hebrew, Hindi, Greek
	"لخص URL", "ماذا يقول URL؟", "ما رأيك في URL؟", "סכם את URL", "מה כתוב ב URL?", "URL का सारांश दो", "URL में क्या लिखा है?", "τι λέει το URL;", "περίληψη του URL",
	// marks that follow the address
	"URL!", "URL?", "thoughts on URL…", "\"URL\"", "**URL**", "要約： URL。", "[URL](URL)", "[the article](<URL>) tl;dr",
}

// oddWordings name a page in words that no table has, or look like a precise question.
var oddWordings = []string{
	"trang này nói gì? URL", "waar gaat URL over?", "does URL have anything juicy?", "lovely page URL", "my brother sent me URL and I am confused", "qui dit quoi dans URL ?",
	"why should I bother with URL?", "URL is wild", "kéo xuống URL", "I can't be bothered with URL, help", "mitä tässä lukee? URL", "URL 🤔", "who is behind URL?",
}

// preciseWordings are precise questions about a page, with a part of the answer.
var preciseWordings = [][2]string{
	{"how high is it? URL", "8,849 metres"}, {"URL how high is Mount Everest?", "8,849 metres"}, {"how old is this? URL", "2020"}, {"who climbed it first? URL", "Tenzing"}, {"when was it first climbed? URL", "29 May 1953"},
	{"according to URL, who announced the height together?", "China and Nepal"}, {"what does URL say about the permit?", "fee for their permit"},
	{"what does <URL> say about the route that they climbed", "southeast ridge"}, {"where does Mount Everest stand? [here](URL)", "Mahalangur"},
	{"summarise what URL says about the weather", "jet stream"}, {"Wann war die Besteigung von Mount Everest durch Hillary? URL", "29 May 1953"}, {"thoughts on the jet stream in URL?", "jet stream"},
}

// TestPreciseQuestionOnPage checks that a precise question about a named page gets the sentences that answer it.
func TestPreciseQuestionOnPage(t *testing.T) {
	w := newWorld(t, &finder{})
	for _, tt := range preciseWordings {
		req := ask(strings.ReplaceAll(tt[0], "URL", namedPage))
		req.GuildID, req.Addressed = "G", turn.ByMention
		l := w.lookup(t, req)
		if l.State != turn.Found || l.Unanswered || !slices.ContainsFunc(l.Summary, func(c turn.Claim) bool { return strings.Contains(c.Text, tt[1]) }) || l.Question == question.OutlineQuestion {
			t.Errorf("%q: %s (%s) %+v", tt[0], l.State, l.Reason, l.Summary)
		}
	}
}

// TestNothingOnPage checks that a page without the answer is summarised, and that the block says so.
func TestNothingOnPage(t *testing.T) {
	w := newWorld(t, &finder{})
	for text, unanswered := range map[string]bool{"which bicycle brakes squeal? URL": true, "squealing bicycle brakes URL": false, "thoughts? URL": false} {
		req := ask(strings.ReplaceAll(text, "URL", namedPage))
		req.GuildID, req.Addressed = "G", turn.ByMention
		l := w.lookup(t, req)
		if l.State != turn.Found || l.Unanswered != unanswered || strings.Contains(l.Block, "seems to answer the question") != unanswered {
			t.Errorf("%q: %s, unanswered %t: %s", text, l.State, l.Unanswered, l.Block)
		}
	}
}

// TestPageForTheRoom checks that a URL in a message to the room is not read unless the message asks.
func TestPageForTheRoom(t *testing.T) {
	w := newWorld(t, &finder{})
	for how, want := range map[turn.Address]bool{turn.Unaddressed: false, turn.ByPattern: false, turn.ByName: false, turn.ByMention: true, turn.ByReply: true, turn.ByDirect: true} {
		for _, text := range []string{"URL", "I told sage yesterday that URL", "bob: URL", "lol URL"} {
			req := ask(strings.ReplaceAll(text, "URL", namedPage))
			req.GuildID, req.Addressed = "G", how
			if l := w.lookup(t, req); (l.State != turn.NotNeeded) != want {
				t.Errorf("%q, addressed %q: %s (%s)", text, how, l.State, l.Reason)
			}
		}
	}
}

// TestPageOfParent checks that a reply may refer to the page in the replied-to message.
func TestPageOfParent(t *testing.T) {
	w := newWorld(t, &finder{})
	for text, want := range map[string]bool{"thoughts?": true, "tl;dr": true, "要約して": true, "was hältst du davon?": true, "hello there": false, "good morning": false, "thanks!": false, "hey": false, "ok good": false, "": false} {
		req := ask(text)
		req.GuildID, req.Addressed = "G", turn.ByMention
		req.Parent = &turn.Message{ID: "M0", Author: turn.Author{ID: "U2", Name: "Ben"}, Text: "look what I found " + namedPage}
		req.Chain = []turn.Message{*req.Parent}
		if l := w.lookup(t, req); (l.State == turn.Found) != want {
			t.Errorf("%q: %s (%s)", text, l.State, l.Reason)
		}
	}
}

// TestPageNamed checks that a page named to the character is read and summarised.
func TestPageNamed(t *testing.T) {
	all := slices.Concat(pageWordings, oddWordings)
	addresses := map[string]func(*turn.Request){
		"mention": func(r *turn.Request) { r.Addressed = turn.ByMention },
		"name":    func(r *turn.Request) { r.Addressed, r.Message.Text = turn.ByName, "Sage, "+r.Message.Text },
		"direct":  func(r *turn.Request) { r.Addressed, r.GuildID = turn.ByDirect, "" },
		"reply":   func(r *turn.Request) { r.Addressed = turn.ByReply },
	}
	models := map[string]string{
		"no side model": "",
		"an idle one":   `say {"quotes":[],"answers":false}`,
		"an honest one": `say {"quotes":[1],"answers":true}`,
	}
	for how, address := range addresses {
		for model, script := range models {
			if how != "mention" && model == "an idle one" {
				continue
			}
			t.Run(how+"/"+model, virtually(func(t *testing.T) {
				w := newWorld(t, &finder{})
				if script != "" {
					w.side(t, script)
				}
				good := 0
				tried := 0
				for i, wording := range all {
					if i%bulk.Of(24, 1) != 0 {
						continue
					}
					tried++
					req := ask(strings.ReplaceAll(wording, "URL", namedPage))
					req.GuildID = "G"
					address(&req)
					l := w.lookup(t, req)
					page := l.Pages[:min(1, len(l.Pages))]
					atLeast := 3 // what a page says is more than one sentence
					if strings.Contains(script, "[1]") || i >= len(pageWordings) {
						atLeast = 1
					}
					if l.State != turn.Found || len(page) == 0 || page[0].Failure != "" || len(l.Summary) < atLeast || l.Summary[0].Source != page[0].N || !strings.Contains(unmarked(l.Block), "Everest") {
						t.Errorf("%q: %s (%s), %d claims, question %q", wording, l.State, l.Reason, len(l.Summary), l.Question)
						continue
					}
					good++
				}
				if asked := w.finder.queries(); len(asked) > 0 {
					t.Errorf("a search service was asked %+v", asked)
				}
				t.Logf("%d of %d", good, tried)
			}))
		}
	}
}
