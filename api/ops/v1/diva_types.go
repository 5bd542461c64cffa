// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
)

// Defaults of a Diva. They are computed and not stored, so that what the user asked for
// can always be told from what was filled in.
const (
	// DefaultPort is that of the manager's Service, DefaultTargetPort where its container
	// is expected to listen.
	DefaultPort       = 80
	DefaultTargetPort = 8080
	// DefaultSSHPort is where the clients' sshd listens, DefaultSSHUser whom it lets in.
	DefaultSSHPort = 22
	DefaultSSHUser = "root"
	// DefaultExtraPath is where the manager finds what the extra image brings.
	DefaultExtraPath = "/extra"
)

// RotateAnnotation on a Diva has its generated key pair changed once for each new value,
// such as the date.
const RotateAnnotation = "opcrew.io/rotate-ssh-key"

// Diva is a legacy operations system: a manager that reaches a set of clients over ssh.
// +kubebuilder:object:root=true
// +kubebuilder:metadata:labels="app.kubernetes.io/part-of=opcrew"
// +kubebuilder:resource:categories=opcrew,shortName=dv
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.client.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:printcolumn:name="manager",type=string,JSONPath=`.status.manager`
// +kubebuilder:printcolumn:name="clients",type=string,JSONPath=`.status.clients`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="message",type=string,JSONPath=`.status.message`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,priority=1
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,priority=1
// +kubebuilder:printcolumn:name="Key",type=string,JSONPath=`.status.ssh.fingerprint`,priority=1
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 40 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="metadata.name: Services, pods and claims are named after it; use 40 characters at most, lower-case letters, digits and '-', beginning with a letter"
// +kubebuilder:validation:XValidation:rule="!(self.metadata.name in ['extra', 'ssh-files'])",message="metadata.name: containers extra and ssh-files stand beside the one that is named after it; use another name"
// +kubebuilder:validation:XValidation:rule="!has(self.spec.ssh) || !has(self.spec.ssh.secretRef) || self.spec.ssh.secretRef.name != self.metadata.name + '-ssh'",message="spec.ssh.secretRef: the Secret that is named after the object, with -ssh, is the operator's own; put your pair into another, or leave secretRef out"
// +kubebuilder:validation:XValidation:rule="!self.spec.client.storage.size.matches('^[1-9][0-9]*Gi$') || !oldSelf.spec.client.storage.size.matches('^[1-9][0-9]*Gi$') || int(self.spec.client.storage.size.substring(0, self.spec.client.storage.size.size() - 2)) >= int(oldSelf.spec.client.storage.size.substring(0, oldSelf.spec.client.storage.size.size() - 2)) || has(self.status) && has(self.status.storage) && has(self.status.storage.least) && has(self.status.storage.least.client) && self.status.storage.least.client <= int(self.spec.client.storage.size.substring(0, self.spec.client.storage.size.size() - 2))",fieldPath=".spec.client.storage.size",message="storage cannot shrink: write the size that it has, or a larger one. One that volumes did not get can be taken back, down to status.storage.least.client, if it stands there"
// +kubebuilder:validation:XValidation:rule="!self.spec.manager.storage.size.matches('^[1-9][0-9]*Gi$') || !oldSelf.spec.manager.storage.size.matches('^[1-9][0-9]*Gi$') || int(self.spec.manager.storage.size.substring(0, self.spec.manager.storage.size.size() - 2)) >= int(oldSelf.spec.manager.storage.size.substring(0, oldSelf.spec.manager.storage.size.size() - 2)) || has(self.status) && has(self.status.storage) && has(self.status.storage.least) && has(self.status.storage.least.manager) && self.status.storage.least.manager <= int(self.spec.manager.storage.size.substring(0, self.spec.manager.storage.size.size() - 2))",fieldPath=".spec.manager.storage.size",message="storage cannot shrink: write the size that it has, or a larger one. One that volumes did not get can be taken back, down to status.storage.least.manager, if it stands there"
// +kubebuilder:validation:XValidation:rule="!self.spec.extra.storage.size.matches('^[1-9][0-9]*Gi$') || !oldSelf.spec.extra.storage.size.matches('^[1-9][0-9]*Gi$') || int(self.spec.extra.storage.size.substring(0, self.spec.extra.storage.size.size() - 2)) >= int(oldSelf.spec.extra.storage.size.substring(0, oldSelf.spec.extra.storage.size.size() - 2)) || has(self.status) && has(self.status.storage) && has(self.status.storage.least) && has(self.status.storage.least.extra) && self.status.storage.least.extra <= int(self.spec.extra.storage.size.substring(0, self.spec.extra.storage.size.size() - 2))",fieldPath=".spec.extra.storage.size",message="storage cannot shrink: write the size that it has, or a larger one. One that volumes did not get can be taken back, down to status.storage.least.extra, if it stands there"
type Diva struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the wanted system.
	// +required
	Spec DivaSpec `json:"spec"`

	// status is what was seen of it. Its default keeps a new object from being taken for a ready one.
	// +optional
	// +kubebuilder:default={message: "Waiting for the operator", conditions: {{type: "Ready", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "ChildrenReady", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "SSHReady", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "StorageReady", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "ClientsReady", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "ManagerReady", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}}}
	Status DivaStatus `json:"status,omitempty"`
}

