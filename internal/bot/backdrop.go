package bot

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"familiar/internal/context/turn"
	"familiar/internal/store"
)

// maxBackdrop is how long a scene may be, in characters: it is a part of every prompt.
const maxBackdrop = 1000

// What /backdrop says.
const (
	saysScene     sentence = "The scene here, as %s wrote it: %s"
	saysNoScene   sentence = "No scene is set here."
	saysSceneSet  sentence = "From now on this is the scene here: %s"
	saysSceneGone sentence = "This place has no scene of its own any more."
	saysSceneLong sentence = "A scene may have at most %d characters; this has %d."
	sceneTitle    sentence = "The scene of this channel"
	sceneField    sentence = "What the characters here know of it"
)

// backdropText is the option of /backdrop that its form fills in.
const backdropText = "text"

// setBackdrop sets the scene of the channel, which somebody wrote into the form that /backdrop opens. It stands in the system
// prompt, so it is the word of somebody who may manage the server, or of none.
func (b *Bot) setBackdrop(ctx context.Context, e turn.Event) turn.Answer {
	text, given := e.Command.Options[backdropText]
	if !given {
		return b.showBackdrop(ctx, e)
	}
	if !e.Command.Admin && !e.Direct {
		return b.respond(e, settingsForManagers)
	}
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	if n := utf8.RuneCountInString(text); n > maxBackdrop {
		return b.respond(e, saysSceneLong, maxBackdrop, n)
	}
	err := b.Store.SetBackdrop(ctx, store.Backdrop{
		ChannelID: e.Message.ChannelID, GuildID: e.GuildID, Text: text, ByID: e.Command.By.ID, ByName: e.Command.By.Name, At: time.Now(),
	})
	if err != nil {
		b.logged("keep a scene", err)
		return b.respond(e, couldNotBeSaved)
	}
	b.Log.Info("backdrop changed", "channel", e.Message.ChannelID, "characters", utf8.RuneCountInString(text), "by", e.Command.By.ID)
	if text == "" {
		return b.respond(e, saysSceneGone)
	}
	return b.respond(e, saysSceneSet, text)
}

func (b *Bot) showBackdrop(ctx context.Context, e turn.Event) turn.Answer {
	scene := b.backdrop(ctx, e)
	if scene == nil {
		return b.respond(e, saysNoScene)
	}
	return b.respond(e, saysScene, plainName(scene.By), scene.Text)
}

// backdrop returns the scene where something happened: the channel's, or that of the channel that a thread hangs on; nil if there
// is none.
func (b *Bot) backdrop(ctx context.Context, e turn.Event) *turn.Backdrop {
	scene, err := b.Store.Backdrop(ctx, e.Message.ChannelID, e.ParentID)
	b.logged("read a scene", err)
	if scene.Text == "" {
		return nil
	}
	return &turn.Backdrop{Text: scene.Text, By: scene.ByName, At: scene.At}
}

// Form returns the form that a command opens. Whoever may not give the command is refused instead.
func (b *Bot) Form(ctx context.Context, e turn.Event) (form turn.Form, refusal string) {
	ctx, cancel := context.WithTimeout(ctx, formLimit)
	defer cancel()
	if !e.Command.Admin && !e.Direct {
		return turn.Form{}, settingsForManagers.in(language(e))
	}
	form = turn.Form{Title: sceneTitle.in(language(e)), Label: sceneField.in(language(e)), Option: backdropText, Most: maxBackdrop}
	if scene := b.backdrop(ctx, e); scene != nil {
		form.Text = scene.Text
	}
	return form, ""
}

// formLimit leaves time for the answer, for which Discord waits three seconds.
const formLimit = time.Second
