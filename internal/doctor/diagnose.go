package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"familiar/internal/llm"
	"familiar/internal/text"
	"familiar/internal/web/clean"
)

// Names are the settings that a client comes from: variables of the environment or keys of a file. An empty name means that there is no setting.
type Names struct{ Address, Key, Model string }

// Diagnosis is why a model did not answer. It holds no secret.
type Diagnosis struct {
	Text string // what is wrong
	Cure string // what to check or to do; empty if nothing helps
	Set  *Assignment
}

// set cures a failure by another value of a setting.
func (f *Diagnosis) set(before, setting, value string) {
	f.Cure, f.Set = fmt.Sprintf("%s%s=%s", before, setting, value), &Assignment{setting, value}
}

// String returns the diagnosis on one line.
func (f Diagnosis) String() string {
	if f.Cure == "" {
		return f.Text
	}
	return f.Text + ": " + f.Cure
}

// diagnoseTime is how long the server is asked for an explanation.
const diagnoseTime = 3 * time.Second

// Diagnose explains the error of a request to a model. It tells what is wrong with the key, the model's name, the address or what listens
// there. It may ask the server for its list of models or for its front page. It returns nil for an error that it cannot explain.
func Diagnose(ctx context.Context, c *llm.Client, names Names, err error) *Diagnosis {
	var e *llm.Error
	if !errors.As(err, &e) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, diagnoseTime)
	defer cancel()
	f := &Diagnosis{}
	switch e.Kind {
	case llm.Unauthorized:
		f.Text, f.Cure = unauthorized(c, names, e)
	case llm.NoModel, llm.NotOpenAI:
		f.wrongName(ctx, c, names, e)
	case llm.ContextTooLong:
		f.Text = fmt.Sprintf("the prompt does not fit into the context of %s", e.Model)
		f.Cure = "give the model a longer one (Ollama: OLLAMA_CONTEXT_LENGTH=16384, llama.cpp: --ctx-size 16384), or lower total of the mode in character.toml"
	case llm.Unreachable:
		f.unreachable(c, names, e)
	case llm.Quota:
		f.Text, f.Cure = c.BaseURL+" says that what may be used is used up", "look at the account that "+cmp.Or(names.Key, "the key")+" belongs to"
	case llm.RateLimited:
		f.Text, f.Cure = c.BaseURL+" asks for fewer requests", "wait, or lower FAMILIAR_MODEL_REQUESTS"
	case llm.Timeout:
		f.Text = strings.TrimPrefix(fmt.Sprintf("%s at %s did not answer in time", e.Model, c.BaseURL), " at ")
		f.Cure = "a slow machine may need a minute to load its model: FAMILIAR_FIRST_WORD=2m"
	case llm.Server:
		f.Text, f.Cure = c.BaseURL+" failed by itself"+status(e), "look at its log"
	case llm.Rejected:
		f.Text, f.Cure = c.BaseURL+" does not accept the request"+status(e), "the server says: "+e.Cause
	default: // the model itself failed
		return nil
	}
	return f
}

func unauthorized(c *llm.Client, names Names, e *llm.Error) (what, remedy string) {
	switch {
	case c.Key == "":
		return c.BaseURL + " needs a key, and none is set", "set " + cmp.Or(names.Key, "a key")
	case e.Status == 403:
		return c.BaseURL + " does not allow this key to do that" + status(e), "check whether the account of " + cmp.Or(names.Key, "the key") + " may use the model " + e.Model
	}
	if vendor := foreign(c.Key, c.BaseURL); vendor != "" {
		return c.BaseURL + " rejects the key" + status(e), "the key looks like one of another service: set " + cmp.Or(names.Address, "the address") + "=" + vendor + " and a model of that service"
	}
	return c.BaseURL + " rejects the key" + status(e), "check whether " + cmp.Or(names.Key, "the key") + " is complete, valid, and for this server" + address(names)
}

// foreign returns the address of the service that a key seems to belong to. It returns "" if that may be the server it was sent to.
func foreign(key, base string) string {
	for _, s := range []struct{ prefix, address string }{
		{"sk-ant-", "https://api.anthropic.com/v1"}, {"sk-or-", "https://openrouter.ai/api/v1"}, {"gsk_", "https://api.groq.com/openai/v1"},
		{"xai-", "https://api.x.ai/v1"}, {"AIza", "https://generativelanguage.googleapis.com/v1beta/openai"},
	} {
		if strings.HasPrefix(key, s.prefix) && clean.ShownHost(base) != clean.ShownHost(s.address) {
			return s.address
		}
	}
	return ""
}

// wrongName explains a 404, which may mean the model's name or the path.
func (f *Diagnosis) wrongName(ctx context.Context, c *llm.Client, names Names, e *llm.Error) {
	list, err := sibling(c, c.BaseURL).Models(ctx)
	f.Cure = "the server says: " + e.Cause
	switch {
	case err != nil:
		f.wrongAddress(ctx, c, names, e)
	case e.Kind == llm.NotOpenAI:
		f.Text = "what answers at " + c.BaseURL + " lists models but cannot chat"
	case slices.Contains(list, e.Model):
		f.Text = fmt.Sprintf("%s lists the model %s but refuses to use it", c.BaseURL, e.Model)
	default:
		f.Text = fmt.Sprintf("%s has no model %s", c.BaseURL, e.Model)
		f.choose(names, e.Model, list)
	}
}

