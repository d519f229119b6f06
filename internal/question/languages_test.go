package question

import (
	"testing"

	"familiar/internal/context/turn"
)

// TestOtherLanguages checks the lookups and intents of messages in other languages than English.
func TestOtherLanguages(t *testing.T) {
	const none = turn.Intent("")
	for _, tt := range []struct {
		text string
		want turn.Intent
	}{
		{"wie ist das Wetter in Köln?", turn.IntentWeather},
		{"brauche ich morgen einen Regenschirm in Bremen?", turn.IntentWeather},
		{"regnet es heute Abend?", turn.IntentWeather},
		{"was gibt es Neues aus Berlin?", turn.IntentNews},
		{"zeig mir die Nachrichten von heute", turn.IntentNews},
		{"Schlagzeilen bitte", turn.IntentNews},
		{"wer ist der Bundeskanzler?", turn.IntentPerson},
		{"wer hat den Faust geschrieben?", turn.IntentPerson},
		{"wie hoch ist die Zugspitze?", turn.IntentGeneral},
		{"was kostet ein Ticket nach Wien?", turn.IntentGeneral},
		{"wie macht man Apfelstrudel?", turn.IntentHowTo},
		{"hallo, wie geht es dir?", none},
		{"guten Morgen zusammen", none},
		{"danke, das war lieb", none},
		{"ich bin so müde heute", none},
		{"was denkst du über mich?", none},
		{"stell einen Wecker auf sieben", none},
		{"erzähl mir einen Witz", none},
		{"wie heißt du?", none},

		{"quel temps fait-il à Lyon ?", turn.IntentWeather},
		{"est-ce qu'il va pleuvoir demain à Nantes ?", turn.IntentWeather},
		{"la météo de Lille", turn.IntentWeather},
		{"quelles sont les actualités du jour ?", turn.IntentNews},
		{"les dernières nouvelles de Paris", turn.IntentNews},
		{"qui est Simone Veil ?", turn.IntentPerson},
		{"qui a écrit Madame Bovary ?", turn.IntentPerson},
		{"quelle est la capitale du Mali ?", turn.IntentGeneral},
		{"combien coûte un billet pour Rome ?", turn.IntentGeneral},
		{"comment faire une tarte aux pommes ?", turn.IntentHowTo},
		{"salut, ça va ?", none},
		{"merci beaucoup", none},
		{"tu m'aimes ?", none},
		{"je suis fatiguée ce soir", none},
		{"comment tu t'appelles ?", none},
		{"raconte-moi une blague", none},
		{"mets un réveil à six heures", none},
		{"bonne nuit tout le monde", none},

		{"¿qué tiempo hace en Sevilla?", turn.IntentWeather},
		{"¿va a llover mañana en Bilbao?", turn.IntentWeather},
		{"el pronóstico para el sábado", turn.IntentWeather},
		{"¿cuáles son las noticias de hoy?", turn.IntentNews},
		{"últimas noticias de Colombia", turn.IntentNews},
		{"¿quién es Frida Kahlo?", turn.IntentPerson},
		{"¿quién escribió Don Quijote?", turn.IntentPerson},
		{"¿cuál es la capital de Perú?", turn.IntentGeneral},
		{"¿cuánto cuesta un vuelo a Lima?", turn.IntentGeneral},
		{"¿cómo puedo hacer una tortilla?", turn.IntentHowTo},
		{"hola, ¿cómo estás?", none},
		{"muchas gracias, amigo", none},
		{"¿te gusta el fútbol?", none},
		{"buenas noches a todos", none},
		{"estoy muy cansado hoy", none},
		{"¿cómo te llamas?", none},
		{"cuéntame un chiste", none},
		{"pon una alarma a las ocho", none},

		{"como está o tempo em Lisboa hoje?", turn.IntentWeather},
		{"vai chover amanhã no Porto?", turn.IntentWeather},
		{"previsão do tempo para Recife", turn.IntentWeather},
		{"quais são as notícias de hoje?", turn.IntentNews},
		{"últimas notícias do Brasil", turn.IntentNews},
		{"quem é Fernando Pessoa?", turn.IntentPerson},
		{"quem foi Pelé?", turn.IntentPerson},
		{"qual é a capital de Angola?", turn.IntentGeneral},
		{"quanto custa um carro elétrico?", turn.IntentGeneral},
		{"como fazer pão de queijo?", turn.IntentHowTo},
		{"oi, tudo bem?", none},
		{"muito obrigada!", none},
		{"você gosta de mim?", none},
		{"boa noite, pessoal", none},
		{"qual é o seu nome?", none},
		{"conta uma piada", none},
		{"estou com sono", none},

		{"какая погода в Москве?", turn.IntentWeather},
		{"будет ли дождь завтра?", turn.IntentWeather},
		{"прогноз погоды на выходные", turn.IntentWeather},
		{"какие новости сегодня?", turn.IntentNews},
		{"последние новости из Минска", turn.IntentNews},
		{"кто такой Лев Толстой?", turn.IntentPerson},
		{"кто написал Мастера и Маргариту?", turn.IntentPerson},
		{"сколько стоит билет в Казань?", turn.IntentGeneral},
		{"какая столица Австралии?", turn.IntentGeneral},
		{"как приготовить борщ?", turn.IntentHowTo},
		{"привет, как дела?", none},
		{"спасибо большое", none},
		{"ты меня слышишь?", none},
		{"я так устала сегодня", none},
		{"спокойной ночи всем", none},
		{"как тебя зовут?", none},
		{"расскажи анекдот", none},
		{"поставь будильник на семь", none},

		{"東京の天気は？", turn.IntentWeather},
		{"明日は雨が降りますか？", turn.IntentWeather},
		{"大阪の天気予報を教えて", turn.IntentWeather},
		{"今日のニュースは？", turn.IntentNews},
		{"最新のニュースを教えて", turn.IntentNews},
		{"夏目漱石は誰ですか？", turn.IntentPerson},
		{"日本の首相は誰？", turn.IntentPerson},
		{"富士山の高さはいくつ？", turn.IntentGeneral},
		{"フランスの首都はどこ？", turn.IntentGeneral},
		{"カレーの作り方は？", turn.IntentHowTo},
		{"こんにちは", none},
		{"ありがとう！", none},
		{"元気ですか？", none},
		{"おやすみなさい", none},
		{"あなたの名前は何ですか？", none},
		{"私のことが好きですか？", none},
		{"今日は疲れた", none},
		{"冗談を言って", none},
	} {
		n := Assess(tt.text, nil)
		got := none
		if n.Score >= Threshold {
			got = builtIn().Classify(n, Parse(tt.text, nil))[0].Name
		}
		if got != tt.want {
			t.Errorf("%q: %q, want %q; score %.2f %v", tt.text, got, tt.want, n.Score, n.Cues)
		}
	}
}
