package stack

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/change"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// up is an apply of generation 2 that ended at noon.
func up(name string, phase v1alpha1.RunPhase, edits ...func(*v1alpha1.Run)) *v1alpha1.Run {
	at := metav1.NewTime(noon)
	run := &v1alpha1.Run{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{change.StackGenerationAnnotation: "2"}},
		Spec:       v1alpha1.RunSpec{Operation: v1alpha1.Up, Service: "orders", StackName: "orders-dev", Snapshot: "orders-new"},
		Status:     v1alpha1.RunStatus{Phase: phase, Message: "So it is.", FinishedAt: &at},
	}
	for _, edit := range edits {
		edit(run)
	}
	return run
}

func after(d time.Duration) func(*v1alpha1.Run) {
	return func(run *v1alpha1.Run) { run.Status.FinishedAt = &metav1.Time{Time: noon.Add(d)} }
}

func ofGeneration(generation string) func(*v1alpha1.Run) {
	return func(run *v1alpha1.Run) { run.Annotations[change.StackGenerationAnnotation] = generation }
}

func asked(request string) func(*v1alpha1.Run) {
	return func(run *v1alpha1.Run) { run.Annotations[change.ReconcileRequestAnnotation] = request }
}

func TestLastUpdate(t *testing.T) {
	old := func(state string, failures int64) *pulumiv1.StackUpdateState {
		return &pulumiv1.StackUpdateState{
			Name: "old", Type: "up", State: state, Generation: 2, Failures: failures,
			LastAttemptedCommit: "orders-old", LastSuccessfulCommit: "orders-old", LastResyncTime: metav1.NewTime(noon.Add(-time.Hour)),
		}
	}
	failed := func(failures int64, edits ...func(*pulumiv1.StackUpdateState)) *pulumiv1.StackUpdateState {
		u := &pulumiv1.StackUpdateState{
			Name: "new", Type: "up", State: "failed", Message: "So it is.", Generation: 2, Failures: failures,
			LastAttemptedCommit: "orders-new", LastSuccessfulCommit: "orders-old", LastResyncTime: metav1.NewTime(noon),
		}
		for _, edit := range edits {
			edit(u)
		}
		return u
	}
	succeeded := &pulumiv1.StackUpdateState{
		Name: "new", Type: "up", State: "succeeded", Message: "So it is.", Generation: 2,
		LastAttemptedCommit: "orders-new", LastSuccessfulCommit: "orders-new", LastResyncTime: metav1.NewTime(noon),
	}
	for name, test := range map[string]struct {
		old  *pulumiv1.StackUpdateState
		run  *v1alpha1.Run
		want *pulumiv1.StackUpdateState
	}{
		"nothing has run":                         {nil, nil, nil},
		"the first succeeds":                      {nil, up("new", v1alpha1.RunSucceeded), succeeded},
		"the first fails":                         {nil, up("new", v1alpha1.RunFailed), failed(0, func(u *pulumiv1.StackUpdateState) { u.LastSuccessfulCommit = "" })},
		"the first failure after a success":       {old("succeeded", 0), up("new", v1alpha1.RunFailed), failed(0)},
		"a second failure":                        {old("failed", 0), up("new", v1alpha1.RunFailed), failed(1)},
		"a fourth failure":                        {old("failed", 2), up("new", v1alpha1.RunFailed), failed(3)},
		"an interruption is a failure":            {old("failed", 0), up("new", v1alpha1.RunInterrupted), failed(1)},
		"a lost run is a failure":                 {old("failed", 0), up("new", v1alpha1.RunLost), failed(1)},
		"a failure of a new generation":           {old("failed", 2), up("new", v1alpha1.RunFailed, ofGeneration("3")), failed(0, func(u *pulumiv1.StackUpdateState) { u.Generation = 3 })},
		"a failure of a new request":              {old("failed", 2), up("new", v1alpha1.RunFailed, asked("again")), failed(0, func(u *pulumiv1.StackUpdateState) { u.ReconcileRequest = "again" })},
		"a success after failures":                {old("failed", 2), up("new", v1alpha1.RunSucceeded), succeeded},
		"the same run is not counted twice":       {failed(1), up("new", v1alpha1.RunFailed), failed(1)},
		"an older run that is still there":        {old("succeeded", 0), up("older", v1alpha1.RunFailed, after(-2*time.Hour)), old("succeeded", 0)},
		"the record of the last run is gone":      {old("succeeded", 0), nil, old("succeeded", 0)},
		"a run of a generation that is no number": {nil, up("new", v1alpha1.RunSucceeded, ofGeneration("x")), func() *pulumiv1.StackUpdateState { u := *succeeded; u.Generation = 0; return &u }()},
	} {
		t.Run(name, func(t *testing.T) {
			stack := &pulumiv1.Stack{}
			stack.Status.LastUpdate = test.old
			record(stack, facts{last: test.run})
			if diff := cmp.Diff(test.want, stack.Status.LastUpdate); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOutputsAreOfTheLastSuccess(t *testing.T) {
	outputs := func(json string) map[string]apiextensionsv1.JSON {
		return map[string]apiextensionsv1.JSON{"host": {Raw: []byte(json)}}
	}
	stack := &pulumiv1.Stack{}
	record(stack, facts{last: up("a", v1alpha1.RunSucceeded, func(run *v1alpha1.Run) { run.Status.Outputs = outputs(`"[secret]"`) })})
	for name, run := range map[string]*v1alpha1.Run{
		"a failure leaves them":        up("b", v1alpha1.RunFailed, after(time.Minute), func(run *v1alpha1.Run) { run.Status.Outputs = outputs(`"half"`) }),
		"a success without any leaves": up("c", v1alpha1.RunSucceeded, after(2*time.Minute)),
	} {
		record(stack, facts{last: run})
		if diff := cmp.Diff(outputs(`"[secret]"`), stack.Status.Outputs); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
	if diff := cmp.Diff(&pulumiv1.ProjectInfo{Name: "orders", Runtime: "yaml"}, stack.Status.ProjectInfo); diff != "" {
		t.Error(diff)
	}
}

func TestWhatIsObserved(t *testing.T) {
	stack := &pulumiv1.Stack{ObjectMeta: metav1.ObjectMeta{Generation: 7, Annotations: map[string]string{pulumiv1.ReconciliationRequestAnnotation: "now"}}}
	record(stack, facts{current: up("new", v1alpha1.RunRunning, asked("then"))})
	if stack.Status.ObservedGeneration != 7 || stack.Status.ObservedReconcileRequest != "now" {
		t.Errorf("observed generation %d, request %q", stack.Status.ObservedGeneration, stack.Status.ObservedReconcileRequest)
	}
	want := &pulumiv1.CurrentStackUpdate{Generation: 2, ReconcileRequest: "then", Name: "new", Commit: "orders-new"}
	if diff := cmp.Diff(want, stack.Status.CurrentUpdate); diff != "" {
		t.Error(diff)
	}
	record(stack, facts{})
	if stack.Status.CurrentUpdate != nil {
		t.Errorf("it is still there: %+v", stack.Status.CurrentUpdate)
	}
}

// Only an Up of this very Stack is its update; above all, no preview of the gate.
func TestWhichRunsAreUpdates(t *testing.T) {
	of := func(operation v1alpha1.Operation, stack string) func(*v1alpha1.Run) {
		return func(run *v1alpha1.Run) { run.Spec.Operation, run.Spec.StackName = operation, stack }
	}
	for name, test := range map[string]struct {
		runs          []*v1alpha1.Run
		current, last string
	}{
		"none":                          {nil, "", ""},
		"a preview that succeeded":      {[]*v1alpha1.Run{up("p", v1alpha1.RunSucceeded, of(v1alpha1.Preview, "orders-dev"))}, "", ""},
		"a preview at work":             {[]*v1alpha1.Run{up("p", v1alpha1.RunRunning, of(v1alpha1.Preview, "orders-dev"))}, "", ""},
		"an apply of another Stack":     {[]*v1alpha1.Run{up("o", v1alpha1.RunSucceeded, of(v1alpha1.Up, "orders-test"))}, "", ""},
		"an apply that touched nothing": {[]*v1alpha1.Run{up("d", v1alpha1.RunDiverged)}, "", ""},
		"an apply at work":              {[]*v1alpha1.Run{up("a", v1alpha1.RunRunning), up("b", v1alpha1.RunSucceeded)}, "a", "b"},
		"an apply that waits":           {[]*v1alpha1.Run{up("a", v1alpha1.RunPending)}, "a", ""},
		"an apply that is new":          {[]*v1alpha1.Run{up("a", "")}, "a", ""},
		"the one that ended last":       {[]*v1alpha1.Run{up("a", v1alpha1.RunSucceeded), up("c", v1alpha1.RunFailed, after(2*time.Minute)), up("b", v1alpha1.RunLost, after(time.Minute))}, "", "c"},
	} {
		t.Run(name, func(t *testing.T) {
			var f facts
			stack := &pulumiv1.Stack{ObjectMeta: metav1.ObjectMeta{Name: "orders-dev"}}
			for _, run := range test.runs {
				f.consider(stack, run)
			}
			nameOf := func(run *v1alpha1.Run) string {
				if run == nil {
					return ""
				}
				return run.Name
			}
			if diff := cmp.Diff([]string{test.current, test.last}, []string{nameOf(f.current), nameOf(f.last)}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestConditions(t *testing.T) {
	cr := func(phase v1alpha1.ChangePhase) *v1alpha1.ChangeRequest {
		return &v1alpha1.ChangeRequest{ObjectMeta: metav1.ObjectMeta{Name: "first"}, Status: v1alpha1.ChangeRequestStatus{Phase: phase}}
	}
	at := func(phase v1alpha1.StackPhase, kind v1alpha1.WaitKind) *v1alpha1.StackChange {
		sc := &v1alpha1.StackChange{Phase: phase, Message: "Because."}
		if kind != "" {
			sc.Waiting = &v1alpha1.Waiting{Kind: kind, Message: "Why it waits."}
		}
		return sc
	}
	succeeded := &pulumiv1.StackUpdateState{Name: "u", State: "succeeded", LastSuccessfulCommit: "orders-new"}
	failed := &pulumiv1.StackUpdateState{Name: "u", State: "failed"}
	ready := []string{"Ready=True ProcessingCompleted: the stack has been processed and is at orders-new"}
	reconciling := func(reason, message string) []string {
		return []string{"Ready=False NotReadyInProgress: reconciliation is in progress", "Reconciling=True " + reason + ": " + message}
	}
	stalled := func(reason, message string) []string {
		return []string{"Ready=False NotReadyStalled: reconciliation is stalled", "Stalled=True " + reason + ": " + message}
	}
	const open, done = v1alpha1.ChangeApplying, v1alpha1.ChangeApplied
	for name, test := range map[string]struct {
		last *pulumiv1.StackUpdateState
		f    facts
		want []string
	}{
		"never applied":                        {nil, facts{}, reconciling("AwaitingApproval", "It has never been applied: propose a change for it.")},
		"applied":                              {succeeded, facts{}, ready},
		"applied by a change that has ended":   {succeeded, facts{change: cr(done), state: at(v1alpha1.StackApplied, "")}, ready},
		"applied by a change that goes on":     {succeeded, facts{change: cr(open), state: at(v1alpha1.StackApplied, "")}, ready},
		"an apply at work":                     {succeeded, facts{current: up("a", v1alpha1.RunRunning), change: cr(open), state: at(v1alpha1.StackApplying, v1alpha1.WaitApply)}, reconciling("StackProcessing", "stack is being processed")},
		"a preview at work":                    {succeeded, facts{change: cr(open)}, reconciling("AwaitingApproval", "change first is being previewed")},
		"waiting for a review is never ready":  {succeeded, facts{change: cr(open), state: at(v1alpha1.StackInReview, v1alpha1.WaitReview)}, reconciling("AwaitingApproval", "change first: Why it waits.")},
		"waiting for its turn":                 {succeeded, facts{change: cr(open), state: at(v1alpha1.StackApproved, v1alpha1.WaitPrerequisite)}, reconciling("PrerequisiteNotSatisfied", "change first: Why it waits.")},
		"waiting for a fresh upstream":         {succeeded, facts{change: cr(open), state: at(v1alpha1.StackApproved, v1alpha1.WaitFreshness)}, reconciling("PrerequisiteNotSatisfied", "change first: Why it waits.")},
		"waiting for health":                   {succeeded, facts{change: cr(open), state: at(v1alpha1.StackVerifying, v1alpha1.WaitHealth)}, reconciling("StackProcessing", "change first: Why it waits.")},
		"waiting to be tried again":            {failed, facts{change: cr(open), state: at(v1alpha1.StackApplying, v1alpha1.WaitRetry)}, reconciling("RetryingAfterFailure", "change first: Why it waits.")},
		"waiting for another run":              {succeeded, facts{change: cr(open), state: at(v1alpha1.StackPreviewing, v1alpha1.WaitLock)}, reconciling("AwaitingApproval", "change first: Why it waits.")},
		"rejected, while the change goes on":   {succeeded, facts{change: cr(open), state: at(v1alpha1.StackRejected, "")}, stalled("ApprovalRejected", "Because.")},
		"rejected":                             {succeeded, facts{change: cr(v1alpha1.ChangeRejected), state: at(v1alpha1.StackRejected, "")}, stalled("ApprovalRejected", "Because.")},
		"failed":                               {failed, facts{change: cr(v1alpha1.ChangeFailed), state: at(v1alpha1.StackFailed, "")}, stalled("UpdateFailed", "Because.")},
		"failed, while the change goes on":     {failed, facts{change: cr(open), state: at(v1alpha1.StackFailed, "")}, stalled("UpdateFailed", "Because.")},
		"failed, and the change is gone":       {failed, facts{}, stalled("UpdateFailed", "the last update failed")},
		"its preview failed, after a success":  {succeeded, facts{change: cr(v1alpha1.ChangeFailed), state: at(v1alpha1.StackFailed, "")}, stalled("UpdateFailed", "Because.")},
		"withdrawn, after a success":           {succeeded, facts{change: cr(v1alpha1.ChangeWithdrawn), state: at(v1alpha1.StackInReview, "")}, ready},
		"withdrawn, before anything was there": {nil, facts{change: cr(v1alpha1.ChangeWithdrawn), state: at(v1alpha1.StackInReview, "")}, reconciling("AwaitingApproval", "It has never been applied: propose a change for it.")},
	} {
		t.Run(name, func(t *testing.T) {
			stack := &pulumiv1.Stack{}
			stack.Status.LastUpdate = test.last
			// Whatever it was before: exactly one shape at a time.
			stack.Status.Conditions = []metav1.Condition{
				{Type: "Ready", Status: metav1.ConditionTrue, Reason: "x"}, {Type: "Reconciling", Status: metav1.ConditionTrue, Reason: "x"}, {Type: "Stalled", Status: metav1.ConditionTrue, Reason: "x"},
			}
			record(stack, test.f)
			var got []string
			for _, c := range stack.Status.Conditions {
				got = append(got, c.Type+"="+string(c.Status)+" "+c.Reason+": "+c.Message)
			}
			if diff := cmp.Diff(test.want, got, cmpopts.SortSlices(func(a, b string) bool { return a < b })); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhichChangeAStackFollows(t *testing.T) {
	stack := &pulumiv1.Stack{ObjectMeta: metav1.ObjectMeta{Name: "orders-dev", Labels: map[string]string{v1alpha1.EnvironmentLabel: "dev"}}}
	cr := func(name, service string, minute int, phase v1alpha1.ChangePhase, environments ...string) *v1alpha1.ChangeRequest {
		c := &v1alpha1.ChangeRequest{
			ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(noon.Add(time.Duration(minute) * time.Minute))},
			Spec:       v1alpha1.ChangeRequestSpec{Service: service}, Status: v1alpha1.ChangeRequestStatus{Phase: phase},
		}
		for _, environment := range environments {
			c.Spec.Environments = append(c.Spec.Environments, v1alpha1.EnvironmentProposal{Name: v1alpha1.EnvironmentName(environment)})
			c.Status.Stacks = append(c.Status.Stacks, v1alpha1.StackChange{Environment: environment, Stack: service + "-" + environment})
		}
		return c
	}
	for name, test := range map[string]struct {
		changes []*v1alpha1.ChangeRequest
		want    string
	}{
		"none":                   {nil, ""},
		"of another service":     {[]*v1alpha1.ChangeRequest{cr("a", "billing", 0, "Applying", "dev")}, ""},
		"in another environment": {[]*v1alpha1.ChangeRequest{cr("a", "orders", 0, "Applying", "test")}, ""},
		"one that was refused":   {[]*v1alpha1.ChangeRequest{cr("a", "orders", 0, "Applied", "dev"), cr("b", "orders", 1, "Refused", "dev")}, "a"},
		"the newest":             {[]*v1alpha1.ChangeRequest{cr("c", "orders", 2, "Applying", "dev", "test"), cr("b", "orders", 1, "Applied", "dev")}, "c"},
	} {
		t.Run(name, func(t *testing.T) {
			var f facts
			for _, c := range test.changes {
				f.considerChange(stack, "orders", c)
			}
			got := ""
			if f.change != nil {
				got = f.change.Name
				if f.state == nil || f.state.Stack != "orders-dev" {
					t.Errorf("the state is of %+v", f.state)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
