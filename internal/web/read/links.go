package read

import (
	"bytes"
	"context"
	"encoding/xml"
	"io"
	"net/url"
	"strings"

	"familiar/internal/web/fetch"
	"familiar/internal/web/page"
)

// Links reads where a page points. With sitemap, the page is the list of pages that a site keeps for search services
// (sitemaps.org).
func (r *Reader) Links(ctx context.Context, q Request, sitemap bool) ([]page.Link, *fetch.Error) {
	doc, err := r.fetch(ctx, &Page{URL: q.URL}, q, sitemap)
	if err != nil {
		return nil, failure(err, 0)
	}
	var links []page.Link
	e := r.parse(ctx, doc, func(base *url.URL) (err error) {
		if sitemap {
			links = listed(doc.Body)
			return nil
		}
		links, err = page.Links(doc.Body, doc.ContentType, base)
		return err
	})
	return links, e
}

// maxListed is how many pages of a list are looked at.
const maxListed = 20_000

// listed are the addresses of a sitemap, as far as it can be read. The sitemaps of an index are not followed.
func listed(text []byte) []page.Link {
	var links []page.Link
	d := xml.NewDecoder(bytes.NewReader(text))
	d.Strict = false
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // addresses are ASCII
	in := ""
	for len(links) < maxListed {
		token, err := d.RawToken()
		if err != nil {
			break
		}
		switch t := token.(type) {
		case xml.StartElement:
			in = t.Name.Local
		case xml.EndElement:
			in = ""
		case xml.CharData:
			if address := strings.TrimSpace(string(t)); in == "loc" && address != "" {
				links = append(links, page.Link{URL: address})
			}
		}
	}
	return links
}
