package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"familiar/internal/api"
	"familiar/internal/bot"
	"familiar/internal/context/turn"
	"familiar/internal/discord"
	"familiar/internal/llm"
	"familiar/internal/telemetry"
)

const (
	serveGrace   = 2 * time.Second // for requests that are under way when the program ends
	headerLimit  = 5 * time.Second
	requestLimit = 2 * time.Minute // a profile takes 30 seconds
	exportsLimit = 8               // records that are read for the exporter at once
)

// telemetryServer tells other programs how the bot does.
type telemetryServer struct {
	metrics  *telemetry.Metrics // nil: off, as is health
	health   *telemetry.Health
	exporter *telemetry.Exporter // nil: off
	listener net.Listener        // of an address of its own; nil: there is none

	app     *App
	reading chan struct{} // holds a token for each record that is read again
	reads   sync.WaitGroup
	stop    context.CancelFunc // nil before start
	running sync.WaitGroup
}

// openTelemetry makes what the settings ask for, and opens the address.
func (a *App) openTelemetry(session *discord.Session) (*telemetryServer, error) {
	t := &telemetryServer{app: a, reading: make(chan struct{}, exportsLimit)}
	var err error
	if t.exporter, err = a.exporter(); err != nil {
		return nil, err
	}
	address := a.Config.Get("FAMILIAR_METRICS")
	if address == Nowhere && a.Config.Get("FAMILIAR_CONSOLE") == Nowhere {
		return t, nil
	}
	state := telemetry.State{
		Version: a.version, Gateway: session.Health,
		Database: func() (int64, int64, error) {
			size, err := a.Store.Size(context.Background())
			return size.Used, size.File, err
		},
		LastBackup: func() (time.Time, error) { return a.Store.LastBackup(context.Background()) },
	}
	if t.exporter != nil {
		state.Spans = t.exporter.Counts
	}
	t.metrics = telemetry.NewMetrics(state)
	t.health = &telemetry.Health{Gateway: session.Health, Store: a.Store.Writable, Probe: a.modelProbe(), Redact: a.Redact.String}
	if address == Nowhere {
		return t, nil
	}
	if t.listener, err = net.Listen("tcp", address); err != nil {
		return nil, Problems{fmt.Sprintf("FAMILIAR_METRICS: %v\n  Choose another address, or off.", err)}
	}
	return t, nil
}

// handler serves /metrics, /healthz and /readyz at an address, and profiles at a loopback address. It is nil if metrics are off.
func (t *telemetryServer) handler(address string) http.Handler {
	if t.metrics == nil {
		return nil
	}
	return telemetry.Handler(t.metrics, t.health, telemetry.Loopback(address))
}

// modelProbe returns what asks the model's server for its list of models, which costs nothing. A server without a list works, too.
func (a *App) modelProbe() func(context.Context) error {
	if a.models.main == nil {
		return nil
	}
	return func(ctx context.Context) error {
		_, err := a.model(a.server.base, a.server.key, "").Models(ctx)
		if e, ok := errors.AsType[*llm.Error](err); ok && (e.Status == http.StatusNotFound || e.Status == http.StatusMethodNotAllowed) {
			return nil
		}
		return err
	}
}

// exporter returns what exports traces, or nil if no collector is set.
func (a *App) exporter() (*telemetry.Exporter, error) {
	c := a.Config
	address := c.Get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
	if base := c.Get("OTEL_EXPORTER_OTLP_ENDPOINT"); address == "" && base != "" {
		address = strings.TrimRight(base, "/") + "/v1/traces"
	}
	if address == "" || c.Get("OTEL_TRACES_EXPORTER") == "none" {
		return nil, nil
	}
	headers, err := telemetry.ParseOTLPHeaders(c.Get("OTEL_EXPORTER_OTLP_HEADERS"))
	if err != nil {
		return nil, Problems{"OTEL_EXPORTER_OTLP_HEADERS: " + err.Error()}
	}
	return &telemetry.Exporter{
		HTTP: a.client(address), URL: address, Headers: headers, Service: c.Get("OTEL_SERVICE_NAME"), Version: a.version,
		Content: c.Get("FAMILIAR_OTLP_CONTENT") == "on", Redact: a.Redact.String, Log: a.Log,
	}, nil
}

