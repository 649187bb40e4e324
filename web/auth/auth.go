// Package auth signs people in by OpenID Connect and remembers them in sessions.
// It says who somebody is and nothing about what they may do: that is for
// Kubernetes to decide. It draws no pages; it answers with redirects, with
// errors of type *Failure, and through Pages. It must never let a request
// through as nobody in particular.
package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/towpath-dev/towpath/internal/clock"
)

// Where the handlers are mounted. The first three are part of what the identity
// provider is told, or of cookies and links made here.
const (
	SignInPath    = "/sign-in"
	CallbackPath  = "/sign-in/callback"
	SignedOutPath = "/signed-out"
	SignedInPath  = "/signed-in"
)

const (
	defaultIdle     = 2 * time.Hour
	defaultAbsolute = 12 * time.Hour

	// minKey is the least length of the key that sessions and cookies are sealed with.
	minKey = 32
)

// Config says who signs people in and how they are known to Kubernetes.
type Config struct {
	// URL is the portal's own address as browsers see it, without a path.
	// Plain http is taken only on the loopback interface.
	URL string
	// Issuer is the OpenID provider, exactly as it names itself.
	Issuer string
	// ClientID and ClientSecret are the portal's at the issuer. A client without
	// a secret is a public one; PKCE protects both.
	ClientID, ClientSecret string
	// Scopes to ask for besides openid.
	Scopes []string
	// Claims say how an ID token becomes a Kubernetes user.
	Claims Claims
	// Key seals cookies and sessions; all replicas have the same. See SharedKey.
	Key []byte
	// Store keeps the sessions.
	Store Store
	// Idle ends a session that is not used, Absolute any session. Zero means 2
	// and 12 hours.
	Idle, Absolute time.Duration
	// Pages draws what people see here.
	Pages Pages
	// Transport reaches the issuer; nil means the default one.
	Transport http.RoundTripper
	// Clock tells the time; nil means the machine's.
	Clock clock.Clock
	// Log is where sign-ins and sign-outs are told; nil means the default one.
	Log *slog.Logger
}

// Pages draws pages. Its methods answer the request.
type Pages interface {
	// SignedIn says that a person is signed in and may close this tab.
	SignedIn(c echo.Context) error
	// SignedOut says that a person is signed out. If provider is not empty, the
	// browser goes there at once to sign out at the identity provider too; the
	// page links to it for one that does not.
	SignedOut(c echo.Context, provider string) error
	// SessionEnded answers 401 to a form that was sent without a session. It
	// offers to sign in, in a new tab, and to send the form again.
	SessionEnded(c echo.Context, form KeptForm) error
}

// Auth signs people in and out.
type Auth struct {
	config   Config
	cookies  cookies
	attempts sealer
	spent    spent
	sessions *sessions
	limit    *limiter
	http     *http.Client
	found    atomic.Pointer[provider]
	origin   *http.CrossOriginProtection
	clock    clock.Clock
	log      *slog.Logger
}

// New checks the configuration. The issuer is asked for its own when the first
// person signs in, so that the portal starts and serves whoever is signed in
// already while the issuer is away.
func New(_ context.Context, config Config) (*Auth, error) {
	if config.Clock == nil {
		config.Clock = clock.System{}
	}
	if config.Log == nil {
		config.Log = slog.Default()
	}
	if config.Idle == 0 {
		config.Idle = defaultIdle
	}
	if config.Absolute == 0 {
		config.Absolute = defaultAbsolute
	}
	config.Claims = config.Claims.withDefaults()
	if err := config.check(); err != nil {
		return nil, fmt.Errorf("configure sign-in: %w", err)
	}
	// Whoever was signed in under other rules signs in again.
	rules := strings.Join([]string{config.Issuer, config.ClientID, fmt.Sprintf("%q", config.Claims)}, "\n")
	a := &Auth{
		config:   config,
		cookies:  newCookies(config.URL),
		attempts: sealer{key: config.Key, purpose: "sign-in\n" + rules},
		limit:    newLimiter(),
		http:     issuerClient(config.Transport),
		origin:   http.NewCrossOriginProtection(),
		clock:    config.Clock,
		log:      config.Log,
	}
	a.sessions = &sessions{
		store: config.Store, seal: sealer{key: config.Key, purpose: "session\n" + rules},
		clock: config.Clock, log: config.Log, idle: config.Idle, absolute: config.Absolute,
	}
	return a, nil
}

func (c Config) check() error {
	portal, err := parseOrigin(c.URL)
	if err != nil {
		return fmt.Errorf("the portal's address %q: %w", c.URL, err)
	}
	if portal.Path != "" {
		return fmt.Errorf("the portal's address %q has a path", c.URL)
	}
	if _, err := parseOrigin(c.Issuer); err != nil {
		return fmt.Errorf("the issuer %q: %w", c.Issuer, err)
	}
	if c.ClientID == "" {
		return errors.New("the client ID is empty")
	}
	if len(c.Key) < minKey {
		return fmt.Errorf("the key has %d bytes; it needs %d", len(c.Key), minKey)
	}
	if c.Store == nil || c.Pages == nil {
		return errors.New("a session store and pages are needed")
	}
	if c.Idle < time.Minute || c.Absolute < c.Idle {
		return fmt.Errorf("a session of %s at most, %s unused: the first must be the longer, the second at least a minute", c.Absolute, c.Idle)
	}
	return c.Claims.check()
}

// parseOrigin parses an address that secrets are sent to.
func parseOrigin(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("it is no URL")
	}
	if u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Opaque != "" {
		return nil, errors.New("it must consist of scheme, host and at most a path")
	}
	switch {
	case u.Scheme == "https":
	case u.Scheme == "http" && isLoopback(u.Hostname()):
	default:
		return nil, errors.New("it must be https, or http on the loopback interface")
	}
	return u, nil
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback()
}

// Run removes expired sessions until ctx is cancelled.
func (a *Auth) Run(ctx context.Context) error {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		if err := a.sessions.sweep(ctx); err != nil && ctx.Err() == nil {
			a.log.WarnContext(ctx, "expired sessions not removed", "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// clientAddress is where a request comes from. A header is believed only if the
// server was told whose.
func clientAddress(c echo.Context) string {
	if extract := c.Echo().IPExtractor; extract != nil {
		return extract(c.Request())
	}
	host, _, err := net.SplitHostPort(c.Request().RemoteAddr)
	if err != nil {
		return c.Request().RemoteAddr
	}
	return host
}
