package lorebook

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// Chat is what a scan looks at.
type Chat struct {
	Messages []string          // the newest first, each with its writer's name
	Fields   map[string]string // texts of the card, by the names of [Fields]
	Length   int               // messages in the chat, with the newest
	Own      int               // those that the character wrote
	Greeting int               // number of the greeting that the chat began with, from 0; -1: none
	Fired    map[string]Firing // by the id of an entry: when it fired last

	Budget int                                        // tokens
	Tokens func(string) int                           // counts; nil: a quarter of the bytes
	Chance func(entry string) float64                 // from 0 up to 1, the same for an entry in a turn
	Expand func(text string) (shown, searched string) // fills in macros; nil: there are none
}

// Firing is when an entry fired last.
type Firing struct {
	Ago    int  // messages since then, the newest included; 0: it is being answered again
	Before bool // it fired in an earlier turn
}

// Fired is an entry that is in.
type Fired struct {
	ID, Book, Entry, Comment string
	Why                      string
	Text                     string
	Tokens                   int
	Position                 Position
	Outlet                   string
	Depth                    int
	Role                     Role
	Order                    int
	Silences                 []string // texts of the card that it takes the place of
	Constant                 bool
	Anew                     bool // it did not go on from an earlier turn: this is when it fired
	Lasting                  bool // when it fired must be kept
}

// Lost is an entry that is not in, although it could have been.
type Lost struct {
	ID, Book, Entry, Comment string
	Why                      string
	Tokens                   int // of one that had no room
}

// Result is what a scan found.
type Result struct {
	Fired []Fired // in the order of the prompt
	Lost  []Lost
	Steps int  // how often all was searched
	Cut   bool // there was no time for all of it
}

// most of what is lost that a result names.
const mostLost = 50

