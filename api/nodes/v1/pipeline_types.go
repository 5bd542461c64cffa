// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// JoiningTaint is the key of a taint with effect NoSchedule that a node carries while it joins a pool with spec.onJoin.
const JoiningTaint = "opcrew.io/nodepool-joining"

// Defaults of a pipeline. The operator applies them when it reads a spec, and does not store them in the object.
const (
	// DefaultPipelineTimeout is the time, in seconds, that a pipeline may take.
	DefaultPipelineTimeout = 1800
	// DefaultJoinPolicy and DefaultLeavePolicy are the failure policies of spec.onJoin and spec.onLeave.
	DefaultJoinPolicy  = FailurePolicyBlock
	DefaultLeavePolicy = FailurePolicyContinue
)

// Pipelines are the commands that run on nodes when they join or leave the pool.
type Pipelines struct {
	// onJoin runs on each node that joins the pool. Until it has ended, the node carries the taint
	// opcrew.io/nodepool-joining:NoSchedule. It does not run on nodes that are members already when the field is set or
	// changed. Who sets this field is root on the nodes, and needs the verb run on resource hosts, and the verb run-as
	// on resource hostusers, of group ego.example.com.
	// +optional
	OnJoin *Pipeline `json:"onJoin,omitempty"`

	// onLeave runs on each node that leaves the pool, also because the pool is deleted. Until it has ended, the node
	// keeps the labels, taints and annotations of the pool, except the role label. It needs the same rights as onJoin.
	// +optional
	OnLeave *Pipeline `json:"onLeave,omitempty"`
}

// FailurePolicy is what happens when a step of a pipeline has failed.
// +kubebuilder:validation:Enum=Block;Continue
type FailurePolicy string

// Values of FailurePolicy: Block ends the pipeline, and Continue runs the next step.
const (
	FailurePolicyBlock    FailurePolicy = "Block"
	FailurePolicyContinue FailurePolicy = "Continue"
)

// Pipeline is a list of commands that run on a node one after the other.
type Pipeline struct {
	// steps are the commands, 1 to 8. Each runs after the previous one has ended, as an Activity in namespace
	// opcrew-activities.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:XValidation:rule="self.all(s, self.exists_one(t, t.name == s.name))",message="two steps have the same name; give each step of a pipeline its own name"
	Steps []Step `json:"steps"`

	// timeoutSeconds is the time, in seconds, that all steps together may take, 1 to 604800; default 1800. When it has
	// passed, the running step is cancelled. A node that leaves is then cleaned up.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=604800
	TimeoutSeconds *int64 `json:"timeoutSeconds,omitempty"`

	// failurePolicy decides what happens when a step has failed and has no retry left. Block (the default of onJoin)
	// ends the pipeline: a node that joins keeps the taint, and a node that leaves is cleaned up after timeoutSeconds.
	// Continue (the default of onLeave) runs the next step, and a node that joins loses the taint at the end.
	// +optional
	FailurePolicy FailurePolicy `json:"failurePolicy,omitempty"`
}

// Step is one command of a pipeline.
type Step struct {
	// name of the step: lower-case letters, digits and '-', at most 40 characters.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="the name of a step must consist of lower-case letters, digits and '-', such as open-firewall"
	Name string `json:"name"`

	// retries is how often the step is repeated after a failure, 0 to 10; default 0. A repeated step runs its command
	// again, so the command must allow this.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10
	Retries int32 `json:"retries,omitempty"`

	// template is the command of the step, with the fields of an Activity.
	// +required
	Template ActivityTemplate `json:"template"`
}

