// Package bench reads pages with package page and with the libraries that do the like, beside each other. It is a
// module of its own: go-trafilatura brings twenty others, of which the product needs none.
//
//	cd bench && go test -bench Read -benchtime 50x
//
// The pages are made up (corpus_test.go). BENCH_PAGES is a pattern of files ("pages/*.html.gz") to read
// instead, of those between 200 and 450 KB, as they are or packed with gzip.
package bench
