// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Defaults of an EtcdCluster: those of the CoreOS operator. They are computed and not stored,
// so that what the user asked for can always be told from what was filled in.
const (
	DefaultRepository    = "quay.io/coreos/etcd"
	DefaultVersion       = "3.2.13"
	DefaultNodeLossAfter = "5m"
	ClientPort           = 2379
	PeerPort             = 2380
	VersionAnnotation    = "etcd.version"
	ClusterLabel         = "etcd_cluster"
	NodeLabel            = "etcd_node"
	AppLabel             = "app"
	AppName              = "etcd"
)

// EtcdCluster is a cluster of etcd members, as the CoreOS etcd-operator had it.
// +kubebuilder:object:root=true
// +kubebuilder:metadata:labels="app.kubernetes.io/part-of=opcrew"
// +kubebuilder:resource:path=etcdclusters,shortName=etcd;etcdclus,categories=opcrew
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.size,statuspath=.status.size,selectorpath=.status.selector
// +kubebuilder:printcolumn:name="Size",type=integer,JSONPath=`.spec.size`
// +kubebuilder:printcolumn:name="Members",type=integer,JSONPath=`.status.size`
// +kubebuilder:printcolumn:name="Version",type=string,JSONPath=`.status.currentVersion`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 52 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="metadata.name: members are named <name>-<10 characters> under a Service <name>; use 52 characters at most, lower-case letters, digits and '-', beginning with a letter"
type EtcdCluster struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the wanted cluster.
	// +required
	Spec EtcdClusterSpec `json:"spec"`

	// status is what was seen of it. Its default keeps a new object from being taken for a ready one.
	// +optional
	// +kubebuilder:default={conditions: {{type: "Ready", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "ChildrenReady", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "Available", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "MembersReady", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "UpToDate", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}}}
	Status EtcdClusterStatus `json:"status,omitempty"`
}

// EtcdClusterSpec is the wanted cluster.
// +kubebuilder:validation:XValidation:rule="!has(self.hibernate) || !self.hibernate || has(self.pod) && has(self.pod.persistentVolumeClaimSpec)",message="hibernate: a cluster without spec.pod.persistentVolumeClaimSpec would lose all of its data"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.pod) && !has(self.pod) || (has(oldSelf.pod) && has(oldSelf.pod.persistentVolumeClaimSpec)) == (has(self.pod) && has(self.pod.persistentVolumeClaimSpec))",message="pod.persistentVolumeClaimSpec cannot be added or taken away later: it is where the members' data is; make a new cluster and copy the data"
// +kubebuilder:validation:XValidation:rule="(has(self.TLS) && has(self.TLS.static) && has(self.TLS.static.member) && has(self.TLS.static.member.peerSecret)) == (has(oldSelf.TLS) && has(oldSelf.TLS.static) && has(oldSelf.TLS.static.member) && has(oldSelf.TLS.static.member.peerSecret))",message="TLS.static.member.peerSecret cannot be added or taken away later: members know each other by their URLs; make a new cluster and copy the data"
// +kubebuilder:validation:XValidation:rule="(has(self.TLS) && has(self.TLS.static) && has(self.TLS.static.member) && has(self.TLS.static.member.serverSecret)) == (has(oldSelf.TLS) && has(oldSelf.TLS.static) && has(oldSelf.TLS.static.member) && has(oldSelf.TLS.static.member.serverSecret))",message="TLS.static.member.serverSecret cannot be added or taken away later: clients know members by their URLs; make a new cluster and copy the data"
// +kubebuilder:validation:XValidation:rule="!has(self.upkeep) || !has(self.upkeep.compaction) || !has(self.pod) || !has(self.pod.etcdEnv) || !self.pod.etcdEnv.exists(e, e.name in ['ETCD_AUTO_COMPACTION_MODE', 'ETCD_AUTO_COMPACTION_RETENTION'])",message="upkeep.compaction and ETCD_AUTO_COMPACTION_MODE or ETCD_AUTO_COMPACTION_RETENTION in pod.etcdEnv say the same: leave one of them out"
// +kubebuilder:validation:XValidation:rule="!has(self.upkeep) || !has(self.upkeep.corruptionCheck) || !has(self.pod) || !has(self.pod.etcdEnv) || !self.pod.etcdEnv.exists(e, e.name in ['ETCD_CORRUPT_CHECK_TIME', 'ETCD_EXPERIMENTAL_CORRUPT_CHECK_TIME'])",message="upkeep.corruptionCheck and ETCD_CORRUPT_CHECK_TIME or ETCD_EXPERIMENTAL_CORRUPT_CHECK_TIME in pod.etcdEnv say the same: leave one of them out"
type EtcdClusterSpec struct {
	// size is the number of members, from 1 to 7. An odd number is best: with 4 members as many may fail as with 3.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self >= 1 && self <= 7",message="size is a number of members from 1 to 7; to stop a cluster and keep its data use hibernate"
	Size int32 `json:"size,omitempty"`

	// repository of the image, without a tag; default quay.io/coreos/etcd. The image is <repository>:v<version>.
	// +optional
	// +kubebuilder:validation:MaxLength=400
	// +kubebuilder:validation:XValidation:rule="self == '' || self.matches('^[a-zA-Z0-9][a-zA-Z0-9._-]*(:[0-9]+)?(/[a-z0-9]+(([.]|_|__|-+)[a-z0-9]+)*)*$')",message="repository is that of an image without tag and digest, such as quay.io/coreos/etcd"
	Repository string `json:"repository,omitempty"`

	// version of etcd, such as 3.6.16; default 3.2.13, which is that of the CoreOS operator and from 2018: set one.
	// It is raised one member at a time, and one minor version at a time.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^v?[0-9]{1,3}[.][0-9]{1,3}[.][0-9]{1,4}([-+][0-9A-Za-z.-]+)?$')",message="version is a number of three parts, such as 3.6.16"
	Version string `json:"version,omitempty"`

	// paused has the operator look and report, but change nothing.
	// +optional
	Paused bool `json:"paused,omitempty"`

	// hibernate stops all members and keeps their claims; without it they come back as they were.
	// +optional
	Hibernate bool `json:"hibernate,omitempty"`

	// healing tells when a member is given up.
	// +optional
	Healing *Healing `json:"healing,omitempty"`

	// recovery tells what is done when a majority of the members has lost its data.
	// +optional
	Recovery *Recovery `json:"recovery,omitempty"`

	// upgradePath are the versions that an upgrade over several minor versions passes through, in any
	// order; for minors that are not named the newest patch known to the operator is taken.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=64
	// +kubebuilder:validation:items:Pattern=`^v?[0-9]{1,3}[.][0-9]{1,3}[.][0-9]{1,4}([-+][0-9A-Za-z.-]+)?$`
	// +listType=atomic
	UpgradePath []string `json:"upgradePath,omitempty"`

	// upkeep is what is done to the data of the cluster so that it goes on.
	// +optional
	Upkeep *Upkeep `json:"upkeep,omitempty"`

	// pod tells how the members' pods are made.
	// +optional
	Pod *PodPolicy `json:"pod,omitempty"`

	// TLS has members and clients speak TLS.
	// +optional
	TLS *TLSPolicy `json:"TLS,omitempty"`
}

