package card

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// Chat is what a scan searches and depends on.
type Chat struct {
	Messages []string          // the newest first, each with its author's name
	Fields   map[string]string // texts of the card by the names of the function Fields
	Length   int               // messages in the chat, with the newest
	Own      int               // messages that the character wrote
	Greeting int               // the number of the greeting that began the chat, from 0; -1: none
	Fired    map[string]Firing // when entries last fired, by Fired.ID

	// Budget is how many tokens all entries together may take.
	Budget int
	// Trigger is why the character writes, one of the function Triggers; empty means normal.
	Trigger string
	// Tokens counts the tokens of a text; nil means a quarter of its bytes.
	Tokens func(string) int
	// Chance returns a number from 0 up to, but not including, 1. It must return the same number for the same text in a
	// turn. nil means 0 for groups, and that no entry with a probability below 100 fires.
	Chance func(of string) float64
	// Clock says how long patterns may run. The entries whose patterns do not finish are lost.
	Clock Clock
	// Expand replaces the macros of a text, once as it is shown and once as recursion searches it. nil keeps them.
	Expand func(text string) (shown, searched string)
}

// Firing says when an entry last fired.
type Firing struct {
	Ago    int  // messages since then, with the newest; 0 if the same message is answered again
	Before bool // it was in an earlier turn
}

// Fired is an entry that fires: its text belongs into the prompt.
type Fired struct {
	ID                   string // of all books' entries: Book, a slash and Entry
	Book, Entry, Comment string
	Why                  string // for people
	Text                 string // without decorators, macros replaced
	Tokens               int    // of Text
	Position             Position
	Outlet               string // its name, for InOutlet
	Depth                int    // messages from the end, for AtDepth
	Role                 Role   // never empty
	Order                int
	Silences             []string // fields of the card to leave out: system_prompt, post_history_instructions
	Constant             bool
	New                  bool // it fires now, rather than going on from an earlier turn
	Lasting              bool // later scans need to know when it fired
}

// Lost is an entry that does not fire although its keys were found.
type Lost struct {
	ID, Book, Entry, Comment string
	Why                      string // for people
	Tokens                   int    // of an entry that found no room
}

// Result is what a scan found.
type Result struct {
	Fired []Fired // in the order of the prompt
	Lost  []Lost  // at most 50
	Steps int     // rounds in which everything was searched
	Cut   bool    // the context ended before the scan did
}

const maxLost = 50

// scan is the state of one scan.
type scan struct {
	*Scanner
	chat   Chat
	buffer buffer
	in     []*active       // entries that fire, in the order in which they were found
	done   map[*entry]bool // entries that are decided
	lost   []Lost
	used   map[string]int // tokens by book
	total  int
	full   bool            // the budget is used up
	groups map[string]bool // groups that have their entry

	round    int
	delay    int  // entries with a DelayUntilRecursion up to it may fire
	recursed bool // entries have fired whose texts are searched
	more     int  // older messages that are searched because too few entries fire
	older    bool // this round searches older messages, and no texts of entries

	slow bool // a pattern of the entry that is being looked for took too long
}

// active is an entry that fires.
type active struct {
	*entry
	why             string
	shown, searched string // its text
	tokens          int
	sticky          bool // it goes on from an earlier turn
}

// Scan returns the entries that fire. If ctx ends, it returns what it has found so far.
func (s *Scanner) Scan(ctx context.Context, chat Chat) Result {
	if s.Empty() {
		return Result{}
	}
	sc := &scan{
		Scanner: s, chat: chat, done: map[*entry]bool{}, used: map[string]int{}, groups: map[string]bool{},
		buffer: buffer{messages: chat.Messages, fields: chat.Fields, made: map[view]*searched{}},
	}
	sc.chat.Clock = chat.Clock.set()
	delays := s.delays
	if len(delays) > 0 {
		sc.delay, delays = delays[0], delays[1:]
	}
	for more := true; more && sc.round-sc.more < s.rounds && ctx.Err() == nil; {
		sc.round++
		words := sc.search(ctx)
		sc.older = false
		switch {
		case len(words) > 0 && !sc.full:
			sc.buffer.entries = append(sc.buffer.entries, strings.Join(words, "\n"))
		case !sc.full && sc.mayGoBack():
			sc.older = true
			sc.more++
		case len(delays) > 0:
			sc.delay, delays = delays[0], delays[1:]
		default:
			more = false
		}
		sc.recursed = true
	}
	return sc.result(ctx)
}

