package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/towpath-dev/towpath/internal/fault"
)

func TestAFailureIsOneSentence(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"what is meant for people, without its cause": {
			fmt.Errorf("read change: %w", fault.New(fault.NotFound, errors.New("404"), "There is no change %q.", "orders-1")),
			`There is no change "orders-1".`,
		},
		"an error of ours": {fmt.Errorf("read stack %q: %w", "a", errors.New("gone")), `read stack "a": gone`},
		"several errors":   {errors.Join(errors.New("one"), errors.New("two")), "one; two"},
		"an interruption":  {fmt.Errorf("read: %w", context.Canceled), "interrupted"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, sentence(test.err)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAnUnknownCommandFails(t *testing.T) {
	var out, errOut strings.Builder
	if code := run(t.Context(), []string{"frobnicate"}, &out, &errOut); code != 1 {
		t.Errorf("exit code %d; want 1", code)
	}
	want := "towpath: unknown command \"frobnicate\" for \"towpath\"\n"
	if diff := cmp.Diff(want, errOut.String()); diff != "" {
		t.Error(diff)
	}
}
