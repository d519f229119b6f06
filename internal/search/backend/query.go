package backend

import (
	"slices"
	"strings"
	"unicode"

	"familiar/internal/search"
	"familiar/internal/text"
)

// locale splits a BCP 47 tag into base language and region: "pt-BR" into "pt" and "BR". A part that is missing or not
// made of the right number of ASCII letters is empty. Both are therefore safe in a host name or a parameter.
func locale(tag string) (base, region string) {
	parts := strings.Split(strings.ReplaceAll(tag, "_", "-"), "-")
	if p := strings.ToLower(parts[0]); (len(p) == 2 || len(p) == 3) && letters(p) {
		base = p
	}
	for _, p := range parts[1:] {
		if p = strings.ToUpper(p); len(p) == 2 && letters(p) {
			return base, p
		}
	}
	return base, ""
}

func letters(s string) bool {
	for i := range len(s) {
		if c := s[i] | 0x20; c < 'a' || c > 'z' {
			return false
		}
	}
	return true
}

// languageTag returns the tag in the form that all services accept, or otherwise if it has no language.
func languageTag(tag, otherwise string) string {
	base, region := locale(tag)
	switch {
	case base == "":
		return otherwise
	case region == "":
		return base
	}
	return base + "-" + region
}

// script returns "hant" or "hans", the script of the Chinese that a tag names.
func script(tag string) string {
	_, region := locale(tag)
	if strings.Contains(strings.ToLower(tag), "hant") || region == "TW" || region == "HK" || region == "MO" {
		return "hant"
	}
	return "hans"
}

// oneOf returns word if the list contains it, or "". A service may reject a whole request for a value it does not know.
func oneOf(list, word string) string {
	if slices.Contains(strings.Fields(list), word) {
		return word
	}
	return ""
}

// languageOf returns the language in which to ask a service. That is the tag's, unless most of the text is in a script
// that the tag's language does not use. 東京タワー is found among Japanese articles, even when somebody asks in an English
// chat.
func languageOf(tag, query string) string {
	if text.MostlyLatin(query) {
		return tag
	}
	base, _ := locale(tag)
	for _, s := range alphabets() {
		if !strings.ContainsFunc(query, func(r rune) bool { return unicode.Is(s.letters, r) }) {
			continue
		}
		languages := strings.Fields(s.languages)
		if slices.Contains(languages, base) {
			return tag
		}
		return languages[0]
	}
	return tag
}

// alphabet is a set of letters and the languages that use it, the one with the most readers first.
type alphabet struct {
	letters   *unicode.RangeTable
	languages string
}

// alphabets lists the letters that only Japanese has before those that it shares with Chinese.
func alphabets() []alphabet {
	return []alphabet{
		{unicode.Hiragana, "ja"}, {unicode.Katakana, "ja"}, {unicode.Hangul, "ko"}, {unicode.Han, "zh ja ko yue"},
		{unicode.Cyrillic, "ru uk bg sr mk be kk ky mn tg"}, {unicode.Arabic, "ar fa ur ps ckb sd ug"}, {unicode.Hebrew, "he yi"},
		{unicode.Greek, "el"}, {unicode.Thai, "th"}, {unicode.Devanagari, "hi mr ne sa"}, {unicode.Bengali, "bn as"},
		{unicode.Tamil, "ta"}, {unicode.Telugu, "te"}, {unicode.Georgian, "ka"}, {unicode.Armenian, "hy"},
	}
}

// operatorPattern matches words that Google, Brave, Kagi and others take for an operator if a colon follows. Examples search one site or
// file type.
var operatorPattern = text.NewLazyRegexp(`(?i)\b(site|inurl|allinurl|intitle|allintitle|intext|allintext|inbody|inpage|inanchor|allinanchor|filetype|ext|` +
	`cache|related|link|source|location|loc|language|lang|before|after|define|info|daterange|imagesize|src):`)

// withoutOperators removes search operators from a query: quotes, "-word", "site:host", OR. Chat messages are plain
// words, and Include and Exclude decide which sites are searched.
func withoutOperators(text string) string {
	text = blank(operatorPattern.ReplaceAllString(text, "$1 "), `"“”„«»|()*`)
	return eachWord(line(text, len(text)), func(word string) string {
		word = strings.TrimLeft(word, "-+~@!")
		switch word {
		case "OR", "AND", "NOT", "AROUND", "NEAR":
			word = strings.ToLower(word)
		}
		return word
	})
}

