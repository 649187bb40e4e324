package gallery

import (
	"time"

	"github.com/towpath-dev/towpath/components"
	"github.com/towpath-dev/towpath/components/page"
)

func change(f frame) page.ChangeView {
	dev, test, prod := planUpdate("plan-dev"), planUpdate("plan-test"), planReplace("plan-prod")
	log := runningLog("log-test")
	form := reviewForm()
	return page.ChangeView{
		Shell: f.under("Changes", "orders: bigger database"), ChangesURL: "/changes", Namespace: "shop", Name: "orders-7k2",
		Live:    components.LiveView{URL: "/changes/shop/orders-7k2/events", At: before(0), ReloadURL: "/changes/shop/orders-7k2"},
		Title:   "Bigger database, three web replicas",
		Service: components.LinkView{Text: "orders", URL: "/services/shop/orders"}, Author: "developer", Proposed: before(18 * time.Minute),
		Description: "The nightly import fills the volume. Grows it from 10 to 50 GiB and moves prod to the SSD class; web scales to three.",
		Status:      tag(components.Wait, "Waiting for review"), Message: "prod: The plan waits for an approval.",
		WithdrawURL: "/changes/shop/orders-7k2/withdraw", EditURL: "/compose?change=orders-7k2",
		Environments: []page.EnvironmentView{
			{
				ID: "env-dev", Name: "dev", Status: tag(components.Good, "Applied"), Plan: &dev, Folded: "What was applied", PlanShort: "a01b22c9e410",
				Message: "Applied and healthy since 14:08 UTC.", Approval: "Approved by rule: nothing is deleted or replaced.", Outputs: outputs()[:2],
				Preview: components.LinkView{Text: "Preview", URL: "/runs/shop/orders-dev-preview-1"}, Apply: components.LinkView{Text: "Apply", URL: "/runs/shop/orders-dev-up-1"},
			},
			{
				ID: "env-test", Name: "test", Status: tag(components.Busy, "Applying"), Plan: &test, PlanShort: "77d0c1f0aa35", Log: &log,
				Approval: "Approved by approver.", Reviews: reviews()[1:2],
			},
			{
				ID: "env-prod", Name: "prod", Status: tag(components.Wait, "Waiting for review"), Current: true, Plan: &prod, PlanShort: "3f9a71c0d2e1",
				Waiting: waitingForReview(), Rule: "Needs 1 approval; never the author's own.", Reviews: reviews()[:3], Form: &form,
				Differences: components.DifferencesView{Title: "What differs from the plan before", List: []components.DifferenceView{{What: "state", Detail: "changed since the plan before, so it was made again"}}},
				Preview:     components.LinkView{Text: "Preview", URL: "/runs/shop/orders-prod-preview-2"},
			},
		},
		GoldenPaths: []components.LinkView{{Text: "postgres 1.0.0", URL: "/golden-paths/postgres"}, {Text: "web-service 1.0.0", URL: "/golden-paths/web-service"}},
		History: []page.EventView{
			{At: before(time.Minute), Who: "test", What: "started applying", URL: "/runs/shop/orders-test-up-9d1"},
			{At: before(6 * time.Minute), Who: "approver2", What: "approved the plan for test", Note: "Backup of 13:50 checked."},
			{At: before(12 * time.Minute), Who: "dev", What: "is applied and healthy"},
			{At: before(18 * time.Minute), Who: "developer", What: "proposed the change"},
		},
	}
}

func changeNew(f frame) page.ChangeView {
	dev := planCreate("plan-dev")
	return page.ChangeView{
		Shell: f.under("Changes", "orders"), ChangesURL: "/changes", Namespace: "shop", Name: "orders-1aa",
		Title: "First version of the orders service", Service: components.LinkView{Text: "orders"}, Author: "developer", Proposed: before(time.Minute),
		Status: tag(components.Busy, "Previewing"), Message: "The plans are being made.",
		Environments: []page.EnvironmentView{
			{ID: "env-dev", Name: "dev", Status: tag(components.Good, "Approved"), Plan: &dev, Approval: "Approved by rule: nothing is deleted or replaced."},
			{ID: "env-test", Name: "test", Status: tag(components.Busy, "Previewing"), Waiting: components.WaitingView{Reason: "The plan is being made.", Who: "nobody has to", Since: before(30 * time.Second)}},
			{ID: "env-prod", Name: "prod", Status: tag(components.Bad, "Failed"), Message: "The preview failed: the cluster cannot be reached."},
		},
		History: []page.EventView{{At: before(time.Minute), Who: "developer", What: "proposed the change"}},
	}
}

func changeRefused(f frame) page.ChangeView {
	return page.ChangeView{
		Shell: f.under("Changes", "orders"), ChangesURL: "/changes", Namespace: "shop", Name: "orders-2bb",
		Title: "Change of orders", Service: components.LinkView{Text: "orders"}, Author: "developer", Proposed: before(time.Hour),
		Status: tag(components.Bad, "Refused"), Message: "It can never be previewed as it is written.",
		SupersededBy: components.LinkView{Text: "orders-3cc", URL: "/changes/shop/orders-3cc"},
		Problems:     []components.DifferenceView{{What: "resources.orders-db.properties.storage", Detail: "“ten” is no quantity; write it like 10Gi."}},
		History:      []page.EventView{{At: before(time.Hour), Who: "developer", What: "proposed the change"}},
	}
}

