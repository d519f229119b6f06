package console

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	sessionCookie = "familiar_session"
	themeCookie   = "familiar_theme"
	sessionLife   = 30 * 24 * time.Hour
	// How many wrong tokens are taken in a minute, of all who try.
	mostAttempts = 10
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

// spent reports whether there were too many in the last minute.
func (a *attempts) spent(now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.n >= mostAttempts && now.Sub(a.since) <= time.Minute
}

// mayEnter reports whether a request has the token, a session that was begun with it, or needs neither.
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

// session is a cookie's value that holds until some time, and only with this token.
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

// turnAway sends people to the form, and programs away.
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
		k.Log.Warn("console: a wrong token", "from", r.RemoteAddr)
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

// cookie is sent back to this site alone, and by requests of its own pages alone. Over TLS it is not sent without.
func cookie(r *http.Request, name, value string, seconds int) *http.Cookie {
	return &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: seconds, HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https",
	}
}
