package forget

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/memory"
	"familiar/internal/store"
	"familiar/internal/trace"
)

// ExportFormat is the format of [Export].
const ExportFormat = "familiar personal data 1"

// Export is everything that is kept of a person. It holds no words of other people, except where the bot's answers quote them. Its fields
// are documented in doc/privacy.md.
type Export struct {
	Format    string                      `json:"format"`
	Made      time.Time                   `json:"made"`
	PersonID  string                      `json:"person_id"`
	OptedOut  time.Time                   `json:"opted_out,omitzero"`
	Forgotten time.Time                   `json:"forgotten,omitzero"` // when they were last forgotten
	Names     []string                    `json:"names,omitempty"`
	Messages  []Message                   `json:"messages"`            // that they wrote
	Answers   []Message                   `json:"answers"`             // that the bot wrote to them
	Memories  []memory.Statement          `json:"memories,omitempty"`  // about them, at their request, or from their messages alone
	Acts      []store.PrivacyEntry        `json:"acts,omitempty"`      // what was done about their data before
	Rows      map[string][]map[string]any `json:"rows,omitempty"`      // of other tables of the database, by table and column
	Records   []Record                    `json:"records,omitempty"`   // of their turns
	QuotedIn  []string                    `json:"quoted_in,omitempty"` // ids of the turns of others whose records hold some of the person's words
}

// Message is a message as people are given it.
type Message struct {
	ID        string    `json:"id"`
	ChannelID string    `json:"channel_id"`
	GuildID   string    `json:"guild_id,omitempty"`
	At        time.Time `json:"at"`
	Text      string    `json:"text"`
	Note      string    `json:"note,omitempty"`
	ReplyTo   string    `json:"reply_to,omitempty"`
}

// Record is what a person is given of the record of one of their turns.
type Record struct {
	ID        string            `json:"id"`
	Began     time.Time         `json:"began"`
	Character string            `json:"character"`
	GuildID   string            `json:"guild_id,omitempty"`
	ChannelID string            `json:"channel_id"`
	Question  string            `json:"question"`
	Reply     string            `json:"reply"`
	Model     string            `json:"model,omitempty"`
	Host      string            `json:"model_host,omitempty"`
	Usage     turn.Usage        `json:"usage,omitzero"`
	Queries   []string          `json:"queries,omitempty"`
	Pages     []string          `json:"pages,omitempty"` // addresses
	Voice     []turn.Transcript `json:"voice,omitempty"`
	Speech    *turn.Speech      `json:"speech,omitempty"`
}

// Export returns everything that is kept of a person.
func (f *Forgetter) Export(ctx context.Context, personID string) (*Export, error) {
	p := newFootprint(personID, time.Time{})
	if err := f.find(ctx, p); err != nil {
		return nil, err
	}
	e := &Export{Format: ExportFormat, Made: time.Now().UTC().Truncate(time.Second), PersonID: personID, Names: sorted(p.names), Messages: []Message{}, Answers: []Message{}}
	for _, export := range []func(context.Context, *footprint, *Export) error{f.exportStanding, f.exportMessages, f.exportMemories, f.exportRows, f.exportRecords} {
		if err := export(ctx, p, e); err != nil {
			return nil, fmt.Errorf("export what is kept of a person: %w", err)
		}
	}
	return e, nil
}

func (f *Forgetter) exportStanding(ctx context.Context, p *footprint, e *Export) error {
	standing, err := f.Traces.DB.Privacy.Standing(ctx, p.id)
	if err != nil {
		return err
	}
	e.OptedOut, e.Forgotten = standing.OptedOut, standing.Forgotten
	e.Acts, err = f.Traces.DB.Privacy.Acts(ctx, p.id)
	return err
}

func (f *Forgetter) exportMessages(ctx context.Context, p *footprint, e *Export) error {
	return f.Traces.DB.Each(ctx, `SELECT id, channel_id, guild_id, at, text, note, reply_to, own FROM messages WHERE own OR author_id = @person ORDER BY at, id`,
		store.Args{"person": p.id}, func(scan func(...any) error) error {
			var m Message
			var at int64
			var own bool
			err := scan(&m.ID, &m.ChannelID, &m.GuildID, &at, &m.Text, &m.Note, &m.ReplyTo, &own)
			m.At = time.UnixMicro(at).UTC()
			switch {
			case !own:
				e.Messages = append(e.Messages, m)
			case p.answers[m.ID]:
				e.Answers = append(e.Answers, m)
			}
			return err
		})
}

func (f *Forgetter) exportMemories(ctx context.Context, p *footprint, e *Export) error {
	all, err := f.Memories.Export(ctx)
	for _, m := range all {
		if p.remembers(m) {
			e.Memories = append(e.Memories, m)
		}
	}
	return err
}

