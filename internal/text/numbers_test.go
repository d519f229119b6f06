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
			t.Errorf("Numbers(%q) = %q, want %q", in, got, want)
		}
	}
}
