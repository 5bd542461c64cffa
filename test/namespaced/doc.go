// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package namespaced tests an installation that serves only some namespaces, as make deploy NAMESPACES=a,b creates it.
// Every kind must work in these namespaces with the installation's roles. Its accounts must have no access to other
// namespaces.
package namespaced
