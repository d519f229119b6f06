// Package cure says why a model's server does not answer as it should, and what its operator should check: the key, the model's name,
// the address and what listens there. It may ask the server for that, for its list of models or for its front page.
//
//   - cure.go explains a failure.
//   - address.go looks at an address that does not speak the protocol.
package cure

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"familiar/internal/llm"
	"familiar/internal/text"
)

// Names say where the settings of a client come from: variables of the environment, or keys of a file. An empty one has no setting.
type Names struct{ Address, Key, Model string }

// Finding is why a model did not answer. It holds no secret.
type Finding struct {
	Text string // what is so
	Cure string // what to check or to do about it; empty where nothing helps
}

// String is a finding on one line.
func (f Finding) String() string {
	if f.Cure == "" {
		return f.Text
	}
	return f.Text + ": " + f.Cure
}

// patience is how long a server is asked for what explains its failure.
const patience = 3 * time.Second

// Of explains the error of a request to a model. An error that is no [*llm.Error] has no explanation, and nil is returned.
func Of(ctx context.Context, c *llm.Client, names Names, err error) *Finding {
	var e *llm.Error
	if !errors.As(err, &e) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	f := &Finding{}
	switch e.Kind {
	case llm.Unauthorized:
		f.Text, f.Cure = unauthorized(c, names, e)
	case llm.NoModel, llm.NotOpenAI:
		f.Text, f.Cure = wrongName(ctx, c, names, e)
	case llm.ContextTooLong:
		f.Text = fmt.Sprintf("the prompt does not fit into the context of %s", e.Model)
		f.Cure = "give the model a longer one (Ollama: OLLAMA_CONTEXT_LENGTH=16384, llama.cpp: --ctx-size 16384), or lower total of the mode in character.toml"
	case llm.Unreachable:
		f.Text, f.Cure = unreachable(c, names, e)
	case llm.Quota:
		f.Text, f.Cure = c.BaseURL+" says that what may be used is used up", "look at the account that "+or(names.Key, "the key")+" belongs to"
	case llm.RateLimited:
		f.Text, f.Cure = c.BaseURL+" asks for fewer requests", "wait, or lower FAMILIAR_MODEL_REQUESTS"
	case llm.Timeout:
		f.Text = strings.TrimPrefix(fmt.Sprintf("%s at %s was silent for too long", e.Model, c.BaseURL), " at ")
		f.Cure = "a slow machine may need a minute to load its model: FAMILIAR_FIRST_WORD=2m"
	case llm.Server:
		f.Text, f.Cure = c.BaseURL+" failed by itself"+status(e), "look at its log"
	case llm.Rejected:
		f.Text, f.Cure = c.BaseURL+" does not accept the request"+status(e), "its words: "+e.Cause
	default: // the model's own doing
		return nil
	}
	return f
}

func unauthorized(c *llm.Client, names Names, e *llm.Error) (what, remedy string) {
	switch {
	case c.Key == "":
		return c.BaseURL + " wants a key, and there is none", "set " + or(names.Key, "a key")
	case e.Status == 403:
		return c.BaseURL + " does not let this key do that" + status(e), "see whether the account behind " + or(names.Key, "the key") + " may use the model " + e.Model
	}
	return c.BaseURL + " refuses the key" + status(e), "see whether " + or(names.Key, "the key") + " is complete, still valid, and of this server" + address(names)
}

// wrongName explains a 404, which may mean the model's name or the path.
func wrongName(ctx context.Context, c *llm.Client, names Names, e *llm.Error) (what, remedy string) {
	list, err := sibling(c, c.BaseURL).Models(ctx)
	if err != nil {
		return wrongAddress(ctx, c, names, e)
	}
	if e.Kind == llm.NotOpenAI {
		return "what answers at " + c.BaseURL + " lists models and does not chat", "its words: " + e.Cause
	}
	if slices.Contains(list, e.Model) {
		return fmt.Sprintf("%s lists the model %s and does not let it answer", c.BaseURL, e.Model), "its words: " + e.Cause
	}
	return fmt.Sprintf("%s has no model %s", c.BaseURL, e.Model), choice(names, e.Model, list)
}

// mostNames is how many models of a server's list are named.
const mostNames = 8

// choice says which models there are, the nearest first.
func choice(names Names, wanted string, list []string) string {
	setting := or(names.Model, "the model's name")
	if len(list) == 0 {
		return "it has none at all: load one there (ollama pull " + wanted + ")"
	}
	if near := nearest(wanted, list); near != "" {
		return fmt.Sprintf("did you mean %s=%s?", setting, near)
	}
	more := ""
	if len(list) > mostNames {
		more = fmt.Sprintf(" and %d more", len(list)-mostNames)
		list = list[:mostNames]
	}
	return "set " + setting + " to one that it has: " + strings.Join(list, ", ") + more
}

// nearest is the model that was probably meant: one that differs by what stands behind a colon or before a slash, or by a typo.
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

func or(name, otherwise string) string {
	if name == "" {
		return otherwise
	}
	return name
}
