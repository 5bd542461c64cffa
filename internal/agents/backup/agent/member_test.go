// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"math/rand/v2"
	"net"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// member simulates an etcd member whose responses a test specifies.
type member struct {
	pb.UnimplementedMaintenanceServer
	pb.UnimplementedKVServer
	endpoint string
	cluster  uint64
	revision int64
	applied  uint64
	alarms   []string
	cutOff   bool // whether the member has no leader
	facts    bool // whether the member reports the number of keys and the hash of its data
	database []byte
	// fault is what is wrong with the snapshot that the member sends.
	fault fault
	reads int
}

type fault int

const (
	none    fault = iota
	breaks        // the connection ends in the middle
	lies          // the hash at the end is wrong
	ends          // the snapshot ends before its hash
	stalls        // the snapshot stalls in the middle for ever
	refuses       // the member refuses to send a snapshot
)

// newMember starts a member. A test may change its responses before the first request.
func newMember(t *testing.T, revision int64) *member {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	m := &member{endpoint: "http://" + listener.Addr().String(), cluster: 0xc, revision: revision, facts: true, database: database(int(revision), 200)}
	server := grpc.NewServer()
	pb.RegisterMaintenanceServer(server, m)
	pb.RegisterKVServer(server, m)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return m
}

// database returns random data with a size that is valid for a database. The data depends on the seed.
func database(seed, sectors int) []byte {
	out := make([]byte, sectors*512)
	_, _ = rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)}).Read(out)
	return out
}

// stream returns a database with the hash that etcd appends to it.
func stream(database []byte) []byte {
	sum := sha256.Sum256(database)
	return append(bytes.Clone(database), sum[:]...)
}

func (m *member) header() *pb.ResponseHeader {
	return &pb.ResponseHeader{ClusterId: m.cluster, MemberId: 1, Revision: m.revision}
}

func (m *member) Status(context.Context, *pb.StatusRequest) (*pb.StatusResponse, error) {
	leader := uint64(2)
	if m.cutOff {
		leader = 0
	}
	return &pb.StatusResponse{Header: m.header(), Version: "3.6.16", Leader: leader, RaftAppliedIndex: m.applied, Errors: m.alarms}, nil
}

func (m *member) HashKV(_ context.Context, r *pb.HashKVRequest) (*pb.HashKVResponse, error) {
	if !m.facts || r.Revision != m.revision {
		return nil, errors.New("it does not answer")
	}
	return &pb.HashKVResponse{Header: m.header(), Hash: 77, CompactRevision: 3}, nil
}

func (m *member) Range(_ context.Context, r *pb.RangeRequest) (*pb.RangeResponse, error) {
	if !m.facts || !r.CountOnly || !r.Serializable || r.Revision != m.revision {
		return nil, errors.New("it does not answer")
	}
	return &pb.RangeResponse{Header: m.header(), Count: 5}, nil
}

func (m *member) Snapshot(_ *pb.SnapshotRequest, to pb.Maintenance_SnapshotServer) error {
	m.reads++
	if m.fault == refuses {
		return status.Error(codes.PermissionDenied, "etcdserver: permission denied")
	}
	whole := stream(m.database)
	half := len(whole) / 2
	if err := to.Send(&pb.SnapshotResponse{Blob: whole[:half]}); err != nil {
		return err
	}
	switch m.fault {
	case breaks:
		return status.Error(codes.Unavailable, "transport is closing")
	case ends:
		return nil
	case lies:
		whole[len(whole)-1] ^= 1
	case stalls:
		select {
		case <-to.Context().Done():
			return to.Context().Err()
		case <-time.After(time.Minute):
		}
	}
	return to.Send(&pb.SnapshotResponse{Blob: whole[half:]})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
