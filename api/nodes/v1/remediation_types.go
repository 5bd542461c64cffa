// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// FencedTaint is the key of a taint with effect NoSchedule on a node whose machine the operator has fenced. Its value
// identifies the boot of the machine that was ended.
const FencedTaint = "opcrew.io/fenced"

// Defaults of a remediation. The operator applies them when it reads a spec, and does not store them in the object.
const (
	// DefaultRemediateAfter is how long a node must not be Ready before it is remediated.
	DefaultRemediateAfter = "5m"
	// DefaultMinHealthy is the smallest share of the pool's nodes that must be Ready.
	DefaultMinHealthy = "51%"
	// DefaultFenceAttempts is how often a fence command is run.
	DefaultFenceAttempts = 3
	// DefaultFencePause is the time, in seconds, between two attempts.
	DefaultFencePause = 60
	// DefaultFenceTimeout is the time, in seconds, that a fence or power status command may run.
	DefaultFenceTimeout = 60
)

// Remediation powers off the machine of a node that is not Ready, so that the pods of the node can run elsewhere.
type Remediation struct {
	// after is how long a node must not be Ready before its machine is fenced, 1m to 24h, such as 90s or 10m; default
	// 5m.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9]{1,5}(s|m|h)$') && duration(self) >= duration('1m') && duration(self) <= duration('24h')",message="after must be a number and s, m or h, at least 1m and at most 24h, such as 5m"
	After string `json:"after,omitempty"`

	// minHealthy is the number or percentage of the pool's nodes that must be Ready; default 51%. While fewer are, no
	// machine of the pool is fenced.
	// +optional
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 1 : self.matches('^(100|[1-9][0-9]?)%$')",message="minHealthy must be a number of nodes, at least 1, or a percentage from 1% to 100%, such as 51%"
	MinHealthy *intstr.IntOrString `json:"minHealthy,omitempty"`

	// fence is the command that powers a machine off. It runs on another host, at most once per attempt, and gets the
	// variables NODE_NAME, NODE_ADDRESS and NODE_PROVIDER_ID. Its exit code is no evidence that the machine is off.
	// +required
	Fence RemediationCommand `json:"fence"`

	// powerStatus is a command that asks for the power of a machine and prints exactly off or on. It gets the same
	// variables as fence. Only if it prints off twice, at least 10 seconds apart, the machine counts as off.
	// +required
	PowerStatus RemediationCommand `json:"powerStatus"`

	// maxAttempts is how often fence is run until powerStatus shows that the machine is off, 1 to 10; default 3.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10
	MaxAttempts *int32 `json:"maxAttempts,omitempty"`

	// pauseSeconds is the time, in seconds, between two attempts, 10 to 3600; default 60.
	// +optional
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=3600
	PauseSeconds *int64 `json:"pauseSeconds,omitempty"`
}

// RemediationCommand is a command that runs as an Activity on a host other than the one that it is about.
// +kubebuilder:validation:XValidation:rule="(has(self.command) && self.command.size() > 0) != (has(self.args) && self.args.size() > 0)",message="set either command, which the host's shell runs, or args, which run without a shell"
type RemediationCommand struct {
	// onNodes are labels of the nodes on which the command may run. Without it, every Ready node may run the command,
	// and nodes outside the control plane come first.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.size() <= 317)",message="the key of a label can have at most 317 characters"
	OnNodes map[string]LabelValue `json:"onNodes,omitempty"`

	// command is a shell command that the host's /bin/sh runs unchanged, at most 16384 characters. Set either command
	// or args.
	// +optional
	// +kubebuilder:validation:MaxLength=16384
	// +kubebuilder:validation:XValidation:rule="!self.contains('\\u0000')",message="a command cannot contain the character NUL"
	Command string `json:"command,omitempty"`

	// args are a program of the host and its arguments, which run without a shell. Set either command or args.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Args []RemediationArg `json:"args,omitempty"`

	// execuser is the user of the host, by name or number, that runs the command; default root.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="!self.contains('\\u0000')",message="a user's name cannot contain the character NUL"
	ExecUser string `json:"execuser,omitempty"`

	// envs are environment variables of the command, each written as KEY=value.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Envs []RemediationEnv `json:"envs,omitempty"`

	// secretEnvs are environment variables whose values come from Secrets in namespace opcrew-activities, such as the
	// password of a BMC. The user who sets them must have permission to get these Secrets.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	SecretEnvs []RemediationSecretEnv `json:"secretEnvs,omitempty"`

	// timeoutSeconds is the time, in seconds, that the command may run, 1 to 3600; default 60.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	TimeoutSeconds *int64 `json:"timeoutSeconds,omitempty"`
}

