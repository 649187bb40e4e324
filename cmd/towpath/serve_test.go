package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/towpath-dev/towpath/internal/fault"
)

// given are options as flags and environment make them.
func given(t *testing.T, environment map[string]string, arguments ...string) (serveOptions, error) {
	t.Helper()
	var o serveOptions
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	o.flags(flags)
	if err := flags.Parse(arguments); err != nil {
		t.Fatal(err)
	}
	err := fromEnvironment(flags, func(name string) (string, bool) {
		value, ok := environment[name]
		return value, ok
	})
	if err == nil {
		err = o.check()
	}
	return o, err
}

func TestFlagsAndEnvironment(t *testing.T) {
	o, err := given(t, map[string]string{
		"TOWPATH_PUBLIC_URL": "https://from.environment/", "TOWPATH_OIDC_ISSUER": "https://issuer.example", "TOWPATH_OIDC_CLIENT_ID": "env",
		"TOWPATH_OIDC_SCOPES": "a,b", "TOWPATH_CONTROLLER": "false",
	}, "--oidc-client-id=flag")
	if err != nil {
		t.Fatal(err)
	}
	got := []any{o.url, o.issuer, o.clientID, o.scopes, o.controller, o.web}
	want := []any{"https://from.environment", "https://issuer.example", "flag", []string{"a", "b"}, false, true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWhatCannotWorkIsRefusedInASentence(t *testing.T) {
	portal := []string{"--controller=false", "--public-url=https://t.example", "--oidc-issuer=https://i.example", "--oidc-client-id=x"}
	for name, test := range map[string]struct {
		environment map[string]string
		arguments   []string
		says        string
	}{
		"neither half":                    {nil, []string{"--web=false", "--controller=false"}, "Nothing to do"},
		"no address":                      {nil, []string{"--controller=false"}, "--public-url"},
		"no issuer":                       {nil, []string{"--controller=false", "--public-url=https://t.example"}, "--oidc-issuer"},
		"an address with a path":          {nil, append(portal, "--public-url=https://t.example/portal"), "--public-url"},
		"an address without a host":       {nil, append(portal, "--public-url=towpath"), "--public-url"},
		"a certificate without a key":     {nil, append(portal, "--tls-certificate=a.pem"), "--tls-key"},
		"no workers":                      {nil, []string{"--web=false", "--workers=0"}, "--workers"},
		"a variable that is no number":    {map[string]string{"TOWPATH_WORKERS": "many"}, []string{"--web=false"}, "TOWPATH_WORKERS"},
		"a variable that is not a switch": {map[string]string{"TOWPATH_WEB": "perhaps"}, nil, "TOWPATH_WEB"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := given(t, test.environment, test.arguments...)
			message, told := fault.Message(err)
			if !told || !strings.Contains(message, test.says) {
				t.Errorf("it says %q (%v); want %q", message, err, test.says)
			}
		})
	}
	if _, err := given(t, nil, portal...); err != nil {
		t.Errorf("what can work: %v", err)
	}
}
