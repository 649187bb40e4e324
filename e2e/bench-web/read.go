package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/sync/errgroup"
)

// result is what was measured.
type result struct {
	pages        []*measured
	memory, peak int64
}

// measured is one kind of page.
type measured struct {
	name string
	most time.Duration
	path func() string

	mu    sync.Mutex
	times []time.Duration
	size  int // of the largest, compressed
}

func (m *measured) add(took time.Duration, size int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.times = append(m.times, took)
	m.size = max(m.size, size)
}

func (m *measured) quantile(q float64) time.Duration {
	slices.Sort(m.times)
	return m.times[int(float64(len(m.times)-1)*q)]
}

// rounds is how often each reader opens each page.
const rounds = 15

// read lets all readers read at once, each page after the other without a pause.
func (s *server) read(ctx context.Context, changes []string) (result, error) {
	fixed := func(path string) func() string { return func() string { return path } }
	r := result{pages: []*measured{
		{name: "home", most: mostList, path: fixed("/")},
		{name: "services", most: mostList, path: fixed("/services")},
		{name: "services, searched", most: mostList, path: fixed("/services?q=0042")},
		{name: "changes", most: mostList, path: fixed("/changes")},
		{name: "change", most: mostChange, path: func() string { return "/changes/" + team + "/" + changes[rand.N(len(changes))] }},
	}}
	group, ctx := errgroup.WithContext(ctx)
	for n := range readers {
		person := []string{"developer", "approver"}[n%2]
		reader, err := s.signIn(ctx, person)
		if err != nil {
			return r, fmt.Errorf("sign in as %s: %w\n%s", person, err, s.log)
		}
		group.Go(func() error { return reader.readAll(ctx, s.url, r.pages) })
	}
	err := group.Wait()
	if err != nil {
		return r, err
	}
	r.memory, r.peak, err = s.memory()
	return r, err
}

// reader is a person with a session.
type reader struct{ client *http.Client }

// readAll opens each page in each round. The first round fills caches and does
// not count.
func (r *reader) readAll(ctx context.Context, base string, pages []*measured) error {
	for round := range rounds + 1 {
		for _, page := range pages {
			took, size, err := r.open(ctx, base+page.path())
			if err != nil {
				return err
			}
			if round > 0 {
				page.add(took, size)
			}
		}
	}
	return nil
}

// signIn signs a person in, as a browser does.
func (s *server) signIn(ctx context.Context, person string) (*reader, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	r := &reader{client: &http.Client{Jar: jar, Transport: &http.Transport{}}}
	response, err := r.send(ctx, http.MethodGet, s.url+"/sign-in", nil)
	if err != nil {
		return nil, err
	}
	page, err := goquery.NewDocumentFromReader(response.Body)
	if err = errors.Join(err, response.Body.Close()); err != nil {
		return nil, err
	}
	form := page.Find("form").FilterFunction(func(_ int, f *goquery.Selection) bool {
		return f.Find(`button[name=username]`).Length() > 0
	})
	action, err := response.Request.URL.Parse(form.AttrOr("action", ""))
	if err != nil {
		return nil, err
	}
	values := url.Values{"username": {person}}
	form.Find("input[type=hidden]").Each(func(_ int, field *goquery.Selection) {
		values.Add(field.AttrOr("name", ""), field.AttrOr("value", ""))
	})
	response, err = r.send(ctx, http.MethodPost, action.String(), values)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the portal answers %s at %s", response.Status, response.Request.URL.Path)
	}
	return r, nil
}

func (r *reader) send(ctx context.Context, method, address string, form url.Values) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return r.client.Do(request)
}

// open opens a page and returns how long it took to the last byte, and its size as
// it travelled.
func (r *reader) open(ctx context.Context, address string) (time.Duration, int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, 0, err
	}
	request.Header.Set("Accept-Encoding", "gzip") // set by hand, so that it is left as it is
	begin := time.Now()
	response, err := r.client.Do(request)
	if err != nil {
		return 0, 0, err
	}
	size, err := io.Copy(io.Discard, response.Body)
	took := time.Since(begin)
	if err = errors.Join(err, response.Body.Close()); err != nil {
		return 0, 0, err
	}
	if response.StatusCode != http.StatusOK || response.Request.URL.String() != address {
		return 0, 0, fmt.Errorf("GET %s: %s at %s", address, response.Status, response.Request.URL.Path)
	}
	return took, int(size), nil
}
