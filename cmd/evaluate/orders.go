package main

import (
	"context"
	"io/fs"
	"maps"

	"familiar/internal/context/turn"
	"familiar/internal/memory"
	"familiar/internal/memory/order"
	"familiar/internal/web/clean"
)

// orderNone is the deed of a message that orders nothing.
const orderNone order.Deed = "none"

type ordered struct {
	Deed order.Deed `json:"deed"`
	Text string     `json:"text,omitempty"`
	All  bool       `json:"all,omitempty"`
}

type orderRow struct {
	Text   string
	Orders []ordered // what is right; nil: not known, empty: none
	Held   bool      // nobody looked at the row while the words of orders were collected
}

// predictOrders predicts {"orders"}: what a message orders to be remembered, forgotten or corrected, without a model. {"doubt"} says
// whether it may order something that only a model can tell. What is refused is left out. For the project's own rows it also says whether
// that is right. Then the first order has the right deed and the right words.
func predictOrders(_ context.Context, _ fs.FS, row orderRow) (prediction, error) {
	names := []string{"Familiar", "Sage"}
	parsed, doubt := order.Parse(row.Text, names)
	orders := []ordered{}
	for _, o := range parsed {
		refused := ""
		switch {
		case o.Field != "":
			refused = memory.CardRefusal(clean.NewRedactor(), o.Value, names)
		case o.Deed != order.Forget:
			refused = memory.Refusal(clean.NewRedactor(), turn.Request{Names: names}, o.Text, o.Other)
		}
		if refused == "" {
			orders = append(orders, ordered{o.Deed, o.Shown(), o.All})
		}
	}
	if len(orders) == 0 {
		orders = append(orders, ordered{Deed: orderNone})
	}
	got := prediction{}
	if row.Orders != nil {
		want := append(row.Orders, ordered{Deed: orderNone})[0]
		right := orders[0].Deed == want.Deed && orders[0].All == want.All && (want.All || want.Text == "" || count(orders[0].Text, []string{want.Text}) == 1)
		if got = detection(true, right); want.Deed == orderNone {
			got = detection(false, !right)
		}
		if row.Held {
			for figure, is := range maps.Clone(got) {
				got["held_"+figure] = is
			}
		}
	}
	got["orders"], got["doubt"] = orders, doubt
	return got, nil
}
