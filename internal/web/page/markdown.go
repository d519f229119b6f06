package page

import (
	"strings"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
)

// markdown returns a tree as Markdown. It changes the tree.
func markdown(root *html.Node) (string, error) {
	simplify(root, 0)
	conv := converter.NewConverter(
		converter.WithEscapeMode(converter.EscapeModeDisabled),
		converter.WithPlugins(
			base.NewBasePlugin(),
			commonmark.NewCommonmarkPlugin(commonmark.WithListEndComment(false)),
			table.NewTablePlugin(table.WithSkipEmptyRows(true), table.WithHeaderPromotion(true), table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal)),
		),
	)
	out, err := conv.ConvertNode(root)
	if err != nil {
		return "", err
	}
	return tidy(restoreBrackets.Replace(string(out))), nil
}

// The converter writes "<" as "&lt;", which is right for a browser and wrong for a reader of the text. While it works, two
// characters that no text may contain stand for the brackets.
var (
	hideBrackets    = strings.NewReplacer("<", "\uFDD0", ">", "\uFDD1")
	restoreBrackets = strings.NewReplacer("\uFDD0", "<", "\uFDD1", ">")
)

// tidy removes white space at the ends of lines, and all but one of several blank lines in a row.
func tidy(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	blank := true
	for line := range strings.SplitSeq(s, "\n") {
		line = strings.TrimRight(line, " \t\r")
		if line == "" {
			if !blank {
				b.WriteByte('\n')
			}
			blank = true
			continue
		}
		b.WriteString(line)
		b.WriteByte('\n')
		blank = false
	}
	return strings.TrimSpace(b.String())
}