func changeRejected(f frame) page.ChangeView {
	v := change(f)
	v.Live, v.WithdrawURL = components.LiveView{}, ""
	v.Status, v.Ended, v.Message = tag(components.Bad, "Rejected"), true, "Rejected in prod. Nothing more of it is applied."
	v.Environments[1].Status, v.Environments[1].Folded, v.Environments[1].Log = tag(components.Good, "Applied"), "What was applied", nil
	prod := &v.Environments[2]
	prod.Status, prod.Current, prod.Folded = tag(components.Bad, "Rejected"), false, "What was planned"
	prod.Message = "approver rejected it: Not on a Friday."
	prod.Waiting, prod.Rule, prod.Differences, prod.Form, prod.Reviews = components.WaitingView{}, "", components.DifferencesView{}, nil, reviews()[3:]
	return v
}

func changeFailed(f frame) page.ChangeView {
	v := changeRejected(f)
	v.Status, v.Message = tag(components.Bad, "Failed"), "Failed in test. Nothing more of it is applied."
	log := runningLog("log-test")
	log.Running = false
	test, prod := &v.Environments[1], &v.Environments[2]
	test.Status, test.Folded, test.Log = tag(components.Bad, "Failed"), "What was planned", &log
	test.Message = "The apply failed: the image ghcr.io/acme/orders:1.0.1 cannot be pulled. Before that it changed 1 resource."
	prod.Status, prod.Message, prod.Reviews = tag(components.Idle, "Not applied"), "", nil
	return v
}

func service(f frame) page.ServiceView {
	return page.ServiceView{
		Shell: f.under("Services", "orders"), ServicesURL: "/services", Name: "orders", Namespace: "shop", Order: order(),
		Live: components.LiveView{URL: "/services/shop/orders/events", At: before(0), ReloadURL: "/services/shop/orders"}, ChangeURL: "/compose?service=orders",
		Places: []page.PlaceView{
			{ID: "env-dev", Environment: "dev", Status: tag(components.Good, "Healthy"), Revision: "revision 14", Change: components.LinkView{Text: "orders-7k2", URL: "/changes/shop/orders-7k2"}, Since: before(12 * time.Minute), Outputs: outputs(), Run: components.LinkView{Text: "Last run", URL: "/runs/shop/orders-dev-up-1"}},
			{ID: "env-test", Environment: "test", Status: tag(components.Busy, "Applying"), Revision: "revision 13", Health: tag(components.Warn, "Degraded"), Change: components.LinkView{Text: "orders-5aa", URL: "/changes/shop/orders-5aa"}, Since: before(49 * time.Hour), Message: "Revision 14 is being applied.", Outputs: outputs()[:2]},
			{ID: "env-prod", Environment: "prod", Status: tag(components.Idle, "Not yet"), Message: "Its first change waits for review."},
		},
		Open: changeRows()[:1],
		History: []page.AppliedView{
			{At: before(12 * time.Minute), Environment: "dev", Revision: "revision 14", Change: components.LinkView{Text: "Bigger database", URL: "/changes/shop/orders-7k2"}, Author: "developer", ApprovedBy: "Rule: nothing is deleted or replaced", Counts: components.CountsView{Update: 2}, Counted: true, Status: tag(components.Good, "Applied")},
			{At: before(49 * time.Hour), Environment: "test", Revision: "revision 13", Change: components.LinkView{Text: "First version", URL: "/changes/shop/orders-5aa"}, Author: "developer", ApprovedBy: "approver", Counts: components.CountsView{Create: 9}, Counted: true},
		},
		GoldenPaths: []components.LinkView{{Text: "postgres 1.0.0", URL: "/golden-paths/postgres"}},
		YAML:        "resources:\n  orders-db:\n    type: postgres:index:Postgres\n",
	}
}

func runDiverged(f frame) page.RunView {
	v := run(f)
	v.Live, v.Outputs = components.LiveView{}, nil
	v.Status, v.Message = tag(components.Warn, "Diverged"), "Nothing was applied: what would happen now is not what was approved."
	v.Differences = components.DifferencesView{Title: "What differs from what was approved", List: []components.DifferenceView{
		{What: "state", Detail: "somebody applied the stack by other means since the plan was made"},
		{What: "Deployment orders-web", Detail: "would be replaced now, and was to be updated"},
	}}
	v.Log.Running, v.Log.Lines = false, v.Log.Lines[:1]
	return v
}

func run(f frame) page.RunView {
	plan := planUpdate("plan")
	return page.RunView{
		Shell: f.under("Services", "Apply of orders in test"), Name: "orders-test-up-9d1", Namespace: "shop", Title: "Apply of orders in test",
		Live:   components.LiveView{URL: "/runs/shop/orders-test-up-9d1/events", At: before(0), ReloadURL: "/runs/shop/orders-test-up-9d1"},
		Status: tag(components.Busy, "Running"), Message: "1 of 2 resources is done.",
		Service: components.LinkView{Text: "orders", URL: "/services/shop/orders"}, Change: components.LinkView{Text: "orders-7k2", URL: "/changes/shop/orders-7k2"},
		Started: before(40 * time.Second), Duration: "40 s",
		Plan: &plan, Log: runningLog("log"), Outputs: outputs(),
		Facts: []page.FactView{{Name: "Plan", Value: "sha256:77d0c1f0aa35"}, {Name: "Snapshot", Value: "orders-6d5f"}},
	}
}
