package console

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"familiar/internal/store"
)

type usagePage struct {
	Days     int
	Spans    []int
	ByDay    []column
	Sum      store.Used
	Channels []store.Usage
	People   []store.Usage
	Names    map[string]string
	Most     int // tokens of the day with the most
	Height   float64
	Width    float64
	Base     float64
}

// column is a day of the picture.
type column struct {
	store.DayUsage
	At             time.Time
	X, Y, W, H     float64
	Label          string // under it; empty under most
	LabelX, LabelY float64
}

// Measures of the picture, in its own units.
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
	days, err := k.Store.UsageByDay(r.Context(), since)
	if err == nil {
		p.Channels, err = k.Store.UsageSince(r.Context(), since, store.OfChannel, mostUsers)
	}
	if err == nil {
		p.People, err = k.Store.UsageSince(r.Context(), since, store.OfPerson, mostUsers)
	}
	var ids []string
	for _, u := range p.People {
		ids = append(ids, u.ID)
	}
	if err == nil {
		p.Names, err = k.Store.PersonNames(r.Context(), ids)
	}
	if err != nil {
		k.broken(w, r, err)
		return
	}
	p.draw(days, since)
	k.render(w, r, http.StatusOK, "usage", "Usage", p)
}

// draw lays out a column for each day, also for those without a turn.
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
