package web_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// event is a server-sent event.
type event struct{ id, name, data string }

// listen opens a stream and hands on its events; the channel closes with it.
func (b *browser) listen(t *testing.T, path string) <-chan event {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, b.portal.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", "text/event-stream")
	response, err := b.client.Do(request) //nolint:bodyclose // closed by who reads it, below
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != ok || !strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		response.Body.Close()
		t.Fatalf("the stream answers %d as %s", response.StatusCode, response.Header.Get("Content-Type"))
	}
	events := make(chan event, 100)
	go func() {
		defer close(events)
		defer response.Body.Close()
		var e event
		lines := bufio.NewScanner(response.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			name, value, _ := strings.Cut(lines.Text(), ": ")
			switch name {
			case "id":
				e.id = value
			case "event":
				e.name = value
			case "data":
				e.data += value + "\n"
			case "":
				if e.name != "" {
					events <- e
				}
				e = event{}
			}
		}
	}()
	return events
}

// await is the next event of a name; the stream must not end before.
func await(t *testing.T, events <-chan event, name string) event {
	t.Helper()
	for {
		select {
		case e, open := <-events:
			if !open {
				t.Fatalf("the stream has ended without an event %q", name)
			}
			if e.name == name {
				return e
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("there is no event %q", name)
		}
	}
}

func awaitEnd(t *testing.T, events <-chan event) {
	t.Helper()
	for {
		select {
		case _, open := <-events:
			if !open {
				return
			}
		case <-time.After(20 * time.Second):
			t.Fatal("the stream does not end")
		}
	}
}

// liveURL is where the page says that its stream is.
func liveURL(t *testing.T, page reply) string {
	t.Helper()
	address, live := page.document(t).Find("[data-live-url]").Attr("data-live-url")
	if !live {
		t.Fatal("the page is not live")
	}
	return address
}

func TestAChangePageIsLive(t *testing.T) {
	t.Parallel()
	p, one := startPortal(t), newTeam(t)
	cr := one.change(t, p, "developer", "developer")
	viewer := p.signedIn(t, "viewer")
	path := "/changes/" + one.namespace + "/" + cr.Name
	events := viewer.listen(t, liveURL(t, viewer.get(t, path)))

	cr.Status.Stacks[0].Phase, cr.Status.Stacks[0].Waiting, cr.Status.Stacks[0].Message = v1alpha1.StackApplying, nil, "It is being applied."
	if err := cluster.Controller(t).Status().Update(t.Context(), cr); err != nil {
		t.Fatal(err)
	}
	first := await(t, events, "fragment")
	if !strings.Contains(first.data, `id="env-test"`) || !strings.Contains(first.data, "Applying") {
		t.Errorf("the first fragment is not the environment that moved: %s", first.data)
	}
	if said := await(t, events, "status").data; !strings.Contains(said, "Applying.") || strings.Contains(said, "Waiting for review") {
		t.Errorf("it is announced as %q; want what has moved and nothing else", said)
	}

	cr.Status.Phase, cr.Status.Stacks[0].Phase, cr.Status.Message = v1alpha1.ChangeApplied, v1alpha1.StackApplied, "Applied and healthy in test."
	if err := cluster.Controller(t).Status().Update(t.Context(), cr); err != nil {
		t.Fatal(err)
	}
	contains(t, await(t, events, "fragment").data, "Applied")
	await(t, events, "end")
	awaitEnd(t, events)
	if viewer.get(t, path).document(t).Find("[data-live-url]").Length() > 0 {
		t.Error("a page on which nothing moves any more is live")
	}
}

func TestTheFirstPageIsLive(t *testing.T) {
	t.Parallel()
	p, one := startPortal(t), newTeam(t)
	both := p.signedIn(t, "both")
	events := both.listen(t, liveURL(t, both.get(t, "/")))
	cr := one.change(t, p, "both", "developer", "approver")
	// Other tests move things on this page, too.
	for !strings.Contains(await(t, events, "fragment").data, "/changes/"+cr.Namespace+"/"+cr.Name) {
		continue
	}
}

func TestAServicePageIsLive(t *testing.T) {
	t.Parallel()
	p, one := startPortal(t), newTeam(t)
	stack := one.service(t)
	viewer := p.signedIn(t, "viewer")
	path := "/services/" + one.namespace + "/orders"
	page := viewer.get(t, path)
	for page.StatusCode != ok { // the portal's cache does not know it at once
		page = viewer.get(t, path)
	}
	events := viewer.listen(t, liveURL(t, page))
	stack.Status.LastUpdate = &pulumiv1.StackUpdateState{State: "succeeded", LastSuccessfulCommit: "orders-abcdef1"}
	stack.Status.Conditions = []metav1.Condition{{Type: pulumiv1.ReadyCondition, Status: metav1.ConditionTrue, Reason: "Applied", LastTransitionTime: metav1.Now()}}
	if err := cluster.Controller(t).Status().Update(t.Context(), stack); err != nil {
		t.Fatal(err)
	}
	contains(t, await(t, events, "fragment").data, "revision abcdef1")
	contains(t, await(t, events, "status").data, "dev: Applied.")
}

// What a page shows already is not sent again.
func TestAStreamBeginsWhereThePageIs(t *testing.T) {
	t.Parallel()
	p, one := startPortal(t), newTeam(t)
	cr := one.change(t, p, "developer", "developer")
	viewer := p.signedIn(t, "viewer")
	path := "/changes/" + one.namespace + "/" + cr.Name
	current, behind := viewer.listen(t, liveURL(t, viewer.get(t, path))), viewer.listen(t, path+"/events?seen=older")
	contains(t, await(t, behind, "fragment").data, `id="head"`)
	select {
	case e := <-current:
		t.Errorf("the page that is current is sent %v", e)
	default:
	}
}

func TestAStreamEndsWithItsSession(t *testing.T) {
	t.Parallel()
	p, one := startPortal(t), newTeam(t)
	cr := one.change(t, p, "developer", "developer")
	viewer := p.signedIn(t, "viewer")
	path := "/changes/" + one.namespace + "/" + cr.Name
	events := viewer.listen(t, liveURL(t, viewer.get(t, path)))
	p.clock.advance(longAgo)
	cr.Status.Message = "Something only members may read."
	if err := cluster.Controller(t).Status().Update(t.Context(), cr); err != nil {
		t.Fatal(err)
	}
	for e := range events {
		if strings.Contains(e.data, "only members") {
			t.Error("it tells of what happened after the session had ended")
		}
	}
}

func TestStreamsAreForThoseWhoMayRead(t *testing.T) {
	t.Parallel()
	p, one := startPortal(t), newTeam(t)
	cr := one.change(t, p, "developer", "developer")
	change, run := "/changes/"+one.namespace+"/"+cr.Name+"/events", "/runs/"+one.namespace+"/"+cr.Name+"-preview/events"
	service := "/services/" + one.namespace + "/orders/events"
	for name, test := range map[string]struct {
		who  *browser
		want int
	}{
		"nobody":   {p.visitor(t), noSession},
		"expired":  {p.expired, noSession},
		"stranger": {p.signedIn(t, "stranger"), missing},
	} {
		for _, path := range []string{change, run, service} {
			answer := test.who.send(t, http.MethodGet, p.url+path, nil, http.Header{"Accept": {"text/event-stream"}})
			if answer.StatusCode != test.want {
				t.Errorf("%s gets %d of %s; want %d", name, answer.StatusCode, path, test.want)
			}
		}
	}
	// A run that has ended says so and closes.
	events := p.signedIn(t, "viewer").listen(t, run)
	contains(t, await(t, events, "fragment").data, `id="head"`)
	await(t, events, "end")
	awaitEnd(t, events)
}
