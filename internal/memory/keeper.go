package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"familiar/internal/context/turn"
	"familiar/internal/memory/order"
	"familiar/internal/store"
	"familiar/internal/text"
	"familiar/internal/web/clean"
)

// Keeper carries out what messages order to be remembered, forgotten or corrected. The words are the person's own, and nothing that the
// turn reads takes part (rule P6). All fields but Parse and Ask are required.
type Keeper struct {
	Memories  *Store
	ByMessage func(ctx context.Context, id string) (*turn.Trace, error) // finds the turn of a message
	Rooms     Permissions
	Redact    *clean.Redactor
	Log       *slog.Logger
	Zone      *time.Location // taken for a person whose time zone is unknown; nil: UTC
	// Parse is [order.Parse], or has its result already. nil: [order.Parse].
	Parse Parser
	// Ask asks a side model and decodes its answer. nil: there is none.
	Ask func(ctx context.Context, order, text string, answer any) error
}

// Parser does what [order.Parse] does.
type Parser func(message string, names []string) ([]order.Order, order.Doubt)

// ParseEarly returns what looks for orders in a message, which takes as long as storing it. The parser waits for the result, and parses
// another message at once. A turn may be about several, or about one that was edited.
func ParseEarly(message string, names []string) (begin func(), p Parser) {
	early := sync.OnceValues(func() ([]order.Order, order.Doubt) { return order.Parse(message, names) })
	return func() { early() }, func(m string, n []string) ([]order.Order, order.Doubt) {
		if m == message && slices.Equal(n, names) {
			return early()
		}
		return order.Parse(m, n)
	}
}

// Applied is what a turn was ordered, and what became of it. A turn that starts over must not forget again what it has forgotten. The zero
// value is a turn that has carried out nothing.
type Applied struct {
	said   string // the message
	orders []task
	done   []turn.MemoryChange // one for each order; without a deed if the order meant nothing
}

// Apply carries out what a turn's message orders, and returns the results in order. It leaves out orders that an earlier attempt carried
// out. Once ctx is canceled it begins no order, but it finishes the one that it has begun.
func (k *Keeper) Apply(ctx context.Context, r turn.Request, before *Applied) (all []turn.MemoryChange) {
	meant := r.Addressed.Plain() || r.Addressed == turn.ByName
	if !meant || !r.Message.ByPerson() || r.Claim != "" || r.EarlierID != "" && !r.Edited {
		return nil // it is not for the bot, or the first character or the first attempt carried it out
	}
	now := Applied{said: r.Message.Text, orders: before.orders}
	canceled := func() bool { return errors.Is(ctx.Err(), context.Canceled) }
	if before.said != now.said {
		if now.orders = k.orders(ctx, r); canceled() {
			return nil // a side model may not have been heard out
		}
	}
	for _, o := range now.orders {
		if canceled() {
			break
		}
		var done turn.MemoryChange
		if i := slices.Index(before.orders, o); i >= 0 && i < len(before.done) && o.Deed != order.Keep { // what is kept may include a message that was added
			done = before.done[i]
		} else {
			m := givenOrder{k: k, r: r, o: o, within: FilterFor(ctx, k.Memories, k.Rooms, r), earlier: all}
			done = m.carryOut(ctx)
		}
		now.done = append(now.done, done)
		if done.Deed != "" {
			all = append(all, done)
		}
	}
	*before = now
	return all
}

// task is an order with what is known of it beside the message.
type task struct {
	order.Order
	remind  order.Reminder // with Remind
	memory  int64          // the statement that a side model says it is about; 0: it did not say
	sure    bool           // with All: the person has confirmed it
	refused string         // why it is not done; empty: it is
}

