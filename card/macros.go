package card

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// macro says what a macro does, by one of field, value, choose, apply, apply2, trim and branch.
type macro struct {
	varies   bool // its value changes from turn to turn
	variable bool // it sets or gets a variable
	people   bool // people choose its value
	encloses bool // it may enclose a part of the text, which is then its argument

	field  string // a text of the card
	value  func(*Macros) string
	choose func(x *expansion, c call, n int) int              // an item of a list of n
	apply  func(x *expansion, c call, argument string) string // of its expanded argument
	apply2 func(x *expansion, first, rest string) string      // of two arguments, separated by ::
	trim   bool                                               // remove the line breaks around it
	branch bool                                               // {{if …}}
}

// macros holds all macros by name, in lower case.
var macros = func() map[string]macro {
	all := maps.Clone(plainMacros)
	maps.Copy(all, variableMacros())
	return all
}()

// lookup returns the macro of a name, also of the old form time_UTC+2.
func lookup(name string) (macro, bool) {
	if zone, ok := strings.CutPrefix(name, "time_"); ok {
		return macro{varies: true, value: func(e *Macros) string { return timeIn(e, zone) }}, true
	}
	m, known := macros[name]
	return m, known
}

// plainMacros holds the macros that use no variables.
var plainMacros = map[string]macro{
	"char": char, "charifnotgroup": char, "group": char, "groupnotmuted": char, "bot": char,
	"user": user, "notchar": user,
	"original": {value: func(e *Macros) string { return e.Original }},

	"description": {field: "description"}, "personality": {field: "personality"}, "scenario": {field: "scenario"},
	"chardescription": {field: "description"}, "charpersonality": {field: "personality"}, "charscenario": {field: "scenario"},
	"charversion": {field: "version"}, "char_version": {field: "version"}, "version": {field: "version"},
	"charcreatornotes": {field: "creator_notes"}, "creatornotes": {field: "creator_notes"},
	"charfirstmessage": {field: greeting}, "greeting": {field: greeting},
	"mesexamples": {field: "examples"}, "mesexamplesraw": {field: "examples"}, "charprompt": {field: "system"},
	"charinstruction": {field: "post_history"}, "charjailbreak": {field: "post_history"}, "chardepthprompt": {field: "depth"},
	"persona": {people: true, value: func(e *Macros) string { return e.Persona }},
	"if":      {branch: true}, "else": nothing(),

	"random": {varies: true, choose: func(x *expansion, c call, n int) int {
		return draw(n, "random", x.env.Turn, x.sum(), strconv.Itoa(c.at))
	}},
	"pick": {choose: func(x *expansion, c call, n int) int { return draw(n, "pick", x.env.Chat, x.sum(), strconv.Itoa(c.at)) }},
	"roll": {varies: true, apply: func(x *expansion, c call, a string) string {
		return roll(a, "roll", x.env.Turn, x.sum(), strconv.Itoa(c.at))
	}},

	"//": note, "comment": note, "noop": nothing(), "banned": nothing(),
	"hidden_key": {apply: func(x *expansion, _ call, a string) string {
		if x.env.Hidden {
			return a
		}
		return ""
	}},
	"outlet":  {apply: func(x *expansion, _ call, a string) string { return x.env.Outlets[strings.TrimSpace(a)] }},
	"newline": repeated("\n"), "space": repeated(" "), "trim": {trim: true},
	"reverse": {apply: func(_ *expansion, _ call, a string) string {
		runes := []rune(a)
		slices.Reverse(runes)
		return string(runes)
	}},

	"time":     {varies: true, apply: func(x *expansion, _ call, a string) string { return timeIn(x.env, a) }},
	"timediff": {apply2: func(x *expansion, left, right string) string { return difference(x.env.Now.Location(), left, right) }},
	"date":     clock("January 2, 2006"), "weekday": clock("Monday"), "isotime": clock("15:04"), "isodate": clock(time.DateOnly),
	"datetimeformat": {varies: true, apply: func(x *expansion, _ call, a string) string { return moment(x.env.Now, strings.TrimSpace(a)) }},
	"idleduration":   {varies: true, value: idle}, "idle_duration": {varies: true, value: idle},

	"input":           said(func(e *Macros) string { return e.Message }),
	"lastmessage":     said(func(e *Macros) string { return e.LastMessage }),
	"lastusermessage": said(func(e *Macros) string { return e.LastUserMessage }),
	"lastcharmessage": said(func(e *Macros) string { return e.LastCharMessage }),

	"model": {value: func(e *Macros) string { return e.Model }}, "ismobile": {value: func(*Macros) string { return "false" }},
	"maxprompt": tokens(0), "maxprompttokens": tokens(0), "maxcontext": tokens(1), "maxcontexttokens": tokens(1), "maxresponse": tokens(2), "maxresponsetokens": tokens(2),
}

