// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package bootargs plans how a host's boot loader gets kernel arguments: GRUB by a file in /etc/default/grub.d and
// update-grub, systemd-boot by its entries. It keeps all other arguments. Hosts with another boot loader are refused
// before anything changes. The planning is pure, except for Detect, which reads the host. The package writes nothing.
package bootargs
