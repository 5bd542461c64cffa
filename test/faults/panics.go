// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"strings"
	"sync"

	"github.com/go-logr/logr/funcr"
	ctrl "sigs.k8s.io/controller-runtime"
)

// panics are those of reconciles, which controller-runtime takes for errors that pass.
type panics struct {
	mu    sync.Mutex
	lines []string
}

// listen takes the operator's log, which is of no other use here.
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

// heard returns how many there were, and the first.
func (p *panics) heard() (int, string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.lines) == 0 {
		return 0, ""
	}
	return len(p.lines), p.lines[0]
}
