package store

import (
	"slices"
	"strings"
	"testing"
)

// TestEveryTableIsInThePlan compares the plan with the schema: whoever adds a table decides what becomes of a person in it.
func TestEveryTableIsInThePlan(t *testing.T) {
	db := open(t, t.TempDir())
	rows, err := db.readers.Query(`SELECT name, coalesce(sql, '') LIKE 'CREATE VIRTUAL TABLE%' FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'goose_%'`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var tables, virtual []string
	for rows.Next() {
		var name string
		var index bool
		if err := rows.Scan(&name, &index); err != nil {
			t.Fatal(err)
		}
		if tables = append(tables, name); index {
			virtual = append(virtual, name)
		}
	}
	tables = slices.DeleteFunc(tables, func(name string) bool { // the tables of a full-text index itself
		return slices.ContainsFunc(virtual, func(v string) bool {
			return slices.Contains([]string{"_data", "_idx", "_config", "_docsize", "_content"}, strings.TrimPrefix(name, v))
		})
	})
	for _, name := range tables {
		if !slices.ContainsFunc(plan, func(p planned) bool { return p.table == name }) {
			t.Errorf("table %s is not in the plan: say in plan.go what of a person stands in it, and what becomes of that", name)
		}
	}
	for _, p := range plan {
		switch {
		case !slices.Contains(tables, p.table):
			t.Errorf("there is no table %s", p.table)
		case (p.rows == "") == (p.by == ""):
			t.Errorf("table %s: either there is a condition for the rows, or something else takes care of them", p.table)
		case p.rows != "" && p.kind != "" && !slices.Contains(DataKinds(), p.kind):
			t.Errorf("table %s: there is no kind %q", p.table, p.kind)
		}
	}
}
