package bot

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	"familiar/internal/context/prompt"
	"familiar/internal/context/turn"
	"familiar/internal/factcheck"
	"familiar/internal/llm"
	"familiar/internal/providers/attachment"
	"familiar/internal/providers/character"
	"familiar/internal/providers/recall"
	"familiar/internal/providers/websearch"
	"familiar/internal/reply"
	"familiar/internal/store"
	"familiar/internal/text"
	"familiar/internal/web/clean"
)

// Actor is one character and everything its turns need. It never changes: a reload makes another one.
type Actor struct {
	*character.Character
	Builder  *prompt.Builder
	Lookup   *websearch.Provider
	Past     *recall.ServerProvider // finds earlier messages in the server; nil: nothing is known of them
	Model    *llm.Client            // nil: no model is configured
	Side     *llm.Client            // for questions beside the answer; nil: none
	Pictures *attachment.Provider   // reads attached pictures; nil: none are read
	Verifier *factcheck.Verifier    // judges citations; nil: rules alone do
	Speech   *attachment.Speaker    // says replies aloud; nil: none are
	Tokens   *llm.Counter           // counts its prompts, and keeps parts of them; may be nil
}

// unlabelled takes off the name that a model puts before its words. The name may be the character's or its nickname.
func (a *Actor) unlabelled(text string) (rest string, undecided bool) {
	return reply.Unlabelled(text, a.Name, a.Called)
}

// Verify has the side model judge citations, beside the rules.
func (a *Actor) Verify() { a.Verifier = &factcheck.Verifier{Model: a.Side} }

// modelHost returns the host that runs the character's models, empty if it has none.
func (a *Actor) modelHost() string {
	for _, c := range []*llm.Client{a.Model, a.Side} {
		if c != nil {
			return clean.ShownHost(c.BaseURL)
		}
	}
	return ""
}

// Cast is the characters that can speak, as they were loaded at one time. It never changes.
type Cast struct {
	Default *Actor   // the default
	Others  []*Actor // sorted by id
	Faults  []string // what is wrong with files: characters, or their latest versions, are missing because of it
}

// Actor returns the character with an id, or nil.
func (c *Cast) Actor(id string) *Actor {
	for _, a := range c.All() {
		if a.ID == id {
			return a
		}
	}
	return nil
}

// All lists the characters, the default one first. A nil cast has none.
func (c *Cast) All() []*Actor {
	if c == nil {
		return nil
	}
	return append([]*Actor{c.Default}, c.Others...)
}

// SetCast replaces the characters. Turns that have begun keep their character.
func (b *Bot) SetCast(c *Cast) { b.reloaded.Store(c) }

func (b *Bot) CurrentCast() *Cast { return cmp.Or(b.reloaded.Load(), b.Cast) }

// persona returns the name and picture under which a character posts: its own if several characters speak there, else nil.
func (b *Bot) persona(ctx context.Context, actor *Actor, e turn.Event) *turn.Persona {
	if !b.Pace.Names || e.GuildID == "" || len(b.Speakers(ctx, e)) == 1 {
		return nil
	}
	return &turn.Persona{Name: actor.Name, Avatar: actor.Avatar}
}

// Greet posts a character's n-th greeting, and keeps it as a message of the character.
func (b *Bot) Greet(ctx context.Context, e turn.Event, actor *Actor, n int, to turn.Author) error {
	now := time.Now()
	r := turn.Request{ID: e.ID, GuildID: e.GuildID, ChannelID: e.Message.ChannelID, Message: turn.Message{Author: to, At: now}}
	text, ok := actor.Greeting(n, r)
	rules := reply.RulesFor(r, nil, b.Redact)
	rules.Own = actor.Written()
	text, _ = rules.Guard(actor.Reworded(r, text, false))
	if !ok || strings.TrimSpace(text) == "" {
		return nil
	}
	persona := b.persona(ctx, actor, e)
	for i, piece := range b.split(text, persona) {
		p := turn.Post{GuildID: e.GuildID, ChannelID: e.Message.ChannelID, Text: piece, Final: true, Persona: persona, Nonce: nonce(e.ID, 70+i)}
		id, err := b.sendPost(ctx, p, true)
		if err != nil {
			return err
		}
		b.logged("keep a greeting", b.Store.Messages.Save(ctx, b.stored(e, turn.Message{
			ID: id, ChannelID: p.ChannelID, Author: turn.Author{ID: actor.ID, Name: actor.Name}, Text: reply.OwnWords(piece), At: now.Add(time.Duration(i) * time.Millisecond), Own: true,
		})))
	}
	b.logged("keep a greeting", b.Store.Characters.SetGreeting(ctx, e.Message.ChannelID, e.GuildID, actor.ID, n))
	return nil
}

