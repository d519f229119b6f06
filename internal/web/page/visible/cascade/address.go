package cascade

import (
	"encoding/base64"
	"net/url"
	"strings"
)

// dataText returns the text that an address of the scheme data holds.
func dataText(address string) (string, bool) {
	address = strings.TrimSpace(address)
	if len(address) < 5 || !strings.EqualFold(address[:5], "data:") {
		return "", false
	}
	kind, text, ok := strings.Cut(address[5:], ",")
	if !ok {
		return "", false
	}
	kind = strings.ToLower(kind)
	if media, _, _ := strings.Cut(kind, ";"); strings.TrimSpace(media) != "text/css" && media != "" {
		return "", false
	}
	text, _, _ = strings.Cut(text, "#")
	plain := unescapePercent(text)
	if strings.HasSuffix(kind, ";base64") {
		data, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(plain), ""))
		if err != nil {
			data, err = base64.RawStdEncoding.DecodeString(strings.Join(strings.Fields(plain), ""))
		}
		return string(data), err == nil
	}
	return plain, true
}

// unescapePercent resolves what is escaped by percent signs, and leaves what is not valid.
func unescapePercent(s string) string {
	if plain, err := url.PathUnescape(s); err == nil {
		return plain
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if plain, err := url.PathUnescape(s[i : i+3]); err == nil {
				b.WriteString(plain)
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
