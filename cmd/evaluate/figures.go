package main

import (
	_ "embed"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

//go:embed figures.toml
var recordedFigures string

// scoring is one call of a scorer on the predictions for a set, and the figures that are read from its answer.
type scoring struct {
	Set     string // of the table of sets
	Folder  string // that holds the rows; ownFolder: they are the project's
	Unseen  bool   // each row is predicted by models that have not seen it
	Score   string // the scorer and its options; empty if the predictions themselves are the answer
	Figures []figure
}

// figure is one measured number: a share × 100, unless it is a count.
type figure struct {
	Measure  string
	Find     string   // a regular expression for the answer, see read; empty: the scorer's output is the number
	Recorded float64  // what the committed code reaches
	Quick    float64  // … on half of the rows
	Wanted   *float64 // nil: nothing is asked for
	Lower    bool     // lower is better
	Count    bool     // it counts cases that must not be: each one more is too many
}

// scorings is the table of figures.toml.
func scorings() ([]scoring, error) {
	var table struct{ Scoring []scoring }
	in := toml.NewDecoder(strings.NewReader(recordedFigures)).DisallowUnknownFields()
	if err := in.Decode(&table); err != nil {
		return nil, fmt.Errorf("read recorded figures: %w", err)
	}
	return table.Scoring, nil
}

// read finds the figure in a scorer's output and notes. Where Find has no group, the figure is the share of the notes'
// lines that match; a group holds the number; two hold the parts of shares, which are added up.
func (f figure) read(output, notes string) (float64, error) {
	if f.Find == "" {
		return number(output)
	}
	find, err := regexp.Compile(f.Find)
	if err != nil {
		return 0, err
	}
	found := find.FindAllStringSubmatch(notes, -1)
	if len(found) == 0 && find.NumSubexp() > 0 {
		return 0, fmt.Errorf("the scorer says nothing like %q", f.Find)
	}
	switch find.NumSubexp() {
	case 0:
		return 100 * float64(len(found)) / float64(strings.Count(notes, "\n")), nil
	case 1:
		return number(found[0][1])
	}
	part, whole := 0.0, 0.0
	for _, match := range found {
		a, err := number(match[1])
		if err != nil {
			return 0, err
		}
		b, err := number(match[2])
		if err != nil {
			return 0, err
		}
		part, whole = part+a, whole+b
	}
	return 100 * part / whole, nil
}

func number(text string) (float64, error) {
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil {
		return 0, fmt.Errorf("read figure: %w", err)
	}
	return n, nil
}

// worse says that a figure fell behind another by more than chance explains: a point, or one case.
func (f figure) worse(reached, recorded float64) bool {
	switch {
	case f.Count:
		return reached > recorded
	case f.Lower:
		return reached > recorded+1
	}
	return reached < recorded-1
}

// wanted is what is asked for, in words.
func (f figure) wanted() string {
	switch {
	case f.Wanted == nil:
		return ""
	case f.Lower && *f.Wanted > 0:
		return "≤ " + plain(*f.Wanted)
	}
	return plain(*f.Wanted)
}

// plain writes a figure as short as it is.
func plain(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
