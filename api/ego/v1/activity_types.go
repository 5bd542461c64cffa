// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Defaults of an Activity. They are computed and not stored.
const (
	// DefaultUser is the user that the command runs as, DefaultDir its working directory.
	DefaultUser = "root"
	DefaultDir  = "/"
	// DefaultStartDeadline is how many seconds a host has to start the command.
	DefaultStartDeadline = 300
	// DefaultGrace is how many seconds pass between SIGTERM and SIGKILL.
	DefaultGrace = 10
	// DefaultSuccessfulRuns and DefaultFailedRuns are how many ended Activities of a schedule
	// are kept.
	DefaultSuccessfulRuns = 3
	DefaultFailedRuns     = 3
)

// Activity is a command that runs on a host at most once, and its result.
// +kubebuilder:object:root=true
// +kubebuilder:metadata:labels="app.kubernetes.io/part-of=opcrew"
// +kubebuilder:resource:path=activities,categories=opcrew
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Host",type=string,JSONPath=`.spec.host`
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.prosta`
// +kubebuilder:printcolumn:name="Exit",type=integer,JSONPath=`.status.exitCode`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
// +kubebuilder:printcolumn:name="By",type=string,JSONPath=`.spec.requester.username`,priority=1
// +kubebuilder:validation:XValidation:rule="(has(self.spec.run) ? self.spec.run : 1) == (has(oldSelf.spec.run) ? oldSelf.spec.run : 1) || has(oldSelf.status) && has(oldSelf.status.prosta) && oldSelf.status.prosta in ['Succeeded', 'Failed', 'Cancelled', 'TimedOut', 'Unreachable', 'Unknown', 'Refused']",message="spec.run: the previous run has not ended; wait for its end, or set spec.cancel"
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 52 || !has(self.spec.schedule)",message="metadata.name: the Activities of a schedule are named after it; use 52 characters at most"
type Activity struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the command, and where it runs.
	// +required
	Spec ActivitySpec `json:"spec"`

	// status is the result. Its default keeps clients from taking a new object for a finished one.
	// +optional
	// +kubebuilder:default={prosta: "Pending", conditions: {{type: "Ready", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "Permitted", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "Succeeded", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}}}
	Status ActivityStatus `json:"status,omitempty"`
}

// ActivitySpec is the command, and where it runs. Only cancel, run, suspend,
// ttlSecondsAfterFinished and the history limits can change.
// +kubebuilder:validation:XValidation:rule="(has(self.command) && self.command.size() > 0) != (has(self.args) && self.args.size() > 0)",message="set either command, which the host's shell runs, or args, which run without a shell"
// +kubebuilder:validation:XValidation:rule="(has(self.command) == has(oldSelf.command) && (!has(self.command) || self.command == oldSelf.command)) && (has(self.args) == has(oldSelf.args) && (!has(self.args) || self.args == oldSelf.args)) && (has(self.execuser) == has(oldSelf.execuser) && (!has(self.execuser) || self.execuser == oldSelf.execuser)) && (has(self.execcwd) == has(oldSelf.execcwd) && (!has(self.execcwd) || self.execcwd == oldSelf.execcwd)) && (has(self.envs) == has(oldSelf.envs) && (!has(self.envs) || self.envs == oldSelf.envs)) && (has(self.secretEnvs) == has(oldSelf.secretEnvs) && (!has(self.secretEnvs) || self.secretEnvs == oldSelf.secretEnvs)) && (has(self.placement) == has(oldSelf.placement) && (!has(self.placement) || self.placement == oldSelf.placement)) && (has(self.startDeadlineSeconds) == has(oldSelf.startDeadlineSeconds) && (!has(self.startDeadlineSeconds) || self.startDeadlineSeconds == oldSelf.startDeadlineSeconds)) && (has(self.timeoutSeconds) == has(oldSelf.timeoutSeconds) && (!has(self.timeoutSeconds) || self.timeoutSeconds == oldSelf.timeoutSeconds)) && (has(self.graceSeconds) == has(oldSelf.graceSeconds) && (!has(self.graceSeconds) || self.graceSeconds == oldSelf.graceSeconds)) && (has(self.schedule) == has(oldSelf.schedule) && (!has(self.schedule) || self.schedule == oldSelf.schedule)) && (has(self.timeZone) == has(oldSelf.timeZone) && (!has(self.timeZone) || self.timeZone == oldSelf.timeZone))",message="only cancel, run, suspend, ttlSecondsAfterFinished and the history limits of an Activity can change; create another one"
// +kubebuilder:validation:XValidation:rule="(has(self.run) ? self.run : 1) >= (has(oldSelf.run) ? oldSelf.run : 1)",message="run: it counts the runs and cannot be lowered or removed"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.cancel) || !oldSelf.cancel || has(self.cancel) && self.cancel || (has(self.run) ? self.run : 1) > (has(oldSelf.run) ? oldSelf.run : 1)",message="cancel: a cancelled run stays cancelled; raise run to start another one"
// +kubebuilder:validation:XValidation:rule="has(self.schedule) || !has(self.timeZone) && !has(self.concurrencyPolicy) && !has(self.suspend) && !has(self.successfulRunsHistoryLimit) && !has(self.failedRunsHistoryLimit)",message="timeZone, concurrencyPolicy, suspend and the history limits need schedule"
// +kubebuilder:validation:XValidation:rule="!has(self.schedule) || !has(self.run)",message="run must not be set with schedule, which starts the runs"
type ActivitySpec struct {
	// command that the host's /bin/sh runs, as it is written.
	// +optional
	// +kubebuilder:validation:MaxLength=1048576
	// +kubebuilder:validation:XValidation:rule="self.size() <= 102400",message="a command can have at most 102400 characters; put a longer one into a file on the host, and run that"
	// +kubebuilder:validation:XValidation:rule="!self.contains('\\u0000')",message="a command cannot contain the character NUL"
	Command string `json:"command,omitempty"`

	// args are a program of the host and its arguments, which run without a shell; use it instead of command.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	Args []Arg `json:"args,omitempty"`

	// host is the name of the node on which the command runs.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",message="host must be the name of one node, as kubectl get nodes shows it"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="the host of an Activity cannot change; create another one"
	Host string `json:"host"`

	// execuser is the user of the host, by name or number, that the command runs as; default root.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="!self.contains('\\u0000')",message="a user's name cannot contain the character NUL"
	ExecUser string `json:"execuser,omitempty"`

	// execcwd is the working directory on the host; default /.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	// +kubebuilder:validation:XValidation:rule="self.size() == 0 || self.startsWith('/') && !self.contains('\\u0000')",message="execcwd must be an absolute path on the host, such as /tmp"
	ExecCwd string `json:"execcwd,omitempty"`

	// envs are environment variables, each KEY=value.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	Envs []Env `json:"envs,omitempty"`

	// secretEnvs are variables whose values are in Secrets of the same namespace, which the
	// requester must be allowed to get. Their values are masked in the output.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	SecretEnvs []SecretEnv `json:"secretEnvs,omitempty"`

	// placement: with Schedule (the default) the scheduler treats it as a pod without
	// tolerations; Repair also reaches a host that is cordoned, tainted or full.
	// +optional
	// +kubebuilder:validation:Enum=Schedule;Repair
	Placement Placement `json:"placement,omitempty"`

	// startDeadlineSeconds is how long the host has to start the command; default 300.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=604800
	StartDeadlineSeconds *int64 `json:"startDeadlineSeconds,omitempty"`

	// timeoutSeconds is how long the command may run; default without limit.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=31536000
	TimeoutSeconds *int64 `json:"timeoutSeconds,omitempty"`

	// graceSeconds is how long its processes have after SIGTERM, when the run is cancelled or
	// times out; default 10.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3600
	GraceSeconds *int64 `json:"graceSeconds,omitempty"`

	// run counts the runs; default 1. Only raising it starts the command again.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	Run *int64 `json:"run,omitempty"`

	// cancel ends the run, or prevents its start.
	// +optional
	Cancel bool `json:"cancel,omitempty"`

	// ttlSecondsAfterFinished is how long the object is kept after its end; default without limit.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=315360000
	TTLSecondsAfterFinished *int64 `json:"ttlSecondsAfterFinished,omitempty"`

	ScheduleSpec `json:",inline"`

	// requester is the user who requested this run. The API server fills it in.
	// +optional
	Requester *Requester `json:"requester,omitempty"`
}

// ScheduleSpec creates Activities from this one at the times of a schedule.
type ScheduleSpec struct {
	// schedule in cron format, such as "0 3 * * *". The object itself then runs nothing.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Schedule *string `json:"schedule,omitempty"`

	// timeZone of schedule, such as Europe/Berlin; default UTC.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	TimeZone *string `json:"timeZone,omitempty"`

	// concurrencyPolicy: Forbid (the default) skips a run while another one is active, Allow
	// starts it, and Replace cancels the active one first and waits for its end.
	// +optional
	// +kubebuilder:validation:Enum=Allow;Forbid;Replace
	ConcurrencyPolicy ConcurrencyPolicy `json:"concurrencyPolicy,omitempty"`

	// suspend stops further runs.
	// +optional
	Suspend *bool `json:"suspend,omitempty"`

	// successfulRunsHistoryLimit is how many successful Activities are kept; default 3.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	SuccessfulRunsHistoryLimit *int32 `json:"successfulRunsHistoryLimit,omitempty"`

	// failedRunsHistoryLimit is how many other ended Activities are kept; default 3.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	FailedRunsHistoryLimit *int32 `json:"failedRunsHistoryLimit,omitempty"`
}

// Arg is an argument of a program.
// +kubebuilder:validation:MaxLength=32768
// +kubebuilder:validation:XValidation:rule="!self.contains('\\u0000')",message="an argument cannot contain the character NUL"
type Arg string

// Env is a variable of an environment, KEY=value.
// +kubebuilder:validation:MaxLength=32768
// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z_][A-Za-z0-9_]*=')",message="a variable must be KEY=value, with letters, digits and '_' in its key"
// +kubebuilder:validation:XValidation:rule="!self.contains('\\u0000')",message="a variable cannot contain the character NUL"
type Env string

// SecretEnv is a variable whose value is in a Secret.
type SecretEnv struct {
	// name of the variable.
	// +required
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z_][A-Za-z0-9_]*$')",message="the name of a variable must consist of letters, digits and '_'"
	Name string `json:"name"`

	// secret is the name of a Secret in the Activity's namespace.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Secret string `json:"secret"`

	// key of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key"`
}

// Placement is how the command reaches its host.
type Placement string

// The values of Placement.
const (
	PlacementSchedule Placement = "Schedule"
	PlacementRepair   Placement = "Repair"
)

// ConcurrencyPolicy decides what happens to a run that is due while another one is active.
type ConcurrencyPolicy string

// The values of ConcurrencyPolicy.
const (
	AllowConcurrent   ConcurrencyPolicy = "Allow"
	ForbidConcurrent  ConcurrencyPolicy = "Forbid"
	ReplaceConcurrent ConcurrencyPolicy = "Replace"
)

// Requester is a user as the API server knows it.
type Requester struct {
	// username of the user.
	// +required
	// +kubebuilder:validation:MaxLength=1024
	Username string `json:"username"`

	// uid of the user, if it has one.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	UID string `json:"uid,omitempty"`

	// groups of the user.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=1024
	Groups []string `json:"groups,omitempty"`
}

// ActivityList is a list of Activities.
// +kubebuilder:object:root=true
type ActivityList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Activity `json:"items"`
}