// DivaSpec is the wanted system.
// +kubebuilder:validation:XValidation:rule="!has(self.ssh) || !has(self.ssh.secretRef) || !has(self.privateKey) || type(self.privateKey) != string || self.privateKey.size() == 0",message="give privateKey or ssh.secretRef, not both"
// +kubebuilder:validation:XValidation:rule="!has(self.ssh) || !has(self.ssh.rotateAfter) || !has(self.ssh.secretRef) && (!has(self.privateKey) || type(self.privateKey) != string || self.privateKey.size() == 0)",message="ssh.rotateAfter is for a key pair that the operator makes; leave it out, or privateKey and ssh.secretRef"
type DivaSpec struct {
	// client is the set of clients, which carry the applications.
	// +required
	Client Client `json:"client"`

	// manager is the operations service.
	// +required
	Manager Manager `json:"manager"`

	// extra is the image that brings the manager its resources, in an init container.
	// +required
	Extra Extra `json:"extra"`

	// privateKey that the manager logs in with. Whoever may read this object can read it:
	// better leave it out, and a pair is made, or use ssh.secretRef.
	// +optional
	// +nullable
	// +kubebuilder:validation:MaxLength=16384
	PrivateKey string `json:"privateKey,omitempty"`

	// publicKey that belongs to privateKey; without one, further keys that clients let in,
	// one a line. What is no public key is told in KeyWarning and not used.
	// +optional
	// +nullable
	// +kubebuilder:validation:MaxLength=16384
	PublicKey string `json:"publicKey,omitempty"`

	// ssh tells how the manager reaches the clients.
	// +optional
	SSH *SSH `json:"ssh,omitempty"`

	// deletionPolicy tells what becomes of the claims, and the data in them, when the object
	// is deleted: Retain (the default) or Delete. A later Diva of the same name has those
	// that were retained.
	// +optional
	// +kubebuilder:validation:Enum=Retain;Delete
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`
}

// DeletionPolicy tells what becomes of data.
type DeletionPolicy string

// What becomes of data.
const (
	DeletionRetain DeletionPolicy = "Retain"
	DeletionDelete DeletionPolicy = "Delete"
)

// Part is what the manager and the clients have in common.
type Part struct {
	// image with a tag or a digest. One that is no image reference is told in Ready, and what runs goes on.
	// +required
	Image Image `json:"image"`

	// storage that is mounted at /wi.
	// +required
	Storage Storage `json:"storage"`

	// runAsUser is the user that the image runs as, if it is not root; it must be numeric, 0 to
	// 2147483647. The keys and the volumes are made readable to it.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	RunAsUser *int64 `json:"runAsUser,omitempty"`

	// resources of the container.
	// +optional
	Resources common.Resources `json:"resources,omitzero"`

	// env is the environment of the container.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:XValidation:rule="self.all(e, !has(e.valueFrom) || !has(e.valueFrom.resourceFieldRef) || !has(e.valueFrom.resourceFieldRef.divisor) || type(e.valueFrom.resourceFieldRef.divisor) == int || e.valueFrom.resourceFieldRef.divisor in ['0', '1', '1m', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'])",message="divisor of a resourceFieldRef is 1 or 1m, or 1 with a unit of memory, such as 1Mi"
	Env []corev1.EnvVar `json:"env,omitempty"`

	// probes of the container; a client's readiness is by default that its sshd takes connections.
	// +optional
	Probes *common.Probes `json:"probes,omitempty"`

	// pod changes where the pods run and what other tools read of them.
	// +optional
	Pod *common.PodOverride `json:"pod,omitempty"`
}

// Client is the set of clients.
type Client struct {
	// replicas is the number of clients, 1 to 1000.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	Replicas int32 `json:"replicas"`

	Part `json:",inline"`
}

// Manager is the operations service.
type Manager struct {
	// replicas is the number of managers, 1 to 10; default 1. More than one of them share
	// one volume and so, unless it is ReadWriteMany, one node.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10
	Replicas *int32 `json:"replicas,omitempty"`

	Part `json:",inline"`

	// ports that the manager serves; default 80, to 8080 of the container.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule="self.all(p, self.exists_one(q, q.port == p.port && (has(q.protocol) ? q.protocol : 'TCP') == (has(p.protocol) ? p.protocol : 'TCP')))",message="a port stands twice: each port and protocol can be served once"
	// +kubebuilder:validation:XValidation:rule="self.all(p, !has(p.name) || self.exists_one(q, has(q.name) && q.name == p.name))",message="two ports have the same name"
	// +kubebuilder:validation:XValidation:rule="self.all(p, !has(p.targetPort) || type(p.targetPort) == int || self.exists_one(q, has(q.targetPort) && type(q.targetPort) == string && q.targetPort == p.targetPort))",message="two ports have the same targetPort name: a name stands for one port of the container"
	Ports []common.Port `json:"ports,omitempty"`
}

// Extra is the image that brings the manager its resources.
type Extra struct {
	// replicas is accepted and not used: every manager has one such container.
	//
	// Deprecated: it says nothing.
	// +optional
	// +kubebuilder:validation:Minimum=1
	Replicas *int32 `json:"replicas,omitempty"`

	// image with a tag or a digest.
	// +required
	Image Image `json:"image"`

	// storage that the resources are kept in; it is mounted at mountPath.
	// +required
	Storage Storage `json:"storage"`

	// mountPath of storage, in the init container and in the manager; default /extra. What is
	// mounted at /wi, below /etc/opcrew, in /etc/ssh/ssh_config.d and in /root/.ssh stays there.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^/[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*$`
	// +kubebuilder:validation:XValidation:rule="!self.matches('^(/wi|/etc/opcrew|/etc/opcrew/.*|/etc/ssh/ssh_config[.]d/opcrew[.]conf|/root/[.]ssh/id_(rsa|ed25519))$')",message="mountPath: the manager's storage is at /wi, and keys and configuration at or below /etc/opcrew, in /etc/ssh/ssh_config.d/opcrew.conf and in /root/.ssh; write another directory, such as /extra"
	// +kubebuilder:validation:XValidation:rule="!self.matches('/[.][.]?(/|$)')",message="mountPath has no steps . and ..; write where they lead to, such as /extra"
	MountPath string `json:"mountPath,omitempty"`

	// command of the init container; default the image's.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Command []string `json:"command,omitempty"`

	// args of the init container; default the image's.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Args []string `json:"args,omitempty"`
}

