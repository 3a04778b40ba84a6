package htmltext

import (
	"context"
	"fmt"
	"strings"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
)

// markdown writes a part of a cleaned page.
func (c *cleaner) markdown(ctx context.Context, part *html.Node) (text string, err error) {
	if c.sheet.over {
		return "", fmt.Errorf("%w: its style sheets are too long", ErrTooComplex)
	}
	defer func() {
		if r := recover(); r != nil { // a mistake in the library must not end the process
			text, err = "", fmt.Errorf("%w: %v", ErrTooComplex, r)
		}
	}()
	conv := converter.NewConverter(converter.WithPlugins(
		base.NewBasePlugin(),
		commonmark.NewCommonmarkPlugin(commonmark.WithHeadingStyle(commonmark.HeadingStyleATX)),
		table.NewTablePlugin(table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal), table.WithSkipEmptyRows(true)),
	))
	out, err := conv.ConvertNode(part, converter.WithContext(ctx))
	if err != nil {
		return "", fmt.Errorf("write markdown: %w", err)
	}
	// The library joins and moves text; what shows nothing is looked for once more in what came of it.
	return strings.TrimSpace(c.seen(string(out))), nil
}
