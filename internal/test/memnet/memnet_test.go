package memnet

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestConnectionsHoldDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := Pipe()
		defer far.Close()
		began := time.Now()
		near.SetReadDeadline(began.Add(time.Minute))
		if _, err := near.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != time.Minute {
			t.Errorf("read: %v after %v", err, time.Since(began))
		}
		near.SetWriteDeadline(began.Add(time.Hour))
		if n, err := near.Write(make([]byte, room+1)); n != room || !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != time.Hour {
			t.Errorf("write: %d, %v after %v", n, err, time.Since(began))
		}
		near.SetDeadline(time.Time{})
		time.AfterFunc(time.Hour, func() { io.WriteString(far, "late") })
		b := make([]byte, 9)
		if n, err := near.Read(b); string(b[:n]) != "late" || err != nil || time.Since(began) != 2*time.Hour {
			t.Errorf("without a deadline: %q, %v after %v", b[:n], err, time.Since(began))
		}
		near.Close()
		if _, err := near.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
			t.Errorf("closed: %v", err)
		}
		if _, err := far.Write([]byte("x")); err == nil {
			t.Error("wrote to an end that is closed")
		}
	})
}

// TestDirectionsEndOnTheirOwn closes one direction and still reads from the other.
func TestDirectionsEndOnTheirOwn(t *testing.T) {
	near, far := Pipe()
	defer near.Close()
	io.WriteString(near, "goodbye")
	near.CloseWrite()
	got, err := io.ReadAll(far)
	io.WriteString(far, "and to you")
	far.Close()
	answer, err2 := io.ReadAll(near)
	if string(got) != "goodbye" || string(answer) != "and to you" || err != nil || err2 != nil {
		t.Errorf("%q, %v; %q, %v", got, err, answer, err2)
	}
}

func TestServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := Listen()
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			text, _ := io.ReadAll(r.Body)
			time.Sleep(time.Hour)
			w.Write(text)
		})}
		go server.Serve(l)
		defer server.Close()
		transport := &http.Transport{DialContext: l.Dial}
		defer transport.CloseIdleConnections()
		text := strings.Repeat("a lot of text ", 100_000)
		began := time.Now()
		resp, err := (&http.Client{Transport: transport}).Post("http://"+l.Addr().String(), "text/plain", strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		got, err := io.ReadAll(resp.Body)
		if err != nil || string(got) != text || time.Since(began) != time.Hour {
			t.Errorf("%d bytes, %v, after %v", len(got), err, time.Since(began))
		}
	})
}
