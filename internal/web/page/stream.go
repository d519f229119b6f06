package page

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/visible/dom"
)

// joinStream puts together a page that its server sends in pieces, as React's server renderer does. Late pieces come in hidden elements, and
// short scripts move them to the places that were kept for them. A browser shows them there.
func joinStream(doc *html.Node) {
	calls := moves(doc)
	if len(calls) == 0 {
		return
	}
	pieces, places := map[string]*html.Node{}, map[string]*html.Node{}
	for n := range doc.Descendants() {
		id, _ := dom.Attr(n, "id")
		if _, hidden := dom.Attr(n, "hidden"); hidden && pieces[id] == nil {
			pieces[id] = n
		} else if n.DataAtom == atom.Template && places[id] == nil {
			places[id] = n
		}
	}
	for _, c := range calls {
		piece, place := c[2], c[3]
		if c[1] != "S" {
			piece, place = place, piece
		}
		movePiece(pieces[piece], places[place], c[1] != "S")
		delete(pieces, piece)
		delete(places, place)
	}
}

// moves returns the calls that move pieces. What nothing moves stays hidden, so the functions must be defined on the page.
func moves(doc *html.Node) (calls [][]string) {
	defined := false
	for _, n := range pageScripts.MatchAll(doc) {
		if n.FirstChild != nil && strings.Contains(n.FirstChild.Data, "$R") {
			defined = defined || strings.Contains(n.FirstChild.Data, "$RC=function(") || strings.Contains(n.FirstChild.Data, "$RS=function(")
			calls = append(calls, moveCall.FindAllStringSubmatch(n.FirstChild.Data, maxMoves-len(calls))...)
		}
	}
	if !defined {
		return nil
	}
	return calls
}

// moveCall matches a call that moves a piece. $RC and $RR name a place, whose content until then is replaced, before the piece. $RS names
// the piece before a place inside another piece.
var moveCall = regexp.MustCompile(`\$R([CRS])\("([^"\\]{1,60})","([^"\\]{1,60})"`)

// maxMoves limits the moves. Nothing is moved to a place deeper than deepestMove, so that no tree gets much deeper than the parser's own.
const (
	maxMoves    = 500
	deepestMove = 100
)

// movePiece puts the content of piece in the place of a template. replaces says that what follows the template was shown until then, up to
// the comment that ends it.
func movePiece(piece, place *html.Node, replaces bool) {
	if piece == nil || place == nil || place.Parent == nil {
		return
	}
	depth := 0
	for up := place; up != nil; up = up.Parent {
		if depth++; up == piece || depth > deepestMove {
			return
		}
	}
	in, next := place.Parent, place.NextSibling
	in.RemoveChild(place)
	for depth = 0; replaces && next != nil; {
		if next.Type == html.CommentNode && next.Data == "/$" {
			if depth == 0 {
				break
			}
			depth--
		} else if next.Type == html.CommentNode && strings.HasPrefix(next.Data, "$") {
			depth++
		}
		last := next
		next = next.NextSibling
		in.RemoveChild(last)
	}
	for c := range dom.Children(piece) {
		piece.RemoveChild(c)
		in.InsertBefore(c, next)
	}
	piece.Parent.RemoveChild(piece)
}
