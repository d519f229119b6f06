package prompt

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"familiar/internal/context/turn"
)

// fake is a provider that calls a function.
type fake struct {
	name string
	do   func(ctx context.Context) ([]turn.Contribution, error)
}

func (f fake) Name() string { return f.name }

func (f fake) Contribute(ctx context.Context, _ turn.Request) ([]turn.Contribution, error) {
	return f.do(ctx)
}

// offers returns a provider that returns at once.
func offers(cs ...turn.Contribution) fake {
	return fake{"fake", func(context.Context) ([]turn.Contribution, error) { return cs, nil }}
}

func plain(s string) []turn.Contribution {
	return []turn.Contribution{{Layer: turn.Content, Text: s, Source: s}}
}

// after returns a provider that returns after d, or earlier with ctx's error.
func after(d time.Duration, s string) func(context.Context) ([]turn.Contribution, error) {
	return func(ctx context.Context) ([]turn.Contribution, error) {
		select {
		case <-time.After(d):
			return plain(s), nil
		case <-ctx.Done():
			return plain(s + ", in part"), fmt.Errorf("ask far end: %w", ctx.Err())
		}
	}
}

// deaf is a provider that ignores ctx.
func deaf(d time.Duration, s string) func(context.Context) ([]turn.Contribution, error) {
	return func(context.Context) ([]turn.Contribution, error) {
		time.Sleep(d)
		return plain(s), nil
	}
}

func request(deadline time.Duration) turn.Request {
	return turn.Request{
		Message:  turn.Message{ID: "1", Author: turn.Author{ID: "7", Name: "Ada"}, Text: "Hello?"},
		Budget:   turn.Budget{Total: 1000, Layers: map[turn.Layer]int{turn.Content: 500, turn.RecentHistory: 500}},
		Deadline: time.Now().Add(deadline),
	}
}

func TestGather(t *testing.T) {
	failed := errors.New("far end at key-12345 is down")
	tests := []struct {
		name   string
		do     func(context.Context) ([]turn.Contribution, error)
		status turn.Status
		err    string // part of Outcome.Err
		took   time.Duration
		says   string
	}{
		{"ok", after(time.Second, "a"), turn.OK, "", time.Second, "a"},
		{"late but complete", deaf(10*time.Second+grace/2, "a"), turn.OK, "", 10*time.Second + grace/2, "a"},
		{"error with a part", func(context.Context) ([]turn.Contribution, error) { return plain("a"), failed },
			turn.Failed, "far end at *** is down", 0, "a"},
		{"own deadline inside is an error", func(context.Context) ([]turn.Contribution, error) { return nil, context.DeadlineExceeded },
			turn.Failed, "deadline exceeded", 0, ""},
		{"timeout with a part", after(time.Minute, "a"), turn.Timeout, "ask far end: context deadline exceeded", 10 * time.Second, "a, in part"},
		{"abandoned", deaf(time.Minute, "a"), turn.Abandoned, "did not return", 10*time.Second + grace, ""},
		{"panic", func(context.Context) ([]turn.Contribution, error) { panic("key-12345 is nil") },
			turn.Panicked, "panic: *** is nil (prompt.TestGather", 0, ""},
		{"goexit", func(context.Context) ([]turn.Contribution, error) { runtime.Goexit(); return nil, nil },
			turn.Panicked, "ended its goroutine", 0, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &Builder{
					Providers: []Provider{fake{"subject", tt.do}, fake{"other", after(0, "other")}},
					Redact:    func(s string) string { return strings.ReplaceAll(s, "key-12345", "***") },
				}
				p := b.Build(t.Context(), request(10*time.Second))
				got := p.Outcomes[0]
				if got.Status != tt.status || got.Took != tt.took {
					t.Errorf("status %q after %v, want %q after %v", got.Status, got.Took, tt.status, tt.took)
				}
				if !strings.Contains(got.Err, tt.err) || (tt.err == "") != (got.Err == "") {
					t.Errorf("error %q, want %q in it", got.Err, tt.err)
				}
				says := "other"
				if tt.says != "" {
					says = tt.says + "\n\n" + says
				}
				if system := p.Messages[1].Text; system != says {
					t.Errorf("what is known for the turn says %q, want %q", system, says)
				}
				if p.Outcomes[1].Status != turn.OK {
					t.Errorf("the other provider is %q", p.Outcomes[1].Status)
				}
				if err := b.Wait(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestPanicNamesNoPath(t *testing.T) {
	b := &Builder{Providers: []Provider{fake{"p", func(context.Context) ([]turn.Contribution, error) {
		return []turn.Contribution{}[:maxStrays], nil
	}}}}
	got := b.Build(t.Context(), request(time.Second)).Outcomes[0].Err
	if !strings.Contains(got, "gather_test.go:") || strings.Contains(got, "/") {
		t.Errorf("want the place and no path, got %q", got)
	}
}

func TestProvidersRunAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &Builder{}
		for i := range 5 {
			b.Providers = append(b.Providers, fake{"p", after(time.Duration(5-i)*time.Second, fmt.Sprint(i))})
		}
		began := time.Now()
		p := b.Build(t.Context(), request(10*time.Second))
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("took %v", took)
		}
		// The fastest provider is last, but the order is that of the providers.
		if system := p.Messages[1].Text; system != "0\n\n1\n\n2\n\n3\n\n4" {
			t.Errorf("what is known for the turn says %q", system)
		}
	})
}

