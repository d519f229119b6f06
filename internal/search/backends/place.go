package backends

import (
	"slices"
	"strings"
	"unicode"
)

// placeWords are the words that questions about the weather are made of, apart from the place, in the large languages
// that set spaces between words.
type placeWords struct {
	before  []string // prepositions that a place follows
	article []string // may begin a place's name: "La Paz", "The Hague"
	weather []string // words for weather; a place ends before them
	when    []string // words for time; a place ends before them
	filler  []string // the rest of the question
}

func weatherWords() placeWords {
	return placeWords{
		before: strings.Fields("in at near for around on over during im bei für am à au aux pour dans en de para em no na nos nas ad " +
			"nel nella a op voor w we в во на у ب في का की के में"),
		article: strings.Fields("the der die das le la les el los las il o a"),
		weather: strings.Fields("weather forecast temperature temperatures rain rainy raining snow snowing sunny cloudy windy humid " +
			"hot cold warm cool humidity wind storm umbrella jacket wetter wettervorhersage vorhersage temperatur regen regnet regnen " +
			"schnee schneit schneien warm kalt météo meteo temps température pluie pleut pleuvoir neige froid chaud tiempo clima " +
			"pronóstico temperatura lluvia llueve llover nieve frío calor tempo previsão chuva chove previsioni piove weer regent " +
			"pogoda pogodę погода погоду погоды погоде прогноз температура дождь дождик снег холодно жарко тепло ветер дощ сніг " +
			"الطقس طقس الجو درجة الحرارة حرارة मौसम तापमान बारिश"),
		when: strings.Fields("today tonight tomorrow now right currently this next morning afternoon evening night week weekend monday " +
			"tuesday wednesday thursday friday saturday sunday please like or heute morgen übermorgen jetzt gerade aktuell nächste diese " +
			"dieses wochenende montag dienstag mittwoch donnerstag freitag samstag sonntag bitte oder aujourd'hui aujourd’hui demain " +
			"maintenant ce cette semaine week-end actuellement lundi mardi mercredi jeudi vendredi samedi dimanche ou hoy mañana ahora " +
			"este esta semana fin lunes martes miércoles jueves viernes sábado domingo hoje amanhã agora oggi domani adesso vandaag nu " +
			"dziś jutro teraz сегодня завтра послезавтра сейчас утром днем днём вечером ночью неделю неделе выходные выходных " +
			"понедельник вторник среду четверг пятницу субботу воскресенье сьогодні зараз اليوم غدا غداً الآن आज कल अभी"),
		filler: strings.Fields("what what's what’s whats how how's how’s hows is are it will be going to an get give tell me my your our " +
			"here area city show check do does i need should there outside wie ist wird es sein gibt quel quelle est fait va t-il fait-il " +
			"il y a qué que cuál hace hará va como cómo está qual é com'è che fa hoe het wordt and jaka jest какая какой какое будет " +
			"ли что как там сколько градусов скажи пожалуйста идет идёт яка який ما كيف هي حالة هل कैसा है कैसी रहेगा होगी क्या"),
	}
}

// placeIn finds the place that a question about the weather asks about: "Will it rain in New York tonight?" is about
// "New York", and so is "New York weather". Without one it returns "".
func placeIn(text string) string {
	known := weatherWords()
	tokens := strings.Fields(cjkWeather(text))
	for i, token := range tokens {
		// A name may hold a preposition too ("Rio de Janeiro"): one that leads to a name follows a common word.
		if !slices.Contains(known.before, fold(token)) || i > 0 && !known.common(fold(tokens[i-1])) {
			continue
		}
		if found := known.run(tokens[i+1:]); found != "" {
			return found
		}
	}
	// No preposition leads to one: what is left when the words of the question go.
	for len(tokens) > 0 && known.common(fold(tokens[0])) {
		if slices.Contains(known.article, fold(tokens[0])) && len(tokens) > 1 && !known.common(fold(tokens[1])) {
			break
		}
		tokens = tokens[1:]
	}
	return known.run(tokens)
}

// common is whether a word is one of the question's and not of the place's.
func (p placeWords) common(word string) bool {
	return word == "" || p.ends(word) || slices.Contains(p.filler, word) || slices.Contains(p.before, word) || slices.Contains(p.article, word)
}

// ends is whether a place's name is over before the word.
func (p placeWords) ends(word string) bool {
	return slices.Contains(p.when, word) || slices.Contains(p.weather, word)
}

// maxPlaceWords is as many words as a place's name has: "Santa Cruz de la Sierra, Bolivia" has six.
const maxPlaceWords = 6

// run takes words up to the first that a place cannot have; small words inside a name stay.
func (p placeWords) run(tokens []string) string {
	var name []string
	for _, token := range tokens {
		word := fold(token)
		if p.ends(word) || len(name) == maxPlaceWords || len(name) == 0 && slices.Contains(p.filler, word) {
			break
		}
		name = append(name, token)
		if strings.HasSuffix(token, "?") || strings.HasSuffix(token, "!") {
			break
		}
	}
	for len(name) > 0 { // "Berlin for" was on its way to "for tomorrow"
		if last := fold(name[len(name)-1]); last != "" && !slices.Contains(p.before, last) && !slices.Contains(p.article, last) {
			break
		}
		name = name[:len(name)-1]
	}
	return strings.TrimFunc(strings.Join(name, " "), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsPunct(r) })
}

// fold is a word as the lists have it.
func fold(token string) string {
	return strings.ToLower(strings.TrimFunc(token, func(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }))
}

// cjkWeather sets the words for weather and time apart in languages that write without spaces, or without one before a
// particle.
func cjkWeather(text string) string {
	const words = "天気予報 お天気 天気 天気预报 天气预报 天气 天氣預報 天氣 気温 气温 氣溫 温度 溫度 多少度 雨が降りますか 雨が降る 雪が降る 会下雨吗 会下雨 " +
		"下雨 下雪 の 的 は 今日 明日 明後日 今週末 週末 今晚 今夜 今天 明天 后天 後天 周末 現在 现在 を教えて 教えて 怎么样 怎麼樣 如何 どうですか どう 吗 ？ 。 " +
		"날씨 오늘 내일 모레 지금 주말 기온 어때요 어때"
	pairs := []string{"의 날씨", " "}
	for word := range strings.FieldsSeq(words) {
		pairs = append(pairs, word, " ")
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// forecastDays is how many days a forecast should have, today included: today and three more, or enough for a weekday or
// a weekend if the question has one.
func forecastDays(text string) int {
	const week = "week weekend weekday monday tuesday wednesday thursday friday saturday sunday woche wochenende montag dienstag " +
		"mittwoch donnerstag freitag samstag sonntag semaine week-end lundi mardi mercredi jeudi vendredi samedi dimanche semana " +
		"lunes martes miércoles jueves viernes sábado domingo неделю неделе выходные выходных понедельник вторник среду четверг " +
		"пятницу субботу воскресенье"
	const unspaced = "週末 周末 今週 来週 这周 下周 주말 이번주 曜日 星期"
	for word := range strings.FieldsSeq(text) {
		if slices.Contains(strings.Fields(week), fold(word)) {
			return 7
		}
	}
	for part := range strings.FieldsSeq(unspaced) {
		if strings.Contains(text, part) {
			return 7
		}
	}
	return 4
}
