package seal

import "testing"

func TestSealIsInNoText(t *testing.T) {
	text := "words"
	for r := rune(0xE000); r < 0xE03F; r++ { // all marks but one
		text += string(r)
	}
	for range 20 {
		s := New([]string{text})
		if s.Mark != 0xE03F || len(s.Nonce) != 16 || s.in([]string{text}) {
			t.Fatalf("%+v", s)
		}
	}
}
