package question

import "testing"

// TestFormBesideAnotherLanguage asks in one language about a title, a quotation or code in another.
func TestFormBesideAnotherLanguage(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]Form{
		`wann öffnet das "Museum of the Moving Image"?`:             Wh,
		`cuándo sale "The Last of Us"?`:                             Wh,
		`quand sort "The Last of Us" ?`:                             Wh,
		`wer hat „The Name of the Wind“ geschrieben?`:               Wh,
		`quem escreveu "The Name of the Wind"?`:                     Wh,
		`chi ha scritto "The Name of the Wind"?`:                    Wh,
		`kim yazdı "The Name of the Wind"?`:                         Wh,
		`kto napisał "The Name of the Wind"?`:                       Wh,
		`wie schreef "The Name of the Wind"?`:                       Wh,
		`was ist mit The Old Man and the Sea?`:                      Wh,
		"why does `der die das` fail?":                              Wh,
		`who said "ich bin ein Berliner und das ist gut so"?`:       Wh,
		`is "El amor en los tiempos del cólera" by García Márquez?`: YesNo,
	} {
		if got := Parse(message, nil).Form(); got != want {
			t.Errorf("%q: %q, want %q", message, got, want)
		}
	}
}
