// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
)

// Defaults of a RedisEnterpriseCluster: the vendor's. They are computed and not stored, so that a value
// that the user set can always be distinguished from a default.
const (
	DefaultNodes    = 3
	DefaultUsername = "demo@redislabs.com"
	DefaultCPU      = "2"
	DefaultMemory   = "4Gi"
	// DefaultGracePeriodSeconds is how long a pod has to stop. The vendor's default is a year, which blocks
	// draining nodes.
	DefaultGracePeriodSeconds = 60
)

// Ports of a pod. Both servers also have a cluster bus, at the port 10000 higher.
const (
	HomePort    = 6379
	GuestPort   = 6380
	BusOffset   = 10000
	MetricsPort = 8070
	UIPort      = 8443
)

// Labels of the pods; the first two are the vendor's.
const (
	AppLabel     = "app"
	AppName      = "redis-enterprise"
	RoleLabel    = "redis.io/role"
	RoleNode     = "node"
	ClusterLabel = "redis.io/cluster"
)

// AcceptDataLossAnnotation on a RedisEnterpriseCluster accepts the loss of the data of some slots, so that they are
// served again, empty. The message of condition DataAtRisk gives its value: the slots, and a token for the time when
// the loss was reported, so that it never applies to a later loss.
const AcceptDataLossAnnotation = "redis.opcrew.io/accept-data-loss"

