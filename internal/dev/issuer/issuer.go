// Package issuer is the OpenID provider of `towpath dev`: a few people to be, no
// passwords. It is a real provider as far as the portal can tell, so that
// signing in takes the way it takes in production. It must not be reachable from
// anywhere but this machine, and no production part may import it.
package issuer

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/zitadel/oidc/v3/pkg/op"

	"github.com/towpath-dev/towpath/web/static"
)

// Config says who can sign in, and to what.
type Config struct {
	// URL is the issuer, exactly: where the handler is served, without a path.
	URL string
	// Dir is a private folder that exists; the signing key is kept there.
	Dir string
	// People are those to sign in as.
	People []Person
	// ClientID is the portal's. It is a public client and must use PKCE.
	ClientID string
	// RedirectURL and PostLogoutURL are the only places to go back to.
	RedirectURL, PostLogoutURL string
}

// Person is somebody to sign in as.
type Person struct {
	// Username is also the subject.
	Username string
	// Name is what people call them; Does is what they do, for the sign-in page.
	Name, Does string
	Groups     []string
}

const (
	signInPath = "/sign-in"
	// callbackPath is where a finished sign-in goes on to.
	callbackPath = "/authorize/callback"
)

// New makes the provider. Sign-ins under way end with the process; its key, and
// so what it has signed, outlives it.
func New(config Config) (http.Handler, error) {
	u, err := url.Parse(config.URL)
	if err != nil || u.Host == "" || u.Path != "" {
		return nil, fmt.Errorf("issuer %q must consist of scheme and host", config.URL)
	}
	redirect, err := url.Parse(config.RedirectURL)
	if err != nil || redirect.Host == "" {
		return nil, fmt.Errorf("redirect URL %q is no absolute URL", config.RedirectURL)
	}
	if len(config.People) == 0 || config.ClientID == "" {
		return nil, errors.New("an issuer needs people and a client")
	}
	key, err := loadKey(config.Dir)
	if err != nil {
		return nil, err
	}
	store := newStorage(config, key)
	settings := &op.Config{
		DefaultLogoutRedirectURI: config.PostLogoutURL,
		CodeMethodS256:           true,
		SupportedScopes:          []string{"openid", "profile", "email"},
		SupportedClaims:          []string{"sub", "iss", "aud", "exp", "iat", "nonce", "preferred_username", "name", "groups"},
	}
	// crypto/rand.Read never returns an error.
	_, _ = rand.Read(settings.CryptoKey[:])
	provider, err := op.NewProvider(settings, store, op.StaticIssuer(config.URL), op.WithAllowInsecure(), op.WithCORSOptions(nil))
	if err != nil {
		return nil, fmt.Errorf("start issuer %q: %w", config.URL, err)
	}
	signIn := &signIn{people: config.People, store: store}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+signInPath, signIn.show)
	mux.HandleFunc("POST "+signInPath, signIn.choose)
	for _, file := range static.All() {
		mux.HandleFunc("GET "+file.URL, serve(file))
	}
	mux.Handle("/", provider)
	return guard(u.Host, origin(redirect), http.NewCrossOriginProtection().Handler(mux)), nil
}

// guard answers only to the issuer's own name, so that no other site's name can
// be made to mean it, and sets the headers of all answers.
func guard(host, portal string, next http.Handler) http.Handler {
	policy := "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'; " +
		// The form on the sign-in page ends at the portal.
		"form-action 'self' " + portal
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", policy)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cache-Control", "no-store")
		if r.Host != host {
			http.Error(w, "This is not the address of this identity provider.", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func serve(file static.File) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", file.ContentType)
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		// A reader that is gone misses nothing.
		_, _ = w.Write(file.Content)
	}
}

func origin(u *url.URL) string { return u.Scheme + "://" + u.Host }
