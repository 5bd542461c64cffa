// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
)

// Defaults of a MicroServiceDeploy. They are computed and not stored, so that a value that
// the user set can always be distinguished from a default.
const (
	DefaultReplicas = 1
	// DefaultPort is the port of the Service, DefaultTargetPort the port of the container,
	// which the variable PORT gives it.
	DefaultPort       = 80
	DefaultTargetPort = 8080
	// DefaultCPUPercent is the target of autoscaling: percent of the requested CPU.
	DefaultCPUPercent = 80
)

// MicroServiceDeploy is one instance of a platform's microservice.
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
// +kubebuilder:validation:XValidation:rule="(has(self.spec.fullName) ? self.spec.fullName : self.metadata.name).size() <= 46 && (has(self.spec.fullName) ? self.spec.fullName : self.metadata.name).matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="spec.fullName, or metadata.name without one, names the Service and all other objects of the instance; use 46 characters at most, lower-case letters, digits and '-', beginning with a letter"
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 63",message="metadata.name is a label on all objects of the instance; use 63 characters at most"
// +kubebuilder:validation:XValidation:rule="(has(self.spec.fullName) ? self.spec.fullName : self.metadata.name) == (has(oldSelf.spec.fullName) ? oldSelf.spec.fullName : oldSelf.metadata.name)",message="spec.fullName cannot change, as all objects of the instance have this name; create another instance"
type MicroServiceDeploy struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the desired instance.
	// +required
	Spec MicroServiceDeploySpec `json:"spec"`

	// status is the observed state. Its default keeps clients from taking a new object for a ready one.
	// +optional
	// +kubebuilder:default={replicas: 0, readyReplicas: 0, conditions: {{type: "Ready", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "ChildrenReady", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "RolledOut", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "Available", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}}}
	Status MicroServiceDeployStatus `json:"status,omitempty"`
}

