package question

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"familiar/internal/text"
	"familiar/internal/web/clean"
)

// private are the things that never leave in a query, in the order of removal. A thing that can contain another comes first. Telephone
// numbers come last.
var private = []struct {
	kind    string
	mark    string // every match has one of these characters; checking them is faster than the pattern
	pattern *text.LazyRegexp
}{
	{"invite", "/", text.NewLazyRegexp(`(?i)(?:https?://)?(?:www\.)?(?:discord\.gg|discord(?:app)?\.com/invite|dsc\.gg|discord\.me|invite\.gg)/\S*`)},
	{"url", ":.", text.NewLazyRegexp(`(?i)[a-z][a-z0-9+.\-]*://\S+|https?:[/\\]\S*|www\.\S+`)}, // whatever precedes it: readers look for the address
	{"email", "@([{", text.NewLazyRegexp(`(?i)[\pL\pN\pM._%+\-"']+ ?(?:[(\[{] ?(?:at|@) ?[)\]}]|@) ?[\pL\pN\pM\-]+(?: ?(?:\.|[(\[{] ?(?:dot|\.) ?[)\]}]) ?[\pL\pN\pM\-]+)+`)},
	{"email", "dD", text.NewLazyRegexp(`(?i)\b[\pL\pN_\-]+(?: dot [\pL\pN_\-]+)+ at [\pL\pN\-]+(?: dot [\pL\pN\-]+)+|\b[\pL\pN._\-]+ at [\pL\pN\-]+ dot (?:com|net|org|info|io|de|uk|eu)\b`)},
	{"token", "", text.NewLazyRegexp(`[A-Za-z0-9_\-]{24,}(?:\.[A-Za-z0-9_\-]+)*`)},
	{"snowflake", "0123456789", text.NewLazyRegexp(`\d{17,20}`)},
}

// mention matches mentions as Discord writes them and as people type them. Names are removed first, since a mention may
// begin one.
var mention = text.NewLazyRegexp(`<(?:@[!&]?|#|/[^:>]*:|a?:\w+:|t:|id:)[^>]*>|@[\pL\pN\pM_.\-]+|@`)

// scrub removes what may not leave the machine, and returns the kinds of things that it removed. It first resolves
// compatibility forms and drops invisible characters, so that neither hides anything.
//
// It is idempotent: a removal may join other text, so it repeats until nothing changes.
func scrub(s string, names Names) (scrubbed string, kinds []string) {
	for range scrubRounds {
		before := s
		if s = scrubOnce(s, names, &kinds); s == before {
			return s, kinds
		}
	}
	return "", kinds
}

// scrubRounds limits the repetitions. A text that still changes is taken for hostile; an honest one needs two.
const scrubRounds = 16

// scrubOnce scrubs s once.
func scrubOnce(s string, names Names, kinds *[]string) string {
	s = normalize(s)
	replace := func(kind, with string) {
		if with != s {
			s, *kinds = with, text.AddOnce(*kinds, kind)
		}
	}
	for _, m := range names.mentions {
		replace("mention", strings.ReplaceAll(s, m, " "))
	}
	for _, p := range private {
		if p.mark == "" && len(s) >= 24 || strings.ContainsAny(s, p.mark) {
			replace(p.kind, p.pattern.ReplaceAllStringFunc(s, func(found string) string {
				if p.kind == "token" && isGermanCompound(found) {
					return found
				}
				return " "
			}))
		}
	}
	replace("phone", removePhones(s))
	replace("member", names.remove(s))
	if strings.ContainsAny(s, "@<") {
		replace("mention", mention.ReplaceAllString(s, " "))
	}
	return text.OneLine(s)
}

// normalize resolves compatibility forms (NFKC), drops invisible characters, and converts digits of any script to ASCII.
func normalize(s string) string {
	s, _ = clean.Text(norm.NFKC.String(s))
	if !text.ASCII(s) {
		s = strings.Map(text.ASCIIDigit, s)
	}
	return s
}

// operators are signs that search services obey: SearXNG's bangs, language prefixes and time limits.
var operators = text.NewLazyRegexp(`(?:^|\s)[!:?]+|<\d*>?|[<>]`)

// stripOperators removes the signs of operators and keeps their words.
func stripOperators(s string) string {
	for operators.MatchString(s) {
		s = text.OneLine(operators.ReplaceAllString(s, " "))
	}
	return s
}

// digitRun matches a number with the separators of telephone numbers.
var digitRun = text.NewLazyRegexp(`\+?\(?\d(?:(?:[\d ()./_‐-―−-]|,\d)*\d)?`)

// removePhones removes telephone numbers from s.
func removePhones(s string) string {
	var out strings.Builder
	copied := 0
	for _, at := range digitRun.FindAllStringIndex(s, -1) {
		if isPhone(s[at[0]:at[1]], s[:at[0]]) {
			out.WriteString(s[copied:at[0]] + " ")
			copied = at[1]
		}
	}
	return out.String() + s[copied:]
}

