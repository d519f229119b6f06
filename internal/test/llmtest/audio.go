package llmtest

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"
)

// Audio is a recording that a client had transcribed.
type Audio struct {
	Header http.Header
	Name   string
	Type   string // of the part
	Model  string
	Data   []byte
}

// Speech returns a recording in which these words are spoken.
func Speech(words string) []byte { return []byte("OggS\x00speech:" + words) }

// Recordings returns the recordings so far.
func (s *Server) Recordings() []Audio {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Audio(nil), s.audio...)
}

// maxAudio is the size that OpenAI accepts, in bytes.
const maxAudio = 25 << 20

// transcribe answers with the words of a recording.
func (s *Server) transcribe(w http.ResponseWriter, r *http.Request) {
	if !s.allow(w, r) {
		return
	}
	file, head, err := r.FormFile("file")
	if err != nil || r.FormValue("model") == "" {
		writeJSON(w, http.StatusBadRequest, OpenAIError("Missing required parameter: 'file' or 'model'.", "invalid_request_error", ""))
		return
	}
	data, err := io.ReadAll(file)
	if err != nil || len(data) > maxAudio {
		writeJSON(w, http.StatusRequestEntityTooLarge, OpenAIError("Maximum content size limit exceeded.", "invalid_request_error", ""))
		return
	}
	s.mu.Lock()
	s.audio = append(s.audio, Audio{r.Header, head.Filename, head.Header.Get("Content-Type"), r.FormValue("model"), data})
	s.mu.Unlock()
	_, words, _ := bytes.Cut(data, []byte("speech:"))
	if !bytes.HasPrefix(data, []byte("OggS")) {
		writeJSON(w, http.StatusBadRequest, OpenAIError("The audio file could not be decoded or its format is not supported.", "invalid_request_error", ""))
		return
	}
	body, _ := json.Marshal(map[string]string{"text": string(words)})
	writeJSON(w, http.StatusOK, string(body))
}

// Spoken is a text that a client had said aloud.
type Spoken struct{ Words, Model, Voice string }

// SaidAloud returns the texts so far that were said aloud.
func (s *Server) SaidAloud() []Spoken {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Spoken(nil), s.spoken...)
}

// mostSpoken is the most that OpenAI says at once, in characters.
const mostSpoken = 4096

// speak answers with a recording of the words. The words "cannot be said" are refused.
// https://platform.openai.com/docs/api-reference/audio/createSpeech
func (s *Server) speak(w http.ResponseWriter, r *http.Request) {
	if !s.allow(w, r) {
		return
	}
	var in struct {
		Model  string `json:"model"`
		Input  string `json:"input"`
		Voice  string `json:"voice"`
		Format string `json:"response_format"`
	}
	switch err := json.NewDecoder(r.Body).Decode(&in); {
	case err != nil || in.Model == "" || in.Input == "" || in.Voice == "" || utf8.RuneCountInString(in.Input) > mostSpoken:
		writeJSON(w, http.StatusBadRequest, OpenAIError("Invalid value for 'model', 'voice' or 'input'.", "invalid_request_error", ""))
		return
	case strings.Contains(in.Input, "cannot be said"):
		writeJSON(w, http.StatusInternalServerError, OpenAIError("The server had an error.", "server_error", ""))
		return
	}
	s.mu.Lock()
	s.spoken = append(s.spoken, Spoken{in.Input, in.Model, in.Voice})
	s.mu.Unlock()
	recording, kind := Opus(in.Input), "audio/ogg"
	if in.Format != "opus" {
		recording, kind = []byte("ID3\x04"), "audio/mpeg"
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(recording)
}

// frame is what a packet of Opus with one frame of 20 ms begins with.
const frame = 31 << 3

// Opus returns an Ogg Opus file of 400 ms for each word. Its tags hold the words as [Speech] does. A longer word is louder.
func Opus(words string) []byte {
	head := append([]byte("OpusHead\x01\x01"), 0, 0, 0x80, 0xbb, 0, 0, 0, 0, 0)
	tags := append([]byte("OpusTags\x00\x00\x00\x00\x01\x00\x00\x00"), binary.LittleEndian.AppendUint32(nil, uint32(len("speech:"+words)))...)
	file := append(page(2, 0, head), page(0, 0, append(tags, "speech:"+words...))...)
	at := 0
	for _, word := range strings.Fields(words) {
		for range 20 {
			at += 960
			file = append(file, page(0, at, append([]byte{frame}, make([]byte, min(len(word)*8, 250))...))...)
		}
	}
	return file
}

// page returns a page of an Ogg file with one packet. Its checksum is missing.
func page(kind byte, at int, packet []byte) []byte {
	p := append([]byte("OggS\x00"), kind)
	p = binary.LittleEndian.AppendUint64(p, uint64(at))
	p = append(p, make([]byte, 12)...) // stream, number, checksum
	n := len(packet)/255 + 1
	p = append(p, byte(n))
	p = append(p, bytes.Repeat([]byte{255}, n-1)...)
	return append(append(p, byte(len(packet)%255)), packet...)
}
