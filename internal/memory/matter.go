package memory

import (
	"database/sql"
	"maps"
	"slices"
	"strings"

	"familiar/internal/store"
	"familiar/internal/text"
)

// maxHead is how many words may name what a statement gives: "my favourite game of all".
const maxHead = 6

// matterOf returns what a plain statement gives if it has one value at a time, such as where its author lives, or "". Of two statements of
// one person on the same matter the newer holds. "I used to live in Porto" is not plain.
func matterOf(statement string) string {
	s := newSaying(statement)
	d := s.dialect()
	if d.qualifiers.in(s) || asks(s) || text.ContainsAny(s.words, d.negations) {
		return ""
	}
	for _, what := range slices.Sorted(maps.Keys(d.single)) {
		if d.single[what].in(s) {
			return what
		}
	}
	if len(s.words) == 0 || !d.own[s.words[0].Key] {
		return ""
	}
	for i, w := range s.words[:min(len(s.words), maxHead)] {
		if i > 1 && lexicon().verbs[w.Key] {
			head := newSaying(s.text[:w.Start])
			if d.attributes.in(head) {
				return strings.TrimSpace(head.flat)
			}
			return ""
		}
	}
	return ""
}

// outdated returns the id of the statement that m, which is new, makes history: one by the same person on the same matter. It is 0 if there
// is none. What is pinned stays.
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

// Newest leaves out those of a person's statements that newer ones on the same matter make history, wherever they were made.
func Newest(all []Statement) []Statement {
	newest := map[string]Statement{}
	for _, m := range all {
		if matter := matterOf(m.Text); matter != "" && m.SaidAt.After(newest[matter].SaidAt) {
			newest[matter] = m
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(m Statement) bool {
		matter := matterOf(m.Text)
		return matter != "" && !m.Pinned && newest[matter].ID != m.ID
	})
}
