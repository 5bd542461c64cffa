// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package changes_test

import (
	"strings"
	"testing"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/changes"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
)

// policy returns actions from texts such as "Restart a.service".
func policy(texts ...string) mcfgv1.PolicyActions {
	var out mcfgv1.PolicyActions
	for _, text := range texts {
		kind, unit, _ := strings.Cut(text, " ")
		action := mcfgv1.PolicyAction{Type: mcfgv1.ActionType(kind)}
		service := &mcfgv1.ServiceAction{ServiceName: mcfgv1.UnitName(unit)}
		switch action.Type {
		case mcfgv1.ActionReload:
			action.Reload = service
		case mcfgv1.ActionRestart:
			action.Restart = service
		}
		out = append(out, action)
	}
	return out
}

var pool = &mcfgv1.NodeDisruptionPolicy{
	Files: []mcfgv1.FilePolicy{
		{Path: "/etc/app", Actions: policy("Reload app.service")},
		{Path: "/etc/app/static", Actions: policy("None")},
		{Path: "/etc/app/static/hot", Actions: policy("Drain", "Restart app.service")},
		{Path: "/etc/big", Actions: policy("Reboot")},
		{Path: "/etc/containers/policy.json", Actions: policy("None")},
		{Path: "/etc/both", Actions: policy("Reload app.service", "Reload db.service")},
	},
	Units: []mcfgv1.UnitPolicy{
		{Name: "app.service", Actions: policy("DaemonReload", "Restart app.service")},
		{Name: "quiet.service", Actions: policy("None")},
	},
}

func enabled(name string) hostconfig.Unit {
	return hostconfig.Unit{Name: name, Enabled: new(true), Contents: new("x")}
}

func TestChangesRequireTheLeastThatThePolicyAllows(t *testing.T) {
	for name, c := range map[string]struct {
		to   hostconfig.Config
		want string
	}{
		"nothing":                                     {hostconfig.Config{}, ""},
		"a file that is not listed":                   {files(file("/etc/x", "")), "Reboot"},
		"a file in a listed directory":                {files(file("/etc/app/a/b", "")), "Reload app.service"},
		"a file whose path only begins like a listed": {files(file("/etc/apple", "")), "Reboot"},
		"the longest path":                            {files(file("/etc/app/static/a", "")), ""},
		"the longest of three paths":                  {files(file("/etc/app/static/hot/a", "")), "Drain, Restart app.service"},
		"repeated actions once":                       {files(file("/etc/app/a", ""), file("/etc/app/b", "")), "Reload app.service"},
		"no reload of a unit that is restarted":       {files(file("/etc/app/a", ""), file("/etc/app/static/hot", "")), "Drain, Restart app.service"},
		"actions of several files":                    {files(file("/etc/app/a", ""), file("/etc/both", "")), "Reload app.service, Reload db.service"},
		"a reboot replaces all others":                {files(file("/etc/app/a", ""), file("/etc/big", "")), "Reboot"},
		"the pool replaces a default":                 {files(file("/etc/containers/policy.json", "")), ""},
		"a default of OpenShift":                      {files(file("/etc/containers/registries.d/a.yaml", "")), "Reload crio.service"},
		"a default with two actions":                  {files(file("/etc/containers/registries.conf", "")), "Drain, Reload crio.service"},
		"sysctls, which the agent sets":               {files(file("/etc/sysctl.d/90-a.conf", "")), ""},
		"a unit by its exact name":                    {units(hostconfig.Unit{Name: "quiet.service", Mask: new(true)}), ""},
		"a unit that is not listed and not enabled":   {units(hostconfig.Unit{Name: "x.service", Contents: new("")}), "Reboot"},
		"a unit that is not listed and enabled":       {units(enabled("x.timer")), "DaemonReload, Restart x.timer"},
		"a container runtime, whose pods move first":  {units(enabled("containerd.service")), "Drain, DaemonReload, Restart containerd.service"},
		"two units, with one reload of systemd":       {units(enabled("a.service"), enabled("b.service")), "DaemonReload, Restart a.service, Restart b.service"},
		"a restart follows the reload of systemd":     {hostconfig.Config{Files: files(file("/etc/app/static/hot", "")).Files, Units: units(enabled("app.service")).Units}, "Drain, DaemonReload, Restart app.service"},
		"a template, which cannot be restarted":       {units(enabled("x@.service")), "Reboot"},
		"an instance of a template":                   {units(enabled("x@a.service")), "DaemonReload, Restart x@a.service"},
		"a drop-in of a unit that is enabled":         {units(hostconfig.Unit{Name: "x.service", Enabled: new(true), DropIns: []hostconfig.DropIn{{Name: "a.conf", Contents: "x"}}}), "DaemonReload, Restart x.service"},
		"a drop-in of a unit that is not enabled":     {units(hostconfig.Unit{Name: "x.service", DropIns: []hostconfig.DropIn{{Name: "a.conf", Contents: "x"}}}), "Reboot"},
		"a drop-in by the name of its unit":           {units(hostconfig.Unit{Name: "app.service", DropIns: []hostconfig.DropIn{{Name: "a.conf", Contents: "x"}}}), "DaemonReload, Restart app.service"},
		"a file of a unit is no unit":                 {files(file("/etc/systemd/system/app.service", "")), "Reboot"},
		"SSH keys":                                    {users(hostconfig.User{Name: "core", SSHAuthorizedKeys: []string{"a"}}), ""},
		"a password":                                  {users(hostconfig.User{Name: "core", PasswordHash: new("a")}), ""},
		"a kernel argument":                           {hostconfig.Config{KernelArguments: []string{"nosmt"}}, "Reboot"},
		"a forbidden kernel argument":                 {hostconfig.Config{RemovedKernelArguments: []string{"quiet"}}, "Reboot"},
		"a directory like a file":                     {hostconfig.Config{Directories: []hostconfig.Directory{{Entry: hostconfig.Entry{Path: "/etc/app"}}}}, "Reload app.service"},
		"a link like a file":                          {hostconfig.Config{Links: []hostconfig.Link{{Entry: hostconfig.Entry{Path: "/etc/localtime"}, Target: "x"}}}, "Reboot"},
	} {
		t.Run(name, func(t *testing.T) {
			all := changes.Diff(hostconfig.Config{}, c.to, short)
			if got := strings.Join(changes.Required(all, changes.NewPolicy(pool)).Strings(), ", "); got != c.want {
				t.Errorf("expected %q, got %q for\n%s", c.want, got, lines(all))
			}
		})
	}
}

