// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import "k8s.io/apimachinery/pkg/util/intstr"

// DefaultMaxUnavailable is the number of hosts of a fleet that may be unavailable at the same time.
const DefaultMaxUnavailable = 1

// Hosts makes an Activity a fleet: it runs no command itself, but creates one Activity per host, a few at a time. Each
// of them runs the command at most once.
// +kubebuilder:validation:XValidation:rule="(has(self.nodeSelector) ? 1 : 0) + (has(self.nodePool) ? 1 : 0) + (has(self.names) ? 1 : 0) + (has(self.ssh) ? 1 : 0) == 1",message="set exactly one of nodeSelector, nodePool, names and ssh"
// +kubebuilder:validation:XValidation:rule="has(self.nodeSelector) == has(oldSelf.nodeSelector) && (!has(self.nodeSelector) || self.nodeSelector == oldSelf.nodeSelector) && has(self.nodePool) == has(oldSelf.nodePool) && (!has(self.nodePool) || self.nodePool == oldSelf.nodePool) && has(self.names) == has(oldSelf.names) && (!has(self.names) || self.names == oldSelf.names) && has(self.ssh) == has(oldSelf.ssh) && (!has(self.ssh) || self.ssh == oldSelf.ssh) && has(self.approval) == has(oldSelf.approval) && (!has(self.approval) || self.approval.required == oldSelf.approval.required)",message="which hosts an Activity runs on, and whether it needs an approval, cannot change; create another one"
type Hosts struct {
	// nodeSelector selects the nodes that have all of these labels. A node that gets the labels before the run has
	// ended joins the run.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	// +kubebuilder:validation:XValidation:rule="self.size() > 0",message="an empty nodeSelector selects no node; write labels of nodes, such as kubernetes.io/os: linux"
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.size() <= 317)",message="the key of a label can have at most 317 characters"
	NodeSelector map[string]NodeLabel `json:"nodeSelector,omitempty"`

	// nodePool selects the nodes of the NodePool with this name: those with the label node-role.kubernetes.io/<name>.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	NodePool string `json:"nodePool,omitempty"`

	// names lists the nodes by name, at most 1000.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=1000
	Names []HostName `json:"names,omitempty"`

	// ssh lists machines outside the cluster, which the operator reaches over SSH.
	// +optional
	SSH *SSHHosts `json:"ssh,omitempty"`

	FleetLimits `json:",inline"`

	// approval makes the run wait until a second user approves it.
	// +optional
	Approval *Approval `json:"approval,omitempty"`
}

