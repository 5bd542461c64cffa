// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package common

import (
	networkingv1 "k8s.io/api/networking/v1"
)

// Access lists the clients that may reach the ports of a store that clients use, in the words of a NetworkPolicy: pods by
// labels (podSelector), pods of namespaces (namespaceSelector), or addresses (ipBlock). One match is enough.
// +kubebuilder:object:generate=true
// +kubebuilder:validation:MinItems=1
// +kubebuilder:validation:MaxItems=32
// +kubebuilder:validation:items:XValidation:rule="has(self.ipBlock) != (has(self.podSelector) || has(self.namespaceSelector))",message="an item of access has either an ipBlock, or a podSelector, a namespaceSelector or both; {} as a selector selects all"
// +listType=atomic
type Access []networkingv1.NetworkPolicyPeer

// ConditionProtectionMissing is True while the spec asks for a protection, such as encryption, that opcrew does not give. The
// message names the field and says what to write instead. Otherwise it is absent. Ready is False while it is True.
const ConditionProtectionMissing = "ProtectionMissing"

// ConditionUnencrypted is True while data leaves the cluster in the clear because the spec says so, such as by an endpoint that
// begins with http://. Otherwise it is absent. It does not affect Ready.
const ConditionUnencrypted = "Unencrypted"

// ReasonPlainHTTP of ConditionUnencrypted: the endpoint in the spec begins with http://.
const ReasonPlainHTTP = "PlainHTTP"

// ReasonProtectionMissing of ConditionProtectionMissing and Ready: users rely on a protection that does not exist.
const ReasonProtectionMissing = "ProtectionMissing"
