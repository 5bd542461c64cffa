// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package journal holds on the disk of the host what the machine agent knows about its order: the order that it carries
// out or completed last, and the result. So the agent reports a result also after a crash, and does not try a
// configuration again that it had to revert. The steps of a change in progress are in package trial.
package journal
