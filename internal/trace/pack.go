package trace

import (
	"bytes"
	_ "embed" // the dictionary
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// packer compresses what is kept. Its zero value is ready, and may be used from many goroutines.
type packer struct {
	once sync.Once
	enc  *zstd.Encoder
	dec  *zstd.Decoder
	err  error
	bufs sync.Pool // of *[]byte
}

const (
	// window is how far back the encoder looks. Nearly all records are smaller, and its memory grows with it.
	window = 64 << 10
	// largeBuffer is from where on a buffer is not used again: most records are far smaller.
	largeBuffer = 64 << 10
	// maxUnpacked bounds what a damaged record can claim to hold.
	maxUnpacked = 64 << 20
)

// dictionary is what records have in common, the most usual last: without it, half of a short record is the names of its
// fields. What was compressed with it needs it, to the byte, to be read. A better one gets the next number, beside this one.
//
//go:embed record1.dict
var dictionary []byte

const dictionaryID = 1

// frameMagic is what every frame of zstd begins with (RFC 8878, 3.1.1). No text does: its second byte is no UTF-8 there.
var frameMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}

func (p *packer) open() error {
	p.once.Do(func() {
		p.enc, p.err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
			zstd.WithWindowSize(window), zstd.WithLowerEncoderMem(true), zstd.WithEncoderDictRaw(dictionaryID, dictionary))
		if p.err == nil {
			p.dec, p.err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderLowmem(true),
				zstd.WithDecoderMaxMemory(maxUnpacked), zstd.WithDecoderDictRaw(dictionaryID, dictionary))
		}
	})
	return p.err
}

// pack compresses a text. Where that is not possible, which only wrong options could cause, the text is kept as it is.
func (p *packer) pack(text string) []byte {
	if p.open() != nil {
		return []byte(text)
	}
	var body []byte
	p.with(func(buf []byte) []byte {
		buf = append(buf, text...)
		body = p.enc.EncodeAll(buf, make([]byte, 0, len(text)/4+64))
		return buf
	})
	return body
}

// with lends an empty buffer to f, which returns it, and does not keep it.
func (p *packer) with(f func(buf []byte) []byte) {
	buf, _ := p.bufs.Get().(*[]byte)
	if buf == nil {
		buf = new([]byte)
	}
	if *buf = f((*buf)[:0]); cap(*buf) <= largeBuffer {
		p.bufs.Put(buf)
	}
}

// unpack returns the text of what is kept. Records of before they were compressed are texts.
func (p *packer) unpack(body []byte) (string, error) {
	if !bytes.HasPrefix(body, frameMagic) {
		return string(body), nil
	}
	if err := p.open(); err != nil {
		return "", err
	}
	text, err := p.dec.DecodeAll(body, nil)
	if err != nil {
		return "", fmt.Errorf("unpack: %w", err)
	}
	return string(text), nil
}

// maxRepeated is how many frames are remembered: those of a character differ by mode, by the name of who asks, and by what was said
// before in a channel.
const maxRepeated = 1024

// repeated remembers which frames are kept, so that they are not redacted and compressed in every turn.
type repeated struct {
	mu   sync.Mutex
	kept map[sum]sum // guarded by mu: hashes of the texts as they are kept, by those of the texts as they were
}

// empty forgets all of them.
func (r *repeated) empty() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept = nil
}

// get returns the hash of a text as it is kept, by that of the text as it was, and reports whether it is kept.
func (r *repeated) get(raw sum) (kept sum, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept, ok = r.kept[raw]
	return kept, ok
}

// add notes that a text is kept.
func (r *repeated) add(raw, kept sum) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kept == nil || len(r.kept) >= maxRepeated {
		r.kept = map[sum]sum{}
	}
	r.kept[raw] = kept
}
