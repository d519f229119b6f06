package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
)

// homes are the directories in which programs of a user keep their things, each with one for familiar. They are empty where the
// environment does not tell.
type homes struct{ data, config string }

// homesOf reads them from the environment: by https://specifications.freedesktop.org/basedir-spec/latest/ or, on macOS and Windows, where
// programs keep theirs.
func homesOf(env func(string) (string, bool), system string) homes {
	get := func(name string, below ...string) string {
		dir, _ := env(name)
		if !filepath.IsAbs(dir) {
			return ""
		}
		return filepath.Join(append([]string{dir}, below...)...)
	}
	first := func(dirs ...string) string {
		for _, dir := range dirs {
			if dir != "" {
				return dir
			}
		}
		return ""
	}
	switch system {
	case "darwin":
		dir := get("HOME", "Library", "Application Support", "familiar")
		return homes{first(get("XDG_DATA_HOME", "familiar"), dir), first(get("XDG_CONFIG_HOME", "familiar"), dir)}
	case "windows":
		return homes{get("LOCALAPPDATA", "familiar"), get("APPDATA", "familiar")}
	}
	return homes{
		first(get("XDG_DATA_HOME", "familiar"), get("HOME", ".local", "share", "familiar")),
		first(get("XDG_CONFIG_HOME", "familiar"), get("HOME", ".config", "familiar")),
	}
}

// defaultPlace is the preset of the settings that name directories: the one here where there is one, and in a clone of the project; else that
// of the user.
func defaultPlace(setting, preset string, env func(string) (string, bool), dir string) string {
	own := map[string]string{"FAMILIAR_DATA": homesOf(env, runtime.GOOS).data, "FAMILIAR_CHARACTERS": inHome(env, "characters")}[setting]
	if own == "" || isDir(filepath.Join(dir, preset)) || isClone(dir) {
		return preset
	}
	return own
}

// dotenvPlace is the directory of the file .env that counts: the one here or, without one here, that of the user.
func dotenvPlace(env func(string) (string, bool), dir string) string {
	own := homesOf(env, runtime.GOOS).config
	if own == "" || exists(filepath.Join(dir, ".env")) || !exists(filepath.Join(own, ".env")) {
		return dir
	}
	return own
}

func inHome(env func(string) (string, bool), name string) string {
	if own := homesOf(env, runtime.GOOS).config; own != "" {
		return filepath.Join(own, name)
	}
	return ""
}

func isClone(dir string) bool {
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	return err == nil && bytes.HasPrefix(mod, []byte("module familiar\n"))
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