// orders returns what a message orders: for sure, or else what a side model makes of it.
func (k *Keeper) orders(ctx context.Context, r turn.Request) (all []task) {
	parse := k.Parse
	if parse == nil {
		parse = order.Parse
	}
	parsed, doubt := parse(r.Message.Text[greeted(r.Message.Text, r.People):], r.Names)
	for _, o := range parsed {
		all = append(all, task{Order: o, refused: k.ofOthers(r, o)})
	}
	if remind := k.reminders(ctx, r); len(remind) > 0 {
		if len(order.Spoken(r.Message.Text, r.Names)) == len(remind) {
			return remind
		}
		return append(all, remind...)
	}
	retort := order.Retort(r.Message.Text, r.Names)
	vague := len(all) == 1 && all[0].Deed == order.Correct && !all[0].Plain && all[0].Wrong == ""
	switch {
	case vague: // a side model may say what is corrected
		if better, err := k.proposed(ctx, r); err == nil && slices.ContainsFunc(better, func(o task) bool { return o.refused == "" }) {
			return better
		}
		return all
	case len(all) > 0:
		return all
	case retort.Text != "":
		return []task{{Order: retort}}
	case doubt == order.NoDoubt:
		if k.confirms(ctx, r) {
			return []task{{Order: order.Order{Deed: order.Forget, All: true}, sure: true}}
		}
		return nil
	}
	all, err := k.proposed(ctx, r)
	all = slices.DeleteFunc(all, func(o task) bool { return o.Deed == order.Forget && !onSameMatter(o.Text, r.Message.Text) })
	why := k.whyNot(r)
	if len(all) == 0 && doubt == order.Likely && (err != nil || why != turn.MemoryUnclear || slices.ContainsFunc(order.Spoken(r.Message.Text, r.Names), order.BeginsThat)) {
		// What begins as an order ends in a receipt even if a side model sees none.
		all = []task{{Order: order.Order{Deed: order.Keep}, refused: why}}
	}
	return all
}

// reminders returns what a message orders to be reminded of, in the time zone of its author.
func (k *Keeper) reminders(ctx context.Context, r turn.Request) (all []task) {
	for _, one := range order.Reminders(r.Message.Text[greeted(r.Message.Text, r.People):], r.Names, r.Message.At.In(cmp.Or(zoneOf(r), k.Zone, time.UTC))) {
		all = append(all, task{Order: order.Order{Deed: order.Remind, Text: one.Text}, remind: one})
	}
	return all
}

// zoneOf returns the time zone on the card of a request's author, or nil.
func zoneOf(r turn.Request) *time.Location {
	zone, _ := text.ZoneCalled(r.Card[turn.CardZone])
	return zone
}

// ofOthers returns why a plain order is refused that is somebody else's by the words before it, or "". Examples are "Ada wants you to note
// that", "my gran forgets everything" and "note what the sign says: …".
func (k *Keeper) ofOthers(r turn.Request, o order.Order) string {
	for _, sentence := range order.Spoken(r.Message.Text, r.Names) {
		head, _, holds := strings.Cut(sentence, o.Text)
		s := newSaying(head[greeted(head, r.People):])
		_, colon := order.BeforeColon(head)
		switch {
		case o.All && newSaying(sentence).Has(lexicon().people):
			return turn.MemoryUnclear
		case o.Deed == order.Keep && o.Text != "" && holds && (namesOther(r, s) || frames(s) || colon && s.reports()):
			return turn.MemoryOthers
		}
	}
	return ""
}

// whyNot returns why nothing is done of a message that seems to hold an order.
func (k *Keeper) whyNot(r turn.Request) string {
	if slices.ContainsFunc(order.Spoken(r.Message.Text, r.Names), func(s string) bool { return steers(newSaying(s), r.Names) || hasAddress(s) }) {
		return turn.MemoryOrder
	}
	return turn.MemoryUnclear
}

// confirms reports whether a message is a plain yes to the question whether to forget everything.
func (k *Keeper) confirms(ctx context.Context, r turn.Request) bool {
	if !order.IsYes(r.Message.Text) {
		return false
	}
	m := givenOrder{k: k, r: r}
	before, author := m.before(ctx), r.Message.Author.ID
	if before == nil || before.Request.Message.Author.ID != author || !slices.ContainsFunc(before.Memory.All(), func(one turn.MemoryChange) bool { return one.Asks }) {
		return false
	}
	done, err := k.Memories.LatestUndo(ctx, author, time.Now())
	return err != nil || done != before.Request.ID // the button was pressed
}

// givenOrder is one order while it is carried out. It belongs to one goroutine.
type givenOrder struct {
	k       *Keeper
	r       turn.Request
	o       task
	within  ScopeFilter
	earlier []turn.MemoryChange // results of the message's orders before this one
	done    turn.MemoryChange
}

