package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net"
	"net/http"
	"net/netip"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"familiar/internal/store"
	"familiar/internal/text"
)

func (e *Examination) database(ctx context.Context) []Finding {
	d := database{Path: filepath.Join(e.Data, "familiar.db"), Now: time.Now()}
	if err := e.Writable(); err != nil {
		d.Dir = fmt.Errorf("FAMILIAR_DATA: %w", err)
	}
	if free, err := e.Free(e.Disk); err == nil {
		d.Free, d.FreeKnown = free, true
	}
	if d.Server = store.IsServer(e.Place); d.Server {
		d.Path = store.ShownPlace(e.Place)
	}
	var db *store.DB
	err := store.CheckServer(ctx, e.Place)
	if err == nil {
		db, err = store.Look(ctx, e.Place)
	}
	var trouble *store.Error
	switch {
	case errors.As(err, &trouble) && trouble.Kind == store.Missing:
		d.Missing = true
		return d.judge()
	case errors.As(err, &trouble) && trouble.Kind == store.Older:
		d.Older, d.Trouble = true, err.Error()
		return d.judge()
	case err != nil:
		d.Trouble = err.Error()
		return d.judge()
	}
	defer db.Close()
	if at, err := db.LastBackup(ctx); err == nil {
		d.Backup = at
	}
	if d.Fleet, err = db.Leases.Fleet(ctx); err != nil {
		d.Trouble = err.Error()
		return d.judge()
	}
	found, err := db.Inspect(ctx)
	d.Bytes, d.Unused, d.Schema, d.Wrong = found.Bytes, found.Unused, found.Schema, found.Wrong
	switch {
	case err != nil && ctx.Err() != nil:
		d.Hurried = true
	case err != nil:
		d.Trouble = err.Error()
	}
	return d.judge()
}

// database is what was found out about the database.
type database struct {
	Path    string
	Server  bool   // it is on a server, which keeps it in order; Free is about this program's other files
	Missing bool   // there is none yet
	Dir     error  // why its directory cannot be written; nil: it can
	Trouble string // why it cannot be opened, with what to do; empty: it was opened
	Older   bool   // an earlier version made it; the next start updates it
	Hurried bool   // there was no time to look through all of it

	Wrong         []string // what is damaged
	Bytes, Unused int64
	Schema        int64
	Free          int64 // bytes on its disk
	FreeKnown     bool
	Backup        time.Time // of the last one; zero: none is known
	Fleet         store.Fleet
	Now           time.Time
}

// Limits of what is fine.
const (
	littleSpace  = 1 << 30
	leastSpace   = 100 << 20
	oldBackup    = 14 * 24 * time.Hour
	smallestKept = 1 << 20 // bytes; a smaller database holds hardly anything to back up
	mostSkew     = 30 * time.Second
)

// judge says whether the database is undamaged, has room and is backed up.
func (d database) judge() []Finding {
	all := []Finding{d.judgeFile()}
	if d.FreeKnown {
		all = append(all, d.judgeSpace())
	}
	if !d.Missing && d.Trouble == "" && !d.Server {
		all = append(all, d.judgeBackup())
	}
	if len(d.Fleet.Alive()) > 0 {
		all = append(all, judgeFleet(d.Fleet, d.Now))
	}
	return all
}

// judgeFleet judges the processes that share the database.
func judgeFleet(fleet store.Fleet, now time.Time) Finding {
	f := Finding{ID: "processes", State: OK}
	alive, versions := fleet.Alive(), map[string]bool{}
	var each []string
	for _, p := range alive {
		about := fmt.Sprintf("%s has %s", p.Name(), number(len(fleet.Of(p.ID)), "shard"))
		if !p.Began.IsZero() {
			about += fmt.Sprintf(", runs %s for %v", p.Version, fleet.Now.Sub(p.Began).Round(time.Second))
		}
		each, versions[p.Version] = append(each, about), true
	}
	f.Text = fmt.Sprintf("%d processes share %s: %s.", len(alive), number(len(fleet.Shards), "shard"), strings.Join(each, "; "))
	if len(alive) == 1 {
		f.Text = fmt.Sprintf("One process runs %s: %s.", number(len(fleet.Shards), "shard"), each[0])
	}
	if off := fleet.Now.Sub(now).Round(time.Second); off.Abs() > mostSkew {
		f.Text += fmt.Sprintf(" The clock of the database is %v off this machine's. The leases follow that of the database.", off)
	}
	switch free := fleet.Of(""); {
	case len(free) > 0:
		numbers := make([]string, len(free))
		for i, h := range free {
			numbers[i] = strconv.Itoa(h.Number)
		}
		f.State, f.Text = Warning, f.Text+" Nobody has shard "+strings.Join(numbers, ", ")+"."
		f.Cure = "wait 20 seconds and look again: another process takes what a dead one had; then read the log for \"shard\""
	case len(versions) > 1:
		f.State, f.Cure = Warning, "bring all processes to one version, one after the other"
	}
	return f
}

