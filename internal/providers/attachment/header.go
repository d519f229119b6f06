package attachment

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"net/http"

	"golang.org/x/image/webp"
)

// header is the header of a picture.
type header struct {
	kind          string // media type
	width, height int
	perPixel      float64 // bytes that a decoder needs for a pixel
}

// memory returns the bytes that decoding needs.
func (h header) memory() float64 { return float64(h.width) * float64(h.height) * h.perPixel }

// readHeader reads the header of a picture. It determines the kind from the bytes, not from the name.
func readHeader(data []byte) (h header, err error) {
	defer func() {
		if recover() != nil {
			h, err = header{}, ErrBroken
		}
	}()
	h.kind = http.DetectContentType(data)
	var c image.Config
	switch h.kind {
	case "image/png":
		c, err = png.DecodeConfig(bytes.NewReader(data))
		h.perPixel = 1.5 * bytesOf(c.ColorModel) // an interlaced picture is assembled from parts
	case "image/gif":
		c, err = gif.DecodeConfig(bytes.NewReader(data))
		h.perPixel = 2
	case "image/webp":
		return readWebP(data)
	case "image/jpeg":
		return readJPEG(data)
	default:
		return header{}, ErrKind
	}
	if err != nil || c.Width <= 0 || c.Height <= 0 {
		return header{}, ErrBroken
	}
	h.width, h.height = c.Width, c.Height
	return h, nil
}

// readWebP reads the sizes in the chunks (RFC 9649). They are of the canvas, and of each picture on it, which the decoder trusts. The
// largest counts.
func readWebP(data []byte) (header, error) {
	c, err := webp.DecodeConfig(bytes.NewReader(data))
	if err != nil || c.Width <= 0 || c.Height <= 0 {
		return header{}, ErrBroken
	}
	h := header{kind: "image/webp", width: c.Width, height: c.Height, perPixel: 8} // lossless pictures are transformed in a second copy
	most := h.memory()
	for at := 12; at+8 <= len(data); {
		size := int(binary.LittleEndian.Uint32(data[at+4:]))
		body := data[at+8 : min(len(data), at+8+size)]
		var width, height int
		switch name := string(data[at : at+4]); {
		case name == "VP8X" && len(body) >= 10:
			width, height = 1+(int(body[4])|int(body[5])<<8|int(body[6])<<16), 1+(int(body[7])|int(body[8])<<8|int(body[9])<<16)
		case name == "VP8 " && len(body) >= 10:
			width, height = int(binary.LittleEndian.Uint16(body[6:]))&0x3fff, int(binary.LittleEndian.Uint16(body[8:]))&0x3fff
		case name == "VP8L" && len(body) >= 5:
			bits := binary.LittleEndian.Uint32(body[1:])
			width, height = 1+int(bits&0x3fff), 1+int(bits>>14&0x3fff)
		}
		most = max(most, h.perPixel*float64(width)*float64(height))
		at += 8 + size + size&1
	}
	h.perPixel = most / (float64(h.width) * float64(h.height))
	return h, nil
}

// bytesOf returns the bytes of a pixel.
func bytesOf(m color.Model) float64 {
	switch m {
	case color.GrayModel:
		return 1
	case color.Gray16Model:
		return 2
	case color.RGBA64Model, color.NRGBA64Model:
		return 8
	}
	if _, indexed := m.(color.Palette); indexed {
		return 1
	}
	return 4
}

// readJPEG reads the frame header (ITU-T T.81, B.2.2). It refuses files that the decoder could interpret differently.
func readJPEG(data []byte) (header, error) {
	c, err := jpeg.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return header{}, ErrBroken
	}
	for at := 2; at+4 <= len(data); {
		marker := data[at+1]
		length := int(binary.BigEndian.Uint16(data[at+2:]))
		switch {
		case data[at] != 0xff || length < 2 || at+2+length > len(data):
			return header{}, ErrBroken
		case marker == 0xff: // a fill byte
			at++
			continue
		case marker == 0xc0 || marker == 0xc1 || marker == 0xc2:
			h, err := frame(data[at+4:at+2+length], marker == 0xc2)
			if err == nil && (h.width != c.Width || h.height != c.Height) {
				err = ErrBroken
			}
			return h, err
		case marker < 0xc0 || marker == 0x01 || 0xd0 <= marker && marker <= 0xda: // not allowed before a frame
			return header{}, ErrBroken
		}
		at += 2 + length
	}
	return header{}, ErrBroken
}

// frame reads a frame header. A decoder keeps the coefficients of a progressive picture, of four bytes each, besides its samples. It converts
// pictures with four inks.
func frame(segment []byte, progressive bool) (header, error) {
	if len(segment) < 6 || len(segment) < 6+3*int(segment[5]) || segment[5] == 0 {
		return header{}, ErrBroken
	}
	h := header{kind: "image/jpeg", height: int(binary.BigEndian.Uint16(segment[1:])), width: int(binary.BigEndian.Uint16(segment[3:]))}
	var samples, most float64
	for i := range int(segment[5]) {
		factors := segment[6+3*i+1]
		n := float64(max(1, factors>>4)) * float64(max(1, factors&15))
		samples, most = samples+n, max(most, n)
	}
	h.perPixel = samples / most
	if progressive {
		h.perPixel *= 5
	}
	if segment[5] == 4 {
		h.perPixel *= 2
	}
	if h.width == 0 || h.height == 0 {
		return header{}, ErrBroken
	}
	return h, nil
}
