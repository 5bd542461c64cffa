// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package firewalld keeps the rules of opcrew in firewalld, with its command firewall-cmd. They are rich rules of the
// runtime configuration with a priority that nothing else uses, so that opcrew recognizes them, and so that they come
// after the administrator's rules that deny. opcrew writes no permanent configuration and never reloads firewalld, which
// would remove the runtime rules of other programs. After an administrator's reload, the agent adds its rules again.
package firewalld
