// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
)

// Defaults of a Diva. The operator applies them when it reads a spec, and does not store them in the object. A value
// that a user set stays distinguishable from a default.
const (
	// DefaultPort is the port of the Service for the manager pods, and DefaultTargetPort the port on which the manager
	// pods' container must listen.
	DefaultPort       = 80
	DefaultTargetPort = 8080
	// DefaultSSHPort is the port of the client pods' sshd, and DefaultSSHUser the user that the manager pods log in as.
	DefaultSSHPort = 22
	DefaultSSHUser = "root"
	// DefaultExtraPath is the directory in the manager pods' container where the files of the extra image are mounted.
	DefaultExtraPath = "/extra"
)

// RotateAnnotation on a Diva makes the operator replace the generated ssh key pair, once for each new value of the
// annotation, such as the date.
const RotateAnnotation = "opcrew.io/rotate-ssh-key"

// Diva is an operations system of two parts: manager pods, and client pods to which the manager pods log in over ssh.
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
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 40 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="metadata.name is the beginning of the names of Services, pods and claims; use at most 40 lower-case letters, digits and '-', beginning with a letter and ending with a letter or a digit"
// +kubebuilder:validation:XValidation:rule="!(self.metadata.name in ['extra', 'ssh-files'])",message="metadata.name must not be extra or ssh-files, because other containers in the pods have these names; use another name"
// +kubebuilder:validation:XValidation:rule="!has(self.spec.ssh) || !has(self.spec.ssh.secretRef) || self.spec.ssh.secretRef.name != self.metadata.name + '-ssh'",message="spec.ssh.secretRef: the operator creates the Secret <name>-ssh itself; put your key pair into another Secret, or remove secretRef"
// +kubebuilder:validation:XValidation:rule="!self.spec.client.storage.size.matches('^[1-9][0-9]*Gi$') || !oldSelf.spec.client.storage.size.matches('^[1-9][0-9]*Gi$') || int(self.spec.client.storage.size.substring(0, self.spec.client.storage.size.size() - 2)) >= int(oldSelf.spec.client.storage.size.substring(0, oldSelf.spec.client.storage.size.size() - 2)) || has(self.status) && has(self.status.storage) && has(self.status.storage.least) && has(self.status.storage.least.client) && self.status.storage.least.client <= int(self.spec.client.storage.size.substring(0, self.spec.client.storage.size.size() - 2))",fieldPath=".spec.client.storage.size",message="storage cannot shrink; keep the current size or write a larger one. As long as volumes have not grown yet, the size can be lowered again, down to status.storage.least.client if that field is set"
// +kubebuilder:validation:XValidation:rule="!self.spec.manager.storage.size.matches('^[1-9][0-9]*Gi$') || !oldSelf.spec.manager.storage.size.matches('^[1-9][0-9]*Gi$') || int(self.spec.manager.storage.size.substring(0, self.spec.manager.storage.size.size() - 2)) >= int(oldSelf.spec.manager.storage.size.substring(0, oldSelf.spec.manager.storage.size.size() - 2)) || has(self.status) && has(self.status.storage) && has(self.status.storage.least) && has(self.status.storage.least.manager) && self.status.storage.least.manager <= int(self.spec.manager.storage.size.substring(0, self.spec.manager.storage.size.size() - 2))",fieldPath=".spec.manager.storage.size",message="storage cannot shrink; keep the current size or write a larger one. As long as volumes have not grown yet, the size can be lowered again, down to status.storage.least.manager if that field is set"
// +kubebuilder:validation:XValidation:rule="!self.spec.extra.storage.size.matches('^[1-9][0-9]*Gi$') || !oldSelf.spec.extra.storage.size.matches('^[1-9][0-9]*Gi$') || int(self.spec.extra.storage.size.substring(0, self.spec.extra.storage.size.size() - 2)) >= int(oldSelf.spec.extra.storage.size.substring(0, oldSelf.spec.extra.storage.size.size() - 2)) || has(self.status) && has(self.status.storage) && has(self.status.storage.least) && has(self.status.storage.least.extra) && self.status.storage.least.extra <= int(self.spec.extra.storage.size.substring(0, self.spec.extra.storage.size.size() - 2))",fieldPath=".spec.extra.storage.size",message="storage cannot shrink; keep the current size or write a larger one. As long as volumes have not grown yet, the size can be lowered again, down to status.storage.least.extra if that field is set"
type Diva struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the desired state of the system.
	// +required
	Spec DivaSpec `json:"spec"`

	// status is the observed state. In a new object all conditions have status Unknown by default, so that no client
	// mistakes the object for a ready one.
	// +optional
	// +kubebuilder:default={message: "Waiting for the operator", conditions: {{type: "Ready", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "ChildrenReady", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "SSHReady", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "StorageReady", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "ClientsReady", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "ManagerReady", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}}}
	Status DivaStatus `json:"status,omitempty"`
}

