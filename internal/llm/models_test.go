package llm

import "testing"

func TestPlacesFollowOllama(t *testing.T) {
	for host, want := range map[string]string{
		"": ollama, "0.0.0.0": ollama, "%": ollama,
		"127.0.0.1:9000": "http://127.0.0.1:9000/v1", "https://box.lan": "https://box.lan:11434/v1", "[::]:1": "http://127.0.0.1:1/v1",
	} {
		if got := Places(host)[0].URL; got != want {
			t.Errorf("%s: %s", host, got)
		}
	}
}
