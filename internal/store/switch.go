package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// Everywhere is the place of a switch that holds in all servers and direct messages.
const Everywhere = "everywhere"

// What may be switched off.
const (
	Answers = "answers"
	Lookups = "lookups"
)

// Switch is something that somebody switched off.
type Switch struct {
	Kind    string // Answers or Lookups
	Place   string // id of a channel, or Everywhere; empty: the whole server
	GuildID string // empty in a direct message, and everywhere
	By      string // id of who does it
	ByName  string
	At      time.Time
}

func (s Switch) place() string {
	if s.Place == "" {
		return serverPlace(s.GuildID)
	}
	return s.Place
}

// SwitchOff switches something off.
func (db *DB) SwitchOff(ctx context.Context, s Switch) error {
	return db.turnSwitch(ctx, "switch off", s.change(false), func(tx *sql.Tx, by string) (sql.Result, error) {
		return tx.Exec(`INSERT INTO switches (place, kind, guild_id, by_id, at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			s.place(), s.Kind, s.GuildID, by, s.At.UnixMicro())
	})
}

// SwitchOn switches something on again.
func (db *DB) SwitchOn(ctx context.Context, s Switch) error {
	return db.turnSwitch(ctx, "switch on", s.change(true), func(tx *sql.Tx, _ string) (sql.Result, error) {
		return tx.Exec(`DELETE FROM switches WHERE place = ? AND kind = ?`, s.place(), s.Kind)
	})
}

// turnSwitch turns a switch for whoever does it, as they may be named, and records the change, if it changes anything.
func (db *DB) turnSwitch(ctx context.Context, what string, c Change, turn func(tx *sql.Tx, by string) (sql.Result, error)) error {
	defer db.settings.changed()
	err := db.Write(ctx, func(tx *sql.Tx) error {
		by, err := db.signature(tx, c.By.ID)
		if err != nil {
			return err
		}
		r, err := turn(tx, by)
		if err != nil {
			return err
		}
		if n, err := r.RowsAffected(); err != nil || n == 0 {
			return err
		}
		return db.record(tx, c)
	})
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// Off returns what is off in a channel: by itself, through the channel that it hangs on as a thread, through its server, or everywhere. The
// last two ids may be empty. Nobody may change the map.
func (db *DB) Off(ctx context.Context, channelID, parentID, guildID string) (map[string]bool, error) {
	server := serverPlace(guildID)
	if guildID == "" {
		server = ""
	}
	return setting(db, "off", channelID+" "+parentID+" "+server, func() (map[string]bool, error) {
		rows, err := db.stmts.off.QueryContext(ctx, channelID, parentID, server, Everywhere)
		kinds, err := collect(db, "read switches", rows, err, func(row scanner) (kind string, err error) {
			err = row.Scan(&kind)
			return kind, err
		})
		off := map[string]bool{}
		for _, kind := range kinds {
			off[kind] = true
		}
		return off, err
	})
}
