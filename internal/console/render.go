package console

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/memory"
	"familiar/internal/text"
	"familiar/internal/view"
)

//go:embed templates/*.html static/*
var files embed.FS

// entry is one page in the menu.
type entry struct{ Name, Path, Key string }

func (k *Console) menu() []entry {
	all := []entry{
		{"Now", "/", "n"}, {"Search", "/turns", "s"}, {"Conversations", "/channels", "v"}, {"Lookups", "/lookups", "l"}, {"Sources", "/sources", "o"}, {"Backends", "/backends", "b"},
		{"Memory", "/memory", "m"},
	}
	if k.Shelf != nil {
		all = append(all, entry{"Characters", "/characters", "c"})
	}
	all = append(all, entry{"Health", "/health", "h"}, entry{"Usage", "/usage", "u"})
	if k.Controls != nil {
		all = append(all, entry{"Operate", "/operate", "p"})
	}
	if k.Doctor != nil {
		all = append(all, entry{"Doctor", "/doctor", "d"})
	}
	return all
}

// page is the data of every template.
type page struct {
	Title   string
	Menu    []entry
	At      string // path of the open menu entry
	Theme   string // light, dark, or empty for the system's
	Here    string // the page's address, for links back
	Notice  string
	Version string
	Zone    string // of the server's times
	SignOut bool
	Data    any
}

// templates are the parsed templates.
type templates struct {
	pages map[string]*template.Template // each with the layout and the shared parts
	parts *template.Template            // fragments of pages for the feed
}

// parse reads the templates.
func (k *Console) parse() (*templates, error) {
	shared, err := template.New("").Funcs(k.functions()).ParseFS(files, "templates/layout.html", "templates/parts.html")
	if err != nil {
		return nil, err
	}
	all := &templates{pages: map[string]*template.Template{}}
	names, err := fs.Glob(files, "templates/*.html")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		id := strings.TrimSuffix(path.Base(name), ".html")
		if id == "layout" || id == "parts" {
			continue
		}
		t, err := shared.Clone()
		if err == nil {
			t, err = t.ParseFS(files, name)
		}
		if err != nil {
			return nil, err
		}
		all.pages[id] = t
	}
	all.parts = shared // a template cannot be cloned after its execution
	return all, nil
}

// render writes a page. It sends nothing until the page is complete, and removes secrets.
func (k *Console) render(w http.ResponseWriter, r *http.Request, status int, name, title string, data any) {
	p := page{
		Title: title, Menu: k.menu(), At: section(r.URL.Path), Theme: themeOf(r), Here: r.URL.RequestURI(), Notice: notices[r.URL.Query().Get("done")],
		Version: k.Version, Zone: time.Now().In(k.Zone).Format("MST"), SignOut: k.Token != "" && name != "login", Data: data,
	}
	if r.Method != http.MethodGet {
		p.Here = r.URL.Path
	}
	if name == "login" {
		p.Menu = nil
	}
	var b bytes.Buffer
	t, err := k.read()
	if err == nil {
		err = t.pages[name].ExecuteTemplate(&b, "layout", p)
	}
	if err != nil {
		k.Log.Error("console: write page", "page", name, "err", err)
		http.Error(w, "This page could not be written; the log says why.", http.StatusInternalServerError)
		return
	}
	k.send(w, r, status, "text/html; charset=utf-8", []byte(k.finished(b.String())))
}

// finished returns what the templates wrote without secrets, and with the addresses as the reader has them.
func (k *Console) finished(html string) string {
	html = k.Redact(html)
	if k.Prefix == "" {
		return html
	}
	// In a text or a value a quotation mark is escaped, so that these are attributes.
	return strings.NewReplacer(`href="/`, `href="`+k.Prefix+`/`, `src="/`, `src="`+k.Prefix+`/`, `action="/`, `action="`+k.Prefix+`/`,
		`data-live="/`, `data-live="`+k.Prefix+`/`, `data-check="/`, `data-check="`+k.Prefix+`/`).Replace(html)
}

// leastPacked is from how many bytes on a response is compressed.
const leastPacked = 1400

