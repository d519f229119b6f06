package command

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"familiar/internal/context/turn"
	"familiar/internal/memory"
	"familiar/internal/reply"
	"familiar/internal/store"
	"familiar/internal/text"
)

// A person's card says how they want to be called and spoken to. Orders in messages fill it, and here people see, change and undo that.

// These are the answers about a person's card and about undoing.
const (
	cardTitle      sentence = "Your card, for all characters"
	cardName       sentence = "Call me"
	cardPronouns   sentence = "Pronouns"
	cardLanguage   sentence = "Answer me in"
	cardAbout      sentence = "About me"
	cardZone       sentence = "Time zone"
	cardChanged    sentence = "Your card is changed."
	undoIsForAsker sentence = "Only the person whose memory that is can do that."
	undoDone       sentence = "That is undone."
	undoNothing    sentence = "There is nothing to undo any more. What I changed can be undone for a day."
	everythingGone sentence = "Forgotten: everything (%d). For a day you can undo it with /memory undo; then it is gone everywhere."
)

var cardNames = map[string]sentence{turn.CardName: cardName, turn.CardPronouns: cardPronouns, turn.CardLanguage: cardLanguage, turn.CardAbout: cardAbout, turn.CardZone: cardZone}

const (
	cardPrefix  = "card:" // before a field of the card, where a statement has its number
	longestCard = 500     // characters of a field
)

// cardField returns the field that the option entry names, or "".
func cardField(named string) string {
	field, _ := strings.CutPrefix(named, cardPrefix)
	if !slices.Contains(turn.CardFields(), field) {
		return ""
	}
	return field
}

// card returns the person's card. An error is logged, and the card is then empty.
func (c *call) card(ctx context.Context) map[string]string {
	card, err := c.Bot.Memories.Card(ctx, c.Command.By.ID)
	c.logged("read a person's card", err)
	return card
}

// cardSection shows the person's card, unless they search for something else.
func (c *call) cardSection(ctx context.Context, words string) []turn.Section {
	var lines []string
	card := c.card(ctx)
	for _, field := range turn.CardFields() {
		if value := card[field]; value != "" && strings.Contains(text.Fold(value), text.Fold(words)) {
			lines = append(lines, cardNames[field].In(c.language)+": "+c.Bot.Redact.String(value))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return []turn.Section{{Title: cardTitle.In(c.language), Text: strings.Join(lines, "\n")}}
}

// cardChoices suggests the fields of the card that can be corrected or forgotten.
func (c *call) cardChoices(ctx context.Context, typed string) (all []turn.Choice) {
	action, card := c.option("action"), c.card(ctx)
	if action != actCorrect && action != actForget {
		return nil
	}
	for _, field := range turn.CardFields() {
		name := cardNames[field].In(c.language) + ": " + card[field]
		if (card[field] != "" || action == actCorrect) && strings.Contains(text.Fold(name), typed) {
			all = append(all, turn.Choice{Name: text.Truncate(c.Bot.Redact.String(name), 90), Value: cardPrefix + field})
		}
	}
	return all
}

func (c *call) changeCard(ctx context.Context, action, field string) turn.Answer {
	value := text.OneLine(c.option("words"))
	switch {
	case action == actForget:
		value = ""
	case action != actCorrect:
		return c.say(memoryWhich)
	case value == "":
		return c.say(memoryNoText)
	case utf8.RuneCountInString(value) > longestCard:
		return c.say(memoryTooLong, longestCard)
	}
	if refused := memory.CardRefusal(c.Bot.Redact, value, nil); refused != "" {
		return c.say(reply.MemorySaid(turn.MemoryChange{Refused: refused}))
	}
	if zone, known := text.ZoneCalled(value); field == turn.CardZone && known {
		value = zone.String()
	} else if field == turn.CardZone && value != "" {
		return c.say(reply.MemorySaid(turn.MemoryChange{Refused: turn.MemoryZone}))
	}
	by := c.by()
	before, err := c.Bot.Memories.SetCard(ctx, by.ID, field, value, by.At)
	if err != nil {
		return c.memoryTrouble(err)
	}
	if before != value {
		c.undoable(ctx, memory.Reversal{Card: map[string]string{field: before}})
	}
	c.Bot.Log.Info("card changed", "field", field, "by", by.ID)
	return c.say(cardChanged)
}

// undoable keeps what undoes a command.
func (c *call) undoable(ctx context.Context, back memory.Reversal) {
	by := c.by()
	c.logged("keep what undoes a command", c.Bot.Memories.SaveUndo(ctx, memory.Undo{TurnID: c.ID, PersonID: by.ID, GuildID: c.GuildID, At: by.At, Reversal: back}))
}

// undoOrder undoes what the orders of a turn changed.
func (c *call) undoOrder(ctx context.Context) turn.Answer { return c.undo(ctx, c.turn.Request.ID) }

// undoLast undoes the person's last order.
func (c *call) undoLast(ctx context.Context) turn.Answer {
	id, err := c.Bot.Memories.LatestUndo(ctx, c.Command.By.ID, time.Now())
	if err != nil {
		return c.notUndone(err)
	}
	return c.undo(ctx, id)
}

func (c *call) undo(ctx context.Context, turnID string) turn.Answer {
	if err := c.Bot.Memories.Undo(ctx, turnID, c.Command.By.ID, time.Now()); err != nil {
		return c.notUndone(err)
	}
	c.Bot.Log.Info("memory order undone", "turn", turnID, "by", c.Command.By.ID)
	return c.say(undoDone)
}

func (c *call) notUndone(err error) turn.Answer {
	if errors.Is(err, store.ErrNotFound) {
		return c.say(undoNothing)
	}
	return c.memoryTrouble(err)
}

// forgetEverything carries out the order to forget everything, which the person has confirmed.
func (c *call) forgetEverything(ctx context.Context) turn.Answer {
	by := c.by()
	n, err := c.Bot.Memories.ForgetEverything(ctx, memory.Undo{TurnID: c.turn.Request.ID, PersonID: by.ID, GuildID: c.turn.Request.GuildID, At: by.At})
	if err != nil {
		return c.memoryTrouble(err)
	}
	c.Bot.Log.Info("everything forgotten; it can be undone for a day", "by", c.Bot.Store.Privacy.Pseudonym(by.ID), "statements", n)
	a := c.say(everythingGone, n)
	a.Buttons = []turn.Button{{ID: c.key(c.turn.Request.ID, reply.UndoButton), Label: reply.LabelUndo.In(c.language)}}
	return a
}
