package command

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/memory"
	"familiar/internal/reply"
	"familiar/internal/store"
	"familiar/internal/text"
)

// Under /memory a person sees and cancels their reminders. Messages set them.

const (
	remindersTitle    sentence = "Your reminders"
	reminderCancelled sentence = "That reminder is cancelled."

	reminderPrefix = "reminder:" // before the number of a reminder, where a statement has its number
)

// reminders returns the lines of the person's reminders that hold some words. A reminder of another place is only for a private answer,
// as each answer to /memory is.
func (c *call) reminders(ctx context.Context, words string) (all []store.Reminder, lines []string) {
	set, err := c.Bot.Store.Reminders.Of(ctx, c.Command.By.ID)
	c.logged("read reminders", err)
	zone := c.card(ctx)[turn.CardZone]
	for _, r := range set {
		if !strings.Contains(text.Fold(r.Text), text.Fold(words)) {
			continue
		}
		in := cmp.Or(zone, r.Zone, "UTC")
		all = append(all, r)
		lines = append(lines, reply.Moment(c.language, r.At, in)+": "+c.Bot.Redact.String(text.Truncate(text.OneLine(r.Text), longestShown)))
	}
	return all, lines
}

func (c *call) reminderSection(ctx context.Context, words string) []turn.Section {
	_, lines := c.reminders(ctx, words)
	if len(lines) == 0 {
		return nil
	}
	return []turn.Section{{Title: remindersTitle.In(c.language), Text: strings.Join(lines, "\n")}}
}

// reminderChoices suggests the reminders that can be cancelled.
func (c *call) reminderChoices(ctx context.Context, typed string) (choices []turn.Choice) {
	if c.option("action") != actForget {
		return nil
	}
	all, lines := c.reminders(ctx, typed)
	for i, r := range all {
		choices = append(choices, turn.Choice{Name: text.Truncate(lines[i], 90), Value: reminderPrefix + strconv.FormatInt(r.ID, 10)})
	}
	return choices
}

// cancelReminder cancels a reminder of the person, which can be undone.
func (c *call) cancelReminder(ctx context.Context, action, number string) turn.Answer {
	id, err := strconv.ParseInt(number, 10, 64)
	if action != actForget || err != nil {
		return c.say(memoryWhich)
	}
	r, err := c.Bot.Store.Reminders.Cancel(ctx, c.Command.By.ID, id)
	if err != nil {
		return c.say(memoryGone)
	}
	c.undoable(ctx, memory.Reversal{Cancelled: []store.Reminder{r}})
	return c.say(reminderCancelled)
}
