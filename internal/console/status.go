package console

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/doctor"
	"familiar/internal/search/backend"
	"familiar/internal/store"
	"familiar/internal/text"
	"familiar/internal/trace"
)

// Quota is a limit and its use.
type Quota struct {
	Name string // whom and what it limits: "all, tokens today"
	Used float64
	Most float64
}

// Share returns the used part, from 0 to 1.
func (q Quota) Share() float64 {
	if q.Most <= 0 {
		return 0
	}
	return min(1, q.Used/q.Most)
}

// state is what the page shows beside the turns.
type state struct {
	Gateway *turn.Gateway
	Lanes   []turn.Lane
	Quotas  []Quota
	Waiting int
	Today   struct {
		Turns, Lookups, Tokens int
		Cost                   float64
	}
	Trouble string
}

func (k *Console) state(ctx context.Context) (s state) {
	if k.Gateway != nil {
		g := k.Gateway()
		s.Gateway = &g
	}
	if k.Lanes != nil {
		s.Lanes = k.Lanes()
		sort.Slice(s.Lanes, func(i, j int) bool {
			a, b := s.Lanes[i], s.Lanes[j]
			return strings.Compare(a.ChannelID, b.ChannelID) < 0
		})
		for _, l := range s.Lanes {
			s.Waiting += l.Waiting
		}
	}
	if k.Quotas != nil {
		var err error
		if s.Quotas, err = k.Quotas(ctx); err != nil && ctx.Err() == nil {
			s.Trouble = err.Error()
		}
	}
	days, err := k.Store.Quotas.UsageByDay(ctx, time.Now())
	if err != nil && ctx.Err() == nil {
		s.Trouble = err.Error()
	}
	for _, d := range days {
		s.Today.Turns, s.Today.Lookups, s.Today.Tokens, s.Today.Cost = d.Turns, d.Lookups, d.Tokens, d.Cost
	}
	return s
}

// recentTurns is how many finished turns are listed below the running ones.
const recentTurns = 12

// rows returns the running turns and the latest finished ones.
type rows struct {
	Running []liveRow
	Recent  []found
	Aside   []Call
}

func (k *Console) rows(ctx context.Context) (all rows) {
	running := k.Feed.Running()
	all.Aside = k.Feed.lastAside()
	for _, p := range running {
		all.Running = append(all.Running, k.row(ctx, p))
	}
	recent, err := k.Traces.Recent(ctx, "", recentTurns+len(running))
	if err != nil && ctx.Err() == nil {
		k.Log.Error("console: list turns", "err", k.Redact(err.Error()))
	}
	for _, t := range recent {
		runs := slices.ContainsFunc(all.Running, func(r liveRow) bool { return r.ID == t.ID })
		if !runs && len(all.Recent) < recentTurns {
			all.Recent = append(all.Recent, found{Summary: t})
		}
	}
	return all
}

type nowPage struct {
	State state
	Rows  rows
}

func (k *Console) now(w http.ResponseWriter, r *http.Request) {
	k.render(w, r, http.StatusOK, "now", "Now", nowPage{k.state(r.Context()), k.rows(r.Context())})
}

type backendsPage struct {
	On, Off []backend.Status
	Slowest time.Duration // greatest P95 of all, the scale of the bars
}

func (k *Console) backends(w http.ResponseWriter, r *http.Request) {
	var p backendsPage
	if k.Backends != nil {
		all, err := k.Backends(r.Context())
		if err != nil {
			k.broken(w, r, err)
			return
		}
		for _, b := range all {
			if !b.On {
				p.Off = append(p.Off, b)
				continue
			}
			p.On = append(p.On, b)
			p.Slowest = max(p.Slowest, b.P95)
		}
	}
	k.render(w, r, http.StatusOK, "backends", "Backends", p)
}

type usagePage struct {
	Days     int
	Spans    []int
	ByDay    []column
	Sum      store.Used
	Channels []store.Usage
	People   []store.Usage
	Names    map[string]string
	Most     int // tokens on the day with the most
	Height   float64
	Width    float64
	Base     float64
}