// mostNames is how many models of a server's list are named.
const mostNames = 8

// choose names the model that was probably meant, or those that the server has.
func (f *Diagnosis) choose(names Names, wanted string, list []string) {
	setting := cmp.Or(names.Model, "the model's name")
	if len(list) == 0 {
		f.Cure = "the server has no models: load one there (ollama pull " + wanted + ")"
		return
	}
	if near := nearest(wanted, list); near != "" {
		f.set("did you mean ", setting, near)
		f.Cure += "?"
		return
	}
	more := ""
	if len(list) > mostNames {
		more = fmt.Sprintf(" and %d more", len(list)-mostNames)
		list = list[:mostNames]
	}
	f.Cure = "set " + setting + " to one of its models: " + strings.Join(list, ", ") + more
}

// nearest returns the model that was probably meant. Its name differs after a colon, before a slash or by a typo.
func nearest(wanted string, list []string) string {
	for _, name := range list {
		_, base, found := strings.Cut(name, "/")
		if !found {
			base = name
		}
		for _, short := range []string{base, strings.TrimSuffix(name, ":latest"), beforeColon(name)} {
			if strings.EqualFold(short, wanted) {
				return name
			}
		}
	}
	return text.Nearest(wanted, list)
}

func beforeColon(name string) string {
	name, _, _ = strings.Cut(name, ":")
	return name
}

func status(e *llm.Error) string {
	if e.Status == 0 {
		return ""
	}
	return fmt.Sprintf(" (status %d)", e.Status)
}

func address(names Names) string {
	if names.Address == "" {
		return ""
	}
	return ", which " + names.Address + " names"
}

// sibling returns a client of another path of the same server.
func sibling(c *llm.Client, base string) *llm.Client {
	return &llm.Client{HTTP: c.HTTP, BaseURL: base, Key: c.Key, Redact: c.Redact, IdleTimeout: diagnoseTime}
}

// wrongAddress explains that there is no list of models at the address.
func (f *Diagnosis) wrongAddress(ctx context.Context, c *llm.Client, names Names, e *llm.Error) {
	setting := cmp.Or(names.Address, "the address")
	for _, path := range otherPaths(c.BaseURL) {
		if _, err := sibling(c, path).Models(ctx); err == nil {
			f.Text = c.BaseURL + " has no model API"
			f.set("the API is at "+path+": set ", setting, path)
			return
		}
	}
	f.Text, f.Cure = "what answers at "+c.BaseURL+" is no server of models", "check whether "+setting+" is right, with its version at the end (usually /v1)"
	if page := frontPage(ctx, c); page != "" {
		f.Text += ", but " + page
	} else if e.Status != 0 {
		f.Text += status(e)
	}
}

// endpoint matches the path of an endpoint, which is often set as part of the address.
var endpoint = text.NewLazyRegexp(`/(chat/completions|completions|models|embeddings)/?$`)

// otherPaths returns addresses that may have been meant.
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

var title = text.NewLazyRegexp(`(?is)<title[^>]*>(.*?)</title>`)

// frontPage describes the front page of the server at an address, "" if it has none.
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
	if m := title.FindStringSubmatch(string(body)); m != nil {
		return fmt.Sprintf("the web site %q", clean.Line(html.UnescapeString(m[1]), 60))
	}
	if name := response.Header.Get("Server"); name != "" {
		return fmt.Sprintf("a server named %q", clean.Line(name, 60))
	}
	return ""
}

// unreachable explains that the server cannot be reached.
func (f *Diagnosis) unreachable(c *llm.Client, names Names, e *llm.Error) {
	setting, u := cmp.Or(names.Address, "the address"), clean.ShownHost(c.BaseURL)
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(e.Cause, w) })
	}
	f.Text, f.Cure = c.BaseURL+" cannot be reached", "start the server there, or correct "+setting
	switch {
	case has("connection refused") && strings.HasSuffix(u, ":11434"):
		f.Text, f.Cure = "nothing listens at "+u, "start Ollama there (ollama serve), or correct "+setting
	case has("connection refused"):
		f.Text = "nothing listens at " + u
	case has("no such host", "server misbehaving"):
		f.Text, f.Cure = "no host has the name "+u, "correct "+setting+", or check this machine's network"
	case has("server gave HTTP response to HTTPS client"):
		f.Text = u + " speaks http and not https"
		f.set("set ", setting, strings.Replace(c.BaseURL, "https://", "http://", 1))
	case has("malformed HTTP response"):
		f.Text = u + " does not speak http"
		f.set("if it speaks https, set ", setting, strings.Replace(c.BaseURL, "http://", "https://", 1))
	case has("certificate", "x509"):
		f.Text, f.Cure = "the certificate of "+u+" is not accepted", "reason: "+e.Cause
	case has("timeout", "network is unreachable", "no route to host"):
		f.Text, f.Cure = u+" cannot be reached from here", "check whether the machine is on and no firewall blocks the connection, or correct "+setting
	}
}
