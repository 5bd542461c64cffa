// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
)

// Defaults of a MicroServiceDeploy. The operator applies them when it reads a spec, and does not store them in the
// object. A value that a user set stays distinguishable from a default.
const (
	DefaultReplicas = 1
	// DefaultPort is the port of the Service, and DefaultTargetPort the port of the container. The container finds its
	// port in the environment variable PORT.
	DefaultPort       = 80
	DefaultTargetPort = 8080
	// DefaultCPUPercent is the default target of autoscaling: the average CPU use of the pods, in percent of their
	// requests.
	DefaultCPUPercent = 80
)

// MicroServiceDeploy is one instance of a microservice on a shared platform.
// +kubebuilder:object:root=true
// +kubebuilder:metadata:labels="app.kubernetes.io/part-of=opcrew"
// +kubebuilder:resource:categories=opcrew,shortName=msd
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:printcolumn:name="Version",type=string,JSONPath=`.spec.version`
// +kubebuilder:printcolumn:name="Replicas",type=integer,JSONPath=`.status.replicas`
// +kubebuilder:printcolumn:name="ReadyPods",type=integer,JSONPath=`.status.readyReplicas`
// +kubebuilder:printcolumn:name="Idle",type=boolean,JSONPath=`.spec.idle`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="URL",type=string,JSONPath=`.status.url`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
// +kubebuilder:validation:XValidation:rule="(has(self.spec.fullName) ? self.spec.fullName : self.metadata.name).size() <= 46 && (has(self.spec.fullName) ? self.spec.fullName : self.metadata.name).matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="spec.fullName (default metadata.name) is the name of the Service and of all other objects of the instance; use at most 46 lower-case letters, digits and '-', beginning with a letter and ending with a letter or a digit"
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 63",message="metadata.name is the value of a label on all objects of the instance; use at most 63 characters"
// +kubebuilder:validation:XValidation:rule="(has(self.spec.fullName) ? self.spec.fullName : self.metadata.name) == (has(oldSelf.spec.fullName) ? oldSelf.spec.fullName : oldSelf.metadata.name)",message="spec.fullName cannot change, because all objects of the instance have this name; create another instance"
type MicroServiceDeploy struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the desired state of the instance.
	// +required
	Spec MicroServiceDeploySpec `json:"spec"`

	// status is the observed state. In a new object all conditions have status Unknown by default, so that no client
	// mistakes the object for a ready one.
	// +optional
	// +kubebuilder:default={replicas: 0, readyReplicas: 0, conditions: {{type: "Ready", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "ChildrenReady", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "RolledOut", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "Available", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}}}
	Status MicroServiceDeployStatus `json:"status,omitempty"`
}