// FleetLimits are the limits of a run on several hosts. They can change only together with spec.run.
type FleetLimits struct {
	// maxUnavailable is the number of hosts, or the percentage of all hosts, that may be unavailable at the same time;
	// default 1. A percentage is rounded down, but at least one host is allowed. A host counts while the command is
	// pending or running there, and a host that still has to run the command also counts while its node is cordoned or
	// not Ready.
	// +optional
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 1 : self.matches('^(100|[1-9][0-9]?)%$')",message="maxUnavailable must be a number of hosts, such as 2, or a percentage from 1% to 100%, such as 10%; to start no further host, set cancel: true"
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`

	// batches divide the run: each entry is the number or percentage of hosts that start before the run waits until all
	// of them have ended; at most 5. Entries count from the beginning of the run, such as [1, 10%, 50%]. The rest follows
	// the last entry.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=5
	// +kubebuilder:validation:items:XValidation:rule="type(self) == int ? self >= 1 : self.matches('^(100|[1-9][0-9]?)%$')",message="a batch must be a number of hosts, such as 2, or a percentage from 1% to 100%, such as 10%"
	Batches []intstr.IntOrString `json:"batches,omitempty"`

	// canary are hosts that run the command before all others. If it does not succeed on each of them, no other host
	// starts.
	// +optional
	Canary *Canary `json:"canary,omitempty"`

	// window limits the times at which hosts start. A command that is running when the window closes continues.
	// +optional
	Window *Window `json:"window,omitempty"`

	// maxFailures is the number of hosts on which the command may end without success, 0 to 1000; default 0. After more
	// failures no further host starts.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	MaxFailures *int32 `json:"maxFailures,omitempty"`

	// rerun decides on which hosts the command runs when spec.run is raised: Failed (the default), on those where it
	// has not succeeded; All, on all of them.
	// +optional
	// +kubebuilder:validation:Enum=Failed;All
	Rerun Rerun `json:"rerun,omitempty"`

	// drain makes the operator cordon the node of a host and evict its pods before the command runs there.
	// +optional
	Drain *Drain `json:"drain,omitempty"`
}

// NodeLabel is the value of a label of a node.
// +kubebuilder:validation:MaxLength=63
type NodeLabel string

// HostName is the name of a node, or of a machine outside the cluster.
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=253
// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",message="the name of a host must be the name of a node, as kubectl get nodes shows it, or for ssh a name such as db1"
type HostName string

// Canary are the hosts that run the command first.
type Canary struct {
	// hosts is the number of hosts that run first, 1 to 1000.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	Hosts int32 `json:"hosts"`

	// soakSeconds is the time, in seconds, between the success of the last of these hosts and the start of the next
	// host, 0 to 604800; default 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=604800
	SoakSeconds int64 `json:"soakSeconds,omitempty"`
}

// Window is a time that repeats, in which hosts may start.
type Window struct {
	// schedule is when the window opens, in cron format, such as "0 22 * * 6" for 22:00 every Saturday.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Schedule string `json:"schedule"`

	// timeZone is the time zone of schedule, such as Europe/Berlin; default UTC.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	TimeZone string `json:"timeZone,omitempty"`

	// durationSeconds is how long the window stays open, in seconds, 60 to 604800.
	// +required
	// +kubebuilder:validation:Minimum=60
	// +kubebuilder:validation:Maximum=604800
	DurationSeconds int64 `json:"durationSeconds"`
}

// Approval is the consent of a second user to a run.
// +kubebuilder:validation:XValidation:rule="self.required || !has(self.approvedHash)",message="approvedHash needs required: true; an Activity without it needs no approval"
type Approval struct {
	// required makes the run wait for an approval.
	// +required
	Required bool `json:"required"`

	// approvedHash is set by the user who approves the run, to the value of status.specHash. The user needs the verb
	// approve on the Activity, and must not be the requester. If the run or its spec changes, the hash differs, and the
	// approval is void.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9a-f]{32}$')",message="approvedHash must be the value of status.specHash; to withdraw an approval, remove the field"
	ApprovedHash string `json:"approvedHash,omitempty"`

	// approver is the user who set approvedHash. The API server sets it or, before Kubernetes 1.36, accepts only the
	// identity of the user who sends the request.
	// +optional
	Approver *Requester `json:"approver,omitempty"`
}

// Rerun decides on which hosts the command runs when spec.run is raised.
type Rerun string

// Values of Rerun: RerunFailed leaves out hosts on which the command has succeeded, and RerunAll does not.
const (
	RerunFailed Rerun = "Failed"
	RerunAll    Rerun = "All"
)

// FleetStatus is the progress of a run on several hosts, and its results.
type FleetStatus struct {
	// hosts is the number of hosts.
	// +optional
	Hosts int32 `json:"hosts"`
	// notStarted is the number of hosts that have no Activity in this run yet.
	// +optional
	NotStarted int32 `json:"notStarted"`
	// pending is the number of hosts that are drained, or whose Activity has not started its command.
	// +optional
	Pending int32 `json:"pending"`
	// running is the number of hosts on which the command is running.
	// +optional
	Running int32 `json:"running"`
	// succeeded is the number of hosts on which the command has succeeded, in this run or in an earlier run that counts.
	// +optional
	Succeeded int32 `json:"succeeded"`
	// failed is the number of hosts on which the run has ended without success.
	// +optional
	Failed int32 `json:"failed"`

	// groups are the results of this run, the most frequent first, at most 16. Hosts whose command ended in the same way
	// with the same output are in one group.
	// +optional
	// +listType=atomic
	Groups []OutcomeGroup `json:"groups,omitempty"`
	// otherHosts is the number of hosts whose results are in none of the groups, because there are more than 16
	// different results.
	// +optional
	OtherHosts int32 `json:"otherHosts,omitempty"`

	// since is the first run whose successes count. It is raised by a run with rerun: All.
	// +optional
	Since int64 `json:"since,omitempty"`
	// started is the number of hosts that have had an Activity in this run.
	// +optional
	Started int32 `json:"started,omitempty"`
	// starting are the hosts that the operator drains, and whose Activity it creates next. The operator records them
	// first, so that a crash never makes it start more hosts than maxUnavailable allows.
	// +optional
	// +listType=atomic
	Starting []string `json:"starting,omitempty"`
	// removed are results without an Activity, because it was deleted, or because the node could not be drained. The
	// operator records them, so that the command does not run there in the same run.
	// +optional
	// +listType=atomic
	Removed []RemovedRun `json:"removed,omitempty"`
}

// OutcomeGroup are the hosts on which a run ended in the same way.
type OutcomeGroup struct {
	// count is the number of hosts.
	Count int32 `json:"count"`
	// state in which the run ended.
	State State `json:"state"`
	// exitCode of the command, if it exited.
	// +optional
	ExitCode *int32 `json:"exitCode,omitempty"`
	// message says why the run did not succeed, on the first of the hosts.
	// +optional
	Message string `json:"message,omitempty"`
	// output is the end of the command's output, at most 512 bytes.
	// +optional
	Output string `json:"output,omitempty"`
	// hosts are the first ten hosts of the group.
	// +optional
	// +listType=atomic
	Hosts []string `json:"hosts,omitempty"`
}

// RemovedRun is the result of a run on one host that has no Activity.
type RemovedRun struct {
	// host is the name of the host.
	Host string `json:"host"`
	// run is the number of the run.
	Run int64 `json:"run"`
	// state in which the run ended. The deletion of an Activity cancels its run.
	State State `json:"state"`
	// message says why the node was not drained, so that the command did not run; empty if the Activity was deleted.
	// +optional
	Message string `json:"message,omitempty"`
}