func (d database) judgeFile() Finding {
	f := Finding{ID: "database", State: OK}
	switch {
	case d.Dir != nil:
		f.State, f.Text = Failure, d.Dir.Error()+"."
		f.Cure = "give the user that this program runs as the right to write there, or set FAMILIAR_DATA to another directory"
	case d.Missing && d.Server:
		f.Text = fmt.Sprintf("%s is empty. The first start makes its tables.", d.Path)
	case d.Missing:
		f.Text = fmt.Sprintf("There is none yet. The first start creates %s.", d.Path)
	case d.Older:
		f.State, f.Text, f.Cure = Warning, "It is of an earlier version of this program.", "start the bot, which brings it up to date; make a backup before"
	case d.Trouble != "":
		f.State, f.Text, f.Cure = Failure, "It cannot be read.", d.Trouble
	case len(d.Wrong) > 0:
		f.State, f.Text = Failure, fmt.Sprintf("It is damaged: %s.", d.Wrong[0])
		f.Cure = "stop the bot and put back the last backup, or move familiar.db and the files beside it away to begin with an empty one"
	case d.Hurried:
		f.State, f.Text = Warning, fmt.Sprintf("%s: too large to be checked for damage in the available time.", text.Size(d.Bytes))
		f.Cure = "sqlite3 familiar.db 'PRAGMA quick_check' does it"
	case d.Server:
		f.Text = fmt.Sprintf("%s, %s, schema %d. Copy it with pg_dump.", d.Path, text.Size(d.Bytes), d.Schema)
	default:
		f.Text = fmt.Sprintf("%s, %s of them unused, schema %d; nothing is damaged.", text.Size(d.Bytes), text.Size(d.Unused), d.Schema)
	}
	return f
}

func (d database) judgeSpace() Finding {
	f := Finding{ID: "space", State: OK, Text: text.Size(d.Free) + " are free on its disk."}
	if d.Server {
		d.Bytes = 0
	}
	if d.Free < max(littleSpace, 2*d.Bytes) {
		f.State, f.Cure = Warning, "free some space: a backup takes as much as the database, and so may tidying it"
	}
	if d.Free < leastSpace {
		f.State = Failure
	}
	return f
}

func (d database) judgeBackup() Finding {
	f := Finding{ID: "backup", State: OK}
	age := d.Now.Sub(d.Backup)
	switch {
	case !d.Backup.IsZero() && age <= oldBackup:
		f.Text = "The last one is " + span(age) + " old."
	case !d.Backup.IsZero():
		f.State, f.Text, f.Cure = Warning, "The last one is "+span(age)+" old.", "familiar backup FILE, and keep the file on another disk"
	case d.Bytes < smallestKept:
		f.State, f.Text = Skipped, "None is known, and there is hardly anything yet to save."
	default:
		f.State, f.Text, f.Cure = Warning, "None is known.", "familiar backup FILE, and keep the file on another disk"
	}
	return f
}

// span is a length of time for people.
func span(d time.Duration) string {
	if d < 48*time.Hour {
		return number(int(math.Round(d.Hours())), "hour")
	}
	return number(int(d.Hours()/24), "day")
}

func (e *Examination) console(context.Context) []Finding {
	return []Finding{judgeConsole(e.Setting("FAMILIAR_CONSOLE"), e.Setting("FAMILIAR_CONSOLE_TOKEN") != "")}
}

