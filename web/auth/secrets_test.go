package auth_test

import (
	"bytes"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/towpath-dev/towpath/deploy"
	"github.com/towpath-dev/towpath/internal/controlplane/controlplanetest"
	"github.com/towpath-dev/towpath/web/auth"
)

// TestSecrets works with a real API server, as the portal, with the rights that
// it is installed with.
func TestSecrets(t *testing.T) {
	cluster := controlplanetest.Start(t)
	admin, err := cluster.AdminConfig()
	if err != nil {
		t.Fatal(err)
	}
	admin.QPS = -1
	if err := deploy.Install(t.Context(), admin, func(string) {}); err != nil {
		t.Fatal(err)
	}
	config, err := cluster.UserConfig(deploy.PortalUser, "system:serviceaccounts")
	if err != nil {
		t.Fatal(err)
	}
	client, err := corev1client.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	secrets := client.Secrets(deploy.Namespace)
	t.Run("the store keeps what it is given", func(t *testing.T) { keeps(t, auth.NewSecrets(secrets)) })
	t.Run("the store removes what has expired", func(t *testing.T) { sweeps(t, secrets) })
	t.Run("replicas agree on a key", func(t *testing.T) { agrees(t, secrets) })
	t.Run("people sign in and out", func(t *testing.T) {
		h := startHostile(t)
		claim("groups", make500())(h)
		p, b := startPortal(t, h.issuer, func(c *auth.Config) { c.Store = auth.NewSecrets(secrets) }), newBrowser(t)
		h.signIn(b, p)
		p.clock.pass(time.Minute)
		if r := b.get(p.url + "/"); r.status != http.StatusOK {
			t.Errorf("signed in: %d %s", r.status, r.body)
		}
		session := b.session(p.url)
		b.post(p.url+"/sign-out", url.Values{})
		b.plant(p.url, session)
		if r := b.get(p.url + "/"); r.status != http.StatusSeeOther {
			t.Errorf("signed out: %d %s", r.status, r.body)
		}
	})
}

func make500() []string {
	groups := make([]string, 500)
	for i := range groups {
		groups[i] = "a-group-with-a-long-name-" + string(rune('a'+i%26)) + time.Duration(i).String()
	}
	return groups
}

func keeps(t *testing.T, store auth.Store) {
	ctx := t.Context()
	soon := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	want := auth.Record{Sealed: []byte{0, 1, 255}, Expires: soon}
	if err := store.Create(ctx, "one", want); err != nil {
		t.Fatal(err)
	}
	got, err := store.Read(ctx, "one")
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	want = auth.Record{Sealed: []byte{2}, Expires: soon.Add(time.Hour)}
	if err := store.Update(ctx, "one", want); err != nil {
		t.Fatal(err)
	}
	got, err = store.Read(ctx, "one")
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("after the update: %v (-want +got)\n%s", err, diff)
	}
	if err := store.Create(ctx, "one", want); err == nil {
		t.Error("a session was created over another")
	}
	for range 2 {
		if err := store.Delete(ctx, "one"); err != nil {
			t.Error(err)
		}
	}
	if _, err := store.Read(ctx, "one"); !errors.Is(err, auth.ErrNoSession) {
		t.Errorf("read what was deleted: %v", err)
	}
	if err := store.Update(ctx, "one", want); !errors.Is(err, auth.ErrNoSession) {
		t.Errorf("update what was deleted: %v", err)
	}
}

func sweeps(t *testing.T, secrets corev1client.SecretInterface) {
	ctx, store, now := t.Context(), auth.NewSecrets(secrets), time.Now()
	for name, expires := range map[string]time.Time{"old": now.Add(-time.Minute), "new": now.Add(time.Minute)} {
		if err := store.Create(ctx, name, auth.Record{Sealed: []byte("x"), Expires: expires}); err != nil {
			t.Fatal(err)
		}
	}
	// Somebody else's Secret that looks like a session to the selector.
	other := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "other", Labels: map[string]string{"towpath.dev/session": "true"}}}
	if _, err := secrets.Create(ctx, other, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := store.Sweep(ctx, now); err != nil {
		t.Fatal(err)
	}
	left := map[string]bool{}
	for _, name := range []string{"session-old", "session-new", "other"} {
		_, err := secrets.Get(ctx, name, metav1.GetOptions{})
		left[name] = err == nil
	}
	if diff := cmp.Diff(map[string]bool{"session-old": false, "session-new": true, "other": true}, left); diff != "" {
		t.Errorf("what is left (-want +got)\n%s", diff)
	}
}

func agrees(t *testing.T, secrets corev1client.SecretInterface) {
	keys := make([][]byte, 4)
	var wait sync.WaitGroup
	for i := range keys {
		wait.Go(func() {
			var err error
			if keys[i], err = auth.SharedKey(t.Context(), secrets); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	for _, key := range keys {
		if len(key) != 32 || !bytes.Equal(key, keys[0]) || bytes.Equal(key, make([]byte, 32)) {
			t.Errorf("the keys are %x", keys)
		}
	}
	if err := secrets.Delete(t.Context(), "towpath-session-key", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	broken := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "towpath-session-key"}, Data: map[string][]byte{"key": []byte("short")}}
	if _, err := secrets.Create(t.Context(), broken, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := auth.SharedKey(t.Context(), secrets); err == nil {
		t.Error("a short key is taken")
	}
}
