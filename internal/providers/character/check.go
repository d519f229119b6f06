package character

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"familiar/internal/context/turn"
	"familiar/internal/text"
	"familiar/internal/web/clean"
)

// check rejects values that have the right type but make no sense.
func (r *reading) check() {
	c := &r.config
	r.atMost("name", c.Name, 64)
	r.atMost("nickname", c.Nickname, 64)
	r.atMost("version", c.Version, 64)
	for i, alias := range c.Aliases {
		key := fmt.Sprintf("aliases[%d]", i)
		r.filled(key, alias)
		r.atMost(key, alias, 64)
	}
	r.oneOf("mode", c.Mode, modeNames()...)
	if _, err := time.LoadLocation(c.DisplayTZ); err != nil || c.DisplayTZ == "" {
		r.reject("display_tz", "no such time zone", `use a name such as "UTC" or "Europe/Berlin"`)
	}
	for i, p := range c.Triggers.Patterns {
		r.pattern(fmt.Sprintf("triggers.patterns[%d]", i), p)
	}
	r.picture("persona.avatar", c.Persona.Avatar)
	r.within("greetings.first", float64(c.Greetings.First), 0, 1000)
	r.within("depth_prompt.depth", float64(c.Depth.Depth), 0, 200)
	r.oneOf("depth_prompt.role", c.Depth.Role, "system", "user", "assistant")
	r.within("history.window", float64(c.History.Window), 1, 200)
	r.oneOf("reply.question_deleted", c.Reply.QuestionDeleted, "auto", "delete", "redact")
	r.within("chatter.per_day", float64(c.Chatter.PerDay), 1, 1000)
	r.atMost("reactions.seen", c.Reactions.Seen, 8)
	r.atMost("voice.name", c.Voice.Name, 64)
	r.model("model", c.Model)
	r.model("side_model", c.SideModel)
	r.web(c.Web)
	r.docs(c.Docs)
	r.mode("modes.full_rp", c.Modes.FullRP)
	r.mode("modes.text", c.Modes.Text)
	r.mode("modes.imitate_voice", c.Modes.ImitateVoice)
	r.text("texts.no_model", c.Texts.NoModel)
	r.text("texts.rate_limited", c.Texts.RateLimited)
	r.text("texts.model_down", c.Texts.ModelDown)
	r.text("texts.too_slow", c.Texts.TooSlow)
	r.text("texts.used_up", c.Texts.Quota)
	r.text("texts.placeholder", c.Texts.Placeholder)
	for key, said := range map[string]string{
		"hello": c.Texts.Hello, "thanks": c.Texts.Thanks, "bye": c.Texts.Bye, "mood": c.Texts.Mood, "sad": c.Texts.Sad,
		"who": c.Texts.Who, "can": c.Texts.Can, "morning": c.Texts.Morning, "birthday": c.Texts.Birthday, "mute": c.Texts.Mute, "empty": c.Texts.Empty, "no_web": c.Texts.NoWeb,
	} {
		r.atMost("texts."+key, said, 1000)
	}
}

func (r *reading) web(w webConfig) {
	r.domains("web.allow", w.Allow)
	r.domains("web.deny", w.Deny)
	for i, topic := range w.DeniedTopics {
		r.filled(fmt.Sprintf("web.denied_topics[%d]", i), topic)
	}
	r.oneOf("web.block_role", w.BlockRole, "user", "system")
	r.within("web.block_bytes", float64(w.BlockBytes), 1024, 65536)
	r.within("web.queries", float64(w.Queries), 1, 2)
	r.within("web.pages", float64(w.Pages), 0, 5)
	r.within("web.per_domain", float64(w.PerDomain), 1, 5)
	r.within("web.per_minute", float64(w.PerMinute), 0, 10_000)
	r.within("web.per_session", float64(w.PerSession), 0, 10_000)
	r.within("web.per_day", float64(w.PerDay), 0, 10_000)
	r.oneOf("web.depth", w.Depth, "", "basic", "advanced")
	r.trusted(w.Trusted)
	r.lasts("web.deadline", w.Deadline, time.Second, time.Minute)
}

