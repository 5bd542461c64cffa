// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package kernel

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/google/nftables"
	"github.com/google/nftables/userdata"
	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"github.com/opcrew/opcrew/internal/agents/firewall/ruleset"
	"github.com/opcrew/opcrew/internal/podapi/nodefirewall"
)

const (
	chainName = "arriving"
	// buffer is the size of the socket's buffers: a transaction and its answers must fit. The kernel needs no memory for
	// what is not used.
	buffer = 32 << 20
	// chunk is the number of elements in a message. The length of an attribute has 16 bits.
	chunk = 500
)

// countFile has the number of connections that the network namespace of its reader tracks.
const countFile = "/proc/sys/net/netfilter/nf_conntrack_count"

// Kernel writes and reads the table.
type Kernel struct {
	options []nftables.ConnOption
	// Read reads a file of /proc. Tests read it in another network namespace.
	Read func(path string) ([]byte, error)
}

// New returns the Kernel of the network namespace in which this process runs. Tests give another one as an option.
func New(options ...nftables.ConnOption) *Kernel {
	sockets := nftables.WithSockOptions(func(c *netlink.Conn) error {
		return errors.Join(c.SetReadBuffer(buffer), c.SetWriteBuffer(buffer))
	})
	return &Kernel{options: append(options, sockets), Read: os.ReadFile}
}

// Tracks reports whether the kernel tracks connections already. It does so once a rule needs it, and then takes the
// next packet of an older connection for a new connection. The agent itself always has a connection.
func (k *Kernel) Tracks() (bool, error) {
	content, err := k.Read(countFile)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return strings.TrimSpace(string(content)) != "0", err
}

func table() *nftables.Table {
	return &nftables.Table{Family: nftables.TableFamilyINet, Name: nodefirewall.Table}
}

// Apply replaces the table in one transaction: either all of it is in force, or the previous table stays. Then it reads
// the table back.
func (k *Kernel) Apply(t ruleset.Table) error {
	conn, err := nftables.New(k.options...)
	if err != nil {
		return err
	}
	own := conn.AddTable(table()) // a table that does not exist cannot be deleted
	conn.DelTable(own)
	conn.AddTable(own)
	p := compile(t)
	for i, s := range p.sets {
		if err := addSet(conn, own, s, uint32(i+1)); err != nil {
			return fmt.Errorf("set %s: %w", s.name, err)
		}
	}
	chain := conn.AddChain(&nftables.Chain{
		Name: chainName, Table: own, Type: nftables.ChainTypeFilter,
		Hooknum: nftables.ChainHookPrerouting, Priority: nftables.ChainPriorityMangle,
	})
	for _, r := range p.rules {
		comment := userdata.AppendString(nil, userdata.TypeComment, r.comment)
		conn.AddRule(&nftables.Rule{Table: own, Chain: chain, Exprs: r.exprs, UserData: comment})
	}
	if err := conn.Flush(); err != nil {
		return fmt.Errorf("write the nftables table %s: %w", nodefirewall.Table, err)
	}
	return k.verify(t)
}

func (k *Kernel) verify(t ruleset.Table) error {
	active, err := k.Active(t)
	if err == nil && !active {
		err = fmt.Errorf("the nftables table %s is not as it was written", nodefirewall.Table)
	}
	return err
}

func addSet(conn *nftables.Conn, own *nftables.Table, s set, id uint32) error {
	made := &nftables.Set{Table: own, ID: id, Name: s.name, KeyType: nftables.TypeIPAddr, Interval: true}
	if s.v6 {
		made.KeyType = nftables.TypeIP6Addr
	}
	if err := conn.AddSet(made, nil); err != nil {
		return err
	}
	all := elements(s)
	for len(all) > 0 {
		n := min(chunk, len(all))
		if err := conn.SetAddElements(made, all[:n]); err != nil {
			return err
		}
		all = all[n:]
	}
	return nil
}

// elements returns the begin and the end of each range. A range that reaches to the last address has no end.
func elements(s set) []nftables.SetElement {
	var out []nftables.SetElement
	for _, r := range s.ranges {
		out = append(out, nftables.SetElement{Key: r.First.AsSlice()})
		if next := r.Last.Next(); next.IsValid() {
			out = append(out, nftables.SetElement{Key: next.AsSlice(), IntervalEnd: true})
		}
	}
	return out
}

// Remove removes the table, if it exists.
func (k *Kernel) Remove() error {
	conn, err := nftables.New(k.options...)
	if err != nil {
		return err
	}
	conn.AddTable(table())
	conn.DelTable(table())
	if err := conn.Flush(); err != nil {
		return fmt.Errorf("remove the nftables table %s: %w", nodefirewall.Table, err)
	}
	return nil
}

// Exists reports whether the table exists.
func (k *Kernel) Exists() (bool, error) {
	conn, err := nftables.New(k.options...)
	if err != nil {
		return false, err
	}
	tables, err := conn.ListTablesOfFamily(nftables.TableFamilyINet)
	if err != nil {
		return false, fmt.Errorf("list the nftables tables: %w", err)
	}
	for _, t := range tables {
		if t.Name == nodefirewall.Table {
			return true, nil
		}
	}
	return false, nil
}

func missing(err error) bool { return errors.Is(err, unix.ENOENT) }