// exportRows exports the rows for which the list has conditions.
func (f *Forgetter) exportRows(ctx context.Context, p *footprint, e *Export) error {
	e.Rows = map[string][]map[string]any{}
	s := &subject{person: p}
	for _, k := range f.keepers() {
		for _, r := range k.person {
			for _, args := range f.args(s, r) {
				rows, err := f.Traces.DB.Rows(ctx, `SELECT * FROM `+k.table+` WHERE `+r.where, args)
				if err != nil {
					return err
				}
				if len(rows) > 0 {
					e.Rows[k.table] = append(e.Rows[k.table], rows...)
				}
			}
		}
	}
	return nil
}

func (f *Forgetter) exportRecords(ctx context.Context, p *footprint, e *Export) error {
	r := f.redaction(p)
	return f.Traces.Each(ctx, time.Time{}, func(t *turn.Trace) error {
		if r.Asked(t) {
			e.Records = append(e.Records, recordOf(t))
		} else if r.Apply(t) {
			e.QuotedIn = append(e.QuotedIn, t.Request.ID)
		}
		return nil
	})
}

func recordOf(t *turn.Trace) Record {
	r := t.Request
	one := Record{ID: r.ID, Began: t.Began, Character: r.Character, GuildID: r.GuildID, ChannelID: r.ChannelID, Question: r.Message.Text,
		Reply: t.Reply, Model: t.Model, Host: t.ModelHost, Usage: t.Usage, Voice: t.Transcripts, Speech: t.Speech}
	for _, l := range trace.Lookups(t) {
		if l.Query != "" {
			one.Queries = append(one.Queries, l.Query)
		}
		for _, page := range l.Pages {
			one.Pages = append(one.Pages, page.URL)
		}
	}
	return one
}

// DumpKinds returns the kinds that [Dump] can write, in order. They are named after tables.
func DumpKinds() []string {
	kinds := []string{"messages"}
	for _, d := range dumped {
		kinds = append(kinds, d.table)
	}
	return kinds
}

// dumped are the tables that are dumped as they are. Tables with secrets, such as webhooks, are left out, and so are tables that can be
// derived from others.
var dumped = []struct {
	table string
	at    string // the column with the time in microseconds; empty: none
}{
	{"summaries", "made"}, {"people", "at"}, {"consents", "at"}, {"feedback", "at"}, {"opinions", "at"}, {"usage", ""}, {"changes", "at"},
	{"channels", ""}, {"conduct", ""}, {"castings", "at"}, {"backdrops", "at"}, {"switches", "at"},
}

// dumpPage is how many rows are read at a time. A longer read would keep the log from being copied into the file.
const dumpPage = 500

// Dump calls do with each row of a kind, by column, that is not older than since. Rows without a time are always included. Times are of
// type time.Time.
func Dump(ctx context.Context, db *store.DB, kind string, since time.Time, do func(row map[string]any) error) error {
	var err error
	from := int64(math.MinInt64)
	if !since.IsZero() {
		from = since.UnixMicro()
	}
	switch i := slices.Index(DumpKinds(), kind); i {
	case -1:
		return fmt.Errorf("there is no kind %q", kind)
	case 0:
		err = dumpMessages(ctx, db, from, do)
	default:
		err = dumpTable(ctx, db, dumped[i-1].table, dumped[i-1].at, from, do)
	}
	if err != nil {
		return fmt.Errorf("export %s: %w", kind, err)
	}
	return nil
}

func dumpMessages(ctx context.Context, db *store.DB, from int64, do func(map[string]any) error) error {
	for last, n := int64(math.MinInt64), dumpPage; n == dumpPage; {
		n = 0
		err := dumpRows(ctx, db, `SELECT rowid AS row, id, guild_id, channel_id, author_id, author_name, own, at, text, note, reply_to, turn_id
			FROM messages WHERE rowid > @last AND at >= @from ORDER BY rowid LIMIT @page`, "at", store.Args{"last": last, "from": from, "page": dumpPage},
			func(row map[string]any) error {
				n, last = n+1, row["row"].(int64)
				delete(row, "row")
				return do(row)
			})
		if err != nil {
			return err
		}
	}
	return nil
}

// dumpTable reads a whole table at once: these tables are small.
func dumpTable(ctx context.Context, db *store.DB, table, at string, from int64, do func(map[string]any) error) error {
	where := `TRUE`
	if at != "" {
		where = at + ` >= @from`
	}
	return dumpRows(ctx, db, `SELECT * FROM `+table+` WHERE `+where, at, store.Args{"from": from}, do)
}

// dumpRows calls do with rows by column. The column named at holds a time.
func dumpRows(ctx context.Context, db *store.DB, query, at string, args store.Args, do func(map[string]any) error) error {
	all, err := db.Rows(ctx, query, args)
	for _, row := range all {
		if micro, ok := row[at].(int64); ok {
			row[at] = time.UnixMicro(micro).UTC()
		}
		if err == nil {
			err = do(row)
		}
	}
	return err
}