// trusted checks the sites trusted for each intent. An intent in only must have trusted sites.
func (r *reading) trusted(t trustedConfig) {
	sites, intents := t.byIntent(), Intents()
	for _, intent := range intents {
		r.domains("web.trusted."+intent, sites[intent])
	}
	for i, intent := range t.Only {
		key := fmt.Sprintf("web.trusted.only[%d]", i)
		if r.oneOf(key, intent, intents...); slices.Contains(intents, intent) && len(sites[intent]) == 0 {
			r.reject(key, "no sites are trusted for "+intent, "name some in web.trusted."+intent)
		}
	}
}

func (r *reading) mode(key string, m modeConfig) {
	r.within(key+".total", float64(m.Total), 500, 1_000_000)
	r.lasts(key+".deadline", m.Deadline, time.Second, 5*time.Minute)
	r.oneOf(key+".think", m.Think, "off", "side", "main")
	r.oneOf(key+".recast", m.Recast, "off", "side", "main")
	for layer, tokens := range m.Layers.byLayer() {
		r.within(key+".layers."+layer.String(), float64(tokens), 0, 1_000_000)
	}
}

func (r *reading) model(key string, m Model) {
	r.within(key+".temperature", float64(m.Temperature), 0, 2)
	r.within(key+".max_tokens", float64(m.MaxTokens), 0, 1_000_000)
}

func (r *reading) text(key, s string) {
	r.filled(key, s)
	r.atMost(key, s, 1000)
}

func (r *reading) picture(key, address string) {
	u, err := url.Parse(address)
	if address != "" && (err != nil || u.Scheme != "https" || u.Host == "") {
		r.reject(key, fmt.Sprintf("%q is not an https address", address), `write the address of a picture, as in "https://example.org/moss.png"`)
	}
}

func (r *reading) pattern(key, p string) {
	re, err := regexp.Compile(p)
	switch {
	case err != nil:
		r.reject(key, strings.TrimPrefix(err.Error(), "error parsing regexp: "), "see https://go.dev/s/re2syntax")
	case re.MatchString(""):
		r.reject(key, "matches the empty text, so every message would be answered", "")
	}
}

func (r *reading) domains(key string, hosts []string) {
	for i, h := range hosts {
		if _, err := clean.Host(h); err != nil {
			r.reject(fmt.Sprintf("%s[%d]", key, i), fmt.Sprintf("%q is not a domain", h), `write the bare name, as in "example.org"`)
		}
	}
}

func (r *reading) within(key string, v, low, high float64) {
	if !(low <= v && v <= high) { // also for NaN
		r.reject(key, fmt.Sprintf("%v is out of range", v), fmt.Sprintf("use %v to %v", low, high))
	}
}

func (r *reading) lasts(key string, d Duration, low, high time.Duration) {
	if v := time.Duration(d); v < low || v > high {
		r.reject(key, fmt.Sprintf("%v is out of range", v), fmt.Sprintf("use %v to %v", low, high))
	}
}

func (r *reading) oneOf(key, v string, allowed ...string) {
	if !slices.Contains(allowed, v) {
		r.reject(key, fmt.Sprintf("%q is not allowed", v), "use one of "+strings.TrimPrefix(strings.Join(allowed, ", "), ", "))
	}
}

func (r *reading) filled(key, s string) {
	if strings.TrimSpace(s) == "" {
		r.reject(key, "is empty", "")
	}
}

func (r *reading) atMost(key, s string, characters int) {
	if n := utf8.RuneCountInString(s); n > characters {
		r.reject(key, fmt.Sprintf("is %d characters long", n), fmt.Sprintf("use at most %d", characters))
	}
}

// reject reports a problem at the place where the key was last set. complete reports the keys that no file sets.
func (r *reading) reject(key, text, cure string) {
	if at, ok := r.spots[key]; ok {
		r.problem(at, key, text, cure)
	} else if at, ok := r.spots[strings.TrimRight(key, "[]0123456789")]; ok {
		r.problem(at, key, text, cure)
	}
}

