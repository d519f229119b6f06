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

// MostSpeakers is how many characters may speak in one channel.
const MostSpeakers = 5

// ErrTooMany says that there are as many as there may be.
var ErrTooMany = errors.New("too many")

// serverPlace is the place of a server's characters.
func serverPlace(guildID string) string { return "server:" + guildID }

// Speakers returns the ids of the characters that somebody chose for a channel, or else for the channel that it hangs on as a
// thread, or else for the server; none if nobody did. The ids of the last two may be empty.
func (db *DB) Speakers(ctx context.Context, channelID, parentID, guildID string) ([]string, error) {
	chosen := map[string][]string{}
	places := []string{channelID, parentID, serverPlace(guildID)}
	rows, err := db.stmts.speakers.QueryContext(ctx, places[0], places[1], places[2])
	_, err = collect(db, "read characters", rows, err, func(row scanner) (_ struct{}, err error) {
		var place, ids string
		err = row.Scan(&place, &ids)
		chosen[place] = strings.Split(ids, "\n")
		return struct{}{}, err
	})
	if err != nil {
		return nil, err
	}
	for i, place := range places {
		if ids := chosen[place]; len(ids) > 0 && (i != 2 || guildID != "") {
			return ids, nil
		}
	}
	return nil, nil
}

// Casting is a choice of characters.
type Casting struct {
	ChannelID string // empty: for the whole server
	GuildID   string // empty in a direct message
	By        string // id of who makes it
	ByName    string
	At        time.Time
}

func (c Casting) place() string {
	if c.ChannelID == "" {
		return serverPlace(c.GuildID)
	}
	return c.ChannelID
}