// RemediationArg is the program of a command, or one argument of it.
// +kubebuilder:validation:MaxLength=4096
// +kubebuilder:validation:XValidation:rule="!self.contains('\\u0000')",message="an argument cannot contain the character NUL"
type RemediationArg string

// RemediationEnv is an environment variable, written as KEY=value.
// +kubebuilder:validation:MaxLength=4096
// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z_][A-Za-z0-9_]*=') && !self.contains('\\u0000')",message="a variable must be KEY=value, with letters, digits and '_' in its key, and without the character NUL"
// +kubebuilder:validation:XValidation:rule="!self.matches('^NODE_(NAME|ADDRESS|PROVIDER_ID)=')",message="the operator sets NODE_NAME, NODE_ADDRESS and NODE_PROVIDER_ID; use another name"
type RemediationEnv string

// RemediationSecretEnv is an environment variable whose value comes from a Secret.
type RemediationSecretEnv struct {
	// name of the environment variable.
	// +required
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z_][A-Za-z0-9_]*$') && !self.matches('^NODE_(NAME|ADDRESS|PROVIDER_ID)$')",message="the name of a variable must consist of letters, digits and '_', and not be one that the operator sets, such as NODE_NAME"
	Name string `json:"name"`

	// secret is the name of a Secret in namespace opcrew-activities.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Secret string `json:"secret"`

	// key in the Secret whose value the variable gets.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key"`
}

// RemediationPhase is how far the remediation of a node is.
// +kubebuilder:validation:Enum=Waiting;Fencing;Verifying;Fenced;Failed
type RemediationPhase string

// Values of RemediationPhase.
const (
	// RemediationWaiting: the node is not Ready, and the message says what the remediation waits for.
	RemediationWaiting RemediationPhase = "Waiting"
	// RemediationFencing: the fence command runs.
	RemediationFencing RemediationPhase = "Fencing"
	// RemediationVerifying: power status commands and peers are asked whether the machine is off.
	RemediationVerifying RemediationPhase = "Verifying"
	// RemediationFenced: there is evidence that the machine is off.
	RemediationFenced RemediationPhase = "Fenced"
	// RemediationFailed: no attempt is left, or the machine runs although it had been reported as off.
	RemediationFailed RemediationPhase = "Failed"
)

// RemediationStatus shows the pool's nodes whose machines are remediated.
type RemediationStatus struct {
	// remediatingNodes is the number of nodes that are not Ready, and for which the operator waits, fences or verifies,
	// or has failed to fence.
	// +optional
	RemediatingNodes int32 `json:"remediatingNodes,omitempty"`

	// fencedNodes is the number of nodes whose machines the operator has fenced and that have not returned.
	// +optional
	FencedNodes int32 `json:"fencedNodes,omitempty"`

	// remediation are the nodes that are remediated, at most 16, those that failed first. Further nodes wait.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Remediation []NodeRemediation `json:"remediation,omitempty"`
}

// NodeRemediation is the remediation of one node. Node, uid, bootID and since identify the outage.
type NodeRemediation struct {
	// node is the name of the node.
	// +required
	Node string `json:"node"`
	// uid is the UID of the node.
	// +required
	UID types.UID `json:"uid"`
	// bootID identifies the boot of the machine that stopped responding.
	// +optional
	BootID string `json:"bootID,omitempty"`
	// since is when the node stopped being Ready.
	// +required
	Since metav1.Time `json:"since"`
	// phase is how far the remediation is: Waiting, Fencing, Verifying, Fenced or Failed.
	// +required
	Phase RemediationPhase `json:"phase"`
	// attempt is the number of the current or last attempt; 0 before the first one.
	// +optional
	Attempt int32 `json:"attempt,omitempty"`
	// attemptFailedAt is when the attempt failed. It is empty while the attempt continues.
	// +optional
	AttemptFailedAt *metav1.Time `json:"attemptFailedAt,omitempty"`
	// evidence says how the operator knows that the machine is off.
	// +optional
	// +listType=atomic
	Evidence []string `json:"evidence,omitempty"`
	// activities are the names of the attempt's Activities in namespace opcrew-activities.
	// +optional
	// +listType=atomic
	Activities []string `json:"activities,omitempty"`
	// message says what the operator waits for, or what is wrong and what to do.
	// +optional
	Message string `json:"message,omitempty"`
}
