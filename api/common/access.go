// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package common

import (
	networkingv1 "k8s.io/api/networking/v1"
)

// Access lists the clients that may connect to a store's client ports. Each item is a NetworkPolicy peer: pods by label
// (podSelector), pods of namespaces (namespaceSelector), or IP addresses (ipBlock). A client needs to match one item.
// +kubebuilder:object:generate=true
// +kubebuilder:validation:MinItems=1
// +kubebuilder:validation:MaxItems=32
// +kubebuilder:validation:items:XValidation:rule="has(self.ipBlock) != (has(self.podSelector) || has(self.namespaceSelector))",message="an item of access must have either ipBlock, or podSelector, namespaceSelector or both; the empty selector {} selects all"
// +listType=atomic
type Access []networkingv1.NetworkPolicyPeer

// ConditionProtectionMissing is True while the spec requests a protection that opcrew does not implement, such as
// encryption. Ready is False meanwhile. The message names the field and says what to write. Otherwise the condition is
// absent.
const ConditionProtectionMissing = "ProtectionMissing"

// ConditionUnencrypted is True while the spec makes data leave the cluster unencrypted, for example through an endpoint
// that begins with http://. Otherwise the condition is absent. The condition does not affect Ready.
const ConditionUnencrypted = "Unencrypted"

// ReasonPlainHTTP is a reason of ConditionUnencrypted: an endpoint in the spec begins with http://.
const ReasonPlainHTTP = "PlainHTTP"

// ReasonProtectionMissing is a reason of ConditionProtectionMissing and Ready: the spec requests a protection, such as
// encryption, that opcrew does not implement.
const ReasonProtectionMissing = "ProtectionMissing"