// judgeConsole judges who can reach the console at an address. "" and "off" mean that there is no console.
func judgeConsole(address string, hasToken bool) Finding {
	f := Finding{ID: "console", State: OK}
	if address == "" || address == "off" {
		f.Text = "It is off."
		return f
	}
	host, _, err := net.SplitHostPort(address)
	ip, bad := netip.ParseAddr(host)
	switch {
	case err != nil:
		f.State, f.Text, f.Cure = Failure, fmt.Sprintf("%s is not an address.", address), "set FAMILIAR_CONSOLE to host:port, such as 127.0.0.1:8807, or to off"
	case host == "localhost" || bad == nil && ip.IsLoopback():
		f.Text = fmt.Sprintf("Only this machine can reach it, at http://%s.", address)
	case !hasToken:
		f.State, f.Text = Failure, fmt.Sprintf("Other machines can reach it at %s, and no token is set.", address)
		f.Cure = "set FAMILIAR_CONSOLE_TOKEN to a long random word, or FAMILIAR_CONSOLE to 127.0.0.1:8807"
	default:
		f.State, f.Text = Warning, fmt.Sprintf("Everybody who can reach %s and has the token can log in. Without TLS the token is sent unencrypted.", address)
		f.Cure = "put a proxy with TLS before it, or reach it through a tunnel: ssh -L 8807:127.0.0.1:8807"
	}
	return f
}

const discordsClock = "Discord"

// dated reads the time from the answers that pass it.
type dated struct {
	next    http.RoundTripper
	who     string
	reading *clockReading
}

// RoundTrip implements http.RoundTripper.
func (d *dated) RoundTrip(r *http.Request) (*http.Response, error) {
	began := time.Now()
	resp, err := d.next.RoundTrip(r)
	if err == nil {
		d.reading.read(d.who, resp.Header.Get("Date"), began, time.Since(began))
	}
	return resp, err
}

// CloseIdleConnections lets http.Client.CloseIdleConnections through to the pool.
func (d *dated) CloseIdleConnections() {
	if pool, ok := d.next.(interface{ CloseIdleConnections() }); ok {
		pool.CloseIdleConnections()
	}
}

// read takes the time that an answer was made, in whole seconds: about the middle of the request. Discord's clock is preferred, because its ids
// hold the time; then the quickest answer.
func (c *clockReading) read(who, date string, began time.Time, took time.Duration) {
	at, err := http.ParseTime(date)
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	better := took < c.took
	if who != c.who {
		better = c.who == "" || who == discordsClock
	}
	if !better {
		return
	}
	c.who, c.took, c.ahead = who, took, began.Add(took/2).Sub(at.Add(time.Second/2))
}

// clockReading is what the best answer so far said of the time.
type clockReading struct {
	mu    sync.Mutex
	asked bool          // a client reads the clock; guarded by mu, as are the other fields
	who   string        // empty: no service has told the time
	took  time.Duration // of the request
	ahead time.Duration // of this machine's clock
}

// time takes what other checks were told. If there were none, it asks Discord.
func (e *Examination) time(ctx context.Context) []Finding {
	if _, _, asked := e.clock.told(); !asked {
		e.discord(ctx)
	}
	who, ahead, _ := e.clock.told()
	return []Finding{judgeClock(who, ahead)}
}

// told returns who told the time, and how far this machine's clock is ahead of theirs. asked reports whether anybody was asked.
func (c *clockReading) told() (who string, ahead time.Duration, asked bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.who, c.ahead, c.asked
}

// readFrom has the clock read from the answers to a client's requests.
func (c *clockReading) readFrom(client *http.Client, who string) {
	c.mu.Lock()
	c.asked = true
	c.mu.Unlock()
	if _, already := client.Transport.(*dated); !already {
		client.Transport = &dated{next: client.Transport, who: who, reading: c}
	}
}

// judgeClock compares this machine's clock with that of a service. who is the service, "" if none told the time. ahead is how far this
// machine's clock is ahead of it, to the second.
func judgeClock(who string, ahead time.Duration) Finding {
	if who == "" {
		return Finding{ID: "clock", State: Skipped, Text: "No service returned the time."}
	}
	ahead = ahead.Round(time.Second)
	f := Finding{ID: "clock", State: OK, Text: fmt.Sprintf("It agrees with the clock of %s within %v.", who, max(ahead.Abs(), time.Second))}
	if ahead.Abs() > mostSkew {
		where := "ahead of"
		if ahead < 0 {
			where = "behind"
		}
		f.State, f.Text = Warning, fmt.Sprintf("It is %v %s the clock of %s. Discord's ids contain the time, so the age of messages is computed wrongly: which were missed, and which are to be deleted.", ahead.Abs(), where, who)
		f.Cure = "have the clock set by the network: timedatectl set-ntp true, or your system's like of it"
	}
	return f
}

