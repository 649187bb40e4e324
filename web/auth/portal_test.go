package auth_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/towpath-dev/towpath/web/auth"
)

// portal is a small portal around the package.
type portal struct {
	url   string
	auth  *auth.Auth
	store *memory
	clock *hands
	log   *strings.Builder
}

// startPortal serves a portal that trusts an issuer. Each change is made to its
// configuration first.
func startPortal(t *testing.T, issuer func(portal string) string, changes ...func(*auth.Config)) *portal {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	p := &portal{
		url: "http://" + server.Listener.Addr().String(), store: newMemory(),
		clock: &hands{now: time.Now()}, log: &strings.Builder{},
	}
	config := auth.Config{
		URL: p.url, Issuer: issuer(p.url), ClientID: "towpath",
		Claims: auth.Claims{Username: "preferred_username", Groups: "groups"},
		Key:    []byte(strings.Repeat("k", 32)), Store: p.store, Pages: pages{}, Clock: p.clock,
		Log: slog.New(slog.NewTextHandler(&locked{w: p.log}, nil)),
	}
	for _, change := range changes {
		change(&config)
	}
	var err error
	if p.auth, err = auth.New(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	server.Config.Handler = handler(p.auth)
	server.Start()
	t.Cleanup(server.Close)
	return p
}

// handler mounts everything as the portal does, and answers errors with their
// code and text.
func handler(a *auth.Auth) http.Handler {
	e := echo.New()
	e.HTTPErrorHandler = func(err error, c echo.Context) {
		var failure *auth.Failure
		if !errors.As(err, &failure) {
			e.DefaultHTTPErrorHandler(err, c)
			return
		}
		_ = c.String(failure.Status, failure.Code+": "+failure.Message)
	}
	e.Use(a.Load)
	e.GET(auth.SignInPath, a.SignIn)
	e.GET(auth.CallbackPath, a.Callback)
	e.GET(auth.SignedInPath, a.SignedIn)
	e.GET(auth.SignedOutPath, a.SignedOut)
	e.POST("/sign-out", a.SignOut)
	private := e.Group("", a.Require)
	whoami := func(c echo.Context) error {
		person, ok := auth.FromContext(c.Request().Context())
		if !ok {
			return errors.New("let through without a person")
		}
		return c.String(http.StatusOK, person.Username+" of "+strings.Join(person.Groups, ","))
	}
	for _, path := range []string{"/", "/changes", "/changes/:namespace/:name"} {
		private.GET(path, whoami)
		private.POST(path, whoami)
		private.DELETE(path, whoami)
	}
	return e
}

// pages draws plain text.
type pages struct{}

func (pages) SignedIn(c echo.Context) error { return c.String(http.StatusOK, "signed in") }

func (pages) SignedOut(c echo.Context, provider string) error {
	return c.String(http.StatusOK, "signed out, next "+provider)
}

func (pages) SessionEnded(c echo.Context, form auth.KeptForm) error {
	return c.JSON(http.StatusUnauthorized, form)
}

// hands is a clock that tests move.
type hands struct {
	mu  sync.Mutex
	now time.Time
}

func (h *hands) Now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

func (h *hands) pass(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = h.now.Add(d)
}

// locked lets several requests log.
type locked struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// memory is a store that counts how often it is asked, and can be away.
type memory struct {
	mu      sync.Mutex
	records map[string]auth.Record
	calls   int
	away    error
	// silent is a store that takes questions and gives no answers.
	silent bool
	// onRead is called once, between reading a record and returning it.
	onRead func()
}

func newMemory() *memory { return &memory{records: map[string]auth.Record{}} }

func (m *memory) enter() (leave func(), err error) {
	m.mu.Lock()
	m.calls++
	return m.mu.Unlock, m.away
}

func (m *memory) Create(_ context.Context, name string, record auth.Record) error {
	leave, err := m.enter()
	defer leave()
	if err == nil {
		m.records[name] = record
	}
	return err
}

func (m *memory) Read(ctx context.Context, name string) (auth.Record, error) {
	leave, err := m.enter()
	if m.silent {
		leave()
		<-ctx.Done()
		return auth.Record{}, ctx.Err()
	}
	record, ok := m.records[name]
	if err == nil && !ok {
		err = auth.ErrNoSession
	}
	meanwhile := m.onRead
	m.onRead = nil
	leave()
	if meanwhile != nil {
		meanwhile()
	}
	return record, err
}

func (m *memory) Update(ctx context.Context, name string, record auth.Record) error {
	leave, err := m.enter()
	defer leave()
	if m.silent {
		<-ctx.Done()
		return ctx.Err()
	}
	if _, ok := m.records[name]; err == nil && !ok {
		err = auth.ErrNoSession
	}
	if err == nil {
		m.records[name] = record
	}
	return err
}

func (m *memory) Delete(_ context.Context, name string) error {
	leave, err := m.enter()
	defer leave()
	if err == nil {
		delete(m.records, name)
	}
	return err
}

func (m *memory) Sweep(context.Context, time.Time) error { return nil }

func (m *memory) asked() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls
}

func (m *memory) size() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.records)
}

func (m *memory) goAway(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.away = err
}

func (m *memory) fallSilent() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.silent = true
}

// browser keeps cookies and follows nothing by itself.
type browser struct {
	t      *testing.T
	client *http.Client
	header http.Header
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &browser{t: t, header: http.Header{}, client: &http.Client{
		Jar:           jar,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// reply is what came back.
type reply struct {
	status   int
	body     string
	location string
	header   http.Header
	cookies  []*http.Cookie
}

func (b *browser) send(method, address string, form url.Values) reply {
	b.t.Helper()
	request, err := http.NewRequestWithContext(b.t.Context(), method, address, strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for name, values := range b.header {
		request.Header[name] = values
	}
	response, err := b.client.Do(request)
	if err != nil {
		b.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return reply{
		status: response.StatusCode, body: string(body), location: response.Header.Get("Location"),
		header: response.Header, cookies: response.Cookies(),
	}
}

func (b *browser) get(address string) reply {
	b.t.Helper()
	return b.send(http.MethodGet, address, nil)
}

func (b *browser) post(address string, form url.Values) reply {
	b.t.Helper()
	return b.send(http.MethodPost, address, form)
}

// session returns the session cookie that the browser has for a portal.
func (b *browser) session(address string) string {
	b.t.Helper()
	for _, cookie := range b.client.Jar.Cookies(parse(b.t, address)) {
		if strings.Contains(cookie.Name, "towpath-session") {
			return cookie.Value
		}
	}
	return ""
}

// plant gives the browser a session cookie.
func (b *browser) plant(address, value string) {
	b.t.Helper()
	u := parse(b.t, address)
	b.client.Jar.SetCookies(u, []*http.Cookie{{Name: "towpath-session-" + u.Port(), Value: value, Path: "/"}})
}

func parse(t *testing.T, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
