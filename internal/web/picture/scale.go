package picture

import (
	"image"
	"image/draw"
)

// scale draws a picture on white, at most side pixels wide and high. Each pixel is the mean of what it covers of the picture, which is read row
// by row: no memory is needed but the result's.
func scale(full image.Image, side int) *image.RGBA {
	from := full.Bounds()
	width, height := fitted(from.Dx(), from.Dy(), side)
	small := image.NewRGBA(image.Rect(0, 0, width, height))
	row := image.NewRGBA(image.Rect(0, 0, from.Dx(), 1))
	line, sums := make([]float32, 3*width), make([]float32, 3*width)
	share := float32(height) / float32(from.Dy()) // of a row of the result that one of the picture is
	room := float32(1)                            // in the row of the result that is being made
	y := 0
	finish := func() {
		for x := range width {
			at := small.Pix[small.PixOffset(x, y):]
			at[0], at[1], at[2], at[3] = byte(sums[3*x]+0.5), byte(sums[3*x+1]+0.5), byte(sums[3*x+2]+0.5), 0xff
		}
		clear(sums)
		y, room = y+1, 1
	}
	for n := range from.Dy() {
		draw.Draw(row, row.Rect, image.White, image.Point{}, draw.Src)
		draw.Draw(row, row.Rect, full, image.Pt(from.Min.X, from.Min.Y+n), draw.Over)
		narrow(line, row.Pix)
		left := share
		if left >= room && y < height-1 {
			add(sums, line, room)
			left -= room
			finish()
		}
		add(sums, line, left)
		room -= left
	}
	if y < height {
		finish()
	}
	return small
}

// narrow makes a row of as many pixels as there is room for, of red, green and blue each, of one with four bytes to a pixel.
func narrow(to []float32, from []byte) {
	clear(to)
	width, all := len(to)/3, len(from)/4
	share := float32(width) / float32(all)
	x, room := 0, float32(1)
	for n := range all {
		p := from[4*n : 4*n+3 : 4*n+3]
		r, g, b := float32(p[0]), float32(p[1]), float32(p[2])
		left := share
		if left >= room && x < width-1 {
			at := to[3*x : 3*x+3 : 3*x+3]
			at[0], at[1], at[2] = at[0]+r*room, at[1]+g*room, at[2]+b*room
			left -= room
			x, room = x+1, 1
		}
		at := to[3*x : 3*x+3 : 3*x+3]
		at[0], at[1], at[2] = at[0]+r*left, at[1]+g*left, at[2]+b*left
		room -= left
	}
}

// add adds a part of a row.
func add(to, from []float32, part float32) {
	for i, v := range from {
		to[i] += v * part
	}
}

// fitted is a size with the same proportions, within a longest side.
func fitted(width, height, side int) (int, int) {
	longer := max(width, height)
	if longer <= side {
		return width, height
	}
	return max(1, width*side/longer), max(1, height*side/longer)
}
