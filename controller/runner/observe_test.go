package runner

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

func TestReadAStream(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	const (
		beat  = `{"time":"2026-03-01T12:00:00Z","heartbeat":{"doing":"applying"}}` + "\n"
		entry = `{"time":"2026-03-01T12:00:00Z","log":{"severity":"info","text":"a"}}` + "\n"
		end   = `{"time":"2026-03-01T12:00:00Z","result":{"phase":"Succeeded","message":"Done."}}` + "\n"
	)
	logged := []v1alpha1.LogLine{{Time: metav1.NewTime(noon), Severity: "info", Text: "a"}}
	for name, test := range map[string]struct {
		stream string
		want   Observation
	}{
		"nothing yet":                     {"", Observation{}},
		"a line that is being written":    {beat + entry[:40], Observation{Heartbeat: noon, Doing: "applying"}},
		"a result that is cut off":        {entry + end[:len(end)-1], Observation{Heartbeat: noon, Log: logged}},
		"a line that is no JSON":          {"panic: no\n" + entry, Observation{Heartbeat: noon, Log: logged}},
		"an empty line":                   {"\n\n" + entry, Observation{Heartbeat: noon, Log: logged}},
		"a field that a newer runner has": {`{"time":"2026-03-01T12:00:00Z","more":{"a":1}}` + "\n" + entry, Observation{Heartbeat: noon, Log: logged}},
		"all of it":                       {entry + beat + end, Observation{Heartbeat: noon, Log: logged, Doing: "applying", Result: &Result{Phase: v1alpha1.RunSucceeded, Message: "Done."}}},
	} {
		t.Run(name, func(t *testing.T) {
			var got Observation
			got.read([]byte(test.stream))
			test.want.Stream = []byte(test.stream)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
