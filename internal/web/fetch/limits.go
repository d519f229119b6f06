package fetch

import "time"

// limits bound one fetch. They are the same for everybody; tests shrink them.
type limits struct {
	dial      time.Duration // resolving and connecting
	tls       time.Duration // handshake
	header    time.Duration // from the request to the last header
	total     time.Duration // everything, redirects and robots.txt included, once through the gate
	file      time.Duration // the same for a file, which may be larger than any page
	queue     time.Duration // waiting at the gate
	robots    time.Duration // robots.txt, of total
	backoff   time.Duration // before the second try
	grace     time.Duration // how long a body may be slower than rate
	rate      int64         // bytes a second
	headers   int64         // bytes of headers
	body      int64         // bytes of body, as sent and as unpacked
	ratio     int64         // unpacked bytes for one sent byte …
	ratioFrom int64         // … from so many unpacked bytes on
	redirects int

	perHost, global int // fetches at once

	pageTTL, failureTTL         time.Duration // how long pages are remembered whose site says nothing, and failures
	maxTTL                      time.Duration // how long pages are remembered at most, whatever their site says
	robotsBody                  int64         // bytes of robots.txt that are read; the rest is ignored
	robotsTTL, robotsFailureTTL time.Duration // how long rules, and the lack of an answer, are remembered
	robotsCacheBytes            int64         // bytes of robots rules that are kept
}

func defaults() limits {
	return limits{
		dial:      2 * time.Second,
		tls:       2 * time.Second,
		header:    3 * time.Second,
		total:     5 * time.Second,
		file:      15 * time.Second,
		queue:     5 * time.Second,
		robots:    3 * time.Second,
		backoff:   200 * time.Millisecond,
		grace:     time.Second,
		rate:      1 << 10,
		headers:   32 << 10,
		body:      5_000_000,
		ratio:     100,
		ratioFrom: 64 << 10,
		redirects: 4,

		perHost: 2,
		global:  8,

		pageTTL:          5 * time.Minute,
		failureTTL:       time.Minute,
		maxTTL:           time.Hour,
		robotsBody:       500 << 10,
		robotsTTL:        24 * time.Hour,
		robotsFailureTTL: time.Minute,
		robotsCacheBytes: 4 << 20,
	}
}
