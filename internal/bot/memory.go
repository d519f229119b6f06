package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"familiar/internal/context/prompt"
	"familiar/internal/context/turn"
	"familiar/internal/memory"
	"familiar/internal/memory/remember"
	"familiar/internal/store"
	"familiar/internal/text"
)

// What a message orders to be remembered, forgotten or corrected. The words are the person's own and are read without a model; it is done
// before the turn reads anything, so that nothing of the web has a part in it (rule P6).

// obedience is what was ordered in a turn, and what became of it: a turn that starts over does not forget again what is forgotten.
type obedience struct {
	orders []remember.Order
	done   []turn.MemoryChange // by order; one without a deed meant nothing
}

// obey carries out what a turn's message orders of memory, but for what an attempt before did, and notes it in the record.
func (b *Bot) obey(ctx context.Context, t *turn.Trace, before *obedience) {
	r := t.Request
	meant := r.Addressed.Plain() || r.Addressed == turn.ByName
	if !meant || !r.Message.ByPerson() || r.Claim != "" || r.EarlierID != "" && !r.Edited {
		return // not for it, or carried out already: by the character that answers first, or when it was asked before
	}
	orders := remember.Read(r.Message.Text, r.Names)
	if len(orders) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, storeLimit)
	defer cancel()
	now := obedience{orders: orders}
	var all []turn.MemoryChange
	for _, o := range orders {
		var done turn.MemoryChange
		if i := slices.Index(before.orders, o); i >= 0 && o.Deed != remember.Keep { // what is kept may rest on a message that was added
			done = before.done[i]
		} else {
			m := memoryOrder{b: b, r: r, o: o, within: b.within(ctx, r), earlier: all}
			done = m.carryOut(ctx)
		}
		now.done = append(now.done, done)
		if done.Deed != "" {
			all = append(all, done)
		}
	}
	if *before = now; len(all) > 0 {
		t.Memory = &all[0]
		t.Memory.Also = all[1:]
	}
}

// carryOut carries out one order and returns what became of it: nothing, without a deed, where it means nothing here.
func (m *memoryOrder) carryOut(ctx context.Context) turn.MemoryChange {
	m.done = turn.MemoryChange{Deed: string(m.o.Deed), Text: m.o.Text}
	var found bool
	var err error
	switch m.o.Deed {
	case remember.Keep:
		found, err = m.keep(ctx)
	case remember.Forget:
		found, err = m.forget(ctx)
	case remember.Correct:
		found, err = m.correct(ctx)
	}
	switch {
	case errors.Is(err, store.ErrTooMany):
		m.done.Refused = turn.MemoryFull
	case errors.Is(err, store.ErrOptedOut):
		m.done.Refused, m.done.Text = turn.MemoryOptOut, ""
	case err != nil:
		m.b.logged("change memory", err)
		m.done.Refused = turn.MemoryBroken
	case !found:
		return turn.MemoryChange{} // "that's wrong" is said of much
	}
	m.b.Log.Info("memory ordered", "turn", m.r.ID, "deed", m.done.Deed, "by", m.r.Message.Author.ID, "statements", m.done.IDs, "scope", m.done.Scope, "refused", m.done.Refused)
	return m.done
}

// within is what of memory a turn may be told.
func (b *Bot) within(ctx context.Context, r turn.Request) store.Within {
	return memory.Within(ctx, b.Store, b.Servers, r)
}

// memoryOrder is an order on its way. It belongs to one goroutine.
type memoryOrder struct {
	b       *Bot
	r       turn.Request
	o       remember.Order
	within  store.Within
	earlier []turn.MemoryChange // what became of the message's orders before it
	done    turn.MemoryChange
}

// by is who orders.
func (m *memoryOrder) by() store.By {
	return store.By{ID: m.r.Message.Author.ID, Name: m.r.Message.Author.Name, At: time.Now()}
}

// scope is where what is said in the turn may be read.
func (m *memoryOrder) scope() store.Scope { return scopeOf(m.r.GuildID, m.r.ChannelID) }

func scopeOf(guildID, channelID string) store.Scope {
	if guildID == "" {
		return store.Scope{Kind: store.ScopeDM, ID: channelID}
	}
	return store.Scope{Kind: store.ScopeChannel, ID: channelID, GuildID: guildID}
}

