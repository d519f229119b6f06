package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// pruneBatch is how many messages go in one transaction: few enough for others to get between.
const pruneBatch = 100

// PruneMessages forgets the messages written before that time and returns how many those were. What was learned from them stays:
// [DB.PruneMemories] has a time of its own.
func (db *DB) PruneMessages(ctx context.Context, before time.Time) (removed int, err error) {
	// Messages lie in the file in the order in which they came: those that are too old are the first.
	err = db.sweepMessages(ctx, `SELECT `+rowColumns+`, at < ? FROM messages WHERE rowid > ? ORDER BY rowid LIMIT ?`, before.UnixMicro(), func(old int) bool {
		removed += old
		return old > 0
	})
	if err != nil {
		return removed, fmt.Errorf("prune messages: %w", err)
	}
	return removed, nil
}

// OldestMessages returns when the newest of the n oldest messages was written, or the zero time if there are none that were written before some time.
func (db *DB) OldestMessages(ctx context.Context, n int, before time.Time) (time.Time, error) {
	var at int64
	err := db.readers.QueryRowContext(ctx, `SELECT coalesce(max(at), -1) FROM (SELECT at FROM messages WHERE at < ? ORDER BY rowid LIMIT ?)`, before.UnixMicro(), n).Scan(&at)
	if err != nil {
		return time.Time{}, fmt.Errorf("find the oldest messages: %w", db.Explain(err))
	}
	if at < 0 {
		return time.Time{}, nil
	}
	return time.UnixMicro(at).UTC(), nil
}

// sweepMessages deletes the messages of which the query says so, as long as more says so of how many went last. The query returns
// rowColumns and that, and has parameters for arg, the row to begin behind, and how many rows.
func (db *DB) sweepMessages(ctx context.Context, query string, arg any, more func(deleted int) bool) error {
	for last, whole := int64(0), true; whole; {
		deleted, from := 0, last
		err := db.WriteStep(ctx, func(tx *sql.Tx) error {
			rows, err := tx.Query(query, arg, from, pruneBatch)
			if err != nil {
				return err
			}
			defer rows.Close()
			gone := map[int64]Message{}
			n := 0
			for ; rows.Next(); n++ {
				var m Message
				var due bool
				if err := rows.Scan(&last, &m.GuildID, &m.ChannelID, &m.AuthorID, &m.Text, &due); err != nil {
					return err
				}
				if due {
					gone[last] = m
				}
			}
			if err := rows.Err(); err != nil {
				return err
			}
			for row, m := range gone {
				if _, err := db.dropRow(tx, row, m); err != nil {
					return err
				}
			}
			deleted, whole = len(gone), n == pruneBatch
			return nil
		})
		if err != nil {
			return err
		}
		if !more(deleted) {
			return nil
		}
	}
	return nil
}

// PrunePeople forgets those who have not spoken in a server since that time, or ten minutes before it, for it is not noted more often, and
// returns how many names those were.
func (db *DB) PrunePeople(ctx context.Context, before time.Time) (int, error) {
	defer db.names.changed()
	return db.exec(ctx, "prune names of people", `DELETE FROM people WHERE at < ?`, before.Add(-metAgain).UnixMicro())
}

// PrunePosts forgets the posts of turns that began before that time, or have no record any more.
func (db *DB) PrunePosts(ctx context.Context, before time.Time) (int, error) {
	return db.exec(ctx, "prune posts", `DELETE FROM posts WHERE turn_id IN
		(SELECT p.turn_id FROM posts p LEFT JOIN traces t ON t.id = p.turn_id WHERE t.id IS NULL OR t.began < ?)`, before.UnixMicro())
}

// PruneMemories forgets what the bot learned by itself before that time, unless it is pinned, and returns how many statements those were. What
// somebody asked for is kept until somebody has it forgotten.
func (db *DB) PruneMemories(ctx context.Context, before time.Time) (removed int, err error) {
	err = db.Write(ctx, func(tx *sql.Tx) (err error) {
		removed, err = db.dropMemoriesOf(tx, `by_id = '' AND NOT pinned AND NOT superseded AND learned_at < ?`, before.UnixMicro())
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("prune memories: %w", err)
	}
	return removed, nil
}

// PruneFeedback forgets what was said of sources before that time and returns how much that was.
func (db *DB) PruneFeedback(ctx context.Context, before time.Time) (int, error) {
	return db.exec(ctx, "prune feedback", `DELETE FROM feedback WHERE at < ?`, before.UnixMicro())
}

// LeaveGuild notes that the bot is not in a server any more, unless that is known.
func (db *DB) LeaveGuild(ctx context.Context, guildID string, at time.Time) error {
	_, err := db.exec(ctx, "leave server", `INSERT INTO left_guilds (guild_id, at) VALUES (?, ?) ON CONFLICT DO NOTHING`, guildID, at.UnixMicro())
	return err
}

// ReturnGuild notes that the bot is in a server again: nothing of it is deleted.
func (db *DB) ReturnGuild(ctx context.Context, guildID string) error {
	_, err := db.exec(ctx, "return to server", `DELETE FROM left_guilds WHERE guild_id = ?`, guildID)
	return err
}

// Guilds returns the servers of which something is kept.
func (db *DB) Guilds(ctx context.Context) ([]string, error) {
	return db.guilds(ctx, `SELECT guild_id FROM people UNION SELECT guild_id FROM channels WHERE guild_id <> '' UNION
		SELECT guild_id FROM castings WHERE guild_id <> '' UNION SELECT guild_id FROM backdrops WHERE guild_id <> '' UNION
		SELECT guild_id FROM memories WHERE guild_id <> '' UNION
		SELECT guild_id FROM changes WHERE guild_id <> '' UNION SELECT guild_id FROM left_guilds`)
}

// LeftGuilds returns the servers that the bot left before that time, and of which something may still be kept.
func (db *DB) LeftGuilds(ctx context.Context, before time.Time) ([]string, error) {
	return db.guilds(ctx, `SELECT guild_id FROM left_guilds WHERE at < ? ORDER BY at`, before.UnixMicro())
}

func (db *DB) guilds(ctx context.Context, query string, args ...any) ([]string, error) {
	rows, err := db.readers.QueryContext(ctx, query, args...)
	return collect(db, "list servers", rows, err, func(row scanner) (id string, err error) {
		err = row.Scan(&id)
		return id, err
	})
}

// DeleteGuild forgets all that is kept here of a server that the bot has left. Its records must have gone before.
func (db *DB) DeleteGuild(ctx context.Context, guildID string) error {
	defer db.names.changed()
	defer db.settings.changed()
	err := db.sweepMessages(ctx, `SELECT `+rowColumns+`, guild_id = ? FROM messages WHERE rowid > ? ORDER BY rowid LIMIT ?`, guildID, func(int) bool { return true })
	if err == nil {
		err = db.Write(ctx, func(tx *sql.Tx) error {
			for _, table := range []string{
				"people", "channels", "castings", "backdrops", "profiles", "webhooks", "conduct", "own_threads", "opinions", "switches", "usage", "feedback",
				"changes", "lore", "greetings", "summaries", "watermarks", "left_guilds",
			} {
				if _, err := tx.Exec(`DELETE FROM `+table+` WHERE guild_id = ?`, guildID); err != nil {
					return err
				}
			}
			_, err := db.dropMemoriesOf(tx, `guild_id = ?`, guildID)
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("delete server %s: %w", guildID, err)
	}
	return nil
}