// carryOut carries out one order and returns the result. The result has no deed if the order means nothing here.
func (m *givenOrder) carryOut(ctx context.Context) turn.MemoryChange {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeLimit) // the change and what undoes it belong together
	defer cancel()
	m.done = turn.MemoryChange{Deed: string(m.o.Deed), Text: m.o.Text}
	var found bool
	var err error
	switch {
	case m.o.refused != "":
		found, m.done.Refused = true, m.o.refused
	case m.o.Deed == order.Keep && m.o.Field != "":
		found, err = m.setCard(ctx, m.o.Field, m.o.Value)
	case m.o.Deed == order.Keep:
		found, err = m.keep(ctx)
	case m.o.Deed == order.Remind:
		found, err = true, m.remind(ctx)
	case m.o.Deed == order.Forget:
		found, err = m.forget(ctx)
	case m.o.Deed == order.Correct:
		found, err = m.correct(ctx)
	}
	switch {
	case errors.Is(err, store.ErrTooMany) && m.o.Deed == order.Remind:
		m.done.Refused = turn.MemoryCrowded
	case errors.Is(err, store.ErrTooMany):
		m.done.Refused = turn.MemoryFull
	case errors.Is(err, store.ErrOptedOut):
		m.done.Refused, m.done.Text, m.done.From = turn.MemoryOptOut, "", ""
	case err != nil:
		m.k.Log.Error("change memory", "err", m.k.Redact.String(err.Error()))
		m.done.Refused = turn.MemoryBroken
	case !found && m.o.Deed == order.Correct && !m.o.Plain && !m.contrasts():
		return turn.MemoryChange{} // people say "that's wrong" about many things
	case !found:
		m.done.Refused, m.done.Text = turn.MemoryUnclear, ""
	}
	m.k.Log.Info("memory ordered", "turn", m.r.ID, "deed", m.done.Deed, "by", m.r.Message.Author.ID, "statements", m.done.IDs, "scope", m.done.Scope, "refused", m.done.Refused)
	return m.done
}

// contrasts reports whether a correction tells what is right and what is wrong. It must be of the author or of what is theirs. An example is "my cat is
// called Hex, not Rex". In a script without spaces the two may not be told apart.
func (m *givenOrder) contrasts() bool {
	own, _ := order.About(m.o.Wrong + " " + m.o.Text)
	two := m.o.Wrong != "" || text.Unspaced(m.o.Text) && newSaying(m.r.Message.Text).Has(lexicon().wrong)
	matter, _ := matterOf(m.o.Text)
	return own && two || matter != ""
}

// undoable keeps what undoes an order.
func (m *givenOrder) undoable(ctx context.Context, back Reversal) error {
	return m.k.Memories.SaveUndo(ctx, Undo{TurnID: m.r.ID, PersonID: m.r.Message.Author.ID, GuildID: m.r.GuildID, At: time.Now(), Reversal: back})
}

// setCard sets a field of the person's card, or deletes it.
func (m *givenOrder) setCard(ctx context.Context, field, value string) (found bool, err error) {
	around := func(s string) bool { // beside the order itself, which is one to the bot
		before, behind, is := strings.Cut(s, m.o.Text)
		return is && steers(newSaying(before+" "+m.o.Value+behind), m.r.Names)
	}
	if m.done.Refused = CardRefusal(m.k.Redact, value, m.r.Names); m.done.Refused == "" && field != turn.CardLanguage && slices.ContainsFunc(order.Spoken(m.r.Message.Text, m.r.Names), around) {
		m.done.Refused = turn.MemoryOrder
	}
	if m.done.Refused != "" {
		m.done.Text = ""
		return true, nil
	}
	author := m.r.Message.Author.ID
	before, err := m.k.Memories.SetCard(ctx, author, field, value, time.Now())
	if err != nil || before == value {
		return true, err
	}
	m.done.Field, m.done.From = field, before
	return true, m.undoable(ctx, Reversal{Card: map[string]string{field: before}})
}

