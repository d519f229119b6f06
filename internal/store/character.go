package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// MaxCharacters is the largest number of characters in one channel.
const MaxCharacters = 5

// ErrTooMany says that the limit is reached.
var ErrTooMany = errors.New("too many")

// serverPlace is the place under which the characters of a server are kept.
func serverPlace(guildID string) string { return "server:" + guildID }

// Chosen returns the ids of the characters chosen for a channel. If there are none, it returns those of the parent channel of a thread, and
// then those of the server. parentID and guildID may be empty. The caller must not change the ids.
func (s *Characters) Chosen(ctx context.Context, channelID, parentID, guildID string) ([]string, error) {
	places := []string{channelID, parentID, serverPlace(guildID)}
	return setting(s.db, "characters", strings.Join(places, " "), func() ([]string, error) {
		rows, err := s.db.Query(ctx, `SELECT place, characters FROM castings WHERE place IN (?, ?, ?)`, places[0], places[1], places[2])
		chosen, err := Mapped[string, string](s.db, "read characters", rows, err)
		for i, place := range places {
			if ids := chosen[place]; ids != "" && (i != 2 || guildID != "") {
				return strings.Split(ids, "\n"), err
			}
		}
		return nil, err
	})
}

// CharacterChoice says for which place characters are chosen, and by whom.
type CharacterChoice struct {
	ChannelID string // empty: the whole server
	GuildID   string // empty in a direct message
	By        string // id of the person
	ByName    string
	At        time.Time
}

func (c CharacterChoice) place() string {
	if c.ChannelID == "" {
		return serverPlace(c.GuildID)
	}
	return c.ChannelID
}

// Change changes the characters of a channel or a server in one step and returns the new ones. It starts from inherited if none were chosen
// there. Without characters, the place inherits them again. If there would be too many, it changes nothing and returns [ErrTooMany].
func (s *Characters) Change(ctx context.Context, c CharacterChoice, inherited []string, change func(ids []string) []string) (ids []string, err error) {
	var tooMany bool
	defer s.db.settings.changed()
	err = s.db.Write(ctx, func(tx *sql.Tx) error {
		var text string
		err := tx.QueryRow(`SELECT characters FROM castings WHERE place = ?`, c.place()).Scan(&text)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			ids = slices.Clone(inherited)
		case err != nil:
			return err
		default:
			ids = strings.Split(text, "\n")
		}
		before := strings.Join(ids, " ")
		ids = change(ids)
		if tooMany = len(ids) > MaxCharacters; tooMany {
			return nil
		}
		by, err := s.db.Privacy.signature(tx, c.By)
		if err != nil {
			return err
		}
		if err := s.db.Changes.RecordIn(tx, Change{By: By{c.By, c.ByName, c.At}, GuildID: c.GuildID, ChannelID: c.ChannelID, Kind: ChangeCharacters, From: before, To: strings.Join(ids, " ")}); err != nil {
			return err
		}
		if len(ids) == 0 {
			_, err = tx.Exec(`DELETE FROM castings WHERE place = ?`, c.place())
			return err
		}
		_, err = tx.Exec(`INSERT INTO castings (place, guild_id, characters, by_id, at) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (place) DO UPDATE SET characters = excluded.characters, by_id = excluded.by_id, at = excluded.at`,
			c.place(), c.GuildID, strings.Join(ids, "\n"), by, c.At.UnixMicro())
		return err
	})
	if err == nil && tooMany {
		err = ErrTooMany
	}
	if err != nil {
		return nil, fmt.Errorf("change characters: %w", err)
	}
	return ids, nil
}

// ServerCharacter is the character of a server, and the profile that the bot has there.
type ServerCharacter struct {
	Character string // id; empty: the server has none
	Given     string // from SetProfile
}

// Profiles returns the servers that have a character now, or a profile from an earlier one.
func (s *Characters) Profiles(ctx context.Context) (map[string]ServerCharacter, error) {
	rows, err := s.db.readers.QueryContext(ctx, `SELECT guild_id, characters, '' FROM castings WHERE place = 'server:' || guild_id
		UNION ALL SELECT guild_id, '', profile FROM profiles`)
	all := map[string]ServerCharacter{}
	_, err = Collect(s.db, "read profiles", rows, err, func(row Scanner) (_ struct{}, err error) {
		var guildID, character, given string
		err = row.Scan(&guildID, &character, &given)
		server := all[guildID]
		server.Character, server.Given = server.Character+character, server.Given+given
		all[guildID] = server
		return struct{}{}, err
	})
	return all, err
}

// SetProfile saves which profile the bot has in a server. It may be empty.
func (s *Characters) SetProfile(ctx context.Context, guildID, profile string) error {
	_, err := s.db.Exec(ctx, "save profile", `INSERT INTO profiles (guild_id, profile) VALUES (?, ?)
		ON CONFLICT (guild_id) DO UPDATE SET profile = excluded.profile`, guildID, profile)
	return err
}

// LoreChat is the chat in which a character looks up its lorebooks: a channel up to a message.
type LoreChat struct {
	ChannelID, GuildID string
	Character          string // id
	MessageID          string // of the newest message, which may not be kept yet
	At                 time.Time
}

