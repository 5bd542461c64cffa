// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package authproxy

import (
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"strconv"
	"strings"
	"time"

	"golang.org/x/time/rate"
)

// forwarder forwards requests to one port of the application.
type forwarder struct {
	upstream   string
	userHeader string
	metrics    *metrics
	log        *slog.Logger
	complaints rate.Sometimes // limits the log entries while the application is down
}

func newForwarder(o Options, route Route, m *metrics, log *slog.Logger) http.Handler {
	f := &forwarder{
		upstream:   net.JoinHostPort("127.0.0.1", strconv.Itoa(route.Upstream)),
		userHeader: http.CanonicalHeaderKey(o.UserHeader),
		metrics:    m, log: log,
		complaints: rate.Sometimes{Interval: time.Second},
	}
	return &httputil.ReverseProxy{
		Rewrite:      f.rewrite,
		Transport:    newTransport(route.H2C),
		BufferPool:   &buffers{},
		ErrorHandler: f.failed,
		ErrorLog:     slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

// rewrite prepares a request for the application. ReverseProxy has already removed the hop-by-hop headers, so a client
// cannot use its Connection header to remove headers that are set here.
func (f *forwarder) rewrite(pr *httputil.ProxyRequest) {
	in, out := pr.In.Header, pr.Out.Header
	pr.Out.URL.Scheme, pr.Out.URL.Host = "http", f.upstream
	pr.Out.URL.RawQuery = pr.In.URL.RawQuery // the proxy passes the query on unchanged
	restore(out, in, "X-Forwarded-For", "Forwarded")
	pr.SetXForwarded()
	restore(out, in, "X-Forwarded-Host", "X-Forwarded-Proto")
	out.Del("Authorization")
	f.dropUser(out)
	f.dropUser(pr.Out.Trailer)
	if user := userOf(pr.In); user != "" {
		out[f.userHeader] = []string{user}
	}
	keepWebsocketOnly(out)
}

func restore(out, in http.Header, names ...string) {
	for _, name := range names {
		if values, ok := in[name]; ok {
			out[name] = values
		}
	}
}

// dropUser removes headers that the application could mistake for the user header. CGI and similar interfaces replace
// every character other than a letter or a digit by an underscore, so different names can become equal.
func (f *forwarder) dropUser(header http.Header) {
	for name := range header {
		if alike(name, f.userHeader) {
			delete(header, name)
		}
	}
}

func alike(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if alphanumeric(rune(a[i])) != alphanumeric(rune(b[i])) {
			return false
		}
		if alphanumeric(rune(a[i])) && !strings.EqualFold(a[i:i+1], b[i:i+1]) {
			return false
		}
	}
	return true
}

// keepWebsocketOnly removes upgrades to protocols other than websocket. A protocol that tunnels HTTP, such as h2c or
// SPDY, could carry requests that the gate has not checked.
func keepWebsocketOnly(out http.Header) {
	if protocol := out.Get("Upgrade"); protocol != "" && !strings.EqualFold(protocol, "websocket") {
		out.Del("Connection")
		out.Del("Upgrade")
	}
	out.Del("Http2-Settings")
}

func (f *forwarder) failed(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() == nil {
		f.metrics.upstreamErrors.Add(1)
		f.complaints.Do(func() {
			f.log.Warn("The application does not respond", "upstream", f.upstream, "error", err.Error())
		})
	}
	http.Error(w, "the application behind this proxy does not respond", http.StatusBadGateway)
}
