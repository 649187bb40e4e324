package web_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/web/kube"
	"github.com/towpath-dev/towpath/web/static"
)

const (
	maxList       = 40 << 10
	maxScript     = 30 << 10
	maxStylesheet = 20 << 10
	maxRequests   = 4
)

func gzipped(t *testing.T, content []byte) int {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Len()
}

func TestPagesKeepToTheirBudgets(t *testing.T) {
	t.Parallel()
	p, one := startPortal(t), newTeam(t)
	const services = 60 // more than a page shows
	for n := range services {
		name := fmt.Sprintf("service-with-a-name-%d", n)
		create(t, cluster.Controller(t), &pulumiv1.Program{ObjectMeta: metav1.ObjectMeta{Namespace: one.namespace, Name: name}, Program: orders()})
		for _, environment := range []string{"dev", "test", "prod"} {
			create(t, cluster.Controller(t), &pulumiv1.Stack{
				ObjectMeta: metav1.ObjectMeta{
					Namespace: one.namespace, Name: name + "-" + environment,
					Labels: map[string]string{v1alpha1.EnvironmentLabel: environment, v1alpha1.ServiceLabel: name},
				},
				Spec: pulumiv1.StackSpec{Stack: "organization/" + name + "/" + environment, ProgramRef: &pulumiv1.ProgramReference{Name: name}},
			})
		}
		one.change(t, p, "developer", "developer")
	}
	developer := p.signedIn(t, "developer")
	err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, 20*time.Second, true, func(ctx context.Context) (bool, error) {
		known, err := p.cluster.Services(ctx, kube.User{Username: "developer", Groups: []string{"developer"}})
		return len(known) >= services, err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/", "/services", "/changes", "/catalogue", "/environments"} {
		page := developer.get(t, path)
		if size := gzipped(t, []byte(page.body)); page.StatusCode != ok || size > maxList {
			t.Errorf("%s answers %d with %d bytes; at most %d", path, page.StatusCode, size, maxList)
		}
		document := page.document(t)
		requests := 1 + document.Find("link[rel=stylesheet], link[rel=icon], script[src], img[src], iframe").Length()
		if requests > maxRequests {
			t.Errorf("%s takes %d requests; at most %d", path, requests, maxRequests)
		}
		document.Find("script").Each(func(_ int, script *goquery.Selection) {
			_, deferred := script.Attr("defer")
			if script.AttrOr("type", "") != "module" && !deferred {
				t.Errorf("%s waits for a script", path)
			}
		})
	}
	if rows := developer.get(t, "/services").document(t).Find("tbody tr").Length(); rows == 0 || rows > 50 {
		t.Errorf("a list shows %d rows; want some, at most 50", rows)
	}
	if size := gzipped(t, static.Script.Content); size > maxScript {
		t.Errorf("the script has %d bytes; at most %d", size, maxScript)
	}
	if size := gzipped(t, static.Stylesheet.Content); size > maxStylesheet {
		t.Errorf("the stylesheet has %d bytes; at most %d", size, maxStylesheet)
	}
	for _, file := range static.All() {
		answer := developer.get(t, file.URL)
		if got := answer.Header.Get("Cache-Control"); answer.StatusCode != ok || got != "public, max-age=31536000, immutable" {
			t.Errorf("%s answers %d, to be kept %q", file.URL, answer.StatusCode, got)
		}
	}
}
