package recall

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/memory"
	"familiar/internal/store"
	"familiar/internal/text"
)

const (
	// minShare is the share of the question's words, by weight, that a message and the one before it must have. minShareUnasked is the same if
	// the message asks nothing.
	minShare, minShareUnasked = 0.45, 0.8
	minNoteShare              = 0.3 // the same of a note
	maxScoreGap               = 4   // between the best message or passage and another that is told
	maxAboutPerson            = 20  // statements about one person
)

// best are the candidates that bear on a message, the best of each kind first. More notes, passages and messages than are told may be
// left, for the filter.
type best struct {
	people   []aboutPerson
	notes    []statement
	names    map[string]string // of the authors of notes, by id
	passages []loreHit
	messages []Hit
	ranked   []Hit // all messages
}

// aboutPerson is what a person said about themselves.
type aboutPerson struct {
	store.Person
	statements []statement
}

// statement is a statement with the share of the question's words that it has.
type statement struct {
	memory.Statement
	share float64
}

// rank chooses the candidates that bear on a message.
func (p *MemoryProvider) rank(q *asked, c candidates) best {
	b := best{names: c.names}
	for _, person := range c.people {
		b.people = append(b.people, aboutPerson{person, q.aboutPerson(person.ID, c.about)})
	}
	for _, n := range q.order(c.notes, c.nearNotes) {
		if n.Pinned || n.share >= minNoteShare || slices.Contains(c.nearNotes, n.ID) {
			b.notes = append(b.notes, n)
		}
	}
	b.ranked = q.rankFound(c.messages)
	b.messages = q.choose(b.ranked, c)
	b.passages = p.passages(q)
	return b
}

// aboutPerson returns what a person said about themselves, the best first if it is too much to tell. History is left out.
func (q *query) aboutPerson(id string, found []memory.Statement) []statement {
	found = slices.DeleteFunc(slices.Clone(found), func(m memory.Statement) bool { return m.Subject != id })
	history := memory.Outdated(found)
	found = slices.DeleteFunc(found, func(m memory.Statement) bool { return slices.Contains(history, m.ID) })
	var ids []int64
	for _, m := range found {
		ids = append(ids, m.ID)
	}
	ordered := q.order(found, nil)
	if len(found) > maxAboutPerson {
		return ordered[:maxAboutPerson]
	}
	slices.SortStableFunc(ordered, func(a, b statement) int { return cmp.Compare(slices.Index(ids, a.ID), slices.Index(ids, b.ID)) })
	return ordered
}

// choose returns the hits that may be told. They have enough of the words. If the message is a question, a near meaning in other words is
// enough, too.
func (q *asked) choose(hits []Hit, c candidates) (chosen []Hit) {
	top := math.Inf(-1) // score of a hit with enough of the words
	for _, h := range hits {
		if len(chosen) == 2*maxQuoted {
			break
		}
		if c.shown[h.ID] || strings.TrimSpace(h.Text) == "" {
			continue
		}
		switch {
		case h.Score >= top-maxScoreGap && h.Share >= q.enough:
			top = max(top, h.Score)
		case q.asksFor && c.messages.apart[h.ID]:
		default:
			continue
		}
		chosen = append(chosen, h)
	}
	return chosen
}

// rankFound ranks messages by their words, and then by their meaning.
func (q *query) rankFound(f found) []Hit {
	if f.weights == nil {
		f.weights = q.weigh(f.messages)
	}
	hits := q.rank(f.messages, f.weights)
	fuseNear(hits, f.near)
	return hits
}

// Recall ranks older messages by how well they would answer the message of a request. In a server it ranks the messages that the asker and
// everyone else who sees the answer may read. In a direct message it ranks that conversation.
func (p *MemoryProvider) Recall(ctx context.Context, r turn.Request) ([]Hit, error) {
	q := p.ask(r)
	f, err := p.findMessages(ctx, q, p.embed(ctx, q))
	return q.rankFound(f), err
}

// sessionGap is the silence that separates two sessions of a channel.
const sessionGap = 3 * time.Hour

// Hit is a ranked message.
type Hit struct {
	turn.Message
	Score   float64       // log odds, comparable within one result
	Session int           // number of its session
	Why     []Reason      // its features, the largest gain first
	Share   float64       // share of the question's words by weight, without words of time, in this message or the one before it
	Before  *turn.Message // the previous message of its session; may be nil
}

// Reason is a feature with its part of a score.
type Reason struct {
	Feature string
	Gain    float64
}

