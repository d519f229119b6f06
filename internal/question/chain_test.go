package question

import (
	"fmt"
	"strings"
	"testing"

	"familiar/internal/context/turn"
)

// chain asks the last of several messages, each a reply to the bot's answer to the one before.
func chain(messages ...string) turn.Request {
	req := ask(messages[len(messages)-1])
	for i := len(messages) - 2; i >= 0; i-- {
		req.Chain = append(req.Chain, turn.Message{ID: fmt.Sprint("R", i), Text: "Secretman says 1234 in Atlantis.", Own: true}, turn.Message{ID: fmt.Sprint("Q", i), Text: messages[i]})
	}
	return req
}

// TestChains checks that a follow-up is completed through a chain of any length. What it does not replace stays.
func TestChains(t *testing.T) {
	for _, tt := range []struct{ chain, want string }{
		{"weather in Oslo tomorrow | and the day after?", "weather in Oslo the day after tomorrow"},
		{"what's the weather in Rome | ok and tomorrow?", "what's the weather in Rome tomorrow"},
		{"weather in Paris | thanks! and what about Rome?", "weather in Rome"},
		{"who is the mayor of Leeds? | look it up", "who is the mayor of Leeds"},
		{"wer ist Bürgermeister von Leeds? | schau nach", "wer ist Bürgermeister von Leeds"},
		{"who is the mayor of Leeds? | can you check online?", "who is the mayor of Leeds"},
		{"weather in Oslo? | and Bergen? | and tomorrow? | and the day after?", "weather in Bergen the day after tomorrow"},
		{"weather in oslo? | and bergen? | and tomorrow | and the day after", "weather in bergen the day after tomorrow"},
		{"weather oslo tomorrow | and bergen? | and on friday?", "weather bergen on friday"},
		{"what is the weather in Lisbon today? | and tomorrow? | and in Porto?", "what is the weather in Porto tomorrow"},
		{"what's on at the Roxy on Friday? | and the day after? | and the day after?", "what's on at the Roxy on Sunday"},
		{"what happened in Kyiv today? | and yesterday? | the day before?", "what happened in Kyiv 18 November 2026"},
		{"are there flights from Oslo to Rome next week? | and the week after? | from Bergen?", "are there flights from Bergen to Rome December 2026"},
		{"who won the world cup in 2018? | and 2022? | and the one before?", "who won the world cup before 2022"},
		{"unemployment rate in Spain in 2020? | and 2021? | and Italy? | and the year after?", "unemployment rate in Italy in 2022"},
		{"who won the Nobel Prize in physics in 2020? | and in 2021? | and chemistry?", "who won the Nobel Prize in chemistry in 2021"},
		{"who won the super bowl in 2020? | what was the score? | and in 2021?", "what was the score of super bowl in 2021"},
		{"population of Berlin? | and Munich? | and Hamburg? | and in 1900?", "population of Hamburg in 1900"},
		{"price of bitcoin? | and ethereum? | and yesterday?", "price of ethereum 19 November 2026"},
		{"bitcoin price? | and ethereum? | and last week?", "ethereum price November 2026"},
		{"what is the exchange rate of the dollar? | and the pound? | lol thanks | and last month?", "what is the exchange rate of the pound October 2026"},
		{"is Tesla stock up today? | what about Nvidia? | and yesterday?", "is Nvidia stock up 19 November 2026"},
		{"train from Berlin to Hamburg tomorrow? | and back? | and on Friday?", "train from Berlin to Hamburg on Friday"},
		{"flight time from London to New York? | and to Boston? | and from Paris?", "flight time from Paris to Boston"},
		{"how do I get from Rome to Naples? | and to Florence? | how long does it take?", "how long does it take: how do I get from Rome to Florence"},
		{"Is the Louvre open on Monday? | on Tuesday? | and the Orsay?", "Is the Orsay open on Tuesday"},
		{"how far is the moon? | and Mars? | and Jupiter?", "how far is Jupiter"},
		{"what is the tallest building in the world? | how tall is it? | and in Europe?", "how tall is the tallest building in Europe"},
		{"what is the tallest tower in Paris? | when was it built?", "when was the tallest tower in Paris built"},
		{"what is entropy? | and enthalpy? | why is it important?", "why is enthalpy important"},
		{"when is the next solar eclipse? | where can I see it? | and the next lunar eclipse?", "where can I see the next lunar eclipse"},
		{"when does the new Zelda come out? | and on Switch? | how much is it?", "how much is Zelda"},
		{"recommend a hotel in Porto | near the river? | how much is it?", "how much is hotel in Porto"},
		{"what time does the Louvre open? | and on Sunday? | how much are tickets?", "how much are tickets of Louvre"},
		{"when did the Titanic sink? | how many people died? | who was the captain?", "who was the captain of Titanic"},
		{"how old is Tom Hanks? | and his wife? | where was she born?", "where was Tom Hanks's wife born"},
		{"how old is Tom Hanks? | when was he born? | and Meg Ryan?", "when was Meg Ryan born"},
		{"who is tom hanks? | how old is he? | did he win an Oscar?", "did tom hanks win an Oscar"},
		{"when was Ada Lovelace born? | and Alan Turing? | where did he die?", "where did Alan Turing die"},
		{"who is the president of France? | and Germany? | and how old is he?", "how old is the president of Germany"},
		{"who is the president of France? | and his wife? | how old is she?", "how old is the president of France's wife"},
		{"who is the CEO of Microsoft? | how old is he? | and of Apple?", "how old is the CEO of Apple"},
		{"what is the population of Peru? | and its capital? | how big is it?", "how big is Peru's capital"},
		{"what is the capital of Peru? | and its population?", "what is Peru's population"},
		{"who wrote Dune? | and the sequel? | when was it published?", "when was the sequel of Dune published"},
		{"who directed Parasite? | lol | and Oldboy?", "who directed Oldboy"},
		{"who is Ada Lovelace? | when was she born? | ok and where?", "where: when was Ada Lovelace born"},
		{"is it going to rain in Oslo tomorrow? | and on Sunday? | will it snow there?", "will it snow in Oslo"},
		{"news about Ukraine today | and Gaza? | any updates?", "news about Gaza 20 November 2026"},
		{"what is the status of the Artemis launch? | any update? | check again please", "what is the status of the Artemis launch"},
		{"what is the speed limit in Germany? | and France? | on motorways?", "what is the speed limit in France on motorways"},
		{"how many calories in an apple? | and a banana?", "how many calories in a banana"},
		{"best phone under 500? | and under 300?", "best phone under 300"},
		{"iPhone 15 price? | and the 16?", "iPhone 16 price"},
		{"who sang Thriller? | and Bad? | what year?", "what year: who sang Bad"},
		{"who won the cup in 2010? | and the one in 2014?", "who won the cup in 2014"},
		{"what's the score of Arsenal vs Chelsea? | who scored?", "who scored: what's the score of Arsenal vs Chelsea"},
		{"where is Petra? | how do I get there? | what's the weather there?", "what's the weather in Petra"},
		{"what happened in 1969? | and in 1970? | and the year after?", "what happened in 1971"},
		{"how much does a Tesla Model 3 cost? | and the Model Y? | in Europe?", "how much does the Model Y cost in Europe"},
		{"wie ist das Wetter in Köln? | und in Bonn? | und morgen? | und übermorgen?", "wie ist das Wetter in Bonn übermorgen"},
		{"wann öffnet der Louvre? | und am Sonntag? | und am Tag danach?", "wann öffnet der Louvre am Montag"},
		{"wer ist der Präsident von Frankreich? | und von Polen? | wie alt ist er?", "wie alt ist der Präsident von Polen"},
		{"wie hoch ist der Eiffelturm? | und der Fernsehturm in Berlin? | wann wurde er gebaut?", "wann wurde Fernsehturm gebaut"},
		{"was kostet ein iPhone 16? | und das 15?", "was kostet ein iPhone 15"},
		{"wie viele Einwohner hat Wien? | und Graz? | und 1900?", "wie viele Einwohner hat Graz 1900"},
		{"¿qué tiempo hace en Madrid? | ¿y en Sevilla? | ¿y mañana? | ¿y pasado mañana?", "qué tiempo hace en Sevilla pasado mañana"},
		{"¿quién es el presidente de Chile? | ¿y de Perú? | ¿cuántos años tiene?", "cuántos años tiene el presidente de Perú"},
		{"¿quién ganó el Mundial de 2010? | ¿y el de 2014? | ¿dónde se jugó?", "dónde se jugó Mundial de 2014"},
		{"¿cuándo nació Frida Kahlo? | ¿y Diego Rivera? | ¿dónde murió?", "dónde murió Diego Rivera"},
		{"¿cuál es la capital de Bolivia? | ¿y su población? | ¿y de Ecuador?", "cuál es población de Ecuador"},
		{"quel temps fera-t-il à Nice demain ? | et le lendemain ? | et à Cannes ?", "quel temps fera-t-il à Cannes après-demain"},
		{"qui est le président du Brésil ? | et de l'Argentine ? | quel âge a-t-il ?", "quel âge a le président de l'Argentine"},
		{"qui a réalisé Amélie ? | et Delicatessen ? | quand est-il sorti ?", "quand est Delicatessen sorti"},
		{"東京の天気は？ | 大阪は？ | 明日は？", "明日の大阪の天気は"},
		// Messages that depend on nothing stay as they are.
		{"how are you? | look again", "look again"},
		{"who is Ada Lovelace? | really?", "really"},
		{"who is Ada Lovelace? | who invented the telephone?", "who invented the telephone"},
		{"how far is the moon? | how far is the sun?", "how far is the sun"},
	} {
		p := plan(chain(strings.Split(tt.chain, " | ")...))
		if len(p.Queries) == 0 || p.Queries[0] != tt.want {
			t.Errorf("%s: %q, want %q", tt.chain, p.Queries, tt.want)
		}
	}
}
