package text

import (
	"testing"
	"time"
)

func TestPast(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 30, 0, 0, time.UTC) // a Sunday
	for s, want := range map[string]string{
		"what did Ada say yesterday":        "11-21 00:00 11-22 00:00",
		"who mentioned it last week?":       "11-09 00:00 11-16 00:00",
		"who mentioned it this week?":       "11-16 00:00 11-23 00:00",
		"what was said since monday":        "11-16 00:00 11-22 12:30",
		"since yesterday":                   "11-21 00:00 11-22 12:30",
		"what was said on last friday":      "11-20 00:00 11-21 00:00",
		"3 days ago":                        "11-19 00:00 11-20 00:00",
		"in the last 3 days":                "11-19 12:30 11-22 12:30",
		"in the past hour":                  "11-22 11:30 11-22 12:30",
		"the last 24 hours":                 "11-21 12:30 11-22 12:30",
		"what did we decide last month":     "10-01 00:00 11-01 00:00",
		"who came last summer":              "06-01 00:00 09-01 00:00",
		"on 3 November":                     "11-03 00:00 11-04 00:00",
		"was hat Ada gestern gesagt":        "11-21 00:00 11-22 00:00",
		"昨日何を話した":                           "11-21 00:00 11-22 00:00",
		"what is the plan for tomorrow":     "",
		"what did Ada say about the deploy": "",
	} {
		got := ""
		if span, _, ok := PastSpan(s, Words(s), now); ok {
			got = span.From.Format("01-02 15:04 ") + span.To.Format("01-02 15:04")
		}
		if got != want {
			t.Errorf("%s: %s, want %s", s, got, want)
		}
	}
}
