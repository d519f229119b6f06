package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

const (
	diskSize = 64 << 20 // bytes
	frozen   = 25 * time.Second
)

// playDisk gives the data a small disk of its own, fills it for a while, and freezes it.
func playDisk(ctx context.Context, s *stage) error {
	unmount, err := s.mount(ctx)
	if err != nil {
		fmt.Fprintf(s.out, "disk is skipped: a small disk takes root, mkfs.ext4 and a loop device: %v\n", err)
		return nil
	}
	defer unmount()
	if err := s.come(ctx); err != nil {
		return err
	}
	quiet := background(ctx, s.load)
	defer quiet()
	for _, fault := range []func(context.Context) error{s.full, s.freeze} {
		if err := wait(ctx, 10*time.Second); err != nil {
			return err
		}
		if err := fault(ctx); err != nil {
			return err
		}
	}
	if err := wait(ctx, 10*time.Second); err != nil {
		return err
	}
	quiet()
	return s.finish(ctx, patience)
}

// mount makes the data directory a disk. The returned function ends that, after the process.
func (s *stage) mount(ctx context.Context) (unmount func(), err error) {
	image := filepath.Join(s.dir, "disk")
	if err := os.Mkdir(s.data(), 0o700); err != nil {
		return nil, fmt.Errorf("make the data directory: %w", err)
	}
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		return nil, fmt.Errorf("make a disk: %w", err)
	}
	if err := os.Truncate(image, diskSize); err != nil {
		return nil, fmt.Errorf("make a disk: %w", err)
	}
	for _, command := range [][]string{{"mkfs.ext4", "-q", "-m", "0", image}, {"mount", "-o", "loop", image, s.data()}} {
		if err := do(ctx, command...); err != nil {
			return nil, err
		}
	}
	return func() {
		s.proc.kill()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := do(ctx, "umount", s.data()); err != nil {
			fmt.Fprintln(s.out, err)
		}
	}, nil
}

func do(ctx context.Context, command ...string) error {
	if said, err := exec.CommandContext(ctx, command[0], command[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", command[0], err, said)
	}
	return nil
}

// full leaves no room on the disk for a while.
func (s *stage) full(ctx context.Context) error {
	path := filepath.Join(s.data(), "filler")
	began := time.Now()
	for time.Since(began) < s.opt.span { // the program's own log may give room back
		if err := fill(path); err != nil {
			return err
		}
		if err := wait(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("empty the disk: %w", err)
	}
	s.note("the disk was full", "%s to %s", began.Format(clock), time.Now().Format(clock))
	return nil
}

// fill lets a file grow until the disk is full.
func fill(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("fill the disk: %w", err)
	}
	defer f.Close()
	for _, size := range []int{1 << 20, 4096, 1} {
		for piece := make([]byte, size); err == nil; {
			_, err = f.Write(piece)
		}
		if !errors.Is(err, syscall.ENOSPC) {
			return fmt.Errorf("fill the disk: %w", err)
		}
		err = nil
	}
	return nil
}

// freeze makes everything that writes to the disk wait.
func (s *stage) freeze(ctx context.Context) error {
	if err := do(ctx, "fsfreeze", "-f", s.data()); err != nil {
		return err
	}
	began := time.Now()
	interrupted := wait(ctx, frozen)
	thaw, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := do(thaw, "fsfreeze", "-u", s.data()); err != nil {
		return err
	}
	s.note("the disk was frozen", "%s to %s", began.Format(clock), time.Now().Format(clock))
	return interrupted
}
