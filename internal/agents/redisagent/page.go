// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisagent

import (
	"fmt"
	"html"
	"net/http"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/opcrew/opcrew/internal/stores/redis/clusternodes"
)

// page is the status page, which shows all servers of the cluster as this pod sees them. It queries the other pods at
// most once per pageFreshness, regardless of the number of clients.
type page struct {
	options Options
	clock   clock.PassiveClock
	looker  *looker
	peers   *peers

	mu   sync.Mutex
	at   time.Time
	last string
}

const pageFreshness = 2 * time.Second

func (p *page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cache-Control", "no-store")
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		http.Error(w, "this page is read-only", http.StatusMethodNotAllowed)
	case r.URL.Path != "/":
		http.NotFound(w, r)
	default:
		header.Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, p.text(r))
	}
}

func (p *page) text(r *http.Request) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at.IsZero() || p.clock.Since(p.at) >= pageFreshness {
		seen := p.looker.look(r.Context())
		all := ring{nodes: seen.table(), home: p.options.Home, guest: p.options.Guest}
		all.numbers = p.peers.ask(r.Context(), all.hosts())
		p.at = p.clock.Now()
		p.last = render(p.options.Cluster, seen.ready(), all.rows(), p.at)
	}
	return p.last
}

// table returns the node table of the cluster, as one of the pod's two servers reports it; nil if neither responded.
func (v view) table() []clusternodes.Node {
	if len(v.home.nodes) > 0 {
		return v.home.nodes
	}
	return v.guest.nodes
}

// render returns the HTML of the page. It escapes all text that other programs reported.
func render(cluster string, notReady error, rows []row, at time.Time) string {
	var out strings.Builder
	title := html.EscapeString(cluster)
	fmt.Fprintf(&out, pageHead, title, title)
	verdict, class := "The servers of this pod have their expected roles.", "good"
	if notReady != nil {
		verdict, class = "The servers of this pod do not have their expected roles: "+notReady.Error(), "bad"
	}
	fmt.Fprintf(&out, "<p class=%q>%s</p>\n", class, html.EscapeString(verdict))
	out.WriteString("<table>\n<tr><th>Pod<th>Place<th>Role<th>Slots<th>Replica of<th>Keys<th>Memory<th>Limit<th>Behind by<th>Trouble\n")
	for _, row := range rows {
		writeRow(&out, row)
	}
	fmt.Fprintf(&out, "</table>\n<p>This pod read the state at %s. The numbers come from the agents of all pods.</p>\n", at.UTC().Format(time.RFC3339))
	return out.String()
}

func writeRow(out *strings.Builder, r row) {
	class := "good"
	if len(r.troubles) > 0 {
		class = "bad"
	}
	fmt.Fprintf(out, "<tr class=%q>", class)
	for _, cell := range []string{r.pod, r.place, r.role, r.slots, r.of, r.keys, r.memory, r.limit, r.lag, strings.Join(r.troubles, ", ")} {
		fmt.Fprintf(out, "<td>%s", html.EscapeString(cell))
	}
	out.WriteString("\n")
}

const pageHead = `<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="refresh" content="5">
<title>%s</title>
<style>
body { font: 15px/1.5 sans-serif; margin: 2em; color: #222; background: #fff; }
table { border-collapse: collapse; }
th, td { padding: .3em .8em; text-align: left; border-bottom: 1px solid #ccc; }
.bad { color: #a00; }
</style>
<h1>%s</h1>
`
