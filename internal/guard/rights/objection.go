// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rights

import (
	"fmt"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/guard"
)

// objection explains a missing right to the user.
func objection(pod guard.Pod, m *missing) guard.Objection {
	if m.who == nil {
		return guard.Objection{Reason: common.ReasonRequesterUnknown, Message: unknown(pod, m.reference)}
	}
	return guard.Objection{Reason: common.ReasonRequesterMayNot, Message: m.who.mayNot(pod.Namespace, m.reference)}
}

// unknown returns the message for an object without a record of its requester. The object is older than the admission
// policy that writes the record, or the API server does not support such policies.
func unknown(pod guard.Pod, r reference) string {
	subject := "This object"
	if _, ofOther := pod.Trust.Requesters[r.volume]; ofOther {
		subject = "The EtcdRestore or EtcdBackup that names the backup store"
	}
	return fmt.Sprintf("%s does not record which user requested %s %s, which %s uses: annotation %s is missing; "+
		"set the annotation to any value as a user who may %s %s %s (kubectl annotate ... %s=me --overwrite), and the API server records that user in it; "+
		"before Kubernetes 1.36, write the value that docs/install.md describes",
		subject, r.fullResource(), r.name, r.where, common.RequesterAnnotation, r.verb, r.fullResource(), r.name, common.RequesterAnnotation)
}
