package discordtest

import (
	"net/http"
	"time"
	"unicode/utf8"
)

// formData is what the data of a form holds beside its components.
type formData struct {
	CustomID string `json:"custom_id"`
	Title    string `json:"title"`
}

// opened opens a form of one field below a label. Its caller holds mu.
// https://discord.com/developers/docs/interactions/receiving-and-responding#interaction-response-object-modal
func (s *Server) opened(i *Interaction, data formData, components []any) answer {
	form := Form{ID: data.CustomID, Title: data.Title}
	if n := utf8.RuneCountInString(data.Title); n < 1 || n > 45 || len(data.CustomID) < 1 || len(data.CustomID) > 100 {
		return malformed("title", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 45 in length.")
	}
	if len(components) != 1 {
		return malformed("components", "BASE_TYPE_BAD_LENGTH", "This server knows forms of one field.")
	}
	label, _ := components[0].(object)
	field, _ := label["component"].(object)
	form.Label, _ = label["label"].(string)
	form.Field, _ = field["custom_id"].(string)
	form.Text, _ = field["value"].(string)
	most, _ := field["max_length"].(float64)
	form.Most = int(most)
	if label["type"] != float64(18) || field["type"] != float64(4) || field["style"] != float64(1) && field["style"] != float64(2) ||
		form.Field == "" || utf8.RuneCountInString(form.Label) > 45 || form.Most < 1 || form.Most > 4000 || utf8.RuneCountInString(form.Text) > form.Most {
		return malformed("components", "COMPONENT_LAYOUT_INVALID", "A label with a text input is wanted")
	}
	i.acked, i.kind, i.form = time.Now(), 9, &form
	s.bump()
	return answer{status: http.StatusNoContent}
}

// WaitForm waits for the form that a command opens.
func (i *Interaction) WaitForm(timeout time.Duration) (form Form, ok bool) {
	ok = i.server.until(timeout, func() bool {
		if i.form != nil {
			form = *i.form
		}
		return i.form != nil
	})
	return form, ok
}

// Fill sends a form with a text in its field.
func (s *Server) Fill(channel, author string, form Form, text string, may Rights) *Interaction {
	data := object{"custom_id": form.ID, "components": []object{{"type": 18, "id": 1, "component": object{"type": 4, "id": 2, "custom_id": form.Field, "value": text}}}}
	return s.interact(channel, author, 5, data, nil, may)
}
