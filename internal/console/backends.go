package console

import (
	"net/http"
	"time"
)

// Backend is a search service, and how it does.
type Backend struct {
	Name     string
	On       bool
	Why      string // it is off, and what would switch it on
	Kind     string
	Intents  []string // that it serves; none: all
	Health   string   // ok, failing, resting, used_up, untried
	Until    time.Time
	Answers  int
	P50, P95 time.Duration
	Left, Of int // Of 0: no limit is known
	Resets   time.Time
	Failure  string
	Detail   string
	FailedAt time.Time
}

// Used is how much of its limit is used, from 0 to 1.
func (b Backend) Used() float64 {
	if b.Of <= 0 {
		return 0
	}
	return float64(b.Of-b.Left) / float64(b.Of)
}

type backendsPage struct {
	On, Off []Backend
	Slowest time.Duration // P95 of all, by which bars are drawn
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
