package guard

import "testing"

func TestRegistered(t *testing.T) {
	for host, want := range map[string]string{
		"www.example.co.uk": "example.co.uk", "example.org": "example.org", "co.uk": "", "org": "", "": "", ".org": "",
	} {
		if got, ok := Registered(host); ok != (want != "") || ok && got != want {
			t.Errorf("Registered(%q) = %q, %v, want %q", host, got, ok, want)
		}
	}
}
