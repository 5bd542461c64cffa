// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/api/common"
)

// PodSpec sets where the pods run, and what they contain in addition to the servers.
type PodSpec struct {
	// extraLabels are added to all children. Keys that the operator sets itself cannot be changed.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	ExtraLabels map[string]string `json:"extraLabels,omitempty"`

	// podAnnotations are added to the pods.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	PodAnnotations map[string]string `json:"podAnnotations,omitempty"`

	// redisEnterprisePodAnnotations are added to the pods, and take precedence over podAnnotations.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	RedisEnterprisePodAnnotations map[string]string `json:"redisEnterprisePodAnnotations,omitempty"`

	// nodeSelector are the labels of nodes on which pods may run.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// podTolerations of the pods.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	PodTolerations []corev1.Toleration `json:"podTolerations,omitempty"`

	// podAntiAffinity of the pods; with it the operator does not spread pods over nodes and zones by itself.
	// +optional
	PodAntiAffinity *corev1.PodAntiAffinity `json:"podAntiAffinity,omitempty"`

	// antiAffinityAdditionalTopologyKeys are labels of nodes; no two pods run on nodes with the same value
	// of one of these, even if a pod then cannot run.
	// +optional
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=317
	// +listType=atomic
	AntiAffinityAdditionalTopologyKeys []string `json:"antiAffinityAdditionalTopologyKeys,omitempty"`

	// rackAwarenessNodeLabel is the label of nodes that names their rack or zone: pods are spread evenly
	// over its values, and run only on nodes that have it.
	// +optional
	// +kubebuilder:validation:MaxLength=317
	RackAwarenessNodeLabel string `json:"rackAwarenessNodeLabel,omitempty"`

	// priorityClassName of the pods.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	PriorityClassName string `json:"priorityClassName,omitempty"`

	// serviceAccountName of the pods; default the name of the object if createServiceAccount is true.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ServiceAccountName string `json:"serviceAccountName,omitempty"`

	// createServiceAccount creates the account, without any rights. Pods need none; its token is not mounted.
	// +optional
	CreateServiceAccount bool `json:"createServiceAccount,omitempty"`

	// pullSecrets are names of Secrets with which images are pulled.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	PullSecrets []PullSecret `json:"pullSecrets,omitempty"`

	// extraEnvVars are environment variables of the servers.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:XValidation:rule="self.all(e, !(e.name in ['POD_IP', 'POD_NAME']))",message="extraEnvVars: POD_IP and POD_NAME are reserved for the operator"
	// +listType=atomic
	ExtraEnvVars []EnvVar `json:"extraEnvVars,omitempty"`

	// hostAliases are added to the hosts file of the pods.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	HostAliases []corev1.HostAlias `json:"hostAliases,omitempty"`

	// volumes are added to the pods; names that begin with opcrew are reserved for the operator. Sources are those of
	// the restricted Pod Security Standard, such as configMap, emptyDir, persistentVolumeClaim and secret.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:XValidation:rule="self.all(v, !v.name.startsWith('opcrew') && v.name != 'redis-enterprise-storage')",message="volumes: redis-enterprise-storage and names that begin with opcrew are reserved for the operator"
	// +kubebuilder:validation:XValidation:rule="self.all(v, !has(v.hostPath) && !has(v.nfs) && !has(v.iscsi) && !has(v.fc) && !has(v.rbd) && !has(v.cephfs) && !has(v.cinder) && !has(v.glusterfs) && !has(v.flexVolume) && !has(v.gitRepo) && !has(v.azureDisk) && !has(v.azureFile) && !has(v.awsElasticBlockStore) && !has(v.gcePersistentDisk) && !has(v.vsphereVolume) && !has(v.portworxVolume) && !has(v.photonPersistentDisk) && !has(v.quobyte) && !has(v.scaleIO) && !has(v.storageos) && !has(v.flocker))",message="volumes: pods meet the restricted Pod Security Standard; use configMap, csi, downwardAPI, emptyDir, ephemeral, image, persistentVolumeClaim, projected or secret"
	// +listType=atomic
	Volumes []corev1.Volume `json:"volumes,omitempty"`

	// redisEnterpriseVolumeMounts are mounts of those volumes in the containers of the servers.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	RedisEnterpriseVolumeMounts []corev1.VolumeMount `json:"redisEnterpriseVolumeMounts,omitempty"`

	// sideContainersSpec are additional containers of the pods. What they set must meet the restricted Pod
	// Security Standard, and what they leave out is set so. The rest is validated when pods are built.
	// +optional
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:XValidation:rule="self.all(c, !has(c.securityContext) || !has(c.securityContext.privileged) || !c.securityContext.privileged)",message="sideContainersSpec: securityContext.privileged: pods meet the restricted Pod Security Standard; leave it out, or write false"
	// +kubebuilder:validation:XValidation:rule="self.all(c, !has(c.securityContext) || !has(c.securityContext.allowPrivilegeEscalation) || !c.securityContext.allowPrivilegeEscalation)",message="sideContainersSpec: securityContext.allowPrivilegeEscalation: pods meet the restricted Pod Security Standard; leave it out, or write false"
	// +kubebuilder:validation:XValidation:rule="self.all(c, !has(c.securityContext) || !has(c.securityContext.capabilities) || !has(c.securityContext.capabilities.add) || c.securityContext.capabilities.add.all(a, a == 'NET_BIND_SERVICE'))",message="sideContainersSpec: securityContext.capabilities.add: pods meet the restricted Pod Security Standard; add at most NET_BIND_SERVICE"
	// +kubebuilder:validation:XValidation:rule="self.all(c, !has(c.securityContext) || !has(c.securityContext.runAsNonRoot) || c.securityContext.runAsNonRoot)",message="sideContainersSpec: securityContext.runAsNonRoot: pods meet the restricted Pod Security Standard; leave it out, or write true"
	// +kubebuilder:validation:XValidation:rule="self.all(c, !has(c.securityContext) || !has(c.securityContext.runAsUser) || c.securityContext.runAsUser != 0)",message="sideContainersSpec: securityContext.runAsUser: pods meet the restricted Pod Security Standard; leave it out, or write the number of a user other than root"
	// +kubebuilder:validation:XValidation:rule="self.all(c, !has(c.securityContext) || !has(c.securityContext.procMount) || c.securityContext.procMount == 'Default')",message="sideContainersSpec: securityContext.procMount: pods meet the restricted Pod Security Standard; leave it out"
	// +kubebuilder:validation:XValidation:rule="self.all(c, !has(c.securityContext) || !has(c.securityContext.seccompProfile) || !has(c.securityContext.seccompProfile.type) || c.securityContext.seccompProfile.type != 'Unconfined')",message="sideContainersSpec: securityContext.seccompProfile.type: pods meet the restricted Pod Security Standard; leave it out, or write RuntimeDefault"
	// +kubebuilder:validation:XValidation:rule="self.all(c, !has(c.securityContext) || !has(c.securityContext.appArmorProfile) || !has(c.securityContext.appArmorProfile.type) || c.securityContext.appArmorProfile.type != 'Unconfined')",message="sideContainersSpec: securityContext.appArmorProfile.type: pods meet the restricted Pod Security Standard; leave it out, or write RuntimeDefault"
	// +kubebuilder:validation:XValidation:rule="self.all(c, !has(c.ports) || c.ports.all(p, !has(p.hostPort) || p.hostPort == 0))",message="sideContainersSpec: ports: a hostPort is a port of the node; leave it out, and use a Service of type NodePort"
	// +kubebuilder:validation:XValidation:rule="self.all(c, !has(c.livenessProbe) || (!has(c.livenessProbe.httpGet) || !has(c.livenessProbe.httpGet.host) || c.livenessProbe.httpGet.host == '') && (!has(c.livenessProbe.tcpSocket) || !has(c.livenessProbe.tcpSocket.host) || c.livenessProbe.tcpSocket.host == ''))",message="sideContainersSpec: livenessProbe: a probe goes to its own pod; leave host out"
	// +kubebuilder:validation:XValidation:rule="self.all(c, !has(c.readinessProbe) || (!has(c.readinessProbe.httpGet) || !has(c.readinessProbe.httpGet.host) || c.readinessProbe.httpGet.host == '') && (!has(c.readinessProbe.tcpSocket) || !has(c.readinessProbe.tcpSocket.host) || c.readinessProbe.tcpSocket.host == ''))",message="sideContainersSpec: readinessProbe: a probe goes to its own pod; leave host out"
	// +kubebuilder:validation:XValidation:rule="self.all(c, !has(c.startupProbe) || (!has(c.startupProbe.httpGet) || !has(c.startupProbe.httpGet.host) || c.startupProbe.httpGet.host == '') && (!has(c.startupProbe.tcpSocket) || !has(c.startupProbe.tcpSocket.host) || c.startupProbe.tcpSocket.host == ''))",message="sideContainersSpec: startupProbe: a probe goes to its own pod; leave host out"
	// +listType=atomic
	SideContainersSpec []common.Container `json:"sideContainersSpec,omitempty"`

	// redisEnterpriseTerminationGracePeriodSeconds is how long a pod has to hand over its primaries and stop; default 60.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=31536000
	RedisEnterpriseTerminationGracePeriodSeconds *int64 `json:"redisEnterpriseTerminationGracePeriodSeconds,omitempty"`
}

// PullSecret names a Secret with which images are pulled.
type PullSecret struct {
	// name of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// EnvVar is an environment variable of the servers.
type EnvVar struct {
	// name of the variable.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name"`
	// value of the variable.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Value string `json:"value,omitempty"`
	// valueFrom takes the value from elsewhere, such as a Secret.
	// +optional
	ValueFrom *corev1.EnvVarSource `json:"valueFrom,omitempty"`
}
