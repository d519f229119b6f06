package store

import (
	"context"
	"database/sql"
	"strconv"
	"time"
	"unicode/utf8"
)

// ChangeKind is a setting that people can change.
type ChangeKind string

// The settings. Their values are "on" and "off" unless their comment says otherwise.
const (
	ChangeMode       ChangeKind = "mode" // a mode; empty: the character's default
	ChangeButtons    ChangeKind = "buttons"
	ChangeChatty     ChangeKind = "chatty"
	ChangeThreads    ChangeKind = "threads"
	ChangePosts      ChangeKind = "posts"
	ChangeGreets     ChangeKind = "greets"
	ChangeSubscribed ChangeKind = "subscribed"
	ChangePictures   ChangeKind = "pictures" // of moods; empty: the character's habit
	ChangeLookups    ChangeKind = "lookups"
	ChangePause      ChangeKind = "pause"
	ChangeCharacters ChangeKind = "characters" // ids; empty: the inherited ones
	ChangeBackdrop   ChangeKind = "backdrop"   // the number of letters
	ChangeLearning   ChangeKind = "learning"   // about the person who changes it
	ChangeMemory     ChangeKind = "memory"     // the number of a statement of the bot or of another person, and of its replacement
	ChangePin        ChangeKind = "pin"        // such a statement: the number of the unpinned one, and of the pinned one
	ChangeFiles      ChangeKind = "files"      // of characters: the new, changed and deleted ones
	ChangeQuotas     ChangeKind = "quotas"     // as FAMILIAR_QUOTAS has them
)

// These are the operator's acts that change no setting. Their new value is a turn's id, a file or a site. That of
// ActReplay says how the turn was taken again, too.
const (
	ActStop       ChangeKind = "stop"
	ActDelete     ChangeKind = "delete"
	ActReplay     ChangeKind = "replay"
	ActCount      ChangeKind = "count"  // what is kept of a person
	ActCheck      ChangeKind = "check"  // of the database
	ActWrite      ChangeKind = "write"  // a file of a character, or the card that it is made of
	ActForgetSite ChangeKind = "forget" // what was said of a site
)

// By says who changes something, and when.
type By struct {
	ID, Name string // the name as it is shown
	At       time.Time
}

// Change is a changed setting. It holds no text that people wrote.
type Change struct {
	ID                 int64
	By                 By
	GuildID, ChannelID string // where it applies; no channel: the whole server; neither: everywhere, or to the person
	Kind               ChangeKind
	From, To           string
}

// Record records a change of something outside the store.
func (s *Changes) Record(ctx context.Context, c Change) error {
	return s.db.Change(ctx, "record change", func(tx *sql.Tx) error { return s.RecordIn(tx, c) })
}

// RecordIn records changes in the transaction that makes them. It leaves out changes to the same value. Scenes are recorded always, because
// their value is only a length.
func (s *Changes) RecordIn(tx *sql.Tx, all ...Change) error {
	for _, c := range all {
		if c.From == c.To && c.Kind != ChangeBackdrop {
			continue
		}
		by, err := s.db.Privacy.signature(tx, c.By.ID)
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

// InGuild returns the last changes in a server, newest first, without people's choices for themselves and the operator's acts.
func (s *Changes) InGuild(ctx context.Context, guildID string, limit int) ([]Change, error) {
	return List(ctx, s.db, "list changes", scanChange, selectChanges+`WHERE guild_id = ? AND guild_id <> ''
		AND kind NOT IN ('stop', 'delete', 'replay') ORDER BY id DESC LIMIT ?`, guildID, limit)
}

// All returns the last changes in all places, newest first.
func (s *Changes) All(ctx context.Context, limit int) ([]Change, error) {
	return List(ctx, s.db, "list changes", scanChange, selectChanges+`ORDER BY id DESC LIMIT ?`, limit)
}

func scanChange(row Scanner) (c Change, err error) {
	err = row.Scan(&c.ID, micros{&c.By.At}, &c.GuildID, &c.ChannelID, &c.By.ID, &c.By.Name, &c.Kind, &c.From, &c.To)
	return c, err
}

// OnOff is the value of a setting that is on or off.
func OnOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// changes returns the differences between two states of a channel's settings.
func (c Channel) changes(next Channel, by By) []Change {
	all := []Change{
		{Kind: ChangeMode, From: c.Mode, To: next.Mode},
		{Kind: ChangeLookups, From: OnOff(!c.WebOff), To: OnOff(!next.WebOff)},
		{Kind: ChangeButtons, From: OnOff(!c.Bare), To: OnOff(!next.Bare)},
	}
	return placed(all, next.GuildID, next.ID, by)
}

// changes returns the differences between two ways of taking part in a channel.
func (c Conduct) changes(next Conduct, guildID, channelID string, by By) []Change {
	all := []Change{
		{Kind: ChangeChatty, From: OnOff(c.Chatty), To: OnOff(next.Chatty)},
		{Kind: ChangeThreads, From: OnOff(c.Threads), To: OnOff(next.Threads)},
		{Kind: ChangePosts, From: OnOff(c.Posts), To: OnOff(next.Posts)},
		{Kind: ChangeGreets, From: OnOff(c.Greets), To: OnOff(next.Greets)},
		{Kind: ChangePictures, From: c.Pictures, To: next.Pictures},
		{Kind: ChangeSubscribed, From: OnOff(c.Subscribed), To: OnOff(next.Subscribed)},
	}
	return placed(all, guildID, channelID, by)
}

func placed(all []Change, guildID, channelID string, by By) []Change {
	for i := range all {
		all[i].GuildID, all[i].ChannelID, all[i].By = guildID, channelID, by
	}
	return all
}

// change returns the change that turning the switch makes.
func (s Switch) change(on bool) Change {
	c := Change{By: By{s.By, s.ByName, s.At}, GuildID: s.GuildID, ChannelID: s.Place, Kind: ChangeLookups, From: OnOff(!on), To: OnOff(on)}
	if s.Kind == Answers {
		c.Kind, c.From, c.To = ChangePause, c.To, c.From
	}
	if s.Place == Everywhere {
		c.ChannelID = ""
	}
	return c
}

// change returns the change from an earlier scene. It holds only lengths: the words are for the people who play there.
func (b Backdrop) change(before string) Change {
	return Change{By: By{b.ByID, b.ByName, b.At}, GuildID: b.GuildID, ChannelID: b.ChannelID, Kind: ChangeBackdrop,
		From: strconv.Itoa(utf8.RuneCountInString(before)), To: strconv.Itoa(utf8.RuneCountInString(b.Text))}
}
