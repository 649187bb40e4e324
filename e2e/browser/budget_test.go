package browser

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// What a page may weigh, compressed, and cost.
const (
	maxListPage    = 40 << 10
	maxScripts     = 30 << 10
	maxStylesheets = 20 << 10
	maxRequests    = 4
)

// Pages stay light. Long lists are weighed by make bench-web, which has a thousand
// services.
func TestBudgets(t *testing.T) {
	p := sharedPortal(t)
	t.Parallel()
	change := stage(t, p)
	first := visit(t, p.URL, playwright.BrowserNewContextOptions{})
	first.signIn("approver")
	session := first.session()

	for _, page := range []string{"/", "/changes", change, "/services", "/services/shop/orders", "/environments", "/catalogue", "/golden-paths/postgres"} {
		t.Run(page, func(t *testing.T) {
			if size := weigh(t, p.URL+page, session); size > maxListPage {
				t.Errorf("the page weighs %d bytes; at most %d", size, maxListPage)
			}
			v := visit(t, p.URL, playwright.BrowserNewContextOptions{})
			cookies, err := first.context.Cookies(p.URL)
			v.must(err)
			for _, c := range cookies {
				v.must(v.context.AddCookies([]playwright.OptionalCookie{{Name: c.Name, Value: c.Value, URL: playwright.String(p.URL)}}))
			}
			v.weighView(page)
		})
	}
}

// weighView opens a page with nothing cached and weighs all that it loads. The
// stream of a live page is open for as long as the page, so it is not part of the
// first view.
func (v *visitor) weighView(page string) {
	v.t.Helper()
	var mu sync.Mutex
	var requests, scripts, stylesheets []string
	v.page.OnRequest(func(r playwright.Request) {
		mu.Lock()
		defer mu.Unlock()
		switch r.ResourceType() {
		case "eventsource":
			return
		case "script":
			scripts = append(scripts, r.URL())
		case "stylesheet":
			stylesheets = append(stylesheets, r.URL())
		}
		requests = append(requests, r.URL())
	})
	v.open(page)
	blocking, err := v.page.Locator("script:not([defer]):not([async]):not([type=module])").Count()
	v.must(err)
	mu.Lock()
	defer mu.Unlock()
	if len(requests) > maxRequests {
		v.t.Errorf("the first view costs %d requests; at most %d:\n%s", len(requests), maxRequests, strings.Join(requests, "\n"))
	}
	if blocking > 0 {
		v.t.Errorf("%d scripts hold the page up", blocking)
	}
	for _, kind := range []struct {
		name string
		urls []string
		most int
	}{{"scripts", scripts, maxScripts}, {"stylesheets", stylesheets, maxStylesheets}} {
		if len(kind.urls) == 0 {
			v.t.Errorf("the page has no %s", kind.name)
		}
		total := 0
		for _, address := range kind.urls {
			total += weigh(v.t, address, "")
		}
		if total > kind.most {
			v.t.Errorf("the %s weigh %d bytes; at most %d", kind.name, total, kind.most)
		}
	}
}

// weigh is the size of an answer as it travels, compressed.
func weigh(t *testing.T, address, session string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Cookie", session)
	request.Header.Set("Accept-Encoding", "gzip") // set by hand, so that it is left as it is
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != http.StatusOK || response.Header.Get("Content-Encoding") != "gzip" {
		t.Fatalf("GET %s: status %d, encoding %q; want 200, compressed", address, response.StatusCode, response.Header.Get("Content-Encoding"))
	}
	return len(body)
}
