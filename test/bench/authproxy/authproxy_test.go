// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build bench

package authproxy

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

const (
	rounds       = 6
	manyClients  = 32
	requestsMany = 12_000 // requests per round
	requestsOne  = 2_000
	attackers    = 16
)

// measured is a process through which clients reach the application, and the results of the measurement.
type measured struct {
	*child
	many, one result
}

func TestTheAuthProxyBesideAPlainOne(t *testing.T) {
	app := startApplication(t)
	ways := []*measured{{child: app}, {child: startPlain(t, app.address)}, {child: startAuth(t, app.address)}}
	for _, way := range ways {
		drive(t, way.child, manyClients, requestsMany/4) // opens connections and fills the password cache
	}
	// Measure the processes alternately, so that other load on the machine affects all of them.
	for range rounds {
		for _, way := range ways {
			way.many.add(drive(t, way.child, manyClients, requestsMany))
			way.one.add(drive(t, way.child, 1, requestsOne))
		}
	}
	auth := ways[2]
	stop := flood(t, auth.child, attackers)
	flooded := drive(t, auth.child, 1, rounds*requestsOne)
	tried := stop()
	if flooded.failed > 0 {
		t.Errorf("%d requests failed in a flood of wrong passwords, expected 0", flooded.failed)
	}
	for _, way := range ways {
		if way.many.failed+way.one.failed > 0 {
			t.Errorf("%d requests to the %s failed, expected 0", way.many.failed+way.one.failed, way.name)
		}
	}
	if !t.Failed() {
		fmt.Printf("\n%s\n", table(t, ways[0], ways[1], auth))
		fmt.Printf("One client, while %d addresses tried %d wrong passwords: p50 %s, p99 %s, 0 of %d requests failed.\n\n",
			attackers, tried, short(flooded.percentile(50)), short(flooded.percentile(99)), len(flooded.took))
	}
}

func table(t *testing.T, app, plain, auth *measured) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "| %d clients, answers of %d bytes | no proxy | plain proxy | auth proxy | auth to plain |\n|---|---|---|---|---|\n", manyClients, bodyBytes)
	fmt.Fprintf(&b, "| requests per second | %.0f | %.0f | %.0f | %.0f %% (goal 70 %%) |\n",
		app.many.perSecond(), plain.many.perSecond(), auth.many.perSecond(), 100*auth.many.perSecond()/plain.many.perSecond())
	cpu := func(m *measured) float64 {
		return float64(m.many.cpu.Microseconds()) / float64(len(m.many.took))
	}
	fmt.Fprintf(&b, "| CPU a request | %.0f µs | %.0f µs | %.0f µs | %+.0f µs |\n", cpu(app), cpu(plain), cpu(auth), cpu(auth)-cpu(plain))
	for _, p := range []int{50, 99} {
		latency(&b, fmt.Sprintf("p%d", p), p, app.many, plain.many, auth.many)
		latency(&b, fmt.Sprintf("p%d of one client", p), p, app.one, plain.one, auth.one)
	}
	now, peak := auth.resident(t)
	plainNow, plainPeak := plain.resident(t)
	fmt.Fprintf(&b, "| memory (RSS), at most | | %.1f MiB, %.1f | %.1f MiB, %.1f | (goal 25 MiB) |\n", plainNow, plainPeak, now, peak)
	fmt.Fprintf(&b, "| failed requests | 0 | 0 | 0 of %d | |\n", len(auth.many.took)+len(auth.one.took))
	return b.String()
}

func latency(b *strings.Builder, name string, p int, app, plain, auth result) {
	a, l, u := app.percentile(p), plain.percentile(p), auth.percentile(p)
	fmt.Fprintf(b, "| %s | %s | %s | %s | %+d µs |\n", name, short(a), short(l), short(u), (u - l).Microseconds())
}

func short(d time.Duration) string { return fmt.Sprintf("%d µs", d.Microseconds()) }
