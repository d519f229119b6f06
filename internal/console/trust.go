package console

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"familiar/internal/providers/character"
)

// trustPage is the form of the sites that a character trusts, which stand in its character.toml.
type trustPage struct {
	Folder      Folder
	Sum         string // of the file as it was read
	Kinds       []trustField
	Allow, Deny trustField
	Problem     string
	Problems    []Problem // of the file as it would be
}

// trustField is a list of sites.
type trustField struct {
	Key, Intent string
	Sites       []string
	Only        bool // no others are read for this kind of question
}

// The keys of the lists in character.toml, which are the names of the form's fields, too.
const (
	allowKey   = "web.allow"
	denyKey    = "web.deny"
	onlyKey    = "web.trusted.only"
	trustedKey = "web.trusted." // and a kind of question
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
	if done, status, p.Problem = k.keep(r.Context(), f.ID, configName, p.Sum, text); done == "" {
		_, p.Problems = k.Shelf.with(f.ID, configName, text)
		k.showTrust(w, r, status, wanted, p)
		return
	}
	http.Redirect(w, r, "/sources?done="+done, http.StatusSeeOther)
}

// settingsOf returns the character of a request with the text of its character.toml. Where there is none it has answered.
func (k *Console) settingsOf(w http.ResponseWriter, r *http.Request) (f Folder, text string, ok bool) {
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

// listsOf are the lists of sites that are in force of a character, by their keys.
func listsOf(c *character.Character) map[string][]string {
	all := map[string][]string{allowKey: c.Web.Allow, denyKey: c.Web.Deny, onlyKey: c.Web.TrustedOnly}
	for intent, sites := range c.Web.Trusted {
		all[trustedKey+intent] = sites
	}
	return all
}