// column is one day in the picture.
type column struct {
	store.DayUsage
	At             time.Time
	X, Y, W, H     float64
	Label          string // label below it; most have none
	LabelX, LabelY float64
}

// Measures of the picture in its own units.
const (
	chartWidth  = 960.0
	chartHeight = 200.0
	chartFoot   = 24.0
	mostUsers   = 20
)

func (k *Console) usage(w http.ResponseWriter, r *http.Request) {
	p := usagePage{Days: 30, Spans: []int{7, 30, 90}, Width: chartWidth, Height: chartHeight, Base: chartHeight - chartFoot}
	if days, err := strconv.Atoi(r.URL.Query().Get("days")); err == nil && slices.Contains(p.Spans, days) {
		p.Days = days
	}
	today := time.Now().UTC().Truncate(24 * time.Hour)
	since := today.AddDate(0, 0, 1-p.Days)
	days, err := k.Store.Quotas.UsageByDay(r.Context(), since)
	if err == nil {
		p.Channels, err = k.Store.Quotas.TopUsage(r.Context(), since, store.OfChannel, mostUsers)
	}
	if err == nil {
		p.People, err = k.Store.Quotas.TopUsage(r.Context(), since, store.OfPerson, mostUsers)
	}
	var ids []string
	for _, u := range p.People {
		ids = append(ids, u.ID)
	}
	if err == nil {
		p.Names, err = k.Store.People.NamesByID(r.Context(), "", ids)
	}
	if err != nil {
		k.broken(w, r, err)
		return
	}
	p.draw(days, since)
	k.render(w, r, http.StatusOK, "usage", "Usage", p)
}

// draw lays out a column for each day, including days without turns.
func (p *usagePage) draw(days []store.DayUsage, since time.Time) {
	for _, d := range days {
		p.Most = max(p.Most, d.Tokens)
		p.Sum.Turns += d.Turns
		p.Sum.Lookups += d.Lookups
		p.Sum.Tokens += d.Tokens
		p.Sum.Cost += d.Cost
	}
	step := chartWidth / float64(p.Days)
	every := max(1, p.Days/10)
	for i := range p.Days {
		at := since.AddDate(0, 0, i)
		c := column{DayUsage: store.DayUsage{Day: at.Format(dayLayout)}, At: at, X: float64(i)*step + step*0.15, W: step * 0.7, LabelX: max(20, float64(i)*step+step/2), LabelY: chartHeight - 6}
		if n := slices.IndexFunc(days, func(d store.DayUsage) bool { return d.Day == c.Day }); n >= 0 {
			c.DayUsage = days[n]
		}
		if p.Most > 0 && c.Tokens > 0 {
			c.H = max(2, float64(c.Tokens)/float64(p.Most)*(p.Base-12))
		}
		c.Y = p.Base - c.H
		if i%every == 0 {
			c.Label = at.Format("2 Jan")
		}
		p.ByDay = append(p.ByDay, c)
	}
}

type healthPage struct {
	State  state
	Alerts map[string]string // what the operator was told of, and is not over
	Fleet  store.Fleet       // who shares the database
	Charts []chart
}

// chart is a small picture of the last day, with a column for each hour, or of the last days.
type chart struct {
	Name    string
	Summary string
	Since   time.Time // nothing earlier is known; zero: all is
	Own     bool      // of this process alone
	Columns []chartColumn
}

// chartColumn has the share of the highest column, from 0 to 100. Behind it may be a paler one.
type chartColumn struct {
	X, H, Behind float64
	Title        string
}

// sightings are what looks at the bot found in the last hours. The bot itself does not keep that.
type sightings struct {
	mu      sync.Mutex
	began   time.Time // of the first look; guarded by mu, like all fields
	limited int64     // what Limited returned last
	hours   [24]sighting
}

// sighting is an hour of them.
type sighting struct {
	hour    int64 // since 1970
	waiting int   // most messages that waited at once
	limited int64 // answers 429 of Discord
}

