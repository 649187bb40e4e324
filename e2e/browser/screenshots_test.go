package browser

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/playwright-community/playwright-go"
)

var screenshots = flag.String("screenshots", "", "folder to put screenshots of all pages into")

// widths are those of a telephone, a small laptop and a large screen.
var widths = map[int]int{380: 800, 1024: 768, 1920: 1080}

// TestScreenshots takes pictures for eyes to look at; `make screenshots` asks for
// them.
func TestScreenshots(t *testing.T) {
	if *screenshots == "" {
		t.Skip("nobody asked for screenshots")
	}
	p := sharedPortal(t)
	change := stage(t, p)
	if err := os.MkdirAll(*screenshots, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, theme := range themes {
		for person, list := range map[string][]aPage{"approver": pages(change), "developer": forms(), "": outside()} {
			v := visit(t, p.URL, playwright.BrowserNewContextOptions{ColorScheme: theme})
			if person != "" {
				v.signIn(person)
			}
			for _, page := range list {
				page.open(v)
				for width, height := range widths {
					v.must(v.page.SetViewportSize(width, height))
					_, err := v.page.Screenshot(playwright.PageScreenshotOptions{
						Path:     playwright.String(filepath.Join(*screenshots, fmt.Sprintf("%s-%d-%s.png", page.name, width, *theme))),
						FullPage: playwright.Bool(true),
					})
					v.must(err)
					v.fits(width)
				}
			}
		}
	}
}
