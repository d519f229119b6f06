package main

import (
	"embed"
	"io/fs"
	"path"

	"familiar/cmd/evaluate/train"
)

// The project's own sets measure rules that no public set measures. Their rows are in own/SET/cases.jsonl. A row says
// what is right, so it is scored when it is predicted, and needs no scorer: "found" says of a row where a rule must fire
// whether it did, "alarm" of one where it must not; "1/1" is yes and "0/1" is no. Names in the rows are invented.
//
//go:embed own
var own embed.FS

// ownFolder stands in figures.toml for the folder of such a set.
const ownFolder = "own"

// ownRows are the files of one of the project's own sets.
func ownRows(set string) fs.FS {
	files, err := fs.Sub(own, path.Join("own", set))
	if err != nil {
		panic(err) // the name is one of the table of sets
	}
	return files
}

// share is a row's part of a figure.
func share(is bool) string {
	if is {
		return "1/1"
	}
	return "0/1"
}

// detection scores a row where a rule must fire, or must not.
func detection(must, did bool) prediction {
	if must {
		return prediction{"found": share(did)}
	}
	return prediction{"alarm": share(did)}
}

// count counts the phrases that are in a text.
func count(text string, phrases []string) (n int) {
	for _, p := range phrases {
		if train.Holds(text, p) {
			n++
		}
	}
	return n
}
