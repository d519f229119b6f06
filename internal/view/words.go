package view

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

func ms(d time.Duration) string {
	switch {
	case d == 0:
		return "–"
	case d < time.Millisecond:
		return "<1 ms"
	case d < 10*time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

func published(at time.Time) string {
	if at.IsZero() {
		return "undated"
	}
	return "published " + day(at)
}

func status(code int) string {
	if code == 0 {
		return ""
	}
	return fmt.Sprintf("status %d", code)
}

func size(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d KiB", (n+1023)/1024)
}

func cached(is bool) string {
	if is {
		return "cached"
	}
	return ""
}

func sourceNumber(n int) string {
	if n == 0 {
		return "read, not used"
	}
	return fmt.Sprint(n)
}

// Ago writes how long ago something was, in minutes or hours.
func Ago(d time.Duration) string {
	if d < time.Hour {
		return fmt.Sprintf("%d min ago", max(1, int(d.Minutes())))
	}
	return fmt.Sprintf("%d h ago", int(d.Hours()))
}

func inParens(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

// orDash returns the first value that is not empty, or a dash.
func orDash(values ...string) string { return cmp.Or(append(values, "–")...) }

func nonEmpty(values ...string) []string {
	return slices.DeleteFunc(values, func(v string) bool { return v == "" })
}
