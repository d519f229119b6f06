package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// PersonalData is all that is kept of a person but for records, as they are given it. Its fields are documented in doc/privacy.md.
type PersonalData struct {
	OptedOut  time.Time                   `json:"opted_out,omitzero"`
	Forgotten time.Time                   `json:"forgotten,omitzero"` // when they were last forgotten
	Names     []string                    `json:"names,omitempty"`
	Messages  []PersonalMessage           `json:"messages"`           // that they wrote
	Answers   []PersonalMessage           `json:"answers"`            // that the bot wrote to them
	Memories  []Memory                    `json:"memories,omitempty"` // of them, at their wish, or from their messages alone
	Acts      []PrivacyEntry              `json:"acts,omitempty"`     // what was done about their data before
	Rows      map[string][]map[string]any `json:"rows,omitempty"`     // of other tables of the database, by table and column
}

// PersonalMessage is a message as people are given it.
type PersonalMessage struct {
	ID        string    `json:"id"`
	ChannelID string    `json:"channel_id"`
	GuildID   string    `json:"guild_id,omitempty"`
	At        time.Time `json:"at"`
	Text      string    `json:"text"`
	Note      string    `json:"note,omitempty"`
	ReplyTo   string    `json:"reply_to,omitempty"`
}

// Export returns what is on a trail.
func (db *DB) Export(ctx context.Context, t *Trail) (d PersonalData, err error) {
	standing, err := db.Standing(ctx, t.Person)
	if err != nil {
		return d, err
	}
	d.OptedOut, d.Forgotten, d.Names = standing.OptedOut, standing.Forgotten, sorted(t.Names)
	if d.Acts, err = db.Acts(ctx, t.Person); err != nil {
		return d, err
	}
	d.Messages, d.Answers = []PersonalMessage{}, []PersonalMessage{}
	rows, err := db.readers.QueryContext(ctx, `SELECT `+columns+` FROM messages WHERE own OR author_id = ? ORDER BY at, id`, t.Person)
	err = each(rows, err, func(row scanner) error {
		m, err := scan(row)
		one := PersonalMessage{m.ID, m.ChannelID, m.GuildID, m.At, m.Text, m.Note, m.ReplyTo}
		switch {
		case !m.Own:
			d.Messages = append(d.Messages, one)
		case t.answers[m.ID]:
			d.Answers = append(d.Answers, one)
		}
		return err
	})
	if err != nil {
		return d, fmt.Errorf("export messages: %w", db.Explain(err))
	}
	all, err := db.ExportMemories(ctx)
	for _, m := range all {
		if t.remembers(m) {
			d.Memories = append(d.Memories, m)
		}
	}
	if err == nil {
		d.Rows, err = db.exportRows(ctx, t)
	}
	return d, err
}

// exportRows returns the rows for which the plan has conditions.
func (db *DB) exportRows(ctx context.Context, t *Trail) (map[string][]map[string]any, error) {
	all := map[string][]map[string]any{}
	for _, p := range plan {
		if p.rows == "" {
			continue
		}
		rows, err := db.readers.QueryContext(ctx, `SELECT * FROM `+p.table+` WHERE `+p.rows, t.args(db, time.Now())...)
		err = each(rows, err, func(scanner) error {
			row, err := named(rows)
			all[p.table] = append(all[p.table], row)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("export %s: %w", p.table, db.Explain(err))
		}
	}
	return all, nil
}

// named reads a row as it is, by the names of its columns.
func named(rows *sql.Rows) (map[string]any, error) {
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	values := make([]any, len(columns))
	into := make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	row := make(map[string]any, len(columns))
	err = rows.Scan(into...)
	for i, c := range columns {
		row[c] = values[i]
	}
	return row, err
}
