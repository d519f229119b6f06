package question

import (
	"testing"
	"time"
)

func TestReadChat(t *testing.T) {
	for message, want := range map[string]Chat{
		"hello": Hello, "hey sage": Hello, "sage": Hello, "Guten Morgen!": Hello, "привет": Hello, "こんにちは": Hello, "merhaba": Hello, "cześć": Hello,
		"thanks!": Thanks, "danke dir": Thanks, "спасибо": Thanks, "merci beaucoup": Thanks, "ありがとう": Thanks,
		"good night": Bye, "bonne nuit": Bye, "do widzenia": Bye,
		"how are you?": AskMood, "hey, how are you?": AskMood, "wie gehts": AskMood, "ça va ?": AskMood, "cómo estás?": AskMood,
		"who are you?": AskSelf, "are you a bot?": AskSelf, "wer bist du?": AskSelf, "qui es-tu ?": AskSelf, "кто ты?": AskSelf, "你是谁": AskSelf,
		"what can you do?": AskHelp, "help": AskHelp, "was kannst du?": AskHelp, "¿qué puedes hacer?": AskHelp, "что ты умеешь?": AskHelp, "何ができる？": AskHelp,
		"what time is it?": AskTime, "what's the date today": AskTime, "wie spät ist es?": AskTime, "quelle heure est-il ?": AskTime, "сколько времени": AskTime, "saat kaç": AskTime, "몇 시야?": AskTime,
		"i feel sad today": TellSad, "I'm so tired": TellSad, "mir geht es schlecht": TellSad, "je suis triste": TellSad, "мне грустно": TellSad,
		"I'm really sad today": TellSad, "Ich bin heute so traurig": TellSad, "mir geht es heute gar nicht gut": NoChat, "mir gehts heute nicht gut": TellSad, "je suis un peu triste aujourd'hui": TellSad, "je suis vraiment très triste": TellSad,
		"hoy estoy muy triste": TellSad, "hoje estou muito triste": TellSad, "oggi sono molto triste": TellSad, "ik ben vandaag erg verdrietig": TellSad, "мне сегодня очень грустно": TellSad, "jest mi dzisiaj bardzo smutno": TellSad,
		"bugün çok mutsuzum": TellSad, "今日はとても悲しい": TellSad, "今天我很难过": TellSad, "오늘 너무 슬퍼": TellSad, "I am not so sad": NoChat, "heute ist so ein Tag": NoChat, "how sad is the film Up?": NoChat,
		"what's the time in Tokyo?": NoChat, "what day is it tomorrow?": NoChat, "뭐 할 수 있어?": AskHelp, "何ができますか？": AskHelp, "hoe laat is het?": AskTime, "o que você sabe fazer?": AskHelp,
		"what is the capital of France?": NoChat, "who won the cup yesterday?": NoChat, "when is game night": NoChat, "my dog is called Rex": NoChat,
		"hello, what is the population of Porto?": NoChat, "": NoChat,
	} {
		if got := ReadChat(message, []string{"Sage"}); got != want {
			t.Errorf("%q: %q, want %q", message, got, want)
		}
	}
}

func TestClock(t *testing.T) {
	now := time.Date(2026, 11, 27, 22, 30, 0, 0, time.UTC) // a Friday
	for message, want := range map[string]string{
		"what time is it in los angeles": "27 14:30 PST", "what time is it in Paris?": "27 23:30 CET", "what time is it in tokyo": "28 07:30 JST", "what's the time in New York?": "27 17:30 EST", "what time is it now in São Paulo?": "27 19:30 -03", "wie spät ist es in Berlin?": "27 23:30 CET",
		"what day is it tomorrow?": "28 day", "what day is it in 3 days?": "30 day", "what day is it tomorrow in Tokyo": "29 day", "what day was it yesterday?": "26 day", "welcher Tag ist morgen?": "28 day",
		"what time is it in Nowhereville?": "", "what time does the shop close": "", "what time is it": "", "what time does the train to Berlin leave tomorrow?": "",
		"what day is it next month": "", "how are you": "", "": "",
	} {
		at, isDay, ok := Clock(message, []string{"Sage"}, now)
		got := ""
		if ok && isDay {
			got = at.Format("02") + " day"
		} else if ok {
			got = at.Format("02 15:04 MST")
		}
		if got != want {
			t.Errorf("%q: %q, want %q", message, got, want)
		}
	}
}
