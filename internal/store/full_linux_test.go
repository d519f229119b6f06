package store

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestRealFullDisk fills a small disk and frees space again. The same store goes on, and nothing acknowledged is lost.
func TestRealFullDisk(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "STORE_TEST_DISK="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if text := string(out); strings.HasPrefix(text, "no disk") || err != nil && len(out) == 0 {
		t.Skipf("cannot make a disk of its own here: %s %v", text, err)
	}
	if err != nil || string(out) != "ok\n" {
		t.Errorf("%v\n%s", err, out)
	}
}

// smallDisk is the test binary in a process with a disk of its own.
func smallDisk(dir string) {
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=3m"); err != nil {
		fmt.Println("no disk:", err)
		return
	}
	if err := fillAndFree(dir); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("ok")
}

func fillAndFree(dir string) error {
	ctx := context.Background()
	db, err := Open(ctx, filepath.Join(dir, "data"))
	if err != nil {
		return err
	}
	defer db.Close()
	ballast := filepath.Join(dir, "ballast")
	saved, refusals := 0, 0
	save := func() error {
		err := db.Messages.Save(ctx, Message{ID: fmt.Sprint(saved), ChannelID: "c", Text: strings.Repeat("x", 3000), At: time.Now()})
		if err == nil {
			saved++
		}
		return err
	}
	for range 3 {
		if err := save(); err != nil {
			return fmt.Errorf("with room: %w", err)
		}
		f, err := os.Create(ballast)
		if err != nil {
			return err
		}
		for b := make([]byte, 4096); err == nil; { // until the disk is full
			_, err = f.Write(b)
		}
		f.Close()
		for range 200 {
			if err := save(); kind(err) == Full {
				refusals++
			} else if err != nil {
				return fmt.Errorf("on a full disk: %w", err)
			}
		}
		if err := os.Remove(ballast); err != nil {
			return err
		}
		if err := save(); err != nil {
			return fmt.Errorf("with room again: %w", err)
		}
	}
	if refusals == 0 {
		return fmt.Errorf("the disk was never full")
	}
	all, err := db.Messages.Recent(ctx, "c", 10_000)
	if err != nil || len(all) != saved {
		return fmt.Errorf("%d of %d messages are there: %w", len(all), saved, err)
	}
	return nil
}
