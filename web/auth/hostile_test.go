package auth_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	jose "github.com/go-jose/go-jose/v4"
)

// hostile is an OpenID provider that does as a test tells it. Left alone it is
// an honest one, and checks what it is sent.
type hostile struct {
	t   *testing.T
	url string
	// alg and key sign tokens; published is the key that others are told.
	alg       jose.SignatureAlgorithm
	key       any
	published crypto.PublicKey
	// claims changes the claims of a token, token the token, and respond the
	// whole answer to a code.
	claims  func(map[string]any)
	token   func(claims map[string]any, signed string) any
	respond http.HandlerFunc
	// describe changes the description.
	describe func(map[string]any)

	asked url.Values
}

func startHostile(t *testing.T) *hostile {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	h := &hostile{
		t: t, alg: jose.ES256, key: key, published: key.Public(),
		claims:   func(map[string]any) {},
		token:    func(_ map[string]any, signed string) any { return signed },
		describe: func(map[string]any) {},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", h.configuration)
	mux.HandleFunc("GET /keys", h.keys)
	mux.HandleFunc("POST /token", h.redeem)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	h.url = server.URL
	return h
}

func (h *hostile) issuer(string) string { return h.url }

// signWith makes the provider sign with a fresh key of an algorithm.
func (h *hostile) signWith(alg jose.SignatureAlgorithm) {
	h.t.Helper()
	var err error
	h.alg = alg
	switch alg {
	case jose.EdDSA:
		h.published, h.key, err = ed25519.GenerateKey(rand.Reader)
	case jose.ES256:
		var key *ecdsa.PrivateKey
		key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		h.key, h.published = key, key.Public()
	default:
		var key *rsa.PrivateKey
		key, err = rsa.GenerateKey(rand.Reader, 2048)
		h.key, h.published = key, key.Public()
	}
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *hostile) configuration(w http.ResponseWriter, _ *http.Request) {
	description := map[string]any{
		"issuer": h.url, "authorization_endpoint": h.url + "/authorize", "token_endpoint": h.url + "/token",
		"jwks_uri": h.url + "/keys", "end_session_endpoint": h.url + "/end",
		"id_token_signing_alg_values_supported": []string{"none", "HS256", "ES256"},
	}
	h.describe(description)
	h.json(w, description)
}

func (h *hostile) keys(w http.ResponseWriter, _ *http.Request) {
	h.json(w, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: h.published, Use: "sig"}}})
}

func (h *hostile) json(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(value); err != nil {
		h.t.Error(err)
	}
}

// redeem answers a code, after it has checked PKCE and the redirect URL.
func (h *hostile) redeem(w http.ResponseWriter, r *http.Request) {
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	if got, want := base64.RawURLEncoding.EncodeToString(sum[:]), h.asked.Get("code_challenge"); got != want {
		h.t.Errorf("the code verifier has challenge %q, announced was %q", got, want)
	}
	if got, want := r.PostFormValue("redirect_uri"), h.asked.Get("redirect_uri"); got != want {
		h.t.Errorf("redirect URI is %q, announced was %q", got, want)
	}
	if h.respond != nil {
		h.respond(w, r)
		return
	}
	claims := map[string]any{
		"iss": h.url, "sub": "1234", "aud": "towpath", "nonce": h.asked.Get("nonce"),
		"exp": time.Now().Add(time.Hour).Unix(), "iat": time.Now().Unix(),
		"preferred_username": "ana", "groups": []string{"developer"}, "email": "ana@example.test", "name": "Ana",
	}
	h.claims(claims)
	h.json(w, map[string]any{
		"access_token": "opaque", "token_type": "Bearer", "expires_in": 3600,
		"id_token": h.token(maps.Clone(claims), h.sign(h.alg, h.key, claims)),
	})
}

func (h *hostile) sign(alg jose.SignatureAlgorithm, key any, claims map[string]any) string {
	h.t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key}, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		h.t.Fatal(err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		h.t.Fatal(err)
	}
	compact, err := signed.CompactSerialize()
	if err != nil {
		h.t.Fatal(err)
	}
	return compact
}

// begin takes a browser to the provider, and returns the way back that an honest
// one would send it.
func (h *hostile) begin(b *browser, p *portal, next string) url.Values {
	h.t.Helper()
	r := b.get(p.url + "/sign-in?" + url.Values{"next": {next}}.Encode())
	if r.status != http.StatusSeeOther {
		h.t.Fatalf("sign-in answers %d: %s", r.status, r.body)
	}
	h.asked = parse(h.t, r.location).Query()
	return url.Values{"state": {h.asked.Get("state")}, "code": {"c0de"}}
}

func callback(p *portal, answer url.Values) string {
	return p.url + "/sign-in/callback?" + answer.Encode()
}
