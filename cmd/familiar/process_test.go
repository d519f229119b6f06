package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/store"
	"familiar/internal/test/wait"
	"familiar/internal/trace"

	"familiar/internal/test/discordtest"
	"github.com/rogpeppe/go-internal/txtar"
)

// process starts the program as a process of its own, which can be killed.
func (c *conversation) process() *exec.Cmd {
	c.Helper()
	cmd := exec.Command("familiar", "run")
	cmd.Dir = c.dir
	for name, value := range c.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Env = append(cmd.Env, withoutSleep)
	output := &lockedBuffer{}
	cmd.Stdout, cmd.Stderr = output, output
	greeted := 0 // by all processes so far
	for _, g := range c.discord.Greetings() {
		if g.OK {
			greeted++
		}
	}
	c.must(cmd.Start())
	c.Cleanup(func() {
		if cmd.ProcessState == nil {
			cmd.Process.Kill()
			cmd.Wait()
		}
		if c.Failed() {
			c.Logf("the process said:\n%s", output)
		}
	})
	// A session of the process before may not have noticed its end yet.
	if !c.discord.WaitGreetings(greeted+1, patience) || !c.discord.WaitSession(patience) {
		c.Fatalf("the process does not come:\n%s", output)
	}
	return cmd
}

// TestKill kills the process at the moment in which a reply becomes visible, again and again. Every reply that was
// delivered has its record, and no question is answered twice after the restart.
func TestKill(t *testing.T) {
	t.Parallel()
	c := newConversation(t, txtar.Parse([]byte("-- model --\nsay First words of an answer\nwait 300ms\nsay and the rest of it.\n")))
	var questions []string
	for round := range 5 {
		cmd := c.process()
		visible := make(chan discordtest.Message, 8)
		c.discord.OnReply(func(m discordtest.Message) { visible <- m })
		questions = append(questions, c.discord.Say("general", "ana", fmt.Sprintf("@familiar hello, round %d", round)))
		select {
		case <-visible:
		case <-time.After(patience):
			t.Fatal("no reply")
		}
		time.Sleep(time.Duration(round) * 30 * time.Millisecond) // each kill comes at another moment of the answer
		c.must(cmd.Process.Signal(syscall.SIGKILL))
		cmd.Wait()
		c.discord.OnReply(nil)
		c.discord.Forget()
	}

	cmd := c.process()
	for _, q := range questions {
		c.discord.Repeat(q)
	}
	last := c.discord.Say("general", "ana", "@familiar one more")
	c.hear0(last)
	replies := make(map[string]int)
	for _, m := range c.discord.Messages("general") {
		if m.Own {
			replies[m.ReplyTo]++
		}
	}
	db, err := store.Look(t.Context(), filepath.Join(c.dir, "data"))
	c.must(err)
	defer db.Close()
	for _, q := range append(questions, last) {
		if replies[q] != 1 {
			t.Errorf("%d replies to %s", replies[q], q)
		}
		record, err := (&trace.Store{DB: db}).ByMessage(t.Context(), q)
		if err != nil || len(record.Prompt) == 0 || record.Phase == turn.Begun {
			t.Errorf("record of %s: %v, %+v", q, err, record)
		}
	}
	c.must(cmd.Process.Signal(syscall.SIGTERM))
	if err := cmd.Wait(); err != nil {
		t.Errorf("SIGTERM: %v", err)
	}
}

// TestKillWhileOthersWait kills the process while one answer is half said and four people wait for theirs. After the restart
// all five have one whole answer each.
func TestKillWhileOthersWait(t *testing.T) {
	t.Parallel()
	c := newConversation(t, txtar.Parse([]byte("-- model --\nsay First words\nhold\nsay and the last ones.\n")))
	cmd := c.process()
	visible := make(chan discordtest.Message, 8)
	c.discord.OnReply(func(m discordtest.Message) { visible <- m })
	var questions []string
	for _, who := range []string{"ana", "ben", "cy", "dan", "eve"} {
		questions = append(questions, c.discord.Say("general", who, "@familiar hello from "+who))
	}
	<-visible
	c.claimed(questions)
	c.must(cmd.Process.Kill())
	cmd.Wait()
	c.discord.OnReply(nil)
	c.model.Release()
	cmd = c.process()
	for _, q := range questions {
		c.hear0(q)
	}
	replies := make(map[string][]string)
	for _, m := range c.discord.Messages("general") {
		if m.Own {
			replies[m.ReplyTo] = append(replies[m.ReplyTo], m.Text)
		}
	}
	for _, q := range questions {
		if r := replies[q]; len(r) != 1 || !strings.HasPrefix(r[0], "First wordsand the last ones.") {
			t.Errorf("replies to %s: %q", q, r)
		}
	}
	c.must(cmd.Process.Signal(syscall.SIGTERM))
	if err := cmd.Wait(); err != nil {
		t.Errorf("SIGTERM: %v", err)
	}
}

