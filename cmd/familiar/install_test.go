package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestInstallScript installs a release from a server and from a directory. It refuses one whose checksum is wrong or missing.
func TestInstallScript(t *testing.T) {
	if _, err := exec.LookPath("curl"); runtime.GOOS == "windows" || err != nil {
		t.Skip("the script is for systems with sh and curl")
	}
	t.Parallel()
	release := t.TempDir()
	name := fmt.Sprintf("familiar_0.0.1_%s_%s", runtime.GOOS, runtime.GOARCH)
	var archive bytes.Buffer
	zipped := gzip.NewWriter(&archive)
	files := tar.NewWriter(zipped)
	const program = "#!/bin/sh\necho version 0.0.1\n"
	if err := files.WriteHeader(&tar.Header{Name: name + "/familiar", Mode: 0o755, Size: int64(len(program))}); err != nil {
		t.Fatal(err)
	}
	files.Write([]byte(program))
	files.Close()
	zipped.Close()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(release, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(name+".tar.gz", archive.String())
	right := fmt.Sprintf("%x  %s.cdx.json\n%x  %s.tar.gz\n", sha256.Sum256(nil), name, sha256.Sum256(archive.Bytes()), name)
	server := httptest.NewServer(http.FileServer(http.Dir(release)))
	defer server.Close()
	for of, c := range map[string]struct{ from, version, checksums, want string }{
		"a server":           {server.URL, "", right, "version 0.0.1\n"},
		"a directory":        {release, "0.0.1", right, "version 0.0.1\n"},
		"a wrong checksum":   {server.URL, "", strings.Replace(right, "  "+name+".tar", "0  "+name+".tar", 1), "the checksum of " + name + ".tar.gz is wrong: nothing was installed"},
		"no checksum":        {server.URL, "", "", "names no archive for"},
		"another version":    {server.URL, "0.0.2", right, "of version 0.0.2"},
		"nothing there":      {server.URL + "/none", "", right, "checksums.txt cannot be had from"},
		"nowhere to look at": {"", "", right, "say where the release is"},
	} {
		write("checksums.txt", c.checksums)
		into := t.TempDir()
		command := exec.Command("sh", "../../install.sh")
		command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "FROM=" + c.from, "VERSION=" + c.version, "INTO=" + into}
		out, err := command.CombinedOutput()
		installed, _ := filepath.Glob(filepath.Join(into, "*"))
		works := strings.HasPrefix(c.want, "version")
		if !strings.Contains(string(out), c.want) || (err == nil) != works || (len(installed) == 1) != works {
			t.Errorf("from %s: %v, %v:\n%s", of, err, installed, out)
		}
	}
}
