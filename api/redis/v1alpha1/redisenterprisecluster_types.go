// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
)

// Defaults of a RedisEnterpriseCluster, as in Redis Enterprise. The operator applies them when it reads a spec, and
// does not store them in the object. A value that a user set stays distinguishable from a default.
const (
	DefaultNodes    = 3
	DefaultUsername = "demo@redislabs.com"
	DefaultCPU      = "2"
	DefaultMemory   = "4Gi"
	// DefaultGracePeriodSeconds is the time, in seconds, that a pod has to stop. The default of Redis Enterprise is a
	// year, which would block the draining of nodes.
	DefaultGracePeriodSeconds = 60
)

// Ports of the two servers of a pod: home (usually a primary) and guest (usually a replica). The port of a server's
// cluster bus is the server's own port plus BusOffset.
const (
	HomePort    = 6379
	GuestPort   = 6380
	BusOffset   = 10000
	MetricsPort = 8070
	UIPort      = 8443
)

// Labels of the pods. AppLabel and RoleLabel are those of Redis Enterprise.
const (
	AppLabel     = "app"
	AppName      = "redis-enterprise"
	RoleLabel    = "redis.io/role"
	RoleNode     = "node"
	ClusterLabel = "redis.io/cluster"
)

// AcceptDataLossAnnotation on a RedisEnterpriseCluster accepts that the data of some slots is lost, so that the
// operator assigns these slots again, empty. Condition DataAtRisk shows the value to write: the slots, and a token for
// this loss.
const AcceptDataLossAnnotation = "redis.opcrew.io/accept-data-loss"

// RedisEnterpriseCluster is a Redis cluster of pods. Each pod has a primary, and a replica of another pod's primary.
// The API is that of Redis Enterprise.
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
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 52 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="metadata.name is the name of the Service, and the pods are named <name>-0, <name>-1, ...; use at most 52 lower-case letters, digits and '-', beginning with a letter and ending with a letter or a digit"
type RedisEnterpriseCluster struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the desired state of the cluster. Without it the defaults of Redis Enterprise apply.
	// +optional
	Spec RedisEnterpriseClusterSpec `json:"spec,omitempty"`

	// status is the observed state. In a new object all conditions have status Unknown by default, so that no client
	// mistakes the object for a ready one.
	// +optional
	// +kubebuilder:default={conditions: {{type: "Ready", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "ChildrenReady", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "Available", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "Redundant", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "PodsReady", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "UpToDate", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}}}
	Status RedisEnterpriseClusterStatus `json:"status,omitempty"`
}