// claimed waits until questions are on disk.
func (c *conversation) claimed(questions []string) {
	c.Helper()
	db, err := store.Look(c.Context(), filepath.Join(c.dir, "data"))
	c.must(err)
	defer db.Close()
	if !wait.Until(func() bool {
		open, err := db.Claims.Open(c.Context())
		c.must(err)
		return len(open) == len(questions)
	}) {
		c.Fatal("not all questions are claimed")
	}
}

// hear0 waits until a message has its reply and its record is complete.
func (c *conversation) hear0(question string) {
	c.Helper()
	reply := ""
	if !wait.Until(func() bool {
		for _, m := range c.discord.Messages("general") {
			if m.Own && m.ReplyTo == question {
				reply = m.ID
			}
		}
		return reply != ""
	}) {
		c.Fatal("no reply")
	}
	c.finished(reply)
}

// TestShutdown sends SIGTERM in the middle of an answer. The turn is finished, no new one is taken, and the exit code is 0.
func TestShutdown(t *testing.T) {
	t.Parallel()
	c := newConversation(t, txtar.Parse([]byte("-- model --\nsay First words\nhold\nsay and the last ones.\n")))
	cmd := c.process()
	visible := make(chan discordtest.Message, 8)
	c.discord.OnReply(func(m discordtest.Message) { visible <- m })
	c.discord.Say("general", "ana", "@familiar hello")
	<-visible
	c.must(cmd.Process.Signal(syscall.SIGTERM))
	c.left()
	c.discord.Say("general", "ben", "@familiar too late")
	c.model.Release()
	if err := cmd.Wait(); err != nil {
		t.Errorf("exit: %v", err)
	}
	messages := c.discord.Messages("general")
	var own []string
	for _, m := range messages {
		if m.Own {
			own = append(own, m.Text)
		}
	}
	if len(own) != 1 || !strings.Contains(own[0], "and the last ones.") {
		t.Errorf("replies %q", own)
	}
}

// TestSecondSignal leaves at once, in the middle of an answer.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	c := newConversation(t, txtar.Parse([]byte("-- model --\nsay First words\nhold\nsay never\n")))
	cmd := c.process()
	visible := make(chan discordtest.Message, 8)
	c.discord.OnReply(func(m discordtest.Message) { visible <- m })
	c.discord.Say("general", "ana", "@familiar hello")
	<-visible
	c.must(cmd.Process.Signal(syscall.SIGTERM))
	c.left()
	c.must(cmd.Process.Signal(syscall.SIGTERM))
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-ended:
		if code := cmd.ProcessState.ExitCode(); code != exitFailed {
			t.Errorf("exit code %d", code)
		}
	case <-time.After(patience):
		t.Error("it does not leave")
	}
}

// TestOneProcessPerStore refuses a second bot on the same data, and names the first. A question is answered beside it, and recorded.
func TestOneProcessPerStore(t *testing.T) {
	t.Parallel()
	c := newConversation(t, txtar.Parse([]byte("-- model --\nsay Hello.\n")))
	cmd := c.process()
	owner := fmt.Sprint("process ", cmd.Process.Pid)
	if code, _, err := c.command(nil, "run"); code != exitFailed || !strings.Contains(err, owner) {
		t.Errorf("exit code %d, errors %q, want %s", code, err, owner)
	}
	if code, out, err := c.command(nil, "ask", "hello"); code != exitOK || !strings.Contains(out, "Hello.") || !strings.Contains(err, owner+" runs on the same data; this works beside it") {
		t.Errorf("exit code %d, errors %q:\n%s", code, err, out)
	}
	if code, out, err := c.command(strings.NewReader("hello\n"), "chat"); code != exitOK || !strings.Contains(out, "sage> Hello.") {
		t.Errorf("exit code %d, errors %q:\n%s", code, err, out)
	}
	if _, list, _ := c.command(nil, "trace"); !strings.Contains(list, "hello") {
		t.Errorf("what was asked beside it is not on record:\n%s", list)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if db, err := store.Look(ctx, filepath.Join(c.dir, "data")); err != nil {
		t.Errorf("look beside a running bot: %v", err)
	} else {
		db.Close()
	}
}
