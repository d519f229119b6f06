package websearch
import ("testing";"fmt";"familiar/internal/context/turn")
func TestProbe(t *testing.T){
 for _, c := range [][]string{
 {"what is the weather in Munich?","and in Berlin?"},
 {"who won the Nobel Prize in Physics in 1921?","and in 1922?"},
 {"who is Marie Curie?","what did she win it for?"},
 {"did Marie Curie win the Nobel Prize?","what did she win it for?"},
 {"who is Vincent van Gogh?","what about his brother"},
 {"who is Vincent van Gogh?","what about his brother?"},
 {"wie ist das Wetter in Hamburg?","und in Kiel?"},
 {"wer ist Angela Merkel?","wie alt ist sie?"},
 {"wer ist Angela Merkel?","und ihr Mann?"},
 {"wer ist Olaf Scholz?","wann wurde er geboren?"},
 {"¿quién es Lionel Messi?","¿y su hermano?"},
 {"¿qué tiempo hace en Madrid?","¿y en Sevilla?"},
 {"¿quién es Lionel Messi?","¿cuántos años tiene él?"},
 {"quel temps fait-il à Paris ?","et à Lyon ?"},
 {"qui est Emmanuel Macron ?","quel âge a-t-il ?"},
 {"qui est Emmanuel Macron ?","et sa femme ?"},
 {"qual é a capital do Brasil?","e da Argentina?"},
 {"quem é Fernando Pessoa?","quando ele nasceu?"},
 {"какая погода в Москве?","а в Казани?"},
 {"кто такой Юрий Гагарин?","когда он родился?"},
 {"кто такой Юрий Гагарин?","а его жена?"},
 {"東京の天気は？","大阪は？"},
 {"宮崎駿は誰ですか？","彼は何歳ですか？"},
 {"what is the population of France?","Germany?"},
 {"what is the population of France?","what about Germany"},
 {"what is the tallest building in the world?","how tall is it?"},
 {"what is the tallest building in the world?","who built it?"},
 {"when was the Eiffel Tower built?","by whom?"},
 {"who wrote Dune?","and the sequel?"},
 {"how old is Tom Hanks?","and his wife?"},
 {"what's the latest iPhone?","how much does it cost?"},
 {"who won the super bowl in 2020?","and the year before?"},
 {"tell me about the Battle of Hastings","who won?"},
 {"tell me about the Battle of Hastings","when was that?"},
 {"what is the capital of Peru","how many people live there?"},
 {"what is the weather in Lisbon tomorrow","and on Sunday?"},
 {"what is the weather in Lisbon tomorrow","and the day after?"},
 {"who directed Jaws?","what else did he direct?"},
 {"population of Spain","same for Portugal"},
 } {
  req:=ask(c[1]); req.Chain=[]turn.Message{{ID:"M0",Text:c[0]}}
  p:=decide(req,[]string{"sage"},Policy{}); p.compose([]string{"sage"},today)
  fmt.Printf("%-46s| %-32s → %q %.2f %s\n",c[0],c[1],p.queries,p.score,p.intent)
 }
}