// RedisEnterpriseClusterSpec is the desired state of a cluster. Its fields are those of Redis Enterprise, except for
// hibernate, slotMigrationRate, redisConfig and access, which opcrew adds.
// +kubebuilder:validation:XValidation:rule="!has(self.hibernate) || !self.hibernate || has(self.persistentSpec)",message="hibernate: a cluster without spec.persistentSpec would lose all of its data; write persistentSpec: {enabled: true}"
type RedisEnterpriseClusterSpec struct {
	// nodes is the number of pods, 1 to 100, and thereby of shards; default 3. With 3 or more, the cluster survives the
	// loss of any one pod. Before the operator removes pods, it moves their slots to other pods.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self >= 1 && self <= 100",message="nodes must be a number of pods from 1 to 100; to stop a cluster and keep its data, use hibernate"
	Nodes *int32 `json:"nodes,omitempty"`

	// hibernate stops all pods and keeps their claims; default false. When hibernate is false again, the pods start
	// with their data. It requires persistentSpec.
	// +optional
	Hibernate bool `json:"hibernate,omitempty"`

	// slotMigrationRate is the maximum rate at which data moves between pods when slots move, in bytes per second, 64Ki
	// or more. Without it slots move as fast as the servers can. A change also applies to a move in progress.
	// +optional
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 65536 : !self.matches('^ *[0-9]{1,15}([.][0-9]{1,3})? *(m|k|M|G|T|P|Ki|Mi|Gi|Ti|Pi)? *$') || !quantity(self.replace(' ', \"\")).isLessThan(quantity('64Ki'))",message="slotMigrationRate must be in bytes per second, 64Ki or more, such as 50Mi; remove it to move slots as fast as the servers can"
	SlotMigrationRate Amount `json:"slotMigrationRate,omitempty"`

	// redisConfig are settings of redis.conf, such as maxmemory-policy: allkeys-lru. Most of them take effect while the
	// servers run; others restart the pods one after another. Settings on which the cluster depends, such as ports, are
	// refused.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.matches('^[a-z][a-z0-9_-]{0,63}$'))",message="redisConfig: names must be those of redis.conf in lower-case letters, such as maxmemory-policy"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.matches('^(tls-|cluster-announce-|replica-announce-|slave-announce-|unixsocket|enable-)') && !(k in ['port', 'bind', 'bind-source-addr', 'dir', 'dbfilename', 'appendonly', 'appendfilename', 'appenddirname', 'cluster-enabled', 'cluster-port', 'cluster-config-file', 'cluster-require-full-coverage', 'cluster-allow-replica-migration', 'cluster-migration-barrier', 'cluster-replica-validity-factor', 'cluster-slave-validity-factor', 'cluster-replica-no-failover', 'cluster-slave-no-failover', 'requirepass', 'masterauth', 'masteruser', 'primaryauth', 'primaryuser', 'aclfile', 'user', 'include', 'loadmodule', 'rename-command', 'daemonize', 'supervised', 'pidfile', 'logfile', 'protected-mode', 'replicaof', 'slaveof', 'maxmemory', 'databases', 'cluster-databases']))",message="redisConfig: settings of ports, files, users, replication, modules, tls-*, enable-* and cluster-announce-* are set by the operator; maxmemory follows from redisEnterpriseNodeResources, and a cluster has only database 0; remove these settings"
	RedisConfig map[string]Setting `json:"redisConfig,omitempty"`

	// persistentSpec gives every pod a volume. Without it the data is only in memory: a cluster that loses all of its
	// pods loses its data.
	// +optional
	PersistentSpec *PersistentSpec `json:"persistentSpec,omitempty"`

	// redisEnterpriseNodeResources are the resources of a pod, half for each of its two servers; default 2 CPU and 4Gi.
	// opcrew's agent container gets 50m and 64Mi in addition. Each server uses 3/4 of its memory limit for data. Blanks
	// in an amount are ignored.
	// +optional
	RedisEnterpriseNodeResources *Resources `json:"redisEnterpriseNodeResources,omitempty"`

	// redisEnterpriseImageSpec is the image of the servers: Redis 7.0, Valkey 7.2, or a later version. The image of
	// Redis Enterprise contains no server that opcrew can run, so the operator replaces it with its default image, and
	// condition ImageReplaced reports that.
	// +optional
	RedisEnterpriseImageSpec *ImageSpec `json:"redisEnterpriseImageSpec,omitempty"`

	// upgradeSpec sets whether an upgrade of the operator may change the image of the servers.
	// +optional
	UpgradeSpec *UpgradeSpec `json:"upgradeSpec,omitempty"`

	// username is the name of the Redis user for clients; default demo@redislabs.com. The Secret that
	// clusterCredentialSecretName names contains its password. The Redis user named default has the same password.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self == '' || self.matches('^[!#-&(-\\\\[\\\\]-~]+$') && !(self in ['default', 'opcrew'])",message="username must consist of letters, digits and punctuation without blanks, quotes and backslashes, such as admin@acme.com; the users default and opcrew are reserved"
	Username string `json:"username,omitempty"`

	// clusterCredentialSecretName is the name of the Secret with username and password; default the name of this
	// object. If the Secret does not exist, the operator creates it with a random password.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self == '' || !format.dns1123Subdomain().validate(self).hasValue()",message="clusterCredentialSecretName must be the name of a Secret"
	ClusterCredentialSecretName string `json:"clusterCredentialSecretName,omitempty"`

	// clusterRecovery is accepted and not needed, because the operator always recovers a cluster. While it is true,
	// condition RecoveryRequested shows which slots are not recovered yet, and what the operator is waiting for.
	// +optional
	ClusterRecovery bool `json:"clusterRecovery,omitempty"`

	// uiServiceType is the type of the Service <name>-ui for the status page: ClusterIP (the default), NodePort or
	// LoadBalancer.
	// +optional
	// +kubebuilder:validation:Enum=ClusterIP;NodePort;LoadBalancer
	UIServiceType corev1.ServiceType `json:"uiServiceType,omitempty"`

	// uiAnnotations are added to the Service <name>-ui for the status page.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	UIAnnotations map[string]string `json:"uiAnnotations,omitempty"`

	// certificates are the names of Secrets with certificates.
	// +optional
	Certificates *Certificates `json:"certificates,omitempty"`

	// access lists the clients that may connect, as peers of a NetworkPolicy: podSelector, namespaceSelector or
	// ipBlock. Without it every client may connect. opcrew's own pods may always connect.
	// +optional
	Access common.Access `json:"access,omitempty"`

	// services are settings of the Services for clients and for the status page.
	// +optional
	Services *ServicesSpec `json:"services,omitempty"`

	PodSpec `json:",inline"`

	NotServed `json:",inline"`
}

// RedisEnterpriseClusterList is a list of RedisEnterpriseCluster objects.
// +kubebuilder:object:root=true
type RedisEnterpriseClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []RedisEnterpriseCluster `json:"items"`
}

// StatusConditions returns a pointer to the conditions in the status, so that the reconcile loop can set them.
func (c *RedisEnterpriseCluster) StatusConditions() *[]metav1.Condition { return &c.Status.Conditions }

// StatusObservedGeneration returns a pointer to status.observedGeneration, so that the reconcile loop can set it.
func (c *RedisEnterpriseCluster) StatusObservedGeneration() *int64 {
	return &c.Status.ObservedGeneration
}
