package question

import "testing"

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
		"what's the time in Tokyo?": NoChat, "what day is it tomorrow?": NoChat, "뭐 할 수 있어?": AskHelp, "何ができますか？": AskHelp, "hoe laat is het?": AskTime, "o que você sabe fazer?": AskHelp,
		"what is the capital of France?": NoChat, "who won the cup yesterday?": NoChat, "when is game night": NoChat, "my dog is called Rex": NoChat,
		"hello, what is the population of Porto?": NoChat, "": NoChat,
	} {
		if got := ReadChat(message, []string{"Sage"}); got != want {
			t.Errorf("%q: %q, want %q", message, got, want)
		}
	}
}
