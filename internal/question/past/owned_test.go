package past

import (
	"testing"
	"time"
)

func TestOwned(t *testing.T) {
	for message, want := range map[string]string{
		"what colour is my bike?": "bike", "what is my bike like?": "bike", "whats my cats name": "cats", "how old is my dog?": "dog", "when is my exam": "exam",
		"welche Farbe hat mein Fahrrad?": "fahrrad", "de quelle couleur est mon vélo ?": "velo", "¿de qué color es mi bici?": "bici", "di che colore è la mia bici?": "bici",
		"what is the best food and drink for my dog in winter?": "", "how high is the tower?": "", "my bike is red": "",
	} {
		if got := Read(request(message), time.Now()).Owned; got != want {
			t.Errorf("%q: %q, want %q", message, got, want)
		}
	}
}