// ActivityTemplate has those fields of an Activity that a step of a pipeline can set. The command also reaches a node
// that is cordoned, tainted or full, as with placement Repair of an Activity.
// +kubebuilder:validation:XValidation:rule="(has(self.command) && self.command.size() > 0) != (has(self.args) && self.args.size() > 0)",message="set either command, which the host's shell runs, or args, which run without a shell"
type ActivityTemplate struct {
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
	Args []StepArg `json:"args,omitempty"`

	// execuser is the user of the host, by name or number, that runs the command; default root.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="!self.contains('\\u0000')",message="a user's name cannot contain the character NUL"
	ExecUser string `json:"execuser,omitempty"`

	// execcwd is the working directory of the command, an absolute path on the host; default /.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	// +kubebuilder:validation:XValidation:rule="self.size() == 0 || self.startsWith('/') && !self.contains('\\u0000')",message="execcwd must be an absolute path on the host, such as /tmp"
	ExecCwd string `json:"execcwd,omitempty"`

	// envs are environment variables of the command, each written as KEY=value.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Envs []StepEnv `json:"envs,omitempty"`

	// startDeadlineSeconds is the time, in seconds, in which the host must start the command, 1 to 604800; default 300.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=604800
	StartDeadlineSeconds *int64 `json:"startDeadlineSeconds,omitempty"`

	// timeoutSeconds is the time, in seconds, that the command may run, 1 to 604800. Without it only the time of the
	// pipeline limits the command.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=604800
	TimeoutSeconds *int64 `json:"timeoutSeconds,omitempty"`

	// graceSeconds is the time, in seconds, between SIGTERM and SIGKILL when the command is cancelled or times out, 0
	// to 3600; default 10.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3600
	GraceSeconds *int64 `json:"graceSeconds,omitempty"`
}

// StepArg is the program of a step, or one argument of it.
// +kubebuilder:validation:MaxLength=4096
// +kubebuilder:validation:XValidation:rule="!self.contains('\\u0000')",message="an argument cannot contain the character NUL"
type StepArg string

// StepEnv is an environment variable, written as KEY=value.
// +kubebuilder:validation:MaxLength=4096
// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z_][A-Za-z0-9_]*=') && !self.contains('\\u0000')",message="a variable must be KEY=value, with letters, digits and '_' in its key, and without the character NUL"
type StepEnv string

// PipelinePhase is what a node with a pipeline does: it joins or leaves the pool.
// +kubebuilder:validation:Enum=Joining;Leaving
type PipelinePhase string

// Values of PipelinePhase.
const (
	PipelineJoining PipelinePhase = "Joining"
	PipelineLeaving PipelinePhase = "Leaving"
)

// PipelineStatus are the pipelines that run on nodes of the pool, and those that have failed.
type PipelineStatus struct {
	// joiningNodes is the number of nodes that join the pool, including those whose pipeline has failed.
	// +optional
	JoiningNodes int32 `json:"joiningNodes,omitempty"`

	// leavingNodes is the number of nodes that leave the pool and have its settings until their pipeline has ended.
	// +optional
	LeavingNodes int32 `json:"leavingNodes,omitempty"`

	// failedPipelines is the number of nodes whose pipeline has failed and waits for a user or for its timeout.
	// +optional
	FailedPipelines int32 `json:"failedPipelines,omitempty"`

	// pipelines are examples of nodes that join or leave, at most 16: first those whose pipeline has failed.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Pipelines []NodePipeline `json:"pipelines,omitempty"`
}

// NodePipeline is the state of a pipeline on one node.
type NodePipeline struct {
	// node is the name of the node.
	// +required
	Node string `json:"node"`
	// phase is Joining or Leaving.
	// +required
	Phase PipelinePhase `json:"phase"`
	// failed is true if the pipeline has failed or has timed out.
	// +optional
	Failed bool `json:"failed,omitempty"`
	// step is the name of the current step, or of the step that has failed.
	// +optional
	Step string `json:"step,omitempty"`
	// attempt is the number of times that the step was started.
	// +optional
	Attempt int32 `json:"attempt,omitempty"`
	// activity is the name of the step's Activity in namespace opcrew-activities.
	// +optional
	Activity string `json:"activity,omitempty"`
	// message explains the state.
	// +optional
	Message string `json:"message,omitempty"`
}
