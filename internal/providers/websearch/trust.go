package websearch

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/web/guard"
)

// Trust is which sites an operator prefers for an intent.
type Trust struct {
	Sites []string      // with all below them
	Hosts guard.Domains // the same, to be compared with
	Only  bool          // pages of other sites are not read
}

// How many places trust raises a hit and feedback lowers it. Neither makes a hit appear or vanish.
const (
	trustedPlaces  = 5
	outdatedPlaces = 2
	wrongPlaces    = 4
	mostPlaces     = 4 // however many said so
)

// verdicts count what people said of a domain.
type verdicts struct{ outdated, wrong int }

// feedback is what people said of the sources of a character, by registrable domain.
type feedback map[string]verdicts

func (h feedback) version() string { return fmt.Sprint(map[string]verdicts(h)) } // fmt sorts the keys

// loadFeedback reads what people of this server said of the character's sources or, in direct messages, this person. Without
// it, nothing is lowered.
func (r *run) loadFeedback(ctx context.Context) {
	if r.p.Store == nil {
		return
	}
	all, err := r.p.Store.FeedbackIn(ctx, r.req.Character, r.req.GuildID, r.req.Message.Author.ID)
	if err != nil {
		return
	}
	r.feedback = feedback{}
	for _, f := range all {
		v := r.feedback[f.Domain]
		switch f.Verdict {
		case "outdated":
			v.outdated++
		case "wrong":
			v.wrong++
		}
		r.feedback[f.Domain] = v
	}
}

// trust is the operator's for an intent.
func (p Policy) trust(intent turn.Intent) (Trust, bool) {
	t, ok := p.Trusted[intent]
	return t, ok && len(t.Sites) > 0
}

func (p Policy) trustVersion() string {
	var all strings.Builder
	for _, intent := range slices.Sorted(maps.Keys(p.Trusted)) {
		t := p.Trusted[intent]
		fmt.Fprintf(&all, "%s %s %t\n", intent, t.Hosts.Version(), t.Only)
	}
	return all.String()
}

// rank orders hits by their place, by trust and by what people said of their sites, and says on each why.
func rank(hits []turn.Hit, intent turn.Intent, pol Policy, fb feedback) []turn.Hit {
	trusted, some := pol.trust(intent)
	type placed struct {
		turn.Hit
		place int
	}
	all := make([]placed, len(hits))
	for i, h := range hits {
		var why []string
		place := i
		site := ""
		if canonical, ok := guard.Canonical(h.URL); ok {
			site = siteOf(canonical)
		}
		if some && site != "" && trusted.Hosts.Allows(site) {
			place -= trustedPlaces
			why = append(why, fmt.Sprintf("%d places up, trusted for %s", trustedPlaces, intent))
		}
		if v := fb[guard.Registrable(site)]; v != (verdicts{}) {
			down := min(mostPlaces, v.outdated*outdatedPlaces+v.wrong*wrongPlaces)
			place += down
			why = append(why, fmt.Sprintf("%d places down, called outdated %d× and wrong %d×", down, v.outdated, v.wrong))
		}
		h.Why = strings.Join(why, "; ")
		all[i] = placed{h, place}
	}
	slices.SortStableFunc(all, func(a, b placed) int { return cmp.Compare(a.place, b.place) })
	out := make([]turn.Hit, len(all))
	for i, h := range all {
		out[i] = h.Hit
	}
	return out
}