var (
	char = macro{value: func(e *Macros) string { return e.Char }}
	user = macro{people: true, value: func(e *Macros) string { return e.User }}
	note = macro{encloses: true, value: func(*Macros) string { return "" }}
)

// said is a macro for a message.
func said(value func(*Macros) string) macro { return macro{varies: true, people: true, value: value} }

// tokens is a macro for one of the numbers of tokens.
func tokens(which int) macro {
	return macro{value: func(e *Macros) string { return strconv.Itoa([]int{e.Tokens, e.Context, e.Response}[which]) }}
}

// repeated is a macro for a sign, or for so many of it.
func repeated(sign string) macro {
	return macro{apply: func(_ *expansion, _ call, a string) string {
		n, err := strconv.Atoi(strings.TrimSpace(a))
		if err != nil {
			n = 1
		}
		return strings.Repeat(sign, clamp(n, 0, 1000))
	}}
}

// timeIn returns the time, in a zone such as UTC+2 if there is one.
func timeIn(e *Macros, zone string) string {
	at := e.Now
	if hours, err := strconv.Atoi(strings.TrimPrefix(strings.ToUpper(strings.TrimSpace(zone)), "UTC")); err == nil && hours > -16 && hours < 16 {
		at = at.In(time.FixedZone("", hours*60*60))
	}
	return at.Format("3:04 PM")
}

// difference says in words how long before or after another time a time is.
func difference(in *time.Location, left, right string) string {
	parse := func(text string) (at time.Time, err error) {
		text = strings.Replace(strings.TrimSpace(text), "T", " ", 1)
		for _, layout := range []string{time.DateTime, "2006-01-02 15:04", time.DateOnly, "2006-01-02 15:04:05Z07:00"} {
			if at, err = time.ParseInLocation(layout, text, in); err == nil {
				break
			}
		}
		return at, err
	}
	a, err1 := parse(left)
	b, err2 := parse(right)
	switch d := a.Sub(b); {
	case err1 != nil || err2 != nil:
		return "Invalid date"
	case d > 0:
		return "in " + humane(d)
	default:
		return humane(-d) + " ago"
	}
}

func nothing() macro { return macro{value: func(*Macros) string { return "" }} }

func clock(layout string) macro {
	return macro{varies: true, value: func(e *Macros) string { return e.Now.Format(layout) }}
}

// moments holds the tokens of moment.js, the longest first, and Go's layouts for them.
var moments = []struct{ token, layout string }{
	{"YYYY", "2006"}, {"MMMM", "January"}, {"dddd", "Monday"}, {"MMM", "Jan"}, {"ddd", "Mon"}, {"LLLL", "Monday, January 2, 2006 3:04 PM"}, {"LLL", "January 2, 2006 3:04 PM"},
	{"LTS", "3:04:05 PM"}, {"YY", "06"}, {"MM", "01"}, {"DD", "02"}, {"Do", ""}, {"HH", "15"}, {"hh", "03"}, {"mm", "04"}, {"ss", "05"}, {"ZZ", "-0700"}, {"LT", "3:04 PM"},
	{"LL", "January 2, 2006"}, {"L", "01/02/2006"}, {"M", "1"}, {"D", "2"}, {"H", ""}, {"h", "3"}, {"m", "4"}, {"s", "5"}, {"A", "PM"}, {"a", "pm"}, {"Z", "-07:00"}, {"X", ""},
}

// moment formats a time as moment.js does. Text in brackets stays as it is.
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

// idle says how long nobody wrote.
func idle(e *Macros) string {
	if e.Idle <= 0 {
		return "just now"
	}
	return humane(e.Idle)
}

