package macro

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// macro is what one macro does: one of field, value, choose, apply, apply2 and trim.
type macro struct {
	field  string
	varies bool // its value is another one from turn to turn
	value  func(*Env) string
	choose func(x *expansion, c call, n int) int // of a list with n items
	apply  func(x *expansion, c call, argument string) string
	trim   bool

	apply2   func(x *expansion, first, rest string) string // of arguments with :: between
	variable bool                                          // it sets or gets a variable
}

// table is all macros, by name in small letters.
var table = func() map[string]macro {
	variables(plain)
	return plain
}()

// plain are those that are no variables.
var plain = map[string]macro{
	"char": {value: func(e *Env) string { return e.Char }}, "charifnotgroup": {value: func(e *Env) string { return e.Char }},
	"group": {value: func(e *Env) string { return e.Char }},
	"user":  {value: func(e *Env) string { return e.User }}, "bot": {value: func(e *Env) string { return e.Char }},
	"original": {value: func(e *Env) string { return e.Original }},

	"description": {field: "description"}, "personality": {field: "personality"}, "scenario": {field: "scenario"},
	"mesexamples": {field: "examples"}, "mesexamplesraw": {field: "examples"}, "charprompt": {field: "system"},
	"charinstruction": {field: "post_history"}, "charjailbreak": {field: "post_history"}, "chardepthprompt": {field: "depth"},
	"persona": {value: func(*Env) string { return "" }}, // that of the user, of which nothing is known

	"random": {varies: true, choose: func(x *expansion, c call, n int) int {
		return draw(n, "random", x.env.Turn, x.sum(), strconv.Itoa(c.at))
	}},
	"pick": {choose: func(x *expansion, c call, n int) int { return draw(n, "pick", x.env.Chat, x.sum(), strconv.Itoa(c.at)) }},
	"roll": {varies: true, apply: func(x *expansion, c call, a string) string {
		return roll(a, "roll", x.env.Turn, x.sum(), strconv.Itoa(c.at))
	}},

	"//": nothing(), "comment": nothing(), "noop": nothing(), "banned": nothing(),
	"hidden_key": {apply: func(x *expansion, _ call, a string) string {
		if x.env.Hidden {
			return a
		}
		return ""
	}},
	"outlet":  {apply: func(x *expansion, _ call, a string) string { return x.env.Outlets[strings.TrimSpace(a)] }},
	"newline": {value: func(*Env) string { return "\n" }}, "space": {value: func(*Env) string { return " " }}, "trim": {trim: true},
	"reverse": {apply: func(_ *expansion, _ call, a string) string {
		runes := []rune(a)
		slices.Reverse(runes)
		return string(runes)
	}},

	"time": clock("3:04 PM"), "date": clock("January 2, 2006"), "weekday": clock("Monday"), "isotime": clock("15:04"), "isodate": clock(time.DateOnly),
	"datetimeformat": {varies: true, apply: func(x *expansion, _ call, a string) string { return moment(x.env.Now, strings.TrimSpace(a)) }},
	"idleduration":   {varies: true, value: idle}, "idle_duration": {varies: true, value: idle},

	"input": {varies: true, value: func(e *Env) string { return e.Message }}, "lastmessage": {varies: true, value: func(e *Env) string { return e.LastMessage }},
	"lastusermessage": {varies: true, value: func(e *Env) string { return e.LastUserMessage }},
	"lastcharmessage": {varies: true, value: func(e *Env) string { return e.LastCharMessage }},
	"maxprompt":       {value: func(e *Env) string { return strconv.Itoa(e.Tokens) }}, "maxprompttokens": {value: func(e *Env) string { return strconv.Itoa(e.Tokens) }},
}

// Names lists all macros, in order.
func Names() (names []string) {
	for name := range table {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func nothing() macro { return macro{value: func(*Env) string { return "" }} }

func clock(layout string) macro {
	return macro{varies: true, value: func(e *Env) string { return e.Now.Format(layout) }}
}

// moments are the tokens of moment.js, longest first, with what Go calls them.
var moments = []struct{ token, layout string }{
	{"YYYY", "2006"}, {"MMMM", "January"}, {"dddd", "Monday"}, {"MMM", "Jan"}, {"ddd", "Mon"}, {"LLLL", "Monday, January 2, 2006 3:04 PM"}, {"LLL", "January 2, 2006 3:04 PM"},
	{"LTS", "3:04:05 PM"}, {"YY", "06"}, {"MM", "01"}, {"DD", "02"}, {"Do", ""}, {"HH", "15"}, {"hh", "03"}, {"mm", "04"}, {"ss", "05"}, {"ZZ", "-0700"}, {"LT", "3:04 PM"},
	{"LL", "January 2, 2006"}, {"L", "01/02/2006"}, {"M", "1"}, {"D", "2"}, {"H", ""}, {"h", "3"}, {"m", "4"}, {"s", "5"}, {"A", "PM"}, {"a", "pm"}, {"Z", "-07:00"}, {"X", ""},
}

// moment writes a time in a format of moment.js. Text in brackets stays.
func moment(at time.Time, format string) string {
	var b strings.Builder
	for format != "" {
		if text, rest, ok := strings.Cut(strings.TrimPrefix(format, "["), "]"); ok && format[0] == '[' {
			b.WriteString(text)
			format = rest
			continue
		}
		n := slices.IndexFunc(moments, func(m struct{ token, layout string }) bool { return strings.HasPrefix(format, m.token) })
		if n < 0 {
			b.WriteByte(format[0])
			format = format[1:]
			continue
		}
		switch m := moments[n]; m.token {
		case "Do":
			b.WriteString(ordinal(at.Day()))
		case "H":
			b.WriteString(strconv.Itoa(at.Hour()))
		case "X":
			b.WriteString(strconv.FormatInt(at.Unix(), 10))
		default:
			b.WriteString(at.Format(m.layout))
		}
		format = format[len(moments[n].token):]
	}
	return b.String()
}

func ordinal(n int) string {
	suffix := "th"
	if n/10 != 1 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return strconv.Itoa(n) + suffix
}

// idle says how long nobody wrote, as moment.js does.
func idle(e *Env) string {
	const day = 24 * time.Hour
	d := e.Idle
	round := func(unit time.Duration, one, many string) string {
		if n := int(d.Round(unit) / unit); n > 1 {
			return strconv.Itoa(n) + many
		}
		return one
	}
	switch {
	case d <= 0:
		return "just now"
	case d < 45*time.Second:
		return "a few seconds"
	case d < 45*time.Minute:
		return round(time.Minute, "a minute", " minutes")
	case d < 22*time.Hour:
		return round(time.Hour, "an hour", " hours")
	case d < 26*day:
		return round(day, "a day", " days")
	case d < 320*day:
		return round(30*day, "a month", " months")
	}
	return round(365*day, "a year", " years")
}
