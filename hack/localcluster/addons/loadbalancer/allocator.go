// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package loadbalancer assigns addresses that this machine can reach to Services of type LoadBalancer, and writes them
// into the status. It does not forward traffic: kube-proxy on every node serves the addresses, and the host has a route
// for them.
package loadbalancer

import (
	"fmt"
	"net/netip"
)

// Allocator records which owner has which address of a range. An owner is the key of a Service, namespace/name.
type Allocator struct {
	pool   netip.Prefix
	owners map[netip.Addr]string
	held   map[string]netip.Addr
}

// NewAllocator returns an allocator for a range without assigned addresses.
func NewAllocator(pool netip.Prefix) *Allocator {
	return &Allocator{pool: pool.Masked(), owners: map[netip.Addr]string{}, held: map[string]netip.Addr{}}
}

// Hold assigns an address to an owner, for example the address that the owner had before this program restarted. It
// returns false if the address cannot be assigned or belongs to another owner.
func (a *Allocator) Hold(owner string, address netip.Addr) bool {
	if current, found := a.owners[address]; found {
		return current == owner
	}
	if !a.usable(address) {
		return false
	}
	a.Release(owner)
	a.owners[address] = owner
	a.held[owner] = address
	return true
}

// Assign returns the owner's address: the requested address if there is one, or else its current address, or else the
// lowest free address.
func (a *Allocator) Assign(owner string, requested netip.Addr) (netip.Addr, error) {
	if requested.IsValid() {
		if !a.Hold(owner, requested) {
			return netip.Addr{}, a.refusal(requested)
		}
		return requested, nil
	}
	if address, found := a.held[owner]; found {
		return address, nil
	}
	for address := a.pool.Addr().Next(); a.usable(address); address = address.Next() {
		if a.Hold(owner, address) {
			return address, nil
		}
	}
	return netip.Addr{}, fmt.Errorf("all addresses of %s are in use", a.pool)
}

// Release frees the address of an owner, if it has one.
func (a *Allocator) Release(owner string) {
	if address, found := a.held[owner]; found {
		delete(a.owners, address)
		delete(a.held, owner)
	}
}

// Contains reports whether an address is in the range.
func (a *Allocator) Contains(address netip.Addr) bool { return a.pool.Contains(address) }

// usable reports whether the allocator may assign an address. It may not assign the network and broadcast addresses.
func (a *Allocator) usable(address netip.Addr) bool {
	return a.pool.Contains(address) && a.pool.Contains(address.Next()) && address != a.pool.Addr()
}

func (a *Allocator) refusal(requested netip.Addr) error {
	if owner, found := a.owners[requested]; found {
		return fmt.Errorf("address %s is in use by %s", requested, owner)
	}
	return fmt.Errorf("address %s is not in the range %s", requested, a.pool)
}