// ChangeSpeakers changes the characters of a channel or a server in one step, and returns them as they are then. They begin as
// inherited, where nobody chose any. No characters: those of what is above hold again. [ErrTooMany] comes with nothing changed.
func (db *DB) ChangeSpeakers(ctx context.Context, c Casting, inherited []string, change func(ids []string) []string) (ids []string, err error) {
	var tooMany bool
	err = db.Write(ctx, func(tx *sql.Tx) error {
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
		if tooMany = len(ids) > MostSpeakers; tooMany {
			return nil
		}
		by, err := db.signature(tx, c.By)
		if err != nil {
			return err
		}
		if err := db.record(tx, Change{By: By{c.By, c.ByName, c.At}, GuildID: c.GuildID, ChannelID: c.ChannelID, Kind: ChangeCharacters, From: before, To: strings.Join(ids, " ")}); err != nil {
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

// ServerCharacter is the character of a server, and the profile that the bot was given for it.
type ServerCharacter struct {
	Character string // id; empty: the server has none any more
	Given     string // what SetProfile kept
}

// Profiles returns the servers that have a character, or a profile from when they had one.
func (db *DB) Profiles(ctx context.Context) (map[string]ServerCharacter, error) {
	rows, err := db.readers.QueryContext(ctx, `SELECT guild_id, characters, '' FROM castings WHERE place = 'server:' || guild_id
		UNION ALL SELECT guild_id, '', profile FROM profiles`)
	all := map[string]ServerCharacter{}
	_, err = collect(db, "read profiles", rows, err, func(row scanner) (_ struct{}, err error) {
		var guildID, character, given string
		err = row.Scan(&guildID, &character, &given)
		s := all[guildID]
		s.Character, s.Given = s.Character+character, s.Given+given
		all[guildID] = s
		return struct{}{}, err
	})
	return all, err
}

// SetProfile keeps which profile the bot was given in a server; none, if it is empty.
func (db *DB) SetProfile(ctx context.Context, guildID, profile string) error {
	_, err := db.exec(ctx, "save profile", `INSERT INTO profiles (guild_id, profile) VALUES (?, ?)
		ON CONFLICT (guild_id) DO UPDATE SET profile = excluded.profile`, guildID, profile)
	return err
}

// Webhook is one that the bot has in a channel. Its token is a secret.
type Webhook struct{ ChannelID, GuildID, ID, Token string }

// Webhook returns the bot's webhook in a channel, or [ErrNotFound].
func (db *DB) Webhook(ctx context.Context, channelID string) (Webhook, error) {
	w := Webhook{ChannelID: channelID}
	err := db.readers.QueryRowContext(ctx, `SELECT guild_id, id, token FROM webhooks WHERE channel_id = ?`, channelID).Scan(&w.GuildID, &w.ID, &w.Token)
	if err != nil {
		return Webhook{}, fmt.Errorf("read webhook: %w", db.Explain(err))
	}
	return w, nil
}

// SetWebhook keeps the bot's webhook in a channel. One without an id is forgotten.
func (db *DB) SetWebhook(ctx context.Context, w Webhook) error {
	var err error
	if w.ID == "" {
		_, err = db.exec(ctx, "delete webhook", `DELETE FROM webhooks WHERE channel_id = ?`, w.ChannelID)
		return err
	}
	_, err = db.exec(ctx, "save webhook", `INSERT INTO webhooks (channel_id, guild_id, id, token) VALUES (?, ?, ?, ?)
		ON CONFLICT (channel_id) DO UPDATE SET id = excluded.id, token = excluded.token`, w.ChannelID, w.GuildID, w.ID, w.Token)
	return err
}

// Posted reports whether a message is kept, is a post of a turn that is not over, or the reply of one on record.
func (db *DB) Posted(ctx context.Context, messageID string) (posted bool, err error) {
	err = db.readers.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM messages WHERE id = ?) OR EXISTS (SELECT 1 FROM posts WHERE message_id = ?)
		OR EXISTS (SELECT 1 FROM trace_messages WHERE message_id = ?)`, messageID, messageID, messageID).Scan(&posted)
	if err != nil {
		return false, fmt.Errorf("look for a post: %w", db.Explain(err))
	}
	return posted, nil
}

// Backdrop is the scene of a channel. The zero value is none.
type Backdrop struct {
	ChannelID, GuildID string
	Text               string
	ByID, ByName       string // who wrote it
	At                 time.Time
}

// Backdrop returns the scene of a channel, or else of the channel that it hangs on as a thread, whose id may be empty.
func (db *DB) Backdrop(ctx context.Context, channelID, parentID string) (Backdrop, error) {
	return memoise(db, &db.settings, "backdrop "+channelID+" "+parentID, func(b Backdrop) int { return len(b.Text) }, func() (Backdrop, error) {
		b := Backdrop{}
		var at int64
		err := db.stmts.backdrop.QueryRowContext(ctx, channelID, parentID, channelID).Scan(&b.ChannelID, &b.GuildID, &b.Text, &b.ByID, &b.ByName, &at)
		if errors.Is(err, sql.ErrNoRows) {
			return Backdrop{}, nil
		}
		if err != nil {
			return Backdrop{}, fmt.Errorf("read backdrop: %w", db.Explain(err))
		}
		b.At = time.UnixMicro(at).UTC()
		return b, nil
	})
}

// SetBackdrop keeps the scene of a channel in place of the one before. Without a text the channel has none of its own.
func (db *DB) SetBackdrop(ctx context.Context, b Backdrop) error {
	defer db.settings.changed()
	err := db.Write(ctx, func(tx *sql.Tx) error {
		var before string
		err := tx.QueryRow(`SELECT text FROM backdrops WHERE channel_id = ?`, b.ChannelID).Scan(&before)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		by, err := db.signature(tx, b.ByID)
		if err != nil {
			return err
		}
		name := b.ByName
		if by == "" {
			name = ""
		}
		if b.Text == "" {
			_, err = tx.Exec(`DELETE FROM backdrops WHERE channel_id = ?`, b.ChannelID)
		} else {
			_, err = tx.Exec(`INSERT INTO backdrops (channel_id, guild_id, text, by_id, by_name, at) VALUES (?, ?, ?, ?, ?, ?)
				ON CONFLICT (channel_id) DO UPDATE SET text = excluded.text, by_id = excluded.by_id, by_name = excluded.by_name, at = excluded.at`,
				b.ChannelID, b.GuildID, b.Text, by, name, b.At.UnixMicro())
		}
		if err != nil {
			return err
		}
		if b.Text == before {
			return nil
		}
		return db.record(tx, b.change(before))
	})
	if err != nil {
		return fmt.Errorf("save backdrop: %w", err)
	}
	return nil
}
