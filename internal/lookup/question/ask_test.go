package question

import (
	"time"

	"familiar/internal/context/turn"
)

var today = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func ask(text string) turn.Request {
	return turn.Request{ID: "T1", Character: "sage", Mode: turn.Text, Message: turn.Message{ID: "M1", Text: text, Author: turn.Author{ID: "U1", Name: "Ann"}},
		Web: turn.Web{Switch: turn.WebAuto}}
}