// complete reports the keys without a default.
func (r *reading) complete(defaults string) {
	const named = 3
	var missing []string
	for _, k := range r.keys {
		if _, set := r.spots[k.name]; !set && !k.table && !k.optional {
			missing = append(missing, k.name)
		}
	}
	if len(missing) == 0 {
		return
	}
	text := "must hold every key; missing: " + strings.Join(missing[:min(named, len(missing))], ", ")
	if more := len(missing) - named; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	r.problem(spot{file: defaults}, "", text, "begin with the file as shipped")
}

func modeNames() []string {
	var names []string
	for _, m := range turn.Modes() {
		names = append(names, string(m))
	}
	return names
}

// Docs is a documentation site that the character knows by name.
type Docs struct {
	Name string // unique, ignoring case
	Site clean.Site
	// Search is the address of the site's own search, with {query} in place of the question; empty: none.
	Search string
}

// maxDocs is the number of choices that Discord can show.
const maxDocs = 25

// queryMark is the placeholder of the question in a search address.
const queryMark = "{query}"

var docsName = text.NewLazyRegexp(`^[\pL\pN](?:[\pL\pN ._+-]{0,30}[\pL\pN.+])?$`)

// docs checks the documentation sites.
func (r *reading) docs(all []docsConfig) {
	lists, err := clean.NewDomains(r.config.Web.Allow, r.config.Web.Deny)
	named := map[string]bool{}
	for i, d := range all {
		item := fmt.Sprintf("docs[%d]", i)
		if i == maxDocs {
			r.reject(item, "is one too many", fmt.Sprintf("there may be %d", maxDocs))
			return
		}
		folded := strings.ToLower(d.Name)
		switch {
		case !r.given(item, "name", d.Name):
		case !docsName.MatchString(d.Name):
			r.reject(item+".name", fmt.Sprintf("%q is not a valid name", d.Name), "use up to 32 letters, digits, spaces and . _ + -")
		case named[folded]:
			r.reject(item+".name", fmt.Sprintf("%q is a duplicate", d.Name), "")
		}
		named[folded] = true
		site, ok := r.site(item, d.URL)
		if !ok {
			continue
		}
		if err == nil && !lists.Allows(site.Host()) { // otherwise the lists have been reported
			r.reject(item+".url", "web.allow and web.deny keep the character off this site", "")
		}
		r.search(item+".search", d.Search, site)
	}
}

// given reports whether an element of a list has a required key. It reports a problem if not, unless the line already has one.
func (r *reading) given(item, key, value string) bool {
	at, set := r.spots[item+"."+key]
	switch {
	case value != "":
		return true
	case !set:
		r.problem(r.spots[item], item+"."+key, "is missing", "")
	case !slices.ContainsFunc(r.problems, func(p Problem) bool { return p.File == at.file && p.Line == at.line }):
		r.reject(item+"."+key, "is empty", "")
	}
	return false
}

func (r *reading) site(item, address string) (clean.Site, bool) {
	if !r.given(item, "url", address) {
		return clean.Site{}, false
	}
	site, err := clean.NewSite(address)
	if err != nil {
		r.reject(item+".url", fmt.Sprintf("%q is not the address of a public site", address), `write the address below which all its pages are, as in "https://docs.example.org/en/latest/"`)
	}
	return site, err == nil
}

func (r *reading) search(key, template string, site clean.Site) {
	switch {
	case template == "":
	case strings.Count(template, queryMark) != 1:
		r.reject(key, "must hold "+queryMark+" once, where the words of the question belong", "")
	case !site.Holds(searchAddress(site, template, "word")):
		r.reject(key, "is not on the site", `write the path behind the site's url, as in "search.html?q={query}"`)
	}
}

// searchAddress returns the address of a site's own search. template is a path on the site or a full address.
func searchAddress(site clean.Site, template, word string) string {
	address := strings.Replace(template, queryMark, word, 1)
	if !strings.Contains(template, "://") {
		address = site.String() + strings.TrimLeft(address, "/")
	}
	return address
}

func (d docsConfig) into() Docs {
	site, _ := clean.NewSite(d.URL) // checked
	out := Docs{Name: d.Name, Site: site}
	if d.Search != "" {
		out.Search = searchAddress(site, d.Search, queryMark)
	}
	return out
}
