package backends

import (
	"regexp"
	"strings"
	"unicode"

	"familiar/internal/search"
	"familiar/internal/web/guard"
)

// operatorPattern is a word that Google, Brave, Kagi and the like take for an order if a colon follows: to look at one
// site or file type only, to show a copy.
var operatorPattern = regexp.MustCompile(`(?i)\b(site|inurl|allinurl|intitle|allintitle|intext|allintext|inbody|inpage|inanchor|allinanchor|filetype|ext|` +
	`cache|related|link|source|location|loc|language|lang|before|after|define|info|daterange|imagesize|src):`)

// withoutOperators takes the operators out of a query: quotes, "-word", "site:host", OR. What people write in a chat is
// words, and which sites are searched is the query's Include and Exclude.
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

// eachWord is text with each word as change makes it, without those of which nothing is left.
func eachWord(text string, change func(word string) string) string {
	var words []string
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		if word = change(word); word != "" {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}

// withoutFields is withoutOperators for services that search in fields of their own ("field:value",
// "insource:/regex/", "user:x"): no word keeps a colon, nor what else groups, repeats or compares.
func withoutFields(text string) string { return withoutOperators(blank(text, `*?~!\/:;[]{}<>^`)) }

// blank replaces characters by spaces.
func blank(text, characters string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(characters, r) {
			return ' '
		}
		return r
	}, text)
}

// withoutCommands takes the commands out of a query: SearXNG reads words that begin with !, !!, : or < as orders to use
// an engine, to redirect to another site, to switch the language or the timeout (searx/query.py), and older versions
// also ?. DuckDuckGo and Kagi take a word with ! for another site.
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

// maxSites is how many sites a query may name: each is a word of the few that a query may have.
const maxSites = 5

// sites are the operators that most engines know for keeping to some sites or off others. Not all do: what comes
// back is filtered all the same.
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

// withSites is the query without operators but those of its own sites, cut at a word to at most maxChars characters
// and maxWords words in all.
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

// allows reports whether q wants hits on a host. A service whose hits are all on another one need not be asked.
func allows(q search.Query, host string) bool {
	domains, err := guard.NewDomains(q.Include, q.Exclude)
	return err == nil && domains.Allows(host)
}

// upTo is hosts where there are no more than the service takes. Hits are filtered in any case.
func upTo(max int, hosts []string) []string {
	if len(hosts) > max {
		return nil
	}
	return hosts
}

// includeOrExclude are the sites of q for a service that takes one of the lists alone.
func includeOrExclude(q search.Query, max int) (include, exclude []string) {
	if len(q.Include) > 0 {
		return upTo(max, q.Include), nil
	}
	return nil, upTo(max, q.Exclude)
}
