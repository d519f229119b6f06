package memory

import (
	"testing"
	"time"
)

// A birthday is read in every language in which it can be told.
func TestBirthday(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 5, 3, 12, 0, 0, 0, time.UTC)
	for said, want := range map[string][2]int{
		"my birthday is on 3 May": {5, 3}, "My birthday is the 3rd of May, 1990": {5, 3}, "my birthday is May 3rd": {5, 3}, "my birthday's on 1990-05-03": {5, 3},
		"I was born on May 3, 1990 in Leeds": {5, 3}, "today is my birthday": {5, 3}, "it's my birthday tomorrow": {5, 4}, "my bday is 5/25": {5, 25}, "my birthday is 25/5": {5, 25},
		"May 3rd is my birthday": {5, 3}, "my birthday falls on 29 February": {2, 29}, "my date of birth is 3 May 1990": {5, 3},
		"I turn 30 tomorrow": {5, 4}, "I'm turning 30 on May 25": {5, 25}, "ich am 3. Mai Geburtstag habe": {5, 3}, "mein Geburtstag am 3. Mai ist": {5, 3}, "ich werde am 3. Mai 30 Jahre alt": {5, 3},
		"cumplo 30 años el 3 de mayo": {5, 3}, "j'aurai 30 ans le 3 mai": {5, 3}, "faço 30 anos amanhã": {5, 4}, "compio 30 anni il 3 maggio": {5, 3}, "ik op 3 mei jarig ben": {5, 3}, "ik word morgen 30": {5, 4},
		"мне исполнится 30 3 мая": {5, 3}, "私は明日30歳になります": {5, 4}, "kończę 30 lat 3 maja": {5, 3}, "doğum günümün 3 Mayıs olduğunu": {5, 3}, "我明天满30岁": {5, 4},
		"my 30th birthday is on 3 May": {5, 3}, "mein 30. Geburtstag ist am 3. Mai": {5, 3}, "my birthday is on the 3rd": {}, "mein Geburtstag ist am 3. Mai": {5, 3}, "ich habe am 3. Mai Geburtstag": {5, 3}, "mein Geburtstag ist der 3.5.": {5, 3}, "ich bin am 3.5.1990 geboren": {5, 3}, "am 3. Mai habe ich Geburtstag": {5, 3}, "ich habe heute Geburtstag": {5, 3},
		"mi cumpleaños es el 3 de mayo": {5, 3}, "cumplo años el 3 de mayo": {5, 3}, "nací el 3 de mayo de 1990": {5, 3}, "hoy es mi cumpleaños": {5, 3}, "mi cumple es el 3 de mayo": {5, 3},
		"mon anniversaire est le 3 mai": {5, 3}, "c'est mon anniversaire demain": {5, 4}, "je suis née le 3 mai 1990": {5, 3}, "je suis né le 3 mai": {5, 3}, "mon anniversaire tombe le 1er mai": {5, 1}, "mon anniv est le 3/5": {5, 3},
		"o meu aniversário é em 3 de maio": {5, 3}, "faço anos a 3 de maio": {5, 3}, "nasci em 3 de maio de 1990": {5, 3}, "faço aniversário dia 3 de maio": {5, 3}, "hoje é meu aniversário": {5, 3},
		"il mio compleanno è il 3 maggio": {5, 3}, "compio gli anni il 3 maggio": {5, 3}, "sono nato il 3 maggio 1990": {5, 3}, "oggi è il mio compleanno": {5, 3},
		"mijn verjaardag is op 3 mei": {5, 3}, "ik ben op 3 mei jarig": {5, 3}, "ik ben geboren op 3 mei 1990": {5, 3}, "ik ben vandaag jarig": {5, 3},
		"мой день рождения 3 мая": {5, 3}, "у меня день рождения 3 мая": {5, 3}, "я родилась 3 мая 1990 года": {5, 3}, "сегодня мой день рождения": {5, 3}, "день рождения у меня 3 мая": {5, 3},
		"私の誕生日は5月3日です": {5, 3}, "5月3日が私の誕生日です": {5, 3}, "私は5月3日生まれです": {5, 3}, "僕、明日は自分の誕生日": {5, 4}, "今日は私の誕生日です": {5, 3}, "私の誕生日は5/3です": {5, 3},
		"我的生日是5月3日": {5, 3}, "我生日是五月三号": {5, 3}, "我5月3号过生日": {5, 3}, "今天是我的生日": {5, 3}, "我是1990年5月3日出生的": {5, 3},
		"제 생일은 5월 3일이에요": {5, 3}, "내 생일은 오늘이야": {5, 3}, "저는 5월 3일에 태어났어요": {5, 3}, "오늘이 제 생일이에요": {5, 3},
		"mam urodziny 3 maja": {5, 3}, "moje urodziny są 3 maja": {5, 3}, "moje urodziny to 3 maj": {5, 3}, "urodziłam się 3 maja 1990": {5, 3}, "obchodzę urodziny 3 maja": {5, 3}, "dzisiaj mam urodziny": {5, 3}, "urodziny mam 3.05": {5, 3},
		"doğum günüm 3 Mayıs": {5, 3}, "DOĞUM GÜNÜM 3 KASIM": {11, 3}, "benim doğum günüm 3 Mayıs'ta": {5, 3}, "3 Mayıs'ta doğdum": {5, 3}, "doğum günüm mayısın 3'ü": {5, 3}, "bugün doğum günüm": {5, 3}, "3 Mayıs 1990 doğumluyum": {5, 3},

		"my birthday is 5/3": {}, "my birthday is between 3 May and 5 May": {}, "my birthday is soon": {}, "my birthday is not on 3 May": {}, "my sister's birthday is on 3 May": {}, "I met her on 3 May": {},
		"my birthday is on 31 February": {}, "my birthday party is on 3 May": {}, "when is my birthday? 3 May?": {}, "my birthday is in May": {}, "I was born on a Tuesday": {}, "my son was born on 3 May": {},
		"moja siostra ma urodziny 3 maja": {}, "kardeşimin doğum günü 3 Mayıs": {}, "moje urodziny nie są 3 maja": {}, "妹の誕生日は5月3日です": {}, "我妹妹的生日是5月3日": {}, "meine Schwester hat am 3. Mai Geburtstag": {},
		"я люблю день рождения, 3 мая гуляем": {}, "ich habe am 3. Mai einen Termin": {}, "私の妹の誕生日は5月3日です": {}, "mam 3 maja wizytę": {}, "remember that I was born": {}, "I turn on the heating on 3 May": {}, "j'ai 5 ans de retard depuis le 3 mai": {}, "completo 5 anos de casado em 3 de maio": {}, "my birthday is between 3.5 and 4.5": {},
		// A day of the week, and days in words.
		"my birthday is next Friday": {5, 8}, "my birthday is this Saturday": {5, 9}, "Saturday is my birthday": {5, 9},
		"my birthday is the first of May": {5, 1}, "my birthday is December the first": {12, 1}, "my birthday is the twenty-third of July": {7, 23},
		"my b-day's June 21": {6, 21}, "mein Geburtstag ist der erste Mai": {5, 1}, "ich habe am ersten Mai Geburtstag": {5, 1},
		"ich hab nächsten Freitag Geburtstag": {5, 8}, "am Samstag habe ich Geburtstag": {5, 9}, "mon anniversaire est le premier mai": {5, 1},
		"c'est mon anniversaire vendredi": {5, 8}, "mi cumpleaños es el primero de mayo": {5, 1}, "mi cumpleaños es el viernes": {5, 8},
		"faço aniversário no dia primeiro de maio": {5, 1}, "il mio compleanno è il primo maggio": {5, 1}, "il mio compleanno è venerdì": {5, 8},
		"ik ben vrijdag jarig": {5, 8}, "mam urodziny w piątek": {5, 8}, "mam urodziny pierwszego maja": {5, 1}, "мой день рождения первого мая": {5, 1},
		"у меня день рождения в пятницу": {5, 8}, "doğum günüm cuma günü": {5, 8}, "私の誕生日は金曜日です": {5, 8}, "我的生日是下周五": {5, 8},
		"my birthday is a sad day": {}, "is my birthday next Friday?": {}, "my birthday was last Friday": {}, "my birthday was on Friday": {},
		"I wish my birthday was the first of May": {}, "Ben's birthday is the first of May": {}, "the meeting is on my birthday, next Friday": {},
		"it's my birthday party on Friday": {}, "I was born on a Friday": {}, "my birthday is never on a Friday": {},
		"my birthday is next Friday or Saturday": {}, "il mio compleanno è stato venerdì": {}, "мой день рождения был в пятницу": {}, "私の誕生日は先週の金曜日でした": {},
		"我的生日是上周五": {}, "letzten Freitag hatte ich Geburtstag": {}, "moje urodziny były w piątek": {}, "mein Geburtstag war langweilig am ersten Tag": {},
	} {
		if got := birthday(said, noon); got.Month != want[0] || got.Day != want[1] {
			t.Errorf("%q: %v, want %v", said, got, want)
		}
	}
}
