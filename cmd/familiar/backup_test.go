package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"familiar/internal/forget"
	"familiar/internal/memory"
	"familiar/internal/store"
	"familiar/internal/trace"
)

// TestBackupWhileItRuns: the copy has what was said before it, the bot goes on, and the store knows its time.
func TestBackupWhileItRuns(t *testing.T) {
	t.Parallel()
	c := newConversation(t, txtar.Parse([]byte("-- model --\nsay Hello.\n")))
	c.process()
	first := c.discord.Say("general", "ana", "@familiar are you there?")
	c.hear0(first)
	file := filepath.Join(c.dir, "copy.db")
	code, out, complaint := c.command(nil, "backup", file)
	if code != exitOK || !strings.Contains(out, "in order") {
		t.Fatalf("exit code %d: %s%s", code, out, complaint)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the copy: %v, %v", info, err)
	}
	code, _, complaint = c.command(nil, "restore", file)
	if code != exitFailed || !strings.Contains(complaint, "in use by process") {
		t.Errorf("restore beside a running bot: exit code %d, %s", code, complaint)
	}
	c.hear0(c.discord.Say("general", "ana", "@familiar and now?"))

	db, err := store.Look(t.Context(), filepath.Join(c.dir, "data"))
	c.must(err)
	defer db.Close()
	if at, err := db.LastBackup(t.Context()); err != nil || time.Since(at) > time.Minute {
		t.Errorf("last backup %v, %v", at, err)
	}
	c.env["FAMILIAR_DATA"] = filepath.Join(c.dir, "restored")
	if code, out, err := c.command(nil, "restore", file); code != exitOK {
		t.Fatalf("restore: %s%s", out, err)
	}
	if _, out, _ := c.command(nil, "trace"); !strings.Contains(out, "are you there") || strings.Contains(out, "and now") {
		t.Errorf("the copy has\n%s", out)
	}
}

const most = 6 // megabytes, a message each

// TestKillCopies kills backups and restores at many moments: the file is then the earlier one or the new one, whole.
func TestKillCopies(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	fillStore(t, data, "old", most)
	file := filepath.Join(dir, "copy.db")
	ctx := t.Context()
	if _, err := store.Backup(ctx, data, file, false, time.Now()); err != nil {
		t.Fatal(err)
	}
	fillStore(t, data, "new", most)
	killed := 0
	for round := 0; round < 6 || killed < 3; round++ { // on a busy machine more than a few end before they can be killed
		if round == 60 {
			t.Fatalf("only %d were killed before their end", killed)
		}
		args := []string{"backup", "--force", file}
		if round%2 == 1 {
			args = []string{"restore", file}
		}
		cmd := exec.Command("familiar", args...)
		cmd.Dir, cmd.Env = dir, []string{"FAMILIAR_DATA=" + data, withoutSleep}
		var said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &said, &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() { cmd.Wait(); close(ended) }()
		for copied := false; !copied; { // until some of the copy is there, more in each round
			select {
			case <-ended:
				copied = true
			case <-time.After(time.Millisecond):
				copied = partialBytes(dir) > int64(round%6)<<20
			}
		}
		cmd.Process.Kill()
		<-ended
		if !cmd.ProcessState.Exited() {
			killed++
		} else if !cmd.ProcessState.Success() {
			t.Fatalf("%v: %s", args, &said)
		}
		for _, of := range []string{data, file} {
			if words := wordsIn(t, of); words != "old" && words != "new" {
				t.Fatalf("after %v was killed %s has %q", args, of, words)
			}
		}
		for _, left := range partials(dir) {
			os.Remove(left)
		}
	}
}

