package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAmendDotenv(t *testing.T) {
	const old = "# my bot\nexport DISCORD_TOKEN=old # it was reset\n\nPROMPT=\"two\nDISCORD_TOKEN=lines\"\n#OPENAI_MODEL=x\nDISCORD_TOKEN=older"
	got, err := amendDotenv(old, []Assignment{{"DISCORD_TOKEN", "new"}, {"OPENAI_MODEL", "a b#c"}, {"OPENAI_API_KEY", `x$HOME"y`}})
	want := "# my bot\nexport DISCORD_TOKEN=new # it was reset\n\nPROMPT=\"two\nDISCORD_TOKEN=lines\"\n#OPENAI_MODEL=x\n# Written by familiar init:\nOPENAI_MODEL='a b#c'\nOPENAI_API_KEY='x$HOME\"y'\n"
	if err != nil || got != want {
		t.Errorf("%v\n%s", err, got)
	}
	if got, err := amendDotenv(byteOrder+"OPENAI_MODEL=x\n", []Assignment{{"OPENAI_MODEL", "y"}}); err != nil || got != "OPENAI_MODEL=y\n" {
		t.Errorf("after a byte order mark: %v\n%s", err, got)
	}
	if _, err := amendDotenv("", []Assignment{{"OPENAI_API_KEY", "it's a 'quoted' one"}}); err == nil || strings.Contains(err.Error(), "quoted") || !strings.Contains(err.Error(), "OPENAI_API_KEY_FILE") {
		t.Errorf("a value that cannot be written: %v", err)
	}
	if _, err := amendDotenv("not a line\n", []Assignment{{"OPENAI_MODEL", "x"}}); err == nil {
		t.Error("a .env that cannot be read is changed")
	}
}

// A .env that cannot be one is not read into memory.
func TestAHugeDotenvIsRefused(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, ".env")
	if err := os.WriteFile(path, []byte("A=b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 200<<20); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadDotenv(path); err == nil || !strings.Contains(err.Error(), "not a list of settings") {
		t.Errorf("%v", err)
	}
}
