package doctor

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"familiar/internal/context/turn"
)

// Search is what a search backend said to a question.
type Search struct {
	Name   string
	Status turn.Code
	Detail string // what it said to a failure
	Hits   int
	Took   time.Duration
}

// Searches judges the search backends that are on. Where the web is off there are none.
func Searches(webOff bool, all []Search) []Finding {
	if webOff {
		return []Finding{{ID: "search", State: Skipped, Text: "Nothing is looked up: FAMILIAR_WEB is off."}}
	}
	var found []Finding
	good := 0
	for _, s := range all {
		f := Finding{ID: "search", Subject: s.Name, State: OK, Text: fmt.Sprintf("%s after %s.", number(s.Hits, "hit"), ms(s.Took))}
		switch s.Status {
		case turn.CodeOK:
			good++
		case turn.CodeEmpty:
			good++
			f.Text = fmt.Sprintf("It answers after %s, and knows nothing of what was asked.", ms(s.Took))
		default:
			f.State, f.Text, f.Cure = Warning, "It does not answer: "+reason(s.Status, s.Detail)+".", s.cure()
		}
		found = append(found, f)
	}
	switch {
	case good > 0:
	case len(found) == 1:
		found[0].State = Failure
	default:
		found = []Finding{noneAnswers(all)}
	}
	return found
}

// noneAnswers is one finding for all search services, by why they do not answer.
func noneAnswers(all []Search) Finding {
	var reasons []string
	for _, s := range all {
		reasons = append(reasons, s.Name+" ("+strings.ReplaceAll(string(s.Status), "_", " ")+")")
	}
	return Finding{ID: "search", State: Failure, Text: fmt.Sprintf("None of %d search services answers, and nothing can be looked up: %s.", len(all), strings.Join(reasons, ", ")),
		Cure: "see whether this machine reaches the web; familiar backends --probe says more"}
}

// reason says in words why a service did not answer, and what it said itself.
func reason(code turn.Code, detail string) string {
	words := strings.ReplaceAll(string(code), "_", " ")
	if detail != "" {
		words += " (" + strings.TrimRight(detail, ".") + ")"
	}
	return words
}

func (s Search) cure() string {
	if s.Name == "searxng" {
		return "see whether SEARXNG_URL is right, the instance is up, and its settings.yml has json under search.formats"
	}
	return "see familiar backends; FAMILIAR_SEARCH_OFF=" + s.Name + " leaves it out"
}

// Attempt is a page whose name leads where no page may be read, or where one may.
type Attempt struct {
	What   string // "loopback"; empty: not told of
	Public bool   // it has a public address too, which alone must be let through
	Reason turn.Code
	Dialed []string // what would have been connected to
}

// Guard judges whether the guard before the web refuses what it has to, and nothing else.
func Guard(all []Attempt) Finding {
	var refused, broken []string
	for _, a := range all {
		switch {
		case !a.Public && len(a.Dialed) > 0 || slices.ContainsFunc(a.Dialed, isLocal):
			broken = append(broken, a.What)
		case a.Public && len(a.Dialed) == 0:
			return Finding{ID: "guard", State: Failure, Text: "It refuses a public address too (" + string(a.Reason) + "): no page can be read.",
				Cure: "see FAMILIAR_WEB_DENY, and whether this program may list the addresses of its machine"}
		case a.What != "":
			refused = append(refused, a.What)
		}
	}
	if broken != nil {
		return Finding{ID: "guard", State: Failure, Text: "Pages may reach into this machine's network: " + strings.Join(broken, ", ") + ".",
			Cure: "set FAMILIAR_WEB=off, and report it: this must not happen"}
	}
	return Finding{ID: "guard", State: OK, Text: fmt.Sprintf("No page reaches into this machine's network. Refused: %s.", strings.Join(refused, ", "))}
}

func isLocal(address string) bool {
	ap, err := netip.ParseAddrPort(address)
	return err != nil || !isPublic(ap.Addr())
}

// isPublic is a plain judgement, apart from the guard's own.
func isPublic(a netip.Addr) bool {
	a = a.Unmap()
	return a.IsGlobalUnicast() && !a.IsPrivate()
}

var fakeIP = netip.MustParsePrefix("198.18.0.0/15") // RFC 2544, from which proxy tools answer

// DNS judges the answer to a name that has public addresses.
func DNS(name string, answers []netip.Addr, err error) Finding {
	f := Finding{ID: "dns", State: OK}
	fake := slices.IndexFunc(answers, func(a netip.Addr) bool { return fakeIP.Contains(a.Unmap()) })
	switch {
	case err != nil || len(answers) == 0:
		f.State, f.Text = Warning, fmt.Sprintf("The name %s is not resolved: pages cannot be read.", name)
		f.Cure = "see whether this machine has a name server, and reaches it"
	case fake >= 0:
		f.State, f.Text = Failure, fmt.Sprintf("%s is said to be at %s: a proxy tool answers with made-up addresses (fake-IP), and no page can be read.", name, answers[fake])
		f.Cure = "in Clash or mihomo set dns.enhanced-mode to redir-host, or add \"*\" to dns.fake-ip-filter; in sing-box take the fakeip server out of dns.rules; in Surge and the like exempt this program"
	default:
		f.Text = fmt.Sprintf("%s is resolved to public addresses.", name)
		if !slices.ContainsFunc(answers, isPublic) {
			f.State, f.Text = Warning, fmt.Sprintf("%s is said to be at %s, which is no public address: pages may not be read.", name, answers[0])
			f.Cure = "see which name server this machine asks, and what it changes"
		}
	}
	return f
}