// order sorts the entries as they come into the budget: constant ones first, then by priority or order.
func (s *Set) order() {
	slices.SortStableFunc(s.entries, func(a, b *entry) int {
		if a.Constant != b.Constant {
			return cmp.Compare(flag(b.Constant), flag(a.Constant))
		}
		return cmp.Or(cmp.Compare(flag(a.marks.trimFirst), flag(b.marks.trimFirst)), cmp.Compare(or(b.Priority, b.Order), or(a.Priority, a.Order)))
	})
	for i, e := range s.entries {
		e.number = i
		s.counts = s.counts || e.Delay > 0 || e.marks.onlyAfter != nil || e.marks.onlyEvery != nil
		s.remember = s.remember || e.lasting()
		s.greets = s.greets || e.marks.greeting != nil
		if n := e.DelayUntilRecursion; n > 0 && !slices.Contains(s.levels, n) {
			s.levels = append(s.levels, n)
		}
	}
	slices.Sort(s.levels)
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// lasting reports whether it matters later when the entry fired.
func (e *entry) lasting() bool {
	return e.Sticky > 0 || e.Cooldown > 0 || e.marks.keepAfterMatch || e.marks.onceOnly
}

// scan is the state of one.
type scan struct {
	*Set
	chat    Chat
	buffer  buffer
	in      []*active       // in the order of firing
	done    map[*entry]bool // in, or out for this turn
	lost    []Lost
	used    map[string]int // tokens by book
	total   int
	full    bool // the budget is used up
	texts   map[*entry]*active
	groups  map[string]bool // that have their entry
	step    int
	level   int  // of DelayUntilRecursion
	byOther bool // entries have fired, whose texts are searched
	more    int  // older messages that are searched, since too few entries fire
	older   bool // it is a round for these: texts of entries do not count
}

// depthOf is how many messages an entry is looked for in.
func (sc *scan) depthOf(e *entry) int {
	if e.fixed {
		return e.depth
	}
	return min(e.depth+sc.more, deepestScan)
}

// deeper reports whether older messages are to be searched, since too few entries fire.
func (sc *scan) deeper() bool {
	searched := sc.widest + sc.more
	return len(sc.in) < sc.atLeast && searched < sc.most && searched < len(sc.chat.Messages)
}

// active is an entry that fires.
type active struct {
	*entry
	why             string
	shown, searched string
	tokens          int
	sticky          bool
}

// Scan looks which entries fire. It ends early, with what it has, when ctx does.
func (s *Set) Scan(ctx context.Context, chat Chat) Result {
	if s.Empty() {
		return Result{}
	}
	sc := &scan{
		Set: s, chat: chat, done: map[*entry]bool{}, used: map[string]int{}, texts: map[*entry]*active{}, groups: map[string]bool{},
		buffer: newBuffer(chat.Messages, chat.Fields),
	}
	levels := s.levels
	if len(levels) > 0 {
		sc.level, levels = levels[0], levels[1:]
	}
	for more := true; more && sc.step-sc.more < s.steps && ctx.Err() == nil; {
		sc.step++
		added := sc.round(ctx)
		var words []string
		for _, a := range added {
			if !a.PreventRecursion {
				words = append(words, a.searched)
			}
		}
		sc.older = false
		if more = len(words) > 0 && !sc.full; more {
			sc.buffer.add(strings.Join(words, "\n"))
		} else if !sc.full && len(levels) > 0 && sc.buffer.grown() {
			more = true
			sc.level, levels = levels[0], levels[1:]
		} else if !sc.full && sc.deeper() {
			more, sc.older = true, true
			sc.more++
		}
		sc.byOther = true
	}
	return sc.result(ctx)
}

// round searches once for all entries that are not settled, and takes those in that may be.
func (sc *scan) round(ctx context.Context) (added []*active) {
	var found []*active
	for _, e := range sc.entries {
		if ctx.Err() != nil {
			break
		}
		if sc.done[e] || sc.byOther && !sc.older && !e.recursive { // what other entries say changes nothing for those
			continue
		}
		if a := sc.look(e); a != nil {
			found = append(found, a)
		}
	}
	slices.SortStableFunc(found, func(a, b *active) int { return cmp.Compare(flag(b.sticky), flag(a.sticky)) })
	for _, a := range sc.choose(found) {
		if sc.unlucky(a) || !sc.take(a) {
			continue
		}
		added = append(added, a)
	}
	return added
}

// look reports whether an entry fires now, and why.
func (sc *scan) look(e *entry) *active {
	firing, known := sc.chat.Fired[e.id]
	known = known && firing.Ago > 0
	sticky := known && e.Sticky > 0 && firing.Ago < e.Sticky
	m := &e.marks
	again := firing.Before && known
	switch {
	case sc.chat.Length < e.Delay, m.onlyAfter != nil && sc.chat.Own < *m.onlyAfter, m.onlyEvery != nil && sc.chat.Own%*m.onlyEvery != 0,
		m.greeting != nil && sc.chat.Greeting != *m.greeting:
		return nil
	case m.activate:
		return &active{entry: e, why: "@@activate", sticky: sticky}
	case m.dontActivate:
		return nil
	case again && m.onceOnly:
		return sc.out(e, "fired before, and only once")
	case again && m.keepAfterMatch:
		return &active{entry: e, why: "fired before, and goes on", sticky: true}
	case !sticky && known && e.Cooldown > 0 && firing.Ago < e.Sticky+e.Cooldown:
		return sc.out(e, fmt.Sprintf("cooldown for %d more messages", e.Sticky+e.Cooldown-firing.Ago))
	case !sticky && e.DelayUntilRecursion > 0 && (!sc.byOther || sc.older || e.DelayUntilRecursion > sc.level):
		return nil
	case e.Constant:
		return &active{entry: e, why: "constant", sticky: sticky}
	case sticky:
		return &active{entry: e, why: fmt.Sprintf("sticky for %d more messages", e.Sticky-firing.Ago), sticky: true}
	}
	if why := sc.matches(e); why != "" {
		return &active{entry: e, why: why}
	}
	return nil
}

// out settles that an entry is not in. It is named if its keys are there.
func (sc *scan) out(e *entry, why string) *active {
	sc.done[e] = true
	if e.Constant || sc.matches(e) != "" {
		sc.lose(e, why, 0)
	}
	return nil
}

func (sc *scan) lose(e *entry, why string, tokens int) {
	if sc.done[e] = true; len(sc.lost) < mostLost {
		sc.lost = append(sc.lost, Lost{ID: e.id, Book: e.book, Entry: e.ID, Comment: e.Comment, Why: why, Tokens: tokens})
	}
}

// unlucky throws for an entry's probability, once a turn.
func (sc *scan) unlucky(a *active) bool {
	if a.probability >= 100 || a.sticky {
		return false
	}
	if sc.chat.Chance != nil && sc.chat.Chance("probability "+a.id)*100 < float64(a.probability) {
		return false
	}
	sc.lose(a.entry, fmt.Sprintf("probability %d %%", a.probability), 0)
	return true
}

// take takes an entry in, if there is room. Once one had none, none that comes later is taken, but for those that need none.
func (sc *scan) take(a *active) bool {
	a.shown, a.searched = a.text, a.text
	if sc.chat.Expand != nil {
		a.shown, a.searched = sc.chat.Expand(a.text)
		a.shown = strings.TrimSpace(a.shown)
	}
	if a.tokens = sc.tokens(a.shown); !a.IgnoreBudget {
		own := sc.budgets[a.book]
		if sc.full || sc.total+a.tokens > sc.chat.Budget || own > 0 && sc.used[a.book]+a.tokens > own {
			sc.full = sc.full || own == 0 || sc.total+a.tokens > sc.chat.Budget
			sc.lose(a.entry, "no room", a.tokens)
			return false
		}
		sc.total += a.tokens
		sc.used[a.book] += a.tokens
	}
	sc.done[a.entry] = true
	for _, group := range a.Groups {
		sc.groups[group] = true
	}
	sc.in = append(sc.in, a)
	return true
}

func (sc *scan) tokens(text string) int {
	if text == "" {
		return 0
	}
	if sc.chat.Tokens == nil {
		return (len(text) + 3) / 4
	}
	return sc.chat.Tokens(text)
}

func (sc *scan) result(ctx context.Context) Result {
	r := Result{Lost: sc.lost, Steps: sc.step, Cut: ctx.Err() != nil}
	slices.SortStableFunc(sc.in, func(a, b *active) int {
		return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.number, b.number))
	})
	for _, a := range sc.in {
		role := a.Role
		if role == "" {
			role = System
		}
		r.Fired = append(r.Fired, Fired{
			ID: a.id, Book: a.book, Entry: a.ID, Comment: a.Comment, Why: a.why, Text: a.shown, Tokens: a.tokens, Position: a.position, Outlet: strings.TrimSpace(a.Outlet), Depth: a.at,
			Role: role, Order: a.Order, Silences: a.marks.silences, Constant: a.Constant, Anew: !a.sticky, Lasting: a.lasting(),
		})
	}
	return r
}
