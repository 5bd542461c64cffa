// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rights

import (
	"fmt"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/guard"
)

// objection is what is reported about a right that is not proven.
func objection(pod guard.Pod, m *missing) guard.Objection {
	if m.who == nil {
		return guard.Objection{Reason: common.ReasonRequesterUnknown, Message: unknown(pod, m.reference)}
	}
	return guard.Objection{Reason: common.ReasonRequesterMayNot, Message: m.who.mayNot(pod.Namespace, m.reference)}
}

// unknown is the message about an object without a record of its requester: it is from before the policy, or the API
// server has no such policies.
func unknown(pod guard.Pod, r reference) string {
	whose := "this object"
	if _, ofOther := pod.Trust.Requesters[r.volume]; ofOther {
		whose = "the object that asks for it"
	}
	return fmt.Sprintf("%s does not record who asked for %s %s, which %s uses: annotation %s is missing; "+
		"set it to any value as a user who may %s %s %s (kubectl annotate ... %s=me --overwrite), and the API server writes that user into it; "+
		"before Kubernetes 1.36 write the value that docs/install.md describes",
		whose, r.fullResource(), r.name, r.where, common.RequesterAnnotation, r.verb, r.fullResource(), r.name, common.RequesterAnnotation)
}
