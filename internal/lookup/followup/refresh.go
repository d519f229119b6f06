package followup

import (
	"familiar/internal/lookup/need"
	"familiar/internal/text"
)

// anew are the words that ask for something newer than what was said: "look again", "any update?".
var anew = text.Compile(map[string]string{
	"anew": "look again, check again, search again, try again, look it up again, look that up again, look up again, check it again, check that again, google again, google it again, look once more, check once more, search once more, one more look, another look, " +
		"refresh it, refresh that, re-check, double check, double-check, any update, any updates, any news, anything new, any change, any changes, any development, has it changed, has that changed, did it change, is that still true, is it still true, is that still so, is that up to date, " +
		"schau nochmal, schau noch mal, such nochmal, such noch mal, nochmal suchen, noch mal suchen, nochmal nachsehen, sieh nochmal nach, schau noch einmal, pruf nochmal, prufe nochmal, gibt es neues, gibt es neuigkeiten, gibt's was neues, was neues, etwas neues, neuer stand, " +
		"cherche encore, regarde encore, verifie encore, verifie a nouveau, cherche a nouveau, regarde a nouveau, du nouveau, quoi de neuf, des nouvelles, " +
		"busca otra vez, busca de nuevo, mira otra vez, mira de nuevo, comprueba otra vez, comprueba de nuevo, alguna novedad, alguna noticia, hay novedades, algo nuevo, " +
		"procure de novo, pesquise de novo, veja de novo, verifique de novo, alguma novidade, cerca di nuovo, controlla di nuovo, qualche novita, " +
		"поищи еще раз, проверь еще раз, посмотри еще раз, есть новости, что нового, もう一度調べて, 更新して, 最新情報は, 再查一下, 更新一下",
})

// again are the words that, with an order to search, ask to do it once more.
var again = text.Set("again anew nochmal nochmals erneut encore nouveau nuevo novo nuovo")

// AsksToRefresh reports whether a message asks for something newer than what was found before.
func AsksToRefresh(u need.Utterance, order need.Order) bool {
	return u.Has(anew) || order == need.Search && text.ContainsAny(u.Words, again)
}

// IsRefresh reports whether a message asks for something newer and says nothing else: what to look up then stands in the
// message before.
func IsRefresh(u need.Utterance) bool {
	found := false
	for rest := u.Body; len(rest) > 0; {
		n, _ := anew.Prefix(rest)
		if n == 0 && anewAlone[rest[0].Key] {
			n = 1
		}
		found = found || n > 0
		if n == 0 && !besideAnew[rest[0].Key] {
			return false
		}
		rest = rest[max(1, n):]
	}
	return found
}

// anewAlone are words that ask for it where they are all that is said.
var anewAlone = text.Set("refresh reload recheck update updates aktualisieren aktualisiere neuigkeiten actualise rafraichis actualiza novedades atualize novidades aggiorna novita обнови")

// TrimRefresh drops the words that ask for something newer from the end of a longer question.
func TrimRefresh(s string) string {
	words := text.Words(s)
	for _, f := range anew.FindAll(s, words) {
		if f.From > 0 && f.To == len(words) {
			return s[:words[f.From-1].End]
		}
	}
	return s
}

// besideAnew may stand beside the words that ask for something new.
var besideAnew = text.Set("please now yet today again then on it that this there is are bitte jetzt denn nochmal svp maintenant ahora ya")
