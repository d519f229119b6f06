package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"familiar/internal/api"
	"familiar/internal/metrics"
)

const healthPatience = 4 * time.Second

// healthCommand asks the process that runs.
type healthCommand struct {
	Live bool `help:"Ask only whether the process lives, not whether it can answer people."`
}

// Run prints what keeps the bot from answering, and fails then.
func (h healthCommand) Run(ctx context.Context, p *program) error {
	settings, err := readConfig(p.env, p.dir)
	if err != nil {
		return err
	}
	address, token := settings.get("FAMILIAR_METRICS"), ""
	if address == nowhere {
		address, token = settings.get("FAMILIAR_CONSOLE"), settings.get("FAMILIAR_CONSOLE_TOKEN")
	}
	if address == nowhere {
		return problems{"FAMILIAR_CONSOLE and FAMILIAR_METRICS are off, so that nobody can be asked; set one to an address such as 127.0.0.1:9464 where the bot runs, too"}
	}
	path := "/readyz"
	if h.Live {
		path = "/healthz"
	}
	return askHealth(ctx, p, reachable(address), path, token)
}

// reachable is where a server that listens at an address is asked from this machine.
func reachable(address string) string {
	host, port, _ := net.SplitHostPort(address)
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	u := url.URL{Scheme: "http", Host: net.JoinHostPort(host, port)}
	return u.String()
}

// askHealth asks a process and prints what it says. Without a token none is shown.
func askHealth(ctx context.Context, p *program, base, path, token string) error {
	ctx, cancel := context.WithTimeout(ctx, healthPatience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+path, nil)
	if err != nil {
		return err
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := api.Client(api.Service{Origin: base, UserAgent: agent("")}).Do(r)
	if err != nil {
		return fmt.Errorf("no bot answers at %s: start it with familiar run, and FAMILIAR_CONSOLE or FAMILIAR_METRICS set to the same address: %w", base, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil {
		return fmt.Errorf("ask %s: %w", base, err)
	}
	var state metrics.Readiness
	if path == "/readyz" && json.Unmarshal(body, &state) == nil {
		for _, name := range slices.Sorted(maps.Keys(state.Checks)) {
			c := state.Checks[name]
			word := "ok"
			if !c.OK {
				word = "not ready"
			}
			fmt.Fprintln(p.out, strings.TrimRight(fmt.Sprintf("%-8s %s  %s", name, word, c.Reason), " "))
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
