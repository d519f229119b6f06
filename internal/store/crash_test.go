package store

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"familiar/internal/test/bulk"
	"familiar/internal/test/postgres"
)

// child is the test binary as the process to be killed. It writes from several goroutines until it dies, and prints the id of each message
// after it is acknowledged.
func child(dir string) {
	db, err := Open(context.Background(), dir)
	if err != nil {
		fmt.Println("error", err)
		return
	}
	var n counter
	var out sync.Mutex
	for range 8 {
		go func() {
			for {
				id := fmt.Sprint(n.next())
				first, err := arrive(context.Background(), db, message(id, "c", 0), "event "+id)
				if err != nil || !first {
					fmt.Println("error", first, err)
					os.Exit(1)
				}
				out.Lock()
				fmt.Println("ok", id)
				out.Unlock()
			}
		}()
	}
	select {}
}

func TestKilled(t *testing.T) {
	dir := t.TempDir()
	seen := map[string]bool{}
	each := bulk.Of(60, 200)
	for round := range 3 {
		for _, id := range killed(t, fmt.Sprint(dir, "/", round), each*(round+1)) {
			seen[fmt.Sprint(round, " ", id)] = true
		}
	}
	if len(seen) < 6*each {
		t.Errorf("only %d acknowledged writes were seen", len(seen))
	}
}

// killed lets a child write until it has acknowledged n messages and kills it. It checks that these messages and their claims were saved,
// and returns the ids.
func killed(t *testing.T, dir string, n int) []string {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "STORE_TEST_CHILD="+postgres.Place(t, dir))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var acknowledged []string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		id, ok := strings.CutPrefix(lines.Text(), "ok ")
		if !ok {
			t.Errorf("child says %q", lines.Text())
		}
		acknowledged = append(acknowledged, id)
		if len(acknowledged) == n {
			if _, err := Open(t.Context(), postgres.Place(t, dir)); kind(err) != InUse || !postgres.Used() && !strings.Contains(err.Error(), fmt.Sprint(cmd.Process.Pid)) {
				t.Errorf("in use by %d: %v", cmd.Process.Pid, err)
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait() // "signal: killed"
	begin := time.Now()
	db := open(t, dir)
	t.Logf("%d acknowledged, opened in %v", len(acknowledged), time.Since(begin))
	for _, id := range acknowledged[:len(acknowledged)-1] { // the last line may be incomplete
		if _, err := db.Messages.Get(t.Context(), id); err != nil {
			t.Errorf("message %s: %v", id, err)
		}
		if first, err := arrive(t.Context(), db, message(id, "c", 0), "event "+id); first || err != nil {
			t.Errorf("event %s can be claimed again: %v", id, err)
		}
	}
	return acknowledged
}
