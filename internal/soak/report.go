package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// print writes the table, in Markdown, and the broken promises.
func (s *stage) print(out io.Writer) {
	rows := [][2]string{{s.opt.title(), "figure"}, {"---", "---:"}}
	for _, c := range s.counts {
		rows = append(rows, [2]string{c.what, c.figure})
	}
	broken := map[string]int{}
	promises := []string{everyone, once, whole, onRecord, ended}
	for _, f := range s.findings {
		if broken[f.promise]++; !slices.Contains(promises, f.promise) {
			promises = append(promises, f.promise)
		}
	}
	for _, p := range promises {
		rows = append(rows, [2]string{"broken: " + p, fmt.Sprint(broken[p])})
	}
	for _, r := range rows {
		fmt.Fprintf(out, "| %s | %s |\n", r[0], r[1])
	}
	if len(s.findings) > 0 {
		fmt.Fprintln(out)
	}
	for _, f := range s.findings {
		about := ""
		if m := f.mention; m.id != "" {
			about = fmt.Sprintf(", %s, message %s of %s in channel %s at %s", m.tag, m.id, m.author, m.channel, m.at.Format(clock))
		}
		fmt.Fprintf(out, "- NOT %s%s: %s\n", f.promise, about, strings.ReplaceAll(f.what, "\n", " "))
	}
}

// title says what was played.
func (o options) title() string {
	title := fmt.Sprintf("%s, %d channels", o.name, o.channels)
	if o.rate > 0 {
		title += fmt.Sprintf(", %g a second", o.rate)
	}
	if o.span > 0 {
		title += fmt.Sprintf(", %v", o.span)
	}
	switch {
	case o.tls && o.http1:
		title += ", TLS with HTTP/1.1"
	case o.tls:
		title += ", TLS"
	}
	return fmt.Sprintf("%s, -seed %d", title, o.seed)
}
