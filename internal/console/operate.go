package console

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/forget"
	"familiar/internal/reply"
	"familiar/internal/store"
	"familiar/internal/text"
	"familiar/internal/trace"
	"familiar/internal/view"
)

// Controls are what the operator does to the running bot, by the functions that people's commands call. All are required.
type Controls struct {
	Stop      func(channelID, turnID string) bool
	Delete    func(ctx context.Context, t *turn.Trace, by string) error
	Pause     func(ctx context.Context, s store.Switch, ends bool) error
	Parent    func(ctx context.Context, channelID string) string // the channel above a thread, or empty
	Limits    func() string                                      // the quotas that are in force, as FAMILIAR_QUOTAS has them
	SetLimits func(ctx context.Context, quotas string) error     // keeps them and puts them in force
	Replay    func(ctx context.Context, a Again) (Replayed, error)
	Count     func(ctx context.Context, personID string) (map[forget.Kind]int, error) // what is kept of a person
	Log       *Journal
}

// Journal keeps the last lines of a log. Its zero value is ready.
type Journal struct {
	mu    sync.Mutex
	lines []string // oldest first; guarded by mu
}

const (
	journalLines = 100
	longestLine  = 300 // characters
)

// Write keeps a line, without its secrets: who writes it has removed them.
func (j *Journal) Write(line []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, text.Truncate(string(bytes.TrimSpace(line)), longestLine))
	if len(j.lines) > 2*journalLines {
		j.lines = slices.Clone(j.lines[journalLines:])
	}
	return len(line), nil
}

// last returns the last lines, newest first.
func (j *Journal) last() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	all := slices.Clone(j.lines[max(0, len(j.lines)-journalLines):])
	slices.Reverse(all)
	return all
}

// operatorSource names the operator as the author of changes and of statements. Of changes, a session follows after a colon.
const operatorSource = "console"

// operator is the author of what a request changes.
func (k *Console) operator(r *http.Request) store.By {
	by := store.By{ID: operatorSource, Name: "the operator", At: time.Now()}
	if s, ok := k.sessionOf(r); ok && k.Token != "" {
		by.ID += ":" + s.Short()
	} else if k.Token != "" {
		by.ID += ":token"
	}
	return by
}

// act puts an act of the operator on record, before it is done.
func (k *Console) act(r *http.Request, kind store.ChangeKind, guildID, channelID, what string) error {
	by := k.operator(r)
	k.Log.Info("console", "act", kind, "what", what, "by", by.ID, "from", k.addressOf(r).Addr())
	return k.Store.Changes.Record(r.Context(), store.Change{By: by, GuildID: guildID, ChannelID: channelID, Kind: kind, To: what})
}

type operatePage struct {
	Paused   bool // everywhere
	Off      []store.Switch
	Limits   string
	Quotas   []Quota
	Size     store.Size
	Backup   time.Time // zero: there is none
	Checked  inspected
	At       time.Time // when the check began; zero: never
	Checking bool
	Opinions []opined
	Acts     []store.Change
	Log      []string
	Problem  string
}

// inspected is what a check of the database found.
type inspected struct {
	store.Inspection
	Trouble string
}

// opined is what somebody thinks of a reply.
type opined struct {
	store.Opinion
	Line *trace.Summary // nil: there is no record any more
}

const (
	shownActs     = 40
	shownOpinions = 10
)

func (k *Console) operate(w http.ResponseWriter, r *http.Request) {
	k.showOperate(w, r, http.StatusOK, operatePage{Limits: k.Controls.Limits()})
}

func (k *Console) showOperate(w http.ResponseWriter, r *http.Request, status int, p operatePage) {
	ctx := r.Context()
	var errs [6]error
	p.Off, errs[0] = k.Store.Settings.Off(ctx)
	p.Paused = slices.ContainsFunc(p.Off, func(s store.Switch) bool { return s.Place == store.Everywhere && s.Kind == store.Answers })
	if k.Quotas != nil {
		p.Quotas, errs[1] = k.Quotas(ctx)
	}
	p.Size, errs[2] = k.Store.Size(ctx)
	p.Backup, errs[3] = k.Store.LastBackup(ctx)
	errs[3] = ignoring(errs[3], store.ErrNotFound)
	p.Acts, errs[4] = k.Store.Changes.All(ctx, shownActs)
	p.Opinions, errs[5] = k.opined(ctx)
	if err := errors.Join(errs[:]...); err != nil {
		k.broken(w, r, err)
		return
	}
	p.Checked, p.At, p.Checking = k.inspections.state()
	if p.Checking {
		w.Header().Set("Refresh", refreshInterval)
	}
	p.Log = k.Controls.Log.last()
	k.render(w, r, status, "operate", "Operate", p)
}