// Image is the reference of an image with a tag or a digest.
// +kubebuilder:validation:MaxLength=512
// +kubebuilder:validation:Pattern=`^.+:.+$`
// +kubebuilder:validation:XValidation:rule="self.matches('^.+:[^/]+$')",message="an image needs a tag or a digest, such as registry.example.com/team/app:1.0"
type Image string

// Storage is a claim: it can grow, and neither shrink nor change its class. Only what volumes
// did not get can be taken back: see Diva.
// +kubebuilder:validation:XValidation:rule="self.className == oldSelf.className",message="className cannot change, as volumes stay where they are; write the class that it has, or make another Diva and move the data"
// +kubebuilder:validation:XValidation:rule="(has(self.accessMode) ? self.accessMode : 'ReadWriteOnce') == (has(oldSelf.accessMode) ? oldSelf.accessMode : 'ReadWriteOnce')",message="accessMode cannot change; write the mode that it has, or make another Diva and move the data"
type Storage struct {
	// size in Gi, 1Gi to 9999999Gi.
	// +required
	// +kubebuilder:validation:MaxLength=9
	// +kubebuilder:validation:Pattern=`^[1-9]\d*Gi$`
	// +kubebuilder:validation:XValidation:rule="self.matches('^[1-9][0-9]*Gi$')",message="size is a whole number of Gi and not 0, such as 2Gi"
	Size string `json:"size"`

	// className is the StorageClass; empty for a volume without one.
	// +required
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$`
	ClassName string `json:"className"`

	// accessMode of the volume: ReadWriteOnce (the default) or ReadWriteMany.
	// +optional
	// +kubebuilder:validation:Enum=ReadWriteOnce;ReadWriteMany
	AccessMode corev1.PersistentVolumeAccessMode `json:"accessMode,omitempty"`
}

// SSH tells how the manager reaches the clients.
type SSH struct {
	// secretRef is a Secret of yours with the key pair, under privateKey and publicKey or as in
	// one of type kubernetes.io/ssh-auth; the public key may be left out. Another pair in it
	// is taken into use without a refused login; that is noticed within the hour, or with the next
	// change of the object.
	// +optional
	SecretRef *SecretRef `json:"secretRef,omitempty"`

	// rotateAfter is the age at which a generated key pair is changed, such as 720h or 90d; by
	// default never.
	// +optional
	RotateAfter Age `json:"rotateAfter,omitempty"`

	// port where the clients' sshd listens, 1 to 65535; default 22.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port *int32 `json:"port,omitempty"`

	// user that the manager logs in as; default root.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[a-z_][a-z0-9_-]*$`
	User string `json:"user,omitempty"`
}

// SecretRef names a Secret of the same namespace.
type SecretRef struct {
	// name of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",message="the name of a Secret is of lower-case letters, digits, '-' and '.', and begins and ends with a letter or a digit"
	Name string `json:"name"`
}

// DivaList is a list of Divas.
// +kubebuilder:object:root=true
type DivaList struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Diva `json:"items"`
}
