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
