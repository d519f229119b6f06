// Soak starts the real program between a Discord and a model on this machine. It puts it under load, injects faults, and counts what became
// of every mention.
//
//	go run ./internal/test/soak SCENARIO [flags]
//
//	kill     -n times (200) SIGKILL at a random moment, each followed by a restart
//	shards   kill with four shards, a server in each
//	term     -n times (50) SIGTERM likewise
//	fleet    -n mentions (2,000) to three processes over one PostgreSQL, 16 shards; every 20 s one after the other is killed, or sent SIGTERM,
//	         or frozen for 40 s, as -fault says: kill, term, freeze; or clock, with clocks that are an hour off; or away, the database is gone
//	         for 2, 10 and 60 s; or full, its disk is, which needs root; or failover, a copy takes its place. It starts a server of its own, or takes -database, an empty one
//	power    -n times (30) the power is cut under a disk, likewise; needs root and a loop device
//	clock    -n times (24) SIGKILL, likewise; the clock is 40 days ahead, right, 40 days late, and right again
//	token    -n times (20) Discord refuses the token of a post, which ends the program; then the token is right again
//	cutlog   -n times (10) the log of the database is cut while the program runs; needs sqlite3
//	steady   -rate turns a second (5) for a time, -for 20m: memory and the time to the first visible word
//	single   -n mentions (120), one at a time: the first visible word, and the program's own time
//	long     -rate messages a second (2) in 500 channels for a time, -for 1h, with random faults everywhere
//	load     -n mentions (200) at once in 50 channels; then the model hangs in all of them, and a person writes in another
//	busy     -rate turns a second (5) for a time, -for 15m, beside two processes that keep two processors busy
//	burst    -n mentions (1,200) at once, in 200 channels; Discord takes 50 requests a second
//	outage   the network to Discord is down for 2, 8 and 30 s
//	disk     the disk is full for a time, -for 1m, then frozen for 25 s, and people also ask for /help; needs root and a loop device
//	erase    a person with -n messages (20,000) is forgotten under load
//	hang     the model hangs in half of the channels for a time, -for 30s
//
// The accounting is independent of the program. ledger.go records every mention that was written, and audit.go checks what Discord holds in
// the end. Every mention is answered, or its author is told why it is not. No mention is answered twice, and no reply is incomplete without
// a mark. Each reply has its complete record in the database. To be told is not a success: service.go has the least share that is answered,
// and the longest waits. SQLite's own tool looks through the database, if the machine has it. The output is a Markdown table of counts and
// a line for each broken promise. A scenario that failed, could not run or was interrupted has them, too. The exit code is 1 if a promise
// was broken. A second signal ends the driver at once.
//
// stage.go has the far ends and the processes, and people.go the load. The scenarios are in load.go, kill.go, steady.go, long.go and
// outage.go.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Exit codes.
const (
	exitOK     = 0
	exitBroken = 1 // a promise was broken, or the scenario could not run
	exitUsage  = 2
)

// options are the flags. A zero value means the scenario's default.
type options struct {
	name       string        // of the scenario
	rounds     int           // kills, signals, mentions or messages
	rate       float64       // mentions a second
	channels   int           //
	people     int           //
	span       time.Duration // of load or of a fault
	seed       uint64        // of every random choice
	gap        bool          // the promises also apply to mentions written while no program was connected
	bursts     bool          // some people write twice at once
	goroutines bool          // the runtime writes its goroutines into the log
	program    string        // path of a binary; empty: the program is built
	keep       bool          // the directory is kept
	tls        bool          // Discord and the model are behind TLS
	http1      bool          // with tls: they do not speak HTTP/2
	first      time.Duration // most at the 99th percentile to the first words of what came in good times. With 0 the scenario judges by itself
	loses      bool          // records of bad times may be lost
	shards     int           // of the program; 0: one
	database   string        // address of an empty PostgreSQL database; empty: the program has files
	fault      string        // what happens to the processes of a fleet; empty: everything in turn
	answer     time.Duration // how long an answer of the model takes; 0: a second
}