// remind sets a reminder, or notes the author's time zone.
func (m *givenOrder) remind(ctx context.Context) (err error) {
	o := m.o.remind
	if o.Zone != "" {
		zone, known := text.ZoneCalled(o.Zone)
		if !known {
			m.done.Refused, m.done.Text = turn.MemoryZone, ""
			return nil
		}
		m.done.Deed, m.done.Text = string(order.Keep), zone.String()
		_, err := m.setCard(ctx, turn.CardZone, zone.String())
		return err
	}
	if o.Text == "" {
		o.Text = text.OneLine(m.r.Message.Text)
	}
	switch m.done.Text = o.Text; {
	case o.Why != "":
		m.done.Refused = string(o.Why)
	case m.k.Redact.String(o.Text) != o.Text:
		m.done.Refused, m.done.Text = turn.MemorySecret, ""
	}
	if m.done.Refused != "" {
		return nil
	}
	author, zone := m.r.Message.Author.ID, ""
	if o.Wall && zoneOf(m.r) == nil {
		zone = o.At.Location().String()
		before, err := m.k.Memories.DB.Reminders.Of(ctx, author)
		m.done.Taken = err == nil && !slices.ContainsFunc(before, func(r store.Reminder) bool { return r.Zone != "" })
	}
	id, err := m.k.Memories.DB.Reminders.Set(ctx, store.Reminder{
		PersonID: author, GuildID: m.r.GuildID, ChannelID: m.r.ChannelID, MessageID: m.sources(ctx, m.o.Text)[0], Language: cmp.Or(text.MessageLanguage(m.r.Message.Text), m.r.Language),
		Text: o.Text, At: o.At, Zone: zone, Made: m.r.Message.At,
	})
	if err != nil {
		return err
	}
	m.done.IDs, m.done.At, m.done.Zone = []int64{id}, o.At, o.At.Location().String()
	return m.undoable(ctx, Reversal{Set: []int64{id}})
}

// by returns the person who orders, at this time.
func (m *givenOrder) by() store.By {
	return store.By{ID: m.r.Message.Author.ID, Name: m.r.Message.Author.Name, At: time.Now()}
}

// scope returns where a statement from this turn may be read.
func (m *givenOrder) scope() Scope { return ScopeOf(m.r.GuildID, m.r.ChannelID) }

// ScopeOf returns where a statement made in a channel may be read. A channel without a server is one of direct messages.
func ScopeOf(guildID, channelID string) Scope {
	if guildID == "" {
		return Scope{Kind: ScopeDM, ID: channelID}
	}
	return Scope{Kind: ScopeChannel, ID: channelID, GuildID: guildID}
}

// keep remembers what the message says, or the message by the same author that it replies to.
func (m *givenOrder) keep(ctx context.Context) (found bool, err error) {
	said, own, other := m.o.Text, m.o.Own, m.o.Other
	sources := m.sources(ctx, said)
	if said == "" {
		p := m.r.Parent
		if p == nil || p.Author.ID != m.r.Message.Author.ID || !p.ByPerson() || utf8.RuneCountInString(p.Text) > LongestPointed {
			return false, nil
		}
		said, sources = strings.TrimSpace(p.Text), []string{p.ID}
		own, other = order.About(said)
	}
	if m.done.Text = said; m.refuses(said, other) {
		return true, nil
	}
	author := m.r.Message.Author.ID
	kept := Statement{
		Kind: Note, Scope: m.scope(), Text: said, Author: author, Sources: sources, TraceID: m.r.ID, By: author, SaidAt: m.r.Message.At, LearnedAt: time.Now(),
	}
	if own {
		kept.Kind, kept.Subject = Person, author
	}
	return true, m.save(ctx, kept)
}

// LongestPointed is the most characters of a message that "remember this" may point at.
const LongestPointed = 500

func (m *givenOrder) save(ctx context.Context, kept Statement) error {
	back := Reversal{}
	if old, missing := m.k.Memories.Get(ctx, m.within, kept.Supersedes); missing == nil {
		back.Gone = []Statement{old}
	}
	id, err := m.k.Memories.Save(ctx, kept)
	if err != nil {
		return err
	}
	m.done.IDs, m.done.Kind, m.done.Scope = append(m.done.IDs, id), string(kept.Kind), string(kept.Scope.Kind)
	if saved, missing := m.k.Memories.Get(ctx, m.within, id); missing == nil && saved.LearnedAt.Equal(kept.LearnedAt.Truncate(time.Microsecond)) {
		back.Added = []int64{id} // nobody had said the same before
		if history, err := m.k.Memories.History(ctx, m.within, id); err == nil && len(history) > 0 {
			m.done.From = history[0].Text
		}
	}
	return m.undoable(ctx, back)
}

// sources returns the turn's messages that contain the words, or all of them if none does.
func (m *givenOrder) sources(ctx context.Context, said string) []string {
	all := append(slices.Clone(m.r.Burst), m.r.Message.ID)
	holding := slices.DeleteFunc(slices.Clone(all), func(id string) bool {
		kept, err := m.k.Memories.DB.Messages.Get(ctx, id)
		return err != nil || !strings.Contains(kept.Text, said)
	})
	if len(holding) == 0 || said == "" {
		return all
	}
	return holding
}

