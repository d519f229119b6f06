package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// LoreChat is a chat in which a character looks entries of its lorebooks up: its channel up to a message.
type LoreChat struct {
	ChannelID, GuildID string
	Character          string // id
	MessageID          string // the newest, which may not be kept yet
	At                 time.Time
}

// LoreFiring is when an entry fired last in a chat.
type LoreFiring struct {
	Since     int    // messages after that one, the newest included, up to [LoreHorizon]; 0: none
	TurnID    string // in which it did
	FirstTurn string // in which it fired first of all
}

// LoreHorizon is how many messages are counted at most.
const LoreHorizon = 20_000

// Lore returns when a character's entries fired last in a chat, by their ids.
func (db *DB) Lore(ctx context.Context, c LoreChat) (map[string]LoreFiring, error) {
	rows, err := db.readers.QueryContext(ctx, `SELECT entry, turn_id, first_turn, at < ?, (SELECT count(*) FROM (
			SELECT 1 FROM messages WHERE messages.channel_id = lore.channel_id AND messages.at > lore.at AND messages.at <= ? AND messages.id <> ? LIMIT ?))
		FROM lore WHERE channel_id = ? AND character = ?`, c.At.UnixMicro(), c.At.UnixMicro(), c.MessageID, LoreHorizon, c.ChannelID, c.Character)
	all := map[string]LoreFiring{}
	_, err = collect(db, "read lore", rows, err, func(row scanner) (_ struct{}, err error) {
		var entry string
		var f LoreFiring
		var later bool
		err = row.Scan(&entry, &f.TurnID, &f.FirstTurn, &later, &f.Since)
		if later {
			f.Since++ // the newest itself
		} else {
			f.Since = 0
		}
		all[entry] = f
		return struct{}{}, err
	})
	return all, err
}

// ChatLength counts the last messages of a chat, with the newest, and those of them that the character wrote.
func (db *DB) ChatLength(ctx context.Context, c LoreChat) (all, own int, err error) {
	err = db.readers.QueryRowContext(ctx, `SELECT count(*), count(*) FILTER (WHERE own AND author_id IN ('', ?)) FROM (
			SELECT own, author_id FROM messages WHERE channel_id = ? AND at <= ? AND id <> ? ORDER BY at DESC, id DESC LIMIT ?)`,
		c.Character, c.ChannelID, c.At.UnixMicro(), c.MessageID, LoreHorizon).Scan(&all, &own)
	if err != nil {
		return 0, 0, fmt.Errorf("count messages: %w", db.Explain(err))
	}
	return all + 1, own, nil
}

// SetLore keeps that entries fired in a turn.
func (db *DB) SetLore(ctx context.Context, c LoreChat, turnID string, entries ...string) error {
	err := db.Write(ctx, func(tx *sql.Tx) error {
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
	if err != nil {
		return fmt.Errorf("keep lore: %w", err)
	}
	return nil
}

// Greeting returns the number of the greeting that a character gave last in a channel, from 0; -1: none.
func (db *DB) Greeting(ctx context.Context, channelID, character string) (number int, err error) {
	err = db.readers.QueryRowContext(ctx, `SELECT number FROM greetings WHERE channel_id = ? AND character = ?`, channelID, character).Scan(&number)
	if errors.Is(err, sql.ErrNoRows) {
		return -1, nil
	}
	if err != nil {
		return -1, fmt.Errorf("read greeting: %w", db.Explain(err))
	}
	return number, nil
}

// SetGreeting keeps which greeting a character gave in a channel.
func (db *DB) SetGreeting(ctx context.Context, channelID, guildID, character string, number int) error {
	_, err := db.exec(ctx, "save greeting", `INSERT INTO greetings (channel_id, guild_id, character, number) VALUES (?, ?, ?, ?)
		ON CONFLICT (channel_id, character) DO UPDATE SET number = excluded.number`, channelID, guildID, character, number)
	return err
}