// send writes a response, compressed if the client accepts that.
func (k *Console) send(w http.ResponseWriter, r *http.Request, status int, kind string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Add("Vary", "Accept-Encoding")
	if len(body) < leastPacked || !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.WriteHeader(status)
		_, _ = w.Write(body)
		return
	}
	h.Set("Content-Encoding", "gzip")
	w.WriteHeader(status)
	packed, _ := gzip.NewWriterLevel(w, gzip.BestSpeed) // the level is valid
	_, _ = packed.Write(body)
	_ = packed.Close()
}

func (k *Console) fragment(name string, data any) string {
	var b bytes.Buffer
	t, err := k.read()
	if err == nil {
		err = t.parts.ExecuteTemplate(&b, name, data)
	}
	if err != nil {
		k.Log.Error("console: write page part", "part", name, "err", err)
		return ""
	}
	return k.finished(b.String())
}

type failure struct {
	Status int
	Text   string
}

// fail writes a page with a problem.
func (k *Console) fail(w http.ResponseWriter, r *http.Request, status int, text string) {
	k.render(w, r, status, "fail", http.StatusText(status), failure{status, text})
}

// broken writes a page for a failure of the store. It shows the error, because the reader is the operator.
func (k *Console) broken(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return // the client has gone
	}
	k.Log.Error("console: read page", "page", r.URL.Path, "err", k.Redact(err.Error()))
	k.fail(w, r, http.StatusInternalServerError, err.Error())
}

// notices are the messages on a page after an action.
var notices = map[string]string{
	"corrected": "The statement is corrected. What it said before is kept as its history.",
	"deleted":   "Deleted.",
	"forgotten": "What was said of this source is forgotten.",
	"saved":     "Saved, and in force from the next turn on.",
	"unchanged": "Nothing was changed.",
	"imported":  "Imported. It speaks where it is chosen.",
	"pinned":    "Pinned.",
	"unpinned":  "Not pinned any more.",
	"revoked":   "Signed out.",
	"switched":  "Done, and in force at once.",
	"quotas":    "The quotas are kept, and in force at once.",
	"way":       "Saved, and in force from the next turn on.",
	"stopped":   "Stopped. What is posted stays.",
	"over":      "The answer was over already.",
	"gone":      "The reply is not there any more, or another stands in its place.",
	"question":  "The question was deleted: there is nothing to take again.",
	"reply":     "The reply is deleted. The record of the turn stays.",
}

// section returns the menu entry of a path.
func section(p string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(p, "/"), "/")
	switch first {
	case "turn":
		first = "turns"
	case "channel", "person":
		first = "channels"
	}
	return "/" + first
}

func themeOf(r *http.Request) string {
	if c, err := r.Cookie(themeCookie); err == nil && (c.Value == "dark" || c.Value == "light") {
		return c.Value
	}
	return ""
}

// theme stores the choice of light or dark and returns to the page.
func (k *Console) theme(w http.ResponseWriter, r *http.Request) {
	chosen := r.PostFormValue("theme")
	seconds := int((365 * 24 * time.Hour).Seconds())
	if chosen != "dark" && chosen != "light" {
		chosen, seconds = "", -1
	}
	http.SetCookie(w, k.cookie(r, themeCookie, chosen, seconds))
	k.redirect(w, r, local(r.PostFormValue("back")))
}

