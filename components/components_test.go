package components

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestMoment(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 14, 20, 0, 0, time.UTC)
	tests := map[string]struct {
		at   time.Time
		want MomentView
	}{
		"no time is no moment":     {time.Time{}, MomentView{}},
		"a moment ago":             {now.Add(-time.Second), MomentView{"2026-11-30T14:19:59Z", "30 Nov 2026, 14:19 UTC", "just now"}},
		"seconds":                  {now.Add(-40 * time.Second), MomentView{"2026-11-30T14:19:20Z", "30 Nov 2026, 14:19 UTC", "40 s ago"}},
		"minutes":                  {now.Add(-18 * time.Minute), MomentView{"2026-11-30T14:02:00Z", "30 Nov 2026, 14:02 UTC", "18 min ago"}},
		"hours":                    {now.Add(-2 * time.Hour), MomentView{"2026-11-30T12:20:00Z", "30 Nov 2026, 12:20 UTC", "2 h ago"}},
		"one day":                  {now.Add(-30 * time.Hour), MomentView{"2026-11-29T08:20:00Z", "29 Nov 2026, 08:20 UTC", "1 day ago"}},
		"days":                     {now.Add(-50 * time.Hour), MomentView{"2026-11-28T12:20:00Z", "28 Nov 2026, 12:20 UTC", "2 days ago"}},
		"what is still to come":    {now.Add(3 * time.Minute), MomentView{"2026-11-30T14:23:00Z", "30 Nov 2026, 14:23 UTC", "in 3 min"}},
		"another zone is told UTC": {now.In(time.FixedZone("", 3600)), MomentView{"2026-11-30T14:20:00Z", "30 Nov 2026, 14:20 UTC", "just now"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, Moment(tc.at, now)); diff != "" {
				t.Errorf("Moment (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPlanShowsTheGravestFirst(t *testing.T) {
	t.Parallel()
	v := PlanView{
		Counts: CountsView{Create: 3, Update: 2, Replace: 1, Delete: 1, Same: 4},
		Steps: []StepView{
			{Op: Create, Name: "a", Instance: "web"},
			{Op: Update, Name: "b"},
			{Op: Delete, Name: "c"},
			{Op: Create, Name: "d", Instance: "db"},
			{Op: Replace, Name: "e"},
			{Op: Create, Name: "f", Instance: "web"},
			{Op: Update, Name: "g", Instance: "web"},
		},
	}
	var shown []string
	for _, p := range v.parts() {
		for _, s := range slices.Concat(p.compared, p.created) {
			shown = append(shown, p.title+" "+s.Name)
		}
	}
	if diff := cmp.Diff([]string{"Other resources c", "Other resources e", "Other resources b", "web g", "web a", "web f", "db d"}, shown); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	if got := v.gravest(); got != string(Delete) {
		t.Errorf("the gravest is %q, want %q", got, Delete)
	}
	var counts []string
	for _, c := range v.Counts.list() {
		counts = append(counts, c.String())
	}
	if diff := cmp.Diff([]string{"1 deleted", "1 replaced", "2 updated", "3 created"}, counts); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
}

func TestWhatDiffersWithinAText(t *testing.T) {
	t.Parallel()
	known := func(text string) ValueView { return ValueView{State: Known, Text: text} }
	tests := map[string]struct {
		value, other           ValueView
		before, differs, after string
	}{
		"one part of a long text": {
			known("ghcr.io/acme/orders:1.1.0"), known("ghcr.io/acme/orders:1.0.0"),
			"ghcr.io/acme/orders:1.", "1", ".0",
		},
		"a text that grew": {
			known("ghcr.io/acme/orders:1.0.0-rc1"), known("ghcr.io/acme/orders:1.0.0"),
			"ghcr.io/acme/orders:1.0.0", "-rc1", "",
		},
		"letters of several bytes stay whole": {
			known("größte Änderung des Jahres ä"), known("größte Änderung des Jahres ö"),
			"größte Änderung des Jahres ", "ä", "",
		},
		"short texts":                 {known("2"), known("3"), "2", "", ""},
		"texts with little in common": {known("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"), known("bbbbbbbbbbbbbbbbbbbbbbbbbbbbba"), "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "", ""},
		"a secret beside it":          {known("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"), ValueView{State: Secret}, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, differs, after := around(tc.value, tc.other)
			if diff := cmp.Diff([]string{tc.before, tc.differs, tc.after}, []string{before, differs, after}); diff != "" {
				t.Errorf("around (-want +got):\n%s", diff)
			}
		})
	}
}

func TestColumnsOfServicesKeepTheOrderOfEnvironments(t *testing.T) {
	t.Parallel()
	service := func(names ...string) ServiceRowView {
		var v ServiceRowView
		for _, name := range names {
			v.Places = append(v.Places, ServicePlaceView{Environment: name})
		}
		return v
	}
	tests := map[string]struct {
		services []ServiceRowView
		want     []string
	}{
		"no services":                 {nil, nil},
		"all the same":                {[]ServiceRowView{service("dev", "test", "prod"), service("dev", "test", "prod")}, []string{"dev", "test", "prod"}},
		"one that skips the middle":   {[]ServiceRowView{service("dev", "prod"), service("dev", "test", "prod")}, []string{"dev", "test", "prod"}},
		"one that is only in the end": {[]ServiceRowView{service("prod"), service("dev", "prod")}, []string{"dev", "prod"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, column := range environmentsOf(tc.services) {
				got = append(got, column.Environment)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("columns (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOverridesNameTheEnvironmentsThatDiffer(t *testing.T) {
	t.Parallel()
	v := FieldView{PerEnvironment: []FieldView{
		{Label: "dev"},
		{Label: "test", Kind: Select, Options: []OptionView{{Label: "as everywhere", Selected: true}}},
		{Label: "prod", Value: "3"},
		{Label: "eu", Kind: Select, Options: []OptionView{{Value: "x", Label: "large", Selected: true}}},
	}}
	if got, want := v.overrides(), "prod: 3, eu: large"; got != want {
		t.Errorf("overrides are %q, want %q", got, want)
	}
	if !v.differs() {
		t.Error("the values are said not to differ")
	}
}
