package web_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/go-logr/logr"
	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/towpath-dev/towpath/deploy"
	"github.com/towpath-dev/towpath/internal/controlplane/controlplanetest"
	"github.com/towpath-dev/towpath/internal/dev/issuer"
	"github.com/towpath-dev/towpath/web"
	"github.com/towpath-dev/towpath/web/auth"
	"github.com/towpath-dev/towpath/web/compose"
	"github.com/towpath-dev/towpath/web/kube"
)

var cluster *controlplanetest.Towpath

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(controlplanetest.MainInstalled(m, func(t *controlplanetest.Towpath) { cluster = t }))
}

// portal is the whole portal: real sign-in, real API server; only time and the
// controller are moved by hand.
type portal struct {
	url     string
	clock   *hands
	cluster *kube.Cluster
	log     *safeLog
	routes  []*echo.Route
	// expired is somebody whose session has ended.
	expired *browser
}

// longAgo is longer than any session.
const longAgo = 13 * time.Hour

// hands is a clock that the test sets.
type hands struct {
	mu  sync.Mutex
	now time.Time
}

func (h *hands) Now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

func (h *hands) advance(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = h.now.Add(d)
}

type safeLog struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *safeLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *safeLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// memory keeps sessions.
type memory struct {
	mu      sync.Mutex
	records map[string]auth.Record
}

func (m *memory) Create(_ context.Context, name string, record auth.Record) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.records[name] = record
	return nil
}

func (m *memory) Read(_ context.Context, name string) (auth.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	record, ok := m.records[name]
	if !ok {
		return record, auth.ErrNoSession
	}
	return record, nil
}

func (m *memory) Update(ctx context.Context, name string, record auth.Record) error {
	if _, err := m.Read(ctx, name); err != nil {
		return err
	}
	return m.Create(ctx, name, record)
}

func (m *memory) Delete(_ context.Context, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.records, name)
	return nil
}

func (m *memory) Sweep(context.Context, time.Time) error { return nil }

// people sign in with groups of these names.
func people() []issuer.Person {
	return []issuer.Person{
		{Username: "developer", Groups: []string{"developer"}},
		{Username: "approver", Groups: []string{"approver"}},
		{Username: "viewer", Groups: []string{"viewer"}},
		{Username: "stranger", Groups: []string{"stranger"}},
		{Username: "platform", Groups: []string{"platform"}},
		{Username: "both", Groups: []string{"developer", "approver"}},
	}
}

func startPortal(t *testing.T) *portal {
	t.Helper()
	p := &portal{clock: &hands{now: time.Now().Add(-longAgo)}, log: &safeLog{}}
	log := slog.New(slog.NewJSONHandler(p.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	var err error
	config := cluster.Config(t, deploy.PortalUser, "system:serviceaccounts", "system:serviceaccounts:"+deploy.Namespace)
	if p.cluster, err = kube.New(config, log); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.cluster.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("the cache ended with %v", err)
		}
	})

	front, signIn := httptest.NewUnstartedServer(nil), httptest.NewUnstartedServer(nil)
	p.url = "http://" + front.Listener.Addr().String()
	issuerURL := "http://" + signIn.Listener.Addr().String()
	if signIn.Config.Handler, err = issuer.New(issuer.Config{
		URL: issuerURL, Dir: t.TempDir(), People: people(), ClientID: "towpath",
		RedirectURL: p.url + auth.CallbackPath, PostLogoutURL: p.url + auth.SignedOutPath,
	}); err != nil {
		t.Fatal(err)
	}
	key := []byte(strings.Repeat("k", 32))
	sealer, err := compose.NewSealer(key)
	if err != nil {
		t.Fatal(err)
	}
	publicURL, err := url.Parse(p.url)
	if err != nil {
		t.Fatal(err)
	}
	server, err := web.New(web.Config{
		PublicURL: publicURL, Cluster: p.cluster, Sealer: sealer, Clock: p.clock, Log: log, Registry: prometheus.NewRegistry(),
		NewAuth: func(pages auth.Pages) (web.Auth, error) {
			return auth.New(t.Context(), auth.Config{
				URL: p.url, Issuer: issuerURL, ClientID: "towpath", Claims: auth.Claims{Username: "sub", Groups: "groups"},
				Key: key, Store: &memory{records: map[string]auth.Record{}}, Pages: pages, Clock: p.clock, Log: log,
			})
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	front.Config.Handler = server.Handler()
	p.routes = server.Handler().(*echo.Echo).Routes()
	front.Start()
	signIn.Start()
	t.Cleanup(front.Close)
	t.Cleanup(signIn.Close)
	if err := p.cluster.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	// A session from long ago; after it, the clock shows the issuer's time.
	p.expired = p.signedIn(t, "developer")
	p.clock.advance(longAgo)
	return p
}

// browser is somebody at the portal; it does not follow redirects by itself.
type browser struct {
	portal *portal
	client *http.Client
}

// visitor is a browser of nobody in particular.
func (p *portal) visitor(t *testing.T) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &browser{portal: p, client: &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// signedIn is a browser of somebody who has signed in.
func (p *portal) signedIn(t *testing.T, username string) *browser {
	t.Helper()
	b := p.visitor(t)
	address := p.url + "/sign-in"
	for range 10 {
		answer := b.send(t, http.MethodGet, address, nil, nil)
		if next := answer.Header.Get("Location"); next != "" {
			address = resolve(t, address, next)
			if address == p.url+"/" {
				return b
			}
			continue
		}
		document := answer.document(t)
		form := document.Find("form").First()
		values := url.Values{"username": {username}}
		form.Find("input[type=hidden]").Each(func(_ int, field *goquery.Selection) {
			values.Set(field.AttrOr("name", ""), field.AttrOr("value", ""))
		})
		chosen := b.send(t, http.MethodPost, resolve(t, address, form.AttrOr("action", "")), values, nil)
		address = resolve(t, address, chosen.Header.Get("Location"))
	}
	t.Fatalf("%s does not get through the sign-in", username)
	return nil
}

func resolve(t *testing.T, base, reference string) string {
	t.Helper()
	b, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	u, err := b.Parse(reference)
	if err != nil {
		t.Fatal(err)
	}
	return u.String()
}

// reply is an answer, read to its end.
type reply struct {
	*http.Response
	body string
}

func (r reply) document(t *testing.T) *goquery.Document {
	t.Helper()
	document, err := goquery.NewDocumentFromReader(strings.NewReader(r.body))
	if err != nil {
		t.Fatal(err)
	}
	return document
}

// text is what a reader sees of the main part.
func (r reply) text(t *testing.T) string {
	t.Helper()
	return strings.Join(strings.Fields(r.document(t).Find("main").Text()), " ")
}

func (b *browser) get(t *testing.T, path string) reply {
	t.Helper()
	return b.send(t, http.MethodGet, b.portal.url+path, nil, nil)
}

func (b *browser) post(t *testing.T, path string, form url.Values) reply {
	t.Helper()
	return b.send(t, http.MethodPost, b.portal.url+path, form, nil)
}

func (b *browser) send(t *testing.T, method, address string, form url.Values, header http.Header) reply {
	t.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	request, err := http.NewRequestWithContext(t.Context(), method, address, body)
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range header {
		request.Header[name] = values
	}
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	response, err := b.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(fmt.Errorf("read the answer of %s %s: %w", method, address, err))
	}
	return reply{response, string(content)}
}
