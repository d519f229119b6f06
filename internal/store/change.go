package store

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"
)

// ChangeKind is a setting that can be changed.
type ChangeKind string

// The settings. Their values are "on" and "off", where nothing else is said.
const (
	ChangeMode       ChangeKind = "mode" // its values are modes; empty: the character's default
	ChangeButtons    ChangeKind = "buttons"
	ChangeChatty     ChangeKind = "chatty"
	ChangeThreads    ChangeKind = "threads"
	ChangePosts      ChangeKind = "posts"
	ChangeSubscribed ChangeKind = "subscribed"
	ChangeLookups    ChangeKind = "lookups"
	ChangePause      ChangeKind = "pause"
	ChangeCharacters ChangeKind = "characters" // ids; empty: those of what is above
	ChangeBackdrop   ChangeKind = "backdrop"   // how many characters it has
	ChangeLearning   ChangeKind = "learning"   // about the person who changes it
	ChangeMemory     ChangeKind = "memory"     // a statement that is another person's, or the bot's own: its number, and that of the one in its place
	ChangePin        ChangeKind = "pin"        // such a statement: the number of the one that was unpinned, and of the one that was pinned
	ChangeFiles      ChangeKind = "files"      // of characters: which are new, have changed or are gone
)

// By is who changes something, and when.
type By struct {
	ID, Name string // as it is shown
	At       time.Time
}

// Change is a setting that was changed. It has no words of people.
type Change struct {
	ID                 int64
	By                 By
	GuildID, ChannelID string // where it holds; no channel: in the whole server; neither: everywhere, or for the person
	Kind               ChangeKind
	From, To           string
}

// RecordChange keeps that something was changed that is not in the store.
func (db *DB) RecordChange(ctx context.Context, c Change) error {
	if err := db.Write(ctx, func(tx *sql.Tx) error { return db.record(tx, c) }); err != nil {
		return fmt.Errorf("record change: %w", err)
	}
	return nil
}

// record keeps some changes in the transaction that makes them. One from a value to itself is none, but for scenes, which differ in more
// than their length.
func (db *DB) record(tx *sql.Tx, all ...Change) error {
	for _, c := range all {
		if c.From == c.To && c.Kind != ChangeBackdrop {
			continue
		}
		by, err := db.signature(tx, c.By.ID)
		if err != nil {
			return err
		}
		if by == "" {
			c.By.Name = ""
		}
		_, err = tx.Exec(`INSERT INTO changes (at, guild_id, channel_id, by_id, by_name, kind, was, became) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
			c.By.At.UnixMicro(), c.GuildID, c.ChannelID, by, c.By.Name, c.Kind, c.From, c.To)
		if err != nil {
			return err
		}
	}
	return nil
}

const selectChanges = `SELECT id, at, guild_id, channel_id, by_id, by_name, kind, was, became FROM changes `

// Changes returns the last changes in a server, the newest first. What somebody chose for themselves alone is not among them.
func (db *DB) Changes(ctx context.Context, guildID string, limit int) ([]Change, error) {
	rows, err := db.readers.QueryContext(ctx, selectChanges+`WHERE guild_id = ? AND guild_id <> '' ORDER BY id DESC LIMIT ?`, guildID, limit)
	return collect(db, "list changes", rows, err, scanChange)
}

// AllChanges returns the last changes anywhere, the newest first.
func (db *DB) AllChanges(ctx context.Context, limit int) ([]Change, error) {
	rows, err := db.readers.QueryContext(ctx, selectChanges+`ORDER BY id DESC LIMIT ?`, limit)
	return collect(db, "list changes", rows, err, scanChange)
}

func scanChange(row scanner) (c Change, err error) {
	var at int64
	err = row.Scan(&c.ID, &at, &c.GuildID, &c.ChannelID, &c.By.ID, &c.By.Name, &c.Kind, &c.From, &c.To)
	c.By.At = time.UnixMicro(at).UTC()
	return c, err
}

// PruneChanges forgets the changes made before that time and returns how many those were.
func (db *DB) PruneChanges(ctx context.Context, before time.Time) (int, error) {
	return db.exec(ctx, "prune changes", `DELETE FROM changes WHERE at < ?`, before.UnixMicro())
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// changes are the differences between two states of a channel's settings.
func (c Channel) changes(next Channel, by By) []Change {
	all := []Change{
		{Kind: ChangeMode, From: c.Mode, To: next.Mode},
		{Kind: ChangeLookups, From: onOff(!c.WebOff), To: onOff(!next.WebOff)},
		{Kind: ChangeButtons, From: onOff(!c.Bare), To: onOff(!next.Bare)},
	}
	return placed(all, next.GuildID, next.ID, by)
}

// changes are the differences between two ways to take part in a channel.
func (c Conduct) changes(next Conduct, guildID, channelID string, by By) []Change {
	all := []Change{
		{Kind: ChangeChatty, From: onOff(c.Chatty), To: onOff(next.Chatty)},
		{Kind: ChangeThreads, From: onOff(c.Threads), To: onOff(next.Threads)},
		{Kind: ChangePosts, From: onOff(c.Posts), To: onOff(next.Posts)},
		{Kind: ChangeSubscribed, From: onOff(c.Subscribed), To: onOff(next.Subscribed)},
	}
	return placed(all, guildID, channelID, by)
}

func placed(all []Change, guildID, channelID string, by By) []Change {
	for i := range all {
		all[i].GuildID, all[i].ChannelID, all[i].By = guildID, channelID, by
	}
	return all
}

// change is what a switch that is turned changes.
func (s Switch) change(on bool) Change {
	c := Change{By: By{s.By, s.ByName, s.At}, GuildID: s.GuildID, ChannelID: s.Place, Kind: ChangeLookups, From: onOff(!on), To: onOff(on)}
	if s.Kind == Answers {
		c.Kind, c.From, c.To = ChangePause, c.To, c.From
	}
	if s.Place == Everywhere {
		c.ChannelID = ""
	}
	return c
}

// change is what a scene changes that takes the place of another. Its words are nobody's business but of those who play there.
func (b Backdrop) change(before string) Change {
	return Change{By: By{b.ByID, b.ByName, b.At}, GuildID: b.GuildID, ChannelID: b.ChannelID, Kind: ChangeBackdrop,
		From: strconv.Itoa(utf8.RuneCountInString(before)), To: strconv.Itoa(utf8.RuneCountInString(b.Text))}
}
