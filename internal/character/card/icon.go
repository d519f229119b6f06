package card

import (
	"bytes"
	"encoding/base64"
	"errors"
	"strings"
)

// icon finds the picture of the character: the main icon of a V3 card, or else the picture that the card came in. Nothing is fetched.
func (f *folderOf) icon() {
	f.Icon = f.card.Image
	others := 0
	for _, a := range f.card.Data.objects("assets") {
		kind, uri := a.text("type"), a.text("uri")
		if kind != "icon" || a.text("name") != "main" && f.iconCount() > 1 {
			others++
			continue
		}
		data, err := f.asset(uri)
		switch {
		case err != nil:
			f.kept("the icon of the card: %v", err)
		case data != nil:
			f.Icon = data
		}
	}
	if others > 0 {
		f.kept("assets: %d pictures or other files beside the icon", others)
	}
	if f.Icon != nil {
		f.used("the picture → avatar.png")
	}
}

func (f *folderOf) iconCount() (n int) {
	for _, a := range f.card.Data.objects("assets") {
		n += flag(a.text("type") == "icon")
	}
	return n
}

// asset returns what an address of the card leads to: nil for the card's own picture.
func (f *folderOf) asset(uri string) ([]byte, error) {
	for _, prefix := range []string{"embeded://", "embedded://", "__asset:"} {
		if path, ok := strings.CutPrefix(uri, prefix); ok {
			if data := f.card.Files[path]; data != nil {
				return data, nil
			}
			return nil, errors.New("its file " + short(path) + " is not in the archive")
		}
	}
	switch {
	case uri == "" || strings.HasPrefix(uri, "ccdefault:"):
		return nil, nil
	case strings.HasPrefix(uri, "data:"):
		head, body, ok := strings.Cut(uri, ",")
		if !ok || !strings.HasSuffix(head, ";base64") {
			return nil, errors.New("its data URL is not base64")
		}
		data, err := base64.StdEncoding.AppendDecode(nil, bytes.TrimSpace([]byte(body)))
		if err != nil {
			return nil, errors.New("its data URL is not base64")
		}
		return data, nil
	case strings.HasPrefix(uri, "https://"), strings.HasPrefix(uri, "http://"):
		return nil, errors.New("it is at " + short(uri) + ", and nothing is fetched; save it as avatar.png yourself, or write its address into persona.avatar")
	}
	return nil, errors.New("its address " + short(uri) + " leads nowhere")
}
