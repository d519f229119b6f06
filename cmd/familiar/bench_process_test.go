package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"familiar/internal/test/llmtest"
)

// BenchmarkStart runs the binary that the Dockerfile builds, with a database that exists. It measures the time to IDENTIFY or RESUME and to
// READY. It also measures the time from the first message to its request at the model.
func BenchmarkStart(b *testing.B) {
	asked := make(chan time.Time, 1)
	s := newStage(b, 16, func(r llmtest.Request) llmtest.Reply {
		if r.Model == "main" { // not a summary, which nobody waits for
			asked <- r.At
		}
		return llmtest.Reply{llmtest.Say("Never better, thanks.")}
	})
	s.fill(1000)
	binary := s.build()
	s.process(binary)() // Discord is given the commands
	var identify, ready, first []time.Duration
	for i := 0; b.Loop(); i++ {
		began := time.Now()
		stop := s.process(binary)
		ready = append(ready, time.Since(began))
		greetings := s.discord.Greetings()
		identify = append(identify, greetings[len(greetings)-1].At.Sub(began))
		time.Sleep(time.Second) // people do not write at once
		said := time.Now()
		s.ask(s.rooms[i%len(s.rooms)], "ana", "Sage, how are you?")
		first = append(first, (<-asked).Sub(said))
		stop()
	}
	s.report(identify, "identify")
	s.report(ready, "ready")
	s.report(first, "first-turn")
	b.ReportMetric(s.size(binary), "binary-MB")
}

// BenchmarkStartEmpty is the time from the start of the process to READY in an empty directory.
func BenchmarkStartEmpty(b *testing.B) {
	s := newStage(b, 16, nil)
	binary := s.build()
	var ready []time.Duration
	for b.Loop() {
		s := newStage(b, 16, nil) // Discord wants 5 s between two sessions of one bot
		began := time.Now()
		stop := s.process(binary)
		ready = append(ready, time.Since(began))
		stop()
	}
	s.report(ready, "ready")
}

// BenchmarkMemory measures what the process keeps in memory: after its start, and after the first turn, which loads the vocabulary. It
// measures again after 200 turns that came at once, and a while later.
func BenchmarkMemory(b *testing.B) {
	s := newStage(b, 50, func(llmtest.Request) llmtest.Reply { return llmtest.Reply{llmtest.Say("Never better, thanks.")} })
	s.fill(1000)
	binary := s.build()
	most := make(map[string]float64)
	note := func(state, field string) {
		most[state] = max(most[state], s.memory(field))
		b.Logf("%s: anon %.1f file %.1f", state, s.memory("RssAnon"), s.memory("RssFile"))
	}
	rest := func(d time.Duration) {
		if !once() {
			time.Sleep(d)
		}
	}
	for b.Loop() {
		stop := s.process(binary)
		rest(2 * time.Second)
		note("idle-MiB", "VmRSS")
		s.ask(s.rooms[0], "ana", "Sage, how are you?")
		rest(time.Second)
		note("one-turn-MiB", "VmRSS")
		s.burst(4)
		note("burst-MiB", "VmRSS")
		note("burst-peak-MiB", "VmHWM")
		rest(5 * time.Second)
		note("later-MiB", "VmRSS")
		stop()
	}
	for state, mib := range most {
		b.ReportMetric(mib, state)
	}
	b.ReportMetric(0, "ns/op")
}

// burst has somebody in every channel ask so many times, all channels at once.
func (s *stage) burst(each int) {
	var people sync.WaitGroup
	for i, room := range s.rooms {
		people.Go(func() {
			for n := range each {
				s.ask(room, fmt.Sprint("person", i), fmt.Sprintf("Sage, how are you? I am at page %d", n))
			}
		})
	}
	people.Wait()
}

// build makes the binary as the Dockerfile does.
func (s *stage) build() string {
	s.Helper()
	dockerfile, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		s.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^RUN (CGO_ENABLED=0 go build .*)$`).FindSubmatch(dockerfile)
	if line == nil {
		s.Fatal("the Dockerfile builds nothing")
	}
	out := s.TempDir()
	build := exec.Command("sh", "-c", strings.ReplaceAll(string(line[1]), "/out/", out+"/"))
	build.Dir = "../.."
	if said, err := build.CombinedOutput(); err != nil {
		s.Fatalf("build: %v\n%s", err, said)
	}
	return filepath.Join(out, "familiar")
}

func (s *stage) size(binary string) float64 {
	s.Helper()
	info, err := os.Stat(binary)
	if err != nil {
		s.Fatal(err)
	}
	return float64(info.Size()) / 1e6
}

// process starts the binary and returns once it is on Discord.
func (s *stage) process(binary string) (stop func()) {
	s.Helper()
	cmd := exec.Command(binary, "run")
	cmd.Dir = s.dir
	for name, value := range s.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	greeted := len(s.discord.Greetings())
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	s.pid = cmd.Process.Pid
	if !s.discord.WaitGreetings(greeted+1, patience) || !s.discord.WaitSession(patience) {
		cmd.Process.Kill()
		s.Fatalf("the process does not come: %v\n%s", cmd.Wait(), &said)
	}
	return func() {
		cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			s.Errorf("the process ended: %v\n%s", err, &said)
		}
	}
}

// memory reads a field of the process's status, in MiB.
func (s *stage) memory(field string) float64 {
	s.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.pid))
	if err != nil {
		s.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		var kb float64
		if n, _ := fmt.Sscanf(line, field+": %f kB", &kb); n == 1 {
			return kb / 1024
		}
	}
	s.Fatalf("no %s in the process's status", field)
	return 0
}
