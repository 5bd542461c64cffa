// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package setup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path"

	"github.com/opcrew/opcrew/internal/agents/machine/daemon/cluster"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// Install installs the agent, or replaces an earlier version of it, and starts it.
func Install(ctx context.Context, o Options, log *slog.Logger) error {
	h, root, err := open(o, log)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // nothing was written through it
	server, err := o.server()
	if err != nil {
		return err
	}
	token, err := cluster.FirstToken(ctx, server, o.Token)
	if err != nil {
		return err
	}
	return h.install(ctx, server, token)
}

// install starts the agent last. A restart is harmless at any time, and lets it use what was written.
func (h *host) install(ctx context.Context, server cluster.Server, token string) error {
	dir, err := h.copyProgram()
	if err != nil {
		return fmt.Errorf("copy the program to the host: %w", err)
	}
	if err := h.writeCredentials(server, token); err != nil {
		return fmt.Errorf("write the credentials: %w", err)
	}
	if err := h.writeUnit(path.Join(dir, binary)); err != nil {
		return fmt.Errorf("write the unit: %w", err)
	}
	for _, args := range [][]string{{"daemon-reload"}, {"enable", machineorder.Unit}, {"restart", machineorder.Unit}} {
		if err := h.systemctl(ctx, args...); err != nil {
			return err
		}
	}
	h.log.Info("The machine agent is installed", "directory", dir, "node", server.Node)
	return nil
}

// copyProgram copies this program to the first place that can be changed, and removes it from the other one.
func (h *host) copyProgram() (dir string, err error) {
	dir, unused := usual, other
	if h.fs.Changeable(path.Join(usual, binary)) != nil {
		dir, unused = other, usual
	}
	content, err := h.program()
	if err != nil {
		return dir, err
	}
	if err := h.makeDir(dir); err != nil {
		return dir, err
	}
	if err := h.write(path.Join(dir, binary), content, publicDir, h.programLabel()); err != nil {
		return dir, err
	}
	if unused == usual {
		return dir, nil // it cannot be changed
	}
	return dir, h.removeAll(unused)
}

// programLabel returns the SELinux label of a program of the host, because systemd does not start every file.
func (h *host) programLabel() string {
	found, err := h.fs.Read("/usr/bin/systemctl")
	if err != nil {
		return ""
	}
	return found.Label
}

// writeCredentials writes the token first, because the agent begins with the file of the server.
func (h *host) writeCredentials(server cluster.Server, token string) error {
	dir := path.Join(hostconfig.StateDirectory, cluster.Directory)
	return errors.Join(
		h.fs.MakeAll(dir),
		h.write(path.Join(dir, cluster.TokenFile), []byte(token), secretFile, ""),
		h.write(path.Join(dir, cluster.ServerFile), encode(server), secretFile, ""))
}

func encode(server cluster.Server) []byte {
	text, _ := json.Marshal(server) // strings can always be encoded
	return text
}

func (h *host) writeUnit(program string) error {
	if err := h.makeDir(hostconfig.UnitDirectory); err != nil {
		return err
	}
	return h.write(unitFile, fmt.Appendf(nil, unit, program), publicFile, "")
}

// unit does not wait for the network or for other file systems than its own, and also starts in emergency mode, because
// a node whose network or mount units are broken must revert its last change. The agent ends update-grub itself.
const unit = `# opcrew writes this file. Changes are lost.
[Unit]
Description=opcrew machine agent
DefaultDependencies=no
RequiresMountsFor=/etc /var/lib/opcrew %[1]s
After=systemd-remount-fs.service
Conflicts=shutdown.target
Before=shutdown.target
StartLimitIntervalSec=0

[Service]
ExecStart=%[1]s run
Restart=always
RestartSec=5
KillMode=mixed
TimeoutStopSec=11min
OOMScoreAdjust=-900
Environment=GOMEMLIMIT=64MiB GOMAXPROCS=2

[Install]
WantedBy=multi-user.target emergency.target rescue.target
`
