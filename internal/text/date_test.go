package text

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// datesOf returns the dates of a text without positions, and the rest of the text.
func datesOf(s string) (found []Date, rest string) {
	spans, rest := Dates(s)
	for _, d := range spans {
		found = append(found, d.Date)
	}
	return found, rest
}

func TestDates(t *testing.T) {
	want := Date{2020, 12, 8}
	for _, in := range []string{"2020-12-08", "2020/12/8", "8 December 2020", "8th of December 2020", "8 Dec. 2020", "8 December of 2020", "December 8, 2020", "Dec. 8th, 2020",
		"8. Dezember 2020", "8 de diciembre de 2020", "le 8 décembre 2020", "2020年12月8日", "8 декабря 2020"} {
		found, rest := datesOf("on " + in + " it")
		if len(found) != 1 || found[0] != want || strings.ContainsAny(rest, "0123456789") {
			t.Errorf("%q: %v, rest %q", in, found, rest)
		}
	}
	for in, want := range map[string]string{
		"page 12 of 30, chapter 2020":                  "[]",
		"in May 2021 and on May 3":                     "[{2021 5 0} {0 5 3}]",
		"December 2020, 3 may":                         "[{2020 12 0} {0 5 3}]",
		"March 3 April 2020":                           "[{2020 4 3}]",
		"version 12 May 31, 2020":                      "[{2020 5 31}]",
		"May 2020-12-08":                               "[{2020 12 8}]",
		"he may 3 times, 31.12, 2020-13-01, 8Dec 2020": "[{0 5 3}]",
		"20 May2020年12月8日2020 20 (12)":                 "[]",
		"May 2019–June 2020":                           "[{2019 5 0} {2020 6 0}]",
	} {
		if found, _ := datesOf(in); fmt.Sprint(found) != want {
			t.Errorf("%q: %v, want %s", in, found, want)
		}
	}
}

// Any text can be parsed, the dates found are valid, and the rest of the text holds no dates.
func FuzzDates(f *testing.F) {
	for _, s := range []string{"8th of December, 2020", "Dec. 8th, 2020 May", "2020年12月8日", "3 августа 1999", "2020-12-08/9", "March 3 April 2020"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		found, rest := datesOf(s)
		for _, d := range found {
			if d.Month < 1 || d.Month > 12 || d.Day < 0 || d.Day > 31 || d.Year == 0 && d.Day == 0 || d.Year != 0 && (d.Year < 1000 || d.Year > 2999) {
				t.Errorf("%q: %v is not a date", s, d)
			}
		}
		if utf8.ValidString(s) && !utf8.ValidString(rest) {
			t.Errorf("%q: a character is cut: %q", s, rest)
		}
		if again, _ := datesOf(rest); slices.ContainsFunc(again, func(d Date) bool { return !slices.Contains(found, d) }) && strings.Count(rest, ";") == len(found) {
			t.Errorf("%q: %v in what was left, %q", s, again, rest)
		}
	})
}
