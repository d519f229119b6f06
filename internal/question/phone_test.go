package question

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestPhones(t *testing.T) {
	for _, number := range []string{
		"+49 170 1234567", "+49 (0)170 123 45 67", "+1 (212) 555-0123", "+1-212-555-0123", "+12125550123", "0049 170 1234567", "+4915112345678", "+33 6 12 34 56 78", "＋49 170 1234567",
		"(212) 555-0123", "212-555-0123", "212.555.0123", "1.212.555.0123", "1-800-555-0199", "2125550123", "1 212 555 0123", "212–555–0123",
		"030 1234567", "030/1234567", "0170-1234567", "030 12345", "01 23 45 67 89", "01.23.45.67.89", "0123456789", "06-12345678", "0470 12 34 56", "612 345 678", "612345678901", "020 7946 0958",
		"090-1234-5678", "03-1234-5678", "8 912 345-67-89", "4111 1111 1111 1111", "123-45-6789", "0 1 7 0 1 2 3 4 5 6 7", "555,123,4567", "555_123_4567", "٠٣٠١٢٣٤٥٦٧٨٩",
	} {
		for _, frame := range []string{"who calls from % at night", "%", "what is %?", "in 2020 who had (%)", "%, and why"} {
			text := strings.Replace(frame, "%", number, 1)
			got, kinds := scrub(text, Names{})
			if strings.ContainsAny(strings.Replace(got, "2020", "", 1), "0123456789") || !slices.Contains(kinds, "phone") {
				t.Errorf("%q: %q left, %v", text, got, kinds)
			}
		}
	}
	for _, text := range []string{
		"call 555-0123", "text me at 12 34 56 78", "is his number 9123 4567", "meine Nummer ist 123 4567", "tel: 765432", "llama al 600 123",
		"whose number is (555) 0199", "who calls from 555-0123", "what area is 555 1234", "who owns the number 12 34 56 78",
	} {
		if got, kinds := scrub(text, Names{}); strings.ContainsAny(got, "0123456789") || len(kinds) == 0 {
			t.Errorf("%q: %q left", text, got)
		}
	}
	for _, text := range []string{
		"elections 2018 2022 2026", "the wars 1914-1918 1939-1945", "season 2018-2022 2026", "2018–2022, 2023–2026", "seasons 1998/99 1999/00 2000/01", "euro 2020 2021 24 teams",
		"between 2026-11-20 and 2026-11-21", "2026-11-20 2026-11-21 2026-11-22", "20.11.2026 21.11.2026", "20/11/2026 - 21/11/2026", "20261120 20261121", "20.11.2026 bis 3. 12. 2027",
		"final 21-19 17-21 21-17", "6-4 6-3 7-5 won", "105-98 110-99 120-100", "python 3.12.1 3.13.0", "windows 10.0.19045.3803", "chrome 131.0.6778.204", "is 192.168.100.200 private",
		"isbn 0-306-40615-2", "978-3-16-148410-0", "9780306406157", "1 200 000 000 people", "1,234,567,890 people", "10, 20, 30, 40, 50, 60, 70", "600 000 000 dollars", "what is 10000000000", "pi 3.14159265358979", "52.5200081 degrees",
		"is 299792458 right", "rtx 3080 4090 benchmark", "C++20 2023 2026", "what comes after 1 2 4 7 11 16 22", "prime number 1299709", "james bond 007 2021", "covid 19 2020 2021", "the number 142857",
		"call of duty 2019 2022", "best phones 2018 2022 2026",
	} {
		if got, kinds := scrub(text, Names{}); got != text || len(kinds) > 0 {
			t.Errorf("%q: %q, %v", text, got, kinds)
		}
	}
}

// TestPhonesOfAllShapes checks that numbers in the format of telephone numbers do not leave, and that years and dates
// do.
func TestPhonesOfAllShapes(t *testing.T) {
	shapes := []string{"+dd ddd ddddddd", "+d (ddd) ddd-dddd", "+ddd d dddd dddd", "(ddd) ddd-dddd", "0dd zdddddd", "0zdd-ddddddd", "0z dd dd dd dd", "0z.dd.dd.dd.dd", "0zdd/dddddd", "0ddd ddd ddd", "0dddddddddd", "00dd ddd ddddddd", "zdd-zdd-dddd", "d zdd zdd-dddd"}
	digit := rapid.RuneFrom([]rune("0123456789"))
	rapid.Check(t, func(t *rapid.T) {
		fill := func(shape string) string {
			return strings.Map(func(r rune) rune {
				switch r {
				case 'd':
					return digit.Draw(t, "d")
				case 'z':
					return rapid.RuneFrom([]rune("23456789")).Draw(t, "z")
				}
				return r
			}, shape)
		}
		number := fill(rapid.SampledFrom(shapes).Draw(t, "shape"))
		text := rapid.SampledFrom([]string{"who is %", "does % work", "%: whose?", "from % since"}).Draw(t, "frame")
		if got, _ := scrub(strings.Replace(text, "%", number, 1), Names{}); strings.ContainsAny(got, "0123456789") {
			t.Fatalf("%q of %q", got, number)
		}
		years := []string{}
		for range rapid.IntRange(1, 4).Draw(t, "years") {
			years = append(years, fill("20dd"))
		}
		dates := strings.Join(years, rapid.SampledFrom([]string{" ", "-", "–", "/", " - "}).Draw(t, "between"))
		if got, kinds := scrub("who won in "+dates, Names{}); got != "who won in "+dates {
			t.Fatalf("%q of %q: %v", got, dates, kinds)
		}
	})
}