// at returns the place of the hour that a time is in. The caller holds mu.
func (s *sightings) at(t time.Time) *sighting {
	hour := t.Unix() / 3600
	one := &s.hours[hour%int64(len(s.hours))]
	if one.hour != hour {
		*one = sighting{hour: hour}
	}
	return one
}

// look notes how many messages wait now, and how often Discord has refused since the last look.
func (k *Console) look() {
	if k.Lanes == nil || k.Limited == nil {
		return
	}
	waiting, limited := 0, k.Limited()
	for _, l := range k.Lanes() {
		waiting += l.Waiting
	}
	s := &k.seen
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.began.IsZero() {
		s.began = time.Now()
	}
	now := s.at(time.Now())
	now.waiting, now.limited, s.limited = max(now.waiting, waiting), now.limited+limited-s.limited, limited
}

// sightings draws what was seen.
func (k *Console) sightings(hours []trace.Period) (all []chart) {
	s := &k.seen
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.began.IsZero() {
		return nil
	}
	all = []chart{
		k.chart("Waiting at once", hours, number, func(h trace.Period) (float64, float64) { return float64(s.at(h.At).waiting), 0 }),
		k.chart("Rate limits of Discord", hours, number, func(h trace.Period) (float64, float64) { return float64(s.at(h.At).limited), 0 }),
	}
	for i := range all {
		if all[i].Own = true; s.began.After(hours[0].At) {
			all[i].Since = s.began
		}
	}
	return all
}

// costs draws what the last days cost.
func (k *Console) costs(ctx context.Context) (chart, error) {
	u := usagePage{Days: 24}
	since := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 1-u.Days)
	days, err := k.Store.Quotas.UsageByDay(ctx, since)
	u.draw(days, since)
	var all []trace.Period
	for _, d := range u.ByDay {
		all = append(all, trace.Period{At: d.At, Cost: d.Cost})
	}
	return k.chart("Money a day, the last 24", all, money, func(h trace.Period) (float64, float64) { return h.Cost, 0 }), err
}

func number(f float64) string { return text.Thousands(int(f)) }

// health shows how the turns of the last day went.
func (k *Console) health(w http.ResponseWriter, r *http.Request) {
	hours, err := k.Traces.Periods(r.Context(), time.Now().Add(-23*time.Hour).Truncate(time.Hour), time.Hour)
	alerts, err1 := k.Store.Notes.Under(r.Context(), store.AlertNotes)
	fleet, err2 := k.Store.Leases.Fleet(r.Context())
	costs, err3 := k.costs(r.Context())
	if err := errors.Join(err, err1, err2, err3); err != nil {
		k.broken(w, r, err)
		return
	}
	seconds := func(f float64) string { return span(time.Duration(f * float64(time.Second))) }
	k.render(w, r, http.StatusOK, "health", "Health", healthPage{k.state(r.Context()), alerts, fleet, append([]chart{
		k.chart("First words, p50 and p95", hours, seconds, func(h trace.Period) (float64, float64) { return h.P50.Seconds(), h.P95.Seconds() }),
		k.chart("Turns", hours, number, func(h trace.Period) (float64, float64) { return float64(h.Turns), 0 }),
		k.chart("Failed turns", hours, number, func(h trace.Period) (float64, float64) { return float64(h.Failed), 0 }),
		k.chart("Failed lookups", hours, number, func(h trace.Period) (float64, float64) { return float64(h.NoLookup), 0 }),
		k.chart("Tokens", hours, number, func(h trace.Period) (float64, float64) { return float64(h.Tokens), 0 }),
		k.chart("Money an hour", hours, money, func(h trace.Period) (float64, float64) { return h.Cost, 0 }), costs,
	}, k.sightings(hours)...)})
}

