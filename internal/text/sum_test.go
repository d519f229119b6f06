package text

import "testing"

func TestSum(t *testing.T) {
	for message, want := range map[string]string{
		"what is 12*7+3": "87", "17% of 240": "40.8", "(12 + 3) × 4?": "60", "2^10": "1024", "what's 10 divided by 4": "2.5", "-3 + 5": "2", "2^-2": "0.25",
		"1,000 + 1": "1001", "1,5 + 1": "2.5", "what is 1/3": "0.333333", "1/3": "", "what is 5 squared?": "25", "7 plus 8": "15",
		"1/0": "", "2^99999": "", "what is 42": "", "who won in 2024?": "", "24/7 support": "", "((((1": "", "9^9^9": "", "call me at 5": "", "": "", "$5 + 3 beers": "",
		"my number is 555-1234": "", "we are open 24/7": "", "what happened on 2024-11-24?": "", "we won 3-2": "", "battery at 20%": "", "555-1234": "", "24/7": "", "20%": "",
		"1.500,50 + 1": "1501.5", "1/10000000 * 1": "0.0000001", "12 mal 7": "84", "was ist 12 mal 7?": "84", "combien font 12 fois 7 ?": "84", "сколько будет 12 плюс 7": "19",
		"12 çarpı 7 kaç eder?": "84", "12×7は？": "84", "12かける7はいくつ？": "84", "12 곱하기 7은?": "84", "12乘以7等于多少？": "84", "ile to 12 razy 7?": "84",
		"20% von 50": "10", "1 + 1 is my favourite sum": "", "add 5 + 3 apples": "",
	} {
		if got, ok := Sum(message); got != want || ok != (want != "") {
			t.Errorf("%q: %q, want %q", message, got, want)
		}
	}
}

func TestConversion(t *testing.T) {
	for message, want := range map[string]string{
		"5 miles in km": "5 mi = 8.04672 km", "how many ounces in a kilo": "1 kg = 35.273962 oz", "20c to f": "20 °C = 68 °F", "convert 100 fahrenheit to celsius": "100 °F = 37.777778 °C",
		"wie viele minuten hat ein tag": "1 d = 1440 min", "3.5 kg in lbs?": "3.5 kg = 7.716179 lb", "0 k to c": "0 K = -273.15 °C",
		"5 miles": "", "5 miles in kg": "", "how are you": "", "10 km run in march": "", "": "",
		"how many metres in 3 miles?": "3 mi = 4828.032 m", "the 5 km race is 3 miles away": "", "5ft 3in in cm": "", "5 meilen in kilometern": "5 mi = 8.04672 km", "8 bits in bytes": "8 bit = 1 B",
		"5 mijl in km": "5 mi = 8.04672 km", "5 mil w km": "5 mi = 8.04672 km", "5 milhas em km": "5 mi = 8.04672 km", "5 mil kaç km?": "5 mi = 8.04672 km",
		"100 c": "", "5 mil km en millas": "",
	} {
		if got, ok := Conversion(message); got != want || ok != (want != "") {
			t.Errorf("%q: %q, want %q", message, got, want)
		}
	}
}

func FuzzSum(f *testing.F) {
	f.Add("2^64^(1/2) - 3%")
	f.Fuzz(func(t *testing.T, s string) {
		Sum(s)
		Conversion(s)
	})
}
