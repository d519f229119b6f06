package console

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"familiar/internal/memory"
	"familiar/internal/store"
)

type memoryPage struct {
	Text, Scope, ScopeID, Kind string

	Kinds  []memory.Kind
	Places []memory.ScopeCount
	All    []memory.Statement
	Names  map[string]string // names of people, by id
	Next   string
	First  string
	Total  int
}

const (
	memoriesPerPage = 40
	mostPlaces      = 100
)

func (k *Console) memory(w http.ResponseWriter, r *http.Request) {
	f := r.URL.Query()
	p := memoryPage{Text: f.Get("q"), Kind: f.Get("kind"), Kinds: memory.Kinds()}
	p.Scope, p.ScopeID, _ = strings.Cut(f.Get("in"), ":")
	before, _ := strconv.ParseInt(f.Get("before"), 10, 64)
	all, err := k.Memories.Browse(r.Context(), memory.Browse{
		Scope: memory.ScopeKind(p.Scope), ScopeID: p.ScopeID, Kind: memory.Kind(p.Kind), Text: strings.TrimSpace(p.Text), Before: before, Limit: memoriesPerPage + 1,
	})
	if err == nil {
		p.Places, err = k.Memories.CountByScope(r.Context(), mostPlaces)
	}
	if len(all) > memoriesPerPage {
		all = all[:memoriesPerPage]
		p.Next = pageAfter(r.URL, strconv.FormatInt(all[len(all)-1].ID, 10))
	}
	if before != 0 {
		p.First = pageAfter(r.URL, "")
	}
	if err == nil {
		p.Names, err = k.namesIn(r.Context(), all)
	}
	if err != nil {
		k.broken(w, r, err)
		return
	}
	for _, place := range p.Places {
		p.Total += place.N
	}
	p.All = all
	k.render(w, r, http.StatusOK, "memory", "Memory", p)
}

// In returns the scope as the form writes it.
func (p memoryPage) In() string {
	if p.Scope == "" {
		return ""
	}
	return p.Scope + ":" + p.ScopeID
}

func (k *Console) namesIn(ctx context.Context, all []memory.Statement) (map[string]string, error) {
	var ids []string
	for _, m := range all {
		ids = append(ids, m.By, m.Author)
		if m.Kind == memory.Person {
			ids = append(ids, m.Subject)
		}
	}
	slices.Sort(ids)
	return k.Store.People.NamesByID(ctx, "", slices.Compact(ids))
}

type statementPage struct {
	memory.Statement
	Names   map[string]string
	History []memory.Statement
	Draft   string // as entered
	Problem string
}

// remembered returns the statement of a request. If there is none, it writes the response.
func (k *Console) remembered(w http.ResponseWriter, r *http.Request) (memory.Statement, bool) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	var all []memory.Statement
	if err == nil && id > 0 {
		all, err = k.Memories.Browse(r.Context(), memory.Browse{ID: id, Limit: 1})
		if err != nil {
			k.broken(w, r, err)
			return memory.Statement{}, false
		}
	}
	if len(all) == 0 {
		k.fail(w, r, http.StatusNotFound, "There is no such statement. It may have been forgotten meanwhile.")
		return memory.Statement{}, false
	}
	return all[0], true
}

func (k *Console) statement(w http.ResponseWriter, r *http.Request) {
	if m, ok := k.remembered(w, r); ok {
		k.showStatement(w, r, http.StatusOK, statementPage{Statement: m, Draft: m.Text})
	}
}

func (k *Console) showStatement(w http.ResponseWriter, r *http.Request, status int, p statementPage) {
	names, err := k.namesIn(r.Context(), []memory.Statement{p.Statement})
	if err == nil {
		p.History, err = k.Memories.History(r.Context(), memory.FilterOperator(p.Statement), p.ID)
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		k.broken(w, r, err)
		return
	}
	p.Names = names
	k.render(w, r, status, "statement", "Statement "+strconv.FormatInt(p.ID, 10), p)
}

// correct replaces a statement, which stays as its history, or pins it.
func (k *Console) correct(w http.ResponseWriter, r *http.Request) {
	m, ok := k.remembered(w, r)
	if !ok {
		return
	}
	back := "/memory/" + strconv.FormatInt(m.ID, 10)
	if pin := r.PostFormValue("pin"); pin != "" {
		done := "unpinned"
		if pin == "yes" {
			done = "pinned"
		}
		if err := k.Memories.Pin(r.Context(), memory.FilterOperator(m), m.ID, pin == "yes", k.operator(r)); err != nil {
			k.refused(w, r, m, m.Text, err)
			return
		}
		k.redirect(w, r, back+"?done="+done)
		return
	}
	text := strings.TrimSpace(strings.ReplaceAll(r.PostFormValue("text"), "\r\n", "\n"))
	if text == m.Text {
		k.redirect(w, r, back+"?done=unchanged")
		return
	}
	if m.Superseded {
		k.refused(w, r, m, text, errors.New("it is history: correct the statement that replaced it"))
		return
	}
	now := time.Now()
	id, err := k.Memories.Correct(r.Context(), memory.Statement{
		Kind: m.Kind, Scope: m.Scope, Subject: m.Subject, Text: text, Author: operatorSource, Sources: append(slices.Clone(m.Sources), memory.CommandSource(operatorSource)),
		TraceID: m.TraceID, By: m.By, SaidAt: now, LearnedAt: now, Supersedes: m.ID, Pinned: m.Pinned,
	}, k.operator(r))
	if err != nil {
		k.refused(w, r, m, text, err)
		return
	}
	k.redirect(w, r, "/memory/"+strconv.FormatInt(id, 10)+"?done=corrected")
}

func (k *Console) refused(w http.ResponseWriter, r *http.Request, m memory.Statement, draft string, err error) {
	k.showStatement(w, r, http.StatusUnprocessableEntity, statementPage{Statement: m, Draft: draft, Problem: err.Error()})
}

func (k *Console) askDelete(w http.ResponseWriter, r *http.Request) {
	m, ok := k.remembered(w, r)
	if !ok {
		return
	}
	at := "/memory/" + strconv.FormatInt(m.ID, 10)
	k.render(w, r, http.StatusOK, "ask", "Delete a statement", ask{
		Question: "Delete this statement?", What: m.Text, Action: at + "/delete", Yes: "Delete it and its history", Back: at,
	})
}

func (k *Console) delete(w http.ResponseWriter, r *http.Request) {
	m, ok := k.remembered(w, r)
	if !ok {
		return
	}
	if err := k.Memories.Forget(r.Context(), memory.FilterOperator(m), m.ID, k.operator(r)); err != nil {
		k.refused(w, r, m, m.Text, err)
		return
	}
	in := url.Values{"in": {string(m.Scope.Kind) + ":" + m.Scope.ID}, "done": {"deleted"}}
	k.redirect(w, r, "/memory?"+in.Encode())
}