// depthOf returns how many messages are searched for an entry.
func (sc *scan) depthOf(e *entry) int {
	if e.fixedDepth {
		return e.depth
	}
	return min(e.depth+sc.more, maxDepth)
}

// mayGoBack reports whether older messages should be searched because too few entries fire.
func (sc *scan) mayGoBack() bool {
	searched := sc.messages + sc.more
	return len(sc.in) < sc.minFired && searched < sc.maxMessages && searched < len(sc.chat.Messages)
}

// search is one round. It decides what it can about every entry, and returns the texts that the next round searches.
func (sc *scan) search(ctx context.Context) (words []string) {
	var found []*active
	for _, e := range sc.entries {
		if ctx.Err() != nil {
			break
		}
		again := sc.older || e.recursive || e.DelayUntilRecursion > 0 && !e.NonRecursable
		if sc.done[e] || sc.recursed && !again { // the texts of entries do not change these
			continue
		}
		if a := sc.look(e); a != nil {
			found = append(found, a)
		}
	}
	slices.SortStableFunc(found, func(a, b *active) int { return toInt(b.sticky) - toInt(a.sticky) })
	for _, a := range sc.choose(found) {
		if !sc.unlucky(a) && sc.take(a) && !a.PreventRecursion {
			words = append(words, a.searched)
		}
	}
	return words
}

// look returns the entry if it fires now, as far as that depends on it alone.
func (sc *scan) look(e *entry) *active {
	firing, known := sc.chat.Fired[e.id]
	known = known && firing.Ago > 0
	sticky := known && e.Sticky > 0 && firing.Ago < e.Sticky
	m := &e.marks
	again := firing.Before && known
	switch {
	case len(e.Triggers) > 0 && !slices.Contains(e.Triggers, cmp.Or(sc.chat.Trigger, Triggers()[0])):
		return nil
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
	case !sticky && e.DelayUntilRecursion > 0 && (!sc.recursed || sc.older || e.DelayUntilRecursion > sc.delay):
		return nil
	case e.Constant:
		return &active{entry: e, why: "constant", sticky: sticky}
	case sticky:
		return &active{entry: e, why: fmt.Sprintf("sticky for %d more messages", e.Sticky-firing.Ago), sticky: true}
	}
	sc.slow = false
	why := sc.matches(e)
	switch {
	case why != "":
		return &active{entry: e, why: why}
	case sc.slow:
		sc.lose(e, "the patterns of its keys take too long", 0)
	}
	return nil
}

// out decides that an entry does not fire, and reports it as lost if its keys are there.
func (sc *scan) out(e *entry, why string) *active {
	sc.done[e] = true
	if e.Constant || sc.matches(e) != "" {
		sc.lose(e, why, 0)
	}
	return nil
}

func (sc *scan) lose(e *entry, why string, tokens int) {
	if sc.done[e] = true; len(sc.lost) < maxLost {
		sc.lost = append(sc.lost, Lost{ID: e.id, Book: e.book, Entry: e.ID, Comment: e.Comment, Why: why, Tokens: tokens})
	}
}

// unlucky reports whether chance decides against an entry.
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

