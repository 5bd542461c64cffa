// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisagent

import (
	"crypto/subtle"
	"log/slog"
	"net/http"
	"net/netip"
	"strconv"

	"github.com/opcrew/opcrew/internal/agents/shared/limiter"
	"github.com/opcrew/opcrew/internal/agents/shared/redissecrets"
	"github.com/opcrew/opcrew/internal/podapi/redispod"
)

// guard admits requests with the user name and a valid password of the users' account. It limits wrong passwords per
// client address. All clients behind a gateway have the same address and share its limit.
type guard struct {
	secrets string
	limiter *limiter.Limiter
	log     *slog.Logger
	next    http.Handler
}

func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	source, _ := netip.ParseAddrPort(r.RemoteAddr) // requests without a client address share one limit
	from := source.Addr().Unmap()
	if !g.limiter.Allows(from) {
		w.Header().Set("Retry-After", strconv.Itoa(int(limiter.RetryAfter.Seconds())))
		http.Error(w, "too many wrong passwords from this address", http.StatusTooManyRequests)
		return
	}
	secrets, err := redissecrets.Read(g.secrets)
	if err != nil {
		g.log.Error("The Secrets cannot be read, so the agent refuses all requests", "error", err.Error())
		http.Error(w, "the credentials cannot be read; see the log of this container", http.StatusServiceUnavailable)
		return
	}
	user, password, given := r.BasicAuth()
	if given && valid(secrets, user, password) {
		g.next.ServeHTTP(w, r)
		return
	}
	if given {
		g.limiter.Failed(from)
	}
	w.Header().Set("WWW-Authenticate", `Basic realm="Redis", charset="UTF-8"`)
	http.Error(w, "user and password are required; the Secret of the cluster contains them", http.StatusUnauthorized)
}

// valid reports whether user and password are correct. Every wrong password takes the same time, because all hashes
// have the same length.
func valid(s redissecrets.Secrets, user, password string) bool {
	found, hash := 0, redispod.Hash(password)
	for _, accepted := range s.Accepted {
		found |= subtle.ConstantTimeCompare([]byte(accepted), []byte(hash))
	}
	sameUser := subtle.ConstantTimeCompare([]byte(redispod.Hash(s.Username)), []byte(redispod.Hash(user)))
	return found&sameUser == 1
}