// refuses notes why a text is refused, if it is.
func (m *givenOrder) refuses(said string, other bool) bool {
	if m.done.Refused = Refusal(m.k.Redact, m.r, said, other); m.done.Refused == "" {
		return false
	}
	m.done.Text = ""
	return true
}

// forget forgets the statements that the message names, or the one remembered last. To forget everything takes a confirmation.
func (m *givenOrder) forget(ctx context.Context) (found bool, err error) {
	if m.o.All {
		return true, m.forgetEverything(ctx)
	}
	var all []Statement
	if m.o.Text == "" {
		if all, err = m.pointed(ctx); len(all) == 0 {
			return false, err
		}
	} else if all, err = m.matching(ctx, m.o.Text); err == nil {
		if field := order.FieldNamed(m.o.Text); field != "" {
			if _, err = m.setCard(ctx, field, ""); err != nil {
				return true, err
			}
		}
	}
	if len(all) > 0 && err == nil {
		err = m.undoable(ctx, Reversal{Gone: all})
	}
	for _, one := range all {
		if err == nil {
			err = m.k.Memories.Forget(ctx, m.within, one.ID, m.by())
			m.done.IDs = append(m.done.IDs, one.ID)
		}
	}
	m.done.Text = "" // the record does not keep what is forgotten either
	if m.done.From = ""; len(all) == 0 && m.done.Field == "" {
		m.done.Refused = turn.MemoryNothing
	}
	return true, err
}

// forgetEverything asks whether to forget everything, or does so if the person has said yes.
func (m *givenOrder) forgetEverything(ctx context.Context) (err error) {
	if !m.o.sure {
		m.done.Asks = true
		return nil
	}
	m.done.Wiped = true
	m.done.Gone, err = m.k.Memories.ForgetEverything(ctx, Undo{TurnID: m.r.ID, PersonID: m.r.Message.Author.ID, GuildID: m.r.GuildID, At: time.Now()})
	return err
}

// mine reports whether a statement is about the message's author, or was remembered at their request.
func (m *givenOrder) mine(one Statement) bool { return OwnedBy(one, m.r.Message.Author.ID) }

// OwnedBy reports whether a statement is about a person, in their words, or was remembered at their request.
func OwnedBy(one Statement, personID string) bool {
	return one.By == personID || one.Author == personID || one.Kind == Person && one.Subject == personID
}

// pointed returns the statements that "that" means. They are those of the message's order before, of the message that is replied to, or of
// the turn before.
func (m *givenOrder) pointed(ctx context.Context) (all []Statement, err error) {
	if all = m.kept(ctx, m.earlier); len(all) > 0 {
		return all, nil
	}
	if p := m.r.Parent; p != nil && p.ByPerson() {
		all, err = m.k.Memories.FromMessage(ctx, m.within, p.ID)
	} else if before := m.before(ctx); before != nil {
		if all = m.kept(ctx, before.Memory.All()); len(all) == 0 {
			all, err = m.k.Memories.FromMessage(ctx, m.within, before.Request.Message.ID)
		}
	}
	return slices.DeleteFunc(all, func(one Statement) bool { return !m.mine(one) }), err
}

// kept returns the statements that the last of some changes left in memory, if any.
func (m *givenOrder) kept(ctx context.Context, changes []turn.MemoryChange) (all []Statement) {
	if len(changes) == 0 || changes[len(changes)-1].Deed == string(order.Forget) {
		return nil
	}
	for _, id := range changes[len(changes)-1].IDs {
		if one, missing := m.k.Memories.Get(ctx, m.within, id); missing == nil && !one.Superseded {
			all = append(all, one)
		}
	}
	return all
}

// before returns the record of the answer that the message follows, or nil.
func (m *givenOrder) before(ctx context.Context) *turn.Trace {
	if len(m.r.Chain) == 0 || !m.r.Chain[0].Own {
		return nil
	}
	t, err := m.k.ByMessage(ctx, m.r.Chain[0].ID)
	if err != nil {
		return nil
	}
	return t
}

const (
	mostMatching = 5   // statements that are forgotten at once
	mostMine     = 500 // statements of a person that are looked through
	alike        = 0.5 // least share that a statement has in common with its correction
)