// Speakers returns the characters that may speak where an event happened. They are those of the channel, of the channel above a thread, or
// of the server. The first one answers if no name is called. There is always one.
func (b *Bot) Speakers(ctx context.Context, e turn.Event) []*Actor {
	cast := b.CurrentCast()
	var found []*Actor
	if len(cast.Others) > 0 {
		ids, err := b.Store.Characters.Chosen(ctx, e.Message.ChannelID, e.ParentID, e.GuildID)
		b.logged("read which characters speak in a channel", err)
		for _, id := range ids {
			if a := cast.Actor(id); a != nil && !slices.Contains(found, a) {
				found = append(found, a)
			}
		}
	}
	if found == nil {
		found = []*Actor{cast.Default}
	}
	return found
}

// speaker returns the character that answers if no name is called.
func (b *Bot) speaker(ctx context.Context, e turn.Event) *Actor { return b.Speakers(ctx, e)[0] }

// actor returns the character that takes the turn of an arrival. If that character is no longer loaded, it is the channel's.
func (b *Bot) actor(ctx context.Context, a arrival) *Actor {
	if a.character != "" {
		if actor := b.CurrentCast().Actor(a.character); actor != nil {
			return actor
		}
	}
	return b.speaker(ctx, a.Event)
}

// Conduct returns how people want the bot to take part in a channel. A thread inherits that.
func (b *Bot) Conduct(ctx context.Context, e turn.Event) store.Conduct {
	c, err := b.Store.Settings.Conduct(ctx, cmp.Or(e.ParentID, e.Message.ChannelID))
	b.logged("read how to take part in a channel", err)
	return c
}

// scene is what decides whom a message is for, besides its words. It has what people have set where it was written, and what was said
// before.
type scene struct {
	speakers []*Actor       // who may speak there; the first one answers if no name is called
	conduct  store.Conduct  // how people want the bot to take part
	own      bool           // it is a thread that the bot opened
	quiet    bool           // where somebody told the bot to be quiet
	latest   *Actor         // who spoke last in a thread or a subscribed channel, or else the first
	above    *store.Message // the message above; nil: it is not kept
	kept     bool           // in a subscribed channel: the message came before
}

// scene reads what decides whom a message is for.
func (b *Bot) scene(ctx context.Context, e turn.Event) scene {
	s := scene{speakers: b.Speakers(ctx, e)}
	s.latest = s.speakers[0]
	var errs [3]error
	s.conduct, errs[0] = b.Store.Settings.Conduct(ctx, cmp.Or(e.ParentID, e.Message.ChannelID))
	if e.ParentID != "" || e.ParentUnknown {
		s.own, s.quiet, errs[1] = b.Store.Threads.Get(ctx, e.Message.ChannelID)
	}
	if len(s.speakers) > 1 && (s.own || s.conduct.Subscribed) {
		var recent []store.Message
		recent, errs[2] = b.Store.Messages.Recent(ctx, e.Message.ChannelID, chainLength)
		for _, m := range recent { // oldest first
			if i := slices.IndexFunc(s.speakers, func(a *Actor) bool { return m.Own && a.ID == m.AuthorID }); i >= 0 {
				s.latest = s.speakers[i]
			}
		}
	}
	if e.Message.ReplyTo != "" && (e.Reply == nil || e.Reply.Own && len(s.speakers) > 1) {
		if m, err := b.Store.Messages.Get(ctx, e.Message.ReplyTo); err == nil {
			s.above = &m
		}
	}
	if s.conduct.Subscribed {
		// A RESUME after a restart brings messages again, and these may be older than the subscription.
		_, err := b.Store.Messages.Get(ctx, e.Message.ID)
		s.kept = err == nil
	}
	b.logged("read what decides whom a message is for", errors.Join(errs[:]...))
	return s
}

// repliedTo returns the character that wrote the message above, or nil if the bot did not write it. The first character answers for one that
// does not speak here any more.
func (s scene) repliedTo(e turn.Event) *Actor {
	switch {
	case !e.Mentioned && wordless(e.Message), e.Reply != nil && !e.Reply.Own, e.Reply == nil && (s.above == nil || !s.above.Own):
		return nil
	}
	for _, a := range s.speakers {
		if s.above != nil && a.ID == s.above.AuthorID || s.above == nil && a.Name == e.Reply.Author.Name { // a reply is not stored while it grows
			return a
		}
	}
	return s.speakers[0]
}

// mostAnswers is how many characters answer one message, one after the other. Their own messages ask nobody for a turn, so no more answers
// follow before a person writes again.
const mostAnswers = 2

