package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Channel is what people have set for one channel. The zero value is what a channel has that nobody touched.
type Channel struct {
	ID      string
	GuildID string // empty in a direct message
	Mode    string // empty: the character's default
	WebOff  bool   // no lookups here
	Bare    bool   // no buttons under replies
}

// Channel returns a channel's settings, or those of one that nobody touched.
func (db *DB) Channel(ctx context.Context, id string) (Channel, error) {
	return setting(db, "channel", id, func() (Channel, error) {
		c, err := scanChannel(id, db.stmts.channel.QueryRowContext(ctx, id))
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return Channel{}, fmt.Errorf("read channel settings: %w", db.Explain(err))
		}
		return c, nil
	})
}

func scanChannel(id string, row scanner) (Channel, error) {
	c := Channel{ID: id}
	err := row.Scan(&c.GuildID, &c.Mode, &c.WebOff, &c.Bare)
	return c, err
}

// Channels returns the settings of all channels of a server that somebody touched, and of those whose server was not kept.
func (db *DB) Channels(ctx context.Context, guildID string) ([]Channel, error) {
	rows, err := db.readers.QueryContext(ctx, `SELECT id, guild_id, mode, web_off, buttons_off FROM channels WHERE guild_id IN (?, '')`, guildID)
	return collect(db, "read channel settings", rows, err, func(row scanner) (c Channel, err error) {
		err = row.Scan(&c.ID, &c.GuildID, &c.Mode, &c.WebOff, &c.Bare)
		return c, err
	})
}

// ChangeChannel changes the settings of a channel, which begin as base, in one step: no other change is lost. It returns them as
// they are then.
func (db *DB) ChangeChannel(ctx context.Context, base Channel, by By, change func(*Channel)) (Channel, error) {
	defer db.settings.changed()
	var c Channel
	err := db.Write(ctx, func(tx *sql.Tx) (err error) {
		c, err = scanChannel(base.ID, tx.QueryRow(`SELECT guild_id, mode, web_off, buttons_off FROM channels WHERE id = ?`, base.ID))
		if errors.Is(err, sql.ErrNoRows) {
			c, err = base, nil
		}
		if err != nil {
			return err
		}
		c.GuildID = base.GuildID
		before := c
		change(&c)
		_, err = tx.Exec(`INSERT INTO channels (id, guild_id, mode, web_off, buttons_off) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET guild_id = excluded.guild_id, mode = excluded.mode, web_off = excluded.web_off,
			buttons_off = excluded.buttons_off`, c.ID, c.GuildID, c.Mode, c.WebOff, c.Bare)
		if err != nil {
			return err
		}
		return db.record(tx, before.changes(c, by)...)
	})
	if err != nil {
		return Channel{}, fmt.Errorf("change channel settings: %w", err)
	}
	return c, nil
}

// Note returns the small fact kept under key, or [ErrNotFound].
func (db *DB) Note(ctx context.Context, key string) (string, error) {
	var value string
	err := db.readers.QueryRowContext(ctx, `SELECT value FROM notes WHERE key = ?`, key).Scan(&value)
	if err != nil {
		return "", fmt.Errorf("read note %s: %w", key, db.Explain(err))
	}
	return value, nil
}

// SetNote keeps a small fact, such as what was registered where, under key.
func (db *DB) SetNote(ctx context.Context, key, value string) error {
	_, err := db.exec(ctx, "save note "+key, setNote, key, value)
	return err
}

const setNote = `INSERT INTO notes (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value`
