package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"familiar/internal/bot"
	"familiar/internal/bot/discord"
	"familiar/internal/context/turn"
	"familiar/internal/llm"
	"familiar/internal/metrics"
	"familiar/internal/otlp"
)

const (
	serveGrace   = 2 * time.Second // for requests that are being answered when the program ends
	headerLimit  = 5 * time.Second
	requestLimit = 2 * time.Minute // a profile takes 30 seconds
	exportsLimit = 8               // records that are read again for an exporter at once
)

// telemetry is what tells other programs how the bot does.
type telemetry struct {
	metrics  *metrics.Metrics // nil: off, as is health
	health   *metrics.Health
	exporter *otlp.Exporter // nil: off
	listener net.Listener   // of an address of its own; nil: there is none

	app     *app
	reading chan struct{} // holds a token for each record that is read again
	reads   sync.WaitGroup
	stop    context.CancelFunc // nil before start
	running sync.WaitGroup
}

// openTelemetry makes what the settings ask for, and takes the address.
func (a *app) openTelemetry(session *discord.Session) (*telemetry, error) {
	t := &telemetry{app: a, reading: make(chan struct{}, exportsLimit)}
	var err error
	if t.exporter, err = a.exporter(); err != nil {
		return nil, err
	}
	address := a.config.get("FAMILIAR_METRICS")
	if address == nowhere && a.config.get("FAMILIAR_CONSOLE") == nowhere {
		return t, nil
	}
	state := metrics.State{
		Version: version(), Gateway: gatewayOf(session),
		Database: func() (int64, int64, error) {
			size, err := a.store.Size(context.Background())
			return size.Used, size.File, err
		},
		LastBackup: func() (time.Time, error) { return a.store.LastBackup(context.Background()) },
	}
	if t.exporter != nil {
		state.Spans = t.exporter.Counts
	}
	t.metrics = metrics.New(state)
	t.health = &metrics.Health{Gateway: gatewayOf(session), Store: a.store.Writable, Probe: a.modelProbe(), Redact: a.redact.String}
	if address == nowhere {
		return t, nil
	}
	if t.listener, err = net.Listen("tcp", address); err != nil {
		return nil, problems{fmt.Sprintf("FAMILIAR_METRICS: %v\n  Choose another address, or off.", err)}
	}
	return t, nil
}

// handler serves /metrics, /healthz and /readyz at an address, and profiles at one of the loopback network; nil where all that is off.
func (t *telemetry) handler(address string) http.Handler {
	if t.metrics == nil {
		return nil
	}
	return metrics.Handler(t.metrics, t.health, metrics.Loopback(address))
}

func gatewayOf(session *discord.Session) func() metrics.Gateway {
	return func() metrics.Gateway {
		h := session.Health()
		return metrics.Gateway{
			Connected: h.Connected, Since: h.Since, Trouble: h.Trouble, Latency: h.Latency, Servers: h.Guilds,
			Identifies: h.Identifies, Resumes: h.Resumes, Dropped: h.Dropped,
		}
	}
}

// modelProbe asks the model's server for its list of models, which costs nothing. A server that has no such list is there all the same.
func (a *app) modelProbe() func(context.Context) error {
	if a.models.main == nil {
		return nil
	}
	return func(ctx context.Context) error {
		_, err := a.model(a.server.base, a.server.key, "").Models(ctx)
		var e *llm.Error
		if errors.As(err, &e) && (e.Status == http.StatusNotFound || e.Status == http.StatusMethodNotAllowed) {
			return nil
		}
		return err
	}
}

// exporter makes what exports traces, or nil where no collector is set.
func (a *app) exporter() (*otlp.Exporter, error) {
	c := a.config
	address := c.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
	if base := c.get("OTEL_EXPORTER_OTLP_ENDPOINT"); address == "" && base != "" {
		address = strings.TrimRight(base, "/") + "/v1/traces"
	}
	if address == "" || c.get("OTEL_TRACES_EXPORTER") == "none" {
		return nil, nil
	}
	headers, err := otlp.ParseHeaders(c.get("OTEL_EXPORTER_OTLP_HEADERS"))
	if err != nil {
		return nil, problems{"OTEL_EXPORTER_OTLP_HEADERS: " + err.Error()}
	}
	return &otlp.Exporter{
		HTTP: a.client(address), URL: address, Headers: headers, Service: c.get("OTEL_SERVICE_NAME"), Version: version(),
		Content: c.get("FAMILIAR_OTLP_CONTENT") == "on", Redact: a.redact.String, Log: a.log,
	}, nil
}

// watch has the turns of a bot counted and exported.
func (t *telemetry) watch(b *bot.Bot) {
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

// exportKept exports a turn as its record is kept: without what is not to be kept of people.
func (t *telemetry) exportKept(id string) {
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
		kept, err := t.app.traces.Get(ctx, id)
		if err != nil { // nothing is kept of it
			t.exporter.Drop()
			return
		}
		t.exporter.Turn(kept)
	})
}

// start serves and exports until close: turns go on for a while when the program is asked to stop.
func (t *telemetry) start(ctx context.Context) {
	ctx, t.stop = context.WithCancel(context.WithoutCancel(ctx))
	if t.exporter != nil {
		t.running.Go(func() { t.exporter.Run(ctx) })
	}
	if t.listener == nil {
		return
	}
	t.app.log.Info("metrics", "address", "http://"+t.listener.Addr().String()+"/metrics")
	server := &http.Server{Handler: t.handler(t.app.config.get("FAMILIAR_METRICS")), ReadHeaderTimeout: headerLimit, ReadTimeout: headerLimit, WriteTimeout: requestLimit, MaxHeaderBytes: 16 << 10}
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
			t.app.log.Error("serve metrics", "err", err)
		}
	})
}

// close sends what is left to export and gives the address back. No turn may be under way.
func (t *telemetry) close() {
	t.reads.Wait()
	t.stop()
	t.running.Wait()
	if t.health != nil {
		t.health.Wait()
	}
}
