package bot

import (
	"slices"
	"sync"
	"time"

	"familiar/internal/context/turn"
)

// ratePeriod is the span of time in which the turns of a person are counted.
const ratePeriod = time.Minute

// rates counts the turns that each person asked for within ratePeriod. Its zero value is ready.
type rates struct {
	mu     sync.Mutex
	people map[string]*rate // guarded by mu
}

type rate struct {
	turns   []time.Time // within ratePeriod, oldest first
	refused time.Time   // when the person was last told
}

// allow reports whether a person may ask for another turn, and if not, whether it is the first refusal in ratePeriod.
func (r *rates) allow(id string, limit int, now time.Time) (allowed, first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.people == nil || len(r.people) > 10_000 {
		r.people = map[string]*rate{}
	}
	p := r.people[id]
	if p == nil {
		p = &rate{}
		r.people[id] = p
	}
	p.turns = slices.DeleteFunc(p.turns, func(t time.Time) bool { return now.Sub(t) >= ratePeriod })
	if len(p.turns) < limit {
		p.turns = append(p.turns, now)
		return true, false
	}
	first = now.Sub(p.refused) >= ratePeriod
	if first {
		p.refused = now
	}
	return false, first
}

// allows reports whether somebody who gives a command may ask for another turn, and counts it.
func (b *Bot) allows(by turn.Author) bool {
	if b.PerPerson == 0 {
		return true
	}
	allowed, _ := b.turns.allow(by.ID, b.PerPerson, time.Now())
	return allowed
}
