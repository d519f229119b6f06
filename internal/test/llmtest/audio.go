package llmtest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
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
