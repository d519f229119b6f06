// Package view writes records as plain text for people, for every door. A turn is written by [Story], [Pages], [Whole], [Sent] and [List],
// and how it differs from a replay by [Compare]. [Lookup] writes a lookup, [Explain] its decisions, and [Searched] a search. [WebPage]
// writes a page that was read, and [Feedback] and [FeedbackFrom] the feedback on sources. Callers limit the length of a text and remove
// secrets.
package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/trace"
	"familiar/internal/web/clean"
)

// Page is one page of a record, in sections of plain text.
type Page struct {
	Name     string
	Sections []turn.Section
}

// Names of pages. Prompt shows what the model was sent.
const (
	Overview = "Overview"
	Lookups  = "Lookup"
	Prompt   = "Prompt"
	Reply    = "Reply"
)

// Titles of sections.
const (
	Timeline = "Timeline"
	Tokens   = "Tokens"
	Answer   = "Answer"
	Decision = "Decision"
	Search   = "Search"
	Reading  = "Pages"
	Claims   = "Claims"
	Recall   = "Recalled"
)

// Titles returns the names of all pages and the titles of all sections.
func Titles() []string {
	return []string{Overview, Lookups, Prompt, Reply, Files, Timeline, Tokens, Answer, Decision, Search, Reading, Claims, Recall}
}

// Files is the page about problems in the characters' files, and FilesWrong is its link.
const (
	Files      = "Files"
	FilesWrong = "files      %d problems with the characters' files: see the page Files\n"
)

// Pages writes a turn's record: the summary first, then the lookup, the prompt and the reply.
func Pages(t *turn.Trace) []Page {
	pages := []Page{{Overview, overview(t)}}
	if l := t.Lookup(); l != nil {
		pages = append(pages, Page{Lookups, lookup(l)})
	}
	return append(pages, Page{Prompt, sections("", promptPage(t))}, Page{Reply, sections("", replyPage(t))})
}

// Whole writes every page of a record under its name, except the prompt, which [Sent] writes.
func Whole(t *turn.Trace) string {
	var all strings.Builder
	for i, p := range Pages(t) {
		if p.Name == Prompt {
			continue
		}
		if i > 0 {
			fmt.Fprintf(&all, "\n── %s ──\n", p.Name)
		}
		for j, s := range p.Sections {
			if j > 0 {
				fmt.Fprintf(&all, "\n%s\n", s.Title)
			}
			all.WriteString(s.Text)
		}
	}
	return Visible(all.String())
}

// sections pairs titles with texts. It leaves out empty texts.
func sections(titlesAndTexts ...string) []turn.Section {
	var all []turn.Section
	for i := 0; i < len(titlesAndTexts); i += 2 {
		if text := titlesAndTexts[i+1]; text != "" {
			all = append(all, turn.Section{Title: titlesAndTexts[i], Text: text})
		}
	}
	return all
}

// writer collects lines of "label  value".
type writer struct{ strings.Builder }

func (w *writer) row(label, format string, values ...any) {
	fmt.Fprintf(w, "%-10s %s\n", label, fmt.Sprintf(format, values...))
}

// item writes the i-th of several rows. Only the first row has the label.
func (w *writer) item(i int, label, format string, values ...any) {
	if i > 0 {
		label = ""
	}
	w.row(label, format, values...)
}

func (w *writer) line(format string, values ...any) { fmt.Fprintf(w, format+"\n", values...) }

// quoted returns a text in quotation marks, on one line.
func quoted(s string) string { return `"` + clean.Line(s, longestQuoted) + `"` }

const longestQuoted = 2000 // characters

func overview(t *turn.Trace) []turn.Section {
	return sections("", what(t), Timeline, timeline(t), Tokens, tokens(t), Answer, answer(t), Recall, recollections(t))
}

