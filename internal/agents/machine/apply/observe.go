// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package apply

import (
	"context"
	"errors"
	"fmt"
	gopath "path"
	"strings"

	"github.com/opcrew/opcrew/internal/agents/machine/bootargs"
	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
	"github.com/opcrew/opcrew/internal/agents/machine/ledger"
	"github.com/opcrew/opcrew/internal/agents/machine/plan"
	"github.com/opcrew/opcrew/internal/agents/machine/selinux"
	"github.com/opcrew/opcrew/internal/agents/machine/units"
	"github.com/opcrew/opcrew/internal/agents/machine/users"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
)

// vendorDirectories hold the unit files of the distribution.
var vendorDirectories = []string{"/usr/local/lib/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"}

// observer reads what a plan needs.
type observer struct {
	*Host
	ctx    context.Context
	config hostconfig.Config
	ledger ledger.Ledger
	facts  plan.Facts
	errs   []error
}

func (h *Host) observe(ctx context.Context, l ledger.Ledger, c hostconfig.Config) (plan.Facts, error) {
	o := &observer{Host: h, ctx: ctx, config: c, ledger: l, facts: plan.Facts{
		States: map[ledger.Key]ledger.State{}, Unreadable: map[ledger.Key]error{}, Originals: map[string][]byte{}, Names: map[string][]string{},
		Words: map[string]string{}, Installs: map[string]string{}, Vendor: map[string]bool{},
	}}
	o.readAccounts()
	o.readBoot()
	o.readSELinux()
	o.readStates()
	o.readOriginals()
	o.readUnitFiles()
	return o.facts, errors.Join(o.errs...)
}

func (o *observer) refuse(err error) {
	if err != nil {
		o.errs = append(o.errs, err)
	}
}

func (o *observer) readAccounts() {
	passwd, errPasswd := o.readText(users.PasswdFile)
	group, errGroup := o.readText(users.GroupFile)
	o.refuse(errors.Join(errPasswd, errGroup))
	o.facts.Accounts = users.Parse(passwd, group)
}

// readBoot examines the boot loader only for configurations with kernel arguments.
func (o *observer) readBoot() {
	if len(o.config.KernelArguments)+len(o.config.RemovedKernelArguments) == 0 {
		return
	}
	boot, err := bootargs.Detect(o.FS)
	o.facts.Boot = boot
	o.refuse(err)
}

func (o *observer) readSELinux() {
	host, err := selinux.Detect(o.FS)
	o.facts.SELinux = host
	o.refuse(err)
}

func (o *observer) readStates() {
	targets := hardTargets(o.config, o.ledger)
	for _, key := range plan.Keys(o.config, o.ledger, o.facts) {
		state, err := o.state(o.ctx, key, targets[key])
		if err != nil {
			o.missing(key, err)
			continue
		}
		o.facts.States[key] = state
		if key.Kind == ledger.Unit {
			o.facts.Words[key.Name] = state.Target
		}
		if key.Kind == ledger.Path && state.Type == hostfs.Directory {
			o.readNames(key.Name)
		}
	}
}

// missing notes a state that cannot be observed. A user of the host can cause that for a file, so there it is no error
// unless the configuration declares the file. The state of a unit or sysctl is there at the next attempt.
func (o *observer) missing(key ledger.Key, err error) {
	o.facts.Unreadable[key] = err
	if key.Kind == ledger.Unit || key.Kind == ledger.Sysctl {
		o.refuse(err)
	}
}

// readNames reads only the directories in whose place something else is declared.
func (o *observer) readNames(p string) {
	for _, d := range o.config.Directories {
		if d.Path == p {
			return
		}
	}
	isDeclared := false
	for _, f := range o.config.Files {
		isDeclared = isDeclared || f.Path == p
	}
	for _, l := range o.config.Links {
		isDeclared = isDeclared || l.Path == p
	}
	undeclared := o.ledger.Records[ledger.Key{Kind: ledger.Path, Name: p}].Undeclared
	if !isDeclared && !undeclared && !strings.HasPrefix(p, hostconfig.UnitDirectory+"/") {
		return
	}
	names, err := o.FS.Names(p)
	o.refuse(err)
	o.facts.Names[p] = names
}

// readOriginals reads the content to which the configuration appends: from the copy if opcrew has changed the file.
func (o *observer) readOriginals() {
	for _, f := range o.config.Files {
		key := ledger.Key{Kind: ledger.Path, Name: f.Path}
		if f.Contents != nil || len(f.Append) == 0 {
			continue
		}
		found := o.facts.States[key]
		r, known := o.ledger.Records[key]
		var content []byte
		var err error
		switch {
		case known && r.Before.Type == hostfs.File && r.Before.Hash != "" && r.Before.Hash != found.Hash:
			content, err = o.Store.Original(r.Before.Hash)
		case found.Type == hostfs.File && (!known || r.Before.Type == hostfs.File):
			content, _, err = o.FS.ReadFile(f.Path, ledger.MaxCopy)
		}
		o.refuse(err)
		o.facts.Originals[f.Path] = content
	}
}

// readUnitFiles reads the unit files and drop-ins that may change, and finds the distribution's.
func (o *observer) readUnitFiles() {
	for key, state := range o.facts.States {
		if key.Kind == ledger.Unit {
			o.facts.Vendor[key.Name] = o.vendorFile(key.Name) != ""
		}
		below, is := strings.CutPrefix(key.Name, hostconfig.UnitDirectory+"/")
		if !is || key.Kind != ledger.Path {
			continue
		}
		from := key.Name
		if state.Type != hostfs.File {
			from = o.vendorFile(below)
		}
		content, err := o.readText(from)
		o.refuse(err)
		o.facts.Installs[key.Name] = units.Install(content)
	}
}

// vendorFile returns the distribution's file of a unit; an empty text if there is none. An instance of a template has
// the file of the template.
func (o *observer) vendorFile(unit string) string {
	names := []string{unit}
	if at := strings.IndexByte(unit, '@'); at >= 0 {
		names = append(names, unit[:at+1]+gopath.Ext(unit))
	}
	for _, dir := range vendorDirectories {
		for _, name := range names {
			if found, err := o.FS.Read(gopath.Join(dir, name)); err == nil && found.Type == hostfs.File {
				return gopath.Join(dir, name)
			}
		}
	}
	return ""
}

// readText returns an empty text for a file that does not exist.
func (h *Host) readText(p string) (string, error) {
	if p == "" {
		return "", nil
	}
	found, err := h.FS.Read(p)
	if err != nil || found.Type != hostfs.File {
		return "", err
	}
	content, _, err := h.FS.ReadFile(p, ledger.MaxCopy)
	if err != nil {
		err = fmt.Errorf("read %s: %w", p, err)
	}
	return string(content), err
}
