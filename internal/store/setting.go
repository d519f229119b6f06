package store

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// Channel is the settings of a channel. The zero value has the defaults.
type Channel struct {
	ID      string
	GuildID string // empty in a direct message
	Mode    string // empty: the character's default
	WebOff  bool   // no lookups here
	Bare    bool   // no buttons under replies
}

// Channel returns a channel's settings, which may be the defaults.
func (s *Settings) Channel(ctx context.Context, id string) (Channel, error) {
	return setting(s.db, "channel", id, func() (Channel, error) {
		c, err := One(s.db, "read channel settings", s.db.QueryRow(ctx, channelQuery, id), scanChannel)
		c.ID = id
		return c, unlessMissing(err)
	})
}

const (
	selectChannels = `SELECT id, guild_id, mode, web_off, buttons_off FROM channels WHERE `
	channelQuery   = selectChannels + `id = ?`
)

func scanChannel(row Scanner) (c Channel, err error) {
	err = row.Scan(&c.ID, &c.GuildID, &c.Mode, &c.WebOff, &c.Bare)
	return c, err
}

// Channels returns the changed settings of the channels of a server, and of channels whose server is unknown.
func (s *Settings) Channels(ctx context.Context, guildID string) ([]Channel, error) {
	return List(ctx, s.db, "read channel settings", scanChannel, selectChannels+`guild_id IN (?, '')`, guildID)
}

// ChangeChannel changes the settings of a channel in one step, so that no other change is lost. They begin as base. It returns the new
// ones.
func (s *Settings) ChangeChannel(ctx context.Context, base Channel, by By, change func(*Channel)) (Channel, error) {
	defer s.db.settings.changed()
	var c Channel
	err := s.db.Change(ctx, "change channel settings", func(tx *sql.Tx) (err error) {
		c, err = scanChannel(tx.QueryRow(channelQuery, base.ID))
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
		return s.db.Changes.RecordIn(tx, before.changes(c, by)...)
	})
	return c, err
}

// Conduct says how people want the bot to take part in a channel. The zero value has the defaults.
type Conduct struct {
	Chatty  bool // the bot joins in unasked
	Threads bool // each mention gets a thread of its own
	Posts   bool // in a forum: each new post is answered
	Greets  bool // the bot greets here, once a day at most

	Subscribed bool // every message of a person is for the bot

	Pictures string // replies show their mood by a picture: "on" or "off"; empty: if that is the character's habit
}

const selectConduct = `SELECT chatty, threads, posts, greets, subscribed, pictures FROM conduct WHERE channel_id = ?`

func scanConduct(row Scanner) (c Conduct, err error) {
	err = row.Scan(&c.Chatty, &c.Threads, &c.Posts, &c.Greets, &c.Subscribed, &c.Pictures)
	return c, err
}

// Conduct returns people's choices for a channel.
func (s *Settings) Conduct(ctx context.Context, channelID string) (Conduct, error) {
	return setting(s.db, "conduct", channelID, func() (Conduct, error) {
		c, err := One(s.db, "read conduct", s.db.QueryRow(ctx, selectConduct, channelID), scanConduct)
		return c, unlessMissing(err)
	})
}

// ChangeConduct changes people's choices for a channel in one step, so that no other change is lost.
func (s *Settings) ChangeConduct(ctx context.Context, channelID, guildID string, by By, change func(*Conduct)) error {
	defer s.db.settings.changed()
	return s.db.Change(ctx, "change conduct", func(tx *sql.Tx) error {
		c, err := scanConduct(tx.QueryRow(selectConduct, channelID))
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		before := c
		change(&c)
		_, err = tx.Exec(`INSERT INTO conduct (channel_id, guild_id, chatty, threads, posts, greets, subscribed, pictures) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (channel_id) DO UPDATE SET chatty = excluded.chatty, threads = excluded.threads, posts = excluded.posts, greets = excluded.greets, subscribed = excluded.subscribed,
			pictures = excluded.pictures`,
			channelID, guildID, c.Chatty, c.Threads, c.Posts, c.Greets, c.Subscribed, c.Pictures)
		if err != nil {
			return err
		}
		return s.db.Changes.RecordIn(tx, before.changes(c, guildID, channelID, by)...)
	})
}

// Greeted returns the channels in which the bot greets, with their servers.
func (s *Settings) Greeted(ctx context.Context) ([]Channel, error) {
	return List(ctx, s.db, "read where to greet", func(row Scanner) (c Channel, err error) {
		err = row.Scan(&c.ID, &c.GuildID)
		return c, err
	}, `SELECT channel_id, guild_id FROM conduct WHERE greets ORDER BY channel_id`)
}

// Backdrop is the scene of a channel. The zero value is none.
type Backdrop struct {
	ChannelID, GuildID string
	Text               string
	ByID, ByName       string // the author
	At                 time.Time
}

