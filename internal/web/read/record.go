package read

import (
	"net/url"

	"familiar/internal/context/turn"
)

// maxTitle is the length of a title in a record, in characters.
const maxTitle = 120

// Record returns what the record of a turn keeps of the page: where it came from, what it says of itself and, where it was read, its text.
func (p *Page) Record() turn.Page {
	from := p.Source()
	r := turn.Page{
		URL: p.URL, Final: from.Final, Site: hostOf(p.URL), Bytes: from.Bytes, SHA256: from.SHA256, Fetched: from.At, Cached: from.Cached, Took: p.Took,
		Title: Title(p.Extract.Title, maxTitle), Published: p.Extract.Published, Modified: p.Extract.Modified, Hidden: p.Extract.Hidden,
	}
	if host := hostOf(from.Final); host != "" {
		r.Site = host
	}
	if p.Special != nil {
		r.Via = p.Special.Reader + " reader"
	} else if p.Fetched != nil {
		r.Status = p.Fetched.Status
	}
	if p.Passed != nil {
		r.Passed = p.Passed.Error()
	}
	if e := p.Err; e != nil {
		r.Failure, r.Reason = e.Code, e.Reason
		if e.Status != 0 {
			r.Status = e.Status
		}
		return r
	}
	r.Text = p.Text
	return r
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Hostname()
}