// keep remembers what the message says, or the message of its author that it replies to.
func (m *memoryOrder) keep(ctx context.Context) (found bool, err error) {
	said, own, other := m.o.Text, m.o.Own, m.o.Other
	sources := m.sources(ctx, said)
	if said == "" {
		p := m.r.Parent
		if p == nil || p.Author.ID != m.r.Message.Author.ID || !p.ByPerson() || utf8.RuneCountInString(p.Text) > longestPointed {
			return false, nil
		}
		said, sources = strings.TrimSpace(p.Text), []string{p.ID}
		own, other = remember.About(said)
	}
	if m.done.Text = said; m.refuses(said, other) {
		return true, nil
	}
	author := m.r.Message.Author.ID
	kept := store.Memory{
		Kind: store.MemoryNote, Scope: m.scope(), Text: said, Sources: sources, TraceID: m.r.ID, By: author, SaidAt: m.r.Message.At, LearnedAt: time.Now(),
	}
	if own {
		kept.Kind, kept.Subject = store.MemoryPerson, author
	}
	return true, m.save(ctx, kept)
}

// longestPointed is how many characters a message has at most that "remember this" points at.
const longestPointed = 500

func (m *memoryOrder) save(ctx context.Context, kept store.Memory) error {
	id, err := m.b.Store.Remember(ctx, kept)
	m.done.IDs, m.done.Kind, m.done.Scope = append(m.done.IDs, id), string(kept.Kind), string(kept.Scope.Kind)
	if err != nil {
		m.done.IDs = nil
	}
	return err
}

// sources are the messages of the turn that hold what is said, or all of them.
func (m *memoryOrder) sources(ctx context.Context, said string) []string {
	all := append(slices.Clone(m.r.Burst), m.r.Message.ID)
	holding := slices.DeleteFunc(slices.Clone(all), func(id string) bool {
		kept, err := m.b.Store.Message(ctx, id)
		return err != nil || !strings.Contains(kept.Text, said)
	})
	if len(holding) == 0 || said == "" {
		return all
	}
	return holding
}

// refuses notes why something is not remembered, if it is not: it is about somebody else, who may say so themselves, or it holds a secret.
func (m *memoryOrder) refuses(said string, other bool) bool {
	switch {
	case other || m.names(said):
		m.done.Refused = turn.MemoryOthers
	case m.b.Redact.String(said) != said:
		m.done.Refused = turn.MemorySecret
	default:
		return false
	}
	m.done.Text = ""
	return true
}

// names reports whether a text names another person: by a mention, or as they are called in the server.
func (m *memoryOrder) names(said string) bool {
	if strings.Contains(said, "<@") { // as a command has it
		return true
	}
	author := m.r.Message.Author.Name
	for _, mention := range m.r.Message.Mentions {
		if strings.HasPrefix(mention, "@") && mention != "@"+author && !slices.Contains(m.r.Names, mention[1:]) && strings.Contains(said, mention) {
			return true
		}
	}
	return slices.ContainsFunc(m.r.People, func(name string) bool {
		return name != author && utf8.RuneCountInString(name) > 2 && !slices.Contains(m.r.Names, name) && holdsWord(said, name)
	})
}

// holdsWord reports whether a text holds a name as a word of its own, as it is written.
func holdsWord(s, name string) bool {
	for from := 0; ; {
		i := strings.Index(s[from:], name)
		if i < 0 {
			return false
		}
		before, _ := utf8.DecodeLastRuneInString(s[:from+i])
		from += i + len(name)
		after, _ := utf8.DecodeRuneInString(s[from:])
		first, _ := utf8.DecodeRuneInString(name)
		if !unicode.IsLetter(before) && !unicode.IsLetter(after) || text.Unspaced(string(first)) {
			return true
		}
	}
}

// forget forgets what the message names, or what was remembered last.
func (m *memoryOrder) forget(ctx context.Context) (found bool, err error) {
	var all []store.Memory
	switch {
	case m.o.All:
		all, err = m.b.Store.ListMemories(ctx, m.within, store.MemoryList{Mine: m.r.Message.Author.ID})
	case m.o.Text == "":
		if all, err = m.pointed(ctx); len(all) == 0 {
			return false, err
		}
	default:
		all, err = m.matching(ctx, m.o.Text)
	}
	for _, one := range all {
		if err == nil {
			err = m.b.Store.ForgetMemory(ctx, m.within, one.ID, m.by())
			m.done.IDs = append(m.done.IDs, one.ID)
		}
	}
	if m.done.Text = ""; len(all) == 0 { // what is forgotten is not kept in the record either
		m.done.Refused = turn.MemoryNothing
	}
	return true, err
}

