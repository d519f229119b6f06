package page

import (
	"bytes"
	"strings"
	"testing"

	"golang.org/x/net/html/charset"
)

func TestCharset(t *testing.T) {
	long := "<!-- " + strings.Repeat("x", 5_000) + " -->"
	tests := []struct{ body, contentType, want string }{
		{`<meta charset=koi8-r>`, "", "koi8-r"},
		{`<meta charset=koi8-r>`, "text/html; charset=utf-8", "utf-8"},
		{`<meta charset=koi8-r>`, "text/plain", "windows-1252"},
		{`<p title="<meta charset=koi8-r>"><meta charset=" ISO-8859-2 ">`, "", "iso-8859-2"},
		{`<meta content="text/html; charset='euc-jp'" http-equiv=Content-Type>`, "", "euc-jp"},
		{`<meta content="text/html; charset=euc-jp" name=Content-Type>`, "", "windows-1252"},
		{`<meta charset=nonsense><meta charset=big5>`, "", "big5"},
		{`<meta charset=utf-16le>`, "", "utf-8"},
		{`<meta charset=utf-7>`, "", "replacement"},
		{`<!-- <meta charset=koi8-r> --><metal charset=koi8-r></p charset=koi8-r><meta charset=big5`, "", "big5"},
		{`<meta charset="koi8-r`, "", "windows-1252"},
		{`<script><meta charset=koi8-r></script>`, "", "koi8-r"},
		{long + `<meta charset=koi8-r>`, "", "koi8-r"},
		{long + `<script>"<meta charset=big5>"</script><meta charset=koi8-r>`, "", "koi8-r"},
		{strings.Repeat(long, 14) + `<meta charset=koi8-r>`, "", "windows-1252"},
		{"\xEF\xBB\xBF<meta charset=koi8-r>", "text/html; charset=big5", "utf-8"},
	}
	for _, test := range tests {
		isHTML := test.contentType != "text/plain"
		if got := Charset([]byte(test.body), test.contentType, isHTML); got != test.want {
			t.Errorf("Charset(%.80q, %q, %v) = %s, want %s", test.body, test.contentType, isHTML, got, test.want)
		}
	}
}

