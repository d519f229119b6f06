package backend

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"familiar/internal/search"
)

func TestPlaceIn(t *testing.T) {
	for text, want := range map[string]string{
		"weather in Berlin tomorrow?": "Berlin",
		"Wetter in München":           "München",
		"météo à Paris":               "Paris",
		"tiempo en Madrid":            "Madrid",
		"what's the weather like in San Francisco, California?": "San Francisco, California",
		"Will it rain in New York this weekend?":                "New York",
		"New York weather":                                      "New York",
		"weather Tokyo":                                         "Tokyo",
		"how cold is it in Oslo right now":                      "Oslo",
		"forecast for tomorrow in Oslo":                         "Oslo",
		"weather in Berlin for tomorrow":                        "Berlin",
		"Rio de Janeiro weather":                                "Rio de Janeiro",
		"Tiempo en Palma de Mallorca mañana":                    "Palma de Mallorca",
		"¿Qué tiempo hace en Sevilla?":                          "Sevilla",
		"Wird es morgen in Wien regnen?":                        "Wien",
		"Wie ist das Wetter in der Schweiz heute?":              "der Schweiz",
		"Frankfurt am Main Wetter":                              "Frankfurt am Main",
		"Wetter in Berlin am Montag":                            "Berlin",
		"La Paz weather":                                        "La Paz",
		"Quel temps fait-il à Le Havre demain ?":                "Le Havre",
		"is it raining in St. John's?":                          "St. John's",
		"Che tempo fa a Roma domani?":                           "Roma",
		"東京の天気は？":                                               "東京",
		"北京天气怎么样":                                               "北京",
		"東京の明日の天気を教えて":                                          "東京",
		"今治の天気":                                                 "今治",
		"上海明天会下雨吗？":                                             "上海",
		"서울의 날씨 어때?":                                            "서울",
		"погода в Москве":                                       "Москве",
		"Какая погода будет завтра в Санкт-Петербурге?": "Санкт-Петербурге",
		"погода на завтра в Казани":                     "Казани",
		"Киев погода": "Киев",
		"сколько градусов на Камчатке сейчас": "Камчатке",
		"погода": "",
		"天気":     "",
		"الطقس في القاهرة اليوم":        "القاهرة",
		"दिल्ली का मौसम कैसा है":        "दिल्ली",
		"what's the weather like?":      "",
		"weather":                       "",
		"":                              "",
		"do I need an umbrella today":   "",
		"how is the weather in my area": "",
		"is it hot in here":             "",
		"???":                           "",
		"weather in Llanfairpwllgwyngyll and a b c d e f g h i j": "Llanfairpwllgwyngyll and a b c d",
	} {
		if got := placeIn(text); got != want {
			t.Errorf("placeIn(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestTopic(t *testing.T) {
	for _, test := range []struct{ language, text, want string }{
		{"en", "who is Ada Lovelace", "Ada Lovelace"},
		{"", "What is the Eiffel Tower?", "Eiffel Tower"},
		{"en-US", "tell me about the Treaty of Westphalia", "Treaty of Westphalia"},
		{"en", "define photosynthesis!", "photosynthesis"},
		{"en", "Die Hard", "Die Hard"},
		{"en", "The Who", "The Who"},
		{"en", "who is it", "it"},
		{"en", "who is the", "who is the"},
		{"en", "Mercury (planet)", "Mercury (planet)"},
		{"de", "Was ist die Zugspitze?", "Zugspitze"},
		{"de", "Die Toten Hosen", "Die Toten Hosen"},
		{"fr", "Qui est Marie Curie ?", "Marie Curie"},
		{"fr", "Qu'est-ce que la photosynthèse ?", "photosynthèse"},
		{"es", "¿Quién fue Cervantes?", "Cervantes"},
		{"ja", "東京タワー", "東京タワー"},
		{"ja", "東京タワーとは何ですか？", "東京タワー"},
		{"en", "黑洞是什么？", "黑洞"},
		{"zh-TW", "什麼是黑洞", "黑洞"},
		{"ru", "Кто такой Пушкин?", "Пушкин"},
		{"en", "Что такое чёрная дыра?", "чёрная дыра"},
		{"ja", "とは", "とは"},
		{"en", "", ""},
	} {
		if got := topic(test.text, test.language); got != test.want {
			t.Errorf("topic(%q, %q) = %q, want %q", test.text, test.language, got, test.want)
		}
	}
}

func TestProblem(t *testing.T) {
	for text, want := range map[string]string{
		"How do I sort a slice?": "sort a slice", "how to": "how to", "sort a slice": "sort a slice", "Как отсортировать срез": "отсортировать срез",
		"what do people say about the Steam Deck": "the Steam Deck", "Wie kann ich die Heizung entlüften?": "die Heizung entlüften",
	} {
		if got := problem(search.Query{Text: text}); got != want {
			t.Errorf("problem(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestWithoutFields(t *testing.T) {
	for text, want := range map[string]string{
		"C++ templates": "C++ templates", "-x +y --z": "x y z", `"a b" OR user:me`: "a b or user me", "repo:a/b NOT c": "repo a b not c",
		"insource:/e.*/": "insource e.", "погода OR 天気": "погода or 天気", "node.js v1.2": "node.js v1.2", "a AND\x00B": "a and B", "---": "",
	} {
		if got := withoutFields(text); got != want {
			t.Errorf("withoutFields(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestUnmarkdown(t *testing.T) {
	for text, want := range map[string]string{
		"plain_name and 2 * 3 * 4":                                       "plain_name and 2 * 3 * 4",
		"**bold** and [a link](https://example.org/x) &amp; ![p](y.png)": "bold and a link & ",
		"# Title\n> > quoted\n- item\n---\n`code`":                       "Title\nquoted\nitem\n\ncode",
		"~~gone~~ __strong__ &#x200B;":                                   "gone __strong__ ",
		"__init__.py":                                                    "__init__.py",
		"[not](a link":                                                   "[not](a link",
	} {
		if got := unmarkdown(text); got != want {
			t.Errorf("unmarkdown(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestLanguageOf(t *testing.T) {
	for _, test := range []struct{ tag, text, want string }{
		{"en-GB", "Berlin", "en-GB"}, {"en", "погода в Москве", "ru"}, {"uk", "погода в Києві", "uk"}, {"", "東京の天気", "ja"}, {"zh-TW", "東京", "zh-TW"},
		{"en", "東京", "zh"}, {"ja-JP", "東京", "ja-JP"}, {"en", "новости о Google", "ru"}, {"de", "was heißt 東京", "de"}, {"en", "123 ?", "en"}, {"fr", "", "fr"},
	} {
		if got := languageOf(test.tag, test.text); got != test.want {
			t.Errorf("languageOf(%q, %q) = %q, want %q", test.tag, test.text, got, test.want)
		}
	}
}

func TestSpellings(t *testing.T) {
	for name, want := range map[string]string{
		"": "", "Berlin": "Berlin", "der Schweiz": "der Schweiz|Schweiz", "Москве": "Москве|Москва|Москв", "Казани": "Казани|Казань",
		"России": "России|Россия", "Ростове-на-Дону": "Ростове-на-Дону|Ростов-на-Дону", "東京": "東京", "Санкт-Петербурге": "Санкт-Петербурге|Санкт-Петербурга|Санкт-Петербург",
	} {
		if got := strings.Join(spellings(name), "|"); got != want {
			t.Errorf("spellings(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestPicture(t *testing.T) {
	const page = "https://user:word@example.org/a/b"
	for address, want := range map[string]string{
		"": "", "x.png": "https://example.org/a/x.png", "/x.png": "https://example.org/x.png", "//cdn.example.org/x": "https://cdn.example.org/x",
		"http://example.net/x?a=1": "http://example.net/x?a=1", "data:image/png;base64,AA": "", "javascript:alert(1)": "", "http://[bad": "", "file:///etc/passwd": "",
	} {
		if got := picture(absolute(address, page)); got != want {
			t.Errorf("%q is %q, want %q", address, got, want)
		}
	}
}

func TestUnmark(t *testing.T) {
	for text, want := range map[string]string{
		"plain & simple": "plain & simple",
		`the <span class="searchmatch">Go</span> &amp; more`: "the Go & more",
		"a < b and List<String>":                             "a < b and List<String>",
		"one<br/>two":                                        "one two",
		"&lt;script&gt;":                                     "<script>",
		"&amp;lt;":                                           "&lt;",
		"x<script>alert(1)</script>y":                        "xy",
		"open <b":                                            "open ",
	} {
		if got := unmark(text); got != want {
			t.Errorf("unmark(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestLine(t *testing.T) {
	for _, test := range []struct {
		text string
		max  int
		want string
	}{
		{" a \n\t b\x00\x1b[31mc ", 100, "a b [31mc"},
		{"äöü", 2, "äö"},
		{"ab cd", 3, "ab"},
		{"\xff\xfe", 5, ""},
		{"", 5, ""},
	} {
		if got := line(test.text, test.max); got != test.want {
			t.Errorf("line(%q, %d) = %q, want %q", test.text, test.max, got, test.want)
		}
	}
	if got := prose("a  b\n\n c\r\n", 100); got != "a b\nc" {
		t.Errorf("prose: %q", got)
	}
	if got := prose("abcdef\nghijkl\nmno", 9); got != "abcdef\ngh" {
		t.Errorf("prose cut: %q", got)
	}
}

func TestLocale(t *testing.T) {
	for tag, want := range map[string]string{
		"": "", "en": "en", "EN_gb": "en-GB", "zh-Hant-TW": "zh-TW", "de-1996": "de", "x": "", "../../etc": "", "e n": "", "évil": "", "en-US-x": "en-US",
	} {
		if got := languageTag(tag, ""); got != want {
			t.Errorf("languageTag(%q) = %q, want %q", tag, got, want)
		}
	}
}

// Whatever a message says, no word of the query is a command to SearXNG, by the rules of searx/query.py.
func FuzzWithoutCommands(f *testing.F) {
	for _, seed := range []string{"!!g x", "a !b :c <5", "!:!x", "\u2028!x", "\x1c!x", "?!", "<<5 <٣", "ok"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := withoutCommands(text)
		// Python splits at some control characters that Go does not count as space.
		for _, word := range strings.FieldsFunc(got, func(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }) {
			if strings.ContainsRune("!:?", []rune(word)[0]) || word[0] == '<' && len(word) > 1 && unicode.IsNumber([]rune(word)[1]) {
				t.Errorf("withoutCommands(%q) has the order %q", text, word)
			}
		}
		if again := withoutCommands(got); again != got {
			t.Errorf("withoutCommands is not a fixed point: %q, then %q", got, again)
		}
	})
}

// The readers of free text accept any input.
func FuzzText(f *testing.F) {
	f.Add("weather in Berlin?", 3)
	f.Add("who is <b>x</b> &amp; \xff y", 1)
	f.Fuzz(func(t *testing.T, text string, max int) {
		max = max&0xff + 1
		if p := placeIn(text); len(strings.Fields(p)) > maxPlaceWords {
			t.Errorf("placeIn(%q) = %q", text, p)
		}
		topic(text, "en")
		for _, s := range []string{line(unmark(text), max), prose(text, max)} {
			if !utf8.ValidString(s) || utf8.RuneCountInString(s) > max || strings.ContainsFunc(s, func(r rune) bool { return r != '\n' && unicode.IsControl(r) }) {
				t.Errorf("%q, at most %d: %q", text, max, s)
			}
		}
		if utf8.ValidString(text) && !utf8.ValidString(cutWords(text, max)) {
			t.Errorf("cutWords(%q, %d) cuts a character", text, max)
		}
	})
}

func TestEveryLanguageHasItsWiki(t *testing.T) {
	for tag, want := range map[string]string{"de-AT": "de", "nb": "no", "": "en", "tlh": "en", "evil.example": "en", "PT-br": "pt"} {
		if got := wikiOf(tag); got != want {
			t.Errorf("wikiOf(%q) = %q, want %q", tag, got, want)
		}
	}
}