type scenario struct {
	name    string
	options options
	play    func(context.Context, *stage) error
}

func scenarios() []scenario {
	return []scenario{
		{"kill", options{rounds: 200, rate: 4, channels: 16, people: 125, bursts: true, first: 10 * time.Second}, playKill},
		{"shards", options{rounds: 100, rate: 4, channels: 16, people: 125, bursts: true, first: 10 * time.Second, shards: 4}, playKill},
		{"term", options{rounds: 50, rate: 4, channels: 16, people: 125, bursts: true, first: 10 * time.Second}, playTerm},
		{"fleet", options{rounds: 2000, rate: 5, channels: 48, people: 191, bursts: true, first: 10 * time.Second, shards: 16}, playFleet},
		{"power", options{rounds: 30, rate: 4, channels: 8, people: 125, bursts: true, first: 10 * time.Second}, playPower},
		{"clock", options{rounds: 24, rate: 4, channels: 16, people: 125, bursts: true, first: 10 * time.Second}, playClock},
		{"token", options{rounds: 20, rate: 4, channels: 16, people: 125, bursts: true, first: 10 * time.Second}, playToken},
		{"cutlog", options{rounds: 10, rate: 4, channels: 16, people: 125, bursts: true, first: 10 * time.Second, loses: true}, playCutLog},
		{"steady", options{rate: 5, channels: 20, people: 61, span: 20 * time.Minute, first: 5 * time.Second}, playSteady},
		{"busy", options{rate: 5, channels: 20, people: 61, span: 15 * time.Minute, first: 5 * time.Second}, playBusy},
		{"single", options{rounds: 120, channels: 20, people: 61, first: time.Second}, playSingle},
		{"long", options{rate: 2, channels: 500, people: 211, span: time.Hour, goroutines: true, first: 10 * time.Second}, playLong},
		{"load", options{rounds: 200, channels: 50, people: 200}, playLoad},
		{"burst", options{rounds: 1200, channels: 200, people: 200, first: 35 * time.Second}, playBurst},
		{"outage", options{rate: 3, channels: 16, people: 125, bursts: true, first: 10 * time.Second}, playOutage},
		{"disk", options{rate: 2, channels: 8, people: 125, bursts: true, span: time.Minute, first: 10 * time.Second}, playDisk},
		{"erase", options{rounds: 20_000, rate: 4, channels: 16, people: 125, first: 10 * time.Second}, playErase},
		{"hang", options{rate: 4, channels: 8, people: 125, span: 30 * time.Second, first: 5 * time.Second}, playHang},
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process
	os.Exit(run(ctx, os.Args[1:], os.Stdout))
}

func run(ctx context.Context, args []string, out io.Writer) int {
	sc, err := choose(args, out)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		fmt.Fprintln(out, err)
		return exitUsage
	}
	fmt.Fprintf(out, "%s, -seed %d\n", sc.name, sc.options.seed)
	s, err := newStage(ctx, sc.options, out)
	if err != nil {
		fmt.Fprintln(out, err)
		return exitBroken
	}
	defer s.close()
	err = sc.play(ctx, s)
	s.lawful()
	if s.print(out); err != nil || len(s.findings) > 0 {
		if err != nil {
			fmt.Fprintf(out, "\n%s did not come to its end: %v\n", sc.name, err)
		}
		s.opt.keep = true
		return exitBroken
	}
	return exitOK
}

