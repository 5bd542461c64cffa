// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package nodepatch changes what opcrew owns on a Node: the operator's annotations of the contract with the machine
// agent, the cordon, and two taints. It has no side effects. A patch tests every value that its decision was based on,
// so it fails as a whole if one of them changed meanwhile.
package nodepatch
