package trace

import (
	"bytes"
	"crypto/sha256"
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
}

const (
	// window is how far back the encoder looks. Nearly all records are smaller, and its memory grows with it.
	window = 128 << 10
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
	return p.enc.EncodeAll([]byte(text), make([]byte, 0, len(text)/4+64))
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

// kept is what is kept of a text that repeats.
type kept struct {
	sum  [sha256.Size]byte
	body []byte // compressed
}

// maxRepeated is how many texts are remembered: those of a character differ by mode and by the name of who asks.
const maxRepeated = 64

// repeated remembers what is kept of the texts that repeat, so that they are not hashed and compressed in every turn.
type repeated struct {
	mu    sync.Mutex
	texts map[string]kept // guarded by mu
}

// empty forgets all of them.
func (r *repeated) empty() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.texts = nil
}

func (r *repeated) get(text string, build func(string) kept) kept {
	r.mu.Lock()
	defer r.mu.Unlock()
	if k, ok := r.texts[text]; ok {
		return k
	}
	if r.texts == nil || len(r.texts) >= maxRepeated {
		r.texts = make(map[string]kept, maxRepeated)
	}
	k := build(text)
	r.texts[text] = k
	return k
}
