package console

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/text"
	"familiar/internal/trace"
)

// lineOf returns the line of a search. Links may have its fields as parameters.
func lineOf(f url.Values) string {
	line := f.Get("q")
	for _, field := range [][2]string{{"who", "who"}, {"channel", "in"}, {"state", "state"}, {"lookup", "lookup"}, {"since", "since"}, {"until", "until"}} {
		if value := f.Get(field[0]); value != "" {
			line += " " + field[1] + `:"` + strings.ReplaceAll(value, `"`, "") + `"`
		}
	}
	return strings.TrimSpace(line)
}

// lineParts are the words of a line: a field with a value, which may be quoted, or anything else.
var lineParts = text.NewLazyRegexp(`([a-z]+)([:>])(?:"([^"]*)"|(\S+))|\S+`)

// fields read the fields of a line. Their sign is > for amounts, else a colon.
var fields = map[string]func(q *trace.Query, value string) error{
	"state:": func(q *trace.Query, v string) error {
		if v == "running" {
			v = string(turn.Begun)
		}
		q.Phase = turn.Phase(v)
		return among(v, string(turn.Answered), string(turn.Begun), string(turn.Broken), string(turn.Interrupted))
	},
	"lookup:": func(q *trace.Query, v string) error {
		q.Lookup = turn.State(v)
		return among(v, string(turn.Found), string(turn.Empty), string(turn.LookupFailed), string(turn.NotNeeded), string(turn.Disabled))
	},
	"rated:": func(q *trace.Query, v string) error { q.Rated = v; return among(v, "good", "bad") },
	"who:":   func(q *trace.Query, v string) error { q.Author = v; return nil },
	"by:":    func(q *trace.Query, v string) error { q.Character = v; return nil },
	"model:": func(q *trace.Query, v string) error { q.Model = v; return nil },
	"error:": func(q *trace.Query, v string) error { q.Err = v; return nil },
	"in:":    func(q *trace.Query, v string) error { q.ChannelID = v; return nil },
	"took>": func(q *trace.Query, v string) (err error) {
		q.Longer, err = time.ParseDuration(v)
		return written(err, "20s")
	},
	"tokens>": func(q *trace.Query, v string) (err error) {
		q.Tokens, err = strconv.Atoi(v)
		return written(err, "5000")
	},
	"cost>": func(q *trace.Query, v string) (err error) {
		q.Cost, err = strconv.ParseFloat(v, 64)
		return written(err, "0.01")
	},
	"sort:": func(q *trace.Query, v string) error {
		if slices.Contains(trace.Orders(), v) {
			q.Order = v
		}
		return among(v, trace.Orders()...)
	},
	"since:": nil, "until:": nil, // they need the reader's zone
}

// written says for people how a value is written that could not be read.
func written(err error, example string) error {
	if err != nil {
		return errors.New("it is written as in " + example)
	}
	return nil
}

func fieldNames() []string { return slices.Sorted(maps.Keys(fields)) }

func among(value string, values ...string) error {
	if slices.Contains(values, value) {
		return nil
	}
	return errors.New("it is one of " + strings.Join(values, ", "))
}

// parseLine reads a line of words and fields. The problem is for the reader; what is wrong is left out.
func (k *Console) parseLine(r *http.Request, line string) (q trace.Query, problem string, err error) {
	var words []string
	for _, m := range lineParts.FindAllStringSubmatch(line, -1) {
		name, value := m[1]+m[2], m[3]+m[4]
		read, known := fields[name]
		var wrong error
		switch {
		case !known && m[2] == ":" && !strings.HasPrefix(value, "//") || !known && m[2] == ">":
			wrong = errors.New("there is no such field")
			words = append(words, m[0])
		case !known:
			words = append(words, m[0])
		case read == nil:
			var day time.Time
			if day, wrong = time.ParseInLocation(dayLayout, value, k.zoneOf(r)); wrong != nil {
				wrong = errors.New("a day is written as in 2026-05-31")
			} else if name == "since:" {
				q.Since = day
			} else {
				q.Until = day.AddDate(0, 0, 1)
			}
		default:
			wrong = read(&q, value)
		}
		if wrong != nil {
			problem = fmt.Sprintf("%s%s: %v.", name, value, wrong)
		}
	}
	q.Words = strings.Join(words, " ")
	if q.ChannelID != "" {
		q.ChannelID, err = k.channelCalled(r.Context(), q.ChannelID)
	}
	return q, problem, err
}

// channelCalled returns the id of a channel that is given by its id or its name.
func (k *Console) channelCalled(ctx context.Context, name string) (string, error) {
	all, err := k.Traces.Channels(ctx, mostChannels)
	for _, c := range all {
		if strings.EqualFold(k.channelName(c.ID), "#"+strings.TrimPrefix(name, "#")) {
			return c.ID, err
		}
	}
	return name, err
}

// zoneOf returns the reader's time zone, which the script tells.
func (k *Console) zoneOf(r *http.Request) *time.Location {
	if zone, err := time.LoadLocation(r.URL.Query().Get("zone")); err == nil && r.URL.Query().Get("zone") != "" {
		return zone
	}
	return k.Zone
}
