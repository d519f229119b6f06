package websearch

// tagged puts a text from outside, made inert with the nonce, between two tags that it cannot hold.
func tagged(name, nonce, text string) string {
	return "<" + name + "-" + nonce + ">\n" + text + "\n</" + name + "-" + nonce + ">"
}
