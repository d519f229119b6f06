package metrics

import (
	"bytes"
	"os"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// State is what is read when somebody asks. A function that is nil is not asked.
type State struct {
	Version    string
	Gateway    func() Gateway
	Database   func() (used, file int64, err error) // bytes
	LastBackup func() (time.Time, error)            // an error: there is none
	Spans      func() (sent, dropped uint64)        // of exported traces
}

// Gateway is how the connection to Discord does.
type Gateway struct {
	Connected  bool
	Since      time.Time // when that last changed
	Trouble    string    // why it is not connected
	Latency    time.Duration
	Servers    int
	Identifies int
	Resumes    int
	Dropped    int // events
}

// collector reads a State, and what the system knows of the process.
type collector struct {
	State
	started time.Time
}

// Describe sends nothing: what is collected may differ each time.
func (*collector) Describe(chan<- *prometheus.Desc) {}

// Collect reads the state.
func (c *collector) Collect(to chan<- prometheus.Metric) {
	send := func(kind prometheus.ValueType, name, help string, value float64, labels ...string) {
		var names, values []string
		for i := 0; i < len(labels); i += 2 {
			names, values = append(names, labels[i]), append(values, labels[i+1])
		}
		to <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, names, nil), kind, value, values...)
	}
	const gauge, counter = prometheus.GaugeValue, prometheus.CounterValue
	send(gauge, "process_start_time_seconds", "When the process began.", float64(c.started.Unix()))
	if resident, cpu, ok := process(); ok {
		send(gauge, "process_resident_memory_bytes", "What the process has in memory.", resident)
		send(counter, "process_cpu_seconds_total", "Time of the processors that the process has had.", cpu)
	}
	send(gauge, "familiar_build_info", "1, with the version of the program.", 1, "version", c.Version)
	if c.Gateway != nil {
		g := c.Gateway()
		connected := 0.0
		if g.Connected {
			connected = 1
		}
		send(gauge, "familiar_gateway_connected", "Whether a session with Discord's gateway is established.", connected)
		send(gauge, "familiar_gateway_latency_seconds", "How long the gateway took to answer the last heartbeat.", g.Latency.Seconds())
		send(gauge, "familiar_servers", "Servers that the bot is in.", float64(g.Servers))
		send(counter, "familiar_gateway_sessions_total", "Sessions with the gateway, by how they began.", float64(g.Identifies), "how", "identify")
		send(counter, "familiar_gateway_sessions_total", "Sessions with the gateway, by how they began.", float64(g.Resumes), "how", "resume")
		send(counter, "familiar_gateway_events_dropped_total", "Events that were lost because the bot did not keep up.", float64(g.Dropped))
	}
	if c.Database != nil {
		if used, file, err := c.Database(); err == nil {
			send(gauge, "familiar_database_used_bytes", "What is kept.", float64(used))
			send(gauge, "familiar_database_size_bytes", "The database's file, with the space of what was deleted.", float64(file))
		}
	}
	if c.LastBackup != nil {
		if at, err := c.LastBackup(); err == nil {
			send(gauge, "familiar_last_backup_timestamp_seconds", "When the last backup was made.", float64(at.Unix()))
		}
	}
	if c.Spans != nil {
		sent, dropped := c.Spans()
		send(counter, "familiar_spans_exported_total", "Spans that a collector took.", float64(sent))
		send(counter, "familiar_spans_dropped_total", "Spans that were given up, because the collector did not take them or too many waited.", float64(dropped))
	}
}

// process reads what Linux knows of this process. The library's own collector reads and allocates ten times as much, and what is allocated while nothing else
// happens keeps the process from giving memory back. Ok is false elsewhere.
// https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
func process() (resident, cpu float64, ok bool) {
	text, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0, 0, false
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:]) // from the third, the state, on
	if len(fields) < 22 {
		return 0, 0, false
	}
	number := func(field int) float64 {
		n, _ := strconv.ParseFloat(string(fields[field-3]), 64)
		return n
	}
	const ticks = 100 // a second
	return number(24) * float64(os.Getpagesize()), (number(14) + number(15)) / ticks, true
}
