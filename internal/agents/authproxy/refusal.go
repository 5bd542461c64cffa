// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package authproxy

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/opcrew/opcrew/internal/agents/shared/limiter"
)

// refusal is a response that the proxy sends instead of forwarding the request.
type refusal struct {
	status int
	reason string // value of the metrics label named reason
	text   string
}

func (r *refusal) Error() string { return r.text }

// An unknown user gets the same response as a wrong password, so that responses do not reveal which users exist.
var (
	errMissing   = &refusal{http.StatusUnauthorized, "missing", "user and password are required"}
	errMalformed = &refusal{http.StatusUnauthorized, "malformed", "exactly one Authorization header with the scheme Basic is required"}
	errWrong     = &refusal{http.StatusUnauthorized, "wrong", "wrong user or password"}
	errLimited   = &refusal{http.StatusTooManyRequests, "limited", "too many wrong passwords from this address"}
	errBusy      = &refusal{http.StatusServiceUnavailable, "busy", "the proxy has too many passwords to check; try again"}
	errGone      = &refusal{http.StatusServiceUnavailable, "gone", "the client disconnected"}
	errNone      = &refusal{http.StatusServiceUnavailable, "no_credentials", "the proxy has no credentials: the mounted Secrets contain no valid htpasswd line"}
	errConnect   = &refusal{http.StatusMethodNotAllowed, "connect", "this proxy does not support CONNECT"}
)

func refusals() []*refusal {
	return []*refusal{errMissing, errMalformed, errWrong, errLimited, errBusy, errGone, errNone, errConnect}
}

// bodyGrace is how long a client whose request is refused may continue to send its body.
const bodyGrace = 5 * time.Second

func (r *refusal) write(w http.ResponseWriter, req *http.Request, realm string) {
	if req.ContentLength != 0 {
		// net/http reads a part of the body before it responds, so a deadline is needed. Setting the deadline fails in
		// tests, where there is no connection, but that does no harm.
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyGrace))
	}
	switch r.status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", fmt.Sprintf("Basic realm=%q, charset=\"UTF-8\"", realm))
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", strconv.Itoa(int(limiter.RetryAfter.Seconds())))
	}
	http.Error(w, r.text, r.status)
}
