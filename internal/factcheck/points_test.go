package factcheck

import "testing"

// TestPoints checks that a page with all words of a statement but one of its points is not for it.
func TestPoints(t *testing.T) {
	const none, pro, contra = "none", "for", "against"
	for _, c := range []struct{ statement, title, page, want string }{
		{"The bus to Corran runs every hour", "Corran bus", "The bus to Corran runs every two hours from the harbour.", contra},
		{"The bus to Corran runs every hour", "Corran bus", "The bus to Corran runs every 60 minutes from the harbour.", pro},
		{"Velland has more inhabitants than Torrow", "Towns of the coast", "Velland has 41,000 inhabitants and a port. Torrow has 88,000 inhabitants.", contra},
		{"Torrow has more inhabitants than Velland", "Towns of the coast", "Velland has 41,000 inhabitants and a port. Torrow has 88,000 inhabitants.", pro},
		{"Mount Karrow is 1909 metres high", "Mount Karrow", "Mount Karrow is 1909 m high and lies in the north.", pro},
		{"Mount Karrow is 1.909 km high", "Mount Karrow", "Mount Karrow is 1,280 metres high and lies in the north.", contra},
		{"The Karrow lighthouse is 41 metres tall", "Karrow walk", "The path goes north until the lighthouse is in view. It is a white tower, thirty-six m high with the lantern.", contra},
		{"The Karrow lighthouse is 41 metres tall", "Karrow walk", "The lighthouse is in view from the path. The Regal next to it is 36 m high.", none},
		{"The Moss Street cinema has six screens", "Moss Street cinema", "The cinema has 6 screens and a bar.", pro},
		{"The Moss Street cinema has six screens", "What is on", "The Regal shows it on all of its six screens. Moss Street cinema is closed.", none},
		{"The Moss Street cinema has six screens", "Moss Street cinema", "Plans for six screens of the cinema were drawn up.", none},
		{"The Teverton oak is the oldest tree in Norwell", "Norwell", "The Teverton oak is an old tree in Norwell.", none},
		{"The Glenroy distillery makes only malt whisky", "Glenroy", "The Glenroy distillery makes malt whisky.", none},
		{"The Carrow ferry no longer carries cars", "Carrow ferry", "The Carrow ferry carries cars and bicycles.", contra},
		{"The Carrow mill closed in 1998", "Carrow mill", "The Carrow mill closed for the winter.", none},
		{"Unemployment in Carrow fell in 2023", "Carrow", "Unemployment in Carrow fell in 2022 for the third year.", none},
		{"The Corran bus runs hourly", "Corran bus", "The Corran bus takes an hour.", none},
		{"The Corran bridge opened in 1998", "Corran", "The Corran bridge was sold in 1998.", none},
		{"The Apollo 7 camera weighs 400 grams", "Cameras", "The Apollo 6 camera weighs 400 grams.", none},
		{"More than 300 people work in the mill of Carrow", "Carrow", "More than 340 people work in the mill of Carrow.", pro},
		{"More than 300 people work in the mill of Carrow", "Carrow", "Exactly 300 people work in the mill of Carrow.", none},
		{"The Carrow pass is 2110 metres high", "Passes", "The Carrow pass is 2110 m high, the Torrow pass 1650 m.", pro},
		{"Der Kellerberg ist 1909 Meter hoch", "Berge", "Der Gipfel des Kellerbergs liegt 1909 m hoch.", pro},
		{"Die Brücke bei Holm wurde 1962 eröffnet", "Holm", "Die Brücke bei Holm ist 1968 eröffnet worden.", contra},
		{"In Stedten leben zwölftausend Menschen", "Stedten", "In Stedten leben 12.140 Menschen.", pro},
		{"Das Museum Linden hat montags geöffnet", "Museum Linden", "Das Stadtmuseum hat montags geöffnet.", none},
		{"Der Turm hat zweihundertsiebenundvierzig Stufen", "Turm", "Der Turm hat 247 Stufen.", pro},
		{"La bibliothèque de Sauvane est fermée le dimanche", "Sauvane", "La bibliothèque de Sauvane n'est pas ouverte le dimanche.", pro},
		{"Le tunnel de Ravoire mesure quatre-vingt-dix mètres", "Ravoire", "Le tunnel de Ravoire mesure 90 m.", pro},
		{"La presa de Arlanza produce electricidad", "Arlanza", "La presa de Arlanza ya no produce electricidad.", contra},
		{"El tren a Villafría tarda más de cinco horas", "Villafría", "El tren a Villafría tarda cinco horas.", none},
		{"Il passo del Gatto è più alto del passo della Rovina", "Passi", "Il passo della Rovina è più alto del passo del Gatto.", contra},
		{"A barragem de Queimadela é a mais bonita do distrito", "Queimadela", "A barragem de Queimadela é a mais antiga do distrito.", none},
		{"Honden zijn welkom op camping De Wulp", "De Wulp", "Honden zijn op camping De Wulp niet welkom.", contra},
		{"Rzeka Biała jest dłuższa od rzeki Olczy", "Rzeki", "Rzeka Olcza jest krótsza od rzeki Białej.", pro},
		{"Озеро Светлое глубже озера Тихого", "Озёра", "Озеро Тихое глубже озера Светлого.", contra},
		{"Feribot iki saatte bir kalkıyor", "Feribot", "Feribot her saat kalkıyor.", contra},
		{"白峰トンネルの長さは9キロメートルである", "白峰トンネル", "全長は九キロメートルです。", pro},
		{"白峰トンネルの長さは9キロメートルである", "黒峰トンネル", "全長は九キロメートルです。", none},
		{"老周面馆不再卖牛肉面", "老周面馆", "老周面馆已经不再卖牛肉面了。", pro},
		{"한빛미술관은 월요일에 문을 연다", "한빛미술관", "한빛미술관은 월요일에 문을 열지 않는다.", contra},
	} {
		s, takes := StanceOf(c.statement, &Page{Title: c.title, Text: c.page})
		got := none
		if takes && s.Against {
			got = contra
		} else if takes {
			got = pro
		}
		if got != c.want {
			t.Errorf("%q: %q is %s (%s), want %s", c.statement, c.page, got, s.Rule, c.want)
		}
	}
}