func TestRemovingAnEnabledUnitReboots(t *testing.T) {
	all := changes.Diff(units(enabled("x.service")), hostconfig.Config{}, short)
	if got := changes.Required(all, changes.NewPolicy(nil)); !got.Reboots() || !got.Drains() {
		t.Errorf("expected a reboot, which needs a drain, got %v", got)
	}
}

func TestAPolicyForTheRootAppliesToAllOtherFiles(t *testing.T) {
	p := changes.NewPolicy(&mcfgv1.NodeDisruptionPolicy{
		Files:  []mcfgv1.FilePolicy{{Path: "/", Actions: policy("None")}},
		SSHKey: &mcfgv1.SSHKeyPolicy{Actions: policy("Drain")},
	})
	if got := changes.Required(changes.Diff(hostconfig.Config{}, files(file("/etc/x", "")), short), p); len(got) != 0 {
		t.Errorf("expected no action, got %v", got)
	}
	keys := changes.Diff(hostconfig.Config{}, users(hostconfig.User{Name: "core", SSHAuthorizedKeys: []string{"a"}}), short)
	if got := changes.Required(keys, p); !got.Drains() || got.Reboots() {
		t.Errorf("expected a drain without a reboot for SSH keys, got %v", got)
	}
}

func TestASummaryIsASentence(t *testing.T) {
	for want, c := range map[string]struct{ from, to hostconfig.Config }{
		"Nothing on the host differs":                                          {},
		"Adds file /etc/x; drains and reboots the node":                        {hostconfig.Config{}, files(file("/etc/x", ""))},
		"Adds 2 files; reloads app.service":                                    {hostconfig.Config{}, files(file("/etc/app/a", ""), file("/etc/app/b", ""))},
		"Changes file /etc/app/a; reloads app.service":                         {files(file("/etc/app/a", "")), files(file("/etc/app/a", "x"))},
		"Adds SSH keys of core; requires no reload, restart or reboot":         {hostconfig.Config{}, users(hostconfig.User{Name: "core", SSHAuthorizedKeys: []string{"a"}})},
		"Adds kernel argument a, removes file /b; drains and reboots the node": {files(file("/b", "")), hostconfig.Config{KernelArguments: []string{"a"}}},
		"Adds file /etc/app/static/hot and 2 units; drains the node, makes systemd read its units, restarts app.service, restarts a.timer and restarts b.timer": {hostconfig.Config{}, hostconfig.Config{
			Files: files(file("/etc/app/static/hot", "")).Files, Units: units(enabled("a.timer"), enabled("b.timer")).Units}},
	} {
		all := changes.Diff(c.from, c.to, short)
		if got := changes.Summary(all, changes.Required(all, changes.NewPolicy(pool))); got != want {
			t.Errorf("expected %q, got %q", want, got)
		}
	}
}