// rank orders messages, the best first. weights are the weights of the query's terms.
func (q *query) rank(messages []turn.Message, weights []float64) []Hit {
	c := newCorpus(q, messages, weights)
	hits := make([]Hit, len(c.views))
	for i := range c.views {
		v := &c.views[i]
		hits[i] = Hit{Message: *v.message, Session: v.session, Share: v.share()}
		if v.index > 0 {
			hits[i].Before = c.views[i-1].message
		}
		for f, x := range v.features() {
			if x == 0 {
				continue
			}
			hits[i].Score += features[f].weight * x
			hits[i].Why = append(hits[i].Why, Reason{features[f].name, features[f].weight * x})
		}
		why := hits[i].Why
		sort.SliceStable(why, func(i, j int) bool {
			a, b := why[i], why[j]
			return cmp.Compare(math.Abs(b.Gain), math.Abs(a.Gain)) < 0
		})
	}
	sort.SliceStable(hits, func(i, j int) bool {
		a, b := hits[i], hits[j]
		return cmp.Or(cmp.Compare(b.Score, a.Score), b.At.Compare(a.At), cmp.Compare(a.ID, b.ID)) < 0
	})
	return hits
}

// features of a message and their weights. The weights maximise the likelihood of choosing the messages that answer a question (Luce's
// model). They come from conversations of people, and are rounded. doc/evaluation.md says what each feature gains on other conversations.
// No feature knows particular words, except words of times, numbers and persons.
var features = []struct {
	name   string
	weight float64
	value  func(*view) float64
}{
	{"own words", 2.6, func(v *view) float64 { return v.own }},
	{"words around", 2.7, (*view).around},
	{"words of the session", 2, func(v *view) float64 { return v.of.bm25 }},
	{"session holds all", 2.1, func(v *view) float64 { return v.of.held }},
	{"session holds the field", 3.5, func(v *view) float64 { return v.of.akin }},
	{"session's best", 1.8, func(v *view) float64 { return v.of.best }},
	{"words of a question before", 2, (*view).answers},
	{"with the one before", 1.8, func(v *view) float64 { return v.cover }},
	{"words of the field", 2.3, func(v *view) float64 { return v.kinShare }},
	{"words that begin alike", 3.2, func(v *view) float64 { return v.famShare }},
	{"by whom is named", 1, is((*view).byNamed)},
	{"speaks of oneself", 0.8, is((*view).ofOneself)},
	{"asks", -1, is((*view).asksBack)},
	{"time", 1.8, is(func(v *view) bool { return v.c.q.asks.when && v.tellsTime() })},
	{"number", 1.3, is(func(v *view) bool { return v.c.q.asks.many && len(text.Numbers(text.InDigits(v.message.Text))) > 0 })},
	{"name where a place is asked", 1, is(func(v *view) bool { return v.c.q.asks.where && v.names() > 0 })},
	{"names", 0.5, func(v *view) float64 { return min(float64(v.names()), 3) }},
	{"near the time", 5.2, func(v *view) float64 {
		if v.c.q.Span == (text.TimeSpan{}) {
			return 0
		}
		return v.c.q.nearness(v.message.At)
	}},
	{"speaks of the time", 0.9, is(func(v *view) bool { return v.c.q.Span != (text.TimeSpan{}) && v.speaksOf(v.c.q.Span) })},
	{"old", -0.3, (*view).age},
}

// is turns a condition into a feature of value 0 or 1.
func is(so func(*view) bool) func(*view) float64 {
	return func(v *view) float64 {
		if so(v) {
			return 1
		}
		return 0
	}
}

func (v *view) features() []float64 {
	all := make([]float64, len(features))
	for i, f := range features {
		all[i] = f.value(v)
	}
	return all
}

// fading is the weight of a word by its distance in messages.
var fading = [...]float64{1, 0.7, 0.5, 0.3, 0.2}

// around scores the words of the message and its neighbours.
func (v *view) around() (score float64) {
	for j, weight := range v.c.weights {
		tf := 0.0
		for away, share := range fading {
			for _, n := range []*view{v.at(away), v.at(-away)} {
				if n != nil && (away > 0 || n.place == v.place) {
					tf += share * n.tf[j]
				}
			}
		}
		tf -= v.tf[j] // the loop counted it twice
		score += weight * bm25(tf, 1, 1)
	}
	return score
}

// answers returns the score of the message before if that is a question.
func (v *view) answers() float64 {
	if before := v.at(-1); before != nil && strings.Contains(before.message.Text, "?") {
		return before.own
	}
	return 0
}

// byNamed reports whether the query names only the message's author: by name, as "I" or as "you".
func (v *view) byNamed() bool {
	q := v.c.q
	switch {
	case v.message.Own:
		return q.ByBot
	case len(q.Named) > 0:
		return len(q.Named) == 1 && text.Fold(q.Named[0]) == text.Fold(v.message.Author.Name)
	}
	return q.ByAsker && q.asker != "" && v.message.Author.ID == q.asker
}

var oneself = text.LazySet(func() text.WordList {
	return "i my we me ich mein meine wir mir yo mi nosotros je mon ma nous eu meu minha nós"
})

func (v *view) ofOneself() bool { return text.ContainsAny(v.words, oneself()) }

