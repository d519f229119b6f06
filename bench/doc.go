// Package bench reads pages with package page and with similar libraries, to compare them. It is a module of its own: go-trafilatura depends
// on twenty others, and the product needs none of them.
//
//	cd bench && go test -bench Read -benchtime 50x
//
// The pages are made up (corpus_test.go). Set BENCH_PAGES to a pattern of files ("pages/*.html.gz") to read those between 200 and 450 KB
// instead. They may be packed with gzip.
package bench