// what describes in a few lines the question and what became of it.
func what(t *turn.Trace) string {
	var w writer
	r := t.Request
	w.row("turn", "%s · %s · %s in %s", r.ID, t.Began.UTC().Format("2006-01-02 15:04:05 UTC"), t.Phase, ms(t.Took))
	w.row("asked", "%s: %s", r.Message.Author.Name, quoted(clean.Line(r.Message.Text, 200)))
	if why := addressWords[r.Addressed]; why != "" {
		w.row("because", "%s", why)
	}
	w.row("mode", "%s · character %s", r.Mode, r.Character)
	if scene := r.Backdrop; scene != nil {
		w.row("backdrop", "%s by %s, %s", quoted(clean.Line(scene.Text, 200)), scene.By, day(scene.At))
	}
	if r.Persona != nil {
		w.row("posted as", "%s", r.Persona.Name)
	}
	for i, m := range t.Memory.All() {
		w.item(i, "memory", "%s", memoryChange(m))
	}
	if l := t.Lookup(); l != nil {
		w.row("lookup", "%s", lookupSummary(l))
		if l.Query != "" {
			w.row("query", "%s", l.Queries())
		}
	}
	for i, line := range lore(t) {
		w.item(i, "lore", "%s", line)
	}
	for i, line := range attached(t) {
		w.item(i, "attached", "%s", line)
	}
	for i, line := range summaries(t) {
		w.item(i, "summary", "%s", line)
	}
	for i, line := range embeddings(t) {
		w.item(i, "embedded", "%s", line)
	}
	for i, line := range recalled(t) {
		w.item(i, "recalled", "%s", line)
	}
	for i, v := range t.Transcripts {
		w.item(i, "voice", "%.0f s · %s%s", v.Seconds, sentTo(v), inParens(string(v.Failure)))
	}
	if v := t.Speech; v != nil {
		w.row("aloud", "%d characters to %s, %s: %.0f s%s", v.Characters, v.Host, v.Voice, v.Seconds, inParens(string(v.Failure)))
	}
	if m := t.Mood; m != nil {
		w.row("mood", "%s by %s%s · %s%s", m.Label, m.By, inParens(m.Why), orDash(m.Picture), inParens(string(m.Failure)))
	}
	if id := r.EarlierID; id != "" {
		what := "answers again what it answered before"
		switch {
		case r.Edited:
			what = "answers its edited question again"
		case r.GoOn:
			what = "goes on with a reply that was cut"
		}
		w.row("earlier", "%s · %s", id, what)
	}
	if t.Err != "" {
		w.row("error", "%s", t.Err)
	}
	if t.Cure != "" {
		w.row("check", "%s", t.Cure)
	}
	return w.String()
}

// addressWords say why a message was answered.
var addressWords = map[turn.Address]string{
	turn.ByDirect: "it was written in a direct message or at the terminal", turn.ByMention: "it mentions the bot", turn.ByReply: "it replies to the bot",
	turn.ByThread: "it goes on in a thread of the bot's own", turn.ByPost: "it begins a forum post, and all posts there are answered",
	turn.ByChannel: "every message in this channel is for the bot (/subscribe)", turn.ByName: "it contains the character's name",
	turn.ByLull: "nobody wrote for a while, and the bot may join in (/mode chatty)", turn.ByTier: "enough messages were written, and the bot may join in (/mode chatty)",
	turn.ByGreeting: "it was time for a greeting, once a day at most (/mode greets)", turn.ByPattern: "it matches a pattern in character.toml",
}

// tokens shows how the prompt used the budget, and what was cut or dropped to fit.
func tokens(t *turn.Trace) string {
	var w writer
	for _, l := range t.Layers {
		if l.Used > 0 {
			w.line("%s %5d of %d  %s", bar(0, l.Used, max(l.Budget, l.Used), tokenBar), l.Used, l.Budget, l.Layer)
		}
	}
	for i, d := range t.Dropped {
		w.item(i, "cut", "%s/%s %s, %d tokens", d.Layer, d.Source, d.Reason, d.Tokens)
	}
	return w.String()
}

// answer describes the model's answer and what was changed in it.
func answer(t *turn.Trace) string {
	var w writer
	w.row("model", "%s%s", orDash(t.Model), modelUse(t))
	for i, g := range t.Guarded {
		w.item(i, "guard", "%s ×%d%s", g.Rule, g.Count, inParens(g.What))
	}
	for i, c := range t.Unsupported {
		w.item(i, "marked", "[%d] %s (%s)", c.Source, clean.Line(c.Text, 120), c.Refused)
	}
	for i, p := range t.Processed {
		used := t.Spent(p.By)
		w.item(i, "beside", "%s by %s %s in %s · %d tokens in, %d out%s %s", p.By, orDash(p.Model), p.Status, ms(p.Took), used.Prompt, used.Completion, inParens(p.Err), clean.Line(p.Text, 120))
	}
	if v := t.Verified; v != nil {
		used := t.Spent(turn.ForVerify)
		w.row("verified", "%d of %d decided by a model in %s · %d tokens in, %d out", v.Decided(), len(v.Opinions), ms(v.Took), used.Prompt, used.Completion)
		for i, o := range v.Opinions {
			w.item(i, "opinions", "%s %s%s %s", o.Is, fmt.Sprint(o.Sources), inParens(cmp.Or(o.Why, o.Words)), clean.Line(cmp.Or(o.Quote, o.Text), 120))
		}
	}
	if t.Blind {
		w.row("images", "the model cannot see: it was shown none")
	}
	if t.Uncited {
		w.row("cited", "none of the sources that were given")
	}
	for i, p := range t.Presses {
		w.item(i, "pressed", "%s by %s · %s%s", p.Kind, p.ByID, p.At.UTC().Format("2006-01-02 15:04:05 UTC"), inParens(p.TurnID))
	}
	return w.String()
}

