// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package hostfirewall is the agent that opens in firewalld and ufw what the firewall of a NodePool allows, because
// these firewalls drop packets that opcrew allows. It runs in a privileged pod without credentials, and has its orders
// from the firewall agent of the node (package firewall), through files on the host. The packages firewalld and ufw speak
// to one tool each, with the tool's own command on the host. They add rules, recognize their own, and change no other.
package hostfirewall
