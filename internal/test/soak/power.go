package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// playPower cuts the power again and again. The data is on a disk of its own, an ext4 file system in a file. What the file holds at the cut
// is what a disk would hold: the kernel's cache above it is lost. Everything that was not synced goes, since the file system commits only
// when it is asked to. In half of the cuts some of what was not synced is on the disk, in no order. Each of its sectors is there with a
// chance of a half. A system writes its cache back at any time. A disk that says that it has synced and has not is not covered.
//
// In half of the cuts Discord forgets the nonces, as after a few minutes, and the session.
//
// These can make the bot answer twice, leave half a reply or lose one. This scenario has those marked with *.
//
//	the claim is lost, the reply is there *          its post is found by the nonce, or among the replies to the message
//	the post's id is lost, half the reply is there * the same: the reply goes on in it
//	the whole reply is there, its record is not *    the turn is taken again, in the same post
//	the claim is there, the reply is not *           the next start answers
//	what a person was told is lost *                 the notice has a nonce, too
//	the place in the gateway is ahead of a claim *   one log has both, in order
//	the log is torn, or copied by half *             SQLite's checksums; the file is checked at the start
//	the clean mark is there, the data is not *       the mark of an owner is synced when it opens
//	the clock jumps, and claims are pruned           retention follows Discord's clock
//	an edit that timed out lands after the last one  the post is read again
//	a page of a proxy says 404                       only Discord's own codes mean that a post is gone
//	Discord refuses the token                        the claims stay open until it is right
func playPower(ctx context.Context, s *stage) error {
	unmount, err := s.mount(ctx, diskSize, "commit=300")
	if err != nil {
		return err
	}
	defer unmount()
	var failed error
	err = s.deaths(ctx, func() {
		s.down(unread)
		s.proc.kill()
		if failed == nil {
			failed = s.cut(ctx)
		}
		if s.random.IntN(2) == 0 {
			s.discord.ForgetNonces()
			s.discord.Forget()
		}
	})
	s.note("sectors that were written without a sync", "%d", s.scattered)
	if failed != nil {
		return failed
	}
	return err
}

// cut takes from the disk what was not synced. The program must have ended.
func (s *stage) cut(ctx context.Context) error {
	image, left := s.image(), filepath.Join(s.dir, "left")
	if err := do(ctx, "cp", "--sparse=always", image, left); err != nil {
		return err
	}
	cached := map[string][]byte{}
	for _, name := range []string{"familiar.db", "familiar.db-wal"} {
		data, err := os.ReadFile(filepath.Join(s.data(), name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cut the power: %w", err)
		}
		cached[name] = data
	}
	if err := do(ctx, "umount", s.data()); err != nil {
		return err
	}
	if err := os.Rename(left, image); err != nil {
		return err
	}
	if err := do(ctx, "mount", "-o", "loop,commit=300", image, s.data()); err != nil {
		return err
	}
	if s.random.IntN(2) == 0 {
		return nil
	}
	for name, data := range cached {
		if err := s.scatter(filepath.Join(s.data(), name), data); err != nil {
			return fmt.Errorf("scatter writes: %w", err)
		}
	}
	return nil
}

const sector = 512 // bytes that a disk writes whole

// scatter writes some of the sectors in which a file differs from what was in the system's cache. It counts them.
func (s *stage) scatter(path string, cached []byte) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	disk, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	for at := 0; at < len(cached); at += sector {
		to := min(at+sector, len(cached))
		if to <= len(disk) && bytes.Equal(cached[at:to], disk[at:to]) || s.random.IntN(2) == 0 {
			continue
		}
		if _, err := f.WriteAt(cached[at:to], int64(at)); err != nil {
			return err
		}
		s.scattered++
	}
	return f.Sync()
}
