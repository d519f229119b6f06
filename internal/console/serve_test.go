package console

import (
	"context"
	"net"
	"net/http"
	"sync"
	"testing"
)

// serve has a console listen on this machine.
func serve(tb testing.TB, w *world) served {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.Serve(ctx, l) }()
	stop := sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			tb.Error(err)
		}
		http.DefaultClient.CloseIdleConnections()
	})
	tb.Cleanup(stop)
	return served{"http://" + l.Addr().String(), stop}
}
