package order

import (
	_ "embed"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"familiar/internal/text"
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

// Half a sentence, and one in any other, is read without a panic. All cues are known.
func TestRemindersOfHalves(t *testing.T) {
	now := time.Date(2026, 3, 11, 14, 30, 0, 0, time.UTC)
	rows := strings.Split(reminderRows, "\n")
	for i, row := range rows {
		said := []rune(row[strings.Index(row, "|")+1:])
		Reminders(string(said[:len(said)*i/len(rows)])+" "+rows[(i+40)%len(rows)], nil, now)
		Reminders(string(said[len(said)*i/len(rows):]), nil, now)
	}
	known := strings.Fields("asks call keep wake tell timer about begin end lead link strip tail date on behind in later half s i h d w m y a m15 m30 m45 m90 at clock min past15 past30 past_15 past_30 more15 more30 more_15 am pm past next every daily both zone w1 m1")
	for code, of := range timeWordsOf() {
		for cue := range text.TablesOf(code).Remind.Words {
			if !slices.Contains(known, cue) && !number(cue, cue[:1]) {
				t.Errorf("%s: nothing reads %q", code, cue)
			}
		}
		if len(of.orders) == 0 {
			t.Errorf("%s orders nothing", code)
		}
	}
}

func BenchmarkNoReminder(b *testing.B) {
	for b.Loop() {
		Reminders("What did Ada say about the deploy yesterday, and who fixed it in the end? I was away until half past nine.", []string{"Sage"}, time.Now())
	}
}
