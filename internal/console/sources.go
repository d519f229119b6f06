package console

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"familiar/internal/store"
)

// Trust is which sites a character prefers, and which it may not visit.
type Trust struct {
	ID, Name    string // of the character
	Kinds       []TrustedKind
	Allow, Deny []string // sites it may visit alone, and may not
}

// TrustedKind is the sites that are trusted for a kind of question.
type TrustedKind struct {
	Intent string
	Sites  []string
	Only   bool // and no others are read
}

// opinion is what people said of a domain.
type opinion struct {
	Character, Domain string
	Outdated, Wrong   int
	Last              time.Time
	URL               string // the page it was about last
}

type sourcesPage struct {
	Trust    []Trust
	Opinions []opinion
	CanEdit  bool
}

func (k *Console) sources(w http.ResponseWriter, r *http.Request) {
	p := sourcesPage{CanEdit: k.Shelf != nil}
	if k.Trust != nil {
		p.Trust = k.Trust()
	}
	all, err := k.Store.AllFeedback(r.Context())
	if err != nil {
		k.broken(w, r, err)
		return
	}
	p.Opinions = opinions(all)
	k.render(w, r, http.StatusOK, "sources", "Sources", p)
}

// opinions counts what was said of each domain, of the newest first.
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
	slices.SortStableFunc(said, func(a, b opinion) int { return cmp.Or(b.Last.Compare(a.Last), cmp.Compare(a.Domain, b.Domain)) })
	return said
}

// ask is a page that asks before something is deleted.
type ask struct {
	Question string
	What     string // that goes
	Action   string // where the answer goes
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
	n, err := k.Store.ForgetFeedback(r.Context(), r.PostFormValue("character"), r.PostFormValue("domain"), "", "")
	if err != nil {
		k.broken(w, r, err)
		return
	}
	done := "forgotten"
	if n == 0 {
		done = "unchanged"
	}
	http.Redirect(w, r, "/sources?done="+done, http.StatusSeeOther)
}
