package console

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// How long a request may take. Live pages have a limit for each write instead.
const (
	headerLimit = 5 * time.Second
	readLimit   = 15 * time.Second
	writeLimit  = 60 * time.Second
	idleLimit   = 2 * time.Minute
	closeLimit  = 3 * time.Second
	maxHeader   = 32 << 10
	maxForm     = 1 << 20
)

// Serve answers on a listener until ctx is done, and waits for what is being answered then. It closes the listener.
func (k *Console) Serve(ctx context.Context, l net.Listener) error {
	open, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	server := &http.Server{
		Handler: k.Handler(), ReadHeaderTimeout: headerLimit, ReadTimeout: readLimit, WriteTimeout: writeLimit, IdleTimeout: idleLimit,
		MaxHeaderBytes: maxHeader, BaseContext: func(net.Listener) context.Context { return open },
		ErrorLog: slog.NewLogLogger(k.Log.Handler(), slog.LevelDebug),
	}
	casting := make(chan struct{})
	go func() {
		defer close(casting)
		k.broadcast(open)
	}()
	closed := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		end() // live pages would not end by themselves
		limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeLimit)
		defer cancel()
		closed <- server.Shutdown(limit)
	})
	err := server.Serve(l)
	if !stop() {
		err = errors.Join(<-closed, server.Close())
	}
	end()
	k.checks.end()
	<-casting
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}
