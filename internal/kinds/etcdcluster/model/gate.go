// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/internal/podapi/etcdstart"
)

// GateRefusal returns why the gate does not let etcd start on a volume that is empty or belongs to another member;
// empty if it does. Its other refusals may pass.
func GateRefusal(pod *corev1.Pod) string {
	if said := Refused(pod); said != nil {
		return said.Error()
	}
	return ""
}

// HasLostVolume reports whether the gate refused an empty volume.
func HasLostVolume(pod *corev1.Pod) bool {
	said := Refused(pod)
	return said != nil && said.Reason == etcdstart.VolumeLost
}

// Refused returns the last report of the gate if it refused the volume as it is; nil otherwise.
func Refused(pod *corev1.Pod) *etcdstart.Report {
	said := LastReport(pod)
	if said == nil || said.Reason != etcdstart.VolumeLost && said.Reason != etcdstart.VolumeForeign {
		return nil
	}
	return said
}

// LastReport returns the last report of the gate; nil if the container has been started again since.
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

// StartAs encodes how a member starts, for the annotation that the gate in its pod reads.
func StartAs(mode etcdstart.Mode, id uint64) string {
	return etcdstart.Start{Mode: mode, ID: fmt.Sprintf("%016x", id)}.String()
}

// bootstrappedBefore is part of etcd's message when it refuses to start on an empty volume because its peers know it as
// a member that has run (etcd: isMemberBootstrapped, the same in 3.4 to 3.7).
const bootstrappedBefore = "has already been bootstrapped"

// IsShutOut reports whether etcd does not run in a pod because its peers know it as a member that has run.
func IsShutOut(pod *corev1.Pod) bool {
	said := LastReport(pod)
	return said != nil && said.Reason == etcdstart.EtcdEnded && strings.Contains(said.Message, bootstrappedBefore)
}