// MicroServiceDeploySpec is the desired instance.
// +kubebuilder:validation:XValidation:rule="!has(self.configFrom) || !has(self.config)",message="set config or configFrom, not both"
// +kubebuilder:validation:XValidation:rule="!has(self.maxReplicas) || self.maxReplicas >= (has(self.replicas) ? self.replicas : 1)",message="maxReplicas must not be lower than replicas"
// +kubebuilder:validation:XValidation:rule="!has(self.gateway) || has(self.baseDomain)",message="a gateway needs a baseDomain to serve"
// +kubebuilder:validation:XValidation:rule="!has(self.needAuth) || !self.needAuth || !has(self.ports) || self.ports.size() == 0 || self.ports.exists(p, !has(p.protocol) || p.protocol == 'TCP')",message="needAuth protects TCP ports, and there is none; add one, or leave needAuth out"
// +kubebuilder:validation:XValidation:rule="!has(self.quota) || self.quota != 'PriorityClass' || !has(self.pod) || !has(self.pod.priorityClassName)",message="quota: PriorityClass counts pods by the class that it gives them, opcrew-microservices; leave pod.priorityClassName out, or use quota: Namespace"
type MicroServiceDeploySpec struct {
	// msName is the name of the microservice, of which this is one instance.
	// +required
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z]([-a-z0-9]*[a-z0-9])?$`
	MsName string `json:"msName"`

	// fullName is the name of this instance and of all its objects; default metadata.name. It cannot change.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	FullName string `json:"fullName,omitempty"`

	// version of this instance, such as 1.0.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$`
	Version string `json:"version,omitempty"`

	// path is the major version, such as v1. It is part of the host name: several major
	// versions of a microservice run side by side.
	// +optional
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Path string `json:"path,omitempty"`

	// image of the instance. Ready reports an invalid reference, and running pods continue.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image"`

	// replicas is the number of pods, 0 to 1000, and the lowest number with autoscaling; default 1.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	Replicas *int32 `json:"replicas,omitempty"`

	// autoscaling makes the number of pods follow their load, from replicas to maxReplicas.
	// +optional
	Autoscaling bool `json:"autoscaling,omitempty"`

	// maxReplicas is the highest number of pods with autoscaling; default twice replicas, 3 at least.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	MaxReplicas *int32 `json:"maxReplicas,omitempty"`

	// metrics that autoscaling follows, as in a HorizontalPodAutoscaler; default 80 % of the requested CPU.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	Metrics []Metric `json:"metrics,omitempty"`

	// needAuth requires a user and password of the tenant (HTTP basic auth). The application
	// gets the user's name in the header X-Forwarded-User.
	// +optional
	NeedAuth bool `json:"needAuth,omitempty"`

	// auth sets other credentials for needAuth than those of the tenant.
	// +optional
	Auth *Auth `json:"auth,omitempty"`

	// config is the instance's configuration: lines of key=value, mounted as files under
	// /etc/microservice and set as environment. A change replaces the pods; see rollbackTo.
	// +optional
	// +kubebuilder:validation:MaxLength=262144
	Config string `json:"config,omitempty"`

	// configAs is the kind of object that holds config: ConfigMap (the default) or Secret.
	// +optional
	// +kubebuilder:validation:Enum=ConfigMap;Secret
	ConfigAs ConfigAs `json:"configAs,omitempty"`

	// configFrom takes the configuration from a Secret instead: keys become files and environment variables.
	// A change takes effect at once if the Secret has the label opcrew.io/watch: "true", otherwise within an hour.
	// +optional
	ConfigFrom *ConfigFrom `json:"configFrom,omitempty"`

	// rollbackTo is a revision of status.revisions whose image and configuration run instead
	// of those of the spec.
	// +optional
	// +kubebuilder:validation:Minimum=1
	RollbackTo *int64 `json:"rollbackTo,omitempty"`

	// creationTimestamp is accepted and has no effect.
	//
	// Deprecated: an object has its own in metadata.
	// +optional
	CreationTimestamp Text `json:"creationTimestamp,omitempty"`

	// resourceRequirements of each pod's container.
	// +optional
	ResourceRequirements common.Resources `json:"resourceRequirements,omitzero"`

	// idle unloads the instance: no pods, no autoscaling, no share of the quota; false loads it again.
	// +optional
	Idle bool `json:"idle,omitempty"`

	// quota limits the tenant's use of the cluster. Namespace (the default): one ResourceQuota
	// for all instances of a namespace without pods of other owners. PriorityClass: one for the
	// instances of a namespace that set this value; their pods get a class of priority 0, which
	// the quota selects. None: no limit.
	// +optional
	// +kubebuilder:validation:Enum=Namespace;PriorityClass;None
	Quota QuotaMode `json:"quota,omitempty"`

	// ports that the instance serves; default 80, forwarded to port 8080 of the container,
	// which the variable PORT gives it.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule="self.all(p, self.exists_one(q, q.port == p.port && (has(q.protocol) ? q.protocol : 'TCP') == (has(p.protocol) ? p.protocol : 'TCP')))",message="a port is listed twice: each port and protocol can be served once"
	// +kubebuilder:validation:XValidation:rule="self.all(p, !has(p.name) || self.exists_one(q, has(q.name) && q.name == p.name))",message="two ports have the same name"
	// +kubebuilder:validation:XValidation:rule="self.all(p, !has(p.targetPort) || type(p.targetPort) == int || self.exists_one(q, has(q.targetPort) && type(q.targetPort) == string && q.targetPort == p.targetPort))",message="two ports have the same targetPort name: a name stands for one port of the container"
	// +kubebuilder:validation:XValidation:rule="self.all(p, !has(p.nodePort) || p.nodePort == 0 || self.exists_one(q, has(q.nodePort) && q.nodePort == p.nodePort && (has(q.protocol) ? q.protocol : 'TCP') == (has(p.protocol) ? p.protocol : 'TCP')))",message="two ports have the same nodePort"
	Ports []common.Port `json:"ports,omitempty"`

	// probes of the container; default a readiness probe that connects to the first port.
	// +optional
	Probes *common.Probes `json:"probes,omitempty"`

	// envs is added to the environment of the container, and takes precedence over config.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:XValidation:rule="self.all(e, !has(e.valueFrom) || !has(e.valueFrom.resourceFieldRef) || !has(e.valueFrom.resourceFieldRef.divisor) || type(e.valueFrom.resourceFieldRef.divisor) == int || e.valueFrom.resourceFieldRef.divisor in ['0', '1', '1m', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'])",message="divisor of a resourceFieldRef must be 1 or 1m, or 1 with a unit of memory, such as 1Mi"
	Envs []corev1.EnvVar `json:"envs,omitempty"`

	// imagePullSecrets are Secrets with the credentials of the image's registry.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`

	// baseDomain of the host names: <path>-<msName>.<baseDomain> for each major version, and
	// <msName>.<baseDomain> for one of them, see current. Without it there is no host name.
	// +optional
	// +kubebuilder:validation:MaxLength=190
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$`
	BaseDomain string `json:"baseDomain,omitempty"`

	// gateway that serves the host names with an HTTPRoute. Without it, or where Gateway API is
	// not installed, an Ingress serves them.
	// +optional
	Gateway *Gateway `json:"gateway,omitempty"`

	// ingressClassName of the Ingress; without it the default class of the cluster.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	IngressClassName string `json:"ingressClassName,omitempty"`

	// current claims <msName>.<baseDomain> for this major version. By default the oldest instance
	// of the microservice has it.
	// +optional
	Current *bool `json:"current,omitempty"`

	// securityProfile Restricted has pods meet the restricted Pod Security Standard: no container runs as
	// root or has capabilities. Without it pods are so only in a namespace that enforces that standard.
	// +optional
	SecurityProfile common.SecurityProfile `json:"securityProfile,omitempty"`

	// pod sets where the pods run, and labels and annotations for other tools.
	// +optional
	Pod *common.PodOverride `json:"pod,omitempty"`
}

// ConfigAs is the kind of object that holds the configuration.
type ConfigAs string

// The values of ConfigAs.
const (
	ConfigAsConfigMap ConfigAs = "ConfigMap"
	ConfigAsSecret    ConfigAs = "Secret"
)

// QuotaMode is how the use of the cluster is limited.
type QuotaMode string

// The values of QuotaMode.
const (
	QuotaNamespace     QuotaMode = "Namespace"
	QuotaPriorityClass QuotaMode = "PriorityClass"
	QuotaNone          QuotaMode = "None"
)

// QuotaPriorityClassName is the class of the pods that a quota by PriorityClass counts. It
// is installed with the operator. Its priority is 0, like that of pods without a class in a
// cluster without a default one.
const QuotaPriorityClassName = "opcrew-microservices"

// Auth sets the credentials that clients need.
type Auth struct {
	// secretRef is a Secret whose key htpasswd has lines of user:hash, with hashes of bcrypt or {SHA}.
	// +required
	SecretRef SecretRef `json:"secretRef"`
}

// ConfigFrom is a source of configuration.
type ConfigFrom struct {
	// secretRef is a Secret whose keys are the configuration.
	// +required
	SecretRef SecretRef `json:"secretRef"`
}

// SecretRef names a Secret of the same namespace.
type SecretRef struct {
	// name of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// Gateway names a Gateway of Gateway API.
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
	// listener is the section of the Gateway to attach to; default all that accept the host name.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Listener string `json:"listener,omitempty"`
}

// MicroServiceDeployList is a list of MicroServiceDeploys.
// +kubebuilder:object:root=true
type MicroServiceDeployList struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []MicroServiceDeploy `json:"items"`
}
