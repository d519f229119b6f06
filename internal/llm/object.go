package llm

import (
	"encoding/json"
	"strings"
)

// Object reads an answer that must be one JSON object, of known fields and with nothing around it.
func (a Answer) Object(into any) bool {
	d := json.NewDecoder(strings.NewReader(a.Text))
	d.DisallowUnknownFields()
	return d.Decode(into) == nil && strings.TrimSpace(a.Text[d.InputOffset():]) == ""
}
