// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build bench

package bench

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// scraper is an HTTP client that does not check certificates, because operators serve metrics with a self-signed
// certificate.
var scraper = &http.Client{
	Timeout:   10 * time.Second,
	Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}},
}

// scrape reads the measured operator's metrics. It adds up all series of the same name.
func (p *process) scrape(t *testing.T) map[string]float64 {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("%s://%s/metrics", p.scheme, p.address), nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+env.Config.BearerToken)
	answer, err := scraper.Do(request)
	if err != nil {
		t.Fatalf("reading the metrics of %s: %v", p.name, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("reading the metrics of %s: %s", p.name, answer.Status)
	}
	sums := map[string]float64{}
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		name, value := lines.Text(), ""
		if i := strings.LastIndexByte(name, ' '); i > 0 {
			name, value = name[:i], name[i+1:]
		}
		name, _, _ = strings.Cut(name, "{")
		if number, err := strconv.ParseFloat(value, 64); err == nil {
			sums[name] += number
		}
	}
	return sums
}

// heap returns the memory in MiB that is in use after the next garbage collection. The test cannot trigger a collection
// in another process. But it reads the metrics repeatedly, which produces garbage, and the Go runtime collects at least
// every two minutes.
func (p *process) heap(t *testing.T) float64 {
	t.Helper()
	const cycles, live = "go_gc_cycles_total_gc_cycles_total", "go_gc_heap_live_bytes"
	before := p.scrape(t)[cycles]
	for deadline := time.Now().Add(150 * time.Second); time.Now().Before(deadline); {
		if now := p.scrape(t); now[cycles] > before {
			return now[live] / (1 << 20)
		}
	}
	t.Fatalf("%s did not run a garbage collection in time", p.name)
	return 0
}
