package console

import (
	"context"
	"net/http"
	"sync"
	"time"

	"familiar/internal/doctor"
)

// diagnosis is the last one.
type diagnosis struct {
	mu       sync.Mutex
	findings []doctor.Finding // guarded by mu
	at       time.Time        // guarded by mu
}

// doctorLimit is how long an examination may take: services are asked, too.
const doctorLimit = 45 * time.Second

type doctorPage struct {
	Findings []doctor.Finding
	At       time.Time // zero: nothing was examined yet
	Sum      string
}

func (k *Console) doctor(w http.ResponseWriter, r *http.Request) {
	k.checks.mu.Lock()
	p := doctorPage{Findings: k.checks.findings, At: k.checks.at}
	k.checks.mu.Unlock()
	p.Sum = doctor.Sum(p.Findings)
	k.render(w, r, http.StatusOK, "doctor", "Doctor", p)
}

// examine asks the doctor. It is a POST: services are asked, which may cost something.
func (k *Console) examine(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), doctorLimit)
	defer cancel()
	found := k.Doctor(ctx)
	k.checks.mu.Lock()
	k.checks.findings, k.checks.at = found, time.Now()
	k.checks.mu.Unlock()
	http.Redirect(w, r, "/doctor", http.StatusSeeOther)
}
