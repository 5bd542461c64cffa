// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package remediation

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Role is the purpose of an Activity in an attempt.
type Role string

// The Activities of an attempt.
const (
	Fence  Role = "fence"
	Power1 Role = "power-1"
	Power2 Role = "power-2"
	Peer1  Role = "peer-1"
	Peer2  Role = "peer-2"
)

var roles = []Role{Fence, Power1, Power2, Peer1, Peer2}

// activityName returns the name of an Activity. It depends only on the outage, the attempt and the role, so that two
// operators, or one that was restarted, create only one Activity.
func (in *Input) activityName(attempt int32, role Role) string {
	_, since := Ready(in.Node)
	id := digest(string(in.Pool.UID), string(in.Node.UID), in.Node.Status.NodeInfo.BootID, fmt.Sprint(since.Unix()))
	return fmt.Sprintf("remediation-%s-%d-%s", id, attempt, role)
}

// bootMark identifies the boot of a machine in the value of a taint.
func bootMark(node *corev1.Node) string { return digest(node.Status.NodeInfo.BootID) }

func digest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return hex.EncodeToString(sum[:8])
}