// eachWord applies change to each word of text and drops words that become empty.
func eachWord(text string, change func(word string) string) string {
	var words []string
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		if word = change(word); word != "" {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}

// withoutFields is withoutOperators for services with search fields of their own ("field:value", "insource:/regex/",
// "user:x"). It also removes colons and the characters that group, repeat or compare.
func withoutFields(text string) string { return withoutOperators(blank(text, `*?~!\/:;[]{}<>^`)) }

// blank replaces each of the characters by a space.
func blank(text, characters string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(characters, r) {
			return ' '
		}
		return r
	}, text)
}

// withoutCommands removes commands from a query. SearXNG treats words that begin with !, !!, : or < as commands. They use an engine,
// redirect to another site, or switch the language or the timeout (searx/query.py). Older versions also use ?. DuckDuckGo and Kagi treat a
// word with ! as another site.
func withoutCommands(text string) string {
	return eachWord(text, func(word string) string {
		for before := ""; before != word; {
			before = word
			word = strings.TrimLeft(word, "!:?")
			if rest, cut := strings.CutPrefix(word, "<"); cut && strings.IndexFunc(rest, unicode.IsNumber) == 0 {
				word = rest
			}
		}
		return word
	})
}

// maxSites limits the sites in a query, because each takes one of its few words.
const maxSites = 5

// sites returns the operators that include or exclude sites. Not all engines know them, so hits are filtered anyway.
func sites(include, exclude []string) string {
	var text string
	if include = upTo(maxSites, include); len(include) > 0 {
		text = " (site:" + strings.Join(include, " OR site:") + ")"
	}
	for _, host := range exclude[:min(len(exclude), maxSites)] {
		text += " -site:" + host
	}
	return text
}

// withSites returns the query's words without operators, and with operators for its own sites. It cuts them at a word
// to at most maxChars characters and maxWords words.
func withSites(q search.Query, maxChars, maxWords int) string {
	only := sites(q.Include, q.Exclude)
	if len(only) > maxChars/2 {
		only = ""
	}
	words := strings.Fields(withoutOperators(q.Text))
	words = words[:min(len(words), maxWords-len(strings.Fields(only)))]
	text := cutWords(strings.Join(words, " "), maxChars-len(only))
	if text == "" {
		return ""
	}
	return text + only
}

// upTo returns hosts, or nil if there are more than the service takes. Hits are filtered anyway.
func upTo(max int, hosts []string) []string {
	if len(hosts) > max {
		return nil
	}
	return hosts
}

// includeOrExclude returns the sites of q for a service that takes only one of the lists.
func includeOrExclude(q search.Query, max int) (include, exclude []string) {
	if len(q.Include) > 0 {
		return upTo(max, q.Include), nil
	}
	return nil, upTo(max, q.Exclude)
}

// topic returns what a question is about: "Ada Lovelace" for "Who was Ada Lovelace?". An encyclopedia looks for all
// words of a query, and a page about her has no "who". Text that is not a question stays as it is.
func topic(query, language string) string {
	base, _ := locale(languageOf(language, query))
	query = withoutAsking(query)
	words := text.TablesOf(base)
	if words.Topic.First == "" {
		words = text.TablesOf("en")
	}
	all := strings.Fields(strings.TrimFunc(query, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsPunct(r) && !strings.ContainsRune(`()"`, r)
	}))
	rest := all
	for i, word := range all {
		word = strings.ToLower(word)
		if !words.Question.Things.Has(word) && !words.Topic.First.Has(word) && (i == 0 || !words.Topic.Then.Has(word)) {
			break
		}
		rest = all[i+1:]
	}
	if len(rest) == 0 {
		rest = all
	}
	return strings.Join(rest, " ")
}

// withoutAsking removes question words in languages that attach them to the topic: "東京タワーとは何ですか" is about 東京タワー,
// "什么是黑洞" about 黑洞.
func withoutAsking(query string) string {
	bare := strings.TrimRightFunc(query, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsPunct(r) })
	for ending := range strings.FieldsSeq(string(text.AllTables().Topic.Endings)) {
		if rest, ok := strings.CutSuffix(bare, ending); ok && rest != "" {
			return rest
		}
	}
	for beginning := range strings.FieldsSeq(string(text.AllTables().Topic.Beginnings)) {
		if rest, ok := strings.CutPrefix(bare, beginning); ok && rest != "" {
			return rest
		}
	}
	return query
}

// problem is topic for sites where people help each other: it turns "How do I sort a slice?" into "sort a slice". These
// sites look for all words of a query, and their questions rarely repeat such phrases.
func problem(q search.Query) string {
	query := strings.TrimSpace(q.Text)
	for how := range strings.SplitSeq(string(text.AllTables().Topic.Problems), ",") {
		how = strings.TrimSpace(how) + " "
		if len(query) > len(how) && strings.EqualFold(query[:len(how)], how) {
			query = query[len(how):]
			break
		}
	}
	return topic(query, q.Language)
}