var timeWords = text.LazySet(func() text.WordList {
	return "ago last yesterday next recently today tomorrow week year month weekend gestern morgen woche jahr monat ayer mañana semana año mes hier demain semaine mois ontem amanhã ano mês"
})

func (v *view) tellsTime() bool {
	if text.ContainsAny(v.words, timeWords()) {
		return true
	}
	if dates, _ := text.Dates(v.message.Text); len(dates) > 0 {
		return true
	}
	_, _, past := text.PastSpan(v.message.Text, v.words, v.message.At)
	return past
}

// names counts the capitalized words inside sentences that are not in the query.
func (v *view) names() (n int) {
	for i, w := range v.words {
		if i > 0 && w.Upper && w.Key != "i" && w.Start == v.words[i-1].End+1 && text.Meaningful(w.Key) && !v.c.q.keys[w.Key] {
			n++
		}
	}
	return n
}

// age grows with the time from the message to the newest one, if the query asks for something recent.
func (v *view) age() float64 {
	if !v.c.q.asks.lately {
		return 0
	}
	newest := slices.MaxFunc(v.c.ends, time.Time.Compare)
	return math.Log1p(newest.Sub(v.message.At).Hours() / 24 / 7)
}

// fuseK makes agreement between lists count more than a first place in one of them.
const fuseK = 60

// fuse merges ranked lists by reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009). Equal items keep the order of the first list
// that has them.
func fuse[K comparable](lists ...[]K) []K {
	scores, seen := map[K]float64{}, map[K]int{}
	for _, list := range lists {
		for i, k := range list {
			scores[k] += worth(i)
			if _, is := seen[k]; !is {
				seen[k] = len(seen)
			}
		}
	}
	return slices.SortedStableFunc(maps.Keys(scores), func(a, b K) int {
		return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(seen[a], seen[b]))
	})
}

// worth returns what a place in a list adds to the score of its item.
func worth(place int) float64 { return 1 / float64(fuseK+place+1) }

// fuseNear fuses the order of the hits with the ids of messages near in meaning, the nearest first. Ids of other messages change nothing.
func fuseNear(hits []Hit, near []string) {
	if len(near) == 0 {
		return
	}
	own := make([]string, len(hits))
	for i, h := range hits {
		own[i] = h.ID
		if place := slices.Index(near, h.ID); place >= 0 {
			hits[i].Why = slices.Insert(h.Why, 0, Reason{"near in meaning", worth(place)})
		}
	}
	places := map[string]int{}
	for i, id := range fuse(own, near) {
		places[id] = i
	}
	sort.SliceStable(hits, func(i, j int) bool {
		a, b := hits[i], hits[j]
		return cmp.Compare(places[a.ID], places[b.ID]) < 0
	})
}

// order sorts statements. It fuses four orders: as found, as messages would rank, newest first, and nearest in meaning, which may be
// empty. Pinned statements come first.
func (q *query) order(found []memory.Statement, near []int64) (ordered []statement) {
	byID := map[int64]statement{}
	var ids, ranked, recent []int64
	messages := make([]turn.Message, len(found))
	for i, m := range found {
		byID[m.ID], ids = statement{Statement: m}, append(ids, m.ID)
		id := fmt.Sprint(m.ID)
		messages[i] = turn.Message{ID: id, ChannelID: id, Text: m.Text, At: m.SaidAt} // each in its own channel: no statement answers another
		switch m.Kind {
		case memory.Topic:
			if m.Subject != "" {
				messages[i].Text = m.Subject + ". " + m.Text
			}
		case memory.Person:
			messages[i].Author.ID = m.Subject
		}
	}
	for _, h := range q.rank(messages, q.weigh(messages)) {
		m := found[slices.IndexFunc(found, func(m memory.Statement) bool { return fmt.Sprint(m.ID) == h.ID })]
		s := statement{m, h.Share}
		if q.isOfOwned(m) {
			s.share = max(s.share, knownShare)
		}
		ranked, byID[m.ID] = append(ranked, m.ID), s
	}
	for _, m := range slices.SortedStableFunc(slices.Values(found), func(a, b memory.Statement) int { return b.SaidAt.Compare(a.SaidAt) }) {
		recent = append(recent, m.ID)
	}
	for _, id := range fuse(ids, ranked, recent, near) {
		ordered = append(ordered, byID[id])
	}
	sort.SliceStable(ordered, func(i, j int) bool {
		a, b := ordered[i], ordered[j]
		return cmp.Compare(pinnedFirst(a), pinnedFirst(b)) < 0
	})
	return ordered
}

// isOfOwned reports whether the asker said a statement about their own thing that they ask for.
func (q *query) isOfOwned(m memory.Statement) bool {
	return q.owned != "" && m.Kind == memory.Person && m.Subject == q.asker && slices.ContainsFunc(text.Words(m.Text), func(w text.Word) bool { return q.stem(w.Key) == q.owned })
}

func pinnedFirst(m statement) int {
	if m.Pinned {
		return 0
	}
	return 1
}