// watch counts and exports the turns of a bot.
func (t *telemetryServer) watch(b *bot.Bot) {
	if t.metrics == nil && t.exporter == nil {
		return
	}
	b.Finished = func(of *turn.Trace) {
		if t.metrics != nil {
			t.metrics.Turn(of)
			t.health.Turn(of)
		}
		switch {
		case t.exporter == nil:
		case t.exporter.Content:
			t.exportKept(of.Request.ID)
		default:
			t.exporter.Turn(of)
		}
	}
}

// exportKept exports the stored record of a turn, which leaves out what must not be kept about people.
func (t *telemetryServer) exportKept(id string) {
	select {
	case t.reading <- struct{}{}:
	default:
		t.exporter.Drop()
		return
	}
	t.reads.Go(func() {
		defer func() { <-t.reading }()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		kept, err := t.app.Traces.Get(ctx, id)
		if err != nil { // there is no record
			t.exporter.Drop()
			return
		}
		t.exporter.Turn(kept)
	})
}

// start serves and exports until close: turns still finish after the program is asked to stop.
func (t *telemetryServer) start(ctx context.Context) {
	ctx, t.stop = context.WithCancel(context.WithoutCancel(ctx))
	if t.exporter != nil {
		t.running.Go(func() { t.exporter.Run(ctx) })
	}
	if t.listener == nil {
		return
	}
	t.app.Log.Info("metrics", "address", "http://"+t.listener.Addr().String()+"/metrics")
	server := &http.Server{Handler: t.handler(t.app.Config.Get("FAMILIAR_METRICS")), ReadHeaderTimeout: headerLimit, ReadTimeout: headerLimit, WriteTimeout: requestLimit, MaxHeaderBytes: 16 << 10}
	t.running.Go(func() {
		<-ctx.Done()
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), serveGrace)
		defer cancel()
		if server.Shutdown(last) != nil {
			server.Close()
		}
	})
	t.running.Go(func() {
		if err := server.Serve(t.listener); !errors.Is(err, http.ErrServerClosed) {
			t.app.Log.Error("serve metrics", "err", err)
		}
	})
}

// close exports what is left and closes the address. No turn may be under way.
func (t *telemetryServer) close() {
	t.reads.Wait()
	t.stop()
	t.running.Wait()
	if t.health != nil {
		t.health.Wait()
	}
}

// healthPatience is how long the answer to AskHealth may take.
const healthPatience = 4 * time.Second

// AskHealth asks a running process how it is, and prints what it says. base is its origin. An empty token is not sent.
func AskHealth(ctx context.Context, p *Process, base, path, token string) error {
	ctx, cancel := context.WithTimeout(ctx, healthPatience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+path, nil)
	if err != nil {
		return err
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := api.Client(api.Service{Origin: base, UserAgent: Agent(p.Version, "")}).Do(r)
	if err != nil {
		return fmt.Errorf("no bot answers at %s: start it with familiar run, and FAMILIAR_CONSOLE or FAMILIAR_METRICS set to the same address: %w", base, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil {
		return fmt.Errorf("ask %s: %w", base, err)
	}
	var state telemetry.Readiness
	if path == "/readyz" && json.Unmarshal(body, &state) == nil {
		for _, name := range slices.Sorted(maps.Keys(state.Checks)) {
			c := state.Checks[name]
			word := "ok"
			if !c.OK {
				word = "not ready"
			}
			fmt.Fprintln(p.Out, strings.TrimRight(fmt.Sprintf("%-8s %s  %s", name, word, c.Reason), " "))
		}
	}
	switch resp.StatusCode {
	case http.StatusOK:
		return nil
	case http.StatusServiceUnavailable:
		return errors.New("the bot runs and cannot answer people")
	}
	return fmt.Errorf("what answers at %s is not this bot (status %d): FAMILIAR_CONSOLE, FAMILIAR_CONSOLE_TOKEN and FAMILIAR_METRICS have to be the same as where it runs", base, resp.StatusCode)
}
