// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdgate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/opcrew/opcrew/internal/agents/shared/exit"
	"github.com/opcrew/opcrew/internal/podapi/etcdstart"
)

// Run starts etcd if its volume is safe, and returns when etcd has ended. The error contains the exit code of the
// container.
func Run(ctx context.Context, o Options, log *slog.Logger) error {
	// A restarted kubelet may send the signal a second time. Without this Notify, the second signal would end this
	// process before etcd has ended.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM, syscall.SIGINT)
	start, refusal := admit(o)
	if refusal != nil {
		return errors.Join(&exit.Error{Code: etcdstart.RefusedCode, Err: refusal}, writeReport(o.Termination, *refusal))
	}
	listener, err := net.Listen("tcp", o.Listen)
	if err != nil {
		return fmt.Errorf("bind the port for probes: %w", err)
	}
	defer listener.Close()
	if ctx.Err() != nil {
		return nil // the pod was stopped before etcd started
	}
	log.Info("Starting etcd", "mode", start.Mode, "member", o.Member, "id", start.ID)
	go serve(listener, newHealth(o, start), log)
	return run(ctx, o)
}

// admit collects the facts and decides whether etcd may start. If it returns no refusal, the marker, which names the
// member that owns the volume, is synced to disk.
func admit(o Options) (etcdstart.Start, *etcdstart.Report) {
	start, err := readStart(o.Start)
	if err != nil {
		return start, &etcdstart.Report{Reason: etcdstart.NoAuthorisation, Message: fmt.Sprintf("the start file of the operator cannot be read: %v", err)}
	}
	f := facts{own: marker{o.Cluster, o.Member, start.ID}, mode: start.Mode}
	part, err := latch(o.Latch).closed()
	if part {
		start.Mode, f.mode = etcdstart.Established, etcdstart.Established
	}
	if err == nil {
		f.found, err = readMarker(o.Marker)
	}
	if err == nil {
		f.log, err = hasLog(o.DataDir)
	}
	if err != nil {
		return start, &etcdstart.Report{Reason: etcdstart.VolumeUnreadable, Message: err.Error()}
	}
	d := decide(f)
	if d.mark {
		if err := f.own.write(o.Marker); err != nil {
			return start, &etcdstart.Report{Reason: etcdstart.VolumeUnwritable, Message: err.Error()}
		}
	}
	return start, d.refusal
}
