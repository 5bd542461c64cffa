// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package kernel

import (
	"fmt"

	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"

	"github.com/opcrew/opcrew/internal/podapi/nodefirewall"
)

// Protocols of layer 4.
const (
	icmp   = unix.IPPROTO_ICMP
	ipip   = unix.IPPROTO_IPIP
	ip6in4 = unix.IPPROTO_IPV6
	gre    = unix.IPPROTO_GRE
	esp    = unix.IPPROTO_ESP
	icmpv6 = unix.IPPROTO_ICMPV6
)

func accept() []expr.Any { return []expr.Any{&expr.Verdict{Kind: expr.VerdictAccept}} }

func drop() []expr.Any {
	return []expr.Any{&expr.Counter{}, &expr.Verdict{Kind: expr.VerdictDrop}}
}

func equals(data []byte) expr.Any { return &expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: data} }

func loopback() []expr.Any {
	name := make([]byte, unix.IFNAMSIZ)
	copy(name, "lo")
	return []expr.Any{&expr.Meta{Key: expr.MetaKeyIIFNAME, Register: 1}, equals(name)}
}

// notLocal matches packets that are not for an address of this node.
func notLocal() []expr.Any {
	return []expr.Any{
		&expr.Fib{Register: 1, FlagDADDR: true, ResultADDRTYPE: true},
		&expr.Cmp{Op: expr.CmpOpNeq, Register: 1, Data: binaryutil.NativeEndian.PutUint32(unix.RTN_LOCAL)},
	}
}

// arrivesWhereItsAnswerLeaves matches packets that no other host sent with a false source address.
func arrivesWhereItsAnswerLeaves() []expr.Any {
	return []expr.Any{
		&expr.Fib{Register: 1, FlagSADDR: true, FlagIIF: true, ResultOIF: true},
		&expr.Cmp{Op: expr.CmpOpNeq, Register: 1, Data: binaryutil.NativeEndian.PutUint32(0)},
	}
}

// established matches answers, also to connections that this node opened.
func established() []expr.Any {
	return []expr.Any{
		&expr.Ct{Key: expr.CtKeySTATE, Register: 1},
		&expr.Bitwise{
			SourceRegister: 1, DestRegister: 1, Len: 4,
			Mask: binaryutil.NativeEndian.PutUint32(expr.CtStateBitESTABLISHED | expr.CtStateBitRELATED),
			Xor:  binaryutil.NativeEndian.PutUint32(0),
		},
		&expr.Cmp{Op: expr.CmpOpNeq, Register: 1, Data: binaryutil.NativeEndian.PutUint32(0)},
	}
}

func isProtocol(number byte) []expr.Any {
	return []expr.Any{&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: 1}, equals([]byte{number})}
}

func isFamily(number byte) []expr.Any {
	return []expr.Any{&expr.Meta{Key: expr.MetaKeyNFPROTO, Register: 1}, equals([]byte{number})}
}

// source matches the source address of one family.
func source(s set) []expr.Any {
	family, offset, length := byte(unix.NFPROTO_IPV4), uint32(12), uint32(4)
	if s.v6 {
		family, offset, length = unix.NFPROTO_IPV6, 8, 16
	}
	return append(isFamily(family),
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseNetworkHeader, Offset: offset, Len: length},
		&expr.Lookup{SourceRegister: 1, SetName: s.name})
}

// destination matches ports, which have the same place in the headers of all three protocols.
func destination(p nodefirewall.Ports) []expr.Any {
	match := append(isProtocol(protocolNumber(p.Protocol)),
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseTransportHeader, Offset: 2, Len: 2})
	if p.First == p.Last {
		return append(match, equals(binaryutil.BigEndian.PutUint16(p.First)))
	}
	return append(match,
		&expr.Cmp{Op: expr.CmpOpGte, Register: 1, Data: binaryutil.BigEndian.PutUint16(p.First)},
		&expr.Cmp{Op: expr.CmpOpLte, Register: 1, Data: binaryutil.BigEndian.PutUint16(p.Last)})
}

func protocolNumber(name string) byte {
	switch name {
	case nodefirewall.UDP:
		return unix.IPPROTO_UDP
	case nodefirewall.SCTP:
		return unix.IPPROTO_SCTP
	}
	return unix.IPPROTO_TCP
}

func setName(rule int) string { return fmt.Sprint("rule", rule) }
