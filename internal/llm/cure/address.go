package cure

import (
	"context"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"familiar/internal/api"
	"familiar/internal/llm"
	"familiar/internal/web/clean"
)

// sibling asks another path of a client's server.
func sibling(c *llm.Client, base string) *llm.Client {
	return &llm.Client{HTTP: c.HTTP, BaseURL: base, Key: c.Key, Redact: c.Redact, IdleTimeout: patience}
}

// wrongAddress explains that no list of models is at the address.
func wrongAddress(ctx context.Context, c *llm.Client, names Names, e *llm.Error) (what, remedy string) {
	setting := or(names.Address, "the address")
	for _, path := range otherPaths(c.BaseURL) {
		if _, err := sibling(c, path).Models(ctx); err == nil {
			return "no model is asked at " + c.BaseURL, fmt.Sprintf("it is at %s: set %s=%s", path, setting, path)
		}
	}
	what = "what answers at " + c.BaseURL + " is no server of models"
	if page := frontPage(ctx, c); page != "" {
		what += ", but " + page
	} else if e.Status != 0 {
		what += status(e)
	}
	return what, "see whether " + setting + " is right, with its version at the end, mostly /v1"
}

// endpoint is what belongs behind the address, and is often set with it.
var endpoint = regexp.MustCompile(`/(chat/completions|completions|models|embeddings)/?$`)

// otherPaths are the addresses that may have been meant.
func otherPaths(base string) (paths []string) {
	base = strings.TrimRight(base, "/")
	if short := endpoint.ReplaceAllString(base, ""); short != base {
		paths = append(paths, short)
		base = short
	}
	if !strings.HasSuffix(base, "/v1") {
		paths = append(paths, base+"/v1")
	}
	if u, err := url.Parse(base); err == nil && u.Path != "" && u.Path != "/v1" {
		u.Path = "/v1"
		paths = append(paths, u.String())
	}
	return paths
}

var title = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)

// frontPage says what listens at the origin of an address, as far as its front page tells.
func frontPage(ctx context.Context, c *llm.Client) string {
	u, err := url.Parse(c.BaseURL)
	if err != nil {
		return ""
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.Scheme+"://"+u.Host+"/", nil)
	if err != nil {
		return ""
	}
	response, err := c.HTTP.Do(request)
	if err != nil {
		return ""
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(response.Body, 16<<10))
	if m := title.FindSubmatch(body); m != nil {
		return fmt.Sprintf("the web site %q", clean.Line(html.UnescapeString(string(m[1])), 60))
	}
	if name := response.Header.Get("Server"); name != "" {
		return fmt.Sprintf("a server that calls itself %q", clean.Line(name, 60))
	}
	return ""
}

// unreachable explains that there is no connection.
func unreachable(c *llm.Client, names Names, e *llm.Error) (what, remedy string) {
	setting, u := or(names.Address, "the address"), api.Host(c.BaseURL)
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(e.Cause, w) {
				return true
			}
		}
		return false
	}
	start := "start the server there, or correct " + setting
	switch {
	case has("connection refused") && strings.HasSuffix(u, ":11434"):
		return "nothing listens at " + u, "start Ollama there (ollama serve), or correct " + setting
	case has("connection refused"):
		return "nothing listens at " + u, start
	case has("no such host", "server misbehaving"):
		return "no host is known by the name " + u, "correct " + setting + ", or see whether this machine has a network"
	case has("server gave HTTP response to HTTPS client"):
		return u + " speaks http and not https", fmt.Sprintf("set %s=%s", setting, strings.Replace(c.BaseURL, "https://", "http://", 1))
	case has("malformed HTTP response"):
		return u + " does not speak http", fmt.Sprintf("perhaps it speaks https: set %s=%s", setting, strings.Replace(c.BaseURL, "http://", "https://", 1))
	case has("certificate", "x509"):
		return "the certificate of " + u + " is not accepted", "its trouble: " + e.Cause
	case has("timeout", "network is unreachable", "no route to host"):
		return u + " cannot be reached from here", "see whether the machine is on and a firewall lets this through, or correct " + setting
	}
	return c.BaseURL + " cannot be reached", start
}