// summaries writes a line for each summary that was offered.
func summaries(t *turn.Trace) (lines []string) {
	for c := range t.Contributions() {
		if s := c.Summary; s != nil {
			where := "this channel"
			if s.Channel != "" {
				where = "#" + s.Channel
			}
			lines = append(lines, fmt.Sprintf("of %s · messages %d, %s to %s · sentences %d, by %s · %s old", where, s.Messages,
				s.FirstAt.UTC().Format("01-02 15:04"), s.LastAt.UTC().Format("01-02 15:04 UTC"), s.Sentences, s.By, s.Age.Round(time.Second)))
		}
	}
	return lines
}

// attached writes a line for each attachment.
func attached(t *turn.Trace) (lines []string) {
	for c := range t.Contributions() {
		a := c.Attached
		switch {
		case a == nil:
		case a.Name == "":
			lines = append(lines, fmt.Sprintf("quotations · %d tokens", c.Tokens))
		case a.Failure != "":
			lines = append(lines, fmt.Sprintf("%s · not shown: %s", a.Name, a.Failure))
		case a.Image != nil:
			lines = append(lines, fmt.Sprintf("%s · %s, %d×%d, %d bytes, sha256 %.12s · shown %d×%d, %d tokens", a.Name, a.Type, a.Width, a.Height, a.Size, a.SHA256, a.Image.Width, a.Image.Height, c.Tokens))
		default:
			lines = append(lines, fmt.Sprintf("%s · %d lines, %d bytes, sha256 %.12s · %d tokens", a.Name, a.Lines, a.Size, a.SHA256, c.Tokens))
		}
	}
	return lines
}

// sentTo says where a recording was sent.
func sentTo(v turn.Transcript) string {
	if v.Host == "" {
		return "not sent anywhere"
	}
	return fmt.Sprintf("%d bytes sent to %s", v.Bytes, v.Host)
}

func modelUse(t *turn.Trace) string {
	var text string
	if u := t.Usage; u.Prompt+u.Completion > 0 {
		cached := ""
		if u.Cached > 0 {
			cached = fmt.Sprintf(" (%d cached)", u.Cached)
		}
		text += fmt.Sprintf(" · %d tokens in%s, %d out", u.Prompt, cached, u.Completion)
	}
	if t.Usage.Cost > 0 {
		text += fmt.Sprintf(" · $%.4f", t.Usage.Cost)
	}
	if t.Finish != "" {
		text += " · " + t.Finish
	}
	for _, f := range t.Tried {
		text += fmt.Sprintf(" · %s failed: %s", f.Model, f.Kind)
	}
	return text
}

func promptPage(t *turn.Trace) string {
	var w writer
	for _, m := range t.Prompt {
		web := ""
		if m.Web {
			web = " · from the web"
		}
		w.line("── %s%s%s · %d tokens", m.Role, inParens(m.Name), web, m.Tokens)
		w.line("%s\n", m.Text)
	}
	return w.String()
}

func replyPage(t *turn.Trace) string {
	var w writer
	w.row("posts", "%s", orDash(strings.Join(t.ReplyIDs, ", ")))
	w.line("%s", orDash(t.Reply))
	return w.String()
}

// List writes a line for each turn.
func List(list []trace.Summary) string {
	var w writer
	for _, t := range list {
		w.line("%s  %s  %-9s %-10s %8s  %s: %s%s", t.ID, t.Began.UTC().Format("01-02 15:04"), t.Phase, orDash(string(t.Lookup)),
			ms(t.Took), t.Author, clean.Line(t.Question, 60), inParens(t.Err))
	}
	return w.String()
}

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

func ms(d time.Duration) string {
	switch {
	case d == 0:
		return "–"
	case d < time.Millisecond:
		return "<1 ms"
	case d < 10*time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

func published(at time.Time) string {
	if at.IsZero() {
		return "undated"
	}
	return "published " + day(at)
}

func status(code int) string {
	if code == 0 {
		return ""
	}
	return fmt.Sprintf("status %d", code)
}

func size(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d KiB", (n+1023)/1024)
}

func cached(is bool) string {
	if is {
		return "cached"
	}
	return ""
}

func sourceNumber(n int) string {
	if n == 0 {
		return "read, not used"
	}
	return fmt.Sprint(n)
}

// Ago writes how long ago something was, in minutes or hours.
func Ago(d time.Duration) string {
	if d < time.Hour {
		return fmt.Sprintf("%d min ago", max(1, int(d.Minutes())))
	}
	return fmt.Sprintf("%d h ago", int(d.Hours()))
}

func inParens(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

// orDash returns the first value that is not empty, or a dash.
func orDash(values ...string) string { return cmp.Or(append(values, "–")...) }

func nonEmpty(values ...string) []string {
	return slices.DeleteFunc(values, func(v string) bool { return v == "" })
}
