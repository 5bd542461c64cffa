// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package remediation

import (
	"cmp"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
)

const (
	// powerInterval is the time between the two power status commands of an attempt.
	powerInterval = 10 * time.Second
	// lookInterval is how long to wait before the next look while a safety rule forbids to continue.
	lookInterval = 20 * time.Second
	// evidenceAge is how old the first evidence of an attempt may be when the last one arrives.
	evidenceAge = 5 * time.Minute
	// startSeconds is the time in which a host must start a command, and keepSeconds how long an ended Activity is kept.
	startSeconds = 60
	keepSeconds  = 7 * 24 * 3600
	// probeSeconds is the time that the probe of a peer may take.
	probeSeconds = 60
	// leaseAge is the age up to which a lease counts as fresh. The kubelet renews it every ten seconds.
	leaseAge = 40 * time.Second
	// peers is the number of hosts that must get no answer from the machine.
	peers = 2
)

func after(spec *nodesv1.Remediation) time.Duration {
	d, err := time.ParseDuration(cmp.Or(spec.After, nodesv1.DefaultRemediateAfter))
	if err != nil || d < time.Minute {
		return time.Minute * 5 // the CRD refuses such a value
	}
	return d
}

func attempts(spec *nodesv1.Remediation) int32 {
	return ptr.Deref(spec.MaxAttempts, nodesv1.DefaultFenceAttempts)
}

func pause(spec *nodesv1.Remediation) time.Duration {
	return time.Duration(ptr.Deref(spec.PauseSeconds, nodesv1.DefaultFencePause)) * time.Second
}

// minHealthy returns how many of a number of nodes must be Ready. A percentage is rounded up.
func minHealthy(spec *nodesv1.Remediation, nodes int) int {
	limit := ptr.Deref(spec.MinHealthy, intstr.FromString(nodesv1.DefaultMinHealthy))
	n, err := intstr.GetScaledValueFromIntOrPercent(&limit, nodes, true)
	if err != nil {
		return nodes // the CRD refuses such a value
	}
	return n
}
