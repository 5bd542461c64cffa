// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
)

// Defaults of an EtcdCluster, as in the CoreOS operator. The operator applies them when it reads a spec, and does not
// store them in the object. A value that a user set stays distinguishable from a default.
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

// EtcdCluster is a cluster of etcd members. Its API is that of the CoreOS etcd-operator.
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
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 52 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="metadata.name is the name of the Service, and the members are named <name>-<10 characters>; use at most 52 lower-case letters, digits and '-', beginning with a letter and ending with a letter or a digit"
type EtcdCluster struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the desired state of the cluster.
	// +required
	Spec EtcdClusterSpec `json:"spec"`

	// status is the observed state. In a new object all conditions have status Unknown by default, so that no client
	// mistakes the object for a ready one.
	// +optional
	// +kubebuilder:default={conditions: {{type: "Ready", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "ChildrenReady", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "Available", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "MembersReady", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "UpToDate", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}}}
	Status EtcdClusterStatus `json:"status,omitempty"`
}

// EtcdClusterSpec is the desired state of a cluster.
// +kubebuilder:validation:XValidation:rule="!has(self.hibernate) || !self.hibernate || has(self.pod) && has(self.pod.persistentVolumeClaimSpec)",message="hibernate: a cluster without spec.pod.persistentVolumeClaimSpec would lose all of its data; set hibernate to false"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.pod) && !has(self.pod) || (has(oldSelf.pod) && has(oldSelf.pod.persistentVolumeClaimSpec)) == (has(self.pod) && has(self.pod.persistentVolumeClaimSpec))",message="pod.persistentVolumeClaimSpec cannot be added or removed later, because the data of the members would stay behind; create a new cluster and copy the data"
// +kubebuilder:validation:XValidation:rule="(has(self.TLS) && has(self.TLS.static) && has(self.TLS.static.member) && has(self.TLS.static.member.peerSecret)) == (has(oldSelf.TLS) && has(oldSelf.TLS.static) && has(oldSelf.TLS.static.member) && has(oldSelf.TLS.static.member.peerSecret))",message="TLS.static.member.peerSecret cannot be added or removed later, because the members' peer URLs would change; create a new cluster and copy the data"
// +kubebuilder:validation:XValidation:rule="(has(self.TLS) && has(self.TLS.static) && has(self.TLS.static.member) && has(self.TLS.static.member.serverSecret)) == (has(oldSelf.TLS) && has(oldSelf.TLS.static) && has(oldSelf.TLS.static.member) && has(oldSelf.TLS.static.member.serverSecret))",message="TLS.static.member.serverSecret cannot be added or removed later, because the members' client URLs would change; create a new cluster and copy the data"
// +kubebuilder:validation:XValidation:rule="!has(self.upkeep) || !has(self.upkeep.compaction) || !has(self.pod) || !has(self.pod.etcdEnv) || !self.pod.etcdEnv.exists(e, e.name in ['ETCD_AUTO_COMPACTION_MODE', 'ETCD_AUTO_COMPACTION_RETENTION'])",message="upkeep.compaction and the variable ETCD_AUTO_COMPACTION_MODE or ETCD_AUTO_COMPACTION_RETENTION in pod.etcdEnv set the same option; remove one of them"
// +kubebuilder:validation:XValidation:rule="!has(self.upkeep) || !has(self.upkeep.corruptionCheck) || !has(self.pod) || !has(self.pod.etcdEnv) || !self.pod.etcdEnv.exists(e, e.name in ['ETCD_CORRUPT_CHECK_TIME', 'ETCD_EXPERIMENTAL_CORRUPT_CHECK_TIME'])",message="upkeep.corruptionCheck and the variable ETCD_CORRUPT_CHECK_TIME or ETCD_EXPERIMENTAL_CORRUPT_CHECK_TIME in pod.etcdEnv set the same option; remove one of them"
type EtcdClusterSpec struct {
	// size is the number of members, 1 to 7. An odd number is best: a cluster of 4 members tolerates no more failures
	// than one of 3.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self >= 1 && self <= 7",message="size must be a number of members from 1 to 7; to stop a cluster and keep its data, use hibernate"
	Size int32 `json:"size,omitempty"`

	// repository of the image, without a tag; default quay.io/coreos/etcd. The image is <repository>:v<version>.
	// +optional
	// +kubebuilder:validation:MaxLength=400
	// +kubebuilder:validation:XValidation:rule="self == '' || self.matches('^[a-zA-Z0-9][a-zA-Z0-9._-]*(:[0-9]+)?(/[a-z0-9]+(([.]|_|__|-+)[a-z0-9]+)*)*$')",message="repository must be an image without tag and digest, such as quay.io/coreos/etcd"
	Repository string `json:"repository,omitempty"`

	// version of etcd, such as 3.6.16. The default 3.2.13 is that of the CoreOS operator, from 2018, so set a newer
	// one. An upgrade restarts one member after another, and goes through one minor version after another.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^v?[0-9]{1,3}[.][0-9]{1,3}[.][0-9]{1,4}([-+][0-9A-Za-z.-]+)?$')",message="version must be a number of three parts, such as 3.6.16"
	Version string `json:"version,omitempty"`

	// paused makes the operator observe the cluster and report its status, but change nothing; default false.
	// +optional
	Paused bool `json:"paused,omitempty"`

	// hibernate stops all members and keeps their claims; default false. When hibernate is false again, the members
	// start with their data.
	// +optional
	Hibernate bool `json:"hibernate,omitempty"`

	// healing sets when the operator replaces a member that no longer responds.
	// +optional
	Healing *Healing `json:"healing,omitempty"`

	// recovery sets what the operator does when a majority of the members has lost its data.
	// +optional
	Recovery *Recovery `json:"recovery,omitempty"`

	// upgradePath lists the version to use for each minor version that an upgrade passes through, in any order. For a
	// minor version that is not listed, the operator uses the newest patch release that it knows.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=64
	// +kubebuilder:validation:items:Pattern=`^v?[0-9]{1,3}[.][0-9]{1,3}[.][0-9]{1,4}([-+][0-9A-Za-z.-]+)?$`
	// +listType=atomic
	UpgradePath []string `json:"upgradePath,omitempty"`

	// upkeep sets the maintenance of the cluster's data: compaction, defragmentation and checks for corruption.
	// +optional
	Upkeep *Upkeep `json:"upkeep,omitempty"`

	// pod sets how the members' pods are built.
	// +optional
	Pod *PodPolicy `json:"pod,omitempty"`

	// TLS sets the certificates with which members and clients connect. Without it they connect without encryption.
	// +optional
	TLS *TLSPolicy `json:"TLS,omitempty"`

	// access lists the clients that may connect, as peers of a NetworkPolicy: podSelector, namespaceSelector or
	// ipBlock. Without it every client may connect. opcrew's own pods may always connect.
	// +optional
	Access common.Access `json:"access,omitempty"`
}