// DivaSpec is the desired state of an operations system: manager pods, and the client pods to which they log in over
// ssh.
// +kubebuilder:validation:XValidation:rule="!has(self.ssh) || !has(self.ssh.secretRef) || !has(self.privateKey) || type(self.privateKey) != string || self.privateKey.size() == 0",message="set privateKey or ssh.secretRef, not both"
// +kubebuilder:validation:XValidation:rule="!has(self.ssh) || !has(self.ssh.rotateAfter) || !has(self.ssh.secretRef) && (!has(self.privateKey) || type(self.privateKey) != string || self.privateKey.size() == 0)",message="ssh.rotateAfter applies only to a key pair that the operator creates; remove ssh.rotateAfter, or remove privateKey and ssh.secretRef"
type DivaSpec struct {
	// client describes the client pods, which run the applications.
	// +required
	Client Client `json:"client"`

	// manager describes the manager pods, which log in to the client pods over ssh.
	// +required
	Manager Manager `json:"manager"`

	// extra is an image with files for the manager pods, such as programs and data. It runs as an init container of
	// these pods.
	// +required
	Extra Extra `json:"extra"`

	// privateKey is the ssh key with which the manager pods log in to the client pods. Everyone who can read this
	// object can read the key, so prefer ssh.secretRef. If neither privateKey nor ssh.secretRef is set, the operator
	// generates a key pair.
	// +optional
	// +nullable
	// +kubebuilder:validation:MaxLength=16384
	PrivateKey string `json:"privateKey,omitempty"`

	// publicKey is the public key that belongs to privateKey. Without privateKey it lists further public keys that
	// client pods accept, one per line. Invalid lines are ignored, and condition KeyWarning names them.
	// +optional
	// +nullable
	// +kubebuilder:validation:MaxLength=16384
	PublicKey string `json:"publicKey,omitempty"`

	// ssh sets how the manager pods log in to the client pods: key pair, port and user.
	// +optional
	SSH *SSH `json:"ssh,omitempty"`

	// deletionPolicy decides what happens to the claims and their data when this object is deleted: Retain (the
	// default) keeps them, Delete deletes them. A later Diva of the same name adopts claims that were kept.
	// +optional
	// +kubebuilder:validation:Enum=Retain;Delete
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`
}

// DeletionPolicy decides what happens to the data of an object that is deleted.
type DeletionPolicy string

// Values of DeletionPolicy: Retain keeps the data, Delete deletes it.
const (
	DeletionRetain DeletionPolicy = "Retain"
	DeletionDelete DeletionPolicy = "Delete"
)

// Part contains the fields that the specs of the manager pods and of the client pods have in common.
type Part struct {
	// image with a tag or a digest. If the image reference is invalid, condition Ready reports it, and running pods
	// continue.
	// +required
	Image Image `json:"image"`

	// storage describes the claims that are mounted at /wi. Each client pod has a separate claim; all manager pods
	// share one claim.
	// +required
	Storage Storage `json:"storage"`

	// runAsUser is the UID that the container runs as, 0 to 2147483647. Set it if the image does not run as root. The
	// keys and volumes become readable to this user. Without runAsUser the image must run as root.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	RunAsUser *int64 `json:"runAsUser,omitempty"`

	// resources of the container in each pod. Without them the container has no requests and no limits.
	// +optional
	Resources common.Resources `json:"resources,omitzero"`

	// env are the environment variables of the container.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:XValidation:rule="self.all(e, !has(e.valueFrom) || !has(e.valueFrom.resourceFieldRef) || !has(e.valueFrom.resourceFieldRef.divisor) || type(e.valueFrom.resourceFieldRef.divisor) == int || e.valueFrom.resourceFieldRef.divisor in ['0', '1', '1m', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'])",message="the divisor of a resourceFieldRef must be 1 or 1m, or 1 with a unit of memory, such as 1Mi"
	Env []corev1.EnvVar `json:"env,omitempty"`

	// probes of the container. Without them a client pod is ready when its sshd accepts connections.
	// +optional
	Probes *common.Probes `json:"probes,omitempty"`

	// pod sets the nodes on which the pods may run, and labels and annotations for other tools.
	// +optional
	Pod *common.PodOverride `json:"pod,omitempty"`
}

// Client describes the client pods, which run the applications.
type Client struct {
	// replicas is the number of client pods, 1 to 1000.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	Replicas int32 `json:"replicas"`

	Part `json:",inline"`
}

// Manager describes the manager pods, which log in to the client pods over ssh.
type Manager struct {
	// replicas is the number of manager pods, 1 to 10; default 1. All manager pods share one volume, so they run on one
	// node if the accessMode of the volume is not ReadWriteMany.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10
	Replicas *int32 `json:"replicas,omitempty"`

	Part `json:",inline"`

	// ports that the manager pods serve. The default is port 80, which the Service forwards to port 8080 of the
	// container.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule="self.all(p, self.exists_one(q, q.port == p.port && (has(q.protocol) ? q.protocol : 'TCP') == (has(p.protocol) ? p.protocol : 'TCP')))",message="a port is listed twice; list each combination of port and protocol only once"
	// +kubebuilder:validation:XValidation:rule="self.all(p, !has(p.name) || self.exists_one(q, has(q.name) && q.name == p.name))",message="two ports have the same name; use another name for one of them"
	// +kubebuilder:validation:XValidation:rule="self.all(p, !has(p.targetPort) || type(p.targetPort) == int || self.exists_one(q, has(q.targetPort) && type(q.targetPort) == string && q.targetPort == p.targetPort))",message="two ports have the same targetPort name; a name stands for one port of the container, so use another name"
	Ports []common.Port `json:"ports,omitempty"`
}

// Extra is an image with files for the manager pods.
type Extra struct {
	// replicas is accepted and has no effect, because every manager pod has exactly one init container with the extra
	// image.
	//
	// Deprecated: replicas has no effect.
	// +optional
	// +kubebuilder:validation:Minimum=1
	Replicas *int32 `json:"replicas,omitempty"`

	// image with a tag or a digest, which runs as an init container of the manager pods.
	// +required
	Image Image `json:"image"`

	// storage is the claim for the files of the image, mounted at mountPath.
	// +required
	Storage Storage `json:"storage"`

	// mountPath is the directory where storage is mounted, in the init container and in the container of the manager
	// pods; default /extra. It must not be /wi, nor a path of the keys and the configuration, such as /etc/opcrew.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^/[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*$`
	// +kubebuilder:validation:XValidation:rule="!self.matches('^(/wi|/etc/opcrew|/etc/opcrew/.*|/etc/ssh/ssh_config[.]d/opcrew[.]conf|/root/[.]ssh/id_(rsa|ed25519))$')",message="mountPath must not be a path that the manager uses: /wi has its storage, and /etc/opcrew, /etc/ssh/ssh_config.d/opcrew.conf and /root/.ssh have its keys and configuration; write another directory, such as /extra"
	// +kubebuilder:validation:XValidation:rule="!self.matches('/[.][.]?(/|$)')",message="mountPath must not contain . or .. as an element; write the resolved path, such as /extra"
	MountPath string `json:"mountPath,omitempty"`

	// command of the init container. Without it the init container runs the command of the image.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Command []string `json:"command,omitempty"`

	// args are the arguments of the init container. Without them the init container gets the arguments of the image.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Args []string `json:"args,omitempty"`
}

