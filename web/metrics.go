package web

import (
	"fmt"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are what the server tells of its work.
type metrics struct {
	duration *prometheus.HistogramVec
	streams  prometheus.Gauge
}

func newMetrics(registry prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "towpath_http_request_duration_seconds", Help: "Time to answer a request.",
			Buckets: []float64{.005, .01, .025, .05, .1, .15, .3, .5, 1, 2.5, 5, 10, 30},
		}, []string{"route", "method", "code"}),
		streams: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "towpath_http_streams", Help: "Live pages that are open now.",
		}),
	}
	for _, collector := range []prometheus.Collector{m.duration, m.streams} {
		if err := registry.Register(collector); err != nil {
			return nil, fmt.Errorf("register the server's metrics: %w", err)
		}
	}
	return m, nil
}

// request counts an answered request. Routes and methods are ours, so that nobody
// can fill the memory with names.
func (m *metrics) request(route, method string, status int, took time.Duration) {
	if route == "" {
		route = "none"
	}
	switch method {
	case "GET", "POST", "HEAD":
	default:
		method = "other"
	}
	m.duration.WithLabelValues(route, method, strconv.Itoa(status)).Observe(took.Seconds())
}
