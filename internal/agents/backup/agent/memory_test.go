// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build bench && linux

package agent

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"

	"github.com/opcrew/opcrew/internal/podapi/backup"
	"github.com/opcrew/opcrew/test/testenv/eventually"
	"github.com/opcrew/opcrew/test/testenv/loopback"
)

const (
	gigabyte = 1 << 30
	// most is the maximum anonymous memory of a save in bytes. Together with memory that the kernel can reclaim, it
	// fits a container of 64 MiB.
	most = 56 << 20
)

// endless is a member that streams a gigabyte of data which is not stored anywhere.
type endless struct{ *member }

func (e endless) Snapshot(_ *pb.SnapshotRequest, to pb.Maintenance_SnapshotServer) error {
	hash := sha256.New()
	for sent := 0; sent < gigabyte; sent += len(e.database) {
		hash.Write(e.database)
		if err := to.Send(&pb.SnapshotResponse{Blob: e.database}); err != nil {
			return err
		}
	}
	return to.Send(&pb.SnapshotResponse{Blob: hash.Sum(nil)})
}

// TestASaveOfAGigabyteFitsIntoASmallContainer needs bin/opcrew-backup and bin/versitygw:
//
//	make backup bin/versitygw && go test -tags bench -v -run SmallContainer ./internal/agents/backup/agent
func TestASaveOfAGigabyteFitsIntoASmallContainer(t *testing.T) {
	agent, gateway, root := program(t, "opcrew-backup"), program(t, "versitygw"), t.TempDir()
	must(t, os.Mkdir(filepath.Join(root, "backups"), 0o700))
	address := loopback.Address()
	starts(t, []string{"ROOT_ACCESS_KEY=access", "ROOT_SECRET_KEY=secretkey"}, gateway, "--port", address, "--quiet", "posix", root)
	eventually.True(t, patience, "the server listens", func() error {
		connection, err := net.Dial("tcp", address)
		if err == nil {
			_ = connection.Close() // an error of Close does not matter: the test only checks that the port is open
		}
		return err
	})
	for name, target := range map[string]backup.Target{
		"S3":     {Type: backup.S3, Path: "backups/shop", Endpoint: "http://" + address, ForcePathStyle: true, SecretDir: credentials(t, "secretkey")},
		"Folder": {Type: backup.Folder, Path: "shop", Dir: t.TempDir()},
	} {
		t.Run(name, func(t *testing.T) {
			order, err := backup.EncodeOrder(backup.Order{ID: "1", Target: target, Save: &backup.Save{Endpoints: []string{gigabyteMember(t)}}})
			must(t, err)
			var out bytes.Buffer
			cmd := exec.Command(agent, "save", "--order", order, "--result", filepath.Join(t.TempDir(), "result"))
			cmd.Stdout = &out
			begun := time.Now()
			must(t, cmd.Start())
			peak := watchMemory(cmd)
			if r, err := backup.ParseResult(out.String()); err != nil || r.Outcome != backup.Succeeded || r.Size != gigabyte+sha256.Size {
				t.Fatalf("got %s, %v", out.String(), err)
			}
			t.Logf("%s: %d MiB of its own at most, %s", name, peak>>20, time.Since(begun).Round(10*time.Millisecond))
			if peak == 0 || peak > most {
				t.Errorf("the process had %d bytes in memory", peak)
			}
		})
	}
}

func gigabyteMember(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	m := endless{&member{cluster: 0xc, revision: 9, database: database(9, 64)}}
	server := grpc.NewServer()
	pb.RegisterMaintenanceServer(server, m)
	pb.RegisterKVServer(server, m)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return "http://" + listener.Addr().String()
}

// watchMemory waits for the end of a process, and returns its peak anonymous memory in bytes.
func watchMemory(cmd *exec.Cmd) (peak int) {
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // the error is also in the result that the process writes
		close(ended)
	}()
	for {
		select {
		case <-ended:
			return peak
		case <-time.After(10 * time.Millisecond):
			peak = max(peak, anonymous(cmd.Process.Pid))
		}
	}
}

func anonymous(pid int) int {
	file, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	defer file.Close()
	text, _ := io.ReadAll(file) // an error means that the process has ended
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			kib, _ := strconv.Atoi(strings.Fields(rest)[0])
			return kib << 10
		}
	}
	return 0
}
