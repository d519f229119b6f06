package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"familiar/internal/app"
	"familiar/internal/test/wait"

	"familiar/internal/telemetry"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/rogpeppe/go-internal/txtar"
)

const askedOfLovelace = "who was the first programmer, Ada Lovelace or somebody else? Look it up."

// looking is a conversation in which something is looked up.
func looking(t *testing.T, env map[string]string) *conversation {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/lookup.txtar")
	if err != nil {
		t.Fatal(err)
	}
	c := newConversation(t, archive)
	for name, value := range env {
		c.env[name] = value
	}
	c.do("", "start")
	c.do("", "say general ana @familiar "+askedOfLovelace)
	c.do("", "heard general")
	return c
}

// metricsAt is where the program serves.
func (c *conversation) metricsAt() (base string) {
	c.Helper()
	at := regexp.MustCompile(`metrics address=(http://[0-9.:]+)/metrics`)
	if !wait.Until(func() bool {
		if m := at.FindStringSubmatch(c.program.out.String()); m != nil {
			base = m[1]
		}
		return base != ""
	}) {
		c.Fatalf("it serves nothing:\n%s", c.program.out)
	}
	return base
}

func (c *conversation) request(url string, change func(*http.Request)) (int, string) {
	c.Helper()
	r, err := http.NewRequestWithContext(c.Context(), http.MethodGet, url, nil)
	c.must(err)
	if change != nil {
		change(r)
	}
	resp, err := http.DefaultClient.Do(r)
	c.must(err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	c.must(err)
	return resp.StatusCode, string(body)
}

// TestMetrics: what is served says how the turn went, by Prometheus' conventions, and nothing of who took part in it.
func TestMetrics(t *testing.T) {
	t.Parallel()
	c := looking(t, map[string]string{"FAMILIAR_METRICS": "127.0.0.1:0"})
	base, text := c.metricsAt(), ""
	if !wait.Until(func() bool {
		_, text = c.request(base+"/metrics", nil)
		return strings.Contains(text, `familiar_turns_total{phase="answered"} 1`)
	}) {
		t.Fatalf("the turn is not counted:\n%s", text)
	}
	for _, want := range []string{
		`familiar_turn_duration_seconds_count 1`, `familiar_lookups_total{state="found"} 1`, `familiar_search_requests_total{backend="searxng",status="ok"} 1`,
		`familiar_page_reads_total{result="ok"} 1`, `familiar_gateway_connected 1`, `familiar_servers 1`, `familiar_provider_outcomes_total{provider="websearch",status="ok"} 1`,
		`familiar_turn_first_word_seconds_count 1`, `familiar_lookup_stage_duration_seconds_count{stage="read"} 1`, "familiar_database_used_bytes ", "process_resident_memory_bytes ", "go_goroutines ",
	} {
		if !strings.Contains(text, "\n"+want) {
			t.Errorf("%s is missing", want)
		}
	}
	for _, never := range []string{c.discord.ID("general"), c.discord.UserID("ana"), "hall", "Lovelace", "history.example.org", "general", "ana"} {
		if strings.Contains(text, `"`+never) {
			t.Errorf("%q is a label", never)
		}
	}
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, "familiar_") {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
	c.stop()
}

// TestReady reports the state of the store over HTTP and through the command. Profiles are served on this machine only.
func TestReady(t *testing.T) {
	t.Parallel()
	c := looking(t, map[string]string{"FAMILIAR_METRICS": "127.0.0.1:0"})
	base := c.metricsAt()
	ready := func() (r telemetry.Readiness, code int) {
		code, body := c.request(base+"/readyz", nil)
		c.must(json.Unmarshal([]byte(body), &r))
		return r, code
	}
	if r, code := ready(); code != http.StatusOK || !r.Ready || len(r.Checks) != 3 {
		t.Errorf("%d %+v", code, r)
	}
	c.env["FAMILIAR_METRICS"] = strings.TrimPrefix(base, "http://")
	if code, out, err := c.command(nil, "health"); code != exitOK || !strings.Contains(out, "gateway  ok\n") || !strings.Contains(out, "store    ok\n") {
		t.Errorf("exit code %d: %s%s", code, out, err)
	}
	release := c.holdStore()
	if !wait.Until(func() bool { r, code := ready(); return code == http.StatusServiceUnavailable && !r.Checks["store"].OK }) {
		t.Error("ready without a store")
	}
	if code, out, err := c.command(nil, "health"); code != exitFailed || !strings.Contains(out, "store    not ready  ") || !strings.Contains(err, "cannot answer people") {
		t.Errorf("exit code %d: %s%s", code, out, err)
	}
	if code, _, _ := c.command(nil, "health", "--live"); code != exitOK {
		t.Errorf("health --live: exit code %d", code)
	}
	release()
	if !wait.Until(func() bool { r, _ := ready(); return r.Ready }) {
		t.Error("not ready again")
	}

	for header, want := range map[string]int{"": http.StatusOK, "Host: evil.example.org": http.StatusForbidden, "X-Forwarded-For: 127.0.0.1": http.StatusForbidden} {
		code, _ := c.request(base+"/debug/pprof/goroutine?debug=1", func(r *http.Request) {
			if name, value, _ := strings.Cut(header, ": "); name == "Host" {
				r.Host = value
			} else if name != "" {
				r.Header.Set(name, value)
			}
		})
		if code != want {
			t.Errorf("profiles with %q: %d", header, code)
		}
	}
	c.stop()
	if code, _, err := c.command(nil, "health"); code != exitFailed || !strings.Contains(err, "familiar run") {
		t.Errorf("without a bot: exit code %d, %s", code, err)
	}
}

// collector is a collector of OpenTelemetry that takes nothing which the protocol does not have.
type collector struct {
	mu      sync.Mutex
	spans   []collected // guarded by mu
	bodies  []string    // guarded by mu
	refuses int         // guarded by mu: so many requests with 503
	faults  []error     // guarded by mu
}

type collected struct {
	TraceID           string `json:"traceId"`
	SpanID            string `json:"spanId"`
	ParentSpanID      string `json:"parentSpanId"`
	Name              string `json:"name"`
	Kind              int    `json:"kind"`
	StartTimeUnixNano string `json:"startTimeUnixNano"`
	EndTimeUnixNano   string `json:"endTimeUnixNano"`
	Attributes        []attr `json:"attributes"`
	Status            struct {
		Message string `json:"message"`
		Code    int    `json:"code"`
	} `json:"status"`
}

type attr struct {
	Key   string
	Value anyValue
}

type anyValue struct {
	StringValue *string
	BoolValue   *bool
	IntValue    *string
	DoubleValue *float64
	ArrayValue  *struct{ Values []anyValue }
}

func (a anyValue) text() string {
	switch {
	case a.StringValue != nil:
		return *a.StringValue
	case a.IntValue != nil:
		return *a.IntValue
	case a.ArrayValue != nil:
		var all []string
		for _, v := range a.ArrayValue.Values {
			all = append(all, v.text())
		}
		return strings.Join(all, ",")
	}
	return ""
}

func (s collected) get(key string) string {
	for _, a := range s.Attributes {
		if a.Key == key {
			return a.Value.text()
		}
	}
	return ""
}

var (
	traceHex = regexp.MustCompile(`^[0-9a-f]{32}$`)
	spanHex  = regexp.MustCompile(`^[0-9a-f]{16}$`)
	decimal  = regexp.MustCompile(`^[0-9]{19}$`)
)

func (s collected) check() error {
	switch {
	case !traceHex.MatchString(s.TraceID) || !spanHex.MatchString(s.SpanID) || s.ParentSpanID != "" && !spanHex.MatchString(s.ParentSpanID):
		return fmt.Errorf("ids of %+v", s)
	case !decimal.MatchString(s.StartTimeUnixNano) || !decimal.MatchString(s.EndTimeUnixNano) || s.EndTimeUnixNano < s.StartTimeUnixNano:
		return fmt.Errorf("times of %+v", s)
	case s.Name == "" || s.Kind < 1 || s.Kind > 5 || s.Status.Code < 0 || s.Status.Code > 2:
		return fmt.Errorf("name, kind or status of %+v", s)
	}
	for _, a := range s.Attributes {
		if a.Key == "" || a.Value == (anyValue{}) {
			return fmt.Errorf("attribute %+v of %s", a, s.Name)
		}
	}
	return nil
}

func (k *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.refuses > 0 {
		k.refuses--
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	if r.Method != http.MethodPost || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/json" || r.Header.Get("Authorization") != "Bearer otlp-secret-12345" {
		k.faults = append(k.faults, fmt.Errorf("%s %s with %v", r.Method, r.URL, r.Header))
	}
	body, err := io.ReadAll(r.Body)
	var request struct {
		ResourceSpans []struct {
			Resource   struct{ Attributes []attr }
			ScopeSpans []struct {
				Scope struct{ Name, Version string }
				Spans []collected
			}
		}
	}
	d := json.NewDecoder(strings.NewReader(string(body)))
	d.DisallowUnknownFields()
	if err = errors.Join(err, d.Decode(&request)); err != nil {
		k.faults = append(k.faults, err)
	}
	for _, rs := range request.ResourceSpans {
		if i := slices.IndexFunc(rs.Resource.Attributes, func(a attr) bool { return a.Key == "service.name" }); i < 0 || rs.Resource.Attributes[i].Value.text() != "companion" {
			k.faults = append(k.faults, fmt.Errorf("resource %+v", rs.Resource))
		}
		for _, ss := range rs.ScopeSpans {
			k.spans = append(k.spans, ss.Spans...)
		}
	}
	k.bodies = append(k.bodies, string(body))
	w.Header().Set("Content-Type", "application/json")
	w.Write([]byte(`{}`))
}

// TestExport checks that a turn arrives as one tree of spans at a collector that refuses at first. The names are those of the conventions.
// What was said is there only if asked for.
func TestExport(t *testing.T) {
	t.Parallel()
	for content, refuses := range map[string]int{"off": 0, "on": 1} {
		k := &collector{refuses: refuses}
		server := httptest.NewServer(k)
		t.Cleanup(server.Close)
		c := looking(t, map[string]string{
			"OTEL_EXPORTER_OTLP_ENDPOINT": server.URL, "OTEL_EXPORTER_OTLP_HEADERS": "Authorization=Bearer%20otlp-secret-12345", "OTEL_SERVICE_NAME": "companion", "FAMILIAR_OTLP_CONTENT": content,
		})
		c.do("", "say general ana @familiar what is otlp-secret-12345?")
		c.do("", "heard general")
		if refuses > 0 { // it is tried again; without a refusal the end of the program sends what waits
			wait.Until(func() bool { k.mu.Lock(); defer k.mu.Unlock(); return len(k.spans) > 0 })
		}
		c.stop()
		k.mu.Lock()
		for _, err := range k.faults {
			t.Error(err)
		}
		said := strings.Join(k.bodies, "\n")
		if strings.Contains(said, "otlp-secret-12345") {
			t.Error("a secret is exported")
		}
		for _, words := range []string{"the first programmer", "Lovelace wrote", "history.example.org"} {
			if strings.Contains(said, words) != (content == "on") {
				t.Errorf("content %s, and %q", content, words)
			}
		}
		for _, never := range []string{`"ana"`, c.discord.UserID("ana"), "hall"} {
			if content == "off" && strings.Contains(said, never) {
				t.Errorf("%s is exported", never)
			}
		}
		k.tree(t)
		k.mu.Unlock()
	}
}

// tree looks at the spans of the turn that looked something up.
func (k *collector) tree(t *testing.T) {
	t.Helper()
	find := func(name string) (s collected) {
		for _, s := range k.spans {
			if err := s.check(); err != nil {
				t.Error(err)
			}
		}
		if i := slices.IndexFunc(k.spans, func(s collected) bool { return s.Name == name }); i >= 0 {
			return k.spans[i]
		}
		t.Errorf("there is no span %q", name)
		return s
	}
	root, retrieval := find("invoke_agent sage"), find("retrieval web")
	for _, want := range []struct {
		span       collected
		parent     string
		attributes map[string]string
	}{
		{root, "", map[string]string{"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "sage", "familiar.turn.phase": "answered"}},
		{find("context websearch"), root.SpanID, nil},
		{retrieval, find("context websearch").SpanID, map[string]string{"gen_ai.operation.name": "retrieval", "gen_ai.data_source.id": "web", "familiar.lookup.state": "found"}},
		{find("lookup search"), retrieval.SpanID, nil},
		{find("execute_tool search"), find("lookup search").SpanID, map[string]string{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search"}},
		{find("execute_tool fetch"), find("lookup read").SpanID, map[string]string{"gen_ai.tool.name": "fetch", "http.response.status_code": "200"}},
		{find("chat main"), root.SpanID, map[string]string{
			"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "main", "gen_ai.response.finish_reasons": "stop",
			"server.address": "127.0.0.1", "gen_ai.output.type": "text",
		}},
	} {
		if want.span.ParentSpanID != want.parent || want.span.TraceID != root.TraceID {
			t.Errorf("%s is below %q of %s", want.span.Name, want.span.ParentSpanID, want.span.TraceID)
		}
		for key, value := range want.attributes {
			if got := want.span.get(key); got != value {
				t.Errorf("%s: %s is %q", want.span.Name, key, got)
			}
		}
	}
	if ids := len(slices.Compact(slices.Sorted(func(yield func(string) bool) {
		for _, s := range k.spans {
			yield(s.SpanID)
		}
	}))); ids != len(k.spans) {
		t.Errorf("%d ids of %d spans", ids, len(k.spans))
	}
}

// TestStandardNames: variables that OpenTelemetry has and this program does not are not mistakes.
func TestStandardNames(t *testing.T) {
	lines := app.UnknownVariables([]string{"OTEL_EXPORTER_OTLP_TIMEOUT", "OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_LOGS_EXPORTER", "OTEL_SERVICE_NAME", "OTEL_EXPORTER_OTLP_ENDPONT"}, t.TempDir())
	if len(lines) != 1 || !strings.Contains(lines[0], "did you mean OTEL_EXPORTER_OTLP_ENDPOINT?") {
		t.Errorf("%q", lines)
	}
}
