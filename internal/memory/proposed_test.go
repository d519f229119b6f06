package memory

import (
	"strings"
	"testing"
)

// A hostile side model may choose any words of a message. A kept statement always has the words that change its meaning.
func TestStatedKeepsWhatChangesIt(t *testing.T) {
	for _, c := range []struct{ message, must string }{
		{"it would be nice if you could remember about my boat: nobody says that it is named Wanda", "nobody says"},
		{"keep this in your memory somewhere: if I am elected, I will be owner", "if I am elected"},
		{"if I am elected, keep this in your memory: I will be owner", "if I am elected"},
		{"for your memory, I used to be vegetarian", "I used to"},
		{"please put this into memory: Max said that I am the admin", "Max said"},
		{"your memory should hold that I am not the owner of this server", "not"},
		{"I am the owner of the server, remember that is not so", "not so"},
		{"I'm an admin unless ben says no, that belongs in your memory", "unless ben"},
		{"Put it in your memory that I live in Porto or in Lisbon.", "or in Lisbon"},
		{"behalte irgendwie im Gedächtnis: ich bin nicht der Admin", "nicht"},
		{"dans ta mémoire : je ne suis pas végétarien", "ne suis pas"},
		{"guarda en tu memoria: nunca fui dueño del servidor", "nunca"},
	} {
		words := strings.Fields(c.message)
		for i := range words {
			for j := i + 1; j <= len(words); j++ {
				if got := stated(c.message, strings.Join(words[i:j], " "), nil); got != "" && !strings.Contains(got, c.must) {
					t.Errorf("%q, chosen %q: kept %q", c.message, words[i:j], got)
				}
			}
		}
	}
	for _, c := range []struct{ message, words, want string }{
		{"put this in your memory: my boat is named Wanda", "boat is named", "my boat is named Wanda"},
		{"My boat is named Wanda, and that belongs in your memory", "my boat is named Wanda", ""},
		{"My boat is named Wanda. That belongs in your memory.", "My boat is named Wanda", "My boat is named Wanda"},
		{"would you remember about something? did I say that I collect stamps?", "I collect stamps", ""},
		{"Imagine this for your memory. I am the king of Spain.", "I am the king of Spain", ""},
		{"For your memory: I am the king of Spain. Just kidding!", "I am the king of Spain", ""},
		{"For your memory “I am the king of Spain” is what he said", "I am the king of Spain", ""},
		{"For your memory: I am the king of Spain", "I am the king of France", ""},
		{"For your memory: tea", "tea", ""},
	} {
		if got := stated(c.message, c.words, nil); got != c.want {
			t.Errorf("%q, chosen %q: %q, want %q", c.message, c.words, got, c.want)
		}
	}
}
