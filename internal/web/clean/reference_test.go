package clean

import (
	"slices"
	"strings"
	"testing"
)

func TestReferenceAt(t *testing.T) {
	for _, tt := range []struct {
		in      string
		numbers []int
	}{
		{"[1]", []int{1}}, {"[57]", []int{57}}, {"[ 1 ]", []int{1}}, {"[^1, ^2]", []int{1, 2}}, {"[1–3]", []int{1, 2, 3}}, {"[3-1]", []int{1, 2, 3}},
		{"[1?]", []int{1}}, {"［1］", []int{1}}, {"［１２］", []int{12}}, {"【1】", []int{1}}, {"〔2〕", []int{2}}, {"[source 1]", []int{1}}, {"[Sources: 1 and 2]", []int{1, 2}},
		{"[doc 7]", []int{7}}, {"[web:7]", []int{7}}, {"[p. 7]", []int{7}}, {"[1 7]", []int{1, 7}}, {"[7/8]", []int{7, 8}}, {"[7 to 8]", []int{7, 8}}, {"［１？］", []int{1}}, {"[٧]", []int{7}}, {"[१२]", []int{12}},
		{"[#1]", []int{1}}, {"[**1**]", []int{1}}, {`[1\]`, []int{1}}, {"[`1`]", []int{1}}, {"[1-999]", []int{1}}, {"[01]", []int{1}}, {"[100]", []int{100}},
		{"❲7❳", []int{7}}, {"⁅7⁆", []int{7}}, {"⦋1, 2⦌", []int{1, 2}}, {"〘7〙", []int{7}}, {"⟨7⟩", []int{7}}, {"﹝7﹞", []int{7}}, {"[7a]", []int{7}}, {"[7a, 8b]", []int{7, 8}},
	} {
		if end, got := ReferenceAt("m"+tt.in+" x", 1); end != 1+len(tt.in) || !slices.Equal(got, tt.numbers) {
			t.Errorf("%s: to %d, %v", tt.in, end, got)
		}
	}
	for _, foreign := range []string{"【1†source】", "【4:0†a b】", "[1†]", "[3:1]", "[1†L3-L5]"} {
		if end, got := ReferenceAt(foreign, 0); end != len(foreign) || got != nil {
			t.Errorf("%s: to %d, %v", foreign, end, got)
		}
	}
	for _, none := range []string{"[0, 1]", "[2024]", "[a]", "[]", "[x 1]", "[1", "(1)", "[Part 2]", "[1, 2024]", "[１２３４]", "1]", "[3D]", "[7ab]", "[7x]"} {
		if end, got := ReferenceAt(none, 0); end != 0 {
			t.Errorf("%s: to %d, %v", none, end, got)
		}
	}
	if end, _ := ReferenceAt("the range [3, 9]", 10); end != 0 {
		t.Errorf("a range was read as references")
	}
}

func TestUnreferenced(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"It is 1,280 metres long.[12][a] It opened[1?] in 1937 [3].", "It is 1,280 metres long. It opened in 1937."},
		{"So [2] it is, 【3】, ［４］.", "So it is,,."},
		{"He was [a] great man of [2024], x in [0, 1].", "He was [a] great man of [2024], x in [0, 1]."},
		{"forged [[1]2] and [[[1]1]1]", "forged and"},
		{"no brackets", "no brackets"},
	} {
		if got := Unreferenced(tt.in); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.in, got, tt.want)
		}
	}
}

func FuzzUnreferenced(f *testing.F) {
	for _, s := range []string{"[1]", "[[1]1]", "【1†x】[a]", "x [source 1 and 2].", "［１］"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Unreferenced(s)
		for i := range got {
			if end, _ := ReferenceAt(got, i); end > 0 {
				t.Fatalf("%q keeps %q", s, got[i:end])
			}
		}
		if len(got) > len(s) || strings.Count(got, "[") > strings.Count(s, "[") {
			t.Fatalf("%q grew to %q", s, got)
		}
	})
}

// TestNewSeal checks that no text keeps a seal from being made, and that none of its marks is left.
func TestNewSeal(t *testing.T) {
	text := "words"
	for r := rune(0xE000); r <= 0xF8FF; r++ {
		text += string(r)
	}
	for range 100 {
		s := NewSeal([]string{text})
		if s.Mark < firstMark || s.Mark >= firstMark+marks || len(s.Nonce) != 16 || s.Line(text) != string(s.Mark)+"words" {
			t.Fatalf("%+v: %q", s, s.Line(text))
		}
	}
}
