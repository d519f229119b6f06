package need

import (
	"testing"

	"familiar/internal/text"
)

// Of messages in other languages than English the rules judge alone.
func TestOtherLanguages(t *testing.T) {
	const none = ""
	for _, tt := range []struct{ text, want string }{
		{"wie ist das Wetter in Köln?", Weather},
		{"brauche ich morgen einen Regenschirm in Bremen?", Weather},
		{"regnet es heute Abend?", Weather},
		{"was gibt es Neues aus Berlin?", News},
		{"zeig mir die Nachrichten von heute", News},
		{"Schlagzeilen bitte", News},
		{"wer ist der Bundeskanzler?", Person},
		{"wer hat den Faust geschrieben?", Person},
		{"wie hoch ist die Zugspitze?", General},
		{"was kostet ein Ticket nach Wien?", General},
		{"wie macht man Apfelstrudel?", HowTo},
		{"hallo, wie geht es dir?", none},
		{"guten Morgen zusammen", none},
		{"danke, das war lieb", none},
		{"ich bin so müde heute", none},
		{"was denkst du über mich?", none},
		{"stell einen Wecker auf sieben", none},
		{"erzähl mir einen Witz", none},
		{"wie heißt du?", none},

		{"quel temps fait-il à Lyon ?", Weather},
		{"est-ce qu'il va pleuvoir demain à Nantes ?", Weather},
		{"la météo de Lille", Weather},
		{"quelles sont les actualités du jour ?", News},
		{"les dernières nouvelles de Paris", News},
		{"qui est Simone Veil ?", Person},
		{"qui a écrit Madame Bovary ?", Person},
		{"quelle est la capitale du Mali ?", General},
		{"combien coûte un billet pour Rome ?", General},
		{"comment faire une tarte aux pommes ?", HowTo},
		{"salut, ça va ?", none},
		{"merci beaucoup", none},
		{"tu m'aimes ?", none},
		{"je suis fatiguée ce soir", none},
		{"comment tu t'appelles ?", none},
		{"raconte-moi une blague", none},
		{"mets un réveil à six heures", none},
		{"bonne nuit tout le monde", none},

		{"¿qué tiempo hace en Sevilla?", Weather},
		{"¿va a llover mañana en Bilbao?", Weather},
		{"el pronóstico para el sábado", Weather},
		{"¿cuáles son las noticias de hoy?", News},
		{"últimas noticias de Colombia", News},
		{"¿quién es Frida Kahlo?", Person},
		{"¿quién escribió Don Quijote?", Person},
		{"¿cuál es la capital de Perú?", General},
		{"¿cuánto cuesta un vuelo a Lima?", General},
		{"¿cómo puedo hacer una tortilla?", HowTo},
		{"hola, ¿cómo estás?", none},
		{"muchas gracias, amigo", none},
		{"¿te gusta el fútbol?", none},
		{"buenas noches a todos", none},
		{"estoy muy cansado hoy", none},
		{"¿cómo te llamas?", none},
		{"cuéntame un chiste", none},
		{"pon una alarma a las ocho", none},

		{"como está o tempo em Lisboa hoje?", Weather},
		{"vai chover amanhã no Porto?", Weather},
		{"previsão do tempo para Recife", Weather},
		{"quais são as notícias de hoje?", News},
		{"últimas notícias do Brasil", News},
		{"quem é Fernando Pessoa?", Person},
		{"quem foi Pelé?", Person},
		{"qual é a capital de Angola?", General},
		{"quanto custa um carro elétrico?", General},
		{"como fazer pão de queijo?", HowTo},
		{"oi, tudo bem?", none},
		{"muito obrigada!", none},
		{"você gosta de mim?", none},
		{"boa noite, pessoal", none},
		{"qual é o seu nome?", none},
		{"conta uma piada", none},
		{"estou com sono", none},

		{"какая погода в Москве?", Weather},
		{"будет ли дождь завтра?", Weather},
		{"прогноз погоды на выходные", Weather},
		{"какие новости сегодня?", News},
		{"последние новости из Минска", News},
		{"кто такой Лев Толстой?", Person},
		{"кто написал Мастера и Маргариту?", Person},
		{"сколько стоит билет в Казань?", General},
		{"какая столица Австралии?", General},
		{"как приготовить борщ?", HowTo},
		{"привет, как дела?", none},
		{"спасибо большое", none},
		{"ты меня слышишь?", none},
		{"я так устала сегодня", none},
		{"спокойной ночи всем", none},
		{"как тебя зовут?", none},
		{"расскажи анекдот", none},
		{"поставь будильник на семь", none},

		{"東京の天気は？", Weather},
		{"明日は雨が降りますか？", Weather},
		{"大阪の天気予報を教えて", Weather},
		{"今日のニュースは？", News},
		{"最新のニュースを教えて", News},
		{"夏目漱石は誰ですか？", Person},
		{"日本の首相は誰？", Person},
		{"富士山の高さはいくつ？", General},
		{"フランスの首都はどこ？", General},
		{"カレーの作り方は？", HowTo},
		{"こんにちは", none},
		{"ありがとう！", none},
		{"元気ですか？", none},
		{"おやすみなさい", none},
		{"あなたの名前は何ですか？", none},
		{"私のことが好きですか？", none},
		{"今日は疲れた", none},
		{"冗談を言って", none},
	} {
		n := Weigh(tt.text, nil)
		got := none
		if n.Score >= Threshold {
			got = BuiltIn().Classify(n, tt.text, text.Words(tt.text))[0].Name
		}
		if got != tt.want {
			t.Errorf("%q: %q, want %q; score %.2f %v", tt.text, got, tt.want, n.Score, n.Cues)
		}
	}
}
