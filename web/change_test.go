package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

func said(comment string) url.Values {
	return url.Values{"environment": {"test"}, "planDigest": {digest}, "comment": {comment}}
}

func TestTheAuthorsOwnApproval(t *testing.T) {
	t.Parallel()
	p, one := startPortal(t), newTeam(t)
	// This person may do both; only the gate is against it.
	cr := one.change(t, p, "both", "developer", "approver")
	path := "/changes/" + one.namespace + "/" + cr.Name
	both, approver := p.signedIn(t, "both"), p.signedIn(t, "approver")

	if offered(t, both.get(t, path)) {
		t.Error("the author is offered to approve")
	}
	if !offered(t, approver.get(t, path)) {
		t.Error("an approver is not offered to approve")
	}
	forced := both.post(t, path+"/approve", said("mine"))
	if forced.StatusCode != forbidden {
		t.Errorf("a forced approval gets %d; want %d", forced.StatusCode, forbidden)
	}
	contains(t, forced.text(t), "The author of a change cannot approve it")
	if reviews := reviewsOf(t, cr); len(reviews) > 0 {
		t.Errorf("it was recorded: %v", reviews)
	}
}

// Who edited by another door what the plan is made from is as bound to it as the
// author.
func TestAnEditorsOwnApproval(t *testing.T) {
	t.Parallel()
	p, one := startPortal(t), newTeam(t)
	cr := one.change(t, p, "developer", "developer")
	cr.Status.Stacks[0].Editors = []string{"both"}
	if err := cluster.Controller(t).Status().Update(t.Context(), cr); err != nil {
		t.Fatal(err)
	}
	p.await(t, cr)
	path := "/changes/" + one.namespace + "/" + cr.Name
	both := p.signedIn(t, "both")
	page := both.get(t, path)
	if offered(t, page) {
		t.Error("an editor is offered to approve")
	}
	contains(t, page.text(t), "Also edited by both")
	if both.get(t, "/").document(t).Find(`section[aria-labelledby=waiting-title] a[href="`+path+`"]`).Length() > 0 {
		t.Error("the home page asks an editor for a review")
	}
	if !offered(t, p.signedIn(t, "approver").get(t, path)) {
		t.Error("an approver is not offered to approve")
	}
	forced := both.post(t, path+"/approve", said("mine"))
	if forced.StatusCode != forbidden {
		t.Errorf("a forced approval gets %d; want %d", forced.StatusCode, forbidden)
	}
	contains(t, forced.text(t), "Whoever last edited the Program or the Stack cannot approve it")
}

// offered reports whether a page has a form that approves.
func offered(t *testing.T, answer reply) bool {
	t.Helper()
	found := false
	document := answer.document(t)
	for _, selector := range []string{"form[action$='/approve']", "button[formaction$='/approve']"} {
		found = found || document.Find(selector).Length() > 0
	}
	return found
}

func TestAnApprovalIsRecordedAsThePersons(t *testing.T) {
	t.Parallel()
	p, one := startPortal(t), newTeam(t)
	cr := one.change(t, p, "developer", "developer")
	path := "/changes/" + one.namespace + "/" + cr.Name
	approver := p.signedIn(t, "approver")
	answer := approver.post(t, path+"/approve", said("Backup of 13:50 checked."))
	if answer.StatusCode != seeOther {
		t.Fatalf("it gets %d: %s", answer.StatusCode, answer.text(t))
	}
	reviews := reviewsOf(t, cr)
	if len(reviews) != 1 || reviews[0].Spec.Reviewer.Username != "approver" || reviews[0].Spec.Decision != v1alpha1.Approve || reviews[0].Spec.PlanDigest != digest {
		t.Fatalf("the reviews are %v", reviews)
	}
	page := approver.get(t, answer.Header.Get("Location"))
	contains(t, page.text(t), "Backup of 13:50 checked.")
	contains(t, page.document(t).Text(), "Your approval is recorded.")
	if offered(t, page) {
		t.Error("approving twice is offered")
	}
}