// opined returns what people thought last of replies.
func (k *Console) opined(ctx context.Context) (all []opined, err error) {
	last, err := k.Store.Ratings.LatestOpinions(ctx, shownOpinions)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, o := range last {
		ids = append(ids, o.TurnID)
	}
	lines, err := k.Traces.Lines(ctx, ids...)
	for _, o := range last {
		one := opined{Opinion: o}
		if i := slices.IndexFunc(lines, func(l trace.Summary) bool { return l.ID == o.TurnID }); i >= 0 {
			one.Line = &lines[i]
		}
		all = append(all, one)
	}
	return all, err
}

// switchPlace switches the answers or the lookups of a place off or on. The place is a channel, a server, or everywhere.
func (k *Console) switchPlace(w http.ResponseWriter, r *http.Request) {
	by := k.operator(r)
	back := local(r.PostFormValue("back"))
	s := store.Switch{Kind: r.PostFormValue("kind"), Place: r.PostFormValue("place"), GuildID: r.PostFormValue("guild"), By: by.ID, ByName: by.Name, At: by.At}
	on := r.PostFormValue("state") == "on"
	if s.Kind != store.Answers && s.Kind != store.Lookups || s.Place == "" && s.GuildID == "" {
		k.fail(w, r, http.StatusUnprocessableEntity, "There is nothing like that to switch.")
		return
	}
	off, err := k.Store.Settings.IsOff(r.Context(), &s)
	switch {
	case err != nil:
	case off != on:
		k.redirect(w, r, done(back, "unchanged"))
		return
	case s.Kind == store.Answers:
		err = k.Controls.Pause(r.Context(), s, on)
	case on:
		err = k.Store.Settings.SwitchOn(r.Context(), s)
	default:
		err = k.Store.Settings.SwitchOff(r.Context(), s)
	}
	if err != nil {
		k.broken(w, r, err)
		return
	}
	k.redirect(w, r, done(back, "switched"))
}

// done adds to an address what was done there.
func done(address, what string) string {
	path, _, _ := strings.Cut(address, "?")
	return withQuery(path, "done", what)
}

func (k *Console) setLimits(w http.ResponseWriter, r *http.Request) {
	before, wanted := k.Controls.Limits(), strings.TrimSpace(r.PostFormValue("quotas"))
	if !r.PostForm.Has("quotas") {
		k.fail(w, r, http.StatusUnprocessableEntity, "The form is not whole, so nothing was changed.")
		return
	}
	if err := k.Controls.SetLimits(r.Context(), wanted); err != nil {
		k.showOperate(w, r, http.StatusUnprocessableEntity, operatePage{Limits: wanted, Problem: err.Error()})
		return
	}
	change := store.Change{By: k.operator(r), Kind: store.ChangeQuotas, From: before, To: k.Controls.Limits()}
	if err := k.Store.Changes.Record(r.Context(), change); err != nil {
		k.broken(w, r, err)
		return
	}
	k.redirect(w, r, "/operate?done=quotas")
}

// inspect looks for damage in the database. It reads everything, so it is a POST.
func (k *Console) inspect(w http.ResponseWriter, r *http.Request) {
	if err := k.act(r, store.ActCheck, "", "", "the database"); err != nil {
		k.broken(w, r, err)
		return
	}
	k.inspections.begin(r, func(ctx context.Context, set func(inspected)) {
		found, err := k.Store.Inspect(ctx)
		c := inspected{Inspection: found}
		if err != nil {
			c.Trouble = err.Error()
		}
		set(c)
	})
	k.redirect(w, r, "/operate")
}

// way is how the bot takes part in a channel.
type way struct {
	store.Channel
	store.Conduct
	Modes  []turn.Mode
	Off    map[string]bool // what is switched off there, or above it
	Paused bool            // there, and not only above it
	Parent string          // of a thread
}

func (k *Console) wayIn(ctx context.Context, channelID, guildID string) (*way, error) {
	w := &way{Modes: turn.Modes()}
	if guildID != "" {
		w.Parent = k.Controls.Parent(ctx, channelID)
	}
	var errs [4]error
	w.Channel, errs[0] = k.Store.Settings.Channel(ctx, channelID)
	if untouched := (store.Channel{ID: channelID, GuildID: w.Channel.GuildID}); w.Channel == untouched && w.Parent != "" {
		w.Channel, errs[0] = k.Store.Settings.Channel(ctx, w.Parent)
	}
	w.Conduct, errs[1] = k.Store.Settings.Conduct(ctx, cmp.Or(w.Parent, channelID))
	w.Off, errs[2] = k.Store.Settings.SwitchedOff(ctx, channelID, w.Parent, guildID)
	w.Paused, errs[3] = k.Store.Settings.IsOff(ctx, &store.Switch{Place: channelID, Kind: store.Answers})
	w.Channel.ID, w.Channel.GuildID = channelID, guildID
	return w, errors.Join(errs[:]...)
}