// mine reports whether a statement is about the author of the message, or was asked for by them.
func (m *memoryOrder) mine(one store.Memory) bool { return of(one, m.r.Message.Author.ID) }

func of(one store.Memory, personID string) bool {
	return one.By == personID || one.Kind == store.MemoryPerson && one.Subject == personID
}

// pointed are the statements that "that" means: those of the order before in the same message, those of the message that is replied to, or
// those of the turn before.
func (m *memoryOrder) pointed(ctx context.Context) (all []store.Memory, err error) {
	if all = m.kept(ctx, m.earlier); len(all) > 0 {
		return all, nil
	}
	if p := m.r.Parent; p != nil && p.ByPerson() {
		all, err = m.b.Store.MemoriesFrom(ctx, m.within, p.ID)
	} else if before := m.before(ctx); before != nil {
		all = m.kept(ctx, before.Memory.All())
	}
	return slices.DeleteFunc(all, func(one store.Memory) bool { return !m.mine(one) }), err
}

// kept are the statements that the last of some changes left in memory, if it left any.
func (m *memoryOrder) kept(ctx context.Context, changes []turn.MemoryChange) (all []store.Memory) {
	if len(changes) == 0 || changes[len(changes)-1].Deed == string(remember.Forget) {
		return nil
	}
	for _, id := range changes[len(changes)-1].IDs {
		if one, missing := m.b.Store.Memory(ctx, m.within, id); missing == nil && !one.Superseded {
			all = append(all, one)
		}
	}
	return all
}

// before is the record of the answer that the message follows, or nil.
func (m *memoryOrder) before(ctx context.Context) *turn.Trace {
	if len(m.r.Chain) == 0 || !m.r.Chain[0].Own {
		return nil
	}
	t, err := m.b.Traces.ByMessage(ctx, m.r.Chain[0].ID)
	if err != nil {
		return nil
	}
	return t
}

const (
	mostMatching = 5   // statements that are forgotten at once
	alike        = 0.5 // how much a statement has in common with what corrects it
)

// matching are the author's statements that hold all that a text says.
func (m *memoryOrder) matching(ctx context.Context, said string) ([]store.Memory, error) {
	all, err := m.b.Store.SearchMemories(ctx, m.within, said, 4*mostMatching)
	wanted := text.Unique(text.Terms(said, ""))
	all = slices.DeleteFunc(all, func(one store.Memory) bool { return !m.mine(one) || !holdsAll(text.Terms(one.Text, ""), wanted) })
	return all[:min(len(all), mostMatching)], err
}

func holdsAll(terms, wanted []string) bool {
	return len(wanted) > 0 && !slices.ContainsFunc(wanted, func(w string) bool { return !slices.Contains(terms, w) })
}

// correct replaces the statement that the message says is wrong: one that was remembered in the turn before, that its answer tells, or that
// says nearly the same. Where there is none, the message is about something else.
func (m *memoryOrder) correct(ctx context.Context) (found bool, err error) {
	old, ok, err := m.wrong(ctx)
	if err != nil || !ok {
		return false, err
	}
	_, other := remember.About(m.o.Text)
	if m.done.Text = m.o.Text; m.refuses(m.o.Text, other) {
		return true, nil
	}
	kept := old
	kept.ID, kept.Scope, kept.Text, kept.Sources = 0, m.scope(), remember.Corrected(old.Text, m.o.Text), m.sources(ctx, m.o.Text)
	kept.TraceID, kept.By, kept.SaidAt, kept.LearnedAt, kept.Supersedes = m.r.ID, m.r.Message.Author.ID, m.r.Message.At, time.Now(), 0
	if m.done.Text = kept.Text; old.Scope == kept.Scope {
		kept.Supersedes = old.ID
		return true, m.save(ctx, kept)
	}
	// It was said elsewhere, where this was not: it goes there, and what is right is remembered here.
	if err := m.save(ctx, kept); err != nil {
		return true, err
	}
	return true, m.b.Store.ForgetMemory(ctx, m.within, old.ID, m.by())
}

