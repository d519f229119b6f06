package charset

import (
	"strings"
	"testing"

	"golang.org/x/net/html/charset"
)

func TestDetect(t *testing.T) {
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
		if got := Detect([]byte(test.body), test.contentType, isHTML); got != test.want {
			t.Errorf("Detect(%.80q, %q, %v) = %s, want %s", test.body, test.contentType, isHTML, got, test.want)
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
		if got, err := Decode([]byte(body), "text/html", true); err != nil || string(got) != page {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