// setWay changes how the bot takes part in a channel, in one form with all of it.
func (k *Console) setWay(w http.ResponseWriter, r *http.Request) {
	id, mode, pictures := r.PathValue("id"), r.PostFormValue("mode"), r.PostFormValue("pictures")
	if !r.PostForm.Has("mode") { // what is not ticked is not sent, either
		k.fail(w, r, http.StatusUnprocessableEntity, "The form is not whole, so nothing was changed.")
		return
	}
	if mode != "" && !slices.Contains(turn.Modes(), turn.Mode(mode)) {
		k.fail(w, r, http.StatusUnprocessableEntity, "There is no such mode.")
		return
	}
	if !slices.Contains([]string{"", store.OnOff(true), store.OnOff(false)}, pictures) {
		k.fail(w, r, http.StatusUnprocessableEntity, "Pictures are on, off, or as the character's habit is.")
		return
	}
	some, err := k.Store.Messages.Recent(r.Context(), id, 1)
	if err == nil && len(some) == 0 {
		k.fail(w, r, http.StatusNotFound, "No message of this channel is kept.")
		return
	}
	var now *way
	if err == nil {
		now, err = k.wayIn(r.Context(), id, some[0].GuildID)
	}
	on := func(name string) bool { return r.PostFormValue(name) == "on" }
	if err == nil {
		_, err = k.Store.Settings.ChangeChannel(r.Context(), now.Channel, k.operator(r), func(c *store.Channel) {
			c.Mode, c.WebOff, c.Bare = mode, !on("web"), !on("buttons")
		})
	}
	if err == nil {
		err = k.Store.Settings.ChangeConduct(r.Context(), cmp.Or(now.Parent, id), some[0].GuildID, k.operator(r), func(c *store.Conduct) {
			c.Chatty, c.Greets, c.Threads, c.Subscribed = on("chatty"), on("greets"), on("threads"), on("subscribed")
			c.Pictures = pictures
		})
	}
	if err != nil {
		k.broken(w, r, err)
		return
	}
	k.redirect(w, r, "/channel/"+id+"?done=way")
}

// stopTurn ends the answer of a turn that is being given. What is posted stays.
func (k *Console) stopTurn(w http.ResponseWriter, r *http.Request) {
	t, ok := k.recorded(w, r)
	if !ok {
		return
	}
	id, said := t.Request.ID, "over"
	if !t.Phase.Over() {
		if err := k.act(r, store.ActStop, t.Request.GuildID, t.Request.ChannelID, id); err != nil {
			k.broken(w, r, err)
			return
		}
		if k.Controls.Stop(t.Request.ChannelID, id) {
			said = "stopped"
		}
	}
	k.redirect(w, r, "/turn/"+id+"?done="+said)
}

// stands reports whether the reply of a turn can be deleted. Another answer may be in its place. A post that is older than messages are
// kept may be there.
func (k *Console) stands(ctx context.Context, t *turn.Trace) (bool, error) {
	_, gone := trace.Gone(t)
	gone = gone || len(t.ReplyIDs) == 0 || slices.ContainsFunc(t.Presses, func(p turn.Press) bool { return p.Kind == reply.DeleteButton })
	for _, id := range t.ReplyIDs {
		m, err := k.Store.Messages.Get(ctx, id)
		if err == nil && m.TurnID == t.Request.ID || ignoring(err, store.ErrNotFound) != nil {
			return true, ignoring(err, store.ErrNotFound)
		}
		gone = gone || err == nil
	}
	return !gone, nil
}

// standing returns the record of a request's turn if its reply can be deleted. If not, it writes the response.
func (k *Console) standing(w http.ResponseWriter, r *http.Request) (t *turn.Trace, ok bool) {
	if t, ok = k.recorded(w, r); !ok {
		return t, false
	}
	ok, err := k.stands(r.Context(), t)
	if err != nil {
		k.broken(w, r, err)
		return t, false
	}
	if !ok {
		k.redirect(w, r, "/turn/"+t.Request.ID+"?done=gone")
	}
	return t, ok
}