func (m *memoryOrder) wrong(ctx context.Context) (old store.Memory, ok bool, err error) {
	if all, err := m.pointed(ctx); err != nil || len(all) > 0 {
		return first(all), len(all) > 0, err
	}
	if len(m.r.Chain) > 0 && m.r.Chain[0].Own {
		told := text.Terms(m.r.Chain[0].Text, "")
		all, err := m.b.Store.SearchMemories(ctx, m.within, m.r.Chain[0].Text, 4*mostMatching)
		all = slices.DeleteFunc(all, func(one store.Memory) bool {
			return !m.mine(one) || !holdsAll(told, text.Unique(text.Terms(one.Text, "")))
		})
		if err != nil || len(all) > 0 {
			return first(all), len(all) > 0, err
		}
	}
	said := text.Unique(text.Terms(m.o.Text, ""))
	all, err := m.b.Store.SearchMemories(ctx, m.within, m.o.Text, 4*mostMatching)
	all = slices.DeleteFunc(all, func(one store.Memory) bool {
		return !m.mine(one) || text.Jaccard(said, text.Unique(text.Terms(one.Text, ""))) < alike
	})
	return first(all), len(all) > 0, err
}

func first(all []store.Memory) (m store.Memory) {
	if len(all) > 0 {
		m = all[0]
	}
	return m
}

// What a model is told of an order that was carried out, or was not.
const (
	toldKept    = "What the message below asks you to remember is in your memory now, in its own words, and stays when you are restarted."
	toldForgot  = "What the message below asks you to forget is deleted from your memory. Do not repeat it."
	toldCorrect = "What the message below corrects is corrected in your memory."
	toldRefused = "What the message below asks of your memory was not done: %s. Say so, and do not claim that you have done it."
	toldOthers  = " People have to tell you such things about themselves."
	toldConfirm = " Confirm that in a few words of your own."
	toldSeveral = "The message below asks %d things of your memory. What became of each, in their order:%s\nSay what was done and what was not in a few words of your own, and claim no more than that."
)

// tellMemory tells the model what was done, so that what it says of it is true.
func (b *Bot) tellMemory(actor *Actor, t *turn.Trace, p *prompt.Prompt) {
	all := t.Memory.All()
	if len(all) == 0 || actor.Model == nil {
		return
	}
	told := toldOf(all[0])
	switch {
	case len(all) > 1:
		list := ""
		for i, m := range all {
			list += fmt.Sprintf("\n%d. %s", i+1, toldOf(m))
		}
		told = fmt.Sprintf(toldSeveral, len(all), list)
	case all[0].Refused == "":
		told += toldConfirm
	}
	actor.Builder.Inject(p, "memory", told)
	t.Prompt, t.Layers, t.Dropped = p.Messages, p.Layers, p.Dropped
}

func toldOf(m turn.MemoryChange) string {
	switch m.Refused {
	case "":
		return map[string]string{string(remember.Keep): toldKept, string(remember.Forget): toldForgot, string(remember.Correct): toldCorrect}[m.Deed]
	case turn.MemoryOthers:
		return fmt.Sprintf(toldRefused, m.Refused) + toldOthers
	}
	return fmt.Sprintf(toldRefused, m.Refused)
}

// What is said of an order where no model can.
const (
	memoryKept      sentence = "I have put that in my memory."
	memoryForgotten sentence = "I have deleted that from my memory."
	memoryCorrected sentence = "I have corrected that in my memory."
	memoryOthers    sentence = "I keep nothing about other people in my memory unless they ask for it themselves."
	memoryUnknown   sentence = "I have nothing of that kind in my memory."
	memorySecret    sentence = "That looks like a secret, so I don't keep it in my memory."
	memoryFull      sentence = "I have as much in my memory for you as I keep for one person. /memory shows it."
)

// remembered says what became of the orders, or nothing where there was none.
func (r reply) remembered() string {
	var all []string
	for _, m := range r.trace.Memory.All() {
		all = append(all, r.say(saidOf(m)))
	}
	return strings.Join(slices.Compact(all), " ")
}

func saidOf(m turn.MemoryChange) sentence {
	switch m.Refused {
	case "":
		return map[string]sentence{string(remember.Keep): memoryKept, string(remember.Forget): memoryForgotten, string(remember.Correct): memoryCorrected}[m.Deed]
	case turn.MemoryOthers:
		return memoryOthers
	case turn.MemoryNothing:
		return memoryUnknown
	case turn.MemorySecret:
		return memorySecret
	case turn.MemoryFull:
		return memoryFull
	}
	return couldNotBeSaved
}
