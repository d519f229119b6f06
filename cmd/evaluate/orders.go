package main

import (
	"context"
	"io/fs"
	"maps"

	"familiar/internal/memory"
)

// orderNone is the deed of a message that orders nothing.
const orderNone memory.Deed = "none"

type order struct {
	Deed memory.Deed `json:"deed"`
	Text string      `json:"text,omitempty"`
	All  bool        `json:"all,omitempty"`
}

type orderRow struct {
	Text   string
	Orders []order // what is right; empty: not known
	Held   bool    // nobody looked at the row while the words of orders were collected
}

// predictOrders predicts {"orders"}: what a message orders to be remembered, forgotten or corrected, without a model. Of the project's own
// rows it also says whether that is right: the first order has the right deed and the words that it is about.
func predictOrders(_ context.Context, _ fs.FS, row orderRow) (prediction, error) {
	parsed, _ := memory.ParseOrders(row.Text, []string{"Familiar"})
	orders := []order{}
	for _, o := range parsed {
		orders = append(orders, order{o.Deed, o.Text, o.All})
	}
	if len(orders) == 0 {
		orders = append(orders, order{Deed: orderNone})
	}
	got := prediction{}
	if len(row.Orders) > 0 {
		want := row.Orders[0]
		right := orders[0].Deed == want.Deed && orders[0].All == want.All && (want.Text == "" || count(orders[0].Text, []string{want.Text}) == 1)
		if got = detection(true, right); want.Deed == orderNone {
			got = detection(false, !right)
		}
		if row.Held {
			for figure, is := range maps.Clone(got) {
				got["held_"+figure] = is
			}
		}
	}
	got["orders"] = orders
	return got, nil
}
