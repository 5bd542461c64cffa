// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// NodeDisruptionPolicy lists what a change of a file, a unit or SSH keys requires. It has the schema of
// spec.nodeDisruptionPolicy of OpenShift's MachineConfiguration.
type NodeDisruptionPolicy struct {
	// files lists paths of files and of directories. If several paths match a changed file, the longest applies.
	// +optional
	// +listType=map
	// +listMapKey=path
	// +kubebuilder:validation:MaxItems=50
	Files []FilePolicy `json:"files,omitempty"`

	// units lists systemd units by their exact names.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=50
	Units []UnitPolicy `json:"units,omitempty"`

	// sshkey applies to changes of the SSH keys of users; by default they require nothing.
	// +optional
	SSHKey *SSHKeyPolicy `json:"sshkey,omitempty"`
}

// FilePolicy is what a change of a file requires.
type FilePolicy struct {
	// path of a file, or of a directory: then the policy applies to all files below it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.startsWith('/') && (self == '/' || !self.endsWith('/')) && !self.matches('//|/[.]{1,2}(/|$)')",message="path must be absolute, without '.', '..', repeated slashes and a slash at the end, such as /etc/chrony.conf"
	Path string `json:"path"`

	// actions are carried out in this order. Reboot and None stand alone.
	// +required
	Actions PolicyActions `json:"actions"`
}

// UnitPolicy is what a change of a systemd unit requires.
type UnitPolicy struct {
	// name of the unit with its suffix, such as chronyd.service.
	// +required
	Name UnitName `json:"name"`

	// actions are carried out in this order. Reboot and None stand alone.
	// +required
	Actions PolicyActions `json:"actions"`
}

// SSHKeyPolicy is what a change of SSH keys requires.
type SSHKeyPolicy struct {
	// actions are carried out in this order. Reboot and None stand alone.
	// +required
	Actions PolicyActions `json:"actions"`
}

// PolicyActions is a list of actions. They are carried out in this order.
// +listType=atomic
// +kubebuilder:validation:MaxItems=10
// +kubebuilder:validation:XValidation:rule="!self.exists(a, a.type == 'Reboot') || self.size() == 1",message="a reboot replaces all other actions; remove them, or remove Reboot"
// +kubebuilder:validation:XValidation:rule="!self.exists(a, a.type == 'None') || self.size() == 1",message="None means that a change requires nothing; remove the other actions, or remove None"
type PolicyActions []PolicyAction

// PolicyAction is one action.
// +kubebuilder:validation:XValidation:rule="(self.type == 'Reload') == has(self.reload)",message="an action of type Reload has the field reload with the unit to reload, such as reload: {serviceName: crio.service}; other actions do not have it"
// +kubebuilder:validation:XValidation:rule="(self.type == 'Restart') == has(self.restart)",message="an action of type Restart has the field restart with the unit to restart, such as restart: {serviceName: crio.service}; other actions do not have it"
type PolicyAction struct {
	// type of the action. None does nothing; Drain evicts the pods of the node; Reload and Restart reload or restart a
	// unit; DaemonReload makes systemd read its units again; Reboot drains and reboots the node.
	// +required
	// +kubebuilder:validation:Enum=Reboot;Drain;Reload;Restart;DaemonReload;None
	Type ActionType `json:"type"`

	// reload names the unit of an action of type Reload.
	// +optional
	Reload *ServiceAction `json:"reload,omitempty"`

	// restart names the unit of an action of type Restart.
	// +optional
	Restart *ServiceAction `json:"restart,omitempty"`
}

// ActionType is what an action does.
type ActionType string

// Values of ActionType.
const (
	ActionReboot       ActionType = "Reboot"
	ActionDrain        ActionType = "Drain"
	ActionReload       ActionType = "Reload"
	ActionRestart      ActionType = "Restart"
	ActionDaemonReload ActionType = "DaemonReload"
	ActionNone         ActionType = "None"
)

// ServiceAction names the unit of an action.
type ServiceAction struct {
	// serviceName is the name of the unit with its suffix, such as crio.service.
	// +required
	ServiceName UnitName `json:"serviceName"`
}

// UnitName is the name of a systemd unit with its suffix.
// +kubebuilder:validation:MaxLength=255
// +kubebuilder:validation:XValidation:rule="self.matches('^[a-zA-Z0-9:._@\\\\\\\\-]+[.](service|socket|device|mount|automount|swap|target|path|timer|snapshot|slice|scope)$')",message="the name of a unit has letters, digits, ':', '.', '_', '@', '-' and '\\', and a suffix such as .service or .timer, for example chronyd.service"
type UnitName string