// isPhone tells telephone numbers from years, dates, versions, scores and plain numbers. In doubt it reports true. It does so for nine
// digits in parts and for ten in a row. It does so for an area code with a leading zero. So it does for six if the words before announce a
// number.
func isPhone(run, before string) bool {
	parts := strings.FieldsFunc(run, func(r rune) bool { return r < '0' || r > '9' })
	n := len(strings.Join(parts, ""))
	beside, _ := utf8.DecodeLastRuneInString(before)
	if run[0] == '+' && beside != '+' && !unicode.IsLetter(beside) && !unicode.IsDigit(beside) { // not in "C++20 2023"
		return n >= 7
	}
	switch {
	case n < 6 || areDates(parts) || isQuantity(run, parts) || isVersion(run, parts) || scores.MatchString(run) || isISBN(parts, before):
		return false
	case n >= 10 || announcesPhone(before, n >= 7 && len(parts) > 1) || areaCode.MatchString(run):
		return true
	case n == 9:
		return parts[0][0] == '0' || len(parts) > 1
	}
	return n >= 7 && len(parts) > 1 && len(parts[0]) > 2 && parts[0][0] == '0' && parts[0][1] != '0'
}

// areDates reports whether the parts are years, each with at most a day and a month.
func areDates(parts []string) bool {
	years, others := 0, 0
	for _, p := range parts {
		n, _ := strconv.Atoi(p)
		switch {
		case len(p) == 4 && 1000 <= n && n < 2200, len(p) == 8 && 1000_01_01 <= n && n < 2200_00_00 && n/100%100 <= 12 && n%100 <= 31:
			years++
		case len(p) <= 2:
			others++
		default:
			return false
		}
	}
	return years > 0 && others <= 2*years
}

var (
	decimal     = text.NewLazyRegexp(`^(?:0|[1-9]\d{0,2})\.\d{5,}$`)
	inThousands = text.NewLazyRegexp(`^[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?$|^[1-9](?:[ .]\d{3})+$|^[1-9]\d{0,2}(?:[ .]\d{3})*[ .]000$`)
	scores      = text.NewLazyRegexp(`^(?:0|[1-9]\d{0,2})[‐-―−-](?:0|[1-9]\d{0,2})(?:[ /]+(?:0|[1-9]\d{0,2})[‐-―−-](?:0|[1-9]\d{0,2}))+$`)
)

// isQuantity reports whether a run is a plain number: decimal, with thousands separators, round, or several small ones.
func isQuantity(run string, parts []string) bool {
	digits := strings.Join(parts, "")
	small := len(parts) > 3 && len(digits) < 2*len(parts) && digits[0] != '0'
	return decimal.MatchString(run) || inThousands.MatchString(run) || small || len(parts) == 1 && strings.HasSuffix(run, "00000")
}

// isVersion reports whether a run is a version or an IP address: four or more parts with dots between them.
// "1.212.555.0123" is neither.
func isVersion(run string, parts []string) bool {
	if len(parts) < 4 || strings.Count(run, ".") != len(parts)-1 {
		return false
	}
	address := true
	for _, p := range parts {
		n, err := strconv.Atoi(p)
		if err != nil || len(p) > 1 && p[0] == '0' {
			return false
		}
		address = address && n < 256
	}
	last := parts[len(parts)-3:]
	dialled := len(last[0]) == 3 && len(last[1]) == 3 && len(last[2]) >= 3
	return address || !dialled
}

// isISBN reports whether a run is a book number, by its check digit or by the word before it.
func isISBN(parts []string, before string) bool {
	digits := strings.Join(parts, "")
	if words := text.Words(before); len(words) > 0 && slices.ContainsFunc(words[max(0, len(words)-2):], func(w text.Word) bool { return w.Key == "isbn" || w.Key == "issn" || w.Key == "ean" }) {
		return true
	}
	if len(digits) != 13 || digits[:3] != "978" && digits[:3] != "979" {
		return false
	}
	sum := 0
	for i := range digits {
		sum += int(digits[i]-'0') * (1 + 2*(i%2))
	}
	return sum%10 == 0
}

// areaCode matches an area code in brackets, followed by a number.
var areaCode = text.NewLazyRegexp(`^\(\d{2,5}\) ?\d`)

// announcesPhone reports whether one of the last three words before a number announces a telephone number. The word
// "number" alone does so only for a number in several parts.
func announcesPhone(before string, inParts bool) bool {
	words := text.Words(before)
	for i := max(0, len(words)-3); i < len(words); i++ {
		if phoneWords()[words[i].Key] || numberNouns()[words[i].Key] && (inParts || i > 0 && owners()[words[i-1].Key]) {
			return true
		}
	}
	return false
}

// germanPairs are the most frequent letter pairs of German words. About half of a word's pairs are among them, but only
// one in fourteen of a random key's.
const germanPairs = "er en ch de ei nd te in ie ge es ne un st re he an be se ng di sc da is ic le au ss it el al rt ra ns li ha si hr ti ve we ts tz ru or ar ke me tt ll fs gs ht nt eb ig lt sp ig ec rs ck rk rd"

// isGermanCompound reports whether a text as long as a key is a German compound word. It has only letters, capitals only at the start of
// its parts, and mostly frequent letter pairs.
func isGermanCompound(s string) bool {
	all, common := 0, 0
	for part := range strings.SplitSeq(s, "-") {
		for i, r := range part {
			if !unicode.IsLetter(r) || i > 0 && unicode.IsUpper(r) {
				return false
			}
		}
		part = strings.ToLower(part)
		for i := 0; i+2 <= len(part); i++ {
			all++
			if strings.Contains(germanPairs, part[i:i+2]) {
				common++
			}
		}
	}
	return 5*common >= 2*all
}
