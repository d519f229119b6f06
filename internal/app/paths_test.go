package app

import (
	"path/filepath"
	"testing"
)

// TestHomes reads where a user's things are from the environment of each system.
func TestHomes(t *testing.T) {
	root := t.TempDir() // an absolute path of this system
	at := func(parts ...string) string { return filepath.Join(append([]string{root}, parts...)...) }
	for _, test := range []struct {
		system string
		env    map[string]string
		want   homes
	}{
		{"linux", map[string]string{"HOME": root}, homes{at(".local", "share", "familiar"), at(".config", "familiar")}},
		{"linux", map[string]string{"HOME": root, "XDG_DATA_HOME": at("d"), "XDG_CONFIG_HOME": at("c")}, homes{at("d", "familiar"), at("c", "familiar")}},
		{"linux", map[string]string{"HOME": root, "XDG_DATA_HOME": "relative"}, homes{at(".local", "share", "familiar"), at(".config", "familiar")}},
		{"linux", nil, homes{}},
		{"darwin", map[string]string{"HOME": root}, homes{at("Library", "Application Support", "familiar"), at("Library", "Application Support", "familiar")}},
		{"windows", map[string]string{"LOCALAPPDATA": at("l"), "APPDATA": at("r")}, homes{at("l", "familiar"), at("r", "familiar")}},
	} {
		got := homesOf(func(name string) (string, bool) { v, ok := test.env[name]; return v, ok }, test.system)
		if got != test.want {
			t.Errorf("%s %v: %+v, want %+v", test.system, test.env, got, test.want)
		}
	}
}
