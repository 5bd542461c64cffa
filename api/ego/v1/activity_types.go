// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Defaults of an Activity. The operator applies them when it reads a spec, and does not store them in the object.
const (
	// DefaultUser is the user that runs the command on the host, and DefaultDir is its working directory.
	DefaultUser = "root"
	DefaultDir  = "/"
	// DefaultStartDeadline is the time, in seconds, in which the host must start the command.
	DefaultStartDeadline = 300
	// DefaultGrace is the time, in seconds, between SIGTERM and SIGKILL.
	DefaultGrace = 10
	// DefaultSuccessfulRuns and DefaultFailedRuns are the numbers of successful and of other ended runs of a schedule
	// that the operator keeps.
	DefaultSuccessfulRuns = 3
	DefaultFailedRuns     = 3
)

// Activity is a command that opcrew runs on a host (a node) at most once per run, and the result of the command. With
// spec.schedule or spec.hosts it instead creates Activities that run the command.
// +kubebuilder:object:root=true
// +kubebuilder:metadata:labels="app.kubernetes.io/part-of=opcrew"
// +kubebuilder:resource:path=activities,categories=opcrew
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Host",type=string,JSONPath=`.spec.host`
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.prosta`
// +kubebuilder:printcolumn:name="Exit",type=integer,JSONPath=`.status.exitCode`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Hosts",type=integer,JSONPath=`.status.fleet.hosts`
// +kubebuilder:printcolumn:name="Succeeded",type=integer,JSONPath=`.status.fleet.succeeded`
// +kubebuilder:printcolumn:name="Failed",type=integer,JSONPath=`.status.fleet.failed`
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
// +kubebuilder:printcolumn:name="By",type=string,JSONPath=`.spec.requester.username`,priority=1
// +kubebuilder:validation:XValidation:rule="(has(self.spec.run) ? self.spec.run : 1) == (has(oldSelf.spec.run) ? oldSelf.spec.run : 1) || has(oldSelf.status) && has(oldSelf.status.prosta) && oldSelf.status.prosta in ['Succeeded', 'Failed', 'Cancelled', 'TimedOut', 'Unreachable', 'Unknown', 'Refused']",message="spec.run cannot be raised, because the previous run has not ended; wait until it ends, or set spec.cancel"
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 52 || !has(self.spec.schedule)",message="metadata.name: the names of a schedule's runs begin with the name of the schedule; use at most 52 characters"
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 52 || !has(self.spec.hosts)",message="metadata.name: the names of the Activities of single hosts begin with the name of this one; use at most 52 characters"
type Activity struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the command, and the host on which it runs.
	// +required
	Spec ActivitySpec `json:"spec"`

	// status is the result of the command. In a new object all conditions have status Unknown by default, so that no
	// client mistakes the object for a finished one.
	// +optional
	// +kubebuilder:default={prosta: "Pending", conditions: {{type: "Ready", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "Permitted", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}, {type: "Succeeded", status: "Unknown", reason: "Pending", message: "Waiting for the operator", lastTransitionTime: "1970-01-01T00:00:00Z"}}}
	Status ActivityStatus `json:"status,omitempty"`
}

// ActivitySpec is the command, and the host or hosts on which it runs. Only cancel, run, suspend,
// ttlSecondsAfterFinished, the history limits, the limits in hosts (together with run) and approvals can change.
// +kubebuilder:validation:XValidation:rule="(has(self.command) && self.command.size() > 0) != (has(self.args) && self.args.size() > 0)",message="set either command, which the host's shell runs, or args, which run without a shell"
// +kubebuilder:validation:XValidation:rule="(has(self.command) == has(oldSelf.command) && (!has(self.command) || self.command == oldSelf.command)) && (has(self.args) == has(oldSelf.args) && (!has(self.args) || self.args == oldSelf.args)) && (has(self.execuser) == has(oldSelf.execuser) && (!has(self.execuser) || self.execuser == oldSelf.execuser)) && (has(self.execcwd) == has(oldSelf.execcwd) && (!has(self.execcwd) || self.execcwd == oldSelf.execcwd)) && (has(self.envs) == has(oldSelf.envs) && (!has(self.envs) || self.envs == oldSelf.envs)) && (has(self.secretEnvs) == has(oldSelf.secretEnvs) && (!has(self.secretEnvs) || self.secretEnvs == oldSelf.secretEnvs)) && (has(self.placement) == has(oldSelf.placement) && (!has(self.placement) || self.placement == oldSelf.placement)) && (has(self.startDeadlineSeconds) == has(oldSelf.startDeadlineSeconds) && (!has(self.startDeadlineSeconds) || self.startDeadlineSeconds == oldSelf.startDeadlineSeconds)) && (has(self.timeoutSeconds) == has(oldSelf.timeoutSeconds) && (!has(self.timeoutSeconds) || self.timeoutSeconds == oldSelf.timeoutSeconds)) && (has(self.graceSeconds) == has(oldSelf.graceSeconds) && (!has(self.graceSeconds) || self.graceSeconds == oldSelf.graceSeconds)) && (has(self.schedule) == has(oldSelf.schedule) && (!has(self.schedule) || self.schedule == oldSelf.schedule)) && (has(self.ssh) == has(oldSelf.ssh) && (!has(self.ssh) || self.ssh == oldSelf.ssh)) && (has(self.timeZone) == has(oldSelf.timeZone) && (!has(self.timeZone) || self.timeZone == oldSelf.timeZone))",message="only cancel, run, suspend, ttlSecondsAfterFinished and the history limits of an Activity can change; create another one"
// +kubebuilder:validation:XValidation:rule="(has(self.run) ? self.run : 1) >= (has(oldSelf.run) ? oldSelf.run : 1)",message="run counts the runs, so it cannot be lowered or removed"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.cancel) || !oldSelf.cancel || has(self.cancel) && self.cancel || (has(self.run) ? self.run : 1) > (has(oldSelf.run) ? oldSelf.run : 1)",message="cancel cannot be removed, because a cancelled run stays cancelled; raise run to start another one"
// +kubebuilder:validation:XValidation:rule="has(self.schedule) || !has(self.timeZone) && !has(self.concurrencyPolicy) && !has(self.suspend) && !has(self.successfulRunsHistoryLimit) && !has(self.failedRunsHistoryLimit)",message="timeZone, concurrencyPolicy, suspend and the history limits need schedule; set schedule, or remove them"
// +kubebuilder:validation:XValidation:rule="has(self.host) != has(self.hosts)",message="set either host, the name of one node, or hosts, to run the command on several nodes or machines"
// +kubebuilder:validation:XValidation:rule="has(self.host) == has(oldSelf.host)",message="an Activity on one host cannot become one on several hosts, or the reverse; create another one"
// +kubebuilder:validation:XValidation:rule="!has(self.schedule) || !has(self.hosts)",message="hosts and schedule cannot be combined; remove schedule, and use hosts.window to run the command only at certain times"
// +kubebuilder:validation:XValidation:rule="!has(self.hosts) || !has(oldSelf.hosts) || (has(self.run) ? self.run : 1) > (has(oldSelf.run) ? oldSelf.run : 1) || has(self.hosts.maxUnavailable) == has(oldSelf.hosts.maxUnavailable) && (!has(self.hosts.maxUnavailable) || self.hosts.maxUnavailable == oldSelf.hosts.maxUnavailable) && has(self.hosts.batches) == has(oldSelf.hosts.batches) && (!has(self.hosts.batches) || self.hosts.batches == oldSelf.hosts.batches) && has(self.hosts.canary) == has(oldSelf.hosts.canary) && (!has(self.hosts.canary) || self.hosts.canary == oldSelf.hosts.canary) && has(self.hosts.window) == has(oldSelf.hosts.window) && (!has(self.hosts.window) || self.hosts.window == oldSelf.hosts.window) && has(self.hosts.maxFailures) == has(oldSelf.hosts.maxFailures) && (!has(self.hosts.maxFailures) || self.hosts.maxFailures == oldSelf.hosts.maxFailures) && has(self.hosts.rerun) == has(oldSelf.hosts.rerun) && (!has(self.hosts.rerun) || self.hosts.rerun == oldSelf.hosts.rerun) && has(self.hosts.drain) == has(oldSelf.hosts.drain) && (!has(self.hosts.drain) || self.hosts.drain == oldSelf.hosts.drain)",message="the limits in hosts can change only when a run begins; change them together with spec.run, which can be raised when the previous run has ended"
// +kubebuilder:validation:XValidation:rule="!has(self.ssh) || has(self.host)",message="ssh needs host, the name of the machine in messages and results; for several machines, use hosts.ssh instead"
// +kubebuilder:validation:XValidation:rule="!has(self.placement) || !(has(self.ssh) || has(self.hosts) && has(self.hosts.ssh))",message="placement is for nodes of the cluster, and has no effect over SSH; remove it"
// +kubebuilder:validation:XValidation:rule="!has(self.hosts) || !has(self.hosts.drain) || !has(self.hosts.ssh)",message="hosts.drain is for nodes of the cluster, and machines over SSH have no pods; remove it"
// +kubebuilder:validation:XValidation:rule="!has(self.execuser) || !(has(self.ssh) || has(self.hosts) && has(self.hosts.ssh)) || !self.execuser.matches('^[0-9]+$')",message="an SSH server logs in users by name; set execuser to the name of the user"
// +kubebuilder:validation:XValidation:rule="!has(self.schedule) || !has(self.run)",message="run must not be set with schedule, which starts the runs; remove run"
type ActivitySpec struct {
	// command is a shell command that the host's /bin/sh runs unchanged, at most 102400 characters. Set either command
	// or args.
	// +optional
	// +kubebuilder:validation:MaxLength=1048576
	// +kubebuilder:validation:XValidation:rule="self.size() <= 102400",message="a command can have at most 102400 characters; put a longer one into a file on the host, and run that"
	// +kubebuilder:validation:XValidation:rule="!self.contains('\\u0000')",message="a command cannot contain the character NUL"
	Command string `json:"command,omitempty"`

	// args are a program of the host and its arguments, which run without a shell. Set either command or args.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	Args []Arg `json:"args,omitempty"`

	// host is the name of the node on which the command runs. With ssh, it is any name for the machine. Set either host
	// or hosts.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",message="host must be the name of one node, as kubectl get nodes shows it, or with ssh a name such as db1"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="the host of an Activity cannot change; create another one"
	Host string `json:"host,omitempty"`

	// ssh makes the operator run the command on a machine outside the cluster, over SSH.
	// +optional
	SSH *SSH `json:"ssh,omitempty"`

	// hosts makes the operator run the command on several nodes or machines, a few at a time. Set either host or hosts.
	// +optional
	Hosts *Hosts `json:"hosts,omitempty"`

	// execuser is the user of the host, by name or number, that runs the command; default root. With ssh, it is the name
	// of the user who logs in.
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
	// +kubebuilder:validation:MaxItems=100
	Envs []Env `json:"envs,omitempty"`

	// secretEnvs are environment variables whose values come from Secrets in the same namespace. The requester must
	// have permission to get these Secrets. The operator masks the values of these variables in the output.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	SecretEnvs []SecretEnv `json:"secretEnvs,omitempty"`

	// placement selects how the command gets to its host. With Schedule (the default), the scheduler must be able to
	// place a pod without tolerations on the host. Repair also reaches a host that is cordoned, tainted or full.
	// +optional
	// +kubebuilder:validation:Enum=Schedule;Repair
	Placement Placement `json:"placement,omitempty"`

	// startDeadlineSeconds is the time, in seconds, in which the host must start the command, 1 to 604800; default 300.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=604800
	StartDeadlineSeconds *int64 `json:"startDeadlineSeconds,omitempty"`

	// timeoutSeconds is the time, in seconds, that the command may run, 1 to 31536000. Without it there is no limit.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=31536000
	TimeoutSeconds *int64 `json:"timeoutSeconds,omitempty"`

	// graceSeconds is the time, in seconds, between SIGTERM and SIGKILL when the command is cancelled or times out, 0
	// to 3600; default 10.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3600
	GraceSeconds *int64 `json:"graceSeconds,omitempty"`

	// run is the number of the current run, 1 to 1000000; default 1. The command runs again only when a user raises the
	// number after the previous run has ended.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	Run *int64 `json:"run,omitempty"`

	// cancel ends the current run, or prevents its start.
	// +optional
	Cancel bool `json:"cancel,omitempty"`

	// ttlSecondsAfterFinished is the time, in seconds, after which an ended Activity is deleted, 0 to 315360000.
	// Without it the Activity is kept.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=315360000
	TTLSecondsAfterFinished *int64 `json:"ttlSecondsAfterFinished,omitempty"`

	ScheduleSpec `json:",inline"`

	// requester is the user who requested this run. The API server sets it or, before Kubernetes 1.36, accepts only the
	// identity of the user who sends the request.
	// +optional
	Requester *Requester `json:"requester,omitempty"`
}

// ScheduleSpec makes the operator create an Activity from this one at each time of a schedule.
type ScheduleSpec struct {
	// schedule is the time of the runs in cron format, such as "0 3 * * *" for 3:00 every day. The object then runs no
	// command itself, but creates an Activity for each run. Without it the command runs once.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Schedule *string `json:"schedule,omitempty"`

	// timeZone is the time zone of schedule, such as Europe/Berlin; default UTC.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	TimeZone *string `json:"timeZone,omitempty"`

	// concurrencyPolicy decides what happens when a run is due while another run of the schedule is active. Forbid (the
	// default) skips the due run. Allow starts it. Replace cancels the active run, waits until it ends, and starts the
	// due run.
	// +optional
	// +kubebuilder:validation:Enum=Allow;Forbid;Replace
	ConcurrencyPolicy ConcurrencyPolicy `json:"concurrencyPolicy,omitempty"`

	// suspend stops the schedule from creating further runs. A run that is active continues.
	// +optional
	Suspend *bool `json:"suspend,omitempty"`

	// successfulRunsHistoryLimit is how many Activities of successful runs are kept, 0 to 100; default 3.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	SuccessfulRunsHistoryLimit *int32 `json:"successfulRunsHistoryLimit,omitempty"`

	// failedRunsHistoryLimit is how many Activities of runs that ended without success are kept, 0 to 100; default 3.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	FailedRunsHistoryLimit *int32 `json:"failedRunsHistoryLimit,omitempty"`
}

// Arg is the program, or one argument of it.
// +kubebuilder:validation:MaxLength=32768
// +kubebuilder:validation:XValidation:rule="!self.contains('\\u0000')",message="an argument cannot contain the character NUL"
type Arg string

// Env is an environment variable, written as KEY=value.
// +kubebuilder:validation:MaxLength=32768
// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z_][A-Za-z0-9_]*=')",message="a variable must be KEY=value, with letters, digits and '_' in its key"
// +kubebuilder:validation:XValidation:rule="!self.contains('\\u0000')",message="a variable cannot contain the character NUL"
type Env string

// SecretEnv is an environment variable whose value comes from a Secret.
type SecretEnv struct {
	// name of the environment variable.
	// +required
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z_][A-Za-z0-9_]*$')",message="the name of a variable must consist of letters, digits and '_'"
	Name string `json:"name"`

	// secret is the name of a Secret in the Activity's namespace.
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

// Placement is how the command gets to its host.
type Placement string

// Values of Placement: Schedule uses the scheduler; Repair bypasses it, to reach a host that is cordoned, tainted or
// full.
const (
	PlacementSchedule Placement = "Schedule"
	PlacementRepair   Placement = "Repair"
)

// ConcurrencyPolicy decides what happens when a run is due while another run of the schedule is active.
type ConcurrencyPolicy string

// Values of ConcurrencyPolicy: Allow starts the due run, Forbid skips it, and Replace first cancels the active run.
const (
	AllowConcurrent   ConcurrencyPolicy = "Allow"
	ForbidConcurrent  ConcurrencyPolicy = "Forbid"
	ReplaceConcurrent ConcurrencyPolicy = "Replace"
)

// Requester is a user as the API server authenticated it.
type Requester struct {
	// username is the name by which the API server authenticated the user.
	// +required
	// +kubebuilder:validation:MaxLength=1024
	Username string `json:"username"`

	// uid is the user's ID, if the authentication provides one.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	UID string `json:"uid,omitempty"`

	// groups of the user at the time of the request.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=1024
	Groups []string `json:"groups,omitempty"`
}

// ActivityList is a list of Activity objects.
// +kubebuilder:object:root=true
type ActivityList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Activity `json:"items"`
}