// MicroServiceDeploySpec is the desired state of an instance.
// +kubebuilder:validation:XValidation:rule="!has(self.configFrom) || !has(self.config)",message="set config or configFrom, not both"
// +kubebuilder:validation:XValidation:rule="!has(self.maxReplicas) || self.maxReplicas >= (has(self.replicas) ? self.replicas : 1)",message="maxReplicas must not be lower than replicas"
// +kubebuilder:validation:XValidation:rule="!has(self.gateway) || has(self.baseDomain)",message="a gateway needs a baseDomain; set baseDomain, or remove gateway"
// +kubebuilder:validation:XValidation:rule="!has(self.needAuth) || !self.needAuth || !has(self.ports) || self.ports.size() == 0 || self.ports.exists(p, !has(p.protocol) || p.protocol == 'TCP')",message="needAuth protects TCP ports, but spec.ports has no TCP port; add a TCP port, or remove needAuth"
// +kubebuilder:validation:XValidation:rule="!has(self.quota) || self.quota != 'PriorityClass' || !has(self.pod) || !has(self.pod.priorityClassName)",message="quota: PriorityClass counts the pods that have the PriorityClass opcrew-microservices, which the operator sets; remove pod.priorityClassName, or use quota: Namespace"
type MicroServiceDeploySpec struct {
	// msName is the name of the microservice to which this instance belongs.
	// +required
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z]([-a-z0-9]*[a-z0-9])?$`
	MsName string `json:"msName"`

	// fullName is the name of all objects of this instance, such as the Service; default metadata.name. It cannot
	// change.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	FullName string `json:"fullName,omitempty"`

	// version of the microservice in this instance, such as 1.0. It becomes the label app.kubernetes.io/version, so a
	// change replaces the pods.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$`
	Version string `json:"version,omitempty"`

	// path is the major version of the microservice, such as v1. It is part of the host name, so several major versions
	// can run side by side.
	// +optional
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Path string `json:"path,omitempty"`

	// image of the instance. If the image reference is invalid, condition Ready reports it, and running pods continue.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image"`

	// replicas is the number of pods, 0 to 1000; default 1. With autoscaling it is the lowest number of pods.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	Replicas *int32 `json:"replicas,omitempty"`

	// autoscaling adapts the number of pods to their load, between replicas and maxReplicas; default false.
	// +optional
	Autoscaling bool `json:"autoscaling,omitempty"`

	// maxReplicas is the highest number of pods with autoscaling, 1 to 1000; default twice replicas, and at least 3.
	// Without autoscaling it has no effect.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	MaxReplicas *int32 `json:"maxReplicas,omitempty"`

	// metrics are the metrics by which the autoscaler scales, as in a HorizontalPodAutoscaler. The default is a CPU use
	// of 80 % of what the pods request. The metrics have no effect without autoscaling.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	Metrics []Metric `json:"metrics,omitempty"`

	// needAuth makes clients log in with a user name and a password of the tenant (HTTP basic authentication); default
	// false. The application finds the user name in the header X-Forwarded-User.
	// +optional
	NeedAuth bool `json:"needAuth,omitempty"`

	// auth replaces the tenant's credentials for needAuth with those in a Secret.
	// +optional
	Auth *Auth `json:"auth,omitempty"`

	// config is the configuration of the instance: lines of key=value. The container gets each value as a file in
	// /etc/microservice and as an environment variable. A change replaces the pods, and rollbackTo can revert it.
	// +optional
	// +kubebuilder:validation:MaxLength=262144
	Config string `json:"config,omitempty"`

	// configAs is the kind of object in which the operator stores config: ConfigMap (the default) or Secret.
	// +optional
	// +kubebuilder:validation:Enum=ConfigMap;Secret
	ConfigAs ConfigAs `json:"configAs,omitempty"`

	// configFrom takes the configuration from a Secret instead of config: its keys become files and environment
	// variables. The operator notices a change of the Secret within an hour, or at once if it has the label
	// opcrew.io/watch: "true".
	// +optional
	ConfigFrom *ConfigFrom `json:"configFrom,omitempty"`

	// rollbackTo is the number of a revision in status.revisions. The instance then runs the image and the
	// configuration of that revision instead of those in the spec.
	// +optional
	// +kubebuilder:validation:Minimum=1
	RollbackTo *int64 `json:"rollbackTo,omitempty"`

	// creationTimestamp is accepted and has no effect.
	//
	// Deprecated: metadata.creationTimestamp is the creation time of the object.
	// +optional
	CreationTimestamp Text `json:"creationTimestamp,omitempty"`

	// resourceRequirements are the resources of the container in each pod. Without them it has no requests and no
	// limits.
	// +optional
	ResourceRequirements common.Resources `json:"resourceRequirements,omitzero"`

	// idle stops the instance: it then has no pods, no autoscaling and no share of the quota. When idle is false again,
	// the instance starts; default false.
	// +optional
	Idle bool `json:"idle,omitempty"`

	// quota selects the ResourceQuota that limits what the tenant uses. Namespace (the default): one quota for all pods
	// of the namespace, if all of them belong to MicroServiceDeploys. PriorityClass: one quota for the pods of all
	// instances with this value; they get a PriorityClass of priority 0. None: no quota.
	// +optional
	// +kubebuilder:validation:Enum=Namespace;PriorityClass;None
	Quota QuotaMode `json:"quota,omitempty"`

	// ports that the instance serves. The default is port 80, which the Service forwards to port 8080 of the container.
	// The container finds its port in the environment variable PORT.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule="self.all(p, self.exists_one(q, q.port == p.port && (has(q.protocol) ? q.protocol : 'TCP') == (has(p.protocol) ? p.protocol : 'TCP')))",message="a port is listed twice; list each combination of port and protocol only once"
	// +kubebuilder:validation:XValidation:rule="self.all(p, !has(p.name) || self.exists_one(q, has(q.name) && q.name == p.name))",message="two ports have the same name; use another name for one of them"
	// +kubebuilder:validation:XValidation:rule="self.all(p, !has(p.targetPort) || type(p.targetPort) == int || self.exists_one(q, has(q.targetPort) && type(q.targetPort) == string && q.targetPort == p.targetPort))",message="two ports have the same targetPort name; a name stands for one port of the container, so use another name"
	// +kubebuilder:validation:XValidation:rule="self.all(p, !has(p.nodePort) || p.nodePort == 0 || self.exists_one(q, has(q.nodePort) && q.nodePort == p.nodePort && (has(q.protocol) ? q.protocol : 'TCP') == (has(p.protocol) ? p.protocol : 'TCP')))",message="two ports have the same nodePort; use another nodePort for one of them"
	Ports []common.Port `json:"ports,omitempty"`

	// probes of the container. The default is a readiness probe that connects to the first port.
	// +optional
	Probes *common.Probes `json:"probes,omitempty"`

	// envs are further environment variables of the container. They take precedence over config.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:XValidation:rule="self.all(e, !has(e.valueFrom) || !has(e.valueFrom.resourceFieldRef) || !has(e.valueFrom.resourceFieldRef.divisor) || type(e.valueFrom.resourceFieldRef.divisor) == int || e.valueFrom.resourceFieldRef.divisor in ['0', '1', '1m', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'])",message="the divisor of a resourceFieldRef must be 1 or 1m, or 1 with a unit of memory, such as 1Mi"
	Envs []corev1.EnvVar `json:"envs,omitempty"`

	// imagePullSecrets are Secrets with the credentials of the image's registry.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`

	// baseDomain is the domain of the host names: <path>-<msName>.<baseDomain> for each major version, and
	// <msName>.<baseDomain> for the one that current selects. Without it the instance has no host name.
	// +optional
	// +kubebuilder:validation:MaxLength=190
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$`
	BaseDomain string `json:"baseDomain,omitempty"`

	// gateway is the Gateway that serves the host names, through an HTTPRoute. Without it, or if the Gateway API is not
	// installed, an Ingress serves them.
	// +optional
	Gateway *Gateway `json:"gateway,omitempty"`

	// ingressClassName is the IngressClass of the Ingress. Without it the Ingress gets the default class of the
	// cluster.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	IngressClassName string `json:"ingressClassName,omitempty"`

	// current claims the host name <msName>.<baseDomain> for this major version. By default the oldest instance of the
	// microservice has it.
	// +optional
	Current *bool `json:"current,omitempty"`

	// securityProfile Restricted makes the pods meet the restricted Pod Security Standard: no container runs as root or
	// has capabilities. Without it they meet that standard only if the namespace enforces it.
	// +optional
	SecurityProfile common.SecurityProfile `json:"securityProfile,omitempty"`

	// pod sets the nodes on which the pods may run, and labels and annotations for other tools.
	// +optional
	Pod *common.PodOverride `json:"pod,omitempty"`
}

// ConfigAs is the kind of object in which the operator stores the configuration.
type ConfigAs string

// Values of ConfigAs.
const (
	ConfigAsConfigMap ConfigAs = "ConfigMap"
	ConfigAsSecret    ConfigAs = "Secret"
)

// QuotaMode selects the ResourceQuota that limits what the tenant uses.
type QuotaMode string

// Values of QuotaMode: one quota per namespace, one quota for a PriorityClass, or no quota.
const (
	QuotaNamespace     QuotaMode = "Namespace"
	QuotaPriorityClass QuotaMode = "PriorityClass"
	QuotaNone          QuotaMode = "None"
)

// QuotaPriorityClassName is the PriorityClass of the pods that a quota with mode PriorityClass counts. It is installed
// with the operator. Its priority is 0, so the scheduler treats the pods like pods without a class.
const QuotaPriorityClassName = "opcrew-microservices"

// Auth sets the credentials with which clients log in.
type Auth struct {
	// secretRef is a Secret whose key htpasswd contains one user per line, as user:hash. Hashes are bcrypt or {SHA}.
	// +required
	SecretRef SecretRef `json:"secretRef"`
}

// ConfigFrom is a Secret with the configuration.
type ConfigFrom struct {
	// secretRef is a Secret whose keys are the keys of the configuration.
	// +required
	SecretRef SecretRef `json:"secretRef"`
}

// SecretRef names a Secret in the same namespace.
type SecretRef struct {
	// name of a Secret in the same namespace.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// Gateway names a Gateway of the Gateway API.
type Gateway struct {
	// name of the Gateway.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// namespace of the Gateway; default the namespace of the instance.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`
	// listener is the name of the listener (section) of the Gateway that serves the host names. Without it all
	// listeners that accept the host names serve them.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Listener string `json:"listener,omitempty"`
}

// MicroServiceDeployList is a list of MicroServiceDeploy objects.
// +kubebuilder:object:root=true
type MicroServiceDeployList struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []MicroServiceDeploy `json:"items"`
}