// own returns the author's statements that may be changed from here, the newest first.
func (m *givenOrder) own(ctx context.Context) ([]Statement, error) {
	all, err := m.k.Memories.List(ctx, m.within, List{Mine: m.r.Message.Author.ID, Limit: mostMine})
	return slices.DeleteFunc(all, func(one Statement) bool { return !m.mine(one) }), err
}

// matching returns the author's statements that are about what a text names, or the one that a side model chose.
func (m *givenOrder) matching(ctx context.Context, said string) (all []Statement, err error) {
	if all, err = m.own(ctx); err != nil {
		return nil, err
	}
	if m.o.memory != 0 {
		return slices.DeleteFunc(all, func(one Statement) bool { return one.ID != m.o.memory }), nil
	}
	held := regarding(all, said)
	for _, clause := range append(order.Clauses(said), order.Topic(said)) {
		if len(held) > 0 {
			break
		}
		held = regarding(all, clause) // the others say why
	}
	if len(held) == 0 {
		held = m.chosen(ctx, all)
	}
	return held[:min(len(held), mostMatching)], nil
}

// regarding returns the statements that are about what a text names.
func regarding(all []Statement, said string) []Statement {
	holds := order.Naming(said)
	return slices.DeleteFunc(slices.Clone(all), func(one Statement) bool { return !holds(one.Text) })
}

// chosen returns the statement that a side model says the message is about, of all that are the author's. It returns none if there is no
// such model, or no such statement. It also returns none if the message does not speak of it.
func (m *givenOrder) chosen(ctx context.Context, all []Statement) []Statement {
	if m.k.Ask == nil || len(all) == 0 {
		return nil
	}
	proposed, err := m.k.proposed(ctx, m.r)
	if err != nil {
		m.k.Log.Debug("choose what an order is about", "err", m.k.Redact.String(err.Error()))
	}
	i := slices.IndexFunc(proposed, func(o task) bool { return o.Deed == m.o.Deed && o.memory != 0 })
	if i < 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(all), func(one Statement) bool {
		return one.ID != proposed[i].memory || !onSameMatter(one.Text, m.r.Message.Text)
	})
}

func holdsAll(terms, wanted []string) bool {
	return len(wanted) > 0 && !slices.ContainsFunc(wanted, func(w string) bool { return !slices.Contains(terms, w) })
}

// correct replaces the statement that the message says is wrong. It is one remembered in the turn before, or one that the turn's answer
// used. It may also be one that says nearly the same. If there is none, the message is about something else.
func (m *givenOrder) correct(ctx context.Context) (found bool, err error) {
	if field, value, err := m.onCard(ctx); err != nil || field != "" {
		if err == nil {
			_, err = m.setCard(ctx, field, value)
		}
		return true, err
	}
	old, ok, err := m.wrong(ctx)
	if err != nil || !ok {
		return false, err
	}
	_, other := order.About(m.o.Text)
	if m.done.Text = m.o.Text; m.refuses(m.o.Text, other) {
		return true, nil
	}
	kept := old
	kept.ID, kept.Scope, kept.Text, kept.Sources = 0, m.scope(), order.ApplyCorrection(old.Text, m.o.Text, m.o.Wrong), m.sources(ctx, m.o.Text)
	kept.Author = m.r.Message.Author.ID
	kept.TraceID, kept.By, kept.SaidAt, kept.LearnedAt, kept.Supersedes = m.r.ID, m.r.Message.Author.ID, m.r.Message.At, time.Now(), 0
	m.done.From = old.Text
	if m.done.Text = kept.Text; old.Scope == kept.Scope {
		kept.Supersedes = old.ID
		return true, m.save(ctx, kept)
	}
	// The old statement was made in another place: it is deleted there, and the correction is remembered here.
	if err := m.save(ctx, kept); err != nil {
		return true, err
	}
	if err := m.undoable(ctx, Reversal{Gone: []Statement{old}}); err != nil {
		return true, err
	}
	return true, m.k.Memories.Forget(ctx, m.within, old.ID, m.by())
}

// onCard returns the field of the person's card that a correction is about, and its new value.
func (m *givenOrder) onCard(ctx context.Context) (field, value string, err error) {
	if m.o.Wrong == "" {
		return "", "", nil
	}
	card, err := m.k.Memories.Card(ctx, m.r.Message.Author.ID)
	for field, old := range card {
		if strings.EqualFold(old, m.o.Wrong) {
			value, _ = order.WithoutSubject(m.o.Text)
			return field, value, err
		}
	}
	return "", "", err
}