// LoreFiring is the last time that an entry fired in a chat.
type LoreFiring struct {
	Since     int    // messages since then, with the newest, at most [LoreHorizon]; 0: none
	TurnID    string // the turn in which it fired
	FirstTurn string // the turn in which it fired first
}

// LoreHorizon is the largest number of messages that is counted.
const LoreHorizon = 20_000

// Lore returns the last firings of a character's entries in a chat, by the ids of the entries.
func (s *Characters) Lore(ctx context.Context, c LoreChat) (map[string]LoreFiring, error) {
	rows, err := s.db.readers.QueryContext(ctx, `SELECT entry, turn_id, first_turn, at < ?, (SELECT count(*) FROM (
			SELECT 1 FROM messages WHERE messages.channel_id = lore.channel_id AND messages.at > lore.at AND messages.at <= ? AND messages.id <> ? LIMIT ?) AS later)
		FROM lore WHERE channel_id = ? AND character = ?`, c.At.UnixMicro(), c.At.UnixMicro(), c.MessageID, LoreHorizon, c.ChannelID, c.Character)
	all := map[string]LoreFiring{}
	_, err = Collect(s.db, "read lore", rows, err, func(row Scanner) (_ struct{}, err error) {
		var entry string
		var f LoreFiring
		var later bool
		err = row.Scan(&entry, &f.TurnID, &f.FirstTurn, &later, &f.Since)
		if later {
			f.Since++ // the newest message
		} else {
			f.Since = 0
		}
		all[entry] = f
		return struct{}{}, err
	})
	return all, err
}

// ChatLength counts the messages of a chat up to [LoreHorizon], with the newest one. own counts those that the character wrote.
func (s *Characters) ChatLength(ctx context.Context, c LoreChat) (all, own int, err error) {
	err = s.db.readers.QueryRowContext(ctx, `SELECT count(*), count(*) FILTER (WHERE own AND author_id IN ('', ?)) FROM (
			SELECT own, author_id FROM messages WHERE channel_id = ? AND at <= ? AND id <> ? ORDER BY at DESC, id DESC LIMIT ?) AS chat`,
		c.Character, c.ChannelID, c.At.UnixMicro(), c.MessageID, LoreHorizon).Scan(&all, &own)
	if err != nil {
		return 0, 0, fmt.Errorf("count messages: %w", s.db.Explain(err))
	}
	return all + 1, own, nil
}

// SetLore saves that entries fired in a turn.
func (s *Characters) SetLore(ctx context.Context, c LoreChat, turnID string, entries ...string) error {
	return s.db.Change(ctx, "keep lore", func(tx *sql.Tx) error {
		for _, entry := range entries {
			_, err := tx.Exec(`INSERT INTO lore (channel_id, guild_id, character, entry, at, turn_id, first_turn) VALUES (?, ?, ?, ?, ?, ?, ?)
				ON CONFLICT (channel_id, character, entry) DO UPDATE SET at = excluded.at, turn_id = excluded.turn_id`,
				c.ChannelID, c.GuildID, c.Character, entry, c.At.UnixMicro(), turnID, turnID)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Greeting returns the number of the character's last greeting in a channel, counted from 0, or -1.
func (s *Characters) Greeting(ctx context.Context, channelID, character string) (number int, err error) {
	row := s.db.readers.QueryRowContext(ctx, `SELECT number FROM greetings WHERE channel_id = ? AND character = ?`, channelID, character)
	if number, err = One(s.db, "read greeting", row, ScanValue[int]); err != nil {
		return -1, unlessMissing(err)
	}
	return number, nil
}

// SetGreeting saves which greeting a character gave in a channel.
func (s *Characters) SetGreeting(ctx context.Context, channelID, guildID, character string, number int) error {
	_, err := s.db.Exec(ctx, "save greeting", `INSERT INTO greetings (channel_id, guild_id, character, number) VALUES (?, ?, ?, ?)
		ON CONFLICT (channel_id, character) DO UPDATE SET number = excluded.number`, channelID, guildID, character, number)
	return err
}

// Webhook is a webhook of the bot in a channel. Its token is a secret.
type Webhook struct{ ChannelID, GuildID, ID, Token string }

// Get returns the bot's webhook in a channel, or [ErrNotFound].
func (s *Webhooks) Get(ctx context.Context, channelID string) (Webhook, error) {
	w := Webhook{ChannelID: channelID}
	err := s.db.readers.QueryRowContext(ctx, `SELECT guild_id, id, token FROM webhooks WHERE channel_id = ?`, channelID).Scan(&w.GuildID, &w.ID, &w.Token)
	if err != nil {
		return Webhook{}, fmt.Errorf("read webhook: %w", s.db.Explain(err))
	}
	return w, nil
}

// Set saves the bot's webhook in a channel. A webhook without an id is deleted.
func (s *Webhooks) Set(ctx context.Context, w Webhook) error {
	var err error
	if w.ID == "" {
		_, err = s.db.Exec(ctx, "delete webhook", `DELETE FROM webhooks WHERE channel_id = ?`, w.ChannelID)
		return err
	}
	_, err = s.db.Exec(ctx, "save webhook", `INSERT INTO webhooks (channel_id, guild_id, id, token) VALUES (?, ?, ?, ?)
		ON CONFLICT (channel_id) DO UPDATE SET id = excluded.id, token = excluded.token`, w.ChannelID, w.GuildID, w.ID, w.Token)
	return err
}