func TestUndeclaredCharsets(t *testing.T) {
	for name, text := range map[string]string{
		"windows-1251": "Это обычный текст на русском языке, который не объявляет своей кодировки.",
		"koi8-r":       "Это обычный текст на русском языке, который не объявляет своей кодировки.",
		"shift_jis":    "これは文字コードを宣言していない普通の日本語の文章です。東京の天気は晴れです。",
		"euc-kr":       "이것은 인코딩을 선언하지 않은 평범한 한국어 문장입니다. 오늘 서울 날씨가 좋습니다.",
		"gbk":          "这是一个没有声明编码的普通中文页面，北京今天的天气很好。我们去公园吧。",
		"windows-1252": "Größere Städte – für Ärzte schöne Grüße aus München, in Österreich und der Schweiz.",
	} {
		encoding, _ := charset.Lookup(name)
		page := "<title>A page</title><p>" + text
		body, err := encoding.NewEncoder().String(page)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ToUTF8([]byte(body), "text/html", true); err != nil || string(got) != page {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// legacy holds texts in languages whose pages were once written in other encodings than UTF-8.
var legacy = []struct{ language, encodings, text string }{
	{"German", "windows-1252", "Die Leuchttürme an der Küste wurden früher von Wärtern bewohnt, die jede Nacht das Öl auffüllten. Heute übernehmen Geräte diese Aufgabe, und die Häuser stehen Gästen offen, die für ein paar Nächte die Stille suchen."},
	{"French", "windows-1252", "Le phare a été construit à la fin du siècle dernier par des maçons venus de la vallée voisine. Les gardiens y vivaient toute l'année, même pendant les tempêtes d'hiver, et la lumière n'a jamais été éteinte."},
	{"Spanish", "windows-1252", "La construcción del faro duró más de tres años y los niños del pueblo llevaban cada mañana el pan a los albañiles. Según cuentan los vecinos, la lámpara se veía también desde la otra orilla de la bahía."},
	{"Portuguese", "windows-1252", "A construção do farol demorou mais de três anos, e as crianças da aldeia levavam todas as manhãs o pão aos operários. Segundo contam os moradores, a lâmpada via-se também da outra margem, e não só em noites calmas."},
	{"Swedish", "windows-1252", "Fyren byggdes för över hundra år sedan av murare från den närmaste dalen. Vaktmästaren bodde där året om, även när stormarna var som svårast, och ljuset släcktes aldrig så länge någon fanns på ön."},
	{"Polish", "iso-8859-2 windows-1250", "Latarnię morską zbudowali przed stu laty murarze z pobliskiej doliny. Jej strażnik mieszkał tam przez cały rok, także wtedy, gdy sztormy były najgorsze, i światło nigdy nie zgasło, póki ktoś był na wyspie. Dziś można ją zwiedzać w każdą niedzielę."},
	{"Czech", "iso-8859-2 windows-1250", "Maják postavili před více než sto lety zedníci z nedalekého údolí. Jeho strážce tam žil po celý rok, i když byly bouře nejhorší, a světlo nikdy nezhaslo, dokud byl někdo na ostrově. Dnes ho můžete navštívit každou neděli."},
	{"Hungarian", "iso-8859-2 windows-1250", "A világítótornyot több mint száz évvel ezelőtt építették a közeli völgyből jött kőművesek. Az őre egész évben ott élt, akkor is, amikor a viharok a legrosszabbak voltak, és a fény soha nem aludt ki, amíg valaki a szigeten volt."},
	{"Russian", "windows-1251 koi8-r iso-8859-5", "Маяк построили более ста лет назад каменщики из соседней долины. Смотритель жил там круглый год, даже когда бури были особенно сильными, и свет никогда не гас, пока на острове кто-нибудь был. Сегодня его можно посетить каждое воскресенье."},
	{"Greek", "iso-8859-7 windows-1253", "Ο φάρος χτίστηκε πριν από εκατό χρόνια από τεχνίτες της διπλανής κοιλάδας. Ο φύλακας ζούσε εκεί όλο τον χρόνο, και το φως δεν έσβησε ποτέ όσο κάποιος ήταν στο νησί. Σήμερα μπορεί κανείς να τον επισκεφθεί κάθε Κυριακή."},
	{"Turkish", "windows-1254", "Deniz feneri yüz yıldan uzun bir süre önce yakındaki vadiden gelen taş ustaları tarafından yapıldı. Bekçisi bütün yıl orada yaşardı, fırtınaların en kötü olduğu günlerde bile ışık hiç sönmedi. Bugün her pazar günü gezilebiliyor."},
	{"Hebrew", "windows-1255 iso-8859-8", "המגדלור נבנה לפני יותר ממאה שנה על ידי בנאים מן העמק הסמוך. השומר גר שם כל השנה, גם כאשר הסערות היו קשות מאוד, והאור לא כבה אף פעם כל עוד היה מישהו על האי. היום אפשר לבקר בו בכל יום ראשון."},
	{"Arabic", "windows-1256 iso-8859-6", "بنيت المنارة قبل أكثر من مائة عام على يد البنائين من الوادي القريب. وكان الحارس يعيش هناك طوال السنة حتى في أسوأ العواصف، ولم ينطفئ الضوء أبدا ما دام هناك أحد في الجزيرة. واليوم يمكن زيارتها في كل يوم من أيام الأحد."},
	{"Japanese", "shift_jis euc-jp", "この灯台は百年以上前に近くの谷から来た石工たちによって建てられました。灯台守は一年中そこに住み、嵐がいちばんひどいときでも、島に人がいるかぎり明かりが消えることはありませんでした。今では毎週日曜日に見学することができます。"},
	{"Chinese, simplified", "gbk", "这座灯塔是一百多年前由附近山谷里的石匠们建造的。守塔人一年到头都住在那里,就是在风暴最大的时候,只要岛上还有人,灯光就从来没有熄灭过。现在每个星期天都可以去参观,从上面可以看到整个海湾。"},
	{"Chinese, traditional", "big5", "這座燈塔是一百多年前由附近山谷裡的石匠們建造的。守塔人一年到頭都住在那裡,就是在風暴最大的時候,只要島上還有人,燈光就從來沒有熄滅過。現在每個星期天都可以去參觀,從上面可以看到整個海灣。"},
	{"Korean", "euc-kr", "이 등대는 백 년도 더 전에 가까운 골짜기에서 온 석공들이 지었습니다. 등대지기는 일 년 내내 그곳에 살았고, 폭풍이 가장 심할 때에도 섬에 사람이 있는 한 불이 꺼진 적이 없었습니다. 지금은 일요일마다 둘러볼 수 있습니다."},
}

// TestGuess reads each text in each encoding without a declaration, as a page and as plain text.
func TestGuess(t *testing.T) {
	for _, c := range legacy {
		for name := range strings.FieldsSeq(c.encodings) {
			encoding, _ := charset.Lookup(name)
			bytes, err := encoding.NewEncoder().Bytes([]byte(c.text))
			if err != nil {
				t.Fatalf("%s in %s: %v", c.language, name, err)
			}
			page := append(append([]byte("<!doctype html><html><head><title>x</title><script>var a = 1;</script></head><body><div class=\"text\"><p>"), bytes...), "</p></div></body></html>"...)
			for _, d := range []struct {
				body   []byte
				kind   string
				isHTML bool
			}{{bytes, "text/plain", false}, {page, "text/html", true}} {
				got, err := ToUTF8(d.body, d.kind, d.isHTML)
				if err != nil || !strings.Contains(string(got), c.text) {
					t.Errorf("%s in %s as %s: taken for %s, %v", c.language, name, d.kind, guess(d.body), err)
				}
			}
		}
	}
}

// TestGuessIsStable guesses repeatedly. The library works in parallel, and its order of equal results varies.
func TestGuessIsStable(t *testing.T) {
	for _, text := range []string{"\xe9", "caf\xe9 \xe0 la carte", "\xc4\xd6\xdc", "\xa4\xa2\xa4\xa4", "\xf8\xe5\xe6", strings.Repeat("\xc3\x28", 40)} {
		want := guess([]byte(text))
		for range 100 {
			if got := guess([]byte(text)); got != want {
				t.Errorf("%q is %s and %s", text, got, want)
				break
			}
		}
	}
}

// FuzzGuess looks for bytes that break the library. It runs on its own goroutines, where a panic would end the program.
func FuzzGuess(f *testing.F) {
	for _, c := range legacy {
		for name := range strings.FieldsSeq(c.encodings) {
			encoding, _ := charset.Lookup(name)
			b, err := encoding.NewEncoder().Bytes([]byte(c.text))
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b)
		}
	}
	for _, s := range []string{"", "\x8f", "\x8e\xa1", "\x81\x30\x81", "\x81\x30\x81\x30", "\x1b$", "\x1b$)C\x0e\x0f", "\x00\x00\xfe\xff\x00", "\xff\xfe\x00\x00a",
		"\xef\xbb\xbf\xf0", "\xc3", "\xf0\x90", "\xa1"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		name := guess(b)
		if encoding, known := charset.Lookup(name); encoding == nil || known != name {
			t.Errorf("%q is not an encoding", name)
		}
		if again := guess(bytes.Clone(b)); again != name {
			t.Errorf("%s, then %s", name, again)
		}
	})
}