func (e *Examination) encryption(context.Context) []Finding {
	dir := e.Disk
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return []Finding{judgeEncryption(e.Root, dir)}
}

// judgeEncryption finds out whether the disk of a directory is encrypted. root is Linux's file system with /proc and /sys. Encryption by the disk
// itself, or by the host of a virtual machine, cannot be detected.
func judgeEncryption(root fs.FS, dir string) Finding {
	unknown := Finding{ID: "encryption", State: Skipped, Text: "Disk encryption cannot be detected on this system."}
	m, ok := mountOf(root, dir)
	if !ok {
		return unknown
	}
	switch m.kind {
	case "ecryptfs", "fuse.gocryptfs", "fuse.encfs", "fuse.cryfs":
		return Finding{ID: "encryption", State: OK, Text: fmt.Sprintf("The data is on an encrypted file system (%s).", m.kind)}
	}
	device := m.device(root)
	if device == "" {
		return unknown
	}
	if encrypted(root, device, 0) {
		return Finding{ID: "encryption", State: OK, Text: "The disk of the data is encrypted (dm-crypt)."}
	}
	return Finding{ID: "encryption", State: Warning, Text: "Linux reports no encryption of the data's disk. Encryption by the disk itself or by a host cannot be detected.",
		Cure: "put FAMILIAR_DATA on an encrypted disk (LUKS), or make sure that your provider encrypts it"}
}

// mount is a line of /proc/self/mountinfo.
// https://www.kernel.org/doc/html/latest/filesystems/proc.html
type mount struct{ number, kind, source string }

// mountOf finds the mount that a directory is on: the last one with the longest mount point above it.
func mountOf(root fs.FS, dir string) (found mount, ok bool) {
	lines, err := fs.ReadFile(root, "proc/self/mountinfo")
	if err != nil {
		return mount{}, false
	}
	longest := -1
	for line := range strings.Lines(string(lines)) {
		first, second, _ := strings.Cut(line, " - ")
		left, right := strings.Fields(first), strings.Fields(second)
		if len(left) < 5 || len(right) < 2 {
			continue
		}
		point := unescapeMount(left[4])
		if rel, err := filepath.Rel(point, dir); err != nil || rel == ".." || strings.HasPrefix(rel, "../") || len(point) < longest {
			continue
		}
		longest, ok = len(point), true
		found = mount{number: left[2], kind: right[0], source: unescapeMount(right[1])}
	}
	return found, ok
}

// unescapeMount reads a path as the kernel writes it: \040 is a space.
func unescapeMount(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+4 <= len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// device returns the directory of the mount's disk below /sys, or "" if there is none, as on a network.
func (m mount) device(root fs.FS) string {
	if dir := "sys/dev/block/" + m.number; exists(root, dir) {
		return dir
	}
	name, isDevice := strings.CutPrefix(m.source, "/dev/") // btrfs has a number of its own
	if !isDevice {
		return ""
	}
	if mapped, ok := strings.CutPrefix(name, "mapper/"); ok {
		all, _ := fs.Glob(root, "sys/class/block/dm-*/dm/name")
		for _, file := range all {
			if b, err := fs.ReadFile(root, file); err == nil && strings.TrimSpace(string(b)) == mapped {
				return path.Dir(path.Dir(file))
			}
		}
		return ""
	}
	if dir := "sys/class/block/" + name; exists(root, dir) {
		return dir
	}
	return ""
}

func exists(root fs.FS, name string) bool {
	_, err := fs.Stat(root, name)
	return err == nil
}

// deepest is how many layers of devices are followed: a volume on a group on an array on a disk.
const deepest = 8

// encrypted reports whether a device, or every device below it, belongs to dm-crypt.
func encrypted(root fs.FS, device string, depth int) bool {
	id, _ := fs.ReadFile(root, device+"/dm/uuid")
	if strings.HasPrefix(string(id), "CRYPT-") {
		return true
	}
	below, err := fs.ReadDir(root, device+"/slaves")
	if err != nil || len(below) == 0 || depth == deepest {
		return false
	}
	for _, b := range below {
		if !encrypted(root, device+"/slaves/"+b.Name(), depth+1) {
			return false
		}
	}
	return true
}