// fillStore makes a store of some megabytes, all of whose messages say the same.
func fillStore(t *testing.T, data, word string, megabytes int) {
	t.Helper()
	db, err := store.Open(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	text := word + strings.Repeat(".", 1<<20) // one word, for the index
	for i := range megabytes {
		m := store.Message{ID: fmt.Sprint(1000 + i), ChannelID: "1", AuthorID: "2", AuthorName: "Ana", Text: text, At: time.Unix(int64(i), 0)}
		if err := db.Messages.Save(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
}

// wordsIn is the word that all messages of a store, or of a backup, say. The store is looked at as the program opens it.
func wordsIn(t *testing.T, of string) string {
	t.Helper()
	dir := of
	if strings.HasSuffix(of, ".db") {
		dir = t.TempDir()
		if _, err := store.Restore(context.Background(), dir, of, time.Now(), nil); err != nil {
			t.Fatal(err)
		}
	}
	db, err := store.Open(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	recent, err := db.Messages.Recent(context.Background(), "1", 100)
	if err != nil || len(recent) != most {
		t.Fatalf("%s: %d messages, %v", of, len(recent), err)
	}
	for _, m := range recent {
		if m.Text != recent[0].Text {
			return "a mixture"
		}
	}
	return strings.Trim(recent[0].Text, ".")
}

func partials(dirs ...string) (all []string) {
	for _, dir := range dirs {
		for _, in := range []string{"*.partial", "*/*.partial"} {
			found, _ := filepath.Glob(filepath.Join(dir, in))
			all = append(all, found...)
		}
	}
	return all
}

func partialBytes(dir string) (n int64) {
	for _, path := range partials(dir) {
		if info, err := os.Stat(path); err == nil {
			n += info.Size()
		}
	}
	return n
}

// TestRestoreForgetsAgain checks that a backup does not bring back, to the byte, people who were forgotten after it. People who
// have opted out since then stay opted out.
func TestRestoreForgetsAgain(t *testing.T) {
	t.Parallel()
	c := newConversation(t, &txtar.Archive{})
	data, file := filepath.Join(c.dir, "data"), filepath.Join(c.dir, "copy.db")
	ctx := t.Context()
	opened := func(do func(*trace.Store) error) {
		t.Helper()
		db, err := store.Open(ctx, data)
		c.must(err)
		c.must(errors.Join(do(&trace.Store{DB: db}), db.Close()))
	}
	said := func(id, name, text string) store.Message {
		return store.Message{ID: id, GuildID: "9", ChannelID: "1", AuthorID: id + "00", AuthorName: name, Text: text, At: time.Now().Add(-time.Hour)}
	}
	holds := func(words string) bool {
		t.Helper()
		for _, name := range []string{"familiar.db", "familiar.db-wal"} {
			if b, err := os.ReadFile(filepath.Join(data, name)); err == nil && bytes.Contains(b, []byte(words)) {
				return true
			}
		}
		return false
	}
	opened(func(s *trace.Store) error {
		return s.DB.Messages.Save(ctx, said("1", "Ana", "the marmalade is in the attic"), said("2", "Ben", "the lantern is in the cellar"))
	})
	if code, _, complaint := c.command(nil, "backup", file); code != exitOK {
		t.Fatal(complaint)
	}
	opened(func(s *trace.Store) error {
		_, err := (&forget.Forgetter{Traces: s, Memories: memory.New(s.DB)}).Person(ctx, "100", false, time.Now())
		return errors.Join(err, s.DB.Privacy.OptOut(ctx, "300", true, time.Now()))
	})
	if holds("marmalade") || !holds("lantern") {
		t.Fatal("before anything is restored she is not forgotten, or he is")
	}
	code, out, complaint := c.command(nil, "restore", file)
	if code != exitOK || complaint != "" || !strings.Contains(out, "Forgotten again: 1,") {
		t.Errorf("exit code %d: %s%s", code, out, complaint)
	}
	if holds("marmalade") || holds("Ana") || !holds("lantern") {
		t.Error("she has come back, or he has not")
	}
	c.killOnceInPlace(file, data)
	if holds("marmalade") || !holds("lantern") {
		t.Error("killed once the backup was in its place: she has come back, or he has not")
	}
	opened(func(s *trace.Store) error {
		standing, err := s.DB.Privacy.Standing(ctx, "300")
		if standing.OptedOut.IsZero() {
			t.Error("who has opted out has not any more")
		}
		return err
	})
	if _, err := os.Stat(filepath.Join(data, "familiar.restoring")); err == nil {
		t.Error("what was killed has left a copy behind the next start")
	}
	whole, err := os.ReadFile(filepath.Join(data, "familiar.db"))
	c.must(err)
	c.must(os.WriteFile(filepath.Join(data, "familiar.db"), whole[:4096], 0o600))
	if code, _, complaint := c.command(nil, "restore", file); code != exitOK || !strings.Contains(complaint, "familiar erase USER") {
		t.Errorf("over a damaged one: exit code %d, %s", code, complaint)
	}
}

// killOnceInPlace kills a restore at the moment at which the database is another file.
func (c *conversation) killOnceInPlace(file, data string) {
	c.Helper()
	at := filepath.Join(data, "familiar.db")
	before, err := os.Stat(at)
	c.must(err)
	cmd := exec.Command("familiar", "restore", file)
	cmd.Dir, cmd.Env = c.dir, []string{"FAMILIAR_DATA=" + data, withoutSleep}
	c.must(cmd.Start())
	for until := time.Now().Add(20 * time.Second); time.Now().Before(until); {
		if now, err := os.Stat(at); err == nil && !os.SameFile(before, now) {
			break
		}
	}
	cmd.Process.Kill()
	cmd.Wait()
	if now, err := os.Stat(at); err != nil || os.SameFile(before, now) {
		c.Error("nothing was restored", err)
	}
}
