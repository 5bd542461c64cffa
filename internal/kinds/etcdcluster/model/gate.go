// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/internal/podapi/etcdstart"
)

// GateRefusal explains why the gate (opcrew's agent, which starts etcd) refused a volume that is empty or belongs to
// another member. It returns "" if the gate did not refuse. It ignores refusals for other reasons, which may be
// temporary.
func GateRefusal(pod *corev1.Pod) string {
	if said := Refused(pod); said != nil {
		return said.Error()
	}
	return ""
}

// HasLostVolume reports whether the gate, opcrew's agent that starts etcd, refused to start etcd because the volume is
// empty.
func HasLostVolume(pod *corev1.Pod) bool {
	said := Refused(pod)
	return said != nil && said.Reason == etcdstart.VolumeLost
}

// Refused returns the last report of the gate, opcrew's agent that starts etcd, if it refused the volume because of its
// content; nil otherwise.
func Refused(pod *corev1.Pod) *etcdstart.Report {
	said := LastReport(pod)
	if said == nil || said.Reason != etcdstart.VolumeLost && said.Reason != etcdstart.VolumeForeign {
		return nil
	}
	return said
}

// LastReport returns the last report that the gate (opcrew's agent, which starts etcd) left in the container's
// termination message. It returns nil if there is none, or if the container is running again.
func LastReport(pod *corev1.Pod) *etcdstart.Report {
	for _, status := range pod.Status.ContainerStatuses {
		if status.Name != Container || status.State.Running != nil {
			continue
		}
		for _, state := range []*corev1.ContainerStateTerminated{status.State.Terminated, status.LastTerminationState.Terminated} {
			if state == nil {
				continue
			}
			if said, err := etcdstart.ParseReport(state.Message); err == nil {
				return &said
			}
		}
	}
	return nil
}

// StartAs encodes, for the start annotation, how etcd may start in a pod and with which member ID.
func StartAs(mode etcdstart.Mode, id uint64) string {
	return etcdstart.Start{Mode: mode, ID: fmt.Sprintf("%016x", id)}.String()
}

// bootstrappedBefore is part of the message with which etcd refuses to start on an empty volume because its peers know
// that this member has already run (etcd 3.4 to 3.7: isMemberBootstrapped).
const bootstrappedBefore = "has already been bootstrapped"

// IsShutOut reports whether etcd ended because its volume is empty although its peers know that this member has already
// run.
func IsShutOut(pod *corev1.Pod) bool {
	said := LastReport(pod)
	return said != nil && said.Reason == etcdstart.EtcdEnded && strings.Contains(said.Message, bootstrappedBefore)
}