// wrong returns the statement that a correction is about.
func (m *givenOrder) wrong(ctx context.Context) (old Statement, ok bool, err error) {
	if m.o.memory != 0 || m.o.Wrong != "" {
		own, err := m.own(ctx)
		all := slices.DeleteFunc(slices.Clone(own), func(one Statement) bool {
			return m.o.memory != 0 && one.ID != m.o.memory || m.o.memory == 0 && !order.HasWrong(one.Text, m.o.Wrong)
		})
		if len(all) == 0 {
			all = m.chosen(ctx, own)
		}
		return first(all), len(all) > 0, err
	}
	if all, err := m.pointed(ctx); err != nil || len(all) > 0 {
		return first(all), len(all) > 0, err
	}
	if len(m.r.Chain) > 0 && m.r.Chain[0].Own {
		told := text.Terms(m.r.Chain[0].Text, "")
		all, err := m.k.Memories.Search(ctx, m.within, m.r.Chain[0].Text, 4*mostMatching)
		all = slices.DeleteFunc(all, func(one Statement) bool {
			return !m.mine(one) || !holdsAll(told, text.Unique(text.Terms(one.Text, "")))
		})
		if err != nil || len(all) > 0 {
			return first(all), len(all) > 0, err
		}
	}
	said := text.Unique(text.Terms(m.o.Text, ""))
	all, err := m.k.Memories.Search(ctx, m.within, m.o.Text, 4*mostMatching)
	all = slices.DeleteFunc(all, func(one Statement) bool {
		return !m.mine(one) || text.Jaccard(said, text.Unique(text.Terms(one.Text, ""))) < alike
	})
	return first(all), len(all) > 0, err
}

func first(all []Statement) (m Statement) {
	if len(all) > 0 {
		m = all[0]
	}
	return m
}

// These tell a model what became of an order. People read the same from the program, below the answer.
const (
	toldKept    = "What the message below asks you to remember is in your memory now, in its own words, and stays when you are restarted."
	toldCard    = "How the message below asks you to call or speak to its author is noted now: do so from now on."
	toldRemind  = "What the message below asks to be reminded of is noted for %s, and the program tells its author then, once."
	toldForgot  = "What the message below asks you to forget is deleted from your memory. Do not repeat it."
	toldCorrect = "What the message below corrects is corrected in your memory."
	toldAsks    = "The message below asks you to forget everything about its author. Nothing is deleted yet: they are asked to confirm it."
	toldRefused = "What the message below asks of your memory was not done: %s. Say so, and do not claim that you have done it."
	toldOthers  = " People have to tell you such things about themselves."
	toldConfirm = " A note below your answer says so; confirm it in a few words of your own, and promise nothing else about your memory."
	toldSeveral = "The message below asks %d things of your memory. What became of each, in their order:%s\nSay what was done and what was not in a few words of your own, and claim no more than that."
)

// ToldOpen tells a model that it is not known yet what a message orders.
const ToldOpen = "Do not speak of your memory in your answer, and promise nothing about it: if the message below asks something of it, a note below your answer says what was done."

// Told tells a model what became of a message's orders, so that what it says about them is true. It returns "" if there were none.
func Told(all []turn.MemoryChange) string {
	switch {
	case len(all) == 0:
		return ""
	case len(all) > 1:
		list := ""
		for i, m := range all {
			list += fmt.Sprintf("\n%d. %s", i+1, toldOf(m))
		}
		return fmt.Sprintf(toldSeveral, len(all), list)
	case all[0].Refused == "":
		return toldOf(all[0]) + toldConfirm
	}
	return toldOf(all[0])
}

func toldOf(m turn.MemoryChange) string {
	switch {
	case m.Asks:
		return toldAsks
	case m.Refused == "" && m.Deed == string(order.Remind):
		return fmt.Sprintf(toldRemind, m.At.Format("Monday, 2006-01-02 15:04"))
	case m.Refused == "" && m.Field != "" && m.Deed != string(order.Forget):
		return toldCard
	case m.Refused == "":
		return map[string]string{string(order.Keep): toldKept, string(order.Forget): toldForgot, string(order.Correct): toldCorrect}[m.Deed]
	case m.Refused == turn.MemoryOthers:
		return fmt.Sprintf(toldRefused, m.Refused) + toldOthers
	}
	return fmt.Sprintf(toldRefused, m.Refused)
}
