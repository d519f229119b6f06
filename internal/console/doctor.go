package console

import (
	"context"
	"net/http"
	"sync"
	"time"

	"familiar/internal/doctor"
)

const (
	// doctorPatience is how long an examination is waited for before its page is shown, which then shows how far it has come.
	doctorPatience = 500 * time.Millisecond
	// doctorAgain is after how many seconds such a page is asked for again.
	doctorAgain = "2"
)

// diagnosis is the last examination, which goes on beside the request that asked for it: services are asked, which may take minutes.
type diagnosis struct {
	mu    sync.Mutex
	begun time.Time          // zero: nothing was examined yet; guarded by mu, as is what follows
	now   doctor.Standing    // how far it has come
	over  chan struct{}      // closed with its end; nil: there was none
	stop  context.CancelFunc // of its context; nil: there was none
	shut  bool               // none begins any more
}

type doctorPage struct {
	doctor.Standing
	Begun time.Time // zero: nothing was examined yet
	Going bool
	Sum   string
}

func (k *Console) doctor(w http.ResponseWriter, r *http.Request) {
	k.checks.mu.Lock()
	p := doctorPage{Standing: k.checks.now, Begun: k.checks.begun, Going: k.checks.going()}
	k.checks.mu.Unlock()
	p.Sum = doctor.Sum(p.Found)
	if p.Going {
		w.Header().Set("Refresh", doctorAgain)
	}
	k.render(w, r, http.StatusOK, "doctor", "Doctor", p)
}

// examine asks the doctor. It is a POST: services are asked, which may cost something.
func (k *Console) examine(w http.ResponseWriter, r *http.Request) {
	select {
	case <-k.checks.start(context.WithoutCancel(r.Context()), k.Doctor):
	case <-time.After(doctorPatience):
	case <-r.Context().Done():
	}
	http.Redirect(w, r, "/doctor", http.StatusSeeOther)
}

// start begins an examination, unless one goes on, and returns what is closed with its end.
func (d *diagnosis) start(ctx context.Context, look func(context.Context, doctor.Progress) []doctor.Finding) <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.shut || d.going() {
		return d.over
	}
	ctx, stop := context.WithCancel(ctx)
	over := make(chan struct{})
	d.begun, d.now, d.over, d.stop = time.Now(), doctor.Standing{}, over, stop
	go func() {
		defer close(over)
		defer stop()
		d.set(doctor.Standing{Found: look(ctx, d.set)})
	}()
	return over
}

func (d *diagnosis) set(now doctor.Standing) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now = now
}

// end ends the examination that goes on, and waits for that.
func (d *diagnosis) end() {
	d.mu.Lock()
	d.shut = true
	over, stop := d.over, d.stop
	d.mu.Unlock()
	if over != nil {
		stop()
		<-over
	}
}

// going reports whether one goes on; d.mu is held.
func (d *diagnosis) going() bool {
	if d.over == nil {
		return false
	}
	select {
	case <-d.over:
		return false
	default:
		return true
	}
}
