package change

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestExpendable(t *testing.T) {
	at := func(name string, minute int) appsv1.ControllerRevision {
		return appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{
			Name: name, CreationTimestamp: metav1.NewTime(time.Unix(int64(minute)*60, 0)),
		}}
	}
	revisions := []appsv1.ControllerRevision{at("b", 2), at("d", 4), at("a", 1), at("c", 3)}
	for name, c := range map[string]struct {
		used map[string]bool
		keep int
		want []string
	}{
		"the oldest go first":                      {keep: 2, want: []string{"b", "a"}},
		"what is in use stays, however old":        {used: map[string]bool{"a": true}, keep: 1, want: []string{"c", "b"}},
		"fewer than the limit":                     {keep: 4, want: nil},
		"those in use do not count for the limit":  {used: map[string]bool{"d": true, "c": true}, keep: 2, want: nil},
		"nothing is kept for history with no room": {used: map[string]bool{"d": true}, keep: 0, want: []string{"c", "b", "a"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, expendable(revisions, c.used, c.keep)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