// Healing tells when a member is given up.
type Healing struct {
	// nodeLossAfter is for how long a node must not have been heard of before the member on it is
	// replaced, from 5s; default 5m. A node with the taint node.kubernetes.io/out-of-service is given up at once.
	// +optional
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,6}(s|m|h))+$') && duration(self) >= duration('5s') && duration(self) <= duration('168h')",message="nodeLossAfter is a time from 5s to 168h, such as 90s or 5m"
	NodeLossAfter string `json:"nodeLossAfter,omitempty"`
}

// TLSPolicy has members and clients speak TLS.
type TLSPolicy struct {
	// static are Secrets that somebody else makes and renews.
	// +optional
	Static *StaticTLS `json:"static,omitempty"`
}

// StaticTLS names the Secrets with certificates.
// +kubebuilder:validation:XValidation:rule="has(self.operatorSecret) == (has(self.member) && has(self.member.serverSecret))",message="TLS.static: operatorSecret and member.serverSecret go together: the operator is a client of the members"
type StaticTLS struct {
	// member are the Secrets that members use.
	// +optional
	Member *MemberSecret `json:"member,omitempty"`
	// operatorSecret holds etcd-client.crt, etcd-client.key and etcd-client-ca.crt, with which the operator asks the members.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	OperatorSecret string `json:"operatorSecret,omitempty"`
}

// MemberSecret names the Secrets that members use.
type MemberSecret struct {
	// peerSecret holds peer.crt, peer.key and peer-ca.crt, valid for *.<cluster>.<namespace>.svc.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	PeerSecret string `json:"peerSecret,omitempty"`
	// serverSecret holds server.crt, server.key and server-ca.crt, valid for *.<cluster>.<namespace>.svc,
	// <cluster>-client.<namespace>.svc and localhost.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ServerSecret string `json:"serverSecret,omitempty"`
}

// EtcdClusterList is a list of EtcdClusters.
// +kubebuilder:object:root=true
type EtcdClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []EtcdCluster `json:"items"`
}

// StatusConditions gives the shared core access to the conditions.
func (c *EtcdCluster) StatusConditions() *[]metav1.Condition { return &c.Status.Conditions }

// StatusObservedGeneration gives the shared core access to the observed generation.
func (c *EtcdCluster) StatusObservedGeneration() *int64 { return &c.Status.ObservedGeneration }