func (k *Console) askDeleteReply(w http.ResponseWriter, r *http.Request) {
	if t, ok := k.standing(w, r); ok {
		at := "/turn/" + t.Request.ID
		k.render(w, r, http.StatusOK, "ask", "Delete a reply", ask{
			Question: "Delete this reply from the channel?", What: text.Truncate(t.Reply, longestSaid), Action: at + "/delete", Yes: "Delete the reply", Back: at,
		})
	}
}

// deleteReply deletes the posts of a reply. The record of the turn stays.
func (k *Console) deleteReply(w http.ResponseWriter, r *http.Request) {
	t, ok := k.standing(w, r)
	if !ok {
		return
	}
	err := k.act(r, store.ActDelete, t.Request.GuildID, t.Request.ChannelID, t.Request.ID)
	if err == nil {
		err = k.Controls.Delete(r.Context(), t, k.operator(r).ID)
	}
	if err != nil {
		k.broken(w, r, err)
		return
	}
	k.redirect(w, r, "/turn/"+t.Request.ID+"?done=reply")
}

// Again says how a turn is taken again.
type Again struct {
	Turn      string
	Character string // its id; empty: the one of then
	Model     string // empty: the configured one
	Ask       string // askNobody, askModel or askAll
}

// These are the services that a replay asks.
const (
	AskNobody = ""
	AskModel  = "model" // about what was found then
	AskAll    = "all"   // the search services and the pages, too
)

// Replayed is a turn that was taken again.
type Replayed struct {
	Then, Now *turn.Trace
	Notes     []string // what could not be repeated
}

// replayed is a replay in its present state.
type replayed struct {
	Again
	Replayed
	Trouble string
}

type replayPage struct {
	Trace    *turn.Trace
	Cast     []string // ids of characters
	How      Again
	Done     *replayed // nil: there is none of this turn
	Differ   []view.Differing
	Going    bool
	Outdated bool // the record has changed since, so that nothing is shown
}

// longestDiffer is how many characters of a section that differs are shown.
const longestDiffer = 3000

// repeatable returns the record of a request's turn if it can be taken again. If not, it writes the response.
func (k *Console) repeatable(w http.ResponseWriter, r *http.Request) (t *turn.Trace, ok bool) {
	if t, ok = k.recorded(w, r); !ok {
		return t, false
	}
	gone, _ := trace.Gone(t)
	if gone {
		k.redirect(w, r, "/turn/"+t.Request.ID+"?done=question")
	}
	return t, !gone
}

func (k *Console) replay(w http.ResponseWriter, r *http.Request) {
	t, ok := k.repeatable(w, r)
	if !ok {
		return
	}
	p := replayPage{Trace: t, How: Again{Turn: t.Request.ID, Character: t.Request.Character}}
	if k.Cast != nil {
		for _, c := range k.Cast() {
			p.Cast = append(p.Cast, c.ID)
		}
	}
	now, _, going := k.replays.state()
	if p.Going = going; going {
		w.Header().Set("Refresh", refreshInterval)
	}
	switch {
	case now.Turn != t.Request.ID:
	case now.Then != nil && recordOf(now.Then) != recordOf(t):
		p.Outdated = true
	default:
		p.Done, p.How = &now, now.Again
		if now.Now != nil {
			p.Differ = view.Compare(now.Then, now.Now).Sections
		}
	}
	for i := range p.Differ {
		p.Differ[i].Diff = text.Truncate(p.Differ[i].Diff, longestDiffer)
	}
	k.render(w, r, http.StatusOK, "replay", "Again: turn "+shortID(t.Request.ID), p)
}

// takeAgain takes a turn again. Models and services may be asked, so it is a POST.
func (k *Console) takeAgain(w http.ResponseWriter, r *http.Request) {
	t, ok := k.repeatable(w, r)
	if !ok {
		return
	}
	how := Again{Turn: t.Request.ID, Character: r.PostFormValue("character"), Model: strings.TrimSpace(r.PostFormValue("model")), Ask: r.PostFormValue("ask")}
	what := strings.Join(slices.DeleteFunc([]string{how.Turn, how.Character, how.Model, how.Ask}, func(s string) bool { return s == "" }), ", ")
	if err := k.act(r, store.ActReplay, t.Request.GuildID, t.Request.ChannelID, what); err != nil {
		k.broken(w, r, err)
		return
	}
	k.replays.begin(r, func(ctx context.Context, set func(replayed)) {
		set(replayed{Again: how})
		found, err := k.Controls.Replay(ctx, how)
		done := replayed{Again: how, Replayed: found}
		if err != nil {
			done.Trouble = err.Error()
		}
		set(done)
	})
	k.redirect(w, r, "/turn/"+how.Turn+"/replay")
}

// Forget forgets what replays showed: the words of a person may be in it.
func (k *Console) Forget() { k.replays.drop() }
