package console

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"familiar/internal/text"
)

// policy allows a page to load only what this server has. It forbids inline scripts and styles, and forms that are sent
// elsewhere.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// longest returns how many bytes a request may have.
func (k *Console) longest(r *http.Request) int64 {
	if r.Method == http.MethodPost && r.URL.Path == "/characters" {
		return maxForm + k.Shelf.MostBytes
	}
	return maxForm
}

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
		if foreign(r) {
			http.Error(w, "This page was opened by another site. Open it from the console.", http.StatusForbidden)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, k.longest(r))
		if !k.mayEnter(r) {
			k.turnAway(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// foreign reports whether a page of another site asks for something that costs work: a search, a profile, a picture. A plain link to a page
// is followed.
func foreign(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return false
	}
	plain := r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document" && r.URL.RawQuery == ""
	return !plain || strings.HasPrefix(r.URL.Path, "/debug/")
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
	// maxAttempts is how many wrong tokens are accepted per minute from one address.
	maxAttempts = 10
	// maxAddresses is how many addresses with wrong tokens are remembered.
	maxAddresses = 4096
)

// attempts counts wrong tokens by address. Its zero value is ready.
type attempts struct {
	mu sync.Mutex
	by map[netip.Prefix]tries // guarded by mu
}

// tries are the wrong tokens of an address in a minute.
type tries struct {
	since time.Time
	n     int
}

// wrong counts a wrong token.
func (a *attempts) wrong(from netip.Prefix, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.by == nil || len(a.by) >= maxAddresses {
		a.by = map[netip.Prefix]tries{}
	}
	t := a.by[from]
	if now.Sub(t.since) > time.Minute {
		t = tries{since: now}
	}
	t.n++
	a.by[from] = t
}

// spent reports whether there were too many wrong tokens in the last minute.
func (a *attempts) spent(from netip.Prefix, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	t := a.by[from]
	return t.n >= maxAttempts && now.Sub(t.since) <= time.Minute
}

// addressOf returns where a request comes from; of IPv6 the network of its machine. A known proxy tells it in X-Forwarded-For, which
// anybody else could make up.
func (k *Console) addressOf(r *http.Request) netip.Prefix {
	peer, _ := netip.ParseAddrPort(r.RemoteAddr)
	addr := peer.Addr().Unmap()
	said := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(said) - 1; i >= 0 && k.isProxy(addr); i-- {
		client, err := netip.ParseAddr(strings.TrimSpace(said[i]))
		if err != nil {
			break
		}
		addr = client.Unmap()
	}
	bits := addr.BitLen()
	if addr.Is6() {
		bits = 64
	}
	network, _ := addr.Prefix(bits) // zero if there is no address
	return network
}

func (k *Console) isProxy(addr netip.Addr) bool {
	return slices.ContainsFunc(k.Proxies, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// mayEnter reports whether a request may enter. It has the token, a session that was started with it, or no token is required.
func (k *Console) mayEnter(r *http.Request) bool {
	if k.Token == "" || r.URL.Path == "/login" || r.URL.Path == "/healthz" || strings.HasPrefix(r.URL.Path, "/static/") {
		return true
	}
	from, now := k.addressOf(r), time.Now()
	if given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok && !k.locks.spent(from, now) {
		if k.isToken(given) {
			return true
		}
		k.locks.wrong(from, now)
	}
	_, ok := k.sessionOf(r)
	return ok
}

func (k *Console) isToken(given string) bool {
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(k.Token))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// session is a browser that is signed in. The store has it under sessionNotes and its key.
type session struct {
	Key   string    `json:"-"` // made of the cookie and the token: it opens nothing by itself, and a new token ends all sessions
	Began time.Time `json:"began"`
	Seen  time.Time `json:"seen"` // to within seenEvery
	From  string    `json:"from"` // address
	Agent string    `json:"agent"`
	Own   bool      `json:"-"` // it is the reader's
}

// Short names the session in the list of what was done.
func (s session) Short() string { return s.Key[:8] }

const (
	sessionNotes = "console.session/"
	seenEvery    = 10 * time.Minute
	maxSessions  = 50
)

// sessionKey returns the key of a cookie's session.
func (k *Console) sessionKey(cookie string) string {
	mac := hmac.New(sha256.New, []byte(k.Token))
	mac.Write([]byte("familiar console session " + cookie))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// sessionOf returns the session of a request.
func (k *Console) sessionOf(r *http.Request) (s session, ok bool) {
	c, err := r.Cookie(sessionCookie)
	if err != nil || c.Value == "" {
		return s, false
	}
	key, now := k.sessionKey(c.Value), time.Now()
	note, err := k.Store.Notes.Get(r.Context(), sessionNotes+key)
	if err != nil || json.Unmarshal([]byte(note), &s) != nil || now.Sub(s.Began) > sessionLife {
		return s, false
	}
	if s.Key = key; now.Sub(s.Seen) > seenEvery {
		s.Seen = now
		k.saveSession(r, s, k.Store.Notes.Amend) // it may have been ended meanwhile
	}
	return s, true
}

func (k *Console) saveSession(r *http.Request, s session, save func(ctx context.Context, key, value string) error) {
	note, err := json.Marshal(s)
	if err == nil {
		err = save(r.Context(), sessionNotes+s.Key, string(note))
	}
	if err != nil {
		k.Log.Warn("console: save session", "err", err)
	}
}

// sessions returns who is signed in, who came last first. It ends old sessions, and the oldest of too many.
func (k *Console) sessions(r *http.Request) (all []session, err error) {
	notes, err := k.Store.Notes.Under(r.Context(), sessionNotes)
	own, _ := k.sessionOf(r)
	ended := map[string]string{}
	for key, note := range notes {
		s := session{Key: key, Own: key == own.Key}
		if json.Unmarshal([]byte(note), &s) != nil || time.Since(s.Began) > sessionLife {
			ended[key] = ""
			continue
		}
		all = append(all, s)
	}
	slices.SortStableFunc(all, func(a, b session) int { return b.Seen.Compare(a.Seen) })
	for _, s := range all[min(len(all), maxSessions):] {
		ended[s.Key] = ""
	}
	if err == nil && len(ended) > 0 {
		err = k.Store.Notes.SetUnder(r.Context(), sessionNotes, ended)
	}
	return all[:min(len(all), maxSessions)], err
}

func (k *Console) showSessions(w http.ResponseWriter, r *http.Request) {
	all, err := k.sessions(r)
	if err != nil {
		k.broken(w, r, err)
		return
	}
	k.render(w, r, http.StatusOK, "sessions", "Sessions", all)
}

// revoke ends a session, or all but the reader's.
func (k *Console) revoke(w http.ResponseWriter, r *http.Request) {
	all, err := k.sessions(r)
	ended, key := map[string]string{}, r.PostFormValue("key")
	for _, s := range all {
		if s.Key == key || key == "others" && !s.Own {
			ended[s.Key] = ""
		}
	}
	if err == nil {
		err = k.Store.Notes.SetUnder(r.Context(), sessionNotes, ended)
	}
	if err != nil {
		k.broken(w, r, err)
		return
	}
	done := "revoked"
	if len(ended) == 0 {
		done = "unchanged"
	}
	k.redirect(w, r, "/sessions?done="+done)
}

// turnAway redirects people to the form and refuses programs.
func (k *Console) turnAway(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet || !strings.Contains(r.Header.Get("Accept"), "text/html") {
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "The console's token is missing or wrong.", http.StatusUnauthorized)
		return
	}
	k.redirect(w, r, "/login")
}

type loginPage struct{ Problem string }

func (k *Console) login(w http.ResponseWriter, r *http.Request) {
	if k.Token == "" {
		k.redirect(w, r, "/")
		return
	}
	k.render(w, r, http.StatusOK, "login", "Sign in", loginPage{})
}

func (k *Console) enter(w http.ResponseWriter, r *http.Request) {
	now, from := time.Now(), k.addressOf(r)
	switch {
	case k.Token == "":
	case k.locks.spent(from, now):
		k.render(w, r, http.StatusTooManyRequests, "login", "Sign in", loginPage{"There were too many wrong tokens from your address. Wait a minute."})
		return
	case !k.isToken(r.PostFormValue("token")):
		k.locks.wrong(from, now)
		k.Log.Warn("console: wrong token", "from", from.Addr())
		k.render(w, r, http.StatusUnauthorized, "login", "Sign in", loginPage{"This is not the token. It is the value of FAMILIAR_CONSOLE_TOKEN."})
		return
	default:
		value := rand.Text()
		k.saveSession(r, session{Key: k.sessionKey(value), Began: now, Seen: now, From: from.Addr().String(), Agent: text.Truncate(r.UserAgent(), 200)}, k.Store.Notes.Set)
		http.SetCookie(w, k.cookie(r, sessionCookie, value, int(sessionLife.Seconds())))
	}
	k.redirect(w, r, "/")
}

// leave ends the session. A copy of its cookie opens nothing any more.
func (k *Console) leave(w http.ResponseWriter, r *http.Request) {
	if s, ok := k.sessionOf(r); ok {
		if err := k.Store.Notes.SetUnder(r.Context(), sessionNotes, map[string]string{s.Key: ""}); err != nil {
			k.broken(w, r, err)
			return
		}
	}
	http.SetCookie(w, k.cookie(r, sessionCookie, "", -1))
	k.redirect(w, r, "/login")
}

// cookie returns a cookie that is sent only to this site and only by its own pages. If the console is reached over TLS,
// the cookie requires it.
func (k *Console) cookie(r *http.Request, name, value string, seconds int) *http.Cookie {
	return &http.Cookie{
		Name: name, Value: value, Path: k.Prefix + "/", MaxAge: seconds, HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https",
	}
}
