package doctor

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/search/backend"
)

func (e *Examination) searches(ctx context.Context) []Finding {
	if e.Setting("FAMILIAR_WEB") == "off" {
		return judgeSearches(true, nil)
	}
	list := slices.DeleteFunc(e.Backends.List(), func(b backend.Status) bool { return !b.On })
	e.Probe(ctx, list)
	found := judgeSearches(false, list)
	e.lost = !works(found)
	return found
}

// judgeSearches judges the search backends by their probes.
func judgeSearches(webOff bool, all []backend.Status) []Finding {
	if webOff {
		return []Finding{{ID: "search", State: Skipped, Text: "Lookups are off: FAMILIAR_WEB is off."}}
	}
	var found []Finding
	good := 0
	for _, b := range all {
		s := answerOf(b)
		f := Finding{ID: "search", Subject: b.Name, State: OK, Text: fmt.Sprintf("%s after %s.", number(s.Hits, "hit"), ms(s.Took))}
		switch s.Status {
		case turn.CodeOK:
			good++
		case turn.CodeEmpty:
			good++
			f.Text = fmt.Sprintf("It answers after %s, without results for the test.", ms(s.Took))
		default:
			f.State, f.Text, f.Cure = Warning, "It does not answer: "+reason(s.Status, s.Detail)+".", searchCure(b.Name, s.Status)
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

// answerOf is a backend's answer to its probe.
func answerOf(b backend.Status) turn.Asked {
	if b.Probe == nil {
		return turn.Asked{Status: turn.CodeDeadline}
	}
	return *b.Probe
}

// noneAnswers is one finding for all search services, by why they do not answer.
func noneAnswers(all []backend.Status) Finding {
	var reasons []string
	for _, b := range all {
		reasons = append(reasons, b.Name+" ("+strings.ReplaceAll(string(answerOf(b).Status), "_", " ")+")")
	}
	return Finding{ID: "search", State: Failure, Text: fmt.Sprintf("None of %d search services answers, so lookups cannot work: %s.", len(all), strings.Join(reasons, ", ")),
		Cure: "check this machine's internet connection; familiar backends --probe shows details"}
}

// reason says in words why a service did not answer, and what it said itself.
func reason(code turn.Code, detail string) string {
	words := strings.ReplaceAll(string(code), "_", " ")
	if detail != "" {
		words += " (" + strings.TrimRight(detail, ".") + ")"
	}
	return words
}

func searchCure(name string, status turn.Code) string {
	switch {
	case status == turn.CodeUnauthorized:
		return "correct its key; FAMILIAR_SEARCH_OFF=" + name + " disables it"
	case name == "searxng" && status == turn.CodeBlocked:
		return "the instance answers, and its engines are turned away: enable others in its settings.yml, or try again later"
	case name == "searxng":
		return "check whether SEARXNG_URL is right, the instance is up, and its settings.yml has json under search.formats"
	}
	return "see familiar backends; FAMILIAR_SEARCH_OFF=" + name + " disables it"
}

// embeddings asks the embedding service for a vector.
func (e *Examination) embeddings(ctx context.Context) []Finding {
	s, err := e.Embeddings()
	if err != nil {
		return []Finding{{ID: "embeddings", State: Failure, Text: err.Error()}}
	}
	return service{ID: "embeddings", Setting: "EMBED", Does: "makes vectors", Without: "Until it does, messages are recalled only by their words."}.ask(ctx, s)
}

// transcription asks the transcription service to transcribe a recording.
func (e *Examination) transcription(ctx context.Context) []Finding {
	return service{ID: "transcription", Setting: "TRANSCRIBE", Does: "transcribes recordings", Without: "Until it does, voice messages are not understood."}.ask(ctx, e.Transcription)
}

// speech asks the speech service to say a word.
func (e *Examination) speech(ctx context.Context) []Finding {
	return service{ID: "speech", Setting: "SPEECH", Does: "says replies aloud", Without: "Until it does, there are no voice messages."}.ask(ctx, e.Speech)
}

// service is what an optional service, beside the models, answered to a question.
type service struct {
	Service
	ID      string // of the finding
	Setting string // the beginning of its settings' names: "EMBED"
	Does    string // "makes vectors"
	Without string // what does not work without it, as a sentence
	Status  turn.Code
	Detail  string // what it said to a failure
	Took    time.Duration
}

// ask asks the service, and says whether it works. nil: there is none.
func (s service) ask(ctx context.Context, of *Service) []Finding {
	if of == nil {
		return nil
	}
	began := time.Now()
	s.Service = *of
	s.Status, s.Detail = s.Try(ctx)
	s.Took = time.Since(began)
	return []Finding{s.judge()}
}

// judge says whether the service works.
func (s service) judge() Finding {
	if s.Status == turn.CodeOK {
		return Finding{ID: s.ID, State: OK, Text: fmt.Sprintf("%s at %s %s, within %s.", s.Model, s.Host, s.Does, ms(s.Took))}
	}
	return Finding{ID: s.ID, State: Failure, Text: fmt.Sprintf("%s at %s does not answer: %s. %s", s.Model, s.Host, reason(s.Status, s.Detail), s.Without), Cure: s.cure()}
}

func (s service) cure() string {
	switch s.Status {
	case turn.CodeUnauthorized, turn.CodeBlocked:
		return fmt.Sprintf("check whether %s_API_KEY is complete, valid, and for this server", s.Setting)
	case turn.CodeQuota, turn.CodeRateLimited:
		return fmt.Sprintf("check the account that %s_API_KEY belongs to", s.Setting)
	case turn.CodeUnreachable, turn.CodeTimeout:
		return fmt.Sprintf("start the server there, or correct %s_BASE_URL", s.Setting)
	}
	return fmt.Sprintf("check whether %[1]s_BASE_URL is right, with its version at the end (usually /v1), and %[1]s_MODEL is a model there that %[2]s", s.Setting, s.Does)
}

// attempts are addresses where no page may be read, and the answers of each look-up of their name.
func attempts() []struct {
	what, url string
	public    bool
	answers   [][]netip.Addr
} {
	type answers = [][]netip.Addr
	at := func(all ...string) (list []netip.Addr) {
		for _, a := range all {
			list = append(list, netip.MustParseAddr(a))
		}
		return list
	}
	const page, public = "http://page.example.org/", "93.184.215.14"
	return []struct {
		what, url string
		public    bool
		answers   [][]netip.Addr
	}{
		{"loopback", "http://127.0.0.1/", false, nil}, {"", page, false, answers{at("127.0.0.1")}}, {"", page, false, answers{at("::1")}},
		{"link-local metadata", "http://169.254.169.254/latest/meta-data/", false, nil}, {"", page, false, answers{at("169.254.169.254")}}, {"", page, false, answers{at("fd00:ec2::254")}},
		{"private ranges", page, false, answers{at("10.0.0.1")}}, {"", page, false, answers{at("172.16.0.1")}}, {"", page, false, answers{at("192.168.1.1")}},
		{"", page, false, answers{at("100.64.0.1")}}, {"", page, false, answers{at("fd12::1")}},
		{"IPv4 dressed as IPv6", page, false, answers{at("::ffff:127.0.0.1")}}, {"", page, false, answers{at("64:ff9b::7f00:1")}}, {"", "http://[::ffff:10.0.0.1]/", false, nil},
		{"names with one private answer", page, false, answers{at(public, "10.0.0.1")}},
		{"names that change to a private answer (rebinding)", page, true, answers{at(public), at("127.0.0.1")}},
	}
}

func (e *Examination) guard(ctx context.Context) []Finding {
	var all []attempt
	for _, t := range attempts() {
		reason, dialed, err := e.Visit(ctx, t.url, t.answers...)
		if err != nil {
			return []Finding{{ID: "guard", State: Failure, Text: fmt.Sprintf("It could not be tested: %v.", err)}}
		}
		all = append(all, attempt{What: t.what, Public: t.public, Reason: reason, Dialed: dialed})
	}
	return []Finding{judgeGuard(all)}
}

func (e *Examination) dns(ctx context.Context) []Finding {
	const name = "example.com"
	answers, err := e.Resolve(ctx, name)
	return []Finding{judgeDNS(name, answers, err)}
}

// attempt is what the guard said to a page.
type attempt struct {
	What   string // "loopback"; empty: not reported
	Public bool   // it also has a public address; only that one may pass
	Reason turn.Code
	Dialed []string // addresses that would have been connected to
}

// judgeGuard judges whether the guard refuses exactly the pages that it must refuse.
func judgeGuard(all []attempt) Finding {
	var refused, broken []string
	for _, a := range all {
		switch {
		case !a.Public && len(a.Dialed) > 0 || slices.ContainsFunc(a.Dialed, isLocal):
			broken = append(broken, a.What)
		case a.Public && len(a.Dialed) == 0:
			return Finding{ID: "guard", State: Failure, Text: "It also refuses a public address (" + string(a.Reason) + "): no page can be read.",
				Cure: "check FAMILIAR_WEB_DENY, and whether this program may list the addresses of its machine"}
		case a.What != "":
			refused = append(refused, a.What)
		}
	}
	if broken != nil {
		return Finding{ID: "guard", State: Failure, Text: "Pages can reach this machine's network: " + strings.Join(broken, ", ") + ".",
			Cure: "set FAMILIAR_WEB=off, and report this bug"}
	}
	return Finding{ID: "guard", State: OK, Text: fmt.Sprintf("No page can reach this machine's network. Refused: %s.", strings.Join(refused, ", "))}
}

func isLocal(address string) bool {
	ap, err := netip.ParseAddrPort(address)
	return err != nil || !isPublic(ap.Addr())
}

// isPublic judges an address without the guard's own rules.
func isPublic(a netip.Addr) bool {
	a = a.Unmap()
	return a.IsGlobalUnicast() && !a.IsPrivate()
}

var fakeIP = netip.MustParsePrefix("198.18.0.0/15") // RFC 2544, from which proxy tools answer

// judgeDNS judges the answer to a name that has public addresses.
func judgeDNS(name string, answers []netip.Addr, err error) Finding {
	f := Finding{ID: "dns", State: OK}
	fake := slices.IndexFunc(answers, func(a netip.Addr) bool { return fakeIP.Contains(a.Unmap()) })
	switch {
	case err != nil || len(answers) == 0:
		f.State, f.Text = Warning, fmt.Sprintf("The name %s cannot be resolved, so pages cannot be read.", name)
		f.Cure = "check whether this machine has a name server and can reach it"
	case fake >= 0:
		f.State, f.Text = Failure, fmt.Sprintf("%s resolves to %s: a proxy tool answers with made-up addresses (fake-IP), so no page can be read.", name, answers[fake])
		f.Cure = "in Clash or mihomo set dns.enhanced-mode to redir-host, or add \"*\" to dns.fake-ip-filter; in sing-box take the fakeip server out of dns.rules; in Surge and the like exempt this program"
	default:
		f.Text = fmt.Sprintf("%s resolves to public addresses.", name)
		if !slices.ContainsFunc(answers, isPublic) {
			f.State, f.Text = Warning, fmt.Sprintf("%s resolves to %s, which is not a public address, so pages may not be read.", name, answers[0])
			f.Cure = "see which name server this machine asks, and what it changes"
		}
	}
	return f
}
