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

const backLimit = 2 * time.Second // from the network's return to the session's

// playOutage takes the network to Discord down for a while, three times.
func playOutage(ctx context.Context, s *stage) error {
	if err := s.come(ctx); err != nil {
		return err
	}
	quiet := background(ctx, s.load)
	defer quiet()
	for _, away := range []time.Duration{2 * time.Second, 8 * time.Second, 30 * time.Second} {
		if err := wait(ctx, 4*time.Second); err != nil {
			return err
		}
		if err := s.outage(ctx, away); err != nil {
			return err
		}
	}
	if err := wait(ctx, 5*time.Second); err != nil {
		return err
	}
	quiet()
	return s.finish(ctx, patience)
}

func (s *stage) outage(ctx context.Context, away time.Duration) error {
	greeted := s.greeted()
	defer s.fault()()
	s.discord.CutOff()
	err := wait(ctx, away)
	if err := s.discord.Reopen(); err != nil {
		return err
	}
	if err != nil {
		return err
	}
	back := time.Now()
	if err := s.await(ctx, patience, "the program does not come back to Discord", func() bool { return s.greeted() > greeted }); err != nil {
		return err
	}
	took, how := time.Since(back), "begun again"
	all := s.discord.Greetings()
	if all[len(all)-1].Resume {
		how = "resumed"
	}
	s.note(fmt.Sprintf("after %v without a network", away), "%s in %v", how, took.Round(time.Millisecond))
	if took > backLimit {
		s.complain("the program is back 2 s after the network", "it took %v after %v", took.Round(time.Millisecond), away)
	}
	return nil
}

const (
	diskSize = 64 << 20 // bytes
	frozen   = 25 * time.Second
)

// playDisk puts the data on a small disk, fills the disk for a while, and then freezes it.
func playDisk(ctx context.Context, s *stage) error {
	unmount, err := s.mount(ctx, diskSize, "defaults")
	if err != nil {
		return err
	}
	defer unmount()
	if err := s.come(ctx); err != nil {
		return err
	}
	var orders []order
	quiet, helped := background(ctx, s.load), background(ctx, func(ctx context.Context) {
		for n := 0; wait(ctx, time.Second) == nil; n++ {
			orders = append(orders, order{"/help", time.Now(), s.discord.Interact(s.rooms[n%len(s.rooms)], personName(n%s.opt.people), "help", nil, true)})
		}
	})
	defer quiet()
	defer helped()
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
	helped()
	if err := s.finish(ctx, patience); err != nil { // the last order has been given just now
		return err
	}
	s.acknowledged(func(time.Time) bool { return true }, orders)
	return nil
}

const takesRoot = "a small disk takes root, mkfs.ext4 and a loop device"

