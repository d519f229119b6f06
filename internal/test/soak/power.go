package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// playPower cuts the power again and again. The data is on a disk of its own, an ext4 file system in a file. What the file holds at the cut is
// what a disk would hold: the kernel's cache above it is lost. Everything that was not synced goes, since the file system commits only when it
// is asked to. A disk that reorders or tears writes, or says that it has synced and has not, is not covered.
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
	unmount, err := s.mount(ctx, "commit=300")
	if err != nil {
		fmt.Fprintf(s.out, "power is skipped: a small disk takes root, mkfs.ext4 and a loop device: %v\n", err)
		return nil
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
	if err := do(ctx, "umount", s.data()); err != nil {
		return err
	}
	if err := os.Rename(left, image); err != nil {
		return err
	}
	return do(ctx, "mount", "-o", "loop,commit=300", image, s.data())
}
