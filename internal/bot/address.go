package bot

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"familiar/internal/context/turn"
	"familiar/internal/store"
	"familiar/internal/text"
)

// Speakers returns the characters that may speak where an event happened: those of the channel, of the channel above a thread, or of the
// server. The first one answers if no name is called. There is always one.
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
	c, err := b.Store.Settings.Conduct(ctx, conductChannel(e))
	b.logged("read how to take part in a channel", err)
	return c
}

// conductChannel returns the channel whose conduct counts where an event happened.
func conductChannel(e turn.Event) string { return cmp.Or(e.ParentID, e.Message.ChannelID) }

// scene is what decides whom a message is for, besides its words: what people have set where it was written, and what was said before.
type scene struct {
	speakers []*Actor       // who may speak there; the first one answers if no name is called
	conduct  store.Conduct  // how people want the bot to take part
	own      bool           // it is a thread that the bot opened
	quiet    bool           // where somebody told the bot to be quiet
	latest   *Actor         // who spoke last in a thread or a subscribed channel, or else the first
	above    *store.Message // the message above; nil: it is not kept
}

// scene reads what decides whom a message is for.
func (b *Bot) scene(ctx context.Context, e turn.Event) scene {
	channel := conductChannel(e)
	s := scene{speakers: b.Speakers(ctx, e)}
	s.latest = s.speakers[0]
	var errs [3]error
	s.conduct, errs[0] = b.Store.Settings.Conduct(ctx, channel)
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
// mention of the bot are for the characters that they name, or else for the channel's first one. A reply is for the character that wrote the
// message above, and for those that it names. Any other message is for the characters whose names it contains as words, or else for those
// with a matching pattern.
func (s scene) addressees(e turn.Event) []addressee {
	if e.Message.Own {
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
			if matches(e.Message.Text, a.Patterns()) {
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
		if i := firstName(folded, a.Names()); i >= 0 {
			at[a], named = i, append(named, a)
		}
	}
	slices.SortStableFunc(named, func(x, y *Actor) int { return cmp.Compare(at[x], at[y]) })
	return named
}

// firstName returns where a lower-case text contains the first of the names as a separate word, in any case; -1 if nowhere.
func firstName(folded string, names []string) int {
	first := -1
	for _, name := range names {
		if name = strings.ToLower(name); name == "" {
			continue
		}
		if i := wordAt(folded, name); i >= 0 && (first < 0 || i < first) {
			first = i
		}
	}
	return first
}

func wordAt(text, word string) int {
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return -1
		}
		start, end := from+i, from+i+len(word)
		before, _ := utf8.DecodeLastRuneInString(text[:start])
		after, _ := utf8.DecodeRuneInString(text[end:])
		if !inWord(before) && !inWord(after) {
			return start
		}
		from = end
	}
}

func inWord(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_')
}

func matches(text string, patterns []*regexp.Regexp) bool {
	for _, p := range patterns {
		if p.MatchString(text) {
			return true
		}
	}
	return false
}

// forOthers reports whether a message that does not mention the bot is for somebody else: it replies to that person, or mentions one.
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

// muted reports whether a message tells the bot to be quiet in one of its threads, and keeps that. A mention ends it.
func (b *Bot) muted(ctx context.Context, e turn.Event, s scene) bool {
	words := strings.ToLower(strings.Trim(strings.TrimSpace(e.Message.Text), "!.… 。！"))
	stop := slices.Contains(muteWords, words)
	if !s.own || stop == s.quiet || !stop && !e.Mentioned {
		return false
	}
	if stop {
		b.tell(e, quietHere)
	}
	b.logged("be quiet in a thread", b.Store.Threads.SetQuiet(ctx, e.Message.ChannelID, stop))
	return stop
}