// Image is an image reference with a tag or a digest.
// +kubebuilder:validation:MaxLength=512
// +kubebuilder:validation:Pattern=`^.+:.+$`
// +kubebuilder:validation:XValidation:rule="self.matches('^.+:[^/]+$')",message="an image needs a tag or a digest, such as registry.example.com/team/app:1.0"
type Image string

// Storage describes a PersistentVolumeClaim. Its size can grow, and can be lowered only as long as the volumes have not
// grown yet. The class and the access mode cannot change.
// +kubebuilder:validation:XValidation:rule="self.className == oldSelf.className",message="className cannot change, because existing volumes keep their StorageClass; keep the current class, or create another Diva and move the data"
// +kubebuilder:validation:XValidation:rule="(has(self.accessMode) ? self.accessMode : 'ReadWriteOnce') == (has(oldSelf.accessMode) ? oldSelf.accessMode : 'ReadWriteOnce')",message="accessMode cannot change; keep the current mode, or create another Diva and move the data"
type Storage struct {
	// size of the claim in whole Gi, from 1Gi to 9999999Gi. It can grow, and can be lowered only as long as the volumes
	// have not grown yet.
	// +required
	// +kubebuilder:validation:MaxLength=9
	// +kubebuilder:validation:Pattern=`^[1-9]\d*Gi$`
	// +kubebuilder:validation:XValidation:rule="self.matches('^[1-9][0-9]*Gi$')",message="size must be a whole number of Gi and not 0, such as 2Gi"
	Size string `json:"size"`

	// className is the StorageClass of the claim; empty for a volume without a StorageClass. It cannot change.
	// +required
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$`
	ClassName string `json:"className"`

	// accessMode of the volume: ReadWriteOnce (the default) or ReadWriteMany. It cannot change.
	// +optional
	// +kubebuilder:validation:Enum=ReadWriteOnce;ReadWriteMany
	AccessMode corev1.PersistentVolumeAccessMode `json:"accessMode,omitempty"`
}

// SSH sets how the manager pods log in to the client pods.
type SSH struct {
	// secretRef is a Secret with your key pair: under privateKey and, optionally, publicKey, or of type
	// kubernetes.io/ssh-auth. When the pair changes, the operator replaces the old pair within an hour, or at once if
	// the Secret has the label opcrew.io/watch: "true". Logins keep working meanwhile.
	// +optional
	SecretRef *SecretRef `json:"secretRef,omitempty"`

	// rotateAfter is the age at which the operator replaces a key pair that it generated, such as 720h or 90d. Without
	// rotateAfter the operator never replaces the pair because of its age.
	// +optional
	RotateAfter Age `json:"rotateAfter,omitempty"`

	// port of the client pods' sshd, 1 to 65535; default 22.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port *int32 `json:"port,omitempty"`

	// user name with which the manager pods log in to the client pods; default root.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[a-z_][a-z0-9_-]*$`
	User string `json:"user,omitempty"`
}

// SecretRef names a Secret in the same namespace.
type SecretRef struct {
	// name of a Secret in the same namespace.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",message="the name of a Secret must consist of lower-case letters, digits, '-' and '.', and begin and end with a letter or a digit"
	Name string `json:"name"`
}

// DivaList is a list of Diva objects.
// +kubebuilder:object:root=true
type DivaList struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Diva `json:"items"`
}
