package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"familiar/internal/web/clean"
	"familiar/internal/web/fetch"
	"familiar/internal/web/page"
	"familiar/internal/web/read"
)

type guardRow struct {
	Kind, Value string
	DNS         map[string][]string
}

// predictGuard predicts {"blocked"}: whether no connection is opened. A fetcher that knows only the row's names gets a URL, and ends at its
// first connection. The guard of connections gets an address.
func predictGuard(ctx context.Context, _ fs.FS, row guardRow) (prediction, error) {
	if row.Kind == "ip" {
		addr, err := netip.ParseAddr(row.Value)
		return prediction{"blocked": err != nil || new(fetch.Guard).Check(addr) != nil}, nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var dialled atomic.Bool
	f, err := fetch.New(fetch.Config{Resolver: rowNames(row.DNS), Dial: func(context.Context, string, string) (net.Conn, error) {
		dialled.Store(true)
		cancel()
		return nil, errors.New("nothing is connected in an evaluation")
	}})
	if err != nil {
		return nil, err
	}
	_, err = f.Fetch(ctx, row.Value, fetch.Options{Human: true})
	f.Close()
	got := prediction{"blocked": !dialled.Load()}
	if e, ok := errors.AsType[*fetch.Error](err); ok && !dialled.Load() {
		got["reason"] = e.Reason
	}
	return got, nil
}

// rowNames is a DNS with some names and their addresses. Other names do not exist.
type rowNames map[string][]string

func (n rowNames) LookupNetIP(_ context.Context, network, host string) ([]netip.Addr, error) {
	var found []netip.Addr
	for _, text := range n[strings.TrimSuffix(host, ".")] {
		addr, err := netip.ParseAddr(text)
		if err == nil && (network == "ip" || network == "ip4" && addr.Is4() || network == "ip6" && addr.Is6()) {
			found = append(found, addr)
		}
	}
	if found == nil {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return found, nil
}

type urlRow struct{ Input string }

// predictURL predicts {"ok", "host"}: whether a URL is that of a public page, and its host.
func predictURL(_ context.Context, _ fs.FS, row urlRow) (prediction, error) {
	u, err := clean.ParseURL(row.Input)
	if err != nil {
		return prediction{"ok": false}, nil
	}
	return prediction{"ok": true, "host": u.Hostname()}, nil
}

type canonRow struct{ Input, Output string }

// predictCanon predicts {"output"}: the canonical form by which duplicates are found, or null if the rules refuse the URL. If the row has
// another spelling of the URL, "collides" tells whether both have the same form, or none.
func predictCanon(_ context.Context, _ fs.FS, row canonRow) (prediction, error) {
	got := prediction{"output": nil}
	key, ok := clean.DedupeKey(row.Input)
	if ok {
		got["output"] = key
	}
	if row.Output != "" {
		other, too := clean.DedupeKey(row.Output)
		got["collides"] = ok == too && other == key
	}
	return got, nil
}

type hostRow struct{ Host string }

// predictRegistrable predicts {"registrable"}: the registrable domain, spelt as in the host, or null if there is none.
func predictRegistrable(_ context.Context, _ fs.FS, row hostRow) (prediction, error) {
	host, err := clean.Host(row.Host)
	if err != nil { // not public, such as example names, or not a name
		host = strings.ToLower(row.Host)
	}
	domain, ok := clean.Registered(host)
	if !ok {
		return prediction{"registrable": nil}, nil
	}
	if strings.ContainsFunc(row.Host, func(r rune) bool { return r > 0x7f }) {
		if domain, err = idna.ToUnicode(domain); err != nil {
			return nil, err
		}
	}
	return prediction{"registrable": domain}, nil
}

type robotsRow struct{ Robots, Agent, URL string }

// predictRobots predicts {"allowed"}: whether the rules allow the agent to fetch the address as it is written.
func predictRobots(_ context.Context, _ fs.FS, row robotsRow) (prediction, error) {
	_, rest, ok := strings.Cut(row.URL, "://")
	if !ok {
		return nil, errors.New("the address is not absolute")
	}
	target, _, _ := strings.Cut(strings.TrimLeftFunc(rest, inHost), "#")
	if !strings.HasPrefix(target, "/") {
		target = "/" + target
	}
	return prediction{"allowed": fetch.ParseRobots([]byte(row.Robots), row.Agent).Allows(target)}, nil
}

func inHost(r rune) bool { return r != '/' && r != '?' && r != '#' }

// utf8HTML is the type of stored pages. They were converted, so their own declarations do not count.
const utf8HTML = "text/html; charset=utf-8"

type extractRow struct{ ID, URL string }

// predictExtract predicts {"text"}: what a lookup reads on the page html/ID.html, or ID.html.gz.
func predictExtract(_ context.Context, files fs.FS, row extractRow) (prediction, error) {
	body, err := readStored(files, "html/"+row.ID+".html")
	if err != nil {
		return nil, err
	}
	base, err := url.Parse(row.URL)
	if err != nil {
		return nil, fmt.Errorf("read address: %w", err)
	}
	got, err := page.Read(body, storedType(body), base)
	if err != nil {
		return nil, err
	}
	text, _ := read.Text(got.Markdown)
	return prediction{"text": text}, nil
}

// storedType returns the type of a stored page. Most pages were converted to UTF-8, so their own declarations do not count. Others are as
// their servers sent them, with an unknown encoding.
func storedType(body []byte) string {
	isASCII := !slices.ContainsFunc(body, func(c byte) bool { return c >= utf8.RuneSelf })
	if isASCII || !utf8.Valid(body) {
		return "text/html"
	}
	return utf8HTML
}

type cleanRow struct{ Kind, Input, File string }

// predictClean predicts {"text"}: the inert visible text of a page, of a piece of HTML, or of plain text. A lookup also removes addresses,
// which is not part of cleaning.
func predictClean(_ context.Context, files fs.FS, row cleanRow) (prediction, error) {
	body, contentType := []byte(row.Input), utf8HTML
	switch row.Kind {
	case "html":
	case "text":
		contentType = "text/plain; charset=utf-8"
	case "page":
		var err error
		if body, err = readStored(files, row.File); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("unknown kind %q", row.Kind)
	}
	got, err := page.Read(body, contentType, nil)
	if err != nil {
		return nil, err
	}
	text := clean.Inert(got.Markdown, "")
	return prediction{"text": text}, nil
}

// maxStored limits an unpacked page, in bytes.
const maxStored = 64 << 20

// readStored reads a file, which may be packed with gzip even if its name does not say so.
func readStored(files fs.FS, name string) ([]byte, error) {
	body, err := fs.ReadFile(files, name)
	if errors.Is(err, fs.ErrNotExist) {
		body, err = fs.ReadFile(files, name+".gz")
	}
	if err != nil {
		return nil, fmt.Errorf("read stored page: %w", err)
	}
	if !bytes.HasPrefix(body, []byte{0x1f, 0x8b}) {
		return body, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("unpack stored page: %w", err)
	}
	if body, err = io.ReadAll(io.LimitReader(z, maxStored)); err != nil {
		return nil, fmt.Errorf("unpack stored page: %w", err)
	}
	return body, nil
}

type charsetRow struct {
	Data []byte `json:"data_b64"`
}

// predictCharset predicts {"encoding"}: the encoding chosen for a document without a charset in its header.
func predictCharset(_ context.Context, _ fs.FS, row charsetRow) (prediction, error) {
	name := page.Charset(row.Data, "text/html", true)
	if name == "replacement" {
		return nil, errors.New("the encoding is refused")
	}
	return prediction{"encoding": name}, nil
}
