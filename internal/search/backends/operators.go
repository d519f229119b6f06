package backends

import (
	"regexp"
	"strings"

	"familiar/internal/search"
	"familiar/internal/web/guard"
)

// operatorPattern is a word that Google, Brave, Kagi and their kin take as an order if a colon follows: to look at one site
// or file type only, to show a copy.
var operatorPattern = regexp.MustCompile(`(?i)\b(site|inurl|allinurl|intitle|allintitle|intext|allintext|inbody|inpage|inanchor|allinanchor|filetype|ext|` +
	`cache|related|link|source|location|loc|language|lang|before|after|define|info|daterange|imagesize|src):`)

// bare takes the operators out of a query: quotes, "-word", "site:host", OR. What is said in a chat is words, and
// which sites are asked is the query's Include and Exclude.
func bare(text string) string {
	text = strings.Map(func(r rune) rune {
		if strings.ContainsRune(`"“”„«»|()*`, r) {
			return ' '
		}
		return r
	}, operatorPattern.ReplaceAllString(text, "$1 "))
	var kept []string
	for word := range strings.FieldsSeq(line(text, len(text))) {
		word = strings.TrimLeft(word, "-+~@!")
		switch word {
		case "OR", "AND", "NOT", "AROUND", "NEAR":
			word = strings.ToLower(word)
		}
		if word != "" {
			kept = append(kept, word)
		}
	}
	return strings.Join(kept, " ")
}

// maxSites is how many sites a query may name: each is a word of the few that a query may have.
const maxSites = 5

// sites are the operators that most engines know for keeping to some sites or off others. Not all do: what comes
// back is filtered all the same.
func sites(include, exclude []string) string {
	var text string
	if include = few(include, maxSites); len(include) > 0 {
		text = " (site:" + strings.Join(include, " OR site:") + ")"
	}
	for _, host := range exclude[:min(len(exclude), maxSites)] {
		text += " -site:" + host
	}
	return text
}

// sited is the query without operators but those of its own sites, cut at a word to at most maxChars characters
// and maxWords words in all.
func sited(q search.Query, maxChars, maxWords int) string {
	only := sites(q.Include, q.Exclude)
	if len(only) > maxChars/2 {
		only = ""
	}
	words := strings.Fields(bare(q.Text))
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

// few is hosts where the service takes so many. Hits are filtered in any case.
func few(hosts []string, max int) []string {
	if len(hosts) > max {
		return nil
	}
	return hosts
}

// withoutFields is bare for services that search in fields of their own ("field:value", "insource:/regex/", "user:x"):
// no word keeps a colon, nor what else groups, repeats or compares.
func withoutFields(text string) string {
	return bare(strings.Map(func(r rune) rune {
		if strings.ContainsRune(`*?~!\/:;[]{}<>^`, r) {
			return ' '
		}
		return r
	}, text))
}
