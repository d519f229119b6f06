package discordtest_test

import (
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/discordtest"
)

func TestVirtualTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		far := discordtest.NewVirtual(t)
		client := http.Client{Transport: &http.Transport{DialContext: far.Dial}}
		defer client.CloseIdleConnections()
		far.Fail(discordtest.Fault{Route: "GET gateway", Delay: time.Hour})
		begun := time.Now()
		resp, err := client.Get(far.URL + "/v10/gateway")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if body, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusUnauthorized || !strings.Contains(string(body), "401") {
			t.Errorf("status %d, %s, %v", resp.StatusCode, body, err)
		}
		if took := time.Since(begun); took != time.Hour {
			t.Errorf("took %v", took)
		}
	})
}

// A connection in memory behaves as a socket does.
func TestDial(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		far := discordtest.NewVirtual(t)
		conn, err := far.Dial(t.Context(), "tcp", "")
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		conn.SetReadDeadline(begun.Add(time.Minute))
		if _, err := conn.Read(make([]byte, 1)); err != os.ErrDeadlineExceeded || time.Since(begun) != time.Minute {
			t.Errorf("read: %v after %v", err, time.Since(begun))
		}
		conn.SetReadDeadline(time.Time{})
		if _, err := io.WriteString(conn, "GET /gateway HTTP/1.0\r\n\r\n"); err != nil {
			t.Errorf("write: %v", err)
		}
		if got, err := io.ReadAll(conn); err != nil || !strings.HasPrefix(string(got), "HTTP/1.0 400") {
			t.Errorf("read %q, %v", got, err)
		}
		if _, err := conn.Write([]byte("more")); err == nil {
			t.Error("wrote to a connection that the far end has closed")
		}
		conn.Close()
		if _, err := conn.Read(make([]byte, 1)); err != net.ErrClosed {
			t.Errorf("read after the end: %v", err)
		}
	})
}
