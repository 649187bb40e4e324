package gallery

import (
	"time"

	"github.com/a-h/templ"

	"github.com/towpath-dev/towpath/components"
)

// Part is a component in one state.
type Part struct {
	Name string
	Part templ.Component
}

// now is when the gallery was looked at.
var now = time.Date(2026, 11, 30, 14, 20, 0, 0, time.UTC)

func before(d time.Duration) components.MomentView {
	return components.Moment(now.Add(-d), now)
}

// Parts are all components in all states.
func Parts() []Part {
	return []Part{
		{"tags", toned()},
		{"counts", counted()},
		{"plan-delete", components.Plan(planDelete("plan-delete"))},
		{"plan-replace", components.Plan(planReplace("plan-replace"))},
		{"plan-update", components.Plan(planUpdate("plan-update"))},
		{"plan-create", components.Plan(planCreate("plan-create"))},
		{"plan-empty", components.Plan(components.PlanView{ID: "plan-empty", Consequence: "Nothing changes.", Counts: components.CountsView{Same: 12}})},
		{"waiting", components.Waiting(waitingForReview())},
		{"reviews", components.Reviews(reviews())},
		{"review-form", components.ReviewForm(reviewForm())},
		{"review-form-problem", components.ReviewForm(reviewFormProblem())},
		{"review-form-refused", components.ReviewForm(components.ReviewFormView{ID: "refused", Environment: "dev", Refusal: "You proposed this change, so somebody else must approve it.", CommentURL: "/changes/shop/orders-7k2/comment"})},
		{"differences", components.Differences(components.DifferencesView{Title: "What differs from the plan before", List: []components.DifferenceView{{What: "state", Detail: "somebody applied the stack by other means since the plan was made"}}})},
		{"log-running", components.Log(runningLog("log-running"))},
		{"log-empty", components.Log(components.LogView{ID: "log-empty", Title: "Log of the preview", Running: true})},
		{"outputs", components.Outputs(outputs())},
		{"order", components.Order(order())},
		{"live", components.Live(components.LiveView{URL: "/gallery/live", At: before(0), ReloadURL: "/gallery"})},
		{"problems", components.Problems(problemLinks())},
		{"fields", fields()},
	}
}

func waitingForReview() components.WaitingView {
	return components.WaitingView{
		Reason: "The plan (1 to replace, 1 to update) waits for an approval.",
		Who:    "whoever may review prod, except developer",
		Since:  before(18 * time.Minute),
	}
}

func reviews() []components.ReviewView {
	return []components.ReviewView{
		{Decision: components.Commented, By: "approver", At: before(16 * time.Minute), Comment: "Is there a backup from today?"},
		{Decision: components.Approved, By: "approver2", At: before(6 * time.Minute), Comment: "Backup of 13:50 checked."},
		{Decision: components.Approved, By: "platform", At: before(40 * time.Minute), Void: "it was for an earlier plan."},
		{Decision: components.Rejected, By: "approver", At: before(2 * time.Minute), Comment: "Not on a Friday."},
	}
}

func reviewForm() components.ReviewFormView {
	const change = "/changes/shop/orders-7k2/"
	return components.ReviewFormView{
		ID: "decide-prod", Environment: "prod",
		PlanDigest: "sha256:3f9a71c0d2", PlanShort: "3f9a71c0d2e1",
		ApproveURL: change + "approve", RejectURL: change + "reject", CommentURL: change + "comment",
		Consequence: "It is applied once test is healthy.",
	}
}

func reviewFormProblem() components.ReviewFormView {
	v := reviewForm()
	v.ID, v.Environment = "decide-problem", "test"
	v.Problem = "Say why you reject it: the author has to know what to change."
	return v
}

func runningLog(id string) components.LogView {
	line := func(seconds int, severity, text string) components.LogLineView {
		at := now.Add(time.Duration(seconds) * time.Second)
		return components.LogLineView{Machine: at.Format(time.RFC3339), Clock: at.Format(time.TimeOnly), Severity: severity, Text: text}
	}
	return components.LogView{
		ID: id, Title: "Log of the apply", Running: true, Omitted: 12, URL: "/runs/shop/orders-test-up-9d1",
		Lines: []components.LogLineView{
			line(1, "info", "The cluster is the one that the plan was made for."),
			line(2, "info", "The plan is still what was approved."),
			line(3, "info", "update orders-web (Deployment): spec.replicas 2 → 3"),
			line(9, "warning", "orders-web: 2 of 3 replicas are ready"),
			line(12, "error", "orders-web: the image ghcr.io/acme/orders:1.0.1 cannot be pulled"),
		},
	}
}

func outputs() []components.OutputView {
	return []components.OutputView{
		{Name: "url", Value: "http://orders-web.shop-dev.svc:8080"},
		{Name: "databaseHost", Value: "orders-db.shop-dev.svc"},
		{Name: "password", Secret: true},
	}
}

func order() components.OrderView {
	return components.OrderView{
		Label: "Changes go to dev, then to test, then to prod.",
		Levels: [][]components.OrderNodeView{
			{{Name: "dev", URL: "#env-dev", Status: tag(components.Good, "Healthy"), Detail: "revision 14"}},
			{{Name: "test", URL: "#env-test", Status: tag(components.Busy, "Applying"), Detail: "revision 14"}},
			{{Name: "prod", URL: "#env-prod", Status: tag(components.Wait, "Waits"), Detail: "revision 13", Current: true}},
		},
	}
}

func problemLinks() []components.ProblemLinkView {
	return []components.ProblemLinkView{
		{Text: "orders-web (Web service): Image must be an image reference, as in ghcr.io/acme/orders:1.4.2; it is \"latest!\".", URL: "#orders-web-image"},
		{Text: "Choose at least one environment.", URL: "#environments"},
	}
}

func tag(tone components.Tone, text string) components.TagView {
	return components.TagView{Tone: tone, Text: text}
}
