package console

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// policy allows a page to load only what this server has. It forbids inline scripts and styles, and forms that are sent
// elsewhere.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// guarded checks who may enter, cheapest check first.
func (k *Console) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "same-origin") // the origin of forms is checked
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
		h.Set("Cache-Control", "no-store")
		if !k.reachedAs(r.Host) {
			http.Error(w, "The console does not accept this host name. Open it as localhost, or add the name to FAMILIAR_CONSOLE_HOSTS.", http.StatusMisdirectedRequest)
			return
		}
		if err := k.cross.Check(r); err != nil {
			http.Error(w, "This form was sent by another site.", http.StatusForbidden)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		if !k.mayEnter(r) {
			k.turnAway(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// reachedAs reports whether a Host header names this console. In a DNS rebinding attack, the header has the name of
// another site. If a token is required, an IP address of the machine is also accepted, because it cannot be rebound.
func (k *Console) reachedAs(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.TrimSuffix(strings.Trim(name, "[]"), "."))
	if name == "localhost" || slices.Contains(k.Hosts, name) {
		return true
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && (addr.IsLoopback() || k.Token != "")
}

const (
	sessionCookie = "familiar_session"
	themeCookie   = "familiar_theme"
	sessionLife   = 30 * 24 * time.Hour
	// maxAttempts is how many wrong tokens are accepted per minute, from all clients together.
	maxAttempts = 10
)

// attempts counts wrong tokens.
type attempts struct {
	mu    sync.Mutex
	since time.Time // guarded by mu
	n     int       // guarded by mu
}

// wrong counts a wrong token.
func (a *attempts) wrong(now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if now.Sub(a.since) > time.Minute {
		a.since, a.n = now, 0
	}
	a.n++
}

// spent reports whether there were too many wrong tokens in the last minute.
func (a *attempts) spent(now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.n >= maxAttempts && now.Sub(a.since) <= time.Minute
}

// mayEnter reports whether a request may enter: it has the token, a session that was started with it, or no token is
// required.
func (k *Console) mayEnter(r *http.Request) bool {
	if k.Token == "" || r.URL.Path == "/login" || r.URL.Path == "/healthz" || strings.HasPrefix(r.URL.Path, "/static/") {
		return true
	}
	if given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok && !k.locks.spent(time.Now()) {
		if k.isToken(given) {
			return true
		}
		k.locks.wrong(time.Now())
	}
	c, err := r.Cookie(sessionCookie)
	return err == nil && k.isSession(c.Value, time.Now())
}

func (k *Console) isToken(given string) bool {
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(k.Token))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// session returns the value of a cookie that is valid until a time, and only for this token.
func (k *Console) session(until time.Time) string {
	end := strconv.FormatInt(until.Unix(), 10)
	return end + "." + k.sign(end)
}

func (k *Console) sign(text string) string {
	mac := hmac.New(sha256.New, []byte(k.Token))
	mac.Write([]byte("familiar console session until " + text))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func (k *Console) isSession(value string, now time.Time) bool {
	end, signature, _ := strings.Cut(value, ".")
	until, err := strconv.ParseInt(end, 10, 64)
	return err == nil && now.Unix() < until && hmac.Equal([]byte(signature), []byte(k.sign(end)))
}

// turnAway redirects people to the form and refuses programs.
func (k *Console) turnAway(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet || !strings.Contains(r.Header.Get("Accept"), "text/html") {
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "The console's token is missing or wrong.", http.StatusUnauthorized)
		return
	}
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}

type loginPage struct{ Problem string }

func (k *Console) login(w http.ResponseWriter, r *http.Request) {
	if k.Token == "" {
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return
	}
	k.render(w, r, http.StatusOK, "login", "Sign in", loginPage{})
}

func (k *Console) enter(w http.ResponseWriter, r *http.Request) {
	now := time.Now()
	switch {
	case k.Token == "":
	case k.locks.spent(now):
		k.render(w, r, http.StatusTooManyRequests, "login", "Sign in", loginPage{"There were too many wrong tokens. Wait a minute."})
		return
	case !k.isToken(r.PostFormValue("token")):
		k.locks.wrong(now)
		k.Log.Warn("console: wrong token", "from", r.RemoteAddr)
		k.render(w, r, http.StatusUnauthorized, "login", "Sign in", loginPage{"This is not the token. It is the value of FAMILIAR_CONSOLE_TOKEN."})
		return
	default:
		http.SetCookie(w, cookie(r, sessionCookie, k.session(now.Add(sessionLife)), int(sessionLife.Seconds())))
	}
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

func (k *Console) leave(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, cookie(r, sessionCookie, "", -1))
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}

// cookie returns a cookie that is sent only to this site and only by its own pages. If the console is reached over TLS,
// the cookie requires it.
func cookie(r *http.Request, name, value string, seconds int) *http.Cookie {
	return &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: seconds, HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https",
	}
}