// RedisEnterpriseCluster is a Redis cluster of pods with a primary and a replica each, with the API of
// Redis Enterprise.
// +kubebuilder:object:root=true
// +kubebuilder:metadata:labels="app.kubernetes.io/part-of=opcrew"
// +kubebuilder:resource:path=redisenterpriseclusters,shortName=rec,categories=opcrew
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.nodes,statuspath=.status.nodes,selectorpath=.status.selector
// +kubebuilder:printcolumn:name="Nodes",type=integer,JSONPath=`.status.nodes`
// +kubebuilder:printcolumn:name="Shards",type=integer,JSONPath=`.status.shards`
// +kubebuilder:printcolumn:name="Version",type=string,JSONPath=`.status.version`
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.state`
// +kubebuilder:printcolumn:name="Spec Status",type=string,JSONPath=`.status.specStatus`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 52 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="metadata.name: pods are named <name>-0, <name>-1, ... under a Service <name>; use 52 characters at most, lower-case letters, digits and '-', beginning with a letter"
type RedisEnterpriseCluster struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the desired cluster. Without it the vendor's defaults apply.
	// +optional
	Spec RedisEnterpriseClusterSpec `json:"spec,omitempty"`

	// status is the observed state. Its default keeps clients from taking a new object for a ready one.
	// +optional
	// +kubebuilder:default={conditions: {{type: "Ready", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "ChildrenReady", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "Available", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "Redundant", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "PodsReady", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "UpToDate", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}}}
	Status RedisEnterpriseClusterStatus `json:"status,omitempty"`
}

// RedisEnterpriseClusterSpec is the desired cluster. Fields have the vendor's names; opcrew adds
// hibernate, slotMigrationRate, redisConfig and access.
// +kubebuilder:validation:XValidation:rule="!has(self.hibernate) || !self.hibernate || has(self.persistentSpec)",message="hibernate: a cluster without spec.persistentSpec would lose all of its data; write persistentSpec: {enabled: true}"
type RedisEnterpriseClusterSpec struct {
	// nodes is the number of pods, and so of shards, from 1 to 100; default 3. With 3 or more the cluster
	// survives the loss of any one pod. It can be raised and lowered; the slots of removed pods are moved first.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self >= 1 && self <= 100",message="nodes must be a number of pods from 1 to 100; to stop a cluster and keep its data use hibernate"
	Nodes *int32 `json:"nodes,omitempty"`

	// hibernate stops all pods and keeps their claims; when it is removed they start with their data.
	// +optional
	Hibernate bool `json:"hibernate,omitempty"`

	// slotMigrationRate is the most data, in bytes per second, that moves between pods when slots move, 64Ki or
	// more; default as much as the servers can. A change also affects a move in progress.
	// +optional
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 65536 : !self.matches('^ *[0-9]{1,15}([.][0-9]{1,3})? *(m|k|M|G|T|P|Ki|Mi|Gi|Ti|Pi)? *$') || !quantity(self.replace(' ', \"\")).isLessThan(quantity('64Ki'))",message="slotMigrationRate must be in bytes per second, 64Ki or more, such as 50Mi; leave it out to move slots as fast as the servers can"
	SlotMigrationRate Amount `json:"slotMigrationRate,omitempty"`

	// redisConfig are settings of the servers, such as maxmemory-policy: allkeys-lru. Most change while the
	// servers run; for the others pods restart one after another. The operator sets everything that the
	// cluster itself depends on.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.matches('^[a-z][a-z0-9_-]{0,63}$'))",message="redisConfig: names must be those of redis.conf in lower-case letters, such as maxmemory-policy"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.matches('^(tls-|cluster-announce-|replica-announce-|slave-announce-|unixsocket|enable-)') && !(k in ['port', 'bind', 'bind-source-addr', 'dir', 'dbfilename', 'appendonly', 'appendfilename', 'appenddirname', 'cluster-enabled', 'cluster-port', 'cluster-config-file', 'cluster-require-full-coverage', 'cluster-allow-replica-migration', 'cluster-migration-barrier', 'cluster-replica-validity-factor', 'cluster-slave-validity-factor', 'cluster-replica-no-failover', 'cluster-slave-no-failover', 'requirepass', 'masterauth', 'masteruser', 'primaryauth', 'primaryuser', 'aclfile', 'user', 'include', 'loadmodule', 'rename-command', 'daemonize', 'supervised', 'pidfile', 'logfile', 'protected-mode', 'replicaof', 'slaveof', 'maxmemory', 'databases', 'cluster-databases']))",message="redisConfig: ports, files, users, replication, modules, tls-*, enable-* and cluster-announce-* are set by the operator; maxmemory follows from redisEnterpriseNodeResources, and a cluster has only database 0"
	RedisConfig map[string]Setting `json:"redisConfig,omitempty"`

	// persistentSpec gives every pod a volume. Without it data is only in the memory of nodes, and a cluster
	// that loses all of its pods loses its data.
	// +optional
	PersistentSpec *PersistentSpec `json:"persistentSpec,omitempty"`

	// redisEnterpriseNodeResources are the resources of a pod, half of them for its primary and half for its
	// replica; default 2 CPU and 4Gi. The agent adds 50m and 64Mi. Each server uses 3/4 of its memory limit for
	// data. 4 Gi is accepted as 4Gi.
	// +optional
	RedisEnterpriseNodeResources *Resources `json:"redisEnterpriseNodeResources,omitempty"`

	// redisEnterpriseImageSpec is the servers' image: Redis 7.0, Valkey 7.2, or later. The vendor's own image
	// contains no such server; the operator uses its default instead, and condition ImageReplaced says so.
	// +optional
	RedisEnterpriseImageSpec *ImageSpec `json:"redisEnterpriseImageSpec,omitempty"`

	// upgradeSpec sets what an upgrade of the operator may change.
	// +optional
	UpgradeSpec *UpgradeSpec `json:"upgradeSpec,omitempty"`

	// username of the user whose password is in the Secret; default demo@redislabs.com. User default has
	// the same password.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self == '' || self.matches('^[!#-&(-\\\\[\\\\]-~]+$') && !(self in ['default', 'opcrew'])",message="username must consist of letters, digits and signs, without blanks and quotes, such as admin@acme.com; the users default and opcrew are reserved"
	Username string `json:"username,omitempty"`

	// clusterCredentialSecretName names the Secret with username and password; default the name of the object.
	// If it does not exist the operator creates it with a random password.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self == '' || !format.dns1123Subdomain().validate(self).hasValue()",message="clusterCredentialSecretName must be the name of a Secret"
	ClusterCredentialSecretName string `json:"clusterCredentialSecretName,omitempty"`

	// clusterRecovery is accepted and not needed: the operator recovers a cluster by itself. While it is true, condition
	// RecoveryRequested says what is left to recover, and what that waits for.
	// +optional
	ClusterRecovery bool `json:"clusterRecovery,omitempty"`

	// uiServiceType is the type of Service <name>-ui, which serves the status page; default ClusterIP.
	// +optional
	// +kubebuilder:validation:Enum=ClusterIP;NodePort;LoadBalancer
	UIServiceType corev1.ServiceType `json:"uiServiceType,omitempty"`

	// uiAnnotations are annotations of Service <name>-ui.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	UIAnnotations map[string]string `json:"uiAnnotations,omitempty"`

	// certificates are Secrets with certificates.
	// +optional
	Certificates *Certificates `json:"certificates,omitempty"`

	// access lists the clients that may connect, in the words of a NetworkPolicy: podSelector, namespaceSelector or
	// ipBlock. Without it every client may. opcrew's own pods may always.
	// +optional
	Access common.Access `json:"access,omitempty"`

	// services are settings for both Services.
	// +optional
	Services *ServicesSpec `json:"services,omitempty"`

	PodSpec `json:",inline"`

	NotServed `json:",inline"`
}

// RedisEnterpriseClusterList is a list of RedisEnterpriseClusters.
// +kubebuilder:object:root=true
type RedisEnterpriseClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []RedisEnterpriseCluster `json:"items"`
}

// StatusConditions returns the conditions for the reconcile loop to write.
func (c *RedisEnterpriseCluster) StatusConditions() *[]metav1.Condition { return &c.Status.Conditions }

// StatusObservedGeneration returns the observed generation for the reconcile loop to write.
func (c *RedisEnterpriseCluster) StatusObservedGeneration() *int64 {
	return &c.Status.ObservedGeneration
}
