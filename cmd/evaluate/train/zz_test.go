package train

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"familiar/internal/linear"
	"familiar/internal/question"
)

type zrow struct {
	ID, Lang string
	Before   []string
	Text     string
	Must     []string
	Mustnot  []string
}

func zread(f string) (all []zrow) {
	b, err := os.Open(f)
	if err != nil {
		return nil
	}
	sc := bufio.NewScanner(b)
	for sc.Scan() {
		var r zrow
		if json.Unmarshal(sc.Bytes(), &r) == nil && r.ID != "" {
			all = append(all, r)
		}
	}
	return all
}

func (r zrow) follow() followUp {
	f := followUp{Text: r.Text, Want: r.Must, Not: r.Mustnot, lang: r.Lang}
	for i, b := range r.Before {
		if i%2 == 0 {
			f.Before = append(f.Before, b)
		}
	}
	return f
}

func zright(r zrow, q string) (string) {
	ql := strings.ToLower(q)
	for _, n := range r.Mustnot {
		if Holds(q, n) {
			return "forbidden"
		}
	}
	for _, m := range r.Must {
		if !strings.Contains(ql, strings.ToLower(m)) {
			return "lacks"
		}
	}
	return "right"
}

func TestZZ(t *testing.T) {
	s, err := readFollowUps()
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if with := os.Getenv("ZTRAIN"); with != "" {
		for _, f := range strings.Split(with, ",") {
			for _, r := range zread(f) {
				s.rows = append(s.rows, r.follow())
			}
		}
	}
	var m question.Models
	if os.Getenv("ZFULL") != "" {
		m.FollowUp = s.task().train(everything)
	} else {
		b, _ := os.ReadFile("../../../internal/question/followup.model")
		m.FollowUp = linear.MustParse(b)
	}
	fmt.Println("followup", time.Since(start))
	if os.Getenv("ZSLOT") != "" {
		m.Slot = s.learnSlots(-1)
	} else {
		b, _ := os.ReadFile("../../../internal/question/slot.model")
		m.Slot = linear.MustParse(b)
	}
	fmt.Println("slot", time.Since(start))
	oracle := map[string]int{}
	for _, f := range strings.Split(os.Getenv("ZTEST"), ",") {
		by := map[string]int{}
		for _, r := range zread(f) {
			fu := r.follow()
			q, ok := m.Complete(fu.Text, fu.before())
			k := "none"
			if ok {
				k = zright(r, q)
			}
			by[k]++
			can := "cannot"
			for _, c := range question.Completions(fu.Text, fu.before()) {
				if zright(r, c.Query) == "right" {
					can = "can"
				}
			}
			oracle[k+" "+can]++
			if os.Getenv("ZSHOW") != "" && k != "right" {
				fmt.Println(k, can, r.Lang, "|", fu.before(), "|", fu.Text, "->", q, r.Must, r.Mustnot)
			}
		}
		fmt.Println(f, by)
	}
	fmt.Println(oracle)
}

func TestZTrain(t *testing.T) {
	if os.Getenv("ZOUT") == "" {
		t.Skip()
	}
	if err := trainFollowUps(os.Stdout, os.Getenv("ZOUT")); err != nil {
		t.Fatal(err)
	}
}