// Backdrop returns the scene of a channel, or of the parent channel of a thread. parentID may be empty.
func (s *Settings) Backdrop(ctx context.Context, channelID, parentID string) (Backdrop, error) {
	return Remember(s.db, "backdrop "+channelID+" "+parentID, func(b Backdrop) int { return len(b.Text) }, func() (Backdrop, error) {
		row := s.db.QueryRow(ctx, `SELECT channel_id, guild_id, text, by_id, by_name, at FROM backdrops WHERE channel_id IN (?, ?) ORDER BY channel_id <> ? LIMIT 1`,
			channelID, parentID, channelID)
		b, err := One(s.db, "read backdrop", row, func(row Scanner) (b Backdrop, err error) {
			err = row.Scan(&b.ChannelID, &b.GuildID, &b.Text, &b.ByID, &b.ByName, micros{&b.At})
			return b, err
		})
		return b, unlessMissing(err)
	})
}

// SetBackdrop replaces the scene of a channel. Without a text, it deletes the scene.
func (s *Settings) SetBackdrop(ctx context.Context, b Backdrop) error {
	defer s.db.settings.changed()
	return s.db.Change(ctx, "save backdrop", func(tx *sql.Tx) error {
		var before string
		err := tx.QueryRow(`SELECT text FROM backdrops WHERE channel_id = ?`, b.ChannelID).Scan(&before)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		by, err := s.db.Privacy.signature(tx, b.ByID)
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
		return s.db.Changes.RecordIn(tx, b.change(before))
	})
}

// Everywhere is the place of a switch for all servers and direct messages.
const Everywhere = "everywhere"

// What a switch can turn off.
const (
	Answers = "answers"
	Lookups = "lookups"
)

// Switch is something that somebody turned off.
type Switch struct {
	Kind    string // Answers or Lookups
	Place   string // id of a channel, or Everywhere; empty: the whole server
	GuildID string // empty in a direct message, and for Everywhere
	By      string // id of the person
	ByName  string
	At      time.Time
}

func (s Switch) place() string {
	if s.Place == "" {
		return serverPlace(s.GuildID)
	}
	return s.Place
}

