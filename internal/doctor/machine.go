package doctor

import (
	"fmt"
	"math"
	"time"

	"familiar/internal/text"
)

// Database is what a look at the database found.
type Database struct {
	Path    string
	Missing bool   // there is none yet
	Dir     error  // why its directory cannot be written; nil: it can
	Trouble string // why it cannot be opened, with the cure; empty: it was
	Older   bool   // it is of an earlier version, which the next start brings up to date
	Hurried bool   // there was no time to look through all of it

	Wrong         []string // what is damaged
	Bytes, Unused int64
	Schema        int64
	Free          int64 // bytes on its disk
	FreeKnown     bool
	Backup        time.Time // of the last one; zero: none is known
	Now           time.Time
}

// Bounds of what is good.
const (
	littleSpace  = 1 << 30
	leastSpace   = 100 << 20
	oldBackup    = 14 * 24 * time.Hour
	smallestKept = 1 << 20 // a database that is smaller holds hardly anything that a backup would save
	mostSkew     = 30 * time.Second
)

// Judge says whether the database is whole, has room, and is saved elsewhere.
func (d Database) Judge() []Finding {
	all := []Finding{d.judgeFile()}
	if d.FreeKnown {
		all = append(all, d.judgeSpace())
	}
	if !d.Missing && d.Trouble == "" {
		all = append(all, d.judgeBackup())
	}
	return all
}

func (d Database) judgeFile() Finding {
	f := Finding{ID: "database", State: OK}
	switch {
	case d.Dir != nil:
		f.State, f.Text = Failure, d.Dir.Error()+"."
		f.Cure = "give the user that this program runs as the right to write there, or set FAMILIAR_DATA to another directory"
	case d.Missing:
		f.Text = fmt.Sprintf("There is none yet; the first start makes %s.", d.Path)
	case d.Older:
		f.State, f.Text, f.Cure = Warning, "It is of an earlier version of this program.", "start the bot, which brings it up to date; make a backup before"
	case d.Trouble != "":
		f.State, f.Text, f.Cure = Failure, "It cannot be read.", d.Trouble
	case len(d.Wrong) > 0:
		f.State, f.Text = Failure, fmt.Sprintf("It is damaged: %s.", d.Wrong[0])
		f.Cure = "stop the bot and put back the last backup, or move familiar.db and the files beside it away to begin with an empty one"
	case d.Hurried:
		f.State, f.Text = Warning, fmt.Sprintf("%s, which is too large to be looked through for damage in the time there is.", text.Size(d.Bytes))
		f.Cure = "sqlite3 familiar.db 'PRAGMA quick_check' does it"
	default:
		f.Text = fmt.Sprintf("%s, %s of them unused, schema %d; nothing is damaged.", text.Size(d.Bytes), text.Size(d.Unused), d.Schema)
	}
	return f
}

func (d Database) judgeSpace() Finding {
	f := Finding{ID: "space", State: OK, Text: text.Size(d.Free) + " are free on its disk."}
	if d.Free < max(littleSpace, 2*d.Bytes) {
		f.State, f.Cure = Warning, "free some space: a backup takes as much as the database, and so may tidying it"
	}
	if d.Free < leastSpace {
		f.State = Failure
	}
	return f
}

func (d Database) judgeBackup() Finding {
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

// Clock judges this machine's clock by another's. Who is the service that said what time it is; ahead is how far this one is ahead, to
// the second, as far as the answer's way allows to tell.
func Clock(who string, ahead time.Duration) Finding {
	if who == "" {
		return Finding{ID: "clock", State: Skipped, Text: "No service said what time it is."}
	}
	ahead = ahead.Round(time.Second)
	f := Finding{ID: "clock", State: OK, Text: fmt.Sprintf("It agrees with that of %s to %v.", who, max(ahead.Abs(), time.Second))}
	if ahead.Abs() > mostSkew {
		where := "ahead of"
		if ahead < 0 {
			where = "behind"
		}
		f.State, f.Text = Warning, fmt.Sprintf("It is %v %s that of %s. Discord's ids hold the time: how old a message is, what was missed and what is to be deleted is counted wrongly.", ahead.Abs(), where, who)
		f.Cure = "have the clock set by the network: timedatectl set-ntp true, or your system's like of it"
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