// addressee is a character that a message asks for a turn, and how.
type addressee struct {
	actor *Actor
	how   turn.Address
}

// addressees returns the characters that a message asks for a turn, in the order in which they answer. A direct message, a command and a
// mention of the bot are for the characters that they name. If they name none, they are for the channel's first one. A reply is for the
// character that wrote the message above, and for those that it names. Any other message is for the characters whose names it contains as
// words. If there are none, it is for those with a matching pattern.
func (s scene) addressees(e turn.Event) []addressee {
	if e.Message.Own || s.mutes(e) {
		return nil
	}
	if e.Command != nil {
		return []addressee{{s.speakers[0], turn.ByDirect}}
	}
	named := namedIn(quotation.ReplaceAllString(e.Message.Text, " "), s.speakers)
	var found []addressee
	add := func(how turn.Address, actors ...*Actor) {
		for _, a := range actors {
			if len(found) < mostAnswers && !slices.ContainsFunc(found, func(s addressee) bool { return s.actor == a }) {
				found = append(found, addressee{a, how})
			}
		}
	}
	first, latest := s.speakers[:1], []*Actor{s.latest}
	if len(named) > 0 {
		first, latest = named, named
	}
	above := s.repliedTo(e)
	switch {
	case e.Direct:
		add(turn.ByDirect, first...)
	case e.Mentioned:
		add(turn.ByMention, first...)
	case above != nil:
		add(turn.ByReply, above)
		add(turn.ByName, named...)
	case s.own && !s.quiet && !forOthers(e): // there the bot need not be mentioned, unless somebody else is
		add(turn.ByThread, latest...)
	case e.Title != "" && s.conduct.Posts:
		add(turn.ByPost, first...)
	case s.conduct.Subscribed && e.GuildID != "" && !e.Late && !forOthers(e) && !wordless(e.Message):
		add(turn.ByChannel, latest...)
	case len(named) > 0:
		add(turn.ByName, named...)
	default:
		for _, a := range s.speakers {
			if slices.ContainsFunc(a.Patterns(), func(p *regexp.Regexp) bool { return p.MatchString(e.Message.Text) }) {
				add(turn.ByPattern, a)
			}
		}
	}
	return found
}

// quotation matches what people quote: code and addresses. A name in there calls nobody.
var quotation = text.NewLazyRegexp("(?s)```.*?```|`[^`\\n]*`|https?://\\S+")

// namedIn returns the characters whose names a text contains, in the order in which it names them.
func namedIn(text string, all []*Actor) []*Actor {
	folded := strings.ToLower(text)
	at := map[*Actor]int{}
	var named []*Actor
	for _, a := range all {
		if i := a.NamedAt(folded); i >= 0 {
			at[a], named = i, append(named, a)
		}
	}
	slices.SortStableFunc(named, func(x, y *Actor) int { return cmp.Compare(at[x], at[y]) })
	return named
}

// forOthers reports whether a message that does not mention the bot is for somebody else. It replies to that person, or mentions one.
func forOthers(e turn.Event) bool {
	return e.Reply != nil && !e.Reply.Own || slices.ContainsFunc(e.Message.Mentions, func(m string) bool { return strings.HasPrefix(m, "@") })
}

// wordless reports whether nothing of a message has come: without the Message Content Intent Discord leaves out what it holds.
func wordless(m turn.Message) bool { return m.Text == "" && len(m.Files) == 0 && len(m.Quotes) == 0 }

// muteWords are messages that tell the bot to be quiet.
var muteWords = []string{
	"stop", "stop it", "be quiet", "quiet", "enough", "that's all", "thats all", "silence", "stopp", "genug", "ruhe", "sei still", "basta", "para", "cállate",
	"silencio", "arrête", "ça suffit", "tais-toi", "pare", "chega", "silêncio", "やめて", "止めて", "ストップ", "静かにして",
}

// mutes reports whether a message tells the bot to be quiet in one of its threads.
func (s scene) mutes(e turn.Event) bool {
	return s.own && !s.quiet && slices.Contains(muteWords, strings.ToLower(strings.Trim(strings.TrimSpace(e.Message.Text), "!.… 。！")))
}

// noteMute saves that the bot must be quiet in one of its threads, or that a mention ends that.
func (b *Bot) noteMute(ctx context.Context, e turn.Event, s scene) {
	mutes := s.mutes(e)
	if mutes {
		b.tell(e, reply.QuietHere)
	}
	if mutes || s.quiet && e.Mentioned {
		b.logged("be quiet in a thread", b.Store.Threads.SetQuiet(ctx, e.Message.ChannelID, mutes))
	}
}