// SwitchOff turns something off.
func (s *Settings) SwitchOff(ctx context.Context, sw Switch) error {
	return s.turnSwitch(ctx, "switch off", sw.change(false), func(tx *sql.Tx, by string) (sql.Result, error) {
		return tx.Exec(`INSERT INTO switches (place, kind, guild_id, by_id, at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			sw.place(), sw.Kind, sw.GuildID, by, sw.At.UnixMicro())
	})
}

// SwitchOn turns something on again.
func (s *Settings) SwitchOn(ctx context.Context, sw Switch) error {
	return s.turnSwitch(ctx, "switch on", sw.change(true), func(tx *sql.Tx, _ string) (sql.Result, error) {
		return tx.Exec(`DELETE FROM switches WHERE place = ? AND kind = ?`, sw.place(), sw.Kind)
	})
}

// turnSwitch turns a switch and records the change, if it changes anything. turn gets the name under which the person may be kept.
func (s *Settings) turnSwitch(ctx context.Context, what string, c Change, turn func(tx *sql.Tx, by string) (sql.Result, error)) error {
	defer s.db.settings.changed()
	return s.db.Change(ctx, what, func(tx *sql.Tx) error {
		by, err := s.db.Privacy.signature(tx, c.By.ID)
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
		return s.db.Changes.RecordIn(tx, c)
	})
}

// Off returns everything that is switched off, newest first. The names of who did it are not kept here.
func (s *Settings) Off(ctx context.Context) ([]Switch, error) {
	return List(ctx, s.db, "list switches", func(row Scanner) (sw Switch, err error) {
		err = row.Scan(&sw.Place, &sw.Kind, &sw.GuildID, &sw.By, micros{&sw.At})
		if sw.Place == serverPlace(sw.GuildID) {
			sw.Place = ""
		}
		return sw, err
	}, `SELECT place, kind, guild_id, by_id, at FROM switches ORDER BY at DESC`)
}

// IsOff reports whether a switch is off in its own place, and not only above it.
func (s *Settings) IsOff(ctx context.Context, sw *Switch) (bool, error) {
	all, err := s.Off(ctx)
	for i := range all {
		if all[i].Kind == sw.Kind && all[i].place() == sw.place() {
			return true, err
		}
	}
	return false, err
}

// SwitchedOff returns what is off in a channel. It is off there, in the parent channel of a thread, in the server, or everywhere. parentID
// and guildID may be empty. The caller must not change the map.
func (s *Settings) SwitchedOff(ctx context.Context, channelID, parentID, guildID string) (map[string]bool, error) {
	server := serverPlace(guildID)
	if guildID == "" {
		server = ""
	}
	return setting(s.db, "off", channelID+" "+parentID+" "+server, func() (map[string]bool, error) {
		kinds, err := ListOften(ctx, s.db, "read switches", ScanValue[string], `SELECT kind FROM switches WHERE place IN (?, ?, ?, ?)`, channelID, parentID, server, Everywhere)
		off := map[string]bool{}
		for _, kind := range kinds {
			off[kind] = true
		}
		return off, err
	})
}

// Get reports whether the bot made a thread, and whether somebody told it to be quiet there.
func (s *Threads) Get(ctx context.Context, id string) (own, quiet bool, err error) {
	quiet, err = One(s.db, "read thread", s.db.readers.QueryRowContext(ctx, `SELECT quiet FROM own_threads WHERE thread_id = ?`, id), ScanValue[bool])
	return err == nil, quiet, unlessMissing(err)
}

// SetQuiet notes that somebody told the bot to be quiet in its thread, or to go on.
func (s *Threads) SetQuiet(ctx context.Context, id string, quiet bool) error {
	_, err := s.db.Exec(ctx, "quiet thread", `UPDATE own_threads SET quiet = ? WHERE thread_id = ?`, quiet, id)
	return err
}

// MoveMessage notes that the bot made a thread for a message, and moves the message there. If the message is waiting under claim, event
// replaces what a restart would go on with.
func (s *Threads) MoveMessage(ctx context.Context, messageID, claim, threadID, guildID, event string, at time.Time) error {
	return s.db.Change(ctx, "move to thread", func(tx *sql.Tx) error {
		_, err := tx.Exec(`INSERT INTO own_threads (thread_id, guild_id, at, quiet) VALUES (?, ?, ?, FALSE) ON CONFLICT DO NOTHING`, threadID, guildID, at.UnixMicro())
		if err == nil {
			err = s.db.Messages.move(tx, messageID, threadID)
		}
		if err == nil {
			event, err = s.db.Privacy.keptEvent(tx, event)
		}
		if err == nil {
			_, err = tx.Exec(`UPDATE claims SET event = ? WHERE event_id = ? AND event <> ''`, event, claim)
		}
		return err
	})
}

// Get returns the note under a key, or [ErrNotFound].
func (s *Notes) Get(ctx context.Context, key string) (string, error) {
	return One(s.db, "read note "+key, s.db.readers.QueryRowContext(ctx, `SELECT value FROM notes WHERE key = ?`, key), ScanValue[string])
}

// Set saves a small fact under a key.
func (s *Notes) Set(ctx context.Context, key, value string) error {
	_, err := s.db.Exec(ctx, "save note "+key, setNote, key, value)
	return err
}

// SetIn saves a small fact in a transaction.
func (s *Notes) SetIn(tx *sql.Tx, key, value string) error {
	_, err := tx.Exec(setNote, key, value)
	return err
}

// Amend changes the note under a key if there is one.
func (s *Notes) Amend(ctx context.Context, key, value string) error {
	_, err := s.db.Exec(ctx, "change note "+key, `UPDATE notes SET value = ? WHERE key = ?`, value, key)
	return err
}

const setNote = `INSERT INTO notes (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value`

// MoveNote is the key of how far a move into the database has come. Nobody else may use the database until it is gone.
const MoveNote = "move"

// MemoryWordsNote is the key of the form of the words in the index of memory.
const MemoryWordsNote = "memory words"

// AlertNotes is what the keys of alerts begin with that the operator was told of, and that are not over.
const AlertNotes = "alert/"

// ServerNote is what the keys of notes about a server begin with, before its id.
const ServerNote = "discord.server/"

// Under returns the facts whose keys begin with a prefix, by the rest of the key.
func (s *Notes) Under(ctx context.Context, prefix string) (map[string]string, error) {
	rows, err := s.db.readers.QueryContext(ctx, `SELECT substr(key, length(?1) + 1), value FROM notes WHERE key >= ?1 AND key < ?1 || '~'`, prefix)
	return Mapped[string, string](s.db, "read notes "+prefix, rows, err)
}

// SetUnder saves facts whose keys begin with a prefix, all or none, and deletes those that are empty.
func (s *Notes) SetUnder(ctx context.Context, prefix string, values map[string]string) error {
	return s.db.Change(ctx, "save notes "+prefix, func(tx *sql.Tx) error { return s.setUnder(tx, prefix, values) })
}

func (s *Notes) setUnder(tx *sql.Tx, prefix string, values map[string]string) error {
	for key, value := range values {
		query, args := setNote, []any{prefix + key, value}
		if value == "" {
			query, args = `DELETE FROM notes WHERE key = ?`, args[:1]
		}
		if _, err := tx.Exec(query, args...); err != nil {
			return err
		}
	}
	return nil
}

// maxSettings is how many bytes of settings are cached: those of some thousand channels.
const maxSettings = 512 << 10

// setting is [Remember] for the settings of a place.
func setting[T any](db *DB, kind, place string, read func() (T, error)) (T, error) {
	return Remember(db, kind+" "+place, func(T) int { return 0 }, read)
}

// Remember returns what people set, which is read once until a setting changes. key says what it is. size returns the bytes of a value. The
// caller must not change the value. Code outside this package that writes it calls [Settings.Changed].
func Remember[T any](db *DB, key string, size func(T) int, read func() (T, error)) (T, error) {
	return memoise(db, &db.settings, key, size, read)
}

// Changed says that what [Remember] reads has changed. It is called after the commit.
func (s *Settings) Changed() { s.db.settings.changed() }