// humane says in the words of moment.js how long something takes.
func humane(d time.Duration) string {
	const day = 24 * time.Hour
	round := func(unit time.Duration, one, many string) string {
		if n := int(d.Round(unit) / unit); n > 1 {
			return strconv.Itoa(n) + many
		}
		return one
	}
	switch {
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

const (
	maxVariables = 200
	maxVariable  = 4 << 10 // bytes of a value
	globalPrefix = "\x00"  // before the names of variables that SillyTavern shares between chats
)

// Variables holds the variables that macros such as {{setvar::name::value}} set and get. There are at most 200, of at most 4 KiB each. The
// zero value is ready to use. It belongs to one goroutine.
type Variables struct {
	values   map[string]string
	expanded int // bytes of texts and of what became of them
}

// Clone returns a copy, or nil for nil.
func (v *Variables) Clone() *Variables {
	if v == nil {
		return nil
	}
	return &Variables{maps.Clone(v.values), v.expanded}
}

func (v *Variables) set(name, value string) {
	if _, there := v.values[name]; !there && len(v.values) >= maxVariables {
		return
	}
	if v.values == nil {
		v.values = map[string]string{}
	}
	if len(value) > maxVariable {
		value = strings.ToValidUTF8(value[:maxVariable], "")
	}
	v.values[name] = value
}

// add adds numbers; it appends a text that is not a number.
func (v *Variables) add(name, value string) {
	old := v.values[name]
	a, err1 := strconv.ParseFloat(cmp.Or(old, "0"), 64)
	b, err2 := strconv.ParseFloat(value, 64)
	if err1 != nil || err2 != nil {
		v.set(name, old+value)
		return
	}
	v.set(name, strconv.FormatFloat(a+b, 'f', -1, 64))
}

// variableMacro returns a macro that gets a variable's name and value, both expanded.
func variableMacro(prefix string, do func(v *Variables, name, value string) string) macro {
	return macro{variable: true, apply2: func(x *expansion, name, value string) string {
		if name = strings.TrimSpace(name); name == "" {
			return ""
		}
		return do(x.env.Vars, prefix+name, value)
	}}
}

// variableMacros returns SillyTavern's macros for variables of the chat and of all chats, which are separate names here.
func variableMacros() map[string]macro {
	all := map[string]macro{}
	for infix, prefix := range map[string]string{"": "", "global": globalPrefix} {
		for name, do := range map[string]func(v *Variables, name, value string) string{
			"get": func(v *Variables, name, _ string) string { return v.values[name] },
			"has": func(v *Variables, name, _ string) string {
				_, has := v.values[name]
				return strconv.FormatBool(has)
			},
			"delete": func(v *Variables, name, _ string) string { delete(v.values, name); return "" },
			"set":    func(v *Variables, name, value string) string { v.set(name, value); return "" },
			"add":    func(v *Variables, name, value string) string { v.add(name, value); return "" },
			"inc":    func(v *Variables, name, _ string) string { v.add(name, "1"); return v.values[name] },
			"dec":    func(v *Variables, name, _ string) string { v.add(name, "-1"); return v.values[name] },
		} {
			all[name+infix+"var"] = variableMacro(prefix, do)
		}
		all["flush"+infix+"var"], all[infix+"varexists"] = all["delete"+infix+"var"], all["has"+infix+"var"]
	}
	return all
}

// shorthand is what is between the braces of {{.name}}, {{$name}}, {{.name = value}}, {{.name++}} and so on.
var shorthand = regexp.MustCompile(`(?s)^\s*([.$])([A-Za-z](?:[\w-]*\w)?)\s*(?:(\+\+|--|\+=|=)\s*(.*?)|)\s*$`)

// short runs a short form of the macros for variables, and reports whether the text is one.
func (x *expansion) short(s span, depth int) (value string, ok bool) {
	m := shorthand.FindStringSubmatchIndex(x.text[s.from:s.to])
	if m == nil {
		return "", false
	}
	part := func(n int) string { return x.text[s.from+m[2*n] : s.from+m[2*n+1]] }
	do, argument := "get", ""
	if m[6] >= 0 {
		do = map[string]string{"++": "inc", "--": "dec", "+=": "add", "=": "set"}[part(3)]
		argument = x.argument(span{s.from + m[8], s.from + m[9]}, depth)
	}
	infix := ""
	if part(1) == "$" {
		infix = "global"
	}
	return macros[do+infix+"var"].apply2(x, part(2), argument), true
}
