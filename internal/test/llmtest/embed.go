package llmtest

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"net/http"
	"strings"
	"unicode"
)

// Embedding is a request for vectors.
type Embedding struct {
	Header http.Header
	Model  string   `json:"model"`
	Input  []string `json:"input"`
}

// Embeddings returns the requests for vectors so far, including refused ones.
func (s *Server) Embeddings() []Embedding {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Embedding(nil), s.embeddings...)
}

const (
	mostInputs  = 2048
	mostLetters = 32_000 // of an input: about 8192 tokens
)

// embed gives each text the sum of its words' vectors.
func (s *Server) embed(w http.ResponseWriter, r *http.Request) {
	if !s.allow(w, r) {
		return
	}
	var in Embedding
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.Model == "" || len(in.Input) == 0 || len(in.Input) > mostInputs {
		writeJSON(w, http.StatusBadRequest, OpenAIError("'$.input' is invalid.", "invalid_request_error", ""))
		return
	}
	in.Header = r.Header
	s.mu.Lock()
	s.embeddings = append(s.embeddings, in)
	alike := s.script.fields()
	s.mu.Unlock()
	if s.Embed != nil {
		p := &player{w: w, done: r.Context().Done(), released: s.released}
		for _, step := range s.Embed(in) {
			if !p.step(step) {
				return
			}
		}
	}
	type datum struct {
		Object    string    `json:"object"`
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	}
	var out struct {
		Object string  `json:"object"`
		Data   []datum `json:"data"`
		Model  string  `json:"model"`
	}
	out.Object, out.Model = "list", in.Model
	for i, text := range in.Input {
		if text == "" || len(text) > mostLetters {
			writeJSON(w, http.StatusBadRequest, OpenAIError("This model's maximum context length is 8192 tokens.", "invalid_request_error", ""))
			return
		}
		out.Data = append(out.Data, datum{"embedding", i, vector(in.Model, text, alike)})
	}
	body, _ := json.Marshal(out)
	writeJSON(w, http.StatusOK, string(body))
}

// dimensions of the vectors.
const dimensions = 256

// vector adds up the directions of the words. Each direction is random but always the same. Similar words share one, and so do words of up
// to three letters, which mean little.
func vector(model, text string, alike map[string]string) []float32 {
	v := make([]float32, dimensions)
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		weight := float32(1)
		if len(word) < 4 {
			word, weight = "", 0.1
		}
		if field := alike[word]; field != "" {
			word = field
		}
		h := fnv.New64a()
		fmt.Fprintf(h, "%s %s", model, word)
		for state, i := h.Sum64(), 0; i < dimensions; i++ {
			state = state*6364136223846793005 + 1442695040888963407 // Knuth's MMIX
			v[i] += weight * float32(int64(state>>11)-1<<52) / (1 << 52)
		}
	}
	length := 0.0
	for _, x := range v {
		length += float64(x * x)
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(length) + 1e-9)
	}
	return v
}
