package text

import (
	"strings"
	"testing"
)

func TestNumbers(t *testing.T) {
	for in, want := range map[string]string{
		"1,234": "1234", "1.234.567,50": "1234567.5", "1 234 567": "1234567", "3.14": "3.14", "3,14": "3.14", "0.500": "0.5", "007": "7",
		"12:30": "12:30", "10’000": "10000", "٣٤٥": "345", "2019 2020": "2019 2020", "8,849": "8849",
	} {
		if got := strings.Join(Numbers(in), " "); got != want {
			t.Errorf("numbersIn(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestSplitSentences(t *testing.T) {
	got := Sentences("Dr. Watson met J. R. Smith in St. Louis. He paid 3.5 dollars! \"Why?\" he asked.\n- A point\n東京は大きい。人が多い。")
	want := []string{"Dr. Watson met J. R. Smith in St. Louis.", "He paid 3.5 dollars!", `"Why?" he asked.`, "A point", "東京は大きい。", "人が多い。"}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("got %q", got)
	}
}
