package page

import (
	"fmt"
	"strings"
	"testing"
)

// tablePage is a page of about size bytes that is one table, with styles that look at the places of its rows and cells.
func tablePage(size int) []byte {
	var b strings.Builder
	b.WriteString("<!doctype html><title>Heights</title><style>tr:nth-child(2n) td{background:#eee}td:first-child{color:#333}tr.none~tr{opacity:.9}</style><h1>Heights</h1><table><tr><th>Name<th>Height<th>Note</tr>\n")
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "<tr><td><a href=/m/%d>Mountain %d</a></td><td>%d metres</td><td>a note of some words</td></tr>\n", i, i, 1_000+i)
	}
	b.WriteString("</table>")
	return []byte(b.String())
}

// BenchmarkTable shows that the time to read a table grows with its length.
func BenchmarkTable(b *testing.B) {
	for _, size := range []int{50 << 10, 100 << 10, 200 << 10, 400 << 10} {
		body := tablePage(size)
		b.Run(fmt.Sprintf("%dKB", size>>10), func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Read(body, "text/html", nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
