package attachment

import (
	"bytes"
	"math"
	"testing"

	"familiar/internal/test/llmtest"
)

func TestReadOpus(t *testing.T) {
	t.Parallel()
	spoken := llmtest.Opus("so extraordinarily so")
	for name, tt := range map[string]struct {
		data    []byte
		seconds float64 // 0: it is refused
		n       int
	}{
		"silence":            {silence, 0.9935, 9},
		"three words":        {spoken, 1.2, 12},
		"cut":                {spoken[:len(spoken)-5], 0, 0},
		"no audio":           {spoken[:200], 0, 0},
		"another file":       {[]byte("ID3\x04 and more"), 0, 0},
		"nothing":            {nil, 0, 0},
		"another stream":     {bytes.Replace(spoken, []byte("OpusHead"), []byte("OpusHeaD"), 1), 0, 0},
		"a cut page":         {[]byte("OggS\x00"), 0, 0},
		"a page without end": {append([]byte("OggS"), bytes.Repeat([]byte{255}, 40)...), 0, 0},
	} {
		r, ok := readOpus(tt.data)
		if ok != (tt.seconds > 0) || ok && (math.Abs(r.Seconds-tt.seconds) > .001 || len(r.Waveform) != tt.n) {
			t.Errorf("%s: %+v, %v", name, r, ok)
		}
	}
	r, _ := readOpus(spoken)
	if w := r.Waveform; w[1] != 0 || w[6] != 255 || w[10] != 0 {
		t.Errorf("the long word is not the loudest: %v", w)
	}
	if r, _ := readOpus(llmtest.Opus(string(bytes.Repeat([]byte("so "), 200)))); len(r.Waveform) != mostAmplitude {
		t.Errorf("%d amplitudes", len(r.Waveform))
	}
}

func FuzzReadOpus(f *testing.F) {
	f.Add(silence)
	f.Add(llmtest.Opus("so"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if r, ok := readOpus(data); ok && (r.Seconds <= 0 || len(r.Waveform) == 0 || len(r.Waveform) > mostAmplitude) {
			t.Errorf("%v, %d", r.Seconds, len(r.Waveform))
		}
	})
}