// take adds an entry to the result if there is room for it. After the first one without room no other is added, except
// entries that ignore the budget.
func (sc *scan) take(a *active) bool {
	a.shown, a.searched = a.text, a.text
	if sc.chat.Expand != nil {
		a.shown, a.searched = sc.chat.Expand(a.text)
		a.shown = strings.TrimSpace(a.shown)
	}
	if a.tokens = countTokens(a.shown, sc.chat.Tokens); !a.IgnoreBudget {
		own := sc.budgets[a.book]
		overall := sc.total+a.tokens > sc.chat.Budget
		if sc.full || overall || own > 0 && sc.used[a.book]+a.tokens > own {
			sc.full = sc.full || own == 0 || overall
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

// countTokens counts the tokens of a text. A nil count means a quarter of the bytes.
func countTokens(text string, count func(string) int) int {
	switch {
	case text == "":
		return 0
	case count == nil:
		return (len(text) + 3) / 4
	}
	return count(text)
}

func (sc *scan) result(ctx context.Context) Result {
	r := Result{Lost: sc.lost, Steps: sc.round, Cut: ctx.Err() != nil}
	slices.Reverse(sc.in) // of equal entries, the first to fire is next to the chat
	slices.SortStableFunc(sc.in, func(a, b *active) int { return cmp.Compare(a.Order, b.Order) })
	for _, a := range sc.in {
		r.Fired = append(r.Fired, Fired{
			ID: a.id, Book: a.book, Entry: a.ID, Comment: a.Comment, Why: a.why, Text: a.shown, Tokens: a.tokens, Position: a.position,
			Outlet: strings.TrimSpace(a.Outlet), Depth: a.at, Role: cmp.Or(a.Role, System), Order: a.Order, Silences: a.marks.silences,
			Constant: a.Constant, New: !a.sticky, Lasting: a.lasting(),
		})
	}
	return r
}

// choose removes all but one entry of each inclusion group. Entries that go on from an earlier turn win, then wins
// decides. A group that has its entry gets no other.
func (sc *scan) choose(found []*active) []*active {
	var names []string
	members := map[string][]*active{}
	for _, a := range found {
		for _, group := range a.Groups {
			if members[group] == nil {
				names = append(names, group)
			}
			members[group] = append(members[group], a)
		}
	}
	gone := map[*active]bool{}
	for _, name := range names {
		group := slices.DeleteFunc(members[name], func(a *active) bool { return gone[a] })
		stays := func(a *active) bool { return a.sticky }
		if !slices.ContainsFunc(group, stays) {
			var winner *active
			if !sc.groups[name] {
				winner = sc.wins(name, sc.best(group))
			}
			stays = func(a *active) bool { return a == winner }
		}
		for _, a := range group {
			if !stays(a) {
				gone[a] = true
				sc.lose(a.entry, "another entry of the group "+name, 0)
			}
		}
	}
	return slices.DeleteFunc(found, func(a *active) bool { return gone[a] })
}

// best removes entries that use scoring and match fewer keys than another of the group.
func (sc *scan) best(group []*active) []*active {
	if len(group) < 2 || !slices.ContainsFunc(group, func(a *active) bool { return a.scoring }) {
		return group
	}
	scores, best := map[*active]int{}, 0
	for _, a := range group {
		scores[a] = sc.score(a.entry)
		best = max(best, scores[a])
	}
	return slices.DeleteFunc(slices.Clone(group), func(a *active) bool { return a.scoring && scores[a] < best })
}

// wins returns the entry of a group that goes first, or one that chance picks by weight.
func (sc *scan) wins(name string, group []*active) *active {
	first := slices.DeleteFunc(slices.Clone(group), func(a *active) bool { return !a.GroupFirst })
	switch {
	case len(group) == 0:
		return nil
	case len(first) > 0:
		return slices.MaxFunc(first, func(a, b *active) int { return cmp.Compare(a.Order, b.Order) })
	}
	sum := 0
	for _, a := range group {
		sum += a.weight
	}
	left := 0.0
	if sc.chat.Chance != nil {
		left = sc.chat.Chance("group "+name) * float64(sum)
	}
	for _, a := range group {
		if left -= float64(a.weight); left < 0 {
			return a
		}
	}
	return group[len(group)-1]
}
