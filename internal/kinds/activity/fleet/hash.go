// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"k8s.io/apimachinery/pkg/types"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/run"
)

// Hash identifies one run of a fleet: its command, hosts, limits and requester. An approval is only valid for the hash
// that the approver saw. The UID is included, so that an approval is worth nothing for a copy of the fleet.
func Hash(a *egov1.Activity) string {
	spec := a.Spec.DeepCopy()
	number := run.Number(a)
	spec.Run, spec.Cancel, spec.TTLSecondsAfterFinished = &number, false, nil
	if spec.Hosts.Approval != nil {
		spec.Hosts.Approval = &egov1.Approval{Required: spec.Hosts.Approval.Required}
	}
	data, _ := json.Marshal(struct { // cannot fail, because a spec can always be encoded
		UID  types.UID
		Spec *egov1.ActivitySpec
	}{a.UID, spec})
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

// needsApproval reports whether a second user must approve each run of the fleet.
func needsApproval(a *egov1.Activity) bool {
	return a.Spec.Hosts.Approval != nil && a.Spec.Hosts.Approval.Required
}

// Unapproved returns why a run of a fleet is not approved; empty if it is approved or needs no approval. Whether the
// approver has the right to approve is checked when hosts start.
func Unapproved(a *egov1.Activity) string {
	if !needsApproval(a) {
		return ""
	}
	approval, hash := a.Spec.Hosts.Approval, Hash(a)
	switch by := approval.Approver; {
	case approval.ApprovedHash == "":
		return "the run needs the approval of a second user: " + How(a, hash)
	case approval.ApprovedHash != hash:
		return "the approval is for an earlier run or spec: " + How(a, hash)
	case by == nil:
		return "spec.hosts.approval.approver is empty; install the admission policy opcrew-activity-rights, which sets this field, and approve again"
	case samePerson(by, a.Spec.Requester):
		return "user " + by.Username + " requested this run, so another user must approve it: " + How(a, hash)
	}
	return ""
}

func samePerson(a, b *egov1.Requester) bool {
	return b == nil || a.Username == b.Username || a.UID != "" && a.UID == b.UID
}

// How returns the command with which a second user approves a run.
func How(a *egov1.Activity, hash string) string {
	return "kubectl patch activity " + a.Name + " -n " + a.Namespace + " --type merge -p '{\"spec\":{\"hosts\":{\"approval\":{\"approvedHash\":\"" + hash + "\"}}}}'"
}
