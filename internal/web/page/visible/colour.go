package visible

import (
	"cmp"
	"strconv"
	"strings"
)

// colour is a CSS colour, read as far as it takes to compare two. The zero value is not a colour.
type colour struct {
	name    string // the colour as it is written, in a notation that is not read
	r, g, b uint8
	ok      bool
	clear   bool // transparent, or nearly
}

// maxDistance is how far apart two channels may be that look the same.
const maxDistance = 10

func (c colour) same(d colour) bool {
	if !c.ok || !d.ok || c.name != d.name {
		return false
	}
	near := func(a, b uint8) bool { return max(a, b)-min(a, b) <= maxDistance }
	return near(c.r, d.r) && near(c.g, d.g) && near(c.b, d.b)
}

// inheritColours is the part of inherit that deals with colours. The colour of text is compared with that of the nearest
// declared background. A background image makes the background unknown.
func (d style) inheritColours(in textState) textState {
	for _, property := range [...]string{"background", "background-color", "background-image"} {
		value := d.get(property)
		switch {
		case value == "":
		case strings.Contains(value, "url(") || strings.Contains(value, "gradient("):
			in.background = colour{}
		case property != "background-image":
			if c := firstColour(value); c.ok && !c.clear {
				in.background = c
			}
		}
	}
	if text := parseColour(cmp.Or(d.get("-webkit-text-fill-color"), d.get("color"))); text.ok {
		in.colourless = text.clear && d.get("background-clip") != "text" && d.get("-webkit-background-clip") != "text" || text.same(in.background)
	}
	return in
}

func firstColour(background string) colour {
	for background != "" {
		var part string
		part, background = cutTop(strings.TrimSpace(background), ' ')
		if c := parseColour(part); c.ok {
			return c
		}
	}
	return colour{}
}

// basicColours are the names in which hidden text is written. Other names are not read.
var basicColours = map[string]string{
	"white": "#ffffff", "black": "#000000", "red": "#ff0000", "lime": "#00ff00", "green": "#008000", "blue": "#0000ff", "yellow": "#ffff00",
	"gray": "#808080", "grey": "#808080", "silver": "#c0c0c0", "snow": "#fffafa", "ivory": "#fffff0", "whitesmoke": "#f5f5f5", "ghostwhite": "#f8f8ff",
	"navy": "#000080", "maroon": "#800000", "purple": "#800080", "teal": "#008080", "aqua": "#00ffff", "cyan": "#00ffff", "fuchsia": "#ff00ff", "orange": "#ffa500",
}

func parseColour(value string) colour {
	value = strings.TrimSpace(strings.ToLower(value))
	if hex, ok := basicColours[value]; ok {
		value = hex
	}
	switch {
	case value == "transparent":
		return colour{ok: true, clear: true}
	case strings.HasPrefix(value, "#"):
		return hexColour(value[1:])
	}
	open := strings.IndexByte(value, '(')
	if open < 0 || !strings.HasSuffix(value, ")") {
		return colour{}
	}
	args := strings.FieldsFunc(value[open+1:len(value)-1], func(c rune) bool { return c == ',' || c == '/' || c == ' ' })
	if len(args) < 3 {
		return colour{}
	}
	c := colour{ok: true}
	if len(args) > 3 {
		c.clear = transparent(args[3])
	}
	if !strings.HasPrefix(value, "rgb") {
		c.name = value[:open] + strings.Join(args[:3], " ")
		return c
	}
	c.r, c.g, c.b = channel(args[0]), channel(args[1]), channel(args[2])
	return c
}

func channel(value string) uint8 {
	n, unit, _ := length(value)
	if unit == "%" {
		n *= 2.55
	}
	return uint8(min(max(n, 0), 255))
}

func hexColour(hex string) colour {
	if len(hex) == 3 || len(hex) == 4 {
		var long []byte
		for i := range len(hex) {
			long = append(long, hex[i], hex[i])
		}
		hex = string(long)
	}
	n, err := strconv.ParseUint(hex, 16, 32)
	if err != nil || len(hex) != 6 && len(hex) != 8 {
		return colour{}
	}
	c := colour{ok: true}
	if len(hex) == 8 {
		c.clear = n&0xFF <= 0x17
		n >>= 8
	}
	c.r, c.g, c.b = uint8(n>>16), uint8(n>>8), uint8(n)
	return c
}
