package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// metasearch is a SearXNG whose answers are in a file. A line "when REGEX" begins the answer to the queries that it matches. The lines
// below are its hits, "title | url | snippet | thumbnail". One word can stand for a failure: "status N", "html", "hang", "blocked".
type metasearch struct {
	server    *httptest.Server
	rules     []searchRule // fixed before the first query
	wikipedia string       // what that answers; empty: it knows nothing; fixed before the first query

	mu      sync.Mutex
	queries []string // guarded by mu
}

type searchRule struct {
	when  *regexp.Regexp
	lines []string
}

// ignorant are the replies of the other backends: they answer, and know nothing.
var ignorant = map[string]string{
	"/wikipedia":  `{"batchcomplete":true}`,
	"/duckduckgo": `{"Abstract":"","AbstractText":"","Answer":"","Definition":"","Heading":"","RelatedTopics":[],"Results":[],"Type":""}`,
	"/openmeteo":  `{"generationtime_ms":0.1}`,
}

func newMetasearch(t testing.TB) *metasearch {
	m := &metasearch{}
	m.server = httptest.NewServer(m)
	t.Cleanup(func() {
		m.server.CloseClientConnections()
		m.server.Close()
	})
	return m
}

func (m *metasearch) read(t testing.TB, text []byte) {
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if pattern, isWhen := strings.CutPrefix(line, "when "); isWhen {
			m.rules = append(m.rules, searchRule{when: regexp.MustCompile("(?i)" + pattern)})
		} else if line != "" {
			if len(m.rules) == 0 {
				t.Fatal("search: a hit before the first when")
			}
			last := &m.rules[len(m.rules)-1]
			last.lines = append(last.lines, line)
		}
	}
}

func (m *metasearch) asked() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.queries)
}

func (m *metasearch) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for backend, reply := range ignorant {
		if strings.HasPrefix(r.URL.Path, backend) {
			if code := m.others(r); code != 0 {
				http.Error(w, "no", code)
				return
			}
			if backend == "/wikipedia" && m.wikipedia != "" {
				reply = m.wikipedia
			}
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, reply)
			return
		}
	}
	query := r.FormValue("q")
	m.mu.Lock()
	m.queries = append(m.queries, query)
	m.mu.Unlock()
	for _, rule := range m.rules {
		if rule.when.MatchString(query) {
			rule.answer(w, r)
			return
		}
	}
	searchRule{}.answer(w, r)
}

// others is the status with which the backends beside the metasearch answer, where a rule has a line "others 503".
func (m *metasearch) others(r *http.Request) int {
	asked, _ := url.QueryUnescape(r.URL.RawQuery)
	for _, rule := range m.rules {
		for _, line := range rule.lines {
			if code, ok := strings.CutPrefix(line, "others "); ok && rule.when.MatchString(asked) {
				status, _ := strconv.Atoi(code)
				return status
			}
		}
	}
	return 0
}

func (rule searchRule) answer(w http.ResponseWriter, r *http.Request) {
	type result struct {
		Title   string `json:"title"`
		URL     string `json:"url"`
		Content string `json:"content"`
		Engine  string `json:"engine"`
		Picture string `json:"thumbnail_src,omitempty"`
	}
	reply := struct {
		Results      []result   `json:"results"`
		Unresponsive [][]string `json:"unresponsive_engines"`
	}{Results: []result{}, Unresponsive: [][]string{}}
	for _, line := range rule.lines {
		switch word, rest, _ := strings.Cut(line, " "); word {
		case "status":
			code, _ := strconv.Atoi(rest)
			http.Error(w, "no", code)
			return
		case "html":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<!doctype html><title>Sorry</title>")
			return
		case "hang":
			<-r.Context().Done()
			return
		case "others":
			continue
		case "blocked":
			reply.Unresponsive = append(reply.Unresponsive, []string{"google", "CAPTCHA"})
			continue
		}
		parts := strings.SplitN(line, "|", 4)
		for len(parts) < 4 {
			parts = append(parts, "")
		}
		reply.Results = append(reply.Results, result{strings.TrimSpace(parts[0]), strings.TrimSpace(parts[1]), strings.TrimSpace(parts[2]), "test", strings.TrimSpace(parts[3])})
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(reply)
}