// local returns a path of this site, whatever the form contains.
func local(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "" || u.Host != "" || !strings.HasPrefix(u.Path, "/") || strings.HasPrefix(text, "//") || strings.Contains(text, `\`) {
		return "/"
	}
	return u.RequestURI()
}

// static serves the files that pages load.
func (k *Console) static(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	body, err := files.ReadFile("static/" + name)
	if err != nil {
		k.fail(w, r, http.StatusNotFound, "There is no such file.")
		return
	}
	types := map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
	tag := fmt.Sprintf(`W/"%x"`, sha256.Sum256(body))[:20] + `"`
	w.Header().Set("Cache-Control", "no-cache") // it is asked for again, with its tag
	w.Header().Set("ETag", tag)
	if strings.Contains(r.Header.Get("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	k.send(w, r, http.StatusOK, types[path.Ext(name)], body)
}

func (k *Console) functions() template.FuncMap {
	return template.FuncMap{
		"moment":  k.moment,
		"shown":   view.Visible,
		"call":    callWord,
		"rest":    func(share float64) float64 { return 100 - share },
		"iso":     func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"span":    span,
		"channel": k.channelName,
		"count":   text.Thousands,
		"money":   money,
		"percent": func(f float64) string { return strconv.Itoa(int(f*100+0.5)) + " %" },
		"doing":   doing,
		"words":   func(code any) string { return strings.ReplaceAll(fmt.Sprint(code), "_", " ") },
		"join":    strings.Join,
		"has":     slices.Contains[[]string],
		"host":    hostOf,
		"phase":   phaseWord,
		"lookup":  lookupWord,
		"add":     func(a, b int) int { return a + b },
		"address": withQuery,
		"size":    text.Size,
		"statements": func(all []memory.Statement, names map[string]string) memoryPage {
			return memoryPage{All: all, Names: names}
		},
		"wall":     linkTo,
		"operated": func() bool { return k.Controls != nil },
	}
}

// moment formats a time, with its day unless that is today. The script writes it in the reader's zone instead of the server's.
func (k *Console) moment(t time.Time) template.HTML {
	if t.IsZero() {
		return "–"
	}
	layout, now := "15:04:05", time.Now().In(k.Zone)
	switch t = t.In(k.Zone); {
	case t.Year() != now.Year():
		layout = "2 Jan 2006 15:04"
	case t.YearDay() != now.YearDay():
		layout = "2 Jan 15:04"
	}
	return template.HTML(`<time class="num" datetime="` + t.UTC().Format(time.RFC3339) + `" title="` + t.Format("2 Jan 2006 15:04:05 MST") + `">` + t.Format(layout) + `</time>`)
}

func (k *Console) channelName(id string) string {
	if k.Channel != nil {
		if name := k.Channel(id); name != "" {
			return "#" + name
		}
	}
	return cmp.Or(id, "–")
}

// span formats a duration in the unit that gives one to three digits.
func span(d time.Duration) string {
	switch {
	case d <= 0:
		return "–"
	case d < time.Millisecond:
		return strconv.Itoa(int(d.Microseconds())) + " µs"
	case d < time.Second:
		return strconv.Itoa(int(d.Milliseconds())) + " ms"
	case d < 10*time.Second:
		return strconv.FormatFloat(d.Seconds(), 'f', 2, 64) + " s"
	case d < 2*time.Minute:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	case d < 2*time.Hour:
		return strconv.Itoa(int(d.Minutes()+0.5)) + " min"
	case d < 48*time.Hour:
		return strconv.Itoa(int(d.Hours()+0.5)) + " h"
	}
	return strconv.Itoa(int(d.Hours()/24+0.5)) + " days"
}

func money(dollars float64) string {
	if dollars == 0 {
		return "–"
	}
	digits := 2
	if dollars < 0.1 {
		digits = 4
	}
	return "$" + strconv.FormatFloat(dollars, 'f', digits, 64)
}

// doing describes the current step of a turn.
func doing(p turn.Progress) string {
	switch p.Activity {
	case turn.Searching:
		return "searching the web"
	case turn.Reading:
		if p.N == 1 {
			return "reading 1 page"
		}
		return "reading " + strconv.Itoa(p.N) + " pages"
	case turn.Checking:
		return "checking what they say"
	case turn.Thinking:
		return "waiting for the model"
	case turn.Writing:
		return "writing the answer"
	}
	return "collecting context"
}

func phaseWord(p turn.Phase) string {
	if !p.Over() {
		return "running"
	}
	return string(p)
}

func lookupWord(s turn.State) string {
	switch s {
	case turn.NotNeeded:
		return "not needed"
	case turn.Disabled:
		return "off"
	case turn.Empty:
		return "nothing found"
	case turn.LookupFailed:
		return "lookup failed"
	}
	return string(s)
}

// hostOf returns the host of a page for people.
func hostOf(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		address = u.Host
	}
	return strings.TrimPrefix(address, "www.")
}

// withQuery returns an address with the non-empty parameters.
func withQuery(path string, pairs ...string) string {
	values := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			values.Set(pairs[i], pairs[i+1])
		}
	}
	if len(values) == 0 {
		return path
	}
	return path + "?" + values.Encode()
}
