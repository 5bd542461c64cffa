// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/api/common"
)

// PodSpec sets on which nodes the pods run, and what the pods contain in addition to the Redis servers.
type PodSpec struct {
	// extraLabels are added to all objects that the operator creates for the cluster. They cannot replace a label that
	// the operator sets. Keys by which opcrew selects pods are reserved, such as those that begin with opcrew.io/,
	// redis.io/ or etcd_.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(k, !(k in ['app.kubernetes.io/managed-by', 'diva-client', 'diva-manager']) && !['opcrew.io/', 'etcd.opcrew.io/', 'redis.opcrew.io/', 'redis.io/', 'etcd_'].exists(p, k.startsWith(p)))",message="extraLabels: app.kubernetes.io/managed-by, diva-client, diva-manager and keys that begin with opcrew.io/, etcd.opcrew.io/, redis.opcrew.io/, redis.io/ or etcd_ are reserved, because opcrew selects pods by them; use other keys"
	ExtraLabels map[string]string `json:"extraLabels,omitempty"`

	// podAnnotations are annotations that are added to the pods.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	PodAnnotations map[string]string `json:"podAnnotations,omitempty"`

	// redisEnterprisePodAnnotations are annotations that are added to the pods. They take precedence over
	// podAnnotations.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	RedisEnterprisePodAnnotations map[string]string `json:"redisEnterprisePodAnnotations,omitempty"`

	// nodeSelector lists the labels that a node must have to run the pods. Without it the pods may run on any node.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// podTolerations are the tolerations of the pods: the node taints that do not keep the pods away.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	PodTolerations []corev1.Toleration `json:"podTolerations,omitempty"`

	// podAntiAffinity of the pods. If it is set, the operator no longer spreads the pods over nodes and zones.
	// +optional
	PodAntiAffinity *corev1.PodAntiAffinity `json:"podAntiAffinity,omitempty"`

	// antiAffinityAdditionalTopologyKeys are keys of node labels. Two pods never run on nodes with the same value of
	// one of these labels, even if a pod then cannot run.
	// +optional
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=317
	// +listType=atomic
	AntiAffinityAdditionalTopologyKeys []string `json:"antiAffinityAdditionalTopologyKeys,omitempty"`

	// rackAwarenessNodeLabel is the key of the node label that names the node's rack or zone. The pods are spread
	// evenly over the values of this label, and run only on nodes that have the label.
	// +optional
	// +kubebuilder:validation:MaxLength=317
	RackAwarenessNodeLabel string `json:"rackAwarenessNodeLabel,omitempty"`

	// priorityClassName is the PriorityClass of the pods. Without it they get the default class of the cluster, if any.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	PriorityClassName string `json:"priorityClassName,omitempty"`

	// serviceAccountName is the ServiceAccount of the pods. The default is the ServiceAccount default, or, if
	// createServiceAccount is true, one with the name of this object.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ServiceAccountName string `json:"serviceAccountName,omitempty"`

	// createServiceAccount makes the operator create the ServiceAccount, without any rights; default false. The pods
	// need no rights, and the token of the ServiceAccount is not mounted.
	// +optional
	CreateServiceAccount bool `json:"createServiceAccount,omitempty"`

	// pullSecrets are Secrets with registry credentials for the pods' images.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	PullSecrets []PullSecret `json:"pullSecrets,omitempty"`

	// extraEnvVars are further environment variables of the Redis servers. POD_IP and POD_NAME are reserved for the
	// operator.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:XValidation:rule="self.all(e, !(e.name in ['POD_IP', 'POD_NAME']))",message="extraEnvVars: POD_IP and POD_NAME are reserved for the operator; use other names"
	// +listType=atomic
	ExtraEnvVars []EnvVar `json:"extraEnvVars,omitempty"`

	// hostAliases are host names and addresses that are added to the hosts file of the pods.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	HostAliases []corev1.HostAlias `json:"hostAliases,omitempty"`

	// volumes are added to the pods. Names that begin with opcrew are reserved for the operator. Only volume types that
	// the restricted Pod Security Standard allows are accepted, such as configMap, emptyDir, persistentVolumeClaim and
	// secret.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:XValidation:rule="self.all(v, !v.name.startsWith('opcrew') && v.name != 'redis-enterprise-storage')",message="volumes: the name redis-enterprise-storage and names that begin with opcrew are reserved for the operator; use another name"
	// +kubebuilder:validation:XValidation:rule="self.all(v, !has(v.hostPath) && !has(v.nfs) && !has(v.iscsi) && !has(v.fc) && !has(v.rbd) && !has(v.cephfs) && !has(v.cinder) && !has(v.glusterfs) && !has(v.flexVolume) && !has(v.gitRepo) && !has(v.azureDisk) && !has(v.azureFile) && !has(v.awsElasticBlockStore) && !has(v.gcePersistentDisk) && !has(v.vsphereVolume) && !has(v.portworxVolume) && !has(v.photonPersistentDisk) && !has(v.quobyte) && !has(v.scaleIO) && !has(v.storageos) && !has(v.flocker))",message="volumes: pods must meet the restricted Pod Security Standard; use configMap, csi, downwardAPI, emptyDir, ephemeral, image, persistentVolumeClaim, projected or secret"
	// +listType=atomic
	Volumes []corev1.Volume `json:"volumes,omitempty"`

	// redisEnterpriseVolumeMounts mount the volumes in spec.volumes into the containers of the Redis servers.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:XValidation:rule="self.all(m, !m.name.startsWith('opcrew'))",message="redisEnterpriseVolumeMounts: volumes whose names begin with opcrew contain keys and programs of the operator; mount a volume of spec.volumes"
	// +listType=atomic
	RedisEnterpriseVolumeMounts []corev1.VolumeMount `json:"redisEnterpriseVolumeMounts,omitempty"`

	// sideContainersSpec are further containers of the pods. Their fields must meet the restricted Pod Security
	// Standard, and fields that are not set get values that meet it. Other errors appear in condition Ready when pods
	// are created.
	// +optional
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:XValidation:rule="self.all(c, !has(c.securityContext) || !has(c.securityContext.privileged) || !c.securityContext.privileged)",message="sideContainersSpec: securityContext.privileged: pods must meet the restricted Pod Security Standard; remove this field, or write false"
	// +kubebuilder:validation:XValidation:rule="self.all(c, !has(c.securityContext) || !has(c.securityContext.allowPrivilegeEscalation) || !c.securityContext.allowPrivilegeEscalation)",message="sideContainersSpec: securityContext.allowPrivilegeEscalation: pods must meet the restricted Pod Security Standard; remove this field, or write false"
	// +kubebuilder:validation:XValidation:rule="self.all(c, !has(c.securityContext) || !has(c.securityContext.capabilities) || !has(c.securityContext.capabilities.add) || c.securityContext.capabilities.add.all(a, a == 'NET_BIND_SERVICE'))",message="sideContainersSpec: securityContext.capabilities.add: pods must meet the restricted Pod Security Standard; add at most NET_BIND_SERVICE"
	// +kubebuilder:validation:XValidation:rule="self.all(c, !has(c.securityContext) || !has(c.securityContext.runAsNonRoot) || c.securityContext.runAsNonRoot)",message="sideContainersSpec: securityContext.runAsNonRoot: pods must meet the restricted Pod Security Standard; remove this field, or write true"
	// +kubebuilder:validation:XValidation:rule="self.all(c, !has(c.securityContext) || !has(c.securityContext.runAsUser) || c.securityContext.runAsUser != 0)",message="sideContainersSpec: securityContext.runAsUser: pods must meet the restricted Pod Security Standard; remove this field, or write the number of a user other than root"
	// +kubebuilder:validation:XValidation:rule="self.all(c, !has(c.securityContext) || !has(c.securityContext.procMount) || c.securityContext.procMount == 'Default')",message="sideContainersSpec: securityContext.procMount: pods must meet the restricted Pod Security Standard; remove this field"
	// +kubebuilder:validation:XValidation:rule="self.all(c, !has(c.securityContext) || !has(c.securityContext.seccompProfile) || !has(c.securityContext.seccompProfile.type) || c.securityContext.seccompProfile.type != 'Unconfined')",message="sideContainersSpec: securityContext.seccompProfile.type: pods must meet the restricted Pod Security Standard; remove this field, or write RuntimeDefault"
	// +kubebuilder:validation:XValidation:rule="self.all(c, !has(c.securityContext) || !has(c.securityContext.appArmorProfile) || !has(c.securityContext.appArmorProfile.type) || c.securityContext.appArmorProfile.type != 'Unconfined')",message="sideContainersSpec: securityContext.appArmorProfile.type: pods must meet the restricted Pod Security Standard; remove this field, or write RuntimeDefault"
	// +kubebuilder:validation:XValidation:rule="self.all(c, !has(c.ports) || c.ports.all(p, !has(p.hostPort) || p.hostPort == 0))",message="sideContainersSpec: ports: hostPort must not be set, because pods must meet the restricted Pod Security Standard; use a Service of type NodePort"
	// +kubebuilder:validation:XValidation:rule="self.all(c, !has(c.livenessProbe) || (!has(c.livenessProbe.httpGet) || !has(c.livenessProbe.httpGet.host) || c.livenessProbe.httpGet.host == '') && (!has(c.livenessProbe.tcpSocket) || !has(c.livenessProbe.tcpSocket.host) || c.livenessProbe.tcpSocket.host == ''))",message="sideContainersSpec: livenessProbe: host must not be set, because a probe connects to its own pod; remove host"
	// +kubebuilder:validation:XValidation:rule="self.all(c, !has(c.readinessProbe) || (!has(c.readinessProbe.httpGet) || !has(c.readinessProbe.httpGet.host) || c.readinessProbe.httpGet.host == '') && (!has(c.readinessProbe.tcpSocket) || !has(c.readinessProbe.tcpSocket.host) || c.readinessProbe.tcpSocket.host == ''))",message="sideContainersSpec: readinessProbe: host must not be set, because a probe connects to its own pod; remove host"
	// +kubebuilder:validation:XValidation:rule="self.all(c, !has(c.startupProbe) || (!has(c.startupProbe.httpGet) || !has(c.startupProbe.httpGet.host) || c.startupProbe.httpGet.host == '') && (!has(c.startupProbe.tcpSocket) || !has(c.startupProbe.tcpSocket.host) || c.startupProbe.tcpSocket.host == ''))",message="sideContainersSpec: startupProbe: host must not be set, because a probe connects to its own pod; remove host"
	// +kubebuilder:validation:XValidation:rule="self.all(c, !has(c.volumeMounts) || c.volumeMounts.all(m, !has(m.name) || !m.name.startsWith('opcrew')))",message="sideContainersSpec: volumeMounts: volumes whose names begin with opcrew contain keys and programs of the operator; mount a volume of spec.volumes"
	// +listType=atomic
	SideContainersSpec []common.Container `json:"sideContainersSpec,omitempty"`

	// redisEnterpriseTerminationGracePeriodSeconds is the time, in seconds, in which a pod that stops must hand its
	// primaries over to their replicas, 1 to 31536000; default 60.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=31536000
	RedisEnterpriseTerminationGracePeriodSeconds *int64 `json:"redisEnterpriseTerminationGracePeriodSeconds,omitempty"`
}

// PullSecret names a Secret with registry credentials.
type PullSecret struct {
	// name of a Secret in the same namespace.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// EnvVar is an environment variable of the Redis servers.
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
	// valueFrom takes the value from another object, such as a Secret.
	// +optional
	ValueFrom *corev1.EnvVarSource `json:"valueFrom,omitempty"`
}
