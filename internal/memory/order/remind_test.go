package order

import (
	_ "embed"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"
)

//go:embed testdata/reminders.txt
var reminderRows string

// What people write to be reminded, in all languages, with what is to be read of it.
func TestReminders(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 11, 14, 30, 0, 0, berlin)
	whys := map[Why]string{NoTime: "when", Past: "past", Again: "repeat", Near: "soon", Far: "far"}
	right, rows := 0, 0
	for line := range strings.Lines(reminderRows) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		rows++
		field := strings.Split(strings.TrimRight(line, "\n"), "|")
		for i := range field {
			field[i] = strings.TrimSpace(field[i])
		}
		want, what := field[2], field[3]
		got, said := "none", ""
		for _, r := range Reminders(field[1], []string{"Sage"}, now) {
			got, said = whys[r.Why], r.Text
			if r.Why == "" {
				got = r.At.Format("2006-01-02 15:04")
			} else {
				said = ""
			}
		}
		if got != want || said != what {
			t.Errorf("%s: %q\n got %s | %s\nwant %s | %s", field[0], field[1], got, said, want, what)
			continue
		}
		right++
	}
	t.Logf("%d of %d", right, rows)
}