// mount mounts a disk of some bytes at the data directory. Call the returned function after the process has ended; it unmounts the disk.
func (s *stage) mount(ctx context.Context, size int64, options string) (unmount func(), err error) {
	image := s.image()
	if err := os.Mkdir(s.data(), 0o700); err != nil {
		return nil, fmt.Errorf("make data directory: %w", err)
	}
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		return nil, fmt.Errorf("make disk: %w", err)
	}
	if err := os.Truncate(image, size); err != nil {
		return nil, fmt.Errorf("make disk: %w", err)
	}
	for _, command := range [][]string{{"mkfs.ext4", "-q", "-m", "0", image}, {"mount", "-o", "loop," + options, image, s.data()}} {
		if err := do(ctx, command...); err != nil {
			return nil, fmt.Errorf("%s: %w", takesRoot, err)
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

// image is the file that holds the disk of mount.
func (s *stage) image() string { return filepath.Join(s.dir, "disk") }

func do(ctx context.Context, command ...string) error {
	if said, err := exec.CommandContext(ctx, command[0], command[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", command[0], err, said)
	}
	return nil
}

// full keeps the disk full for a while.
func (s *stage) full(ctx context.Context) error {
	began := time.Now()
	over := s.fault()
	if err := s.filled(ctx, s.opt.span); err != nil {
		return err
	}
	over()
	s.word("full", mostWord, began, time.Now())
	s.note("the disk was full", "%s to %s", began.Format(clock), time.Now().Format(clock))
	return nil
}

// filled keeps the disk full for a time. A program that writes there may free space meanwhile.
func (s *stage) filled(ctx context.Context, span time.Duration) error {
	path := filepath.Join(s.data(), "filler")
	for began := time.Now(); time.Since(began) < span; {
		if err := fill(path); err != nil {
			return err
		}
		if err := wait(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("empty disk: %w", err)
	}
	return nil
}

// fill grows a file until the disk is full.
func fill(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("fill disk: %w", err)
	}
	defer f.Close()
	for _, size := range []int{1 << 20, 4096, 1} {
		for piece := make([]byte, size); err == nil; {
			_, err = f.Write(piece)
		}
		if !errors.Is(err, syscall.ENOSPC) {
			return fmt.Errorf("fill disk: %w", err)
		}
		err = nil
	}
	return nil
}

// freeze blocks every write to the disk for a while.
func (s *stage) freeze(ctx context.Context) error {
	if err := do(ctx, "fsfreeze", "-f", s.data()); err != nil {
		return err
	}
	began := time.Now()
	defer s.fault()()
	interrupted := wait(ctx, frozen)
	thaw, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := do(thaw, "fsfreeze", "-u", s.data()); err != nil {
		return err
	}
	s.word("frozen", mostTold, began, time.Now())
	s.note("the disk was frozen", "%s to %s", began.Format(clock), time.Now().Format(clock))
	return interrupted
}

const hangSlack = 500 * time.Millisecond // how much the 99th percentile of the other channels may grow

// playHang compares the first words in half of the channels before and while the model hangs in the other half. The program is stopped while
// the model still hangs.
func playHang(ctx context.Context, s *stage) error {
	if err := s.come(ctx); err != nil {
		return err
	}
	n := len(s.rooms) / 2
	quiet := background(ctx, s.load)
	defer quiet()
	began := time.Now()
	if err := wait(ctx, s.opt.span); err != nil {
		return err
	}
	over := s.fault()
	s.ledger.hang(s.rooms[:n]...)
	hung := time.Now()
	if err := wait(ctx, s.opt.span); err != nil {
		return err
	}
	quiet()
	if err := wait(ctx, time.Second); err != nil { // the last mention reaches the program, which is not started again
		return err
	}
	s.down(0)
	s.note("from SIGTERM to the end, while the model hangs", "%v", s.stop().Round(time.Millisecond))
	free, beside := s.firstWords(began, hung, s.rooms[n:]), s.firstWords(hung, time.Now(), s.rooms[n:])
	s.note("first word before, p50 and p99", "%v, %v", percentile(free, 50), percentile(free, 99))
	s.note("first word beside channels that hang", "%v, %v", percentile(beside, 50), percentile(beside, 99))
	if percentile(beside, 99) > percentile(free, 99)+hangSlack {
		s.complain("a model that hangs delays nobody else", "the 99th percentile of the first word was %v before and is %v", percentile(free, 99), percentile(beside, 99))
	}
	over()
	return s.audit(ctx)
}

// firstWords returns the times to the first visible word of mentions between two moments. They are in the given channels or, if none is
// given, in all.
func (s *stage) firstWords(from, to time.Time, rooms []string) (took []time.Duration) {
	in := map[string]bool{}
	for _, r := range rooms {
		in[r] = true
	}
	for _, o := range s.outcomes() {
		if len(o.answers) > 0 && !o.at.Before(from) && o.at.Before(to) && (rooms == nil || in[o.channel]) {
			took = append(took, o.answers[0].At.Sub(o.at))
		}
	}
	return took
}