func TestDeadlines(t *testing.T) {
	type row struct {
		Name   string
		Status turn.Status
		Took   time.Duration
	}
	synctest.Test(t, func(t *testing.T) {
		b := &Builder{
			Providers: []Provider{
				fake{"short", after(time.Minute, "a")},
				fake{"long", after(time.Minute, "b")},
				fake{"none", after(time.Minute, "c")},
				fake{"hung", deaf(time.Minute, "d")},
			},
			Deadlines: map[string]time.Duration{"short": 250 * time.Millisecond, "long": time.Hour, "hung": time.Second},
		}
		p := b.Build(t.Context(), request(3*time.Second))
		var got []row
		for _, o := range p.Outcomes {
			got = append(got, row{o.Provider, o.Status, o.Took})
		}
		want := []row{
			{"short", turn.Timeout, 250 * time.Millisecond},
			{"long", turn.Timeout, 3 * time.Second},
			{"none", turn.Timeout, 3 * time.Second},
			{"hung", turn.Abandoned, time.Second + grace},
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
		if err := b.Wait(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestNoDeadlineIsNotForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &Builder{Providers: []Provider{fake{"p", after(time.Hour, "a")}}}
		req := request(0)
		req.Deadline = time.Time{}
		if o := b.Build(t.Context(), req).Outcomes[0]; o.Status != turn.Timeout || o.Took != defaultDeadline {
			t.Errorf("%q after %v", o.Status, o.Took)
		}
	})
}

func TestCancelledTurnEndsSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &Builder{Providers: []Provider{fake{"polite", after(time.Hour, "a")}, fake{"deaf", deaf(time.Hour, "b")}}}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		began := time.Now()
		p := b.Build(ctx, request(time.Minute))
		if took := time.Since(began); took != time.Second+grace {
			t.Errorf("took %v", took)
		}
		if p.Outcomes[0].Status != turn.Timeout || p.Outcomes[1].Status != turn.Abandoned {
			t.Errorf("statuses %q, %q", p.Outcomes[0].Status, p.Outcomes[1].Status)
		}
		if err := b.Wait(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestStrays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var calls atomic.Int64
		b := &Builder{Providers: []Provider{
			fake{"hung", func(context.Context) ([]turn.Contribution, error) {
				calls.Add(1)
				<-release
				return plain("too late"), nil
			}},
			fake{"fine", after(0, "a")},
		}}
		for range maxStrays + 3 {
			p := b.Build(t.Context(), request(time.Second))
			if p.Outcomes[0].Status != turn.Abandoned || p.Outcomes[1].Status != turn.OK {
				t.Fatalf("statuses %q, %q", p.Outcomes[0].Status, p.Outcomes[1].Status)
			}
		}
		if n := calls.Load(); n != maxStrays {
			t.Errorf("%d calls, want no more than %d", n, maxStrays)
		}

		soon, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := b.Wait(soon); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Wait returned %v while calls are running", err)
		}
		close(release)
		if err := b.Wait(t.Context()); err != nil {
			t.Error(err)
		}
		if p := b.Build(t.Context(), request(time.Second)); p.Outcomes[0].Status != turn.OK {
			t.Errorf("after they returned: %q %s", p.Outcomes[0].Status, p.Outcomes[0].Err)
		}
	})
}