// chart draws a value of each hour or day, and one behind it. Days are those of UTC.
func (k *Console) chart(name string, hours []trace.Period, say func(float64) string, of func(trace.Period) (value, behind float64)) chart {
	c, most := chart{Name: name}, 0.0
	for _, h := range hours {
		value, behind := of(h)
		most = max(most, value, behind)
	}
	for i, h := range hours {
		value, behind := of(h)
		at := h.At.In(k.Zone).Format("15:04 MST")
		if len(hours) > 1 && hours[1].At.Sub(hours[0].At) > time.Hour {
			at = h.At.Format("2 Jan")
		}
		column := chartColumn{X: float64(i) * 10, Title: at + ": " + say(value)}
		if behind > 0 {
			column.Title += ", " + say(behind)
		}
		if most > 0 {
			column.H, column.Behind = value/most*100, behind/most*100
		}
		c.Columns = append(c.Columns, column)
	}
	if c.Summary = "at most " + say(most); most == 0 {
		c.Columns, c.Summary = nil, "none"
	}
	return c
}

type doctorPage struct {
	doctor.Standing
	Begun time.Time // zero before the first examination
	Going bool
	Sum   string
}

func (k *Console) doctor(w http.ResponseWriter, r *http.Request) {
	now, begun, going := k.checks.state()
	if going {
		w.Header().Set("Refresh", refreshInterval)
	}
	k.render(w, r, http.StatusOK, "doctor", "Doctor", doctorPage{now, begun, going, doctor.Sum(now.Found)})
}

// examine starts the doctor. It is a POST, because asking services may cost something.
func (k *Console) examine(w http.ResponseWriter, r *http.Request) {
	k.checks.begin(r, func(ctx context.Context, set func(doctor.Standing)) { set(doctor.Standing{Found: k.Doctor(ctx, set)}) })
	k.redirect(w, r, "/doctor")
}

const (
	// jobPatience is how long a request waits for the job that it starts. Then the page shows its progress.
	jobPatience = 500 * time.Millisecond
	// refreshInterval is the interval in seconds at which such a page is reloaded.
	refreshInterval = "2"
)

// job is work that goes on after the request that started it, because it may take minutes. One runs at a time. T is its state.
type job[T any] struct {
	mu    sync.Mutex
	begun time.Time          // zero before the first; guarded by mu, like all fields below
	now   T                  // the state of the latest
	over  chan struct{}      // closed at its end; nil before the first
	stop  context.CancelFunc // cancels its context; nil before the first
	shut  bool               // none may start any more
}

// begin starts a job unless one is running, and waits a moment for its end.
func (j *job[T]) begin(r *http.Request, do func(ctx context.Context, set func(T))) {
	select {
	case <-j.start(context.WithoutCancel(r.Context()), do):
	case <-time.After(jobPatience):
	case <-r.Context().Done():
	}
}

// start starts a job unless one is running. The returned channel is closed at the end of what runs.
func (j *job[T]) start(ctx context.Context, do func(ctx context.Context, set func(T))) <-chan struct{} {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.shut || j.going() {
		return j.over
	}
	ctx, stop := context.WithCancel(ctx)
	over := make(chan struct{})
	var none T
	j.begun, j.now, j.over, j.stop = time.Now(), none, over, stop
	go func() {
		defer close(over)
		defer stop()
		do(ctx, j.set)
	}()
	return over
}

func (j *job[T]) set(now T) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.now = now
}

// state returns the state of the latest job, when it began, and whether it is running.
func (j *job[T]) state() (now T, begun time.Time, going bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.now, j.begun, j.going()
}

// end cancels the running job and waits for it. No other starts.
func (j *job[T]) end() {
	j.mu.Lock()
	j.shut = true
	j.mu.Unlock()
	j.drop()
}

// drop cancels the running job, waits for it, and forgets its state.
func (j *job[T]) drop() {
	j.mu.Lock()
	over, stop := j.over, j.stop
	j.mu.Unlock()
	if over == nil {
		return
	}
	stop()
	<-over
	var none T
	j.set(none)
}

// going reports whether a job is running. The caller must hold j.mu.
func (j *job[T]) going() bool {
	if j.over == nil {
		return false
	}
	select {
	case <-j.over:
		return false
	default:
		return true
	}
}