// choose parses the command line.
func choose(args []string, out io.Writer) (scenario, error) {
	usage := errors.New("usage: soak kill|shards|fleet|term|power|clock|token|cutlog|steady|busy|single|long|load|burst|outage|disk|erase|hang [flags]; -h lists them")
	if len(args) == 0 {
		return scenario{}, usage
	}
	var o options
	flags := flag.NewFlagSet("soak", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.IntVar(&o.rounds, "n", 0, "kills, signals, mentions or messages")
	flags.Float64Var(&o.rate, "rate", 0, "mentions a `second`")
	flags.IntVar(&o.channels, "channels", 0, "channels that are written in")
	flags.IntVar(&o.people, "people", 0, "people who write, 999 at most; the program answers one 20 times a minute")
	flags.DurationVar(&o.span, "for", 0, "how long the load, or a fault, lasts")
	flags.Uint64Var(&o.seed, "seed", rand.Uint64N(1e6), "of every random choice")
	flags.BoolVar(&o.gap, "gap", true, "hold the promises for mentions that were written while no program was connected, too")
	flags.StringVar(&o.program, "program", "", "a `binary` in place of the one that is built")
	flags.BoolVar(&o.keep, "keep", false, "keep the directory with the data and the log; it is kept where a promise is broken")
	flags.BoolVar(&o.tls, "tls", false, "put Discord and the model behind TLS, with a certificate authority of this run's own")
	flags.BoolVar(&o.http1, "http1", false, "with -tls: no HTTP/2, as of many local servers")
	flags.StringVar(&o.database, "database", "", "`address` of an empty PostgreSQL database for fleet, in place of a server of its own")
	flags.StringVar(&o.fault, "fault", "", "what happens in fleet: kill, term, hurry, freeze, clock, away, full, failover or nothing; otherwise the first three in turn")
	flags.DurationVar(&o.answer, "answer", 0, "how long an answer of the model takes, in place of a second")
	if args[0] == "-h" || args[0] == "--help" {
		return scenario{}, flags.Parse(args[:1])
	}
	if err := flags.Parse(args[1:]); err != nil {
		return scenario{}, err
	}
	for _, sc := range scenarios() {
		if sc.name == args[0] {
			sc.options = o.over(sc.options)
			sc.options.name = sc.name
			return sc, nil
		}
	}
	return scenario{}, usage
}

// over returns the options, with unset ones taken from preset.
func (o options) over(preset options) options {
	o.rounds = cmp.Or(o.rounds, preset.rounds)
	o.rate = cmp.Or(o.rate, preset.rate)
	o.channels = cmp.Or(o.channels, preset.channels)
	o.people = cmp.Or(o.people, preset.people)
	o.span = cmp.Or(o.span, preset.span)
	o.bursts, o.goroutines, o.first, o.loses, o.shards = preset.bursts, preset.goroutines, preset.first, preset.loses, preset.shards
	return o
}

// print writes the table, in Markdown, and the broken promises.
func (s *stage) print(out io.Writer) {
	rows := [][2]string{{s.opt.title(), "figure"}, {"---", "---:"}}
	for _, c := range s.counts {
		rows = append(rows, [2]string{c.what, c.figure})
	}
	broken := map[string]int{}
	promises := []string{everyone, once, whole, onRecord, ended}
	for _, f := range s.findings {
		if broken[f.promise]++; !slices.Contains(promises, f.promise) {
			promises = append(promises, f.promise)
		}
	}
	for _, p := range promises {
		rows = append(rows, [2]string{"broken: " + p, fmt.Sprint(broken[p])})
	}
	for _, r := range rows {
		fmt.Fprintf(out, "| %s | %s |\n", r[0], r[1])
	}
	if len(s.findings) > 0 {
		fmt.Fprintln(out)
	}
	for _, f := range s.findings {
		about := ""
		if m := f.mention; m.id != "" {
			about = fmt.Sprintf(", %s, message %s of %s in channel %s at %s", m.tag, m.id, m.author, m.channel, m.at.Format(clock))
		}
		fmt.Fprintf(out, "- NOT %s%s: %s\n", f.promise, about, strings.ReplaceAll(f.what, "\n", " "))
	}
}

// title describes the scenario and its options.
func (o options) title() string {
	title := fmt.Sprintf("%s, %d channels", o.name, o.channels)
	if o.rate > 0 {
		title += fmt.Sprintf(", %g a second", o.rate)
	}
	if o.span > 0 {
		title += fmt.Sprintf(", %v", o.span)
	}
	switch {
	case o.tls && o.http1:
		title += ", TLS with HTTP/1.1"
	case o.tls:
		title += ", TLS"
	}
	return fmt.Sprintf("%s, -seed %d", title, o.seed)
}
