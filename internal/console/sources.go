package console

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"sort"
	"strings"
	"time"
	"unicode"

	"familiar/internal/providers/character"
	"familiar/internal/store"
)

// opinion is people's feedback on a domain.
type opinion struct {
	Character, Domain string
	Outdated, Wrong   int
	Last              time.Time
	URL               string // page of the latest feedback
}

type sourcesPage struct {
	Cast     []*character.Character
	Opinions []opinion
	CanEdit  bool
}

func (k *Console) sources(w http.ResponseWriter, r *http.Request) {
	p := sourcesPage{CanEdit: k.Shelf != nil}
	if k.Cast != nil {
		p.Cast = k.Cast()
	}
	all, err := k.Store.Ratings.AllFeedback(r.Context())
	if err != nil {
		k.broken(w, r, err)
		return
	}
	p.Opinions = opinions(all)
	k.render(w, r, http.StatusOK, "sources", "Sources", p)
}

// opinions counts the feedback on each domain, newest first.
func opinions(all []store.Feedback) (said []opinion) {
	for _, f := range all {
		i := slices.IndexFunc(said, func(o opinion) bool { return o.Character == f.Character && o.Domain == f.Domain })
		if i < 0 {
			i = len(said)
			said = append(said, opinion{Character: f.Character, Domain: f.Domain})
		}
		o := &said[i]
		if f.Verdict == "outdated" {
			o.Outdated++
		} else {
			o.Wrong++
		}
		if f.At.After(o.Last) {
			o.Last, o.URL = f.At, f.URL
		}
	}
	sort.SliceStable(said, func(i, j int) bool {
		a, b := said[i], said[j]
		return cmp.Or(b.Last.Compare(a.Last), cmp.Compare(a.Domain, b.Domain)) < 0
	})
	return said
}

// ask is a page that asks for confirmation of a deletion.
type ask struct {
	Question string
	What     string // what is deleted
	Action   string // where the form is sent
	Hidden   map[string]string
	Yes      string
	Back     string
}

func (k *Console) askForgetSource(w http.ResponseWriter, r *http.Request) {
	character, domain := r.URL.Query().Get("character"), r.URL.Query().Get("domain")
	k.render(w, r, http.StatusOK, "ask", "Forget a source", ask{
		Question: "Forget what people said of " + domain + "?",
		What:     "Everything that was said of this site to " + character + ", in all servers and by everybody. What is found there moves back to its place.",
		Action:   "/sources/forget", Hidden: map[string]string{"character": character, "domain": domain}, Yes: "Forget it", Back: "/sources",
	})
}

func (k *Console) forgetSource(w http.ResponseWriter, r *http.Request) {
	character, domain := r.PostFormValue("character"), r.PostFormValue("domain")
	n, err := 0, k.act(r, store.ActForgetSite, "", "", character+" "+domain)
	if err == nil {
		n, err = k.Store.Ratings.ForgetFeedback(r.Context(), character, domain, "", "")
	}
	if err != nil {
		k.broken(w, r, err)
		return
	}
	done := "forgotten"
	if n == 0 {
		done = "unchanged"
	}
	k.redirect(w, r, "/sources?done="+done)
}

// trustPage is the form for the sites that a character trusts. They are in its character.toml.
type trustPage struct {
	Folder      folder
	Sum         string // checksum of the file when it was read
	Kinds       []trustField
	Allow, Deny trustField
	Problem     string
	Problems    []problem // of the changed file
}

// trustField is a list of sites.
type trustField struct {
	Key, Intent string
	Sites       []string
	Only        bool // no other sites are read for this kind of question
}

// The keys of the lists in character.toml, which are also the names of the form's fields.
const (
	allowKey   = "web.allow"
	denyKey    = "web.deny"
	onlyKey    = "web.trusted.only"
	trustedKey = "web.trusted." // followed by a kind of question
)

func (k *Console) trust(w http.ResponseWriter, r *http.Request) {
	f, text, ok := k.settingsOf(w, r)
	if !ok {
		return
	}
	c, problems := k.Shelf.with(f.ID, configName, text)
	if c == nil {
		k.showTrust(w, r, http.StatusOK, nil, trustPage{Folder: f, Problem: "The file is wrong as it is. Put it right first.", Problems: problems})
		return
	}
	k.showTrust(w, r, http.StatusOK, listsOf(c), trustPage{Folder: f, Sum: sumOf(text)})
}

func (k *Console) saveTrust(w http.ResponseWriter, r *http.Request) {
	f, text, ok := k.settingsOf(w, r)
	if !ok {
		return
	}
	now := map[string][]string{}
	if c, _ := k.Shelf.with(f.ID, configName, text); c != nil {
		now = listsOf(c)
	}
	wanted := map[string][]string{onlyKey: r.PostForm[onlyKey]}
	for _, key := range siteKeys() {
		wanted[key] = strings.FieldsFunc(r.PostFormValue(key), func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	}
	changed := maps.Clone(wanted)
	maps.DeleteFunc(changed, func(key string, list []string) bool { return slices.Equal(list, now[key]) })
	text = character.SetLists(text, changed)
	p := trustPage{Folder: f, Sum: r.PostFormValue("sum")}
	done, status := "", 0
	if done, status, p.Problem = k.keep(r, f.ID, configName, p.Sum, text); done == "" {
		if _, p.Problems = k.Shelf.with(f.ID, configName, text); status == http.StatusConflict {
			now, _ := k.Shelf.read(f.ID, configName) // it was read a moment ago
			p.Sum = sumOf(now)
		}
		k.showTrust(w, r, status, wanted, p)
		return
	}
	k.redirect(w, r, "/sources?done="+done)
}

// settingsOf returns the character of a request with the text of its character.toml. If there is none, it writes the
// response.
func (k *Console) settingsOf(w http.ResponseWriter, r *http.Request) (f folder, text string, ok bool) {
	f, file, ok := k.folder(w, r)
	if !ok {
		return f, "", false
	}
	if file != configName {
		k.fail(w, r, http.StatusNotFound, "This character has no "+configName+": what it trusts is as in the defaults.")
		return f, "", false
	}
	text, err := k.Shelf.read(f.ID, file)
	if err != nil {
		k.broken(w, r, err)
	}
	return f, text, err == nil
}

func (k *Console) showTrust(w http.ResponseWriter, r *http.Request, status int, lists map[string][]string, p trustPage) {
	field := func(key string) trustField { return trustField{Key: key, Sites: lists[key]} }
	p.Allow, p.Deny = field(allowKey), field(denyKey)
	for _, intent := range character.Intents() {
		one := field(trustedKey + intent)
		one.Intent, one.Only = intent, slices.Contains(lists[onlyKey], intent)
		p.Kinds = append(p.Kinds, one)
	}
	k.render(w, r, status, "trust", p.Folder.Name, p)
}

func siteKeys() []string {
	all := []string{allowKey, denyKey}
	for _, intent := range character.Intents() {
		all = append(all, trustedKey+intent)
	}
	return all
}

// listsOf returns a character's active lists of sites by key.
func listsOf(c *character.Character) map[string][]string {
	all := map[string][]string{allowKey: c.Web.Allow, denyKey: c.Web.Deny, onlyKey: c.Web.TrustedOnly}
	for intent, sites := range c.Web.Trusted {
		all[trustedKey+intent] = sites
	}
	return all
}
