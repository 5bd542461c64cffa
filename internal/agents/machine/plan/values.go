// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"maps"
	gopath "path"
	"slices"

	"github.com/opcrew/opcrew/internal/agents/machine/bootargs"
	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
	"github.com/opcrew/opcrew/internal/agents/machine/ledger"
	"github.com/opcrew/opcrew/internal/agents/machine/sysctl"
	"github.com/opcrew/opcrew/internal/agents/machine/users"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
)

// addSysctls sets the parameters of declared sysctl files now, as the next boot would.
func (t *translator) addSysctls() {
	files := map[string]string{}
	for _, f := range t.config.Files {
		if sysctl.IsFile(f.Path) {
			files[f.Path] = string(t.items[path(f.Path)].Content)
		}
	}
	settings, err := sysctl.Merge(files)
	t.refuse(ledger.Key{Kind: ledger.Sysctl}, err)
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		key := ledger.Key{Kind: ledger.Sysctl, Name: name}
		switch t.facts.States[key].Type {
		case hostfs.Other: // no one can read it, so the boot sets it
			continue
		case hostfs.Absent:
		default:
			t.add(Item{Key: key, State: ledger.State{Value: settings[name].Value}})
			continue
		}
		t.require(key, settings[name].Optional || t.loadsModules(), "the kernel of the host has no sysctl %s: load its module first, or write a dash before the name", name)
	}
}

// loadsModules reports whether the next boot loads modules, and then sets their parameters.
func (t *translator) loadsModules() bool {
	return slices.ContainsFunc(t.config.Files, func(f hostconfig.File) bool { return gopath.Dir(f.Path) == "/etc/modules-load.d" })
}

func (t *translator) addUsers() {
	for _, u := range t.config.Users {
		account, found := t.facts.Accounts.Users[u.Name]
		if !found {
			t.refuse(ledger.Key{Kind: ledger.Password, Name: u.Name}, fmt.Errorf("the host has no user %s, and opcrew does not create users: create the user first, for example in the image", u.Name))
			continue
		}
		if len(u.SSHAuthorizedKeys) > 0 {
			t.addKeys(u, account)
		}
		if u.PasswordHash != nil {
			key := ledger.Key{Kind: ledger.Password, Name: u.Name}
			t.require(key, t.facts.States[key].Type != hostfs.Absent, "user %s has no line in %s, so opcrew cannot set the password", u.Name, users.ShadowFile)
			t.add(Item{Key: key, State: ledger.State{Value: *u.PasswordHash}})
		}
	}
}

// addKeys adds the user's directory .ssh too, because other parents belong to root.
func (t *translator) addKeys(u hostconfig.User, account users.User) {
	file, ok := account.KeysFile()
	if !ok || t.facts.States[path(account.Home)].Type == hostfs.Absent {
		t.refuse(ledger.Key{Kind: ledger.Keys, Name: file}, fmt.Errorf("user %s has no home directory for SSH keys: create %s first", u.Name, account.Home))
		return
	}
	folder := path(gopath.Dir(file))
	if _, declared := t.items[folder]; !declared && isAbsent(t.original(folder)) {
		t.add(Item{Key: folder, State: directory(0o700, account.UID, account.GID)})
	}
	entry := hostfs.Entry{Type: hostfs.File, Mode: 0o600, UID: account.UID, GID: account.GID}
	t.add(Item{Key: ledger.Key{Kind: ledger.Keys, Name: file}, State: ledger.State{Entry: entry, Value: users.Lines(u.SSHAuthorizedKeys)}})
}

func (t *translator) addBoot() {
	contents, err := bootargs.Plan(t.facts.Boot, t.config.KernelArguments, t.config.RemovedKernelArguments)
	t.refuse(ledger.Key{Kind: ledger.Boot}, err)
	for p, content := range contents {
		if t.facts.Boot.Loader == bootargs.Grub {
			t.add(textFile(p, content))
			continue
		}
		key := ledger.Key{Kind: ledger.Boot, Name: p}
		if r, known := t.ledger.Records[key]; known { // without the arguments of an earlier configuration
			content = bootargs.Edit(r.Before.Value, t.config.KernelArguments, t.config.RemovedKernelArguments)
		}
		t.add(Item{Key: key, State: ledger.State{Value: content}})
	}
}