func TestAReviewThatIsNotAcceptedLosesNothing(t *testing.T) {
	t.Parallel()
	p, one := startPortal(t), newTeam(t)
	approver := p.signedIn(t, "approver")
	const typed = "I looked at <b>everything</b> & it is fine"
	for name, test := range map[string]struct {
		verb string
		form url.Values
		want int
		says string
	}{
		"of a plan that has changed meanwhile": {
			"approve",
			url.Values{"environment": {"test"}, "planDigest": {"sha256:" + strings.Repeat("0", 64)}, "comment": {typed}},
			http.StatusConflict, "The plan has changed since you opened the page",
		},
		"without a plan": {
			"approve", url.Values{"environment": {"test"}, "comment": {typed}}, http.StatusConflict, "The plan has changed since you opened the page",
		},
		"a rejection without a reason": {"reject", said(" "), http.StatusUnprocessableEntity, "Say why"},
		"a comment without words":      {"comment", said(""), http.StatusUnprocessableEntity, "Say why"},
		"a comment that is too long":   {"comment", said(typed + strings.Repeat("x", 4000)), http.StatusUnprocessableEntity, "too long"},
		"for an environment that it does not go to": {
			"approve", url.Values{"environment": {"prod"}, "planDigest": {digest}}, http.StatusNotFound, "does not go to that environment",
		},
	} {
		t.Run(name, func(t *testing.T) {
			cr := one.change(t, p, "developer", "developer")
			answer := approver.post(t, "/changes/"+one.namespace+"/"+cr.Name+"/"+test.verb, test.form)
			if answer.StatusCode != test.want {
				t.Errorf("it gets %d; want %d", answer.StatusCode, test.want)
			}
			contains(t, answer.text(t), test.says)
			if comment := strings.TrimSpace(test.form.Get("comment")); comment != "" {
				if got := answer.document(t).Find("textarea[name=comment]").First().Text(); got != comment {
					t.Errorf("the form has %q; want what was typed", got)
				}
			}
			if reviews := reviewsOf(t, cr); len(reviews) > 0 {
				t.Errorf("it was recorded: %v", reviews)
			}
		})
	}
}

func TestWhatAPlanDoesIsSaidFirst(t *testing.T) {
	t.Parallel()
	p, one := startPortal(t), newTeam(t)
	cr := one.change(t, p, "developer", "developer")
	page := p.signedIn(t, "viewer").get(t, "/changes/"+one.namespace+"/"+cr.Name).text(t)
	for _, words := range []string{
		"Bigger database", "Updates PersistentVolumeClaim orders-db-data in place.", "spec.resources.requests.storage", "10Gi", "50Gi",
		"The plan waits for an approval.", "whoever may review test", "Needs 1 approval; never the author's own.",
	} {
		contains(t, page, words)
	}
}

// Whatever people call things, a page shows it and runs none of it.
func TestHostileTextsAreInert(t *testing.T) {
	t.Parallel()
	p, one := startPortal(t), newTeam(t)
	const hostile = "<script>alert(1)</script>\u202e\x1b[31m\u200b\"'><img src=x onerror=alert(1)>"
	cr := one.change(t, p, "developer", "developer")
	cr.Status.Message, cr.Status.Stacks[0].Waiting.Message, cr.Status.Stacks[0].Waiting.Who = hostile, hostile, hostile
	cr.Status.Stacks[0].Differences = []v1alpha1.Difference{{What: hostile, Detail: hostile}}
	cr.Status.Problems = []v1alpha1.Problem{{Path: hostile, Message: hostile}}
	if err := cluster.Controller(t).Status().Update(t.Context(), cr); err != nil {
		t.Fatal(err)
	}
	p.await(t, cr)
	approver := p.signedIn(t, "approver")
	path := "/changes/" + one.namespace + "/" + cr.Name
	if answer := approver.post(t, path+"/comment", said(hostile)); answer.StatusCode != seeOther {
		t.Fatalf("a comment gets %d", answer.StatusCode)
	}
	for _, path := range []string{path, "/changes?q=" + url.QueryEscape(hostile), "/catalogue?q=" + url.QueryEscape(hostile), "/services?q=" + url.QueryEscape(hostile), path + "?done=" + url.QueryEscape(hostile)} {
		answer := approver.get(t, path)
		if answer.StatusCode != ok {
			t.Errorf("%s gets %d", path, answer.StatusCode)
		}
		for _, trick := range []string{"<script>alert", "<img src=x", "\x1b", "\u202e", "\u200b"} {
			if strings.Contains(answer.body, trick) {
				t.Errorf("%s has %q in it", path, trick)
			}
		}
		document := answer.document(t)
		if n := document.Find("script:not([src]), style, [onerror], [onclick], [style]").Length(); n > 0 {
			t.Errorf("%s has %d things inline", path, n)
		}
	}
	contains(t, approver.get(t, path).body, "&lt;script&gt;alert")
}
