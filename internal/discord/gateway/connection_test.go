package gateway

import (
	"strings"
	"testing"

	"familiar/internal/discord/rest"
)

// TestKeepsOut checks that the gateway's address cannot turn an encrypted connection into an unencrypted one.
func TestKeepsOut(t *testing.T) {
	t.Parallel()
	g := New(Config{REST: &rest.Client{Config: rest.Config{Base: "https://discord.com/api/v10"}}})
	for _, address := range []string{"ws://127.0.0.1:1", "http://127.0.0.1:1", "://"} {
		if _, err := g.dial(t.Context(), address, helloLimit); err == nil || !strings.Contains(err.Error(), "wss") {
			t.Errorf("%s: %v", address, err)
		}
	}
}