// Healing sets when the operator replaces a member that no longer responds.
type Healing struct {
	// nodeLossAfter is the time, from 5s to 168h, after which a member is replaced because its node does not respond;
	// default 5m. If the node has the taint node.kubernetes.io/out-of-service, the member is replaced at once.
	// +optional
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,6}(s|m|h))+$') && duration(self) >= duration('5s') && duration(self) <= duration('168h')",message="nodeLossAfter must be a time from 5s to 168h, such as 90s or 5m"
	NodeLossAfter string `json:"nodeLossAfter,omitempty"`
}

// TLSPolicy sets the certificates with which members and clients connect.
type TLSPolicy struct {
	// static names Secrets with certificates that a user or another controller creates and renews.
	// +optional
	Static *StaticTLS `json:"static,omitempty"`
}

// StaticTLS names Secrets with certificates that a user or another controller creates and renews.
// +kubebuilder:validation:XValidation:rule="has(self.operatorSecret) == (has(self.member) && has(self.member.serverSecret))",message="TLS.static: set both operatorSecret and member.serverSecret, or neither, because the operator is a client of the members"
type StaticTLS struct {
	// member names the Secrets that the members use.
	// +optional
	Member *MemberSecret `json:"member,omitempty"`
	// operatorSecret is a Secret with etcd-client.crt, etcd-client.key and etcd-client-ca.crt, with which the operator
	// connects to the members. It is required if member.serverSecret is set.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	OperatorSecret string `json:"operatorSecret,omitempty"`
}

// MemberSecret names the Secrets that the members use.
type MemberSecret struct {
	// peerSecret is a Secret with peer.crt, peer.key and peer-ca.crt, for TLS between members. The certificate must be
	// valid for *.<cluster>.<namespace>.svc. Without peerSecret members connect to each other without encryption.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	PeerSecret string `json:"peerSecret,omitempty"`
	// serverSecret is a Secret with server.crt, server.key and server-ca.crt, for TLS with clients. The certificate
	// must be valid for *.<cluster>.<namespace>.svc, <cluster>-client.<namespace>.svc and localhost. Without
	// serverSecret clients connect without encryption.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ServerSecret string `json:"serverSecret,omitempty"`
}

// EtcdClusterList is a list of EtcdCluster objects.
// +kubebuilder:object:root=true
type EtcdClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []EtcdCluster `json:"items"`
}

// StatusConditions returns a pointer to the conditions in the status, so that the reconcile loop can set them.
func (c *EtcdCluster) StatusConditions() *[]metav1.Condition { return &c.Status.Conditions }

// StatusObservedGeneration returns a pointer to status.observedGeneration, so that the reconcile loop can set it.
func (c *EtcdCluster) StatusObservedGeneration() *int64 { return &c.Status.ObservedGeneration }
