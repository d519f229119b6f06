package memory

import (
	"database/sql"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"familiar/internal/store"
	"familiar/internal/text"
)

// Birthday returns the birthday that a person's statement gives, as in "my birthday is on 3 May". ok is false if it gives none.
func Birthday(statement string) (month time.Month, day int, ok bool) {
	if matterOf(statement) != "birthday" {
		return 0, 0, false
	}
	if found, _ := text.Dates(statement); len(found) == 1 && found[0].Day > 0 {
		return time.Month(found[0].Month), found[0].Day, true
	}
	if in := monthAndDay.FindStringSubmatch(statement); in != nil {
		month, _ := strconv.Atoi(in[1])
		day, _ = strconv.Atoi(in[2])
		return time.Month(month), day, month <= 12 && day <= 31
	}
	return 0, 0, false
}

// monthAndDay matches a date without a year in Chinese, Japanese and Korean.
var monthAndDay = text.NewLazyRegexp(`([1-9]\d?)\s*[月월]\s*([1-9]\d?)\s*[日号號일]`)

// maxHead is how many words may name what a statement gives: "my favourite game of all".
const maxHead = 6

// matterOf returns what a plain statement gives if it has one value at a time, or "". An example is where its author lives. Of two
// statements of one person on the same matter the newer holds. "I used to live in Porto" is not plain. The words say which language it is:
// it may be too short to tell otherwise.
func matterOf(statement string) string {
	s := newSaying(statement)
	for _, code := range text.Languages() {
		d := lexicon().of[code]
		matter := d.matter(s)
		if matter == "" {
			continue
		}
		if s.Has(d.qualifiers) || asks(s) || text.ContainsAny(s.Words, d.negations) {
			return ""
		}
		return matter
	}
	return ""
}

func (d *dialect) matter(s saying) string {
	for _, what := range slices.Sorted(maps.Keys(d.single)) {
		if s.Has(d.single[what]) {
			return what
		}
	}
	if len(s.Words) == 0 || !d.own[s.Words[0].Key] {
		return ""
	}
	for i, w := range s.Words[:min(len(s.Words), maxHead)] {
		if i > 1 && d.verbs[w.Key] {
			if head := newSaying(s.Text[:w.Start]); head.Has(d.attributes) {
				return strings.TrimSpace(head.Flat)
			}
			return ""
		}
	}
	return ""
}

// outdated returns the id of the statement that m, which is new, makes history. It is one by the same person on the same matter. It is 0 if
// there is none. What is pinned stays.
func (s *Store) outdated(tx *sql.Tx, m Statement) (int64, error) {
	matter := ""
	if m.Kind == Person {
		matter = matterOf(m.Text)
	}
	if matter == "" {
		return 0, nil
	}
	rows, err := tx.Query(selectStatement+`WHERE m.scope = ? AND m.scope_id = ? AND m.kind = ? AND m.subject = ? AND m.author_id = ?
		AND NOT m.superseded AND NOT m.pinned AND m.said_at < ? AND m.folded <> ? ORDER BY m.said_at DESC, m.id DESC`,
		m.Scope.Kind, m.Scope.ID, m.Kind, m.Subject, m.Author, m.SaidAt.UnixMicro(), folded(m.Text))
	all, err := store.Collect(s.DB, "read memories", rows, err, scanStatement)
	if i := slices.IndexFunc(all, func(old Statement) bool { return matterOf(old.Text) == matter }); i >= 0 {
		return all[i].ID, err
	}
	return 0, err
}

// Outdated returns the ids of those of a person's statements that newer ones on the same matter make history. It does not matter where they
// were made.
func Outdated(all []Statement) (ids []int64) {
	newest := map[string]Statement{}
	all = slices.Clone(all)
	sort.Slice(all, func(i, j int) bool { return all[i].SaidAt.Before(all[j].SaidAt) })
	for _, m := range all {
		matter := matterOf(m.Text)
		if old := newest[matter]; matter != "" && old.ID != 0 && !old.Pinned {
			ids = append(ids, old.ID)
		}
		newest[matter] = m
	}
	return ids
}
