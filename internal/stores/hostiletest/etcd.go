// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostiletest

import (
	"context"
	"net"
	"strings"
	"sync"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/proto" // registers the proto codec, which type encoded wraps
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
)

// member is a fake etcd member whose answers are wrong.
type member struct {
	pb.UnimplementedKVServer
	pb.UnimplementedClusterServer
	pb.UnimplementedMaintenanceServer
	list   *pb.MemberListResponse
	status *pb.StatusResponse
	err    error
}

func (m *member) Range(context.Context, *pb.RangeRequest) (*pb.RangeResponse, error) {
	return &pb.RangeResponse{}, nil
}

func (m *member) MemberList(context.Context, *pb.MemberListRequest) (*pb.MemberListResponse, error) {
	return m.list, m.err
}

func (m *member) Status(context.Context, *pb.StatusRequest) (*pb.StatusResponse, error) {
	return m.status, m.err
}

// encoded is a codec that encodes each answer only once. Otherwise a large answer would cost the server more than the
// client.
type encoded struct {
	encoding.CodecV2
	done *sync.Map
}

func (e encoded) Marshal(answer any) (mem.BufferSlice, error) {
	if text, ok := e.done.Load(answer); ok {
		return mem.BufferSlice{mem.SliceBuffer(text.([]byte))}, nil
	}
	text, err := e.CodecV2.Marshal(answer)
	if err != nil {
		return nil, err
	}
	kept := text.Materialize()
	e.done.Store(answer, kept)
	return mem.BufferSlice{mem.SliceBuffer(kept)}, nil
}

// Member starts a fake etcd member that returns the given member list, status and error. It returns the member's URL.
func Member(members []*pb.Member, answer *pb.StatusResponse, err error) string {
	listener := listen()
	server := grpc.NewServer(grpc.MaxHeaderListSize(1<<30), grpc.ForceServerCodecV2(encoded{encoding.GetCodecV2("proto"), &sync.Map{}}))
	m := &member{list: &pb.MemberListResponse{Header: &pb.ResponseHeader{ClusterId: 7, MemberId: 1}, Members: members}, status: answer, err: err}
	pb.RegisterKVServer(server, m)
	pb.RegisterClusterServer(server, m)
	pb.RegisterMaintenanceServer(server, m)
	go func() { _ = server.Serve(listener) }()
	return "http://" + listener.Addr().String()
}

// Well returns the status of a healthy etcd member that is the leader.
func Well() *pb.StatusResponse {
	return &pb.StatusResponse{Header: &pb.ResponseHeader{ClusterId: 7, MemberId: 1}, Version: "3.6.8", Leader: 1, RaftTerm: 1}
}

// ServeEtcd starts one fake member for each kind of hostile behaviour, and returns the URLs by kind.
func ServeEtcd() map[string]string {
	large, block := strings.Repeat("x", 16<<20), strings.Repeat("x", 64<<10)
	many := make([]*pb.Member, 10_000)
	for i := range many {
		many[i] = &pb.Member{ID: uint64(i + 1), Name: "m", ClientURLs: []string{"http://10.255.255.1:2379"}, PeerURLs: []string{"http://10.255.255.1:2380"}}
	}
	out := map[string]string{
		"ten thousand members": Member(many, Well(), nil),
		"a large answer":       Member([]*pb.Member{{ID: 1, Name: large}}, &pb.StatusResponse{Version: large}, nil),
		"a status of errors":   Member(many[:1], &pb.StatusResponse{Errors: make([]string, 1_000_000)}, nil),
		"no headers":           Member([]*pb.Member{{}}, &pb.StatusResponse{}, nil),
		"a large error":        Member(nil, nil, status.Error(codes.Unavailable, block+block)),
	}
	for name, serve := range map[string]func(net.Conn){
		"no answer": Hang, "a closed connection": Close, "no protocol": Endless("HTTP/1.1 200 OK\r\n", block),
		"one byte a second":     Slow("\x00\x00\x00\x04\x00\x00\x00\x00\x00" + block[:1<<10]),
		"a frame beyond memory": Endless("\x00\x00\x00\x04\x00\x00\x00\x00\x00\xff\xff\xff\x00\x00\x00\x00\x01", block),
	} {
		out[name] = "http://" + Serve(serve)
	}
	return out
}
