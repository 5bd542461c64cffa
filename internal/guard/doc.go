// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package guard defines the checks that decide whether opcrew may write a pod. A guard sees the finished pod, with all
// settings of the user and of opcrew. Package podsecurity checks Pod Security Standards. Package rights checks that the
// user who created or last edited an object may use everything that the pods of the object use.
//
// A guard does not build, change or write pods. Package ensure calls all guards before each write.
package guard
