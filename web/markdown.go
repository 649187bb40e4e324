package web

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/a-h/templ"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// markdown makes HTML of documentation. It leaves raw HTML out, which is its
// default.
var markdown = goldmark.New(
	goldmark.WithExtensions(extension.Table),
	goldmark.WithParserOptions(parser.WithASTTransformers(util.Prioritized(plainLinks{}, 0), util.Prioritized(underAHeading{}, 1))),
)

// readme is documentation as safe HTML, nil if there is none.
func readme(text string) (templ.Component, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	var html bytes.Buffer
	if err := markdown.Convert([]byte(lines(text)), &html); err != nil {
		return nil, fmt.Errorf("render documentation: %w", err)
	}
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		_, err := w.Write(html.Bytes())
		return err
	}), nil
}

// underAHeading fits a document under a heading of the page that shows it: its
// title, which the page has said, is left out, and its headings go a level down.
type underAHeading struct{}

// Transform implements parser.ASTTransformer.
func (underAHeading) Transform(document *ast.Document, _ text.Reader, _ parser.Context) {
	const lowest = 6
	if first, ok := document.FirstChild().(*ast.Heading); ok && first.Level == 1 {
		document.RemoveChild(document, first)
	}
	for node := document.FirstChild(); node != nil; node = node.NextSibling() {
		if heading, ok := node.(*ast.Heading); ok {
			heading.Level = min(heading.Level+1, lowest)
		}
	}
}

// plainLinks leaves of a document only its words where it would load something
// from elsewhere (images) or lead to anything but a page or a mailbox. The library
// checks some links, but not those in angle brackets.
type plainLinks struct{}

// Transform implements parser.ASTTransformer.
func (plainLinks) Transform(document *ast.Document, reader text.Reader, _ parser.Context) {
	var unwanted []ast.Node
	// The walk itself cannot fail: its function does not.
	_ = ast.Walk(document, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering && !harmless(node, reader.Source()) {
			unwanted = append(unwanted, node)
		}
		return ast.WalkContinue, nil
	})
	for _, node := range unwanted {
		parent := node.Parent()
		if link, ok := node.(*ast.AutoLink); ok {
			parent.InsertBefore(parent, node, ast.NewString(link.Label(reader.Source())))
		}
		for child := node.FirstChild(); child != nil; child = node.FirstChild() {
			parent.InsertBefore(parent, node, child)
		}
		parent.RemoveChild(parent, node)
	}
}

func harmless(node ast.Node, source []byte) bool {
	switch node := node.(type) {
	case *ast.Image:
		return false
	case *ast.Link:
		return leadsToAPage(node.Destination)
	case *ast.AutoLink:
		return node.AutoLinkType == ast.AutoLinkEmail || leadsToAPage(node.URL(source))
	}
	return true
}

func leadsToAPage(address []byte) bool {
	parsed, err := url.Parse(string(address))
	return err == nil && slices.Contains([]string{"", "http", "https", "mailto"}, strings.ToLower(parsed.Scheme))
}
