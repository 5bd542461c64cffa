// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package namespaced tests an installation for some namespaces, as make deploy NAMESPACES=a,b makes it: every kind that it
// serves works there under its roles, and its accounts reach nothing in any other namespace.
package namespaced
