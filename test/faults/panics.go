// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"strings"
	"sync"

	"github.com/go-logr/logr/funcr"
	ctrl "sigs.k8s.io/controller-runtime"
)

// panics counts panics in reconciles. controller-runtime recovers them and retries, so no test would notice them
// otherwise.
type panics struct {
	mu    sync.Mutex
	lines []string
}

// listen sets a logger that records panics in the operator's log. The tests use the log for nothing else.
var listen = sync.OnceValue(func() *panics {
	p := &panics{}
	ctrl.SetLogger(funcr.New(p.hear, funcr.Options{}))
	return p
})

func (p *panics) hear(_, line string) {
	if !strings.Contains(line, "panic: ") {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines = append(p.lines, line)
}

// heard returns the number of panics, and the log line of the first one.
func (p *panics) heard() (int, string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.lines) == 0 {
		return 0, ""
	}
	return len(p.lines), p.lines[0]
}
